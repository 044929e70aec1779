import { describe, expect, it } from 'vitest';
import { ERROR_CODES, findErrorCode, isErrorCodeShaped } from '../../contract/index.ts';

describe('the listed error codes', () => {
  it('are unique and have the form of a code', () => {
    expect(new Set(ERROR_CODES.map(({ code }) => code)).size).toBe(ERROR_CODES.length);
    expect(ERROR_CODES.filter(({ code }) => !isErrorCodeShaped(code))).toEqual([]);
  });

  it('are found by code, and nothing else is', () => {
    for (const entry of ERROR_CODES) expect(findErrorCode(entry.code)).toBe(entry);
    for (const other of ['352-999-S1', '352-000-s1', ' 352-000-S1', '', 'constructor', '__proto__']) {
      expect(findErrorCode(other)).toBeUndefined();
    }
  });
});

describe('isErrorCodeShaped', () => {
  it.each(['352-000-S1', '999-321-E9', '152-99-S2', '100-200-X3'])('accepts %s', (text) => {
    expect(isErrorCodeShaped(text)).toBe(true);
  });

  it.each([
    ...['', '352', '352-000', '352-000-S', '352-000-1S', '352-000-s1', '352-0-S1', '352-0000-S1', '35-000-S1'],
    ...['352_000_S1', ' 352-000-S1', '352-000-S1\n', '352-000-S12', '\u0663\u0665\u0662-000-S1'],
  ])('rejects %j', (text) => {
    expect(isErrorCodeShaped(text)).toBe(false);
  });
});
