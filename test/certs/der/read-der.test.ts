import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  der,
  derObjectIdentifier,
  derTime,
  peekElement,
  peekParts,
  readElement,
  readElements,
  readObjectId,
  readTime,
  TAG,
} from '../../../certs/der.ts';

const bytes = (hex: string) => Buffer.from(hex.replace(/\s/g, ''), 'hex');
const hexOf = (content: Uint8Array) => Buffer.from(content).toString('hex');

describe('what is written', () => {
  it('is read back, whatever its length', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(TAG)), fc.nat(70_000), fc.uint8Array(), (tag, length, more) => {
        const content = Buffer.alloc(length, 7);
        const written = der(tag, content);
        const read = readElement(Buffer.concat([written, more]));
        expect({ ...read, content: read.content.length, bytes: hexOf(read.bytes) === hexOf(written) }).toEqual({
          tag,
          content: length,
          bytes: true,
        });
      }),
    );
  });

  it.each(['2.5.4.3', '1.2.840.113549.1.1.11', '0.9.2342.19200300.100.1.25', '2.16.840.1.101.3.4.2.1'])(
    'is the object identifier %s',
    (id) => expect(readObjectId(readElement(derObjectIdentifier(id)), 'it')).toBe(id),
  );

  it.each(['1999-12-31T23:59:59.000Z', '2049-12-31T23:59:59.000Z', '2050-01-01T00:00:00.000Z'])(
    'is the time %s',
    (text) => expect(readTime(readElement(derTime(new Date(text))), 'it').toISOString()).toBe(text),
  );
});

describe('what is no DER', () => {
  it.each([
    ['nothing', '', 'ends too early'],
    ['a tag alone', '30', 'ends too early'],
    ['a tag of several bytes', '1f8101 00', 'a tag that certificates do not use'],
    ['an indefinite length', '3080 0201 01 0000', 'a length that DER does not allow'],
    ['a length of five bytes', '3085 0000000001 00', 'a length that DER does not allow'],
    ['a length that is cut off', '3082 01', 'ends too early'],
    ['a content that is cut off', '3003 0201', 'it is cut off: it has 4 of the 5 bytes that its length states'],
    ['four gigabytes', '3084 ffffffff 00', 'of the 4294967301 bytes that its length states'],
  ])('is refused: %s', (_, hex, says) => {
    expect(() => readElement(bytes(hex))).toThrow(says);
  });

  it('has no end: more parts than a certificate can have', () => {
    const parts = (count: number) => Buffer.alloc(count * 2, bytes('0500'));
    expect(readElements(parts(65_536))).toHaveLength(65_536);
    expect(() => readElements(parts(65_537))).toThrow('more parts than');
  });
});

describe('a look at what may be DER', () => {
  it('sees what is whole as the reader does, and never throws', () => {
    let whole = 0;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (given) => {
        const seen = peekElement(given);
        if (seen?.length !== undefined && seen.present === seen.length) {
          whole += 1;
          const { tag, content, bytes: all } = readElement(given);
          expect([seen.tag, hexOf(seen.content), seen.length]).toEqual([tag, hexOf(content), all.length]);
        } else {
          expect(() => readElement(given)).toThrow(TypeError);
        }
        expect(peekParts(seen).length).toBeLessThanOrEqual(16);
      }),
      { numRuns: 2_000 },
    );
    expect(whole).toBeGreaterThan(20);
  });

  it('sees the beginning of what is cut off, and of the indefinite length of BER', () => {
    expect(peekElement(bytes('3005 0201 01'))).toMatchObject({ tag: 0x30, length: 7, present: 5 });
    const open = peekElement(bytes('3080 0201 01 0000'));
    expect([open?.length, peekParts(open).map(({ tag }) => tag)]).toEqual([undefined, [2, 0]]);
    expect(peekElement(bytes('3085 0000000001 00'))).toBeUndefined();
  });
});
