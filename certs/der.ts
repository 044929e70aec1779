/** The tags of DER (X.690) that certificates, keys and the containers of them have. */
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
  /** `[0]` and `[3]` around something: what they mean depends on where they stand. */
  context0: 0xa0,
  context3: 0xa3,
} as const;

/**
 * Reads DER (ITU-T X.690), as much of it as certificates need: elements with one tag byte and a definite length.
 *
 * Node 20 does not tell a certificate's signature algorithm, path length or key usage. The library that does takes a tenth
 * of a second to load, which every run over HTTPS would pay; these few lines take none. Tests hold them against that library.
 *
 * The bytes may be anybody's. Nothing here calls itself, so how deep they nest does not matter: callers go down as far as a
 * certificate does. Lengths have four bytes at the most, and a list has at the most {@link MOST_PARTS} parts.
 */

/** One element. `bytes` is the whole of it with tag and length, `content` what is inside. Both are views, not copies. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly bytes: Uint8Array;
}

/** What stands before the content of an element. */
interface DerHead {
  readonly tag: number;
  /** Where the content begins. */
  readonly start: number;
  /** Of the content, in bytes; null for the indefinite length of BER. */
  readonly length: number | null;
}

/** More than the longest list of names in a certificate that anybody could use. */
const MOST_PARTS = 65_536;

/** Says where the bytes stop being DER. Callers turn it into a message about the certificate. */
function broken(what: string): TypeError {
  return new TypeError(what);
}

/** The head of the element that begins the bytes, whether or not the rest of it is there. */
function readHead(bytes: Uint8Array): DerHead {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) throw broken('it ends too early');
  if ((tag & 0x1f) === 0x1f) throw broken('it has a tag that no certificate has');
  if (first < 0x80) return { tag, start: 2, length: first };
  if (first === 0x80) return { tag, start: 2, length: null };
  const start = 2 + first - 0x80;
  if (start > 6) throw broken('it has a length that DER does not allow');
  if (bytes.length < start) throw broken('it ends too early');
  return { tag, start, length: bytes.subarray(2, start).reduce((length, byte) => length * 256 + byte, 0) };
}

/** The element at the start of `bytes`; what follows it is left alone. */
export function readElement(bytes: Uint8Array): DerElement {
  const { tag, start, length } = readHead(bytes);
  if (length === null) throw broken('it has a length that DER does not allow');
  const end = start + length;
  if (end > bytes.length) throw broken(`it is cut off: ${end} bytes are announced and ${bytes.length} are there`);
  return { tag, content: bytes.subarray(start, end), bytes: bytes.subarray(0, end) };
}

/** All elements, one after the other, that fill `content`. */
export function readElements(content: Uint8Array): DerElement[] {
  const elements: DerElement[] = [];
  for (let offset = 0; offset < content.length; ) {
    if (elements.length === MOST_PARTS) throw broken('it has more parts than a certificate can have');
    const element = readElement(content.subarray(offset));
    elements.push(element);
    offset += element.bytes.length;
  }
  return elements;
}

/** The element, if it is there and of this tag. */
function expectElement(element: DerElement | undefined, tag: number, what: string): DerElement {
  if (element === undefined) throw broken(`${what} is missing`);
  if (element.tag !== tag) throw broken(`${what} is of another type (tag ${element.tag})`);
  return element;
}

/** The parts of a SEQUENCE or SET. */
export function readParts(element: DerElement | undefined, tag: number, what: string): DerElement[] {
  return readElements(expectElement(element, tag, what).content);
}

/** An object identifier with dots. */
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
  if (head === undefined) throw broken(`${what} is empty`);
  const root = head < 80n ? head / 40n : 2n;
  return [root, head - root * 40n, ...rest].join('.');
}

/** A small whole number that is not negative; what is larger than any limit that makes sense comes back as 2^31 - 1. */
export function readSmallInteger(element: DerElement | undefined, what: string): number {
  const { content } = expectElement(element, TAG.integer, what);
  if (content.length === 0 || (content[0] ?? 0) >= 0x80) throw broken(`${what} is no number from 0 up`);
  let value = 0;
  for (const byte of content) value = Math.min(value * 256 + byte, 0x7fffffff);
  return value;
}

/** UTCTime or GeneralizedTime in the form that RFC 5280 (4.1.2.5) asks for. */
export function readTime(element: DerElement | undefined, what: string): Date {
  const text = Buffer.from(element?.content ?? []).toString('latin1');
  const short = element?.tag === TAG.utcTime;
  const parts = (short ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/ : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/).exec(
    text,
  );
  if (parts === null || !(short || element?.tag === TAG.generalizedTime)) throw broken(`${what} is no date`);
  const [, year = '', month, day, hour, minute, second = '00'] = parts;
  const century = short ? (Number(year) < 50 ? '20' : '19') : '';
  const date = new Date(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(date.getTime())) throw broken(`${what} is no date`);
  return date;
}

/** Looks at what may be DER, whole or not: enough to tell what a file is. X.690, section 8.1. */

/** One element as far as its bytes are there. */
export interface PeekedElement {
  readonly tag: number;
  /** The bytes of its content that are there. */
  readonly content: Uint8Array;
  /** How long the whole element says it is, head included; undefined for an indefinite length (BER). */
  readonly length: number | undefined;
  /** How many of those bytes are there. */
  readonly present: number;
}

/** The element that begins the bytes, or undefined when none does. It may be cut short. */
export function peekElement(bytes: Uint8Array): PeekedElement | undefined {
  const head = peekHead(bytes);
  if (head === undefined) return undefined;
  const { tag, start, length } = head;
  if (length === null) return { tag, content: bytes.subarray(start), length: undefined, present: bytes.length };
  const end = start + length;
  return { tag, content: bytes.subarray(start, end), length: end, present: Math.min(end, bytes.length) };
}

/** The elements within one, at most `most`: no container that is told apart here needs more. The last of them may be cut short. */
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

/** The little of DER (X.690) that it takes to put a certificate together. */

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
