/** The expected outcomes of runs, and the comparison with a run. Deliberately independent of the catalogue. */
import type { ResultDocument, ScenarioResult } from '../../../harness/index.ts';
import type { TlsVersions } from './material.ts';

/** A verdict. `recorded` is a pass with a reason. */
export type Outcome = 'pass' | 'recorded' | 'warn' | 'fail' | 'inconclusive' | 'not-applicable' | 'harness-error';

/** The scenarios that do not simply pass, by id. */
export type Expected = Readonly<Record<string, Exclude<Outcome, 'pass'>>>;

export interface Difference {
  /** `false pass`: a weaker outcome than expected, or none. `false alarm`: a stronger outcome, or a different one. */
  readonly kind: 'false pass' | 'false alarm';
  readonly scenario: string;
  readonly expected: Outcome;
  readonly reported: Outcome | 'nothing';
  readonly reason: string;
}

/** Expects the same verdict for several scenarios. */
export function all(word: Expected[string], ids: readonly string[]): Expected {
  return Object.fromEntries(ids.map((id) => [id, word]));
}

/** Returns every verdict of a run, by scenario. */
export function outcomesIn({ results }: Pick<ResultDocument, 'results'>): Map<string, Outcome> {
  return new Map(results.map((result) => [result.id, outcomeOf(result)]));
}

function outcomeOf({ verdict, reason }: ScenarioResult): Outcome {
  return verdict === 'pass' && reason !== '' ? 'recorded' : verdict;
}

