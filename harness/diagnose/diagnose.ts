/** The diagnosis of a run. The fault dictionary is loaded only when something is wrong. */

import type { Stack } from '../../contract/index.ts';
import { codeFor, findMistake, MISTAKES, type Mistake } from '../../contract/mistakes/index.ts';
import { type Feature, findScenario, type RunObservations } from '../../scenarios/index.ts';
import { PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { NOT_KNOWN } from '../report/verdict.ts';
import { type Candidate, causesOfRun } from './causes.ts';
import { factsOf, fingerprintsOf } from './facts.ts';
import { type DictionaryFault, type FaultDictionary, loadDictionary } from './fault-dictionary.ts';
import { type Finding, findingOf, shownBy } from './finding.ts';
import { type Answer, answerOf, type Outcomes, outcomeOf } from './outcome.ts';
import { type Explanation, explainByOverlap } from './overlap.ts';
import { patternsOf, whatSuffices } from './patterns.ts';
import { explainClientCertificates, ofNothingChecked, ofOutages, ofStatuses } from './run-findings.ts';
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
  try {
    return diagnoseWith(await loadDictionary(), run);
  } catch (error) {
    // The results are worth more than their explanation.
    return [{ ...shownBy({ ...NOT_EXPLAINED, title: `${NOT_EXPLAINED.title}: ${error}` }, []), relation: 'main' }];
  }
}

const NOT_EXPLAINED = {
  fault: NOT_KNOWN,
  title: 'The diagnosis failed, which is a defect of hookproof',
  mistake: null,
  why: 'The results below are complete; only their causes are missing.',
  fix: 'See the fix of each check, and report the defect with the document of this run.',
};

/** Diagnoses a run with a given dictionary. */
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
  const facts = factsOf(results, outages);
  const patterns = patternsOf(facts);
  const nothing = patterns.some(({ mistake }) => mistake === 'refused-with-success') ? null : ofNothingChecked(results);
  const explanations = explainByOverlap(outcomesIn(results), dictionary, (fault) => isPossible(fault, features));
  // A part of the catalogue shows the mistake at most: what was not run confirms nothing.
  const parts = new Set(facts.flatMap(({ id, part }) => (part === null ? [] : [id])));
  const named = explanations.filter((one) => isSpecific(one, parts)).map((one) => diagnosisOf(one, results, partial));
  const everywhere = ofStatuses(results).map((diagnosis) => ({ diagnosis, everywhere: true }));
  const found: (Candidate | null)[] = [
    nothing && { diagnosis: nothing, complete: true },
    ...patterns.map((diagnosis) => ({ diagnosis })),
    ...everywhere,
    ...[...named, ...whatSuffices(facts, results), explainClientCertificates(results), ofOutages(outages, results)].map(
      (diagnosis) => diagnosis && { diagnosis },
    ),
  ];
  const candidates = found.filter((one) => one !== null);
  return causesOfRun(candidates, facts, results).map((one) => ({
    ...one,
    ...withCode(one.fix, findMistake(one.mistake), stack),
  }));
}

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
  // Signed but malformed payloads may be rejected with the status of invalid credentials.
  const alsoElsewhere = usual.has(fingerprintsOf(results).malformedPayload ?? '');
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

/**
 * The likely fault after a failed preflight. The finding has separate evidence, such as the accepted signing mistake or
 * the certificate, so it decides. A mutant whose preflight fails with the same finding adds its name and its texts.
 */
function explainFailedPreflight(
  finding: Finding,
  results: readonly ScenarioResult[],
  dictionary: FaultDictionary,
  stack: KnownStack | null,
): Diagnosis[] {
  const failed = results.find(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  const { fault, fix, mistake } = finding;
  const mutant = faultOfMistake(fault, dictionary.faults) ?? onlyFaultWith(fault, failed, dictionary);
  const shown = shownBy({ ...finding, fault: mutant?.name ?? fault }, failed === undefined ? [] : [failed.id], 1);
  return [{ ...shown, relation: 'main', agreement: 1, ...withCode(fix, findMistake(mistake), stack) }];
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

/** One outcome shows only the mistake that its check looks for, and an isolated part of its delivery says more. */
function isSpecific({ fault, evidence: [id = '', ...others] }: Explanation, parts: ReadonlySet<string>): boolean {
  return others.length > 0 || (findScenario(id)?.mistake === fault.mistake && !parts.has(id));
}

function diagnosisOf(
  { fault, isExact, alike, evidence, outcomes }: Explanation,
  results: readonly ScenarioResult[],
  partial: boolean,
): Diagnosis {
  const own = isExact && !partial && namesOnly(fault, evidence, results);
  const finding = own
    ? findingOf(fault.name, titleOf(fault), fault.mistake, fault.note)
    : findingOf(fault.mistake, MISTAKES[fault.mistake].title, fault.mistake);
  return { ...shownBy(finding, evidence, outcomes), alike: own ? [...alike] : [] };
}

/** Whether this receiver gives the answers that the title of a mutant names. */
function namesOnly(
  { title }: DictionaryFault,
  evidence: readonly string[],
  results: readonly ScenarioResult[],
): boolean {
  const named = title.match(/\b[345]\d\d\b/g) ?? [];
  const given = results.flatMap(({ id, answered }) => (evidence.includes(id) ? [`${answered?.status}`] : []));
  return named.every((status) => given.includes(status));
}

const titleOf = ({ title }: DictionaryFault) => title.replace(/\.$/, '');
