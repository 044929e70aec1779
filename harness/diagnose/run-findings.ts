/** Findings about a run as a whole, which no single mutant shows. Pure. */

import { findMistake } from '../../contract/mistakes/index.ts';
import type { RunObservations } from '../../scenarios/index.ts';
import { is2xx, PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { NOT_KNOWN } from '../report/verdict.ts';
import { type Finding, findingOf } from './finding.ts';

type Results = readonly ScenarioResult[];

const isJudged = ({ verdict }: ScenarioResult) => verdict === 'pass' || verdict === 'fail' || verdict === 'warn';
const passesWith = ({ expectedOutcomes }: ScenarioResult, outcome: string) =>
  expectedOutcomes?.includes(outcome) === true;
const mustReject = ({ expectedOutcomes = [] }: ScenarioResult) =>
  expectedOutcomes.length > 0 && !expectedOutcomes.some((expected) => expected.startsWith('2'));
const hasStatus2xx = ({ outcome }: ScenarioResult) => is2xx(Number(outcome));
const isAccepted = (result: ScenarioResult) => result.verdict !== 'inconclusive' && hasStatus2xx(result);

/** A finding with the results that show it, of all results that could. */
function counted({ fault, title, mistake, why, fix }: Finding, agreeing: Results, outcomes: number): Diagnosis {
  const evidence = agreeing.map(({ id }) => id);
  const rest = { evidence, alike: [], seen: findMistake(mistake)?.seen ?? '', why, fix, stack: null };
  return { relation: 'main', fault, title, mistake, agreement: agreeing.length, outcomes, ...rest };
}

const CREDENTIALS = ['signature', 'api-key', 'combination'];

/** The judged deliveries with invalid credentials. */
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
 * Every forged delivery is accepted, whatever is wrong with it, and so is every payload: all checks are missing, not
 * one.
 */
export function ofNothingChecked(results: Results): Diagnosis | null {
  // Where another shape of the request is rejected, its credentials may not be the reason.
  const forged = forgeries(results).filter((result) => passesWith(result, '401'));
  const accepted = forged.filter(isAccepted);
  if (forged.length < MIN_FORGERIES || accepted.length / forged.length < NEARLY_ALL) return null;
  const malformed = results.filter((result) => result.suite === 'malformed' && isJudged(result));
  const ignoresPayload =
    malformed.length >= MIN_FORGERIES && malformed.filter(isAccepted).length / malformed.length >= MOST;
  return ignoresPayload ? counted(NOTHING_CHECKED, accepted, forged.length) : null;
}

/** The findings about a receiver that no longer answers. */
export const STOPS = ['dies-and-stays-down', 'dies-and-is-restarted'];

/** The check that observes them. */
export const STAYS_UP = 'delivery/stays-up';

/** Valid deliveries that were not accepted for a while. Says that the process ended only if connections closed. */
export function ofOutages(outages: RunObservations['outages'], results: Results): Diagnosis | null {
  const stopped = outages.filter(({ outcome }) => outcome === 'closed');
  const relevant = stopped.length > 0 ? stopped : outages;
  const [first] = relevant;
  if (first === undefined) return null;
  const culprits = [...new Set(relevant.flatMap(({ culprit }) => (culprit === null ? [] : [culprit])))];
  const stayedDown = relevant.some(({ recovered }) => recovered === false);
  const named = culprits.length > 0 ? culprits.slice(0, 5).join(', ') : `one of ${first.inFlight.join(', ')}`;
  const more = culprits.length > 5 ? ` and ${culprits.length - 5} more` : '';
  const search =
    culprits.length > 0
      ? ''
      : ' To find the delivery that causes it, run again with `--concurrency 1`, or let a supervisor restart the ' +
        'receiver.';
  const after = `${named}${more}`;
  const known = outageFinding(stopped.length > 0, stayedDown, after, first.sign);
  const finding = { ...known, fix: `${known.fix}${search}` };
  const guilty = results.filter(
    ({ id, verdict }) => (culprits.includes(id) && verdict !== 'pass') || (id === STAYS_UP && verdict === 'fail'),
  );
  return { ...counted(finding, guilty, relevant.length), agreement: relevant.length };
}

/** `after` names the deliveries, `sign` what the plain valid delivery got then. */
function outageFinding(hasStopped: boolean, stayedDown: boolean, after: string, sign: string): Finding {
  if (hasStopped) {
    return findingOf(
      stayedDown ? 'dies-and-stays-down' : 'dies-and-is-restarted',
      stayedDown
        ? 'A single delivery stops the receiver, and it does not recover'
        : 'Single deliveries stop the receiver until it is restarted',
      'uncaught-error',
      `The receiver stopped answering after: ${after}.`,
    );
  }
  return findingOf(
    stayedDown ? 'valid-deliveries-stay-refused' : 'valid-deliveries-refused-for-a-while',
    stayedDown
      ? 'Valid deliveries are no longer accepted from some point of the run on'
      : 'Valid deliveries are accepted at one time and not at another',
    'state-between-deliveries',
    `After ${after}: ${sign}.`,
  );
}

/** Accepted forgeries among the given results, of an endpoint that rejects others. */
export function ofAcceptances(left: Results, all: Results): Diagnosis | null {
  const isForged = ({ level }: ScenarioResult) => level === 'must';
  const forged = forgeries(all).filter(isForged);
  // An accepted forgery can pass: a page that answers every request accepts nothing.
  const accepted = forgeries(left).filter(
    (result) => isForged(result) && isAccepted(result) && result.verdict === 'fail',
  );
  if (accepted.length === 0) return null;
  const isMissing = accepted.some(({ id }) => id === 'signature/missing' || id === 'api-key/missing');
  const named = accepted.slice(0, 3).map(({ id }) => id);
  const list = `${named.join(', ')}${accepted.length > 3 ? ', ...' : ''}`;
  const title =
    accepted.length === 1
      ? `Accepts a forged delivery: ${list}`
      : `Accepts ${accepted.length} forged deliveries: ${list}`;
  const finding = isMissing ? MISSING_ACCEPTED : FORGED_ACCEPTED;
  return counted({ ...finding, title }, accepted, forged.length);
}

const MISSING_ACCEPTED = findingOf(
  'missing-credential-let-through',
  'Accepts deliveries without a credential',
  'forgery-accepted',
  'A check such as `if (header && !valid)` accepts every request without the header.',
);

const FORGED_ACCEPTED = findingOf('forged-deliveries-accepted', 'Accepts forged deliveries', 'forgery-accepted');

/** Deliveries that are rejected or accepted, but with another status: one finding each. */
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
  'Accepts valid deliveries with another 2xx than 200',
  'wrong-success-status',
);

