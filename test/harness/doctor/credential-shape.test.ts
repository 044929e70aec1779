/** The findings about the shape of a credential. */
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { credentialShape } from '../../../harness/doctor/credential-shape.ts';
import { pem } from '../../certs/material.ts';

const RANDOM = randomBytes(32);
/** A long plain text that is not an encoding of anything. */
const PLAIN = 'correct horse battery staple and more';

const PLACEHOLDERS = [
  ...['changeme', 'Change-Me!', 'changeme123', 'undefined', 'null', '[object Object]', `\${WEBHOOK_SECRET}`],
  ...['$WEBHOOK_SECRET', '{{ .Values.secret }}', '<your secret here>', '%SECRET%', 'your-webhook-secret-here'],
  ...['xxxxxxxxxxxxxxxx', '****************'],
];

const codes = (kind: 'secret' | 'api-key', value: string) =>
  credentialShape(kind, value).findings.map(({ severity, code }) => `${severity} ${code}`);

describe('a secret', () => {
  it.each<[string, string, string[]]>([
    ['a passphrase', PLAIN, []],
    ['base64', RANDOM.toString('base64'), ['info secret-encoded']],
    ['base64 without padding', `Aa1+${'b'.repeat(30)}Cd2x/${'eF3'.repeat(4)}`, ['info secret-encoded']],
    ['base64url', `${randomBytes(30).toString('base64url')}_-`, ['info secret-encoded']],
    ['hex', RANDOM.toString('hex'), ['info secret-encoded']],
    ['short', 'horse battery', ['advice secret-short']],
    ['one character', 'h', ['advice secret-short']],
    ['31 characters', 'abcdefghijklmnopqrstuvwxyz0123 ?', []],
    ['a newline at the end', `${PLAIN}\n`, ['problem secret-line-break']],
    ['a Windows newline at the end', `${PLAIN}\r\n`, ['problem secret-line-break']],
    ['a newline inside', `${PLAIN}\n${PLAIN}`, ['problem secret-line-break']],
    ['a space at the end', `${PLAIN} `, ['advice secret-white-space']],
    ['a tab at the start', `\t${PLAIN}`, ['advice secret-white-space']],
    ['space and newline at the end', `${PLAIN} \n`, ['problem secret-line-break', 'advice secret-white-space']],
    ['a byte order mark', `\ufeff${PLAIN}`, ['problem secret-byte-order-mark']],
    ['a no-break space', `${PLAIN}\u00a0x`, ['problem secret-invisible-character']],
    ['a zero-width space', `${PLAIN}\u200bx`, ['problem secret-invisible-character']],
    ['a control character', `${PLAIN}\u0007x`, ['problem secret-control-character']],
    ['quotes', `"${PLAIN}"`, ['advice secret-quoted']],
    ['composed accents', `${PLAIN} schlüssel`, ['advice secret-not-ascii']],
    ['separate accents', `${PLAIN} schlüssel`.normalize('NFD'), ['advice secret-not-ascii']],
    ['other scripts', `${PLAIN} 鍵`, ['advice secret-not-ascii']],
    ...PLACEHOLDERS.map((value): [string, string, string[]] => [value, value, ['problem secret-placeholder']]),
    ['one repeated character', 'a'.repeat(40), ['problem secret-guessable']],
    ['ones and zeros', '0101'.repeat(10), ['problem secret-guessable']],
    [
      'a JWT',
      `eyJ${randomBytes(20).toString('base64url')}.${randomBytes(20).toString('base64url')}.x`,
      ['problem secret-is-token'],
    ],
    ['a URL', 'https://vault.example/v1/secret/webhook', ['problem secret-is-url']],
    [
      'PEM',
      pem('PRIVATE KEY', Buffer.from('MIIB', 'base64')).trimEnd(),
      ['problem secret-is-pem', 'problem secret-line-break'],
    ],
    ['JSON', '{"secret":"x","created":"2026-01-01"}', ['problem secret-is-json']],
    ['NAME=value', `WEBHOOK_SECRET=${PLAIN}`, ['problem secret-is-assignment']],
    ['a path', '/run/secrets/webhook-hmac/current-value', ['advice secret-looks-like-path']],
    ['whsec_', `whsec_${randomBytes(24).toString('base64')}`, ['advice secret-of-another-scheme']],
    ['an API key of a service', `sk_live_${'aB3dE5fG7hJ9kL1mN3pQ5rS7'}`, ['advice secret-of-another-service']],
    ['a UUID', '0b8f7c6e-2f5d-4c3b-9a1e-7d6c5b4a3f2e', []],
  ])('%s', (_, value, expected) => {
    expect(codes('secret', value).toSorted()).toEqual(expected.toSorted());
  });

  it('has the decoded length when it looks encoded, and a notice that the text is the key', () => {
    const shape = (value: string) => credentialShape('secret', value).facts;
    expect(shape(RANDOM.toString('hex'))).toEqual({ characters: 64, bytes: 64, looksLike: ['hex'], decodedBytes: 32 });
    expect(shape(RANDOM.toString('base64'))).toMatchObject({ characters: 44, looksLike: ['base64'], decodedBytes: 32 });
    expect(shape('schlüssel 鍵')).toEqual({ characters: 11, bytes: 14, looksLike: [], decodedBytes: null });
    const [finding] = credentialShape('secret', RANDOM.toString('hex')).findings;
    expect(finding?.title).toBe('The secret looks like hex of 32 bytes. The text itself is the key.');
  });

  it('distinguishes composed from separate accents', () => {
    const detail = (value: string) => credentialShape('secret', value).findings[0]?.detail;
    expect(detail(`${PLAIN} é`)).toContain('(NFC)');
    expect(detail(`${PLAIN} é`.normalize('NFD'))).toContain('separate characters (NFD');
    expect(detail(`${PLAIN} 鍵`)).toContain('only one Unicode form');
  });
});

describe('an API key', () => {
  it.each<[string, string, string[]]>([
    ['base64url', randomBytes(24).toString('base64url'), []],
    ['short and plain', 'k-8412', []],
    ['a newline at the end', `${PLAIN}\n`, ['problem api-key-line-break']],
    ['a space at the end', `${PLAIN} `, ['problem api-key-white-space']],
    ['characters that a header cannot contain', `${PLAIN} 鍵`, ['problem api-key-unsendable']],
    ['one byte outside ASCII', `${PLAIN} é`, ['advice api-key-not-ascii']],
    ['Bearer', `Bearer ${randomBytes(24).toString('hex')}`, ['problem api-key-is-scheme']],
    ['a placeholder', 'YOUR_API_KEY', ['problem api-key-placeholder']],
  ])('%s', (_, value, expected) => {
    expect(codes('api-key', value)).toEqual(expected);
  });
});

describe('a finding', () => {
  const alphabets = [fc.base64String({ minLength: 12 }), fc.string({ minLength: 12, unit: 'grapheme' })];

  it('never contains a part of the value', () => {
    fc.assert(
      fc.property(fc.oneof(...alphabets), fc.constantFrom('secret' as const, 'api-key' as const), (value, kind) => {
        const said = JSON.stringify(credentialShape(kind, value));
        const parts = [value, value.slice(0, 10), value.slice(-10)].filter((part) => part.trim().length >= 6);
        expect(parts.filter((part) => said.includes(part) || said.includes(JSON.stringify(part).slice(1, -1)))).toEqual(
          [],
        );
      }),
      { numRuns: 500 },
    );
  });
});
