/** Findings about a run as a whole, which no single mutant shows. All functions are pure. */

import type { RunObservations } from '../../scenarios/index.ts';
import { is2xx, PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { NOT_KNOWN } from '../report/verdict.ts';
import { STAYS_UP } from './facts.ts';
import { type Finding, findingOf, shownBy } from './finding.ts';
import { cellsOf } from './traits.ts';

type Results = readonly ScenarioResult[];
type RunOutage = RunObservations['outages'][number];

const isJudged = ({ verdict }: ScenarioResult) => verdict === 'pass' || verdict === 'fail' || verdict === 'warn';
const passesWith = ({ expectedOutcomes }: ScenarioResult, outcome: string) =>
  expectedOutcomes?.includes(outcome) === true;
const mustReject = ({ expectedOutcomes = [] }: ScenarioResult) =>
  expectedOutcomes.length > 0 && !expectedOutcomes.some((expected) => expected.startsWith('2'));
const hasStatus2xx = ({ outcome }: ScenarioResult) => is2xx(Number(outcome));
const isAccepted = (result: ScenarioResult) => result.verdict !== 'inconclusive' && hasStatus2xx(result);

/** Attaches to a finding the results that show it, and the number of results that could. */
const counted = (finding: Finding, agreeing: Results, outcomes: number) =>
  shownBy(
    finding,
    agreeing.map(({ id }) => id),
    outcomes,
  );

const CREDENTIALS = ['signature', 'api-key', 'combination'];

/** Returns the judged deliveries with invalid credentials. */
function forgeries(results: Results): Results {
  return results.filter((result) => CREDENTIALS.includes(result.suite) && mustReject(result) && isJudged(result));
}

const NOTHING_CHECKED = findingOf(
  'accepts-everything',
  'Answers 200 to every delivery: valid, forged and malformed ones',
  'nothing-verified',
);

const MIN_FORGERIES = 10;
const NEARLY_ALL = 0.98;
const MOST = 0.8;

/**
 * Finds a receiver that accepts every forged delivery, whatever is invalid about it, and every payload: all checks are
 * missing, not just one.
 */
export function ofNothingChecked(results: Results): Diagnosis | null {
  // A request of another shape may be rejected for other reasons than its credentials.
  const forged = forgeries(results).filter((result) => passesWith(result, '401'));
  const accepted = forged.filter(isAccepted);
  if (forged.length < MIN_FORGERIES || accepted.length / forged.length < NEARLY_ALL) return null;
  const malformed = results.filter((result) => result.suite === 'malformed' && isJudged(result));
  const ignoresPayload =
    malformed.length >= MIN_FORGERIES && malformed.filter(isAccepted).length / malformed.length >= MOST;
  return ignoresPayload ? counted(NOTHING_CHECKED, accepted, forged.length) : null;
}

/**
 * Explains outages, which are periods in which valid deliveries were not accepted. The finding says that the process
 * ended only if connections were closed.
 */
export function ofOutages(outages: RunObservations['outages'], results: Results): Diagnosis | null {
  const stopped = outages.filter(({ outcome }) => outcome === 'closed');
  const relevant = stopped.length > 0 ? stopped : outages;
  const [first] = relevant;
  if (first === undefined) return null;
  const culprits = [...new Set(relevant.flatMap(({ culprit }) => (culprit === null ? [] : [culprit])))];
  const stayedDown = relevant.some(({ recovered }) => recovered === false);
  const named = culprits.length > 0 ? namesOf(culprits) : `one of ${namesOf(first.inFlight)}`;
  const isListed = culprits.length > 0 || results.some(({ id }) => id === STAYS_UP);
  const search =
    (culprits.length > 0
      ? ''
      : ' To find the delivery that causes it, run again with a concurrency of 1 (`--concurrency 1`).') +
    (relevant.some(({ recent = [] }) => recent.length > 0) ? LATE : '');
  const after = isListed && culprits.length === 0 ? `one of those that \`${STAYS_UP}\` lists` : named;
  const known = outageFinding(first, stayedDown, after);
  const shared = culprits.length > 0 || stopped.length === 0 ? '' : sharedBy(first.inFlight);
  const title = `${known.title}${shared}${isListed ? '' : `: ${named}`}`;
  const finding = { ...known, title, fix: `${known.fix}${search}` };
  const guilty = results.filter(
    ({ id, verdict }) => (culprits.includes(id) && verdict !== 'pass') || (id === STAYS_UP && verdict === 'fail'),
  );
  return { ...counted(finding, guilty, relevant.length), agreement: relevant.length };
}

const LATE =
  ' If work continues after an answer, let a supervisor restart the receiver: the run then finds the delivery.';

function namesOf(culprits: readonly string[]): string {
  const more = culprits.length > 5 ? ` and ${culprits.length - 5} more` : '';
  return `${culprits.slice(0, 5).join(', ')}${more}`;
}

/** Describes what most of the deliveries in flight have in common. One of them is the cause. */
function sharedBy(inFlight: readonly string[]): string {
  const cells = inFlight.flatMap((id) => [...cellsOf(id).values()].slice(0, 1));
  const kinds = [
    ['invalid credentials', cells.filter(({ expect }) => !expect.authentic)],
    ['a malformed payload', cells.filter(({ expect }) => expect.authentic && expect.malformed === true)],
  ] as const;
  const [what, most] = kinds.find(([, some]) => some.length >= inFlight.length * MIN_SHARE_IN_FLIGHT) ?? [];
  return what === undefined ? '' : ` (perhaps one with ${what}, ${most.length} of ${inFlight.length} in flight)`;
}
const MIN_SHARE_IN_FLIGHT = 0.6;

/** Returns the finding about an outage; `after` names the deliveries. */
export function outageFinding(
  { outcome, sign }: Pick<RunOutage, 'outcome' | 'sign'>,
  stayedDown: boolean,
  after: string,
): Finding {
  if (outcome === 'silence') {
    return findingOf(
      stayedDown ? 'stops-answering' : 'stops-answering-for-a-while',
      stayedDown
        ? 'The receiver stops answering during the run'
        : 'Individual deliveries prevent the receiver from answering others',
      'serial-body-reads',
      `It stopped answering after: ${after}.`,
    );
  }
  if (outcome === 'closed') {
    return findingOf(
      stayedDown ? 'dies-and-stays-down' : 'dies-and-is-restarted',
      stayedDown
        ? 'A single delivery stops the receiver, and it does not recover'
        : 'Individual deliveries stop the receiver until it is restarted',
      'uncaught-error',
      `The receiver stopped answering after: ${after}.`,
    );
  }
  return findingOf(
    stayedDown ? 'valid-deliveries-stay-refused' : 'valid-deliveries-refused-for-a-while',
    stayedDown
      ? 'The receiver stops accepting valid deliveries during the run'
      : 'Accepts valid deliveries at some times and rejects them at others',
    'state-between-deliveries',
    `After ${after}: ${sign}.`,
  );
}

/**
 * Finds statuses that are wrong although the deliveries were correctly rejected or accepted. Returns one finding for
 * each.
 */
export function ofStatuses(results: Results): Diagnosis[] {
  const failed = (id: string) => results.filter((result) => result.id === id && result.verdict === 'fail');
  const statusOf = ([result]: Results) => result?.outcome ?? '';
  const [signature, key] = [failed(STATUS_SCENARIOS.signature), failed(STATUS_SCENARIOS['api-key'])];
  const isSame = /^\d/.test(statusOf(signature)) && statusOf(signature) === statusOf(key);
  return [
    ...ofAcceptanceStatus(failed(PREFLIGHT_SCENARIO).filter(hasStatus2xx)),
    ...(isSame
      ? ofRejectionStatus('invalid credentials', 'refuses', [...signature, ...key])
      : [
          ...ofRejectionStatus('an invalid signature', 'refuses', signature),
          ...ofRejectionStatus('an invalid API key', 'api-key-refused', key),
        ]),
    ...ofMissingStatus('signature', 'missing-signature', signature),
    ...ofMissingStatus('API key', 'api-key-missing', key),
  ];
}

function ofAcceptanceStatus(failed: Results): Diagnosis[] {
  const [first] = failed;
  if (first === undefined) return [];
  const status = first.answered?.status ?? first.outcome;
  const title = `Accepts valid deliveries with ${status} instead of 200`;
  return [counted({ ...ANOTHER_2XX, title }, failed, failed.length)];
}

const ANOTHER_2XX = findingOf(
  'accepts-with-another-2xx',
  'Accepts valid deliveries with a 2xx other than 200',
  'wrong-success-status',
);

/** Matches the outcome of a status check if only a missing credential gets another status. */
const MISSING = /^missing-(\d{3})$/;

function ofMissingStatus(what: string, name: string, failed: Results): Diagnosis[] {
  const status = MISSING.exec(failed[0]?.outcome ?? '')?.[1];
  return status === undefined ? [] : [counted(missingStatus(what, name, status), failed, failed.length)];
}

function missingStatus(what: string, name: string, status: string): Finding {
  const title = `Rejects a missing ${what} with ${status} instead of 401`;
  return findingOf(`${name}-is-${status}`, title, 'wrong-refusal-status');
}

function ofRejectionStatus(what: string, name: string, failed: Results): Diagnosis[] {
  const [first] = failed;
  const status = first?.outcome ?? '';
  if (first === undefined || MISSING.test(status)) return [];
  return [counted(rejectionStatus(what, name, status), failed, failed.length)];
}

function rejectionStatus(what: string, name: string, status: string): Finding {
  const fault = `${name}-${status.startsWith('3') ? 'by-redirect' : `with-${status}`}`;
  return findingOf(fault, `Rejects ${what} with ${status} instead of 401`, 'wrong-refusal-status');
}

const NOT_REQUIRED = findingOf(
  'client-certificate-not-required',
  'Accepts deliveries without a client certificate',
  'client-without-certificate-accepted',
);

const ANY_ACCEPTED = findingOf(
  'any-client-certificate-accepted',
  'Accepts client certificates of any issuer',
  'client-certificate-not-verified',
);

const HEADERS_TRUSTED = findingOf(
  'forged-certificate-header-believed',
  'Trusts a header that claims a client certificate from any client',
  'certificate-header-unprotected',
);

/**
 * Finds the defect of mutual TLS. There is at most one, because an endpoint that requires no certificate hides the
 * others.
 */
export function explainClientCertificates(results: Results): Diagnosis | null {
  const tried = results.filter(
    ({ suite, verdict }) => suite === 'mtls' && verdict !== 'not-applicable' && verdict !== 'inconclusive',
  );
  const explain = (finding: Finding, relevant: Results) => {
    const accepted = relevant.filter((result) => result.verdict === 'fail' && hasStatus2xx(result));
    return accepted.length === 0 ? null : counted(finding, accepted, relevant.length);
  };
  const endingWith = (...ends: string[]) => tried.filter(({ id }) => ends.some((end) => id.endsWith(end)));
  return (
    explain(NOT_REQUIRED, endingWith('-no-certificate')) ??
    explain(ANY_ACCEPTED, endingWith('-self-signed', '-unknown-authority', '-same-names')) ??
    explain(
      HEADERS_TRUSTED,
      tried.filter(({ id }) => id.startsWith('mtls/forged-')),
    )
  );
}

/**
 * Returns the finding that the endpoint rejects a forgery that is sent alone, but accepts it after a valid delivery on
 * the same or on a new connection.
 */
export function acceptsAfterValid(isSameConnection: boolean): Finding {
  const where = isSameConnection ? 'on a connection that has sent a valid one' : 'shortly after a valid one';
  const note = 'The same forgery is rejected unless a valid delivery precedes it.';
  return findingOf('accepts-after-valid', `Accepts forged deliveries ${where}`, 'state-outlives-request', note);
}

/** The statuses that receivers use instead of 401. Some names of findings contain one. */
const OTHER_STATUSES = ['400', '402', '403', '404', '405', '409', '415', '422', '500', '501', '502', '503'];

const AFTER = 'individual deliveries';
const SIGN = 'the plain valid delivery was not accepted';

/** Returns every finding of this module in general words, for look-ups by name. */
export function runFindings(): Finding[] {
  const outages = ['closed', 'silence', 'status'].flatMap((outcome) =>
    [true, false].map((stayedDown) => outageFinding({ outcome, sign: SIGN }, stayedDown, AFTER)),
  );
  const rejections = ['302', ...OTHER_STATUSES].flatMap((status) => [
    rejectionStatus('invalid credentials', 'refuses', status),
    rejectionStatus('an invalid API key', 'api-key-refused', status),
  ]);
  const missing = OTHER_STATUSES.flatMap((status) => [
    missingStatus('signature', 'missing-signature', status),
    missingStatus('API key', 'api-key-missing', status),
  ]);
  const certificates = [NOT_REQUIRED, ANY_ACCEPTED, HEADERS_TRUSTED, acceptsAfterValid(false)];
  return [NOTHING_CHECKED, ...FORMER, ANOTHER_2XX, ...certificates, ...outages, ...rejections, ...missing, UNEXPLAINED];
}

/** Findings that appear only in reports of earlier versions. */
const FORMER = [
  findingOf('missing-credential-let-through', 'Accepts deliveries without a credential', 'forgery-accepted'),
  findingOf('forged-deliveries-accepted', 'Accepts forged deliveries', 'forgery-accepted'),
  findingOf('malformed-ends-in-5xx', 'Answers malformed payloads with 5xx', 'payload-not-validated'),
];

/** The finding for outcomes that no known mistake explains. */
export const UNEXPLAINED: Finding = {
  fault: NOT_KNOWN,
  title: 'The cause is not known',
  mistake: null,
  why: 'These failures fit no known mistake.',
  fix: 'Look at what their deliveries have in common: send one with the command of its check, and compare the answers.',
};
