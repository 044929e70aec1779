/**
 * Encodes a ClientHello, the first message of a TLS handshake (RFC 5246, 7.4.1.2; RFC 8446, 4.1.2), and names cipher
 * suites. No TLS library is involved, so that no local policy prevents a probe. Specification: TLS.
 */

import { randomBytes } from 'node:crypto';
import type { TlsVersion } from '../../contract/index.ts';
import type { SuiteGroup } from '../../scenarios/index.ts';

export interface ClientHello {
  /** The highest version offered; TLS 1.3 is offered alone. */
  readonly version: TlsVersion;
  /** Ids of cipher suites. */
  readonly suites: readonly number[];
  /** Offers DEFLATE in preference to no compression. */
  readonly compression?: boolean;
  /** The server name (SNI); null to send none, as for IP addresses. */
  readonly serverName: string | null;
  /** Application protocols, such as `http/1.1`. */
  readonly alpn?: readonly string[];
  /** Requests a stapled OCSP response. */
  readonly ocsp?: boolean;
}

/** The version numbers on the wire. */
export const VERSION_NUMBERS: Readonly<Record<TlsVersion, number>> = {
  SSLv3: 0x0300,
  TLSv1: 0x0301,
  'TLSv1.1': 0x0302,
  'TLSv1.2': 0x0303,
  'TLSv1.3': 0x0304,
};

/** Signals support for secure renegotiation (RFC 5746, 3.3). */
const RENEGOTIATION_SCSV = 0x00ff;
/** x25519, P-256, P-384, P-521. */
const CURVES = [0x001d, 0x0017, 0x0018, 0x0019];
const SIGNATURE_ALGORITHMS = [
  0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0807, 0x0203, 0x0201,
];

/** Encodes a ClientHello as a complete TLS record. */
export function encodeClientHello(hello: ClientHello): Uint8Array {
  const { version, suites, compression = false } = hello;
  const tls13 = version === 'TLSv1.3';
  const body = Buffer.concat([
    // TLS 1.2 states its version here, TLS 1.3 in an extension.
    u16(tls13 ? VERSION_NUMBERS['TLSv1.2'] : VERSION_NUMBERS[version]),
    randomBytes(32),
    // A session id makes TLS 1.3 look like a resumption to middleboxes (RFC 8446, D.4).
    vector8(tls13 ? randomBytes(32) : Buffer.alloc(0)),
    vector16(...suites.map(u16), ...(tls13 ? [] : [u16(RENEGOTIATION_SCSV)])),
    vector8(Buffer.from(compression ? [1, 0] : [0])),
    ...(version === 'SSLv3' ? [] : [vector16(...extensions(hello))]),
  ]);
  const message = Buffer.concat([Buffer.of(1, body.length >> 16), u16(body.length & 0xffff), body]);
  const recordVersion = version === 'SSLv3' ? VERSION_NUMBERS.SSLv3 : VERSION_NUMBERS.TLSv1;
  return Buffer.concat([Buffer.of(22), u16(recordVersion), vector16(message)]);
}

/** Returns the ids of the suites in these groups, in order and without duplicates. */
export function suitesOf(groups: readonly SuiteGroup[]): number[] {
  return [...new Set(groups.flatMap((group) => GROUPS[group]))];
}

/** Returns whether there is at least one group and all groups are weak. */
export function areAllWeak(groups: readonly SuiteGroup[]): boolean {
  return groups.length > 0 && groups.every((group) => WEAK_GROUPS.has(group));
}

/** Returns the registered name of a suite, or "suite 0x1a2b" for one that is never offered here. */
export function suiteName(id: number): string {
  return NAMES.get(id) ?? `suite 0x${id.toString(16).padStart(4, '0')}`;
}

