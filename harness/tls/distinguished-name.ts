/** Distinguished names (X.501) as text: what a server lists of the authorities whose certificates it takes. */
import { ByteReader } from './hello/byte-reader.ts';

/** The attributes that people know by a short name (RFC 4514, 3, and what OpenSSL adds), by the hexadecimal of their identifier. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['550403', 'CN'],
  ['550405', 'serialNumber'],
  ['550406', 'C'],
  ['550407', 'L'],
  ['550408', 'ST'],
  ['550409', 'street'],
  ['55040a', 'O'],
  ['55040b', 'OU'],
  ['550461', 'organizationIdentifier'],
  ['0992268993f22c640119', 'DC'],
  ['2a864886f70d010901', 'emailAddress'],
]);

const SEQUENCE = 0x30;
const SET = 0x31;
const IDENTIFIER = 0x06;
const UTF8_STRING = 0x0c;
const BMP_STRING = 0x1e;

/**
 * `CN=Example CA, O=Example`, in the order of the name. Control characters come out as a question mark, because the bytes are the
 * endpoint's own.
 *
 * @param der one name in DER
 */
export function distinguishedName(der: Uint8Array): string {
  const parts: string[] = [];
  const outer = new ByteReader(der);
  const name = element(outer, SEQUENCE);
  let readable = name !== null && outer.left === 0;
  while (readable && name !== null && name.left > 0) {
    const set = element(name, SET);
    readable = set !== null && set.left > 0;
    while (readable && set !== null && set.left > 0) {
      const part = attribute(set);
      if (part === null) readable = false;
      else parts.push(part);
    }
  }
  if (!readable || name?.broken !== false) return `a name of ${der.length} bytes that cannot be read`;
  return parts.length === 0 ? 'an empty name' : parts.join(', ');
}

function attribute(set: ByteReader): string | null {
  const pair = element(set, SEQUENCE);
  const identifier = pair === null ? null : element(pair, IDENTIFIER);
  if (pair === null || identifier === null) return null;
  const id = Buffer.from(identifier.bytes(identifier.left)).toString('hex');
  const tag = pair.number(1);
  const value = Buffer.from(contents(pair));
  if (pair.broken || pair.left > 0) return null;
  return `${SHORT_NAMES.get(id) ?? `OID ${id}`}=${shown(textOf(tag, value))}`;
}

function textOf(tag: number, value: Buffer): string {
  if (tag === UTF8_STRING) return value.toString('utf8');
  if (tag === BMP_STRING && value.length % 2 === 0) return Buffer.from(value).swap16().toString('utf16le');
  return value.toString('latin1');
}

/** A comma in a value is not the end of it. */
function shown(text: string): string {
  return text.replace(/\p{C}/gu, '?').replace(/[\\,]/g, '\\$&');
}

/** A reader of the contents of the next element, which has to be of this kind. */
function element(reader: ByteReader, tag: number): ByteReader | null {
  if (reader.number(1) !== tag) return null;
  const inner = contents(reader);
  return reader.broken ? null : new ByteReader(inner);
}

/** The bytes behind a DER length. */
function contents(reader: ByteReader): Uint8Array {
  const first = reader.number(1);
  if (first < 0x80) return reader.bytes(first);
  if (first === 0x81) return reader.vector(1);
  if (first === 0x82) return reader.vector(2);
  // Longer lengths do not fit into the message, and the indefinite one is not DER.
  return reader.bytes(Number.MAX_SAFE_INTEGER);
}
