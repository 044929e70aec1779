import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { headerShape } from '../../../contract/signing/index.ts';

const digest = createHash('sha256').update('a body').digest();
const base64 = digest.toString('base64');
const names = (header: string): string[] => headerShape(header).findings.map(({ name }) => name);
const values = (header: string): string[] => headerShape(header).candidates.map(({ value }) => value);

describe('headerShape', () => {
  it('finds nothing unusual about a signature', () => {
    expect(headerShape(base64)).toEqual({ findings: [], candidates: [{ value: base64, removed: undefined }] });
  });

  it.each<[string, string, string[]]>([
    ['nothing', '', ['empty-header']],
    ['only white space', ' \t', ['outer-white-space', 'empty-header']],
    ['white space around', `${base64}\n`, ['outer-white-space']],
    ['white space within', `${base64.slice(0, 9)} ${base64.slice(9)}`, ['inner-white-space']],
    ['a header name', `X-Service-Signature: ${base64}`, ['header-name-included']],
    ['a header name without a space', `X-Service-Signature:${base64}`, ['header-name-included']],
    ['quotes', `'${base64}'`, ['quoted-header']],
    ['a version', `v1,${base64}`, ['prefixed-header']],
    ['a hash name', `sha256=${base64}`, ['prefixed-header']],
    ['a hash name and hexadecimal', `sha256=${digest.toString('hex')}`, ['prefixed-header', 'looks-like-hex']],
    ['a time and a version', `t=17,v1=${base64}`, ['prefixed-header']],
    ['two values', `${base64},${base64}`, ['several-values']],
    ['hexadecimal', digest.toString('hex'), ['looks-like-hex']],
    ['URL-safe base64', `${'_-'.repeat(21)}A=`, ['looks-like-base64url']],
    ['base64 without padding', 'A'.repeat(43), ['no-padding']],
    ['half a digest', digest.subarray(0, 16).toString('base64'), ['wrong-length']],
    ['a SHA-512', createHash('sha512').digest('base64'), ['wrong-length']],
    ['a word', 'undefined', ['not-base64']],
    ['an accent', `\u00e9${base64.slice(1)}`, ['not-ascii']],
  ])('names %s', (_, header, expected) => {
    expect(names(header)).toEqual(expected);
  });

  it('offers the value without what is around it', () => {
    expect(values(`"${base64}"`)).toEqual([`"${base64}"`, base64]);
    expect(values(`t=17,v1=${base64}`)).toEqual([`t=17,v1=${base64}`, base64]);
    expect(values(`a, ${base64}`)).toContain(base64);
    expect(values('')).toEqual([]);
  });

  it('never repeats the value in a finding', () => {
    for (const header of [`"${base64}"`, `v1,${base64}`, `${base64},${base64}`, `X-Some: ${base64}`]) {
      expect(JSON.stringify(headerShape(header).findings)).not.toContain(base64);
    }
  });

  it('looks at white space once, however long it is', () => {
    expect(names(`a${' '.repeat(300_000)}b`)).toEqual(['inner-white-space', 'not-base64']);
  });
});
