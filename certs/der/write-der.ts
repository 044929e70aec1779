/** The little of DER (X.690) that it takes to put a certificate together. */
import { TAG } from './tags.ts';

/** A value with this tag and these contents. */
export function der(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const inner = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(inner.length), inner]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const hex = length.toString(16);
  const bytes = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

/** An object identifier from its dotted text, for example `2.5.4.3`. */
export function derObjectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((part) => {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(TAG.objectId, Uint8Array.from(bytes));
}

/** A date as certificates hold it: UTCTime until 2049 and GeneralizedTime after it (RFC 5280, 4.1.2.5). */
export function derTime(date: Date): Uint8Array {
  const text = `${date.toISOString().replace(/[-:T]|\.\d+Z$/g, '')}Z`;
  return date.getUTCFullYear() < 2050
    ? der(TAG.utcTime, Buffer.from(text.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(text));
}

/** A distinguished name of one common name, whatever characters it has: nothing has to be escaped. */
export function derCommonName(name: string): Uint8Array {
  const attribute = der(TAG.sequence, derObjectIdentifier('2.5.4.3'), der(TAG.utf8String, Buffer.from(name, 'utf8')));
  return der(TAG.sequence, der(TAG.set, attribute));
}
