import { describe, expect, it } from 'vitest';
import { verifyCertificate } from '../../../harness/certify/index.ts';
import { certificate, keyPair, options } from './certificates.ts';
import { flipEveryByte, PATTERNS } from './tamper.ts';

const { privateKey, publicKey } = keyPair();
const original = certificate(privateKey);
const text = original.toString();
const verify = (bytes: Uint8Array | string) => verifyCertificate(Buffer.from(bytes), options(publicKey));
const codes = (bytes: Uint8Array | string) => verify(bytes).reasons.map(({ code }) => code);

const envelope = JSON.parse(text) as {
  payload: string;
  payloadType: string;
  signatures: { keyid: string; sig: string }[];
};
const { keyid, sig } = envelope.signatures[0]!;
const envelopeWith = (changed: unknown) => `${JSON.stringify(changed)}\n`;
const statement = Buffer.from(envelope.payload, 'base64').toString();

describe('a certificate', () => {
  it('is valid unchanged', () => expect(verify(original)).toMatchObject({ valid: true, reasons: [], warnings: [] }));

  it('is invalid with any byte changed', () => {
    const { tried, taken, reasons } = flipEveryByte(original, PATTERNS, verify);
    expect(taken).toEqual([]);
    expect(tried).toBe(original.length * PATTERNS.length);
    expect(Object.keys(reasons).toSorted()).toEqual(['malformed', 'unknown-key', 'wrong-signature']);
  });

  it('is invalid with any byte missing or doubled, and with any length', () => {
    const taken: number[] = [];
    for (let at = 0; at < original.length; at++) {
      const [head, tail] = [original.subarray(0, at), original.subarray(at)];
      for (const bytes of [
        head,
        Buffer.concat([head, tail.subarray(1)]),
        Buffer.concat([head, tail.subarray(0, 1), tail]),
      ])
        if (verify(bytes).valid) taken.push(at);
    }
    expect(taken).toEqual([]);
  });

  // An envelope has exactly one valid encoding. Hookproof did not write any other equivalent JSON or base64.
  it.each<[string, string]>([
    ['no trailing newline', text.trimEnd()],
    ['two newlines', `${text}\n`],
    ['a Windows newline', text.replace('\n', '\r\n')],
    ['a space after a colon', text.replace(':', ': ')],
    ['a leading space', ` ${text}`],
    ['indentation', `${JSON.stringify(envelope, null, 2)}\n`],
    [
      'another order of keys',
      envelopeWith({ payloadType: envelope.payloadType, payload: envelope.payload, signatures: envelope.signatures }),
    ],
    ['a byte order mark', `\ufeff${text}`],
    ['an escaped letter', text.replace('payloadType', 'payload\\u0054ype')],
    ['an escaped slash', text.replace('application/', 'application\\/')],
    ['a duplicate key', text.replace('{"payload"', `{"payload":"${envelope.payload}","payload"`)],
    ['a duplicate key with another first value', text.replace('{"payload"', '{"payload":"AAAA","payload"')],
    ['a duplicate key with another last value', text.replace('"signatures":', '"payload":"AAAA","signatures":')],
    ['an unknown key', envelopeWith({ ...envelope, extra: 1 })],
    ['an unknown key in the signature', envelopeWith({ ...envelope, signatures: [{ extra: 1, keyid, sig }] })],
    ['__proto__', text.replace('{"payload"', '{"__proto__":{"payload":"AAAA"},"payload"')],
    [
      'two signatures',
      envelopeWith({
        ...envelope,
        signatures: [
          { keyid, sig },
          { keyid, sig },
        ],
      }),
    ],
    ['no signature', envelopeWith({ ...envelope, signatures: [] })],
    ['a signature that is not an object', envelopeWith({ ...envelope, signatures: [sig] })],
    ['a signature without its key id', envelopeWith({ ...envelope, signatures: [{ sig }] })],
    ['base64 without padding', envelopeWith({ ...envelope, signatures: [{ keyid, sig: sig.replace(/=+$/, '') }] })],
    [
      'base64url',
      envelopeWith({ ...envelope, signatures: [{ keyid, sig: Buffer.from(sig, 'base64').toString('base64url') }] }),
    ],
    ['base64 with more padding', envelopeWith({ ...envelope, signatures: [{ keyid, sig: `${sig}==` }] })],
    ['base64 with a newline', envelopeWith({ ...envelope, payload: `${envelope.payload}\n` })],
    ['base64 with a line of 64', envelopeWith({ ...envelope, payload: envelope.payload.replace(/^.{64}/, '$&\n') })],
    [
      'base64 with an invalid character',
      envelopeWith({ ...envelope, payload: `${envelope.payload.slice(0, 8)}*${envelope.payload.slice(8)}` }),
    ],
    ['base64 with spare bits', envelopeWith({ ...envelope, signatures: [{ keyid, sig: spareBits(sig) }] })],
    [
      'a signature that is too long',
      envelopeWith({ ...envelope, signatures: [{ keyid, sig: Buffer.alloc(65).toString('base64') }] }),
    ],
    ['a signature that is too short', envelopeWith({ ...envelope, signatures: [{ keyid, sig: '' }] })],
    ['a payload that is a number', envelopeWith({ ...envelope, payload: 1 })],
    ['a payload type that is a list', envelopeWith({ ...envelope, payloadType: ['a'] })],
    ['a payload type with a lone surrogate', text.replace('application/', '\\ud800')],
    ['an upper-case key id', text.replace(keyid, keyid.toUpperCase())],
    ['a key id of another length', text.replace(keyid, keyid.slice(1))],
    ['nothing', ''],
    ['a list', `[${text}]`],
    ['null', 'null\n'],
    ['a second envelope after it', text + text],
    ['a NUL after it', `${text}\0`],
    ['deep nesting', '['.repeat(500_000)],
    ['PEM', '-----BEGIN CERTIFICATE-----\n'],
  ])('is invalid with %s', (_, changed) => {
    expect(changed).not.toBe(text);
    expect(codes(changed)).toEqual(['malformed']);
    expect(verify(changed).statement).toBeNull();
  });

  it('is invalid if it is not UTF-8 or too large', () => {
    expect(codes(Buffer.concat([original.subarray(0, 20), Buffer.of(0xff), original.subarray(20)]))).toEqual([
      'malformed',
    ]);
    const huge = envelopeWith({ ...envelope, payload: 'A'.repeat(2 ** 20) });
    expect(verify(huge).reasons[0]?.message).toBe('the file is larger than 1024 KiB');
  });

  it.each<[string, string, string]>([
    [
      'another payload',
      envelopeWith({ ...envelope, payload: Buffer.from('{}').toString('base64') }),
      'wrong-signature',
    ],
    [
      'one changed digit',
      envelopeWith({ ...envelope, payload: Buffer.from(statement.replace('2027-', '2037-')).toString('base64') }),
      'wrong-signature',
    ],
    ['another payload type', text.replace('vnd.in-toto+json', 'vnd.in-tota+json'), 'wrong-signature'],
    ['another key id', text.replace(keyid, 'ab'.repeat(32)), 'unknown-key'],
    [
      'a signature of zeros',
      envelopeWith({ ...envelope, signatures: [{ keyid, sig: Buffer.alloc(64).toString('base64') }] }),
      'wrong-signature',
    ],
    [
      'a signature plus the order of the group',
      envelopeWith({ ...envelope, signatures: [{ keyid, sig: plusOrder(sig) }] }),
      'wrong-signature',
    ],
  ])('is invalid with %s', (_, changed, code) => {
    expect(changed).not.toBe(text);
    expect(codes(changed)).toEqual([code]);
  });
});

/** Encodes the same 64 bytes with non-zero spare bits in the last character. */
function spareBits(base64: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const at = base64.indexOf('=') - 1;
  const other = alphabet[alphabet.indexOf(base64[at]!) | 1]!;
  const changed = `${base64.slice(0, at)}${other}${base64.slice(at + 1)}`;
  expect(Buffer.from(changed, 'base64')).toEqual(Buffer.from(base64, 'base64'));
  return changed;
}

/** Replaces S with S + L, which a lenient verifier accepts as a second signature (RFC 8032, 8.4). */
function plusOrder(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString('hex')}`) + order;
  return Buffer.concat([
    bytes.subarray(0, 32),
    Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse(),
  ]).toString('base64');
}
