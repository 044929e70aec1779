/** The diagnosis of a run. The fault dictionary is loaded only when something is wrong. */

import type { Stack } from '../../contract/index.ts';
import { codeFor, explainMistake, findMistake, MISTAKES, type Mistake } from '../../contract/mistakes/index.ts';
import type { Feature, RunObservations } from '../../scenarios/index.ts';
import { PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { NOT_KNOWN } from '../report/verdict.ts';
import { type Candidate, type Explanation, explainByFaults } from './explain-by-faults.ts';
import { type DictionaryFault, type FaultDictionary, loadDictionary } from './fault-dictionary.ts';
import type { Finding } from './finding.ts';
import { CANDIDATES } from './named-findings.ts';
import { type Answer, answerOf, type Outcomes, outcomeOf } from './outcome.ts';

import {
  explainClientCertificates,
  observationOf,
  ofAcceptances,
  ofCrashes,
  ofNothingChecked,
  ofOutages,
  ofStatuses,
  ofUnexplained,
  STAYS_UP,
  STOPS,
} from './run-findings.ts';
import { faultOfMistake } from './signing-trials.ts';
import { guessStack, type KnownStack } from './stack.ts';

interface ToDiagnose {
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  /** Why the preflight failed; null when it passed. */
  readonly preflight: Finding | null;
  /** As the user specifies it; null to guess it from the answers. */
  readonly stack: Stack | null;
  /** The features that were on. */
  readonly features: readonly Feature[];
  /** Whether a part of the catalogue was not run: then no fault is certain. */
  readonly partial: boolean;
}

/**
 * The likely faults of the endpoint, the most important first. Empty when nothing is wrong, and when no known fault
 * fits.
 */
export async function diagnose(run: ToDiagnose): Promise<Diagnosis[]> {
  const { results, outages, preflight } = run;
  const hasFailures = results.some(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  if (!hasFailures && preflight === null && outages.length === 0) return [];
  return diagnoseWith(await loadDictionary(), run);
}

/** The same with a given dictionary. */
function diagnoseWith(dictionary: FaultDictionary, run: ToDiagnose): Diagnosis[] {
  const { preflight, results } = run;
  const stack = run.stack === null ? guessStack(results) : { name: run.stack, source: '--stack' };
  const [first, ...others] =
    preflight === null
      ? explainRun(run, dictionary, stack)
      : explainFailedPreflight(preflight, results, dictionary, stack);
  return first === undefined ? [] : [withRecipe(first), ...others];
}

/** The likely faults from the results of a run whose preflight passed. */
function explainRun(run: ToDiagnose, dictionary: FaultDictionary, stack: KnownStack | null): Diagnosis[] {
  const { results, outages, features, partial } = run;
  const explanations = explainByFaults(outcomesIn(results), dictionary, (fault) => isPossible(fault, features));
  const byFaults = explanations.map((explanation) => diagnosisOf(explanation, results, stack, partial));
  const found: Diagnosis[] = [];
  const explained = new Set<string>();
  const add = (one: Diagnosis | null, least = NEWS) => {
    if (one === null || one.evidence.filter((id) => !explained.has(id)).length < one.evidence.length * least) return;
    for (const id of one.evidence) explained.add(id);
    found.push(one);
  };
  add(ofNothingChecked(results));
  const isComplete = found.length > 0;
  for (const one of [...ofStatuses(results), ...byFaults.filter(isNamed)]) add(one);
  const certificates = explainClientCertificates(results);
  add(certificates);
  for (const one of byFaults) if (!isNamed(one)) add(one);
  add(ofOutages(outages, results), 0);
  const unexplained = () => results.filter(({ id }) => !explained.has(id));
  add(ofAcceptances(unexplained(), results));
  add(ofCrashes(unexplained(), results));
  // Where nothing is checked, or no certificate, the rest has the same cause.
  const isHidden = ({ suite }: ScenarioResult) => isComplete || (certificates !== null && suite === 'mtls');
  add(ofUnexplained(unexplained().filter((result) => result.verdict === 'fail' && !isHidden(result))));
  const failures = results.filter(({ verdict }) => verdict === 'fail');
  const failed = new Set(failures.map(({ id }) => id));
  const accepted = new Set(failures.flatMap(({ id, decidedBy }) => (decidedBy === 'forgery-accepted' ? [id] : [])));
  // Of equal weight, what is certain comes before candidates, and what is not known last. The end of the process comes
  // before everything else: the fault that causes it if it is known, otherwise the observation.
  const guilty = new Set(outages.flatMap(({ culprit }) => culprit ?? []));
  const stopsProcess = ({ candidates, posterior, evidence }: Diagnosis) =>
    candidates === undefined &&
    posterior !== undefined &&
    evidence.includes(STAYS_UP) &&
    evidence.some((id) => id !== STAYS_UP && guilty.has(id));
  const isExplained = found.some(stopsProcess);
  const above = ACCEPTED_FORGERY * results.length;
  const rankOf = (one: Diagnosis) => {
    const { fault, candidates, posterior } = one;
    if (STOPS.includes(fault)) return isExplained ? 0 : above;
    if (fault === NOT_KNOWN) return 0;
    if (candidates !== undefined) return 0.1;
    if (posterior === undefined) return 0.2;
    return stopsProcess(one) ? above : 0.5;
  };
  const weight = (one: Diagnosis) => {
    const { length } = one.evidence.filter((id) => failed.has(id));
    const forgeries = one.fault === NOT_KNOWN ? 0 : one.evidence.filter((id) => accepted.has(id)).length;
    return rankOf(one) + length + (ACCEPTED_FORGERY - 1) * forgeries;
  };
  const ordered = isComplete ? found : found.toSorted((a, b) => weight(b) - weight(a));
  return ordered.map((one, at) => ({ ...one, relation: at === 0 ? 'main' : 'also' }));
}

/** An accepted forgery with a cause weighs as much as this many other failures. */
const ACCEPTED_FORGERY = 3;

/** A further finding needs this share of evidence that no finding before it explains. */
const NEWS = 0.5;

/** The features without which a fault cannot show. */
const AREA_NEEDS: Readonly<Record<string, readonly Feature[]>> = {
  'raw-body': ['hmac'],
  signature: ['hmac'],
  'api-key': ['api-key'],
  combination: ['hmac', 'api-key'],
  effects: ['effects'],
  tls: ['https'],
  mtls: ['mtls'],
};

/** Whether a fault can show with these features, in a run in which the first delivery was accepted. */
export function isPossible({ area, refusal }: DictionaryFault, features: readonly Feature[]): boolean {
  return refusal === undefined && (AREA_NEEDS[area] ?? []).every((need) => features.includes(need));
}

/** The outcomes of the judged checks, without those about a status that is wrong throughout ({@link ofStatuses}). */
export function outcomesIn(results: readonly ScenarioResult[]): Outcomes {
  const rejections = Object.values(STATUS_SCENARIOS);
  const statuses = [PREFLIGHT_SCENARIO, ...rejections];
  const outcomes = new Map<string, Answer | null>();
  const usual = new Set([
    '401',
    ...results.flatMap(({ id, outcome = '' }) => (rejections.includes(id) ? [outcome.replace('missing-', '')] : [])),
  ]);
  const alsoElsewhere = usesElsewhere(results, usual);
  const differ = results.some(({ id, outcome }) => rejections.includes(id) && outcome?.startsWith('missing-'));
  for (const result of results) {
    const outcome = outcomeOf(result);
    if (outcome === undefined) continue;
    const answer = outcome === null ? null : answerOf(outcome, usual, alsoElsewhere);
    const isStatus = statuses.includes(result.id) && (result.id !== PREFLIGHT_SCENARIO || answer?.kind === 'accepted');
    // Answers to missing and to invalid credentials then differ in any case.
    outcomes.set(result.id, isStatus || (differ && result.decidedBy === 'answers-differ') ? null : answer);
  }
  return outcomes;
}

/** Whether signed but malformed payloads are rejected with the same status as invalid credentials. */
function usesElsewhere(results: readonly ScenarioResult[], refusals: ReadonlySet<string>): boolean {
  const rejected = results.filter(
    ({ suite, verdict, outcome, expectedOutcomes }) =>
      suite === 'malformed' &&
      verdict === 'pass' &&
      expectedOutcomes?.includes('401') !== true &&
      /^4/.test(outcome ?? ''),
  );
  return rejected.filter(({ outcome }) => refusals.has(outcome ?? '')).length * 2 > rejected.length;
}

/**
 * The likely fault after a failed preflight. The finding has separate evidence, such as the accepted signing mistake or
 * the certificate, so it decides. A mutant whose preflight fails with the same finding adds its name and its texts.
 */
function explainFailedPreflight(
  { fault, title, mistake, why, fix }: Finding,
  results: readonly ScenarioResult[],
  dictionary: FaultDictionary,
  stack: KnownStack | null,
): Diagnosis[] {
  const failed = results.find(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  const own: Diagnosis = {
    relation: 'main',
    fault: (faultOfMistake(fault, dictionary.faults) ?? onlyFaultWith(fault, failed, dictionary))?.name ?? fault,
    title,
    mistake,
    agreement: 1,
    outcomes: 1,
    evidence: failed === undefined ? [] : [failed.id],
    alike: [],
    seen: findMistake(mistake)?.seen ?? '',
    why,
    ...withCode(fix, findMistake(mistake), stack),
  };
  return [own];
}

/** The only mutant with these outcomes whose preflight fails with this finding, declared equivalents aside. */
function onlyFaultWith(
  finding: string,
  failed: ScenarioResult | undefined,
  { faults }: FaultDictionary,
): DictionaryFault | undefined {
  const found = faults.filter(
    ({ refusal, outcomes }) => refusal === finding && failed !== undefined && outcomes[failed.id] === outcomeOf(failed),
  );
  const [first, ...others] = found.filter(({ equivalentTo }) => !found.some(({ name }) => name === equivalentTo?.name));
  if (first === undefined || others.length > 0) return undefined;
  // When several mutants have the same outcomes, the finding is more specific than the name of one of them.
  const outcomes = JSON.stringify(first.outcomes);
  return faults.some((other) => other !== first && JSON.stringify(other.outcomes) === outcomes) ? undefined : first;
}

const isNamed = ({ candidates }: Diagnosis) => candidates === undefined;

/** The texts of the mistake that a mutant makes. */
function textsOf(
  fault: DictionaryFault,
  stack: KnownStack | null,
): Pick<Diagnosis, 'mistake' | 'seen' | 'why' | 'fix' | 'stack'> {
  const mistake = MISTAKES[fault.mistake];
  const { why, fix } = explainMistake(fault);
  return { mistake: fault.mistake, seen: mistake.seen, why, ...withCode(fix, mistake, stack) };
}

/** A fix with the code for the stack, where the mistake has some. */
function withCode(
  fix: string,
  mistake: Mistake | undefined,
  stack: KnownStack | null,
): Pick<Diagnosis, 'fix' | 'stack'> {
  const code = mistake === undefined || stack === null ? undefined : codeFor(mistake.fix, stack.name);
  return code === undefined ? { fix, stack: null } : { fix: `${fix} ${code}`, stack };
}

/** The first finding also says where to find a receiver to copy. */
function withRecipe(one: Diagnosis): Diagnosis {
  if (one.stack === null) return one;
  return { ...one, fix: `${one.fix} A whole receiver: \`hookproof init --stack ${one.stack.name}\`.` };
}

function diagnosisOf(
  { isNamed, candidates, evidence, outcomes, otherAnswer }: Explanation,
  results: readonly ScenarioResult[],
  stack: KnownStack | null,
  partial: boolean,
): Diagnosis {
  const [first] = candidates;
  if (first === undefined) throw new RangeError('an explanation has at least one candidate');
  const { fault, posterior, alike } = first;
  const shared = { relation: 'main' as const, agreement: evidence.length, outcomes, evidence: [...evidence], seen: '' };
  if (isNamed && !partial) {
    const { name } = fault;
    const title = titleOf(first) + insteadOf(first, otherAnswer);
    return {
      ...shared,
      fault: name,
      title,
      alike: [...alike],
      ...textsOf(fault, stack),
      posterior: rounded(posterior),
    };
  }
  const titles = candidates.map(titleOf).join('; or: ');
  const observed = observationOf(results.filter(({ id }) => evidence.includes(id)));
  return {
    ...shared,
    fault: CANDIDATES.fault,
    mistake: null,
    title: `${observed}. Possibly: ${titles}`,
    alike: [],
    why: CANDIDATES.why,
    fix: [...new Set(candidates.map((one) => textsOf(one.fault, stack).fix))].join(' Or: '),
    stack: null,
    candidates: candidates.map((one) => ({
      fault: one.fault.name,
      title: titleOf(one),
      posterior: rounded(one.posterior),
    })),
  };
}

/** A title may name the status of the mutant. */
function insteadOf({ fault }: Candidate, other: Explanation['otherAnswer']): string {
  if (other === null || !fault.title.includes(other.expected)) return '';
  const observed = other.observed === 'closed' ? 'closes the connection' : `answers ${other.observed}`;
  return `; this receiver ${observed} instead`;
}

const titleOf = ({ fault }: Candidate) => fault.title.replace(/\.$/, '');
const rounded = (posterior: number) => Math.round(posterior * 1000) / 1000;
