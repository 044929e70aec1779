/**
 * Reads DER (ITU-T X.690), as much of it as certificates need: elements with one tag byte and a definite length.
 *
 * Node 20 does not tell a certificate's signature algorithm, path length or key usage. The library that does takes a tenth
 * of a second to load, which every run over HTTPS would pay; these few lines take none. Tests hold them against that library.
 *
 * The bytes may be anybody's. Nothing here calls itself, so how deep they nest does not matter: callers go down as far as a
 * certificate does. Lengths have four bytes at the most, and a list has at the most {@link MOST_PARTS} parts.
 */
import { TAG } from './tags.ts';

/** One element. `bytes` is the whole of it with tag and length, `content` what is inside. Both are views, not copies. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly bytes: Uint8Array;
}

/** What stands before the content of an element. */
export interface DerHead {
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
export function readHead(bytes: Uint8Array): DerHead {
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
