/** Reads the messages of a server's first flight (RFC 5246, 7.4; RFC 8446, 4). What is not as it should be gives null, never an error. */
import type { TlsVersion } from '../../../contract/index.ts';
import { ByteReader } from './byte-reader.ts';
import { VERSION_NUMBERS } from './client-hello.ts';

export interface ServerHello {
  readonly version: TlsVersion;
  /** The id of the cipher suite. */
  readonly suite: number;
  readonly compressed: boolean;
  readonly secureRenegotiation: boolean;
  /** The application protocol; TLS 1.3 tells it only in secret. */
  readonly alpn: string | null;
}

const VERSIONS: ReadonlyMap<number, TlsVersion> = new Map(
  (Object.entries(VERSION_NUMBERS) as [TlsVersion, number][]).map(([version, number]) => [number, version]),
);

/** Longer chains and lists are nobody's honest ones. */
const MOST_CERTIFICATES = 100;
const MOST_AUTHORITIES = 2_000;

/** A HelloRetryRequest is a ServerHello too, of TLS 1.3 always. */
export function readServerHello(body: Uint8Array): ServerHello | null {
  const reader = new ByteReader(body);
  const legacyVersion = reader.number(2);
  reader.bytes(32);
  const sessionId = reader.vector(1);
  const suite = reader.number(2);
  const compressed = reader.number(1) !== 0;
  const extensions = readExtensions(reader);
  if (reader.broken || extensions === null || sessionId.length > 32) return null;

  const selected = extensions.get(43);
  // Below TLS 1.2 nobody knows this extension, so what stands there does not change the version.
  const number =
    selected !== undefined && legacyVersion === 0x0303 ? new ByteReader(selected).number(2) : legacyVersion;
  const version = VERSIONS.get(number);
  // Version 1.3 in the old place is none that exists.
  if (version === undefined || (version === 'TLSv1.3' && legacyVersion !== 0x0303)) return null;
  return {
    version,
    suite,
    compressed,
    secureRenegotiation: extensions.has(0xff01),
    alpn: readAlpn(extensions.get(16)),
  };
}

function readExtensions(reader: ByteReader): Map<number, Uint8Array> | null {
  const extensions = new Map<number, Uint8Array>();
  if (reader.left === 0) return extensions;
  const list = reader.within(2);
  while (list.left > 0) {
    const type = list.number(2);
    const value = list.vector(2);
    if (!extensions.has(type)) extensions.set(type, value);
  }
  return list.broken ? null : extensions;
}

function readAlpn(value: Uint8Array | undefined): string | null {
  if (value === undefined) return null;
  const list = new ByteReader(value).within(2);
  const name = Buffer.from(list.vector(1)).toString('latin1');
  return list.broken || name === '' ? null : name;
}

/** The certificates in DER, in the order in which they were sent; copies. */
export function readCertificates(body: Uint8Array): Uint8Array[] | null {
  const reader = new ByteReader(body);
  const list = reader.within(3);
  if (reader.broken || reader.left > 0) return null;
  return copies(list, 3, MOST_CERTIFICATES);
}

/** The names of authorities in DER; copies. TLS 1.2 has a list of signature algorithms before them. */
export function readAuthorities(body: Uint8Array, version: TlsVersion): Uint8Array[] | null {
  const reader = new ByteReader(body);
  reader.vector(1);
  if (version === 'TLSv1.2') reader.vector(2);
  const list = reader.within(2);
  if (reader.broken || reader.left > 0) return null;
  return copies(list, 2, MOST_AUTHORITIES);
}

/** What a list of vectors holds; null when it is cut off, holds an empty one or more than so many. */
function copies(list: ByteReader, size: 2 | 3, most: number): Uint8Array[] | null {
  const found: Uint8Array[] = [];
  while (list.left > 0) {
    const item = list.vector(size);
    if (item.length === 0 || found.length === most) return null;
    found.push(item.slice());
  }
  return list.broken ? null : found;
}