function extensions({ version, serverName, alpn = [], ocsp = false }: ClientHello): Buffer[] {
  const hasSignatureAlgorithms = version === 'TLSv1.2' || version === 'TLSv1.3';
  return [
    ...(serverName === null ? [] : [extension(0, vector16(Buffer.of(0), vector16(Buffer.from(serverName, 'latin1'))))]),
    extension(10, vector16(...CURVES.map(u16))),
    extension(11, vector8(Buffer.of(0))),
    ...(hasSignatureAlgorithms ? [extension(13, vector16(...SIGNATURE_ALGORITHMS.map(u16)))] : []),
    ...(alpn.length === 0
      ? []
      : [extension(16, vector16(...alpn.map((name) => vector8(Buffer.from(name, 'latin1')))))]),
    ...(ocsp ? [extension(5, Buffer.of(1, 0, 0, 0, 0))] : []),
    ...(version === 'TLSv1.3'
      ? [
          extension(43, vector8(u16(VERSION_NUMBERS['TLSv1.3']))),
          // The handshake is never finished, so any point on the curve works.
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

/** Prefixes bytes with their length in one byte. */
function vector8(body: Buffer): Buffer {
  return Buffer.concat([Buffer.of(body.length), body]);
}

/** Prefixes bytes with their length in two bytes. */
function vector16(...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u16(body.length), body]);
}

/** The names of the offered suites, as registered by IANA (TLS Cipher Suites). */
const NAMES: ReadonlyMap<number, string> = new Map([
  [0x1301, 'TLS_AES_128_GCM_SHA256'],
  [0x1302, 'TLS_AES_256_GCM_SHA384'],
  [0x1303, 'TLS_CHACHA20_POLY1305_SHA256'],
  [0xc02b, 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'],
  [0xc02f, 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
  [0xc02c, 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'],
  [0xc030, 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'],
  [0xcca9, 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256'],
  [0xcca8, 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256'],
  [0x009e, 'TLS_DHE_RSA_WITH_AES_128_GCM_SHA256'],
  [0x009f, 'TLS_DHE_RSA_WITH_AES_256_GCM_SHA384'],
  [0x009c, 'TLS_RSA_WITH_AES_128_GCM_SHA256'],
  [0x009d, 'TLS_RSA_WITH_AES_256_GCM_SHA384'],
  [0xc023, 'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256'],
  [0xc027, 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256'],
  [0xc009, 'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA'],
  [0xc00a, 'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA'],
  [0xc013, 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA'],
  [0xc014, 'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA'],
  [0x0033, 'TLS_DHE_RSA_WITH_AES_128_CBC_SHA'],
  [0x0039, 'TLS_DHE_RSA_WITH_AES_256_CBC_SHA'],
  [0x002f, 'TLS_RSA_WITH_AES_128_CBC_SHA'],
  [0x0035, 'TLS_RSA_WITH_AES_256_CBC_SHA'],
  [0x003c, 'TLS_RSA_WITH_AES_128_CBC_SHA256'],
  [0x003d, 'TLS_RSA_WITH_AES_256_CBC_SHA256'],
  [0x0004, 'TLS_RSA_WITH_RC4_128_MD5'],
  [0x0005, 'TLS_RSA_WITH_RC4_128_SHA'],
  [0xc007, 'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA'],
  [0xc011, 'TLS_ECDHE_RSA_WITH_RC4_128_SHA'],
  [0x000a, 'TLS_RSA_WITH_3DES_EDE_CBC_SHA'],
  [0x0016, 'TLS_DHE_RSA_WITH_3DES_EDE_CBC_SHA'],
  [0xc008, 'TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA'],
  [0xc012, 'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA'],
  [0x0001, 'TLS_RSA_WITH_NULL_MD5'],
  [0x0002, 'TLS_RSA_WITH_NULL_SHA'],
  [0x003b, 'TLS_RSA_WITH_NULL_SHA256'],
  [0xc006, 'TLS_ECDHE_ECDSA_WITH_NULL_SHA'],
  [0xc010, 'TLS_ECDHE_RSA_WITH_NULL_SHA'],
  [0x0003, 'TLS_RSA_EXPORT_WITH_RC4_40_MD5'],
  [0x0006, 'TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5'],
  [0x0008, 'TLS_RSA_EXPORT_WITH_DES40_CBC_SHA'],
  [0x0014, 'TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA'],
  [0x0017, 'TLS_DH_anon_EXPORT_WITH_RC4_40_MD5'],
  [0x0018, 'TLS_DH_anon_WITH_RC4_128_MD5'],
  [0x001b, 'TLS_DH_anon_WITH_3DES_EDE_CBC_SHA'],
  [0x0034, 'TLS_DH_anon_WITH_AES_128_CBC_SHA'],
  [0x003a, 'TLS_DH_anon_WITH_AES_256_CBC_SHA'],
  [0x006c, 'TLS_DH_anon_WITH_AES_128_CBC_SHA256'],
  [0x006d, 'TLS_DH_anon_WITH_AES_256_CBC_SHA256'],
  [0x00a6, 'TLS_DH_anon_WITH_AES_128_GCM_SHA256'],
  [0x00a7, 'TLS_DH_anon_WITH_AES_256_GCM_SHA384'],
  [0xc018, 'TLS_ECDH_anon_WITH_AES_128_CBC_SHA'],
  [0xc019, 'TLS_ECDH_anon_WITH_AES_256_CBC_SHA'],
]);

const GROUPS: Readonly<Record<SuiteGroup, readonly number[]>> = {
  modern: [0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0x009e, 0x009f, 0x009c, 0x009d],
  tls13: [0x1301, 0x1302, 0x1303],
  // The best suites that a TLS 1.0 or 1.1 client offers.
  legacy: [0xc009, 0xc00a, 0xc013, 0xc014, 0x002f, 0x0035, 0x0033, 0x0039],
  cbc: [0xc023, 0xc027, 0xc009, 0xc013, 0xc00a, 0xc014, 0x002f, 0x0035, 0x003c],
  rc4: [0x0004, 0x0005, 0xc007, 0xc011],
  '3des': [0x000a, 0x0016, 0xc008, 0xc012],
  null: [0x0001, 0x0002, 0x003b, 0xc006, 0xc010],
  export: [0x0003, 0x0006, 0x0008, 0x0014, 0x0017],
  anonymous: [0x0018, 0x001b, 0x0034, 0x003a, 0x006c, 0x006d, 0x00a6, 0x00a7, 0xc018, 0xc019],
  'static-rsa': [0x009c, 0x009d, 0x002f, 0x0035, 0x003c, 0x003d],
};

/** Groups whose suites an endpoint must not accept at any version. */
const WEAK_GROUPS: ReadonlySet<SuiteGroup> = new Set(['rc4', '3des', 'null', 'export', 'anonymous']);
