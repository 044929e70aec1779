import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { der, derCommonName, derObjectIdentifier, TAG } from '../../../certs/der.ts';
import { distinguishedName } from '../../../certs/index.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const attribute = (id: string, tag: number, text: Buffer) => der(TAG.sequence, derObjectIdentifier(id), der(tag, text));
const commonName = (tag: number, text: Buffer) => der(TAG.sequence, der(TAG.set, attribute('2.5.4.3', tag, text)));

describe('a name, such as those of the CAs that a server lists', () => {
  it.each([
    ['UTF-8', TAG.utf8String, Buffer.from('Zürich'), 'CN=Zürich'],
    ['Latin-1', TAG.teletexString, Buffer.from('Zürich', 'latin1'), 'CN=Zürich'],
    ['two bytes a character', TAG.bmpString, Buffer.from('Zürich', 'utf16le').swap16(), 'CN=Zürich'],
    ['a comma and a backslash', TAG.printableString, Buffer.from('a, b\\c'), 'CN=a\\, b\\\\c'],
    ['control characters', TAG.utf8String, Buffer.from('a\x1b[31m\n\u202e'), 'CN=a\\x1b[31m\\n\\u202e'],
    ['what is no UTF-8', TAG.utf8String, hex('ff'), 'CN=#0c01ff'],
  ])('is text: %s', (_what, tag, text, expected) => {
    expect(distinguishedName(commonName(tag, text))).toBe(expected);
  });

  it('keeps its order, and parts that belong together', () => {
    const [country, unit, name] = (
      [
        ['2.5.4.6', 'CH'],
        ['2.5.4.11', 'B'],
        ['2.5.4.3', 'c'],
      ] as const
    ).map(([id, text]) => attribute(id, TAG.printableString, Buffer.from(text)));
    const parts = [der(TAG.set, country!), der(TAG.set, unit!, name!)];
    expect(distinguishedName(der(TAG.sequence, ...parts))).toBe('C=CH, OU=B+CN=c');
  });

  it('is cut when it is very long', () => {
    expect([...distinguishedName(derCommonName('x'.repeat(70_000)))]).toHaveLength('CN='.length + 100);
    const many = Array.from({ length: 5_000 }, () =>
      der(TAG.set, attribute('2.5.4.3', TAG.utf8String, Buffer.from('x'))),
    );
    expect([...distinguishedName(der(TAG.sequence, ...many))]).toHaveLength(400);
  });

  it.each([
    ['an empty one', '3000', 'an empty name'],
    ['nothing', '', 'a name of 0 bytes that cannot be read'],
    ['garbage', 'ffff', 'a name of 2 bytes that cannot be read'],
    ['one that is cut off', '30 0b 31 09', 'a name of 4 bytes that cannot be read'],
    ['one with something behind it', '3000 00', 'a name of 3 bytes that cannot be read'],
    ['an empty set', '3002 3100', 'a name of 4 bytes that cannot be read'],
    ['two values', '300e 310c 300a 0602 2a03 0c01 78 0c01 78', 'a name of 16 bytes that cannot be read'],
    ['an indefinite length', '3080 0000', 'a name of 4 bytes that cannot be read'],
    ['an identifier that is unknown', '300b 3109 3007 0602 2a03 0c01 78', '1.2.3=x'],
  ])('never fails: %s', (_what, bytes, expected) => {
    expect(distinguishedName(hex(bytes))).toBe(expected);
  });

  it('is one safe line, whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(TAG)), fc.uint8Array({ maxLength: 60 }), (tag, bytes) => {
        for (const given of [bytes, commonName(tag, Buffer.from(bytes))]) {
          expect(distinguishedName(given)).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,420}$/u);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
