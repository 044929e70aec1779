import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../harness/diagnose/conditions.ts';
import type { Trait } from '../../../harness/diagnose/traits.ts';

const TRAITS: Readonly<Record<string, Trait>> = {
  unsigned: 'signature: missing',
  keyless: 'API key: missing',
  text: 'Content-Type: text/plain',
  xml: 'Content-Type: application/xml',
  put: 'method: PUT',
};

/** Creates deliveries from a description such as `unsigned text, keyless`. */
const deliveries = (words: string) =>
  words.split(', ').map((one) => one.split(' ').flatMap((word) => TRAITS[word] ?? []));

describe('the smallest condition', () => {
  it.each([
    ['a single value', 'unsigned text, keyless text', 'unsigned, keyless xml', 'whose Content-Type is text/plain'],
    ['a credential', 'unsigned, unsigned text', 'keyless, keyless text', 'without a signature'],
    ['a dimension', 'unsigned text, unsigned xml', 'unsigned, put', 'whose Content-Type is not application/json'],
    ['a pair', 'unsigned text', 'unsigned, keyless text', 'without a signature whose Content-Type is text/plain'],
    ['that all else is usual', 'unsigned', 'keyless, unsigned text, unsigned put', 'without a signature'],
    ['none, where the same went right', 'unsigned text', 'unsigned text', null],
    ['none, where nothing is shared', 'unsigned, put', 'keyless, unsigned put', null],
  ])('is %s: %s, not %s', (_, red, green, text) => {
    const found = conditionOf(deliveries(red), deliveries(green));
    expect(found?.text ?? null).toBe(text);
    expect(found?.members ?? deliveries(red).length).toBe(deliveries(red).length);
  });
});