/** The outcome of a check for the status, where only a missing credential gets another one. */
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

const MIN_CRASHES = 5;

/** Malformed payloads among the given results that end in a 5xx: one missing guard causes many failures. */
export function ofCrashes(left: Results, all: Results): Diagnosis | null {
  const isPayload = (result: ScenarioResult) =>
    result.suite === 'malformed' && passesWith(result, '4xx') && isJudged(result);
  const payloads = all.filter(isPayload);
  const crashes = left.filter(isPayload).filter(({ outcome }) => /^5\d\d$/.test(outcome ?? ''));
  if (crashes.length < MIN_CRASHES) return null;
  const title = `Answers ${crashes.length} malformed payloads with 5xx`;
  return counted({ ...MALFORMED_CRASHES, title }, crashes, payloads.length);
}

const MALFORMED_CRASHES = findingOf('malformed-ends-in-5xx', 'Answers malformed payloads with 5xx', 'unguarded-parser');

/** What was observed where no known fault explains it: it claims no cause. */
export function ofUnexplained(left: Results): Diagnosis | null {
  const [first] = left;
  if (first === undefined) return null;
  const fixes = new Set(left.map(({ fix }) => fix));
  const finding = {
    fault: NOT_KNOWN,
    mistake: null,
    title: `Cause not known. ${observationOf(left)}`,
    why: left.length === 1 ? first.why : `${some(left.map(defectOf), '; ')}.`,
    fix: fixes.size === 1 ? first.fix : 'See each of these checks below. The cause is what their deliveries share.',
  };
  return counted(finding, left, left.length);
}

const defectOf = ({ defect, title }: ScenarioResult) => defect ?? title;

/** Up to this many are written out: of many checks, of few. */
const MAX_SHOWN = 4;
const MAX_DEFECTS = 2;

