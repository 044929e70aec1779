/**
 * Reads a server's first flight incrementally: records, and the handshake messages and alerts in them (RFC 5246, 7.4;
 * RFC 8446, 4). For any input, it never throws, always ends and keeps a bounded amount. Specification: TLS.
 */

import type { TlsVersion } from '../../contract/index.ts';
import { alertNameOf } from '../transport/index.ts';
import { VERSION_NUMBERS } from './client-hello.ts';

/**
 * Reading stops after this many bytes. The largest real flights, with the names of hundreds of CAs, have about 100,000.
 */
const MAX_BYTES = 512 * 1024;
/** A plaintext record has at most 2^14 bytes; an encrypted record has up to 2048 more (RFC 5246, 6.2). */
const MAX_RECORD_BYTES = 2 ** 14 + 2048;

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

export interface ServerHello {
  readonly version: TlsVersion;
  /** The id of the cipher suite. */
  readonly suite: number;
  readonly compressed: boolean;
  readonly secureRenegotiation: boolean;
  /** The application protocol; TLS 1.3 encrypts it. */
  readonly alpn: string | null;
}

/** One flight. Pass the received bytes to {@link ServerFlight.read}, then inspect the fields. */
export class ServerFlight {
  hello: ServerHello | null = null;
  /** DER, in the order in which they were sent; empty when there is no readable Certificate message. */
  certificates: readonly Uint8Array[] = [];
  stapled = false;
  /** The names (DER) of the accepted CAs if the server requests a client certificate. */
  certificateRequest: { readonly authorities: readonly Uint8Array[] } | null = null;
  /** The fatal alert that ended the flight. */
  alert: Alert | null = null;
  /** The last warning; warnings do not end the flight. */
  warning: Alert | null = null;
  /**
   * Whether the flight was read to its end: up to ServerHelloDone, or to the end of the unencrypted part in TLS 1.3.
   */
  complete = false;

  readonly #records = new ByteQueue();
  readonly #messages = new ByteQueue();
  #received = 0;
  #done = false;
  #broken = false;

  /** Whether reading has ended. */
  get done(): boolean {
    return this.#done;
  }

  /** Whether the bytes are not the flight of a TLS server. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Whether a record or a message is incomplete. */
  get unfinished(): boolean {
    return this.#records.length > 0 || this.#messages.length > 0;
  }

  read(piece: Uint8Array): void {
    if (this.#done) return;
    this.#received += piece.length;
    this.#records.push(piece);
    while (!this.#done && this.#nextRecord()) {
      // Each iteration reads one record.
    }
    if (this.#received > MAX_BYTES) this.#stop();
  }

  /** Stops reading at invalid data; what was read before is kept. */
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
    if (length > MAX_RECORD_BYTES) {
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
    let valid = payload.length > 0;
    for (let at = 0; at < payload.length && this.alert === null && valid; at += 2) {
      const level = payload[at];
      const number = payload[at + 1];
      valid = number !== undefined && (level === 1 || level === 2);
      const name = alertNameOf(number ?? 0);
      if (valid && level === 2) this.alert = { level: 'fatal', name };
      // A warning does not end the flight: a server may report an unknown name and continue (RFC 6066, 3).
      else if (valid) this.warning = { level: 'warning', name };
    }
    if (this.alert !== null) this.#done = true;
    else if (!valid) this.#stop();
  }

  #readMessages(payload: Uint8Array): void {
    const messages = this.#messages;
    messages.push(payload);
    while (!this.#done && messages.length >= 4) {
      const length = (messages.at(1) * 256 + messages.at(2)) * 256 + messages.at(3);
      if (length > MAX_BYTES) this.#stop();
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
        this.certificateRequest = { authorities: readCaNames(body, this.hello.version) ?? [] };
        break;
      case SERVER_HELLO_DONE:
        this.#finish();
        break;
      case SERVER_HELLO:
        this.#stop();
    }
  }

  #finish(): void {
    this.complete = true;
    this.#done = true;
  }
}

const VERSIONS: ReadonlyMap<number, TlsVersion> = new Map(
  (Object.entries(VERSION_NUMBERS) as [TlsVersion, number][]).map(([version, number]) => [number, version]),
);

/** Limits that no real chain or list of CAs reaches. */
const MAX_CERTIFICATES = 100;
const MAX_CA_NAMES = 2_000;

