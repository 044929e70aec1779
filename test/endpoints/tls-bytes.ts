/** Builds the bytes of a TLS server that no current TLS library sends. */
import type { TlsVersion } from '../../contract/index.ts';

export const NUMBERS: Readonly<Record<TlsVersion, number>> = {
  SSLv3: 0x0300,
  TLSv1: 0x0301,
  'TLSv1.1': 0x0302,
  'TLSv1.2': 0x0303,
  'TLSv1.3': 0x0304,
};

/** The random value of a HelloRetryRequest: the SHA-256 of "HelloRetryRequest" (RFC 8446, section 4.1.3). */
const RETRY_RANDOM = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');

const u16 = (value: number) => Buffer.of(value >> 8, value & 0xff);
const u24 = (value: number) => Buffer.of(value >> 16, (value >> 8) & 0xff, value & 0xff);
const joined16 = (...parts: readonly Uint8Array[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u16(body.length), body]);
};
const joined24 = (...parts: readonly Uint8Array[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u24(body.length), body]);
};
const extension = (type: number, body: Uint8Array) => Buffer.concat([u16(type), joined16(body)]);

/** Encodes a handshake message. */
export function message(type: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(type), joined24(body)]);
}

export interface HelloFields {
  readonly version: TlsVersion;
  readonly suite: number;
  readonly compression?: number;
  readonly alpn?: string;
  readonly secureRenegotiation?: boolean;
  /** Set for a HelloRetryRequest, which exists only in TLS 1.3. */
  readonly retry?: boolean;
}

export function serverHello({
  version,
  suite,
  compression = 0,
  alpn,
  secureRenegotiation,
  retry,
}: HelloFields): Buffer {
  const tls13 = version === 'TLSv1.3';
  const extensions = [
    ...(tls13 ? [extension(43, u16(NUMBERS[version]))] : []),
    ...(tls13
      ? [extension(51, retry ? u16(0x0017) : Buffer.concat([u16(0x001d), joined16(Buffer.alloc(32, 9))]))]
      : []),
    ...(secureRenegotiation ? [extension(0xff01, Buffer.of(0))] : []),
    ...(alpn === undefined ? [] : [extension(16, joined16(Buffer.of(alpn.length), Buffer.from(alpn)))]),
  ];
  return message(
    2,
    Buffer.concat([
      u16(tls13 ? NUMBERS['TLSv1.2'] : NUMBERS[version]),
      retry ? RETRY_RANDOM : Buffer.alloc(32, 7),
      Buffer.of(32),
      Buffer.alloc(32, 8),
      u16(suite),
      Buffer.of(compression),
      extensions.length === 0 ? Buffer.alloc(0) : joined16(...extensions),
    ]),
  );
}

export function certificateMessage(certificates: readonly Uint8Array[]): Buffer {
  return message(11, joined24(...certificates.map((certificate) => joined24(certificate))));
}

export function certificateRequest(authorities: readonly Uint8Array[], version: TlsVersion): Buffer {
  const algorithms = version === 'TLSv1.2' ? joined16(u16(0x0403), u16(0x0804)) : Buffer.alloc(0);
  const names = joined16(...authorities.map((name) => joined16(name)));
  return message(13, Buffer.concat([Buffer.of(2, 1, 64), algorithms, names]));
}

export const certificateStatus = () => message(22, Buffer.concat([Buffer.of(1), joined24(Buffer.alloc(20, 5))]));
export const serverHelloDone = () => message(14, Buffer.alloc(0));

/** Encodes one record. */
export function record(type: number, payload: Uint8Array, version: TlsVersion = 'TLSv1.2'): Buffer {
  return Buffer.concat([Buffer.of(type), u16(NUMBERS[version === 'TLSv1.3' ? 'TLSv1.2' : version]), joined16(payload)]);
}

/** Encodes handshake messages in records of at most `size` bytes, split regardless of message boundaries. */
export function records(messages: readonly Uint8Array[], version: TlsVersion = 'TLSv1.2', size = 2 ** 14): Buffer[] {
  const bytes = Buffer.concat(messages);
  const found: Buffer[] = [];
  for (let place = 0; place < bytes.length; place += size)
    found.push(record(22, bytes.subarray(place, place + size), version));
  return found;
}

export function alertRecord(number: number, level: 1 | 2 = 2, version: TlsVersion = 'TLSv1.2'): Buffer {
  return record(21, Buffer.of(level, number), version);
}
