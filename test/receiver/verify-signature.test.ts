import { createHash, createHmac, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verifySignature } from '../../receiver/index.ts';
import { anyCharacter } from '../setup/any-character.ts';

const SECRET = randomBytes(32).toString('hex');

/** Finds a body whose signature contains both `+` and `/`, so that each wrong encoding of it is a different text. */
function discriminatingBody(): { rawBody: Buffer; valid: string } {
  for (let nonce = 0; ; nonce += 1) {
    const rawBody = Buffer.from(`{ "id" : "n-${nonce}", "amount": 1.0 }\n`);
    const valid = createHmac('sha256', SECRET).update(rawBody).digest('base64');
    if (/\+/.test(valid) && /\//.test(valid)) return { rawBody, valid };
  }
}

const { rawBody, valid } = discriminatingBody();
const digest = Buffer.from(valid, 'base64');
const hmac = (algorithm: string, key: string | Buffer, body: string | Buffer = rawBody) =>
  createHmac(algorithm, key).update(body).digest('base64');
const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()));
const flipAt = (index: number) =>
  `${valid.slice(0, index)}${valid[index] === 'A' ? 'E' : 'A'}${valid.slice(index + 1)}`;
/** Spells the digest with a spare bit set, which a lenient decoder accepts. */
const spareBit = () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  return `${valid.slice(0, 42)}${alphabet[alphabet.indexOf(valid[42]!) + 1]}=`;
};

const wrongHeaders: readonly (readonly [
  string,
  string | string[] | undefined,
  'missing' | 'malformed' | 'mismatch',
])[] = [
  ['absent', undefined, 'missing'],
  ['empty', '', 'missing'],
  ['one space', ' ', 'malformed'],
  ['the word undefined', 'undefined', 'malformed'],
  ['one character', 'A', 'malformed'],
  ['the first 4 characters', valid.slice(0, 4), 'malformed'],
  ['the first 20 characters', valid.slice(0, 20), 'malformed'],
  ['without the padding', valid.slice(0, 43), 'malformed'],
  ['with a second padding', `${valid}=`, 'malformed'],
  ['with AAAA appended', `${valid}AAAA`, 'malformed'],
  ['with ,x appended', `${valid},x`, 'malformed'],
  ['with a space appended', `${valid} `, 'malformed'],
  ['with a space in front', ` ${valid}`, 'malformed'],
  ['with a tab appended', `${valid}\t`, 'malformed'],
  ['with a newline appended', `${valid}\n`, 'malformed'],
  ['with a carriage return appended', `${valid}\r`, 'malformed'],
  ['with a NUL appended', `${valid}\0`, 'malformed'],
  ['with a newline inside', `${valid.slice(0, 20)}\n${valid.slice(20)}`, 'malformed'],
  ['in quotes', `"${valid}"`, 'malformed'],
  ['twice', valid + valid, 'malformed'],
  ['valid, valid', `${valid}, ${valid}`, 'malformed'],
  ['valid, wrong', `${valid}, ${hmac('sha256', 'other')}`, 'malformed'],
  ['wrong, valid', `${hmac('sha256', 'other')}, ${valid}`, 'malformed'],
  ['an array of the valid one twice', [valid, valid], 'malformed'],
  ['an array of valid and wrong', [valid, 'x'], 'malformed'],
  ['an array of one', [valid], 'malformed'],
  ['an empty array', [], 'malformed'],
  ['hex', digest.toString('hex'), 'malformed'],
  ['sha256= and hex', `sha256=${digest.toString('hex')}`, 'malformed'],
  ['sha256= and base64', `sha256=${valid}`, 'malformed'],
  ['base64url', digest.toString('base64url'), 'malformed'],
  ['base64url with padding', `${digest.toString('base64url')}=`, 'malformed'],
  ['base64 of the hex', Buffer.from(digest.toString('hex')).toString('base64'), 'malformed'],
  ['the spare bit set', spareBit(), 'malformed'],
  ['letter case swapped', swapCase(valid.slice(0, 42)) + valid.slice(42), 'mismatch'],
  ['44 zeros', '0'.repeat(44), 'malformed'],
  ['43 zeros and the padding', `${'0'.repeat(43)}=`, 'mismatch'],
  ['44 characters that are not ASCII', 'é'.repeat(44), 'malformed'],
  ['43 valid characters and one that is not ASCII', `${valid.slice(0, 43)}é`, 'malformed'],
  ['22 emoji (44 UTF-16 units)', '😀'.repeat(22), 'malformed'],
  ['4000 characters', 'A'.repeat(4000), 'malformed'],
  ['first character changed', flipAt(0), 'mismatch'],
  ['character 20 changed', flipAt(20), 'mismatch'],
  ['last character changed', flipAt(42), 'mismatch'],
  ['32 random bytes', randomBytes(32).toString('base64'), 'mismatch'],
  ['31 random bytes', randomBytes(31).toString('base64'), 'malformed'],
  ['HMAC-SHA1', hmac('sha1', SECRET), 'malformed'],
  ['HMAC-SHA512', hmac('sha512', SECRET), 'malformed'],
  ['HMAC-MD5', hmac('md5', SECRET), 'malformed'],
  ['HMAC-SHA3-256, as long as the valid one', hmac('sha3-256', SECRET), 'mismatch'],
  ['SHA-256 of secret and body', createHash('sha256').update(SECRET).update(rawBody).digest('base64'), 'mismatch'],
  ['SHA-256 of the body', createHash('sha256').update(rawBody).digest('base64'), 'mismatch'],
  ['another secret', hmac('sha256', 'another secret'), 'mismatch'],
  ['the empty secret', hmac('sha256', ''), 'mismatch'],
  ['the secret "undefined"', hmac('sha256', 'undefined'), 'mismatch'],
  ['the secret with a newline', hmac('sha256', `${SECRET}\n`), 'mismatch'],
  ['the secret decoded from hex', hmac('sha256', Buffer.from(SECRET, 'hex')), 'mismatch'],
  ['over the body trimmed', hmac('sha256', SECRET, rawBody.toString().trim()), 'mismatch'],
  ['over the body re-serialised', hmac('sha256', SECRET, JSON.stringify(JSON.parse(rawBody.toString()))), 'mismatch'],
  ['the secret itself', SECRET, 'malformed'],
  ['base64 of the secret', Buffer.from(SECRET).toString('base64'), 'malformed'],
];

