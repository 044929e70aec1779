/** Rechecks a certified endpoint: its key, and a few of the checks that it passed. */

import { SERVICE_SCHEME } from '../../contract/signing/index.ts';
import { type Feature, isEvidenceSource } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { type RunOptions, run } from '../run/index.ts';
import { createIdentityProbe, type EndpointIdentity, pinAddress, withExtraCas } from './certification-run.ts';
import { isForScheme } from './issue.ts';
import { abbreviateList } from './refusals.ts';
import type { CertificateStatement } from './statement.ts';
import { schemeInWords } from './verify.ts';

/** One check for each kind of fault that a change to code or configuration most easily introduces. */
const CANARY: readonly string[] = [
  'valid/plain',
  'tls/trusted-authority',
  'mtls/tls-1-2-no-certificate',
  'mtls/tls-1-3-no-certificate',
  'signature/missing',
  'signature/other-secret',
  'signature/first-character-changed',
  'api-key/missing',
  'api-key/wrong',
  'raw-body/spaces',
  // Only in a scheme.
  'scheme/time-past',
  'scheme/time-changed',
  'scheme/id-changed',
  'scheme/other-url',
];

export interface Drift {
  readonly code: 'endpoint-key-changed' | 'not-publicly-trusted' | 'canary-failed' | 'unreachable';
  readonly message: string;
  readonly fix: string;
  /** 1: the endpoint no longer matches its certificate; 3: no conclusion. */
  readonly exit: 1 | 3;
}

export interface Recheck {
  readonly drift: readonly Drift[];
  readonly identity: EndpointIdentity | null;
  /** The results of the canary checks, before redaction. */
  readonly document: ResultDocument;
}

export type RecheckOptions = Pick<
  RunOptions,
  'partner' | 'addresses' | 'resolve' | 'limits' | 'listener' | 'signal' | 'onSignature' | 'advice'
> & {
  readonly statement: CertificateStatement;
  /** Replaces the public CAs in tests, as in {@link certificationRun}. */
  readonly publicRoots?: readonly string[];
};

/**
 * Returns the features in the certificate that this configuration lacks. Without them, the canary would test something
 * else.
 */
export function missingFeatures({ predicate }: CertificateStatement, configured: readonly Feature[]): Feature[] {
  // The canary uses neither fixtures nor evidence sources.
  const isNotUsed = (feature: Feature) => feature.startsWith('fixture-') || isEvidenceSource(feature);
  return predicate.hookproofCertificate.features.filter((one) => !configured.includes(one) && !isNotUsed(one));
}

/** Returns why this configuration has another scheme than the certificate; null if it has the same. */
export function schemeMismatch(statement: CertificateStatement, { signing }: Pick<Partner, 'signing'>): string | null {
  const { scheme = SERVICE_SCHEME } = signing ?? {};
  if (isForScheme(statement, scheme)) return null;
  const certified = statement.predicate.hookproofCertificate.scheme;
  const other = scheme.name === certified?.name ? `another scheme ${scheme.name}` : schemeInWords(scheme);
  return `the certificate is for ${schemeInWords(certified)}, but ${other} is configured`;
}

/**
 * Runs the canary checks. The caller must have verified that the certificate is valid and for this endpoint. Rejects
 * only if the endpoint's address is not allowed.
 */
export async function recheck({ statement, publicRoots, ...options }: RecheckOptions): Promise<Recheck> {
  const given = await pinAddress(options);
  const partner = publicRoots === undefined ? given.partner : withExtraCas(given.partner, publicRoots);
  const identity = await createIdentityProbe(partner, publicRoots)(given.signal);
  // Only checks that the endpoint passed when it was certified count.
  const scenarios = CANARY.filter((id) => statement.predicate.passedTests.includes(id));
  const document = await run({ ...given, partner, selection: { scenarios } });
  return { drift: driftOf(statement, identity, document), identity, document };
}

function driftOf(
  { predicate, subject }: CertificateStatement,
  identity: EndpointIdentity | null,
  { results }: Pick<ResultDocument, 'results'>,
): Drift[] {
  const drift: Drift[] = [];
  const found = (code: Drift['code'], message: string, fix: string, exit: Drift['exit']) =>
    drift.push({ code, message, fix, exit });
  const certified = subject[2].digest.sha256;
  if (identity !== null && identity.leafKey !== certified) {
    const message = `the endpoint's certificate has another key: ${identity.leafKey}, expected ${certified}`;
    const fix =
      'Ask the partner. If the certificate was renewed with a new key, certify again, or renew it with the old key ' +
      '(`certbot --reuse-key`). Otherwise, suspect a man-in-the-middle attack.';
    found('endpoint-key-changed', message, fix, 1);
  }
  if (identity !== null && !identity.publiclyTrusted && predicate.hookproofCertificate.endpoint.trust === 'public') {
    const message = 'the chain of the endpoint no longer ends at a public CA';
    found('not-publicly-trusted', message, '`hookproof doctor URL` shows the chain.', 1);
  }
  const withVerdict = (...verdicts: string[]) => results.filter(({ verdict }) => verdicts.includes(verdict));
  const failed = withVerdict('fail', 'warn').map(({ id }) => id);
  if (failed.length > 0) {
    const count = `${failed.length} of ${results.length}`;
    const message = `${count} checks that passed no longer pass: ${abbreviateList(failed)}`;
    const fix = 'Run the whole catalogue: `hookproof run URL` explains each failure and its fix.';
    found('canary-failed', message, fix, 1);
  }
  const open = withVerdict('inconclusive', 'harness-error', 'not-applicable');
  if (identity === null || open.length > 0) {
    const reason = open[0]?.reason ?? 'no TLS handshake';
    const message = `${open.length} of ${results.length} checks have no verdict: ${reason}`;
    found('unreachable', message, 'Check the connection with `hookproof doctor URL`, and recheck later.', 3);
  }
  return drift;
}
