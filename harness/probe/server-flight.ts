/**
 * Reads a server's first flight as it comes: records, and the handshake messages and alerts in them. Whatever the server sends,
 * it never throws, always ends and keeps a bounded amount. Specification: TLS.
 */
import type { TlsVersion } from '../../contract/index.ts';
import { alertNameOf } from '../transport/index.ts';
import { VERSION_NUMBERS } from './client-hello.ts';

/** Bytes after which nothing more is read. The largest honest flights, with hundreds of names of authorities, have some 100,000. */
const MOST_BYTES = 512 * 1024;
/** A plaintext record has at most 2^14 bytes; some more in case it is a sealed one (RFC 5246, 6.2). */
const MOST_RECORD_BYTES = 2 ** 14 + 2048;

const CHANGE_CIPHER_SPEC = 20;
const ALERT = 21;
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;

const SERVER_HELLO = 2;
const CERTIFICATE = 11;
const CERTIFICATE_REQUEST = 13;
const SERVER_HELLO_DONE = 14;
const CERTIFICATE_STATUS = 22;
const HELLO_REQUEST = 0;

export interface Alert {
  readonly level: 'warning' | 'fatal';
  readonly name: string;
}

/** One flight. Feed it with {@link ServerFlight.read} and look at what it has found. */
export class ServerFlight {
  hello: ServerHello | null = null;
  /** DER, in the order in which they were sent; empty when there is no readable Certificate message. */
  certificates: readonly Uint8Array[] = [];
  stapled = false;
  /** Whether the server asks for a client certificate, and the names (DER) of the authorities that it lists. */
  certificateRequest: { readonly authorities: readonly Uint8Array[] } | null = null;
  /** The fatal alert that ended it. */
  alert: Alert | null = null;
  /** The last warning, which ends nothing. */
  warning: Alert | null = null;
  /** Whether the flight has been seen to its end: ServerHelloDone, or all of TLS 1.3 that is not sealed. */
  whole = false;

  readonly #records = new ByteQueue();
  readonly #messages = new ByteQueue();
  #received = 0;
  #done = false;
  #broken = false;

  /** Whether nothing more is to be read. */
  get done(): boolean {
    return this.#done;
  }

  /** Whether what came is no flight of a TLS server. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Whether it has begun something, a record or a message, that has not come to its end. */
  get unfinished(): boolean {
    return this.#records.length > 0 || this.#messages.length > 0;
  }

  read(piece: Uint8Array): void {
    if (this.#done) return;
    this.#received += piece.length;
    this.#records.push(piece);
    while (!this.#done && this.#nextRecord()) {
      // Each turn takes one record.
    }
    if (this.#received > MOST_BYTES) this.#stop();
  }

  /** Nothing can be made of what follows; what there is before is kept. */
  #stop(): void {
    if (this.#done) return;
    this.#done = true;
    this.#broken = this.hello === null;
  }

  #nextRecord(): boolean {
    const records = this.#records;
    if (records.length === 0) return false;
    const type = records.at(0);
    if (type < CHANGE_CIPHER_SPEC || type > APPLICATION_DATA || (records.length > 1 && records.at(1) !== 3)) {
      this.#stop();
      return false;
    }
    if (records.length < 5) return false;
    const length = records.at(3) * 256 + records.at(4);
    if (length > MOST_RECORD_BYTES) {
      this.#stop();
      return false;
    }
    if (records.length < 5 + length) return false;
    records.take(5);
    const payload = records.take(length);
    if (type === ALERT) this.#readAlerts(payload);
    else if (type === HANDSHAKE) this.#readMessages(payload);
    else this.#stop();
    return true;
  }

  #readAlerts(payload: Uint8Array): void {
    let whole = payload.length > 0;
    for (let place = 0; place < payload.length && this.alert === null && whole; place += 2) {
      const level = payload[place];
      const number = payload[place + 1];
      whole = number !== undefined && (level === 1 || level === 2);
      const name = alertNameOf(number ?? 0);
      if (whole && level === 2) this.alert = { level: 'fatal', name };
      // A server that does not know the name may say so and go on (RFC 6066, 3); other warnings end nothing either.
      else if (whole) this.warning = { level: 'warning', name };
    }
    if (this.alert !== null) this.#done = true;
    else if (!whole) this.#stop();
  }

