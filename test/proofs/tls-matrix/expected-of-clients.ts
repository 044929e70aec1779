/** What a run says of a server's mutual TLS, from what the server lets in. */
import { all, type Expected } from './expected.ts';
import { rightServer } from './expected-of-server.ts';
import type { Spoken } from './material.ts';

/** What a server can let in although it must not. */
export const INTRUDERS = [
  'none',
  'self-signed',
  'unknown authority',
  'same names',
  'issued by client',
  'expired',
  'not yet valid',
  'wrong purpose',
  'other subject',
  'revoked',
  'resumed without',
  'resumed unknown',
  'X-SSL-Client-Verify',
  'X-Forwarded-Client-Cert',
  'other forged headers',
  'by other ways',
  'no signature',
  'no API key',
] as const;
export type Intruder = (typeof INTRUDERS)[number];

const OTHER_FORGED = [
  'x-client-verify',
  'ssl-client',
  'x-forwarded-tls-client-cert',
  'x-amzn-mtls',
  'x-arr-clientcert',
  'x-client-cert-google',
  'cloudflare',
  'client-cert',
].map((slug) => `mtls/forged-${slug}`);

const VERSIONS = ['1-2', '1-3'] as const;
const each = (...slugs: readonly string[]) =>
  VERSIONS.flatMap((version) => slugs.map((slug) => `mtls/tls-${version}-${slug}`));

/** The scenarios that try it. */
export const TRIED: Readonly<Record<Intruder, readonly string[]>> = {
  none: each('no-certificate', 'refused-not-recorded'),
  'self-signed': each('self-signed'),
  'unknown authority': each('unknown-authority'),
  'same names': each('same-names'),
  'issued by client': each('issued-by-client'),
  expired: each('expired'),
  'not yet valid': each('not-yet-valid'),
  'wrong purpose': each('wrong-purpose'),
  'other subject': each('other-subject'),
  revoked: each('revoked'),
  'resumed without': each('resumed-none'),
  'resumed unknown': each('resumed-unknown-authority'),
  'X-SSL-Client-Verify': ['mtls/forged-x-ssl-client'],
  'X-Forwarded-Client-Cert': ['mtls/forged-x-forwarded-client-cert'],
  'other forged headers': OTHER_FORGED,
  'by other ways': [
    'mtls/no-server-name',
    'mtls/no-certificate-with-query',
    'mtls/no-certificate-other-kinds',
    'mtls/forwarded-loopback',
  ],
  'no signature': ['mtls/unsigned', 'mtls/wrong-signature'],
  'no API key': ['mtls/no-key', 'mtls/wrong-key'],
};

/** The suite `mtls`, scenario by scenario. */
const RIGHT = each('right-certificate', 'resumed-right', 'resumed-with-certificate');
/** Over TLS 1.3 the certificate is asked for in secret, so that these see nothing. */
const ASKS = ['mtls/asks-for-certificate', 'mtls/names-private-authorities'];
export const EVERYTHING_MUTUAL = [...Object.values(TRIED).flat(), ...RIGHT, ...ASKS];

/** What a server may well let in, when nothing else was agreed on: it is warned about. */
const WARNED: ReadonlySet<Intruder> = new Set(['wrong purpose', 'other subject', 'revoked']);

/** What goes together with the certificate, and what with the other credentials. */
export const OF_CERTIFICATES = INTRUDERS.filter((intruder) => intruder !== 'no signature' && intruder !== 'no API key');

/** Nobody who lets in a client without a certificate looks at a session or at a header before. */
export const WITHOUT_CERTIFICATE: readonly Intruder[] = [
  'none',
  'resumed without',
  'X-SSL-Client-Verify',
  'X-Forwarded-Client-Cert',
  'other forged headers',
  'by other ways',
];

/** What only the partner's authority can make: without it a run has nothing to try. */
const OF_AUTHORITY: readonly Intruder[] = ['expired', 'not yet valid', 'wrong purpose', 'other subject', 'revoked'];

export interface Mutual {
  readonly spoken: Spoken;
  readonly key?: 'rsa' | 'ec';
  /** What of the partner's authority is given. */
  readonly given: readonly Intruder[];
  /** What is not the same over both versions, or no matter of being let in. */
  readonly also?: Expected;
}

export function serverThatLetsIn(intruders: readonly Intruder[], { spoken, key, given, also }: Mutual): Expected {
  const complaints = intruders.map((intruder) => all(WARNED.has(intruder) ? 'warn' : 'fail', TRIED[intruder]));
  const expected: Expected = Object.assign({}, ...complaints);
  const missing = OF_AUTHORITY.filter((intruder) => !given.includes(intruder));
  const unspoken = { 'TLS 1.2 only': '1-3', 'TLS 1.3 only': '1-2', both: '' }[spoken];
  return {
    ...rightServer(spoken, key),
    ...expected,
    ...also,
    ...all(
      'not-applicable',
      missing.flatMap((intruder) => TRIED[intruder]),
    ),
    ...all('not-applicable', [
      ...(unspoken === '' ? [] : EVERYTHING_MUTUAL.filter((id) => id.startsWith(`mtls/tls-${unspoken}-`))),
      ...(spoken === 'TLS 1.3 only' ? ASKS : []),
    ]),
  };
}