/** The severity of each outcome. */
const SEVERITY: Readonly<Record<Outcome | 'nothing', number>> = {
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
 * Returns the differences between a run and its expected outcomes. The run must have an outcome for every scenario in
 * `planned`, so that a run that judged nothing does not count as one without findings.
 */
export function differences(
  expected: Expected,
  document: Pick<ResultDocument, 'results'>,
  planned: readonly string[],
): Difference[] {
  const reported = outcomesIn(document);
  const reasons = new Map(document.results.map(({ id, reason, observed }) => [id, `${observed}; ${reason}`]));
  return [...new Set([...reported.keys(), ...planned, ...Object.keys(expected)])].flatMap((scenario): Difference[] => {
    const is = reported.get(scenario) ?? 'nothing';
    const expectedOutcome = expected[scenario] ?? 'pass';
    if (is === expectedOutcome) return [];
    const kind = SEVERITY[is] < SEVERITY[expectedOutcome] ? 'false pass' : 'false alarm';
    return [{ kind, scenario, expected: expectedOutcome, reported: is, reason: reasons.get(scenario) ?? '' }];
  });
}

/** The scenarios of the suite `tls`: about certificates, handshakes and deliveries. */
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
/** Scenarios that have no verdict without a connection that a correct sender trusts. */
export const NEED_DELIVERY = ['tls/http-1-1', 'tls/no-protocol-offer', 'tls/no-server-name', 'tls/plain-http-refused'];
export const ALL_TLS = [...CERTIFICATES, ...HANDSHAKES, ...NEED_DELIVERY];

/** Returns the outcomes of a correct server. Missing TLS versions and missing forward secrecy are recorded. */
export function correctServer(tlsVersions: TlsVersions, key: 'rsa' | 'ec' = 'ec'): Expected {
  switch (tlsVersions) {
    case 'TLS 1.2 only':
      return { 'tls/tls-1-3-spoken': 'recorded', 'tls/tls-1-3-http-1-1': 'not-applicable', ...staticRsa(key) };
    case 'TLS 1.3 only':
      return { 'tls/tls-1-2-spoken': 'recorded', 'tls/tls-1-2-http-1-1': 'not-applicable' };
    case 'both':
      return staticRsa(key);
  }
}

/**
 * Returns the outcome for static RSA key exchange. With an RSA key, the default suites of Node, OpenSSL and nginx
 * include it over TLS 1.2.
 */
function staticRsa(key: 'rsa' | 'ec'): Expected {
  return key === 'rsa' ? { 'tls/forward-secrecy': 'recorded' } : {};
}

/** Clients that a server with mutual TLS must reject. */
export const INVALID_CLIENTS = [
  'none',
  'self-signed',
  'unknown CA',
  'same names',
  'issued by a client',
  'expired',
  'not yet valid',
  'wrong purpose',
  'other subject',
  'revoked',
  'resumed, none',
  'resumed, unknown CA',
  'forged headers',
  'other ways',
  'no signature',
  'no API key',
] as const;
export type InvalidClient = (typeof INVALID_CLIENTS)[number];

const VERSIONS = ['1-2', '1-3'] as const;
const each = (...slugs: readonly string[]) =>
  VERSIONS.flatMap((version) => slugs.map((slug) => `mtls/tls-${version}-${slug}`));

/** Requests without a certificate that the sender never makes: any 4xx may reject their shape or their name. */
export const OTHER_SHAPES = [
  'mtls/no-certificate-with-query',
  'mtls/no-certificate-other-requests',
  'mtls/forwarded-loopback',
  'mtls/other-server-names',
];

/** The scenarios that test each invalid client. */
export const SCENARIOS_OF: Readonly<Record<InvalidClient, readonly string[]>> = {
  none: each('no-certificate', 'refused-not-recorded'),
  'self-signed': each('self-signed'),
  'unknown CA': each('unknown-authority'),
  'same names': each('same-names'),
  'issued by a client': each('issued-by-client'),
  expired: each('expired'),
  'not yet valid': each('not-yet-valid'),
  'wrong purpose': each('wrong-purpose'),
  'other subject': each('other-subject'),
  revoked: each('revoked'),
  'resumed, none': each('resumed-none'),
  'resumed, unknown CA': each('resumed-unknown-authority'),
  'forged headers': ['mtls/forged-headers'],
  'other ways': ['mtls/no-server-name', 'mtls/no-certificate-other-kinds', ...OTHER_SHAPES],
  'no signature': ['mtls/unsigned', 'mtls/wrong-signature'],
  'no API key': ['mtls/no-key', 'mtls/wrong-key'],
};

/** The other scenarios of the suite `mtls`. */
const VALID = each('right-certificate', 'resumed-right', 'resumed-with-certificate');
/** Scenarios that are not applicable over TLS 1.3, because the certificate request is encrypted. */
const CERTIFICATE_REQUEST = ['mtls/asks-for-certificate', 'mtls/names-private-authorities'];
export const ALL_MTLS = [...Object.values(SCENARIOS_OF).flat(), ...VALID, ...CERTIFICATE_REQUEST];

/** Clients that a server may accept unless agreed otherwise. They lead to a warning. */
const WARNED: ReadonlySet<InvalidClient> = new Set(['wrong purpose', 'other subject', 'revoked']);

/** The cases about certificates, without those about the other credentials. */
export const CERTIFICATE_CASES = INVALID_CLIENTS.filter(
  (invalidClient) => invalidClient !== 'no signature' && invalidClient !== 'no API key',
);

/** The clients that a server accepts if it accepts clients without a certificate. */
export const NO_CERTIFICATE_CASES: readonly InvalidClient[] = ['none', 'resumed, none', 'forged headers', 'other ways'];

/** Certificates that only the partner's CA can issue. Without them, their scenarios are not applicable. */
const NEEDS_PARTNER_CA: readonly InvalidClient[] = [
  'expired',
  'not yet valid',
  'wrong purpose',
  'other subject',
  'revoked',
];

interface MutualTls {
  readonly tlsVersions: TlsVersions;
  readonly key?: 'rsa' | 'ec';
  /** The certificates from the partner's CA that the run has. */
  readonly fixtures: readonly InvalidClient[];
  /** Outcomes that do not follow from the accepted clients. */
  readonly also?: Expected;
}

export function serverAccepting(
  invalidClients: readonly InvalidClient[],
  { tlsVersions, key, fixtures, also }: MutualTls,
): Expected {
  const findings = invalidClients.map((invalidClient) =>
    all(WARNED.has(invalidClient) ? 'warn' : 'fail', SCENARIOS_OF[invalidClient]),
  );
  const expected: Expected = Object.assign({}, ...findings);
  const missing = NEEDS_PARTNER_CA.filter((invalidClient) => !fixtures.includes(invalidClient));
  const unspoken = { 'TLS 1.2 only': '1-3', 'TLS 1.3 only': '1-2', both: '' }[tlsVersions];
  return {
    ...correctServer(tlsVersions, key),
    ...expected,
    ...also,
    ...all(
      'not-applicable',
      missing.flatMap((invalidClient) => SCENARIOS_OF[invalidClient]),
    ),
    ...all('not-applicable', [
      ...(unspoken === '' ? [] : ALL_MTLS.filter((id) => id.startsWith(`mtls/tls-${unspoken}-`))),
      ...(tlsVersions === 'TLS 1.3 only' ? CERTIFICATE_REQUEST : []),
    ]),
  };
}
