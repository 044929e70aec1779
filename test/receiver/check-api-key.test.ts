import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkApiKey } from '../../receiver/index.ts';
import { anyCharacter } from '../setup/any-character.ts';

const KEY = `k${randomBytes(16).toString('hex')}Z`;

describe('checkApiKey', () => {
  it('accepts each of the keys', () => {
    expect(checkApiKey({ header: KEY, keys: [KEY] })).toEqual({ ok: true, keyIndex: 0 });
    expect(checkApiKey({ header: KEY, keys: ['next-key', KEY] })).toEqual({ ok: true, keyIndex: 1 });
    expect(checkApiKey({ header: KEY, keys: [KEY, KEY] })).toEqual({ ok: true, keyIndex: 0 });
  });

  it.each([
    ['an absent header', undefined, 'missing'],
    ['an empty header', '', 'missing'],
    ['a repeated header', [KEY, KEY], 'malformed'],
    ['a repeated header that Node joined', `${KEY}, ${KEY}`, 'mismatch'],
    ['another key', 'another', 'mismatch'],
    ['the first half', KEY.slice(0, 17), 'mismatch'],
    ['the key in upper case', KEY.toUpperCase(), 'mismatch'],
    ['the key with an x appended', `${KEY}x`, 'mismatch'],
    ['the key with an x in front', `x${KEY}`, 'mismatch'],
    ['the key with a space appended', `${KEY} `, 'mismatch'],
    ['a pattern', '.*', 'mismatch'],
    ['a wildcard', '%', 'mismatch'],
    ['one character', 'k', 'mismatch'],
    ['5000 characters', 'k'.repeat(5000), 'mismatch'],
    ['a text of the same length that is not ASCII', 'é'.repeat(KEY.length), 'mismatch'],
    ['the key as a bearer token', `Bearer ${KEY}`, 'mismatch'],
  ] as const)('rejects %s', (_label, header, reason) => {
    expect(checkApiKey({ header, keys: [KEY] })).toEqual({ ok: false, reason });
  });

  it('never matches an empty key', () => {
    expect(checkApiKey({ header: '', keys: [''] })).toEqual({ ok: false, reason: 'missing' });
    expect(checkApiKey({ header: undefined, keys: ['', ''] })).toEqual({ ok: false, reason: 'missing' });
    expect(checkApiKey({ header: 'x', keys: [] })).toEqual({ ok: false, reason: 'mismatch' });
  });

  it('accepts a header exactly when it is the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter, minLength: 1 }), (header, key) => {
        expect(checkApiKey({ header, keys: [key] }).ok).toBe(
          header !== '' && Buffer.from(header).equals(Buffer.from(key)),
        );
        expect(checkApiKey({ header: key, keys: [key] }).ok).toBe(true);
      }),
    );
  });
});