describe('verifySignature', () => {
  it('accepts a valid signature', () => {
    expect(verifySignature({ rawBody, header: valid, secrets: [SECRET] })).toEqual({ ok: true, secretIndex: 0 });
  });

  it.each(wrongHeaders)('rejects a header: %s', (_label, header, reason) => {
    expect(header).not.toBe(valid);
    expect(verifySignature({ rawBody, header, secrets: [SECRET] })).toEqual({ ok: false, reason });
  });

  it('agrees with test case 2 of RFC 4231', () => {
    const hex = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
    const header = Buffer.from(hex, 'hex').toString('base64');
    const body = Buffer.from('what do ya want for nothing?');
    expect(verifySignature({ rawBody: body, header, secrets: ['Jefe'] })).toEqual({ ok: true, secretIndex: 0 });
  });

  it('returns the position of the first secret that matches', () => {
    const next = randomBytes(32).toString('hex');
    const verify = (header: string, ...secrets: string[]) => verifySignature({ rawBody, header, secrets });
    expect(verify(valid, next, SECRET)).toEqual({ ok: true, secretIndex: 1 });
    expect(verify(hmac('sha256', next), next, SECRET)).toEqual({ ok: true, secretIndex: 0 });
    expect(verify(valid, SECRET, SECRET)).toEqual({ ok: true, secretIndex: 0 });
    expect(verify(valid, next)).toEqual({ ok: false, reason: 'mismatch' });
  });

  it('never matches an empty secret, and matches nothing without secrets', () => {
    const header = hmac('sha256', '');
    expect(verifySignature({ rawBody, header, secrets: [''] })).toEqual({ ok: false, reason: 'mismatch' });
    expect(verifySignature({ rawBody, header: valid, secrets: [] })).toEqual({ ok: false, reason: 'mismatch' });
  });

  it('uses the secret as UTF-8', () => {
    const secret = 'sécret-ключ-😀-that-is-long-enough-to-use';
    const header = hmac('sha256', Buffer.from(secret, 'utf8'));
    expect(verifySignature({ rawBody, header, secrets: [secret] }).ok).toBe(true);
  });

  it('rejects any other header without throwing', () => {
    const anyText = fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 100 }),
      fc.string({ unit: 'grapheme', minLength: 44, maxLength: 44 }),
      fc.base64String({ minLength: 44, maxLength: 44 }),
    );
    const header = fc.oneof(anyText, fc.array(anyText, { maxLength: 3 }), fc.constant(undefined));
    fc.assert(
      fc.property(header, (value) => {
        expect(verifySignature({ rawBody, header: value, secrets: [SECRET] }).ok).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it('accepts what was signed, and rejects it when one bit of the body, signature or secret differs', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 300 });
    const text = fc.string({ minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(bytes, text, fc.nat(), (body, secret, position) => {
        const header = createHmac('sha256', secret).update(body).digest('base64');
        expect(verifySignature({ rawBody: body, header, secrets: [secret] })).toEqual({ ok: true, secretIndex: 0 });

        const bit = position % (body.length * 8);
        const tampered = Uint8Array.from(body);
        tampered[bit >> 3]! ^= 1 << (bit & 7);
        expect(verifySignature({ rawBody: tampered, header, secrets: [secret] }).ok).toBe(false);

        const forged = Buffer.from(header, 'base64');
        forged[position % 32]! ^= 1 << (position & 7);
        expect(verifySignature({ rawBody: body, header: forged.toString('base64'), secrets: [secret] }).ok).toBe(false);
        // For HMAC, a zero byte at the end of a short key is padding. Any other character makes a different key.
        expect(verifySignature({ rawBody: body, header, secrets: [`${secret}x`] }).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
