/** Cipher suites by what is good or bad about them, with their registered ids and names (IANA, TLS Cipher Suites). Specification: TLS. */
import type { SuiteGroup } from '../../../scenarios/index.ts';

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
  // What a client of TLS 1.0 or 1.1 offers at its best.
  legacy: [0xc009, 0xc00a, 0xc013, 0xc014, 0x002f, 0x0035, 0x0033, 0x0039],
  cbc: [0xc023, 0xc027, 0xc009, 0xc013, 0xc00a, 0xc014, 0x002f, 0x0035, 0x003c],
  rc4: [0x0004, 0x0005, 0xc007, 0xc011],
  '3des': [0x000a, 0x0016, 0xc008, 0xc012],
  null: [0x0001, 0x0002, 0x003b, 0xc006, 0xc010],
  export: [0x0003, 0x0006, 0x0008, 0x0014, 0x0017],
  anonymous: [0x0018, 0x001b, 0x0034, 0x003a, 0x006c, 0x006d, 0x00a6, 0x00a7, 0xc018, 0xc019],
  'static-rsa': [0x009c, 0x009d, 0x002f, 0x0035, 0x003c, 0x003d],
};

/** Groups that nobody offers for the sake of a version: to take one of their suites is wrong at any version. */
const WEAK: ReadonlySet<SuiteGroup> = new Set(['rc4', '3des', 'null', 'export', 'anonymous']);

/** The ids of the suites of these groups, in order and each once. */
export function suitesOf(groups: readonly SuiteGroup[]): number[] {
  return [...new Set(groups.flatMap((group) => GROUPS[group]))];
}

/** Whether there is at least one group and each is a weak one. */
export function allWeak(groups: readonly SuiteGroup[]): boolean {
  return groups.length > 0 && groups.every((group) => WEAK.has(group));
}

/** The registered name of a suite, or "suite 0x1a2b" for one that is never offered here. */
export function suiteName(id: number): string {
  return NAMES.get(id) ?? `suite 0x${id.toString(16).padStart(4, '0')}`;
}
