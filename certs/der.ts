/**
 * Reads and writes the subset of DER (ITU-T X.690) that certificates need: elements with a tag of one byte and a
 * definite length.
 *
 * Node 20 does not expose the signature algorithm, path length and key usage of a certificate, and loading an X.509
 * library takes a tenth of a second. Tests compare this reader with such a library.
 *
 * The input is untrusted. Nothing recurses, lengths have at most four bytes, and a list has at most {@link MAX_PARTS}
 * elements.
 */

/** DER tags (X.690) that occur in certificates, keys and their containers. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  teletexString: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
  /** The tags `[0]` and `[3]`, whose meaning depends on where they occur. */
  context0: 0xa0,
  context3: 0xa3,
} as const;

/** A DER element. `bytes` includes the tag and the length; `content` does not. Both are views, not copies. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly bytes: Uint8Array;
}

/** The tag and length of an element. */
interface DerHead {
  readonly tag: number;
  /** Offset of the content. */
  readonly start: number;
  /** Length of the content. Null for the indefinite length of BER. */
  readonly length: number | null;
}

/** Maximum number of elements in a list: more than the longest list of names in a real certificate. */
const MAX_PARTS = 65_536;

/** Creates the error for invalid DER. Callers add the name of the certificate. */
function invalidDer(what: string): TypeError {
  return new TypeError(what);
}

/** Reads the tag and length of the first element, whose content may be truncated. */
function readHead(bytes: Uint8Array): DerHead {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw invalidDer('it ends too early');
  if ((tag & 0x1f) === 0x1f) throw invalidDer('it has a tag that certificates do not use');
  if (first < 0x80) return { tag, start: 2, length: first };
  if (first === 0x80) return { tag, start: 2, length: null };
  const start = 2 + first - 0x80;
  if (start > 6) throw invalidDer('it has a length that DER does not allow');
  if (bytes.length < start) throw invalidDer('it ends too early');
  return { tag, start, length: bytes.subarray(2, start).reduce((length, byte) => length * 256 + byte, 0) };
}

/** Reads the first element of `bytes` and ignores the rest. */
export function readElement(bytes: Uint8Array): DerElement {
  const { tag, start, length } = readHead(bytes);
  if (length === null) throw invalidDer('it has a length that DER does not allow');
  const end = start + length;
  if (end > bytes.length)
    throw invalidDer(`it is cut off: it has ${bytes.length} of the ${end} bytes that its length states`);
  return { tag, content: bytes.subarray(start, end), bytes: bytes.subarray(0, end) };
}

/** Reads all elements in `content`. */
export function readElements(content: Uint8Array): DerElement[] {
  const elements: DerElement[] = [];
  for (let offset = 0; offset < content.length; ) {
    if (elements.length === MAX_PARTS) throw invalidDer('it has more parts than a certificate can have');
    const element = readElement(content.subarray(offset));
    elements.push(element);
    offset += element.bytes.length;
  }
  return elements;
}

/** Returns the element if it has this tag. Otherwise throws; `what` names the element in the message. */
function expectElement(element: DerElement | undefined, tag: number, what: string): DerElement {
  if (element === undefined) throw invalidDer(`${what} is missing`);
  if (element.tag !== tag) throw invalidDer(`${what} has an unexpected type (tag ${element.tag})`);
  return element;
}

/** Reads the elements inside a SEQUENCE or SET. */
export function readParts(element: DerElement | undefined, tag: number, what: string): DerElement[] {
  return readElements(expectElement(element, tag, what).content);
}

/** Reads an object identifier, and returns it in dotted form. */
export function readObjectId(element: DerElement | undefined, what: string): string {
  const { content } = expectElement(element, TAG.objectId, what);
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const byte of content.subarray(0, 64)) {
    arc = (arc << 7n) | BigInt(byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [head, ...rest] = arcs;
  if (head === undefined) throw invalidDer(`${what} is empty`);
  const root = head < 80n ? head / 40n : 2n;
  return [root, head - root * 40n, ...rest].join('.');
}

/** Reads a small non-negative integer. Returns 2^31 - 1 for larger values. */
export function readSmallInteger(element: DerElement | undefined, what: string): number {
  const { content } = expectElement(element, TAG.integer, what);
  if (content.length === 0 || (content[0] ?? 0) >= 0x80) throw invalidDer(`${what} is not a non-negative integer`);
  let value = 0;
  for (const byte of content) value = Math.min(value * 256 + byte, 0x7fffffff);
  return value;
}

/** Reads a UTCTime or GeneralizedTime in the form that RFC 5280 (4.1.2.5) requires. */
export function readTime(element: DerElement | undefined, what: string): Date {
  const text = Buffer.from(element?.content ?? []).toString('latin1');
  const short = element?.tag === TAG.utcTime;
  const parts = (short ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/ : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/).exec(
    text,
  );
  if (parts === null || !(short || element?.tag === TAG.generalizedTime)) throw invalidDer(`${what} is not a date`);
  const [, year = '', month, day, hour, minute, second = '00'] = parts;
  const century = short ? (Number(year) < 50 ? '20' : '19') : '';
  const date = new Date(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(date.getTime())) throw invalidDer(`${what} is not a date`);
  return date;
}

/** An element that may be truncated. */
export interface PeekedElement {
  readonly tag: number;
  /** The available bytes of the content. */
  readonly content: Uint8Array;
  /** Stated length including the header; undefined for an indefinite length (BER). */
  readonly length: number | undefined;
  /** Number of available bytes. */
  readonly present: number;
}

/** Reads the first element, which may be truncated. Returns undefined when there is none. */
export function peekElement(bytes: Uint8Array): PeekedElement | undefined {
  const head = peekHead(bytes);
  if (head === undefined) return undefined;
  const { tag, start, length } = head;
  if (length === null) return { tag, content: bytes.subarray(start), length: undefined, present: bytes.length };
  const end = start + length;
  return { tag, content: bytes.subarray(start, end), length: end, present: Math.min(end, bytes.length) };
}

/** Reads up to `most` elements inside another one. The last may be truncated. */
export function peekParts(element: PeekedElement | undefined, most = 16): PeekedElement[] {
  const parts: PeekedElement[] = [];
  let rest = element?.content ?? new Uint8Array();
  while (parts.length < most) {
    const part = peekElement(rest);
    if (part === undefined) break;
    parts.push(part);
    rest = rest.subarray(part.length ?? rest.length);
  }
  return parts;
}

function peekHead(bytes: Uint8Array): DerHead | undefined {
  try {
    return readHead(bytes);
  } catch {
    return undefined;
  }
}

/** Encodes an element with this tag and content. */
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

/** Encodes an object identifier, for example `2.5.4.3`. */
export function derObjectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((part) => {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(TAG.objectId, Uint8Array.from(bytes));
}

/** Encodes a date: UTCTime until 2049 and GeneralizedTime after it (RFC 5280, 4.1.2.5). */
export function derTime(date: Date): Uint8Array {
  const text = `${date.toISOString().replace(/[-:T]|\.\d+Z$/g, '')}Z`;
  return date.getUTCFullYear() < 2050
    ? der(TAG.utcTime, Buffer.from(text.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(text));
}

/** Encodes a distinguished name with a single common name, which may contain any characters. */
export function derCommonName(name: string): Uint8Array {
  const attribute = der(TAG.sequence, derObjectIdentifier('2.5.4.3'), der(TAG.utf8String, Buffer.from(name, 'utf8')));
  return der(TAG.sequence, der(TAG.set, attribute));
}
