/** The little of DER (X.690) that it takes to copy parts of a certificate byte by byte and to put a certificate together from them. */

export const DER_TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** One value: its tag, its contents, and the whole of it as it stands in the bytes it was read from. */
export interface DerValue {
  readonly tag: number;
  readonly contents: Uint8Array;
  readonly whole: Uint8Array;
}

/** The values that stand one after the other in `bytes`. Throws a `RangeError` when they are not whole. */
export function readDer(bytes: Uint8Array): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at + 1] ?? 0;
    const lengthBytes = first > 0x80 ? first & 0x7f : 0;
    const head = at + 2 + lengthBytes;
    const length = lengthBytes === 0 ? first : readLength(bytes.subarray(at + 2, head));
    if (first === 0x80 || head + length > bytes.length) throw new RangeError('The DER is cut short or has no length.');
    values.push({
      tag: bytes[at] ?? 0,
      contents: bytes.subarray(head, head + length),
      whole: bytes.subarray(at, head + length),
    });
    at = head + length;
  }
  return values;
}

function readLength(bytes: Uint8Array): number {
  return bytes.reduce((length, byte) => length * 256 + byte, 0);
}

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
  return der(DER_TAG.objectIdentifier, Uint8Array.from(bytes));
}

/** A date as certificates hold it: UTCTime until 2049 and GeneralizedTime after it (RFC 5280, 4.1.2.5). */
export function derTime(date: Date): Uint8Array {
  const text = `${date.toISOString().replace(/[-:T]|\.\d+Z$/g, '')}Z`;
  return date.getUTCFullYear() < 2050
    ? der(DER_TAG.utcTime, Buffer.from(text.slice(2)))
    : der(DER_TAG.generalizedTime, Buffer.from(text));
}

/** A distinguished name of one common name, whatever characters it has: nothing has to be escaped. */
export function derCommonName(name: string): Uint8Array {
  const attribute = der(
    DER_TAG.sequence,
    derObjectIdentifier('2.5.4.3'),
    der(DER_TAG.utf8String, Buffer.from(name, 'utf8')),
  );
  return der(DER_TAG.sequence, der(DER_TAG.set, attribute));
}
