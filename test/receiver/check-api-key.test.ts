import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkApiKey } from '../../receiver/index.ts';

const KEY = `k${randomBytes(16).toString('hex')}Z`;

describe('checkApiKey', () => {
  it('takes each key that is valid now', () => {
    expect(checkApiKey({ header: KEY, keys: [KEY] })).toEqual({ ok: true, keyIndex: 0 });
    expect(checkApiKey({ header: KEY, keys: ['next-key', KEY] })).toEqual({ ok: true, keyIndex: 1 });
    expect(checkApiKey({ header: KEY, keys: [KEY, KEY] })).toEqual({ ok: true, keyIndex: 0 });
  });

  it.each([
    ['absent', undefined, 'missing'],
    ['empty', '', 'missing'],
    ['repeated', [KEY, KEY], 'malformed'],
    ['repeated, joined by Node', `${KEY}, ${KEY}`, 'mismatch'],
    ['another', 'another', 'mismatch'],
    ['the first half', KEY.slice(0, 17), 'mismatch'],
    ['in upper case', KEY.toUpperCase(), 'mismatch'],
    ['with x behind', `${KEY}x`, 'mismatch'],
    ['with x in front', `x${KEY}`, 'mismatch'],
    ['with a space', `${KEY} `, 'mismatch'],
    ['a pattern', '.*', 'mismatch'],
    ['a wildcard', '%', 'mismatch'],
    ['one character', 'k', 'mismatch'],
    ['5000 characters', 'k'.repeat(5000), 'mismatch'],
    ['as long and not ASCII', 'é'.repeat(KEY.length), 'mismatch'],
    ['as Bearer', `Bearer ${KEY}`, 'mismatch'],
  ] as const)('refuses one that is %s', (_label, header, reason) => {
    expect(checkApiKey({ header, keys: [KEY] })).toEqual({ ok: false, reason });
  });

  it('never matches an empty key', () => {
    expect(checkApiKey({ header: '', keys: [''] })).toEqual({ ok: false, reason: 'missing' });
    expect(checkApiKey({ header: undefined, keys: ['', ''] })).toEqual({ ok: false, reason: 'missing' });
    expect(checkApiKey({ header: 'x', keys: [] })).toEqual({ ok: false, reason: 'mismatch' });
  });

  it('takes a key only when it is the same text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary', minLength: 1 }), (header, key) => {
        expect(checkApiKey({ header, keys: [key] }).ok).toBe(
          header !== '' && Buffer.from(header).equals(Buffer.from(key)),
        );
        expect(checkApiKey({ header: key, keys: [key] }).ok).toBe(true);
      }),
    );
  });
});
