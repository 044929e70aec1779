import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from '../../harness/nearest-name.ts';

const NAMES = ['signature-header', 'timeout', 'concurrency', 'grep', 'ca', 'suites', 'signature/missing'];

describe('nearestName', () => {
  it.each([
    ['signature-heder', 'signature-header'],
    ['SIGNATURE_HEADER', 'signature-header'],
    ['timeuot', 'timeout'],
    ['tiemout', 'timeout'],
    ['conurrency', 'concurrency'],
    ['gerp', 'grep'],
    ['suite', 'suites'],
    ['timeout-ms', 'timeout'],
    ['missing', 'signature/missing'],
    ['CA', 'ca'],
  ])('takes %s for %s', (word, name) => {
    expect(nearestName(word, NAMES)).toBe(name);
  });

  it.each(['', '   ', 'x', 'b', 'frobnicate', 'ac-dc', 'q'.repeat(10_000)])('finds nothing near %j', (word) => {
    expect(nearestName(word, NAMES)).toBeNull();
  });

  it('counts two swapped letters as one mistake, and two wrong letters as two', () => {
    expect(nearestName('abdc', ['abcd'])).toBe('abcd');
    expect(nearestName('abxy', ['abcd'])).toBeNull();
  });

  it('prefers fewer mistakes, then the first', () => {
    expect(nearestName('staging', ['stabing', 'staging'])).toBe('staging');
    expect(nearestName('cat', ['bat', 'rat'])).toBe('bat');
  });

  it('finds every exact name, and nothing without candidates', () => {
    for (const name of NAMES) expect(nearestName(name, NAMES)).toBe(name);
    expect(nearestName('timeout', [])).toBeNull();
  });

  it('returns only candidates', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (word, candidates) => {
        const found = nearestName(word, candidates);
        expect(found === null || candidates.includes(found)).toBe(true);
      }),
    );
  });
});
