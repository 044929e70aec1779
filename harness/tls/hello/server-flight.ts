/**
 * Reads a server's first flight as it comes: records, and the handshake messages and alerts in them. Whatever the server sends,
 * it never throws, always ends and keeps a bounded amount. Specification: TLS.
 */
import { alertNameOf } from '../../sender/index.ts';
import { ByteQueue } from './byte-queue.ts';
import { readAuthorities, readCertificates, readServerHello, type ServerHello } from './handshake-messages.ts';

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
