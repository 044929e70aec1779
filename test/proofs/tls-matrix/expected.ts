/**
 * What a run has to say of a server, written by hand, and where what it said differs. Nothing here is taken from the
 * catalogue.
 */
import type { ResultDocument, ScenarioResult } from '../../../harness/index.ts';
import type { Spoken } from './material.ts';

/** A verdict; `recorded` is a pass with something to say about it. */
export type Word = 'pass' | 'recorded' | 'warn' | 'fail' | 'inconclusive' | 'not-applicable' | 'harness-error';

/** The scenarios that do not simply pass, by id. */
export type Expected = Readonly<Record<string, Exclude<Word, 'pass'>>>;

export interface Difference {
  /**
   * `false pass`: less was said than was due, down to nothing at all. `false alarm`: more was said, or another thing.
   */
  readonly kind: 'false pass' | 'false alarm';
  readonly scenario: string;
  readonly expected: Word;
  readonly said: Word | 'nothing';
  readonly reason: string;
}

/** The same verdict for several scenarios. */
export function all(word: Expected[string], ids: readonly string[]): Expected {
  return Object.fromEntries(ids.map((id) => [id, word]));
}

/** Every verdict of a run, by scenario. */
export function saidIn({ results }: Pick<ResultDocument, 'results'>): Map<string, Word> {
  return new Map(results.map((result) => [result.id, wordFor(result)]));
}

function wordFor({ verdict, reason }: ScenarioResult): Word {
  return verdict === 'pass' && reason !== '' ? 'recorded' : verdict;
}

/** How much each says against the server. */
const WEIGHT: Readonly<Record<Word | 'nothing', number>> = {
  nothing: 0,
  pass: 1,
  recorded: 2,
  'not-applicable': 3,
  inconclusive: 4,
  warn: 5,
  fail: 6,
  'harness-error': 7,
};

/**
 * Where a run differs from what it has to say; empty when it is right in everything. It has to say something of every
 * scenario in `asked`, so that a run which judged nothing is not taken for one that had nothing to complain of.
 */
export function differences(
  expected: Expected,
  document: Pick<ResultDocument, 'results'>,
  asked: readonly string[],
): Difference[] {
  const said = saidIn(document);
  const reasons = new Map(document.results.map(({ id, reason, observed }) => [id, `${observed}; ${reason}`]));
  return [...new Set([...said.keys(), ...asked, ...Object.keys(expected)])].flatMap((scenario): Difference[] => {
    const is = said.get(scenario) ?? 'nothing';
    const due = expected[scenario] ?? 'pass';
    if (is === due) return [];
    const kind = WEIGHT[is] < WEIGHT[due] ? 'false pass' : 'false alarm';
    return [{ kind, scenario, expected: due, said: is, reason: reasons.get(scenario) ?? '' }];
  });
}

/** What a run says of every right server, by what the server speaks and by its key. */

/** The suite `tls`, scenario by scenario: what looks at the certificates, at handshakes, and at deliveries. */
const CERTIFICATES = [
  'tls/trusted-authority',
  'tls/not-self-signed',
  'tls/genuine-issuer',
  'tls/chain-complete',
  'tls/chain-order',
  'tls/chain-tidy',
  'tls/chain-once',
  'tls/root-left-out',
  'tls/not-expired',
  'tls/issuers-not-expired',
  'tls/already-valid',
  'tls/renewed-in-time',
  'tls/host-name',
  'tls/alternative-name',
  'tls/key-size',
  'tls/issuers-key-size',
  'tls/signature-hash',
  'tls/issuers-may-issue',
  'tls/path-length',
  'tls/server-purpose',
];
export const HANDSHAKES = [
  'tls/ssl-3-0-refused',
  'tls/tls-1-0-refused',
  'tls/tls-1-1-refused',
  'tls/tls-1-2-spoken',
  'tls/tls-1-3-spoken',
  'tls/rc4-refused',
  'tls/3des-refused',
  'tls/null-refused',
  'tls/export-refused',
  'tls/anonymous-refused',
  'tls/compression-declined',
  'tls/forward-secrecy',
  'tls/tls-1-2-http-1-1',
  'tls/tls-1-3-http-1-1',
];
/** Without a connection that a right sender trusts these have no verdict. */
export const DELIVERED = ['tls/http-1-1', 'tls/no-protocol-offer', 'tls/no-server-name', 'tls/plain-http-refused'];
export const EVERYTHING = [...CERTIFICATES, ...HANDSHAKES, ...DELIVERED];

/**
 * A server as it should be. Whether it speaks a version is recorded, and so is that it keeps no secret for the future.
 */
export function rightServer(spoken: Spoken, key: 'rsa' | 'ec' = 'ec'): Expected {
  switch (spoken) {
    case 'TLS 1.2 only':
      return { 'tls/tls-1-3-spoken': 'recorded', 'tls/tls-1-3-http-1-1': 'not-applicable', ...staticRsa(key) };
    case 'TLS 1.3 only':
      return { 'tls/tls-1-2-spoken': 'recorded', 'tls/tls-1-2-http-1-1': 'not-applicable' };
    case 'both':
      return staticRsa(key);
  }
}

/**
 * The lists of Node, OpenSSL and nginx still have suites of TLS 1.2 with a static RSA key exchange, which take an RSA
 * key.
 */
function staticRsa(key: 'rsa' | 'ec'): Expected {
  return key === 'rsa' ? { 'tls/forward-secrecy': 'recorded' } : {};
}

/** What a run says of a server's mutual TLS, from what the server lets in. */

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

interface Mutual {
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