/** Reads a ServerHello, or a HelloRetryRequest, which has the same format. Returns null if it is malformed. */
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
  // Below TLS 1.2, this extension has no meaning.
  const number =
    selected !== undefined && legacyVersion === 0x0303 ? new ByteReader(selected).number(2) : legacyVersion;
  const version = VERSIONS.get(number);
  // TLS 1.3 must not be in the legacy field.
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
  const list = reader.nested(2);
  while (list.left > 0) {
    const type = list.number(2);
    const value = list.vector(2);
    if (!extensions.has(type)) extensions.set(type, value);
  }
  return list.broken ? null : extensions;
}

function readAlpn(value: Uint8Array | undefined): string | null {
  if (value === undefined) return null;
  const list = new ByteReader(value).nested(2);
  const name = Buffer.from(list.vector(1)).toString('latin1');
  return list.broken || name === '' ? null : name;
}

/** Returns copies of the certificates (DER) in the order in which they were sent; null if malformed. */
function readCertificates(body: Uint8Array): Uint8Array[] | null {
  const reader = new ByteReader(body);
  const list = reader.nested(3);
  if (reader.broken || reader.left > 0) return null;
  return copyVectors(list, 3, MAX_CERTIFICATES);
}

/**
 * Returns copies of the CA names (DER) in a certificate request; null if malformed. TLS 1.2 lists signature algorithms
 * before them.
 */
function readCaNames(body: Uint8Array, version: TlsVersion): Uint8Array[] | null {
  const reader = new ByteReader(body);
  reader.vector(1);
  if (version === 'TLSv1.2') reader.vector(2);
  const list = reader.nested(2);
  if (reader.broken || reader.left > 0) return null;
  return copyVectors(list, 2, MAX_CA_NAMES);
}

/** Copies a list of vectors; null if it is cut off, contains an empty vector, or is too long. */
function copyVectors(list: ByteReader, size: 2 | 3, maxCount: number): Uint8Array[] | null {
  const found: Uint8Array[] = [];
  while (list.left > 0) {
    const item = list.vector(size);
    if (item.length === 0 || found.length === maxCount) return null;
    found.push(item.slice());
  }
  return list.broken ? null : found;
}

/**
 * Reads the fields of a message in sequence. Reading past the end never throws: it yields zeros and sets `broken`,
 * which the caller checks once after reading everything.
 */
class ByteReader {
  readonly #bytes: Uint8Array;
  #position = 0;
  #broken = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether a read went past the end. */
  get broken(): boolean {
    return this.#broken;
  }

  /** The number of unread bytes; 0 once broken, so that loops over the rest always end. */
  get left(): number {
    return this.#broken ? 0 : this.#bytes.length - this.#position;
  }

  /** Reads a big-endian number of this many bytes. */
  number(size: 1 | 2 | 3): number {
    let value = 0;
    for (const byte of this.bytes(size)) value = value * 256 + byte;
    return value;
  }

  /** Returns a view of the next bytes; empty if there are fewer. */
  bytes(count: number): Uint8Array {
    if (count > this.left) {
      this.#broken = true;
      return new Uint8Array(0);
    }
    const view = this.#bytes.subarray(this.#position, this.#position + count);
    this.#position += count;
    return view;
  }

  /** Returns a view of a vector whose length field has this many bytes. */
  vector(size: 1 | 2 | 3): Uint8Array {
    return this.bytes(this.number(size));
  }

  /** Returns a reader of such a vector. */
  nested(size: 1 | 2 | 3): ByteReader {
    const inner = new ByteReader(this.vector(size));
    if (this.#broken) inner.#broken = true;
    return inner;
  }
}

/** A queue of bytes that are pushed and taken in pieces of any size, at constant cost per byte. */
class ByteQueue {
  #bytes = new Uint8Array(1024);
  #start = 0;
  #end = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  push(piece: Uint8Array): void {
    if (this.#end + piece.length > this.#bytes.length) this.#grow(piece.length);
    this.#bytes.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** Returns the byte at this index from the front; 0 past the end. */
  at(index: number): number {
    return index < this.length ? (this.#bytes[this.#start + index] ?? 0) : 0;
  }

  /** Removes up to this many bytes from the front and returns a copy. */
  take(count: number): Uint8Array {
    const taken = this.#bytes.slice(this.#start, Math.min(this.#start + count, this.#end));
    this.#start += taken.length;
    return taken;
  }

  /** Doubles the capacity, so that many small pieces are not copied repeatedly. */
  #grow(more: number): void {
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
