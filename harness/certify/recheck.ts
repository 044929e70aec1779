/** Has a certified endpoint drifted? A handful of the checks that it passed then, and its key. */
import type { Feature } from '../../scenarios/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { type RunOptions, run } from '../run/index.ts';
import { atOneAddress, createLook, type EndpointLook, trusting } from './certification-run.ts';
import { listed } from './refusals.ts';
import type { Statement } from './statement.ts';

/** One of each kind of mistake that a change of code or configuration brings back most easily. */
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
];

export interface Drift {
  readonly code: 'endpoint-key-changed' | 'not-publicly-trusted' | 'canary-failed' | 'unreachable';
  readonly message: string;
  readonly fix: string;
  /** 1: the endpoint is no longer what was certified; 3: it could not be told. */
  readonly exit: 1 | 3;
}

export interface Recheck {
  readonly drift: readonly Drift[];
  readonly look: EndpointLook | null;
  /** Of the canary alone; not redacted yet. */
  readonly document: ResultDocument;
}

export type RecheckOptions = Pick<
  RunOptions,
  'partner' | 'addresses' | 'resolve' | 'limits' | 'listener' | 'signal' | 'onSignature' | 'advice'
> & {
  readonly statement: Statement;
  /** For tests, as in `certificationRun`. */
  readonly publicRoots?: readonly string[];
};

const LOOK_TIMEOUT_MS = 5000;

/** The features of the certificate that this configuration lacks: without them the canary would prove something else. */
export function missingFeatures({ predicate }: Statement, configured: readonly Feature[]): Feature[] {
  const fixtures = (feature: Feature) => feature.startsWith('fixture-');
  return predicate.hookproofCertificate.features.filter((one) => !configured.includes(one) && !fixtures(one));
}

/** The checks of the canary: those that the endpoint passed when it was certified. */
function canaryOf({ predicate: { passedTests } }: Statement): string[] {
  return CANARY.filter((id) => passedTests.includes(id));
}

/** Sends the canary. Nothing about the endpoint makes it reject but an address that is not allowed. The certificate has been verified, and is for this endpoint. */
export async function recheck({ statement, publicRoots, ...options }: RecheckOptions): Promise<Recheck> {
  const given = await atOneAddress(options);
  const partner = publicRoots === undefined ? given.partner : trusting(given.partner, publicRoots);
  const look = await createLook(partner, LOOK_TIMEOUT_MS, publicRoots)(given.signal);
  const document = await run({ ...given, partner, selection: { scenarios: canaryOf(statement) } });
  return { drift: driftOf(statement, look, document), look, document };
}

/** Pure. */
function driftOf(
  { predicate, subject }: Statement,
  look: EndpointLook | null,
  { results }: Pick<ResultDocument, 'results'>,
): Drift[] {
  const drift: Drift[] = [];
  const certified = subject[2].digest.sha256;
  if (look !== null && look.leafKey !== certified) {
    const message = `the certificate of the endpoint has another key than when it was certified: ${look.leafKey}, and not ${certified}`;
    const fix =
      'Ask the partner. A renewal with a new key is no harm: certify again, or have it renewed with the old key (certbot --reuse-key). Anything else is somebody in between.';
    drift.push({ code: 'endpoint-key-changed', message, fix, exit: 1 });
  }
  if (look !== null && !look.publiclyTrusted && predicate.hookproofCertificate.endpoint.trust === 'public') {
    const message = 'the certificate of the endpoint no longer ends at an authority that everybody trusts';
    drift.push({
      code: 'not-publicly-trusted',
      message,
      fix: '`hookproof doctor URL` draws the chain that is sent.',
      exit: 1,
    });
  }
  const withVerdict = (...verdicts: string[]) => results.filter(({ verdict }) => verdicts.includes(verdict));
  const failed = withVerdict('fail', 'warn').map(({ id }) => id);
  if (failed.length > 0) {
    const message = `${failed.length} of ${results.length} checks that passed then do not pass now: ${listed(failed)}`;
    drift.push({
      code: 'canary-failed',
      message,
      fix: 'Run the whole catalogue: `hookproof run URL` says what is wrong and how to mend it.',
      exit: 1,
    });
  }
  const open = withVerdict('inconclusive', 'harness-error', 'not-applicable');
  if (look === null || open.length > 0) {
    const reason = open[0]?.reason ?? 'no TLS handshake';
    const message = `${open.length} of ${results.length} checks came to no verdict: ${reason}`;
    drift.push({
      code: 'unreachable',
      message,
      fix: 'Look at the connection with `hookproof doctor URL`, and recheck later.',
      exit: 3,
    });
  }
  return drift;
}
