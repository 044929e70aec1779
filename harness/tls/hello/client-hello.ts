/**
 * Writes one ClientHello, the first message of a TLS handshake, byte by byte (RFC 5246, 7.4.1.2; RFC 8446, 4.1.2). No TLS library
 * has a hand in it, so that no policy of ours can keep a probe from being sent. Specification: TLS.
 */
import { randomBytes } from 'node:crypto';
import type { TlsVersion } from '../../../contract/index.ts';

export interface ClientHello {
  /** The highest version; TLS 1.3 stands alone. */
  readonly version: TlsVersion;
  /** Ids of cipher suites. */
  readonly suites: readonly number[];
  /** Offers DEFLATE before no compression. */
  readonly compression?: boolean;
  /** The server name (SNI). Null for none: IP addresses have none. */
  readonly serverName: string | null;
  /** Application protocols, such as `http/1.1`. */
  readonly alpn?: readonly string[];
  /** Asks for a stapled OCSP answer. */
  readonly ocsp?: boolean;
}

/** Two-byte version numbers on the wire. */
export const VERSION_NUMBERS: Readonly<Record<TlsVersion, number>> = {
  SSLv3: 0x0300,
  TLSv1: 0x0301,
  'TLSv1.1': 0x0302,
  'TLSv1.2': 0x0303,
  'TLSv1.3': 0x0304,
};

/** Says that the client knows secure renegotiation (RFC 5746, 3.3). */
const RENEGOTIATION_SCSV = 0x00ff;
/** x25519, P-256, P-384, P-521. */
const CURVES = [0x001d, 0x0017, 0x0018, 0x0019];
const SIGNATURE_ALGORITHMS = [
  0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0807, 0x0203, 0x0201,
];

/** The bytes of the whole record. */
export function encodeClientHello(hello: ClientHello): Uint8Array {
  const { version, suites, compression = false } = hello;
  const tls13 = version === 'TLSv1.3';
  const body = Buffer.concat([
    // TLS 1.3 says its version in an extension, and here that it is TLS 1.2.
    u16(tls13 ? VERSION_NUMBERS['TLSv1.2'] : VERSION_NUMBERS[version]),
    randomBytes(32),
    // A session id makes TLS 1.3 look like a resumption to machines on the way (RFC 8446, D.4).
    vector8(tls13 ? randomBytes(32) : Buffer.alloc(0)),
    vector16(...suites.map(u16), ...(tls13 ? [] : [u16(RENEGOTIATION_SCSV)])),
    vector8(Buffer.from(compression ? [1, 0] : [0])),
    ...(version === 'SSLv3' ? [] : [vector16(...extensions(hello))]),
  ]);
  const message = Buffer.concat([Buffer.of(1, body.length >> 16), u16(body.length & 0xffff), body]);
  const recordVersion = version === 'SSLv3' ? VERSION_NUMBERS.SSLv3 : VERSION_NUMBERS.TLSv1;
  return Buffer.concat([Buffer.of(22), u16(recordVersion), vector16(message)]);
}

function extensions({ version, serverName, alpn = [], ocsp = false }: ClientHello): Buffer[] {
  const modern = version === 'TLSv1.2' || version === 'TLSv1.3';
  return [
    ...(serverName === null ? [] : [extension(0, vector16(Buffer.of(0), vector16(Buffer.from(serverName, 'latin1'))))]),
    extension(10, vector16(...CURVES.map(u16))),
    extension(11, vector8(Buffer.of(0))),
    ...(modern ? [extension(13, vector16(...SIGNATURE_ALGORITHMS.map(u16)))] : []),
    ...(alpn.length === 0
      ? []
      : [extension(16, vector16(...alpn.map((name) => vector8(Buffer.from(name, 'latin1')))))]),
    ...(ocsp ? [extension(5, Buffer.of(1, 0, 0, 0, 0))] : []),
    ...(version === 'TLSv1.3'
      ? [
          extension(43, vector8(u16(VERSION_NUMBERS['TLSv1.3']))),
          // The handshake is never finished, so any point on the curve will do.
          extension(51, vector16(u16(0x001d), vector16(randomBytes(32)))),
        ]
      : []),
  ];
}

function extension(type: number, body: Buffer): Buffer {
  return Buffer.concat([u16(type), vector16(body)]);
}

function u16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

/** Bytes behind their length in one byte. */
function vector8(body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(body.length), body]);
}

/** Bytes behind their length in two bytes. */
function vector16(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u16(body.length), body]);
}