  #readMessages(payload: Uint8Array): void {
    const messages = this.#messages;
    messages.push(payload);
    while (!this.#done && messages.length >= 4) {
      const length = (messages.at(1) * 256 + messages.at(2)) * 256 + messages.at(3);
      if (length > MOST_BYTES) this.#stop();
      if (messages.length < 4 + length) return;
      const type = messages.at(0);
      messages.take(4);
      this.#readMessage(type, messages.take(length));
    }
  }

  #readMessage(type: number, body: Uint8Array): void {
    if (type === HELLO_REQUEST) return;
    if (this.hello === null) {
      if (type === SERVER_HELLO) this.hello = readServerHello(body);
      if (this.hello === null) this.#stop();
      else if (this.hello.version === 'TLSv1.3') this.#finish();
      return;
    }
    switch (type) {
      case CERTIFICATE:
        this.certificates = readCertificates(body) ?? [];
        break;
      case CERTIFICATE_STATUS:
        this.stapled = true;
        break;
      case CERTIFICATE_REQUEST:
        this.certificateRequest = { authorities: readAuthorities(body, this.hello.version) ?? [] };
        break;
      case SERVER_HELLO_DONE:
        this.#finish();
        break;
      case SERVER_HELLO:
        this.#stop();
    }
  }

  #finish(): void {
    this.whole = true;
    this.#done = true;
  }
}

/** Reads the messages of a server's first flight (RFC 5246, 7.4; RFC 8446, 4). What is not as it should be gives null, never an error. */

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
function readServerHello(body: Uint8Array): ServerHello | null {
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
function readCertificates(body: Uint8Array): Uint8Array[] | null {
  const reader = new ByteReader(body);
  const list = reader.within(3);
  if (reader.broken || reader.left > 0) return null;
  return copies(list, 3, MOST_CERTIFICATES);
}

/** The names of authorities in DER; copies. TLS 1.2 has a list of signature algorithms before them. */
function readAuthorities(body: Uint8Array, version: TlsVersion): Uint8Array[] | null {
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

/**
 * Reads fields of a message one after another. Reading past the end never throws: it gives zeros and sets `broken`, which is
 * looked at once, when everything has been read.
 */
class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;
  #broken = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether more has been asked for than there was. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Bytes that have not been read; none once it is broken, so that a loop over what is left always ends. */
  get left(): number {
    return this.#broken ? 0 : this.#bytes.length - this.#position;
  }

  /** A number in so many bytes, the highest first. */
  number(size: 1 | 2 | 3): number {
    let value = 0;
    for (const byte of this.bytes(size)) value = value * 256 + byte;
    return value;
  }

  /** A view of the next bytes; empty when there are not so many. */
  bytes(count: number): Uint8Array {
    if (count > this.left) {
      this.#broken = true;
      return new Uint8Array(0);
    }
    const view = this.#bytes.subarray(this.#position, this.#position + count);
    this.#position += count;
    return view;
  }

  /** A view of bytes that stand behind their length, which is of so many bytes. */
  vector(size: 1 | 2 | 3): Uint8Array {
    return this.bytes(this.number(size));
  }

  /** A reader of such bytes. */
  within(size: 1 | 2 | 3): ByteReader {
    const inner = new ByteReader(this.vector(size));
    if (this.#broken) inner.#broken = true;
    return inner;
  }
}

/** Bytes that come in pieces of any size and are taken in others. The cost of a byte does not depend on the sizes. */
class ByteQueue {
  #bytes = new Uint8Array(1024);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  push(piece: Uint8Array): void {
    if (this.#end + piece.length > this.#bytes.length) this.#makeRoom(piece.length);
    this.#bytes.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** The byte at a place from the front; 0 where there is none. */
  at(index: number): number {
    return index < this.length ? (this.#bytes[this.#start + index] ?? 0) : 0;
  }

  /** Takes bytes from the front: a copy, of as many as there are at most. */
  take(count: number): Uint8Array {
    const taken = this.#bytes.slice(this.#start, Math.min(this.#start + count, this.#end));
    this.#start += taken.length;
    return taken;
  }

  /** Doubles, so that many small pieces are not copied over and over. */
  #makeRoom(more: number): void {
    const needed = this.length + more;
    let size = this.#bytes.length;
    while (size < needed * 2) size *= 2;
    const bytes = new Uint8Array(size);
    bytes.set(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = bytes;
    this.#end = this.length;
    this.#start = 0;
  }
}