function some(texts: readonly string[], separator: string): string {
  const rest = texts.length - MAX_SHOWN;
  return [...texts.slice(0, MAX_SHOWN), ...(rest > 0 ? [`and ${rest} more`] : [])].join(separator);
}

/** What checks that did not pass have observed, without any cause: "Rejects 9 valid deliveries; does not answer 1". */
export function observationOf(results: Results): string {
  if (results.length <= MAX_DEFECTS) return results.map(defectOf).join('. ');
  const groups = OBSERVATIONS.map(({ text, is }) => ({ text, is, members: [] as ScenarioResult[] }));
  for (const result of results) groups.find(({ is }) => is(result))?.members.push(result);
  const phrases = groups
    .filter(({ members }) => members.length > 0)
    .toSorted((a, b) => b.members.length - a.members.length)
    .map(({ text, members }) => text(members.length));
  const sentence = phrases.join('; ');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

const deliveries = (count: number) => (count === 1 ? '1 delivery' : `${count} deliveries`);

const fails =
  (pattern: RegExp) =>
  ({ outcome = '' }: ScenarioResult) =>
    pattern.test(outcome);

/** Kinds of observations. A result belongs to the first that holds. */
const OBSERVATIONS: readonly { text: (count: number) => string; is: (result: ScenarioResult) => boolean }[] = [
  {
    text: (count) => `answers ${deliveries(count)} with something that no answer may contain`,
    is: ({ decidedBy }) => decidedBy === 'leak',
  },
  {
    text: (count) => `rejects ${deliveries(count)} that must be accepted`,
    is: (result) => passesWith(result, '200') && fails(/^[34]\d\d$/)(result),
  },
  {
    text: (count) => `accepts ${deliveries(count)} that must be rejected`,
    is: (result) => mustReject(result) && hasStatus2xx(result) && result.decidedBy !== 'answers-differ',
  },
  { text: (count) => `answers ${deliveries(count)} with 5xx`, is: fails(/^5\d\d$/) },
  { text: (count) => `closes the connection on ${deliveries(count)}`, is: fails(/^closed$/) },
  { text: (count) => `does not answer ${deliveries(count)}`, is: fails(/^silence$/) },
  {
    text: (count) => `answers ${deliveries(count)} with another status than expected`,
    is: (result) => fails(/^\d{3}$/)(result) && result.decidedBy !== 'answers-differ',
  },
  { text: (count) => `fails ${count} ${count === 1 ? 'check' : 'checks'} about several deliveries`, is: () => true },
];

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

/** What is wrong with mutual TLS. One cause at most: an endpoint that requires no certificate hides the others. */
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

/** The statuses that receivers use instead of 401, for names that hold one. */
const OTHER_STATUSES = ['400', '402', '403', '404', '405', '409', '415', '422', '500', '501', '502', '503'];

const AFTER = 'the deliveries that the report names';
const SIGN = 'the plain valid delivery was not accepted';

/** Every finding of this module in general words, for look-ups by name. */
export function runFindings(): Finding[] {
  const outages = [true, false].flatMap((hasStopped) =>
    [true, false].map((stayedDown) => outageFinding(hasStopped, stayedDown, AFTER, SIGN)),
  );
  const rejections = ['302', ...OTHER_STATUSES].flatMap((status) => [
    rejectionStatus('invalid credentials', 'refuses', status),
    rejectionStatus('an invalid API key', 'api-key-refused', status),
  ]);
  const missing = OTHER_STATUSES.flatMap((status) => [
    missingStatus('signature', 'missing-signature', status),
    missingStatus('API key', 'api-key-missing', status),
  ]);
  const fixed = [MISSING_ACCEPTED, FORGED_ACCEPTED, ANOTHER_2XX, MALFORMED_CRASHES];
  const certificates = [NOT_REQUIRED, ANY_ACCEPTED, HEADERS_TRUSTED];
  return [NOTHING_CHECKED, ...fixed, ...certificates, ...outages, ...rejections, ...missing, UNEXPLAINED];
}

const UNEXPLAINED: Finding = {
  fault: NOT_KNOWN,
  title: 'The cause is not known',
  mistake: null,
  why: 'No known fault predicts what these checks observed. The report lists the observations and claims no cause.',
  fix: 'See the fix of each check. The cause is what their deliveries share.',
};
