import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../../harness/certify/canonical-json.ts';

describe('canonicalJson', () => {
  // These are the examples of RFC 8785, sections 3.2.2 and 3.2.3.
  it.each<[string, Json, string]>([
    [
      'numbers, strings and literals',
      {
        numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
        string: '\u20ac$\u000f\u000aA\'\u0042\u0022\u005c\\"/',
        literals: [null, true, false],
      },
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ],
    [
      'keys in the order of their UTF-16 units',
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
    ['an undefined member', { b: undefined, a: 1 }, '{"a":1}'],
    ['an empty object', {}, '{}'],
  ])('%s', (_, value, text) => expect(canonicalJson(value)).toBe(text));

  it('is equal for equal values with keys in another order', () => {
    expect(canonicalJson({ a: { y: 1, x: [2] }, b: 3 })).toBe(canonicalJson({ b: 3, a: { x: [2], y: 1 } }));
  });

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY], ['\ud800'], [{ '\udc00': 1 }]])('rejects %j', (value) => {
    expect(() => canonicalJson(value)).toThrow();
  });
});
