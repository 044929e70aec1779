/** The diagnosis of a run. The fault dictionary is loaded only when something is wrong. */

import type { Stack } from '../../contract/index.ts';
import {
  codeFor,
  findMistake,
  MISTAKES,
  type Mistake,
  type MistakeId,
  TLS_LAYER_MISTAKES,
} from '../../contract/mistakes/index.ts';
import { type Feature, findScenario, type RunObservations } from '../../scenarios/index.ts';
import { PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { NOT_KNOWN } from '../report/verdict.ts';
import { type Candidate, causesOfRun } from './causes.ts';
import { factsOf, isAnsweredAsUnknownKind } from './facts.ts';
import { type DictionaryFault, type FaultDictionary, loadDictionary } from './fault-dictionary.ts';
import { asAnswered, type Finding, findingOf, shownBy } from './finding.ts';
import { type Deviation, deviationOf, encodeOutcome, type Outcomes } from './outcome.ts';
import { ALL_HANDLED, type ExplainingFault, explainByOverlap, PLAIN_FORGERY_IDS } from './overlap.ts';
import { patternsOf, whatSuffices } from './patterns.ts';
import { explainClientCertificates, ofNothingChecked, ofOutages, ofStatuses } from './run-findings.ts';
import { faultOfMistake } from './signing-trials.ts';
import { guessStack, type KnownStack } from './stack.ts';

interface ToDiagnose {
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  /** The finding about a failed preflight; null if it passed. */
  readonly preflight: Finding | null;
  /** The stack that the user specified; null to guess it from the answers. */
  readonly stack: Stack | null;
  /** The features that were configured in the run. */
  readonly features: readonly Feature[];
  /** Whether a part of the catalogue was not run. No fault is then certain. */
  readonly partial: boolean;
}

/**
 * Returns the likely faults of the endpoint, the most important first. The list is empty if there are no failures, or
 * if no known fault fits.
 */
export async function diagnose(run: ToDiagnose): Promise<Diagnosis[]> {
  const { results, outages, preflight } = run;
  const hasFailures = results.some(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  if (!hasFailures && preflight === null && outages.length === 0) return [];
  try {
    return diagnoseWith(await loadDictionary(), run);
  } catch (error) {
    // If the diagnosis fails, the results must still be reported.
    return [{ ...shownBy({ ...NOT_EXPLAINED, title: `${NOT_EXPLAINED.title}: ${error}` }, []), relation: 'main' }];
  }
}

const NOT_EXPLAINED = {
  fault: NOT_KNOWN,
  title: 'The diagnosis failed because of a bug in hookproof',
  mistake: null,
  why: 'The results below are complete; only their causes are missing.',
  fix: 'See the fix of each check, and report the bug with the result document of this run.',
};

function diagnoseWith(dictionary: FaultDictionary, run: ToDiagnose): Diagnosis[] {
  const { preflight, results } = run;
  const stack = run.stack === null ? guessStack(results) : { name: run.stack, source: '--stack' };
  const [first, ...others] =
    preflight === null
      ? explainRun(run, dictionary, stack)
      : explainFailedPreflight(preflight, results, dictionary, stack);
  return first === undefined ? [] : [withRecipe(first), ...others];
}

/** Returns the likely faults from the results of a run whose preflight passed. */
function explainRun(run: ToDiagnose, dictionary: FaultDictionary, stack: KnownStack | null): Diagnosis[] {
  const { results, outages, features, partial } = run;
  const facts = factsOf(results, outages);
  const patterns = patternsOf(facts, results);
  const nothing = patterns.some(({ mistake }) => mistake === 'refused-with-success') ? null : ofNothingChecked(results);
  // If a plain forgery was accepted earlier, accepting one after a harmful payload proves nothing.
  const acceptsPlain = facts.some(({ id, harm }) => harm === 'forged' && PLAIN_FORGERY_IDS.has(id));
  const isRuledOut = ({ mistake }: DictionaryFault) =>
    (mistake === 'payload-merged-into-prototype' && acceptsPlain) ||
    (UNLESS_SHOWN.includes(mistake) && !facts.some((fact) => fact.mistake === mistake));
  const explanations = explainByOverlap(
    outcomesIn(results),
    dictionary,
    (fault) => isPossible(fault, features) && !isRuledOut(fault),
  );
  // A follow-up that isolated a part of the delivery reveals only the mistake.
  const parts = new Set(facts.flatMap(({ id, part }) => (part === null ? [] : [id])));
  const isUnlisted = ({ fault, evidence }: ExplainingFault) =>
    fault.mistake === 'one-shape-for-all-types' &&
    isAnsweredAsUnknownKind(
      facts.filter(({ id }) => evidence.includes(id)),
      facts,
    );
  const named = explanations
    .filter((one) => isSpecific(one, parts) && !isUnlisted(one))
    .map((one) => diagnosisOf(one, results, partial));
  const everywhere = ofStatuses(results).map((diagnosis) => ({ diagnosis, everywhere: true }));
  // A process that an unauthenticated request ends is a separate cause.
  const byAnyone = new Set(facts.flatMap(({ id, harm }) => (harm === 'ended by anyone' ? [id] : [])));
  const others = outages.filter(({ culprit, outcome }) => !byAnyone.has(culprit ?? '') || outcome === undefined);
  const sufficing = whatSuffices(facts, results);
  const found: (Candidate | null)[] = [
    nothing && { diagnosis: nothing, complete: true },
    ...patterns.map((diagnosis) => ({ diagnosis })),
    ...everywhere,
    ...[...named, ...sufficing].map((diagnosis) => ({
      diagnosis,
      suffices: sufficing.some(({ mistake }) => mistake === diagnosis.mistake),
    })),
    ...[explainClientCertificates(results), ofOutages(others, results)].map((diagnosis) => diagnosis && { diagnosis }),
  ];
  const candidates = found.filter((one) => one !== null);
  return causesOfRun(candidates, facts, results).map((one) => ({
    ...one,
    ...withCode(one.fix, findMistake(one.mistake), stack),
  }));
}

/** Mistakes whose outcomes another mistake may also have: the facts must show them. */
const UNLESS_SHOWN: readonly MistakeId[] = ['inherited-name-lookup', 'resource-not-released'];

/** The features without which a fault of an area cannot be observed. */
const AREA_NEEDS: Readonly<Record<string, readonly Feature[]>> = {
  'raw-body': ['hmac'],
  signature: ['hmac'],
  'api-key': ['api-key'],
  combination: ['hmac', 'api-key'],
  effects: ['effects'],
  tls: ['https'],
  mtls: ['mtls'],
};

/** Whether a fault can be observed with these features, in a run whose first delivery was accepted. */
export function isPossible({ area, refusal }: DictionaryFault, features: readonly Feature[]): boolean {
  return refusal === undefined && (AREA_NEEDS[area] ?? []).every((need) => features.includes(need));
}

/** Returns the outcomes of the judged checks, except a status that is wrong everywhere ({@link ofStatuses}). */
export function outcomesIn(results: readonly ScenarioResult[]): Outcomes {
  const rejections = Object.values(STATUS_SCENARIOS);
  const statuses = [PREFLIGHT_SCENARIO, ...rejections];
  const outcomes = new Map<string, Deviation | null>();
  const usual = new Set([
    '401',
    ...results.flatMap(({ id, outcome = '' }) => (rejections.includes(id) ? [outcome.replace('missing-', '')] : [])),
  ]);
  const differ = results.some(({ id, outcome }) => rejections.includes(id) && outcome?.startsWith('missing-'));
  for (const result of results) {
    const outcome = encodeOutcome(result);
    if (outcome === undefined) continue;
    const hasEnded = result.decidedBy === 'receiver-stopped';
    const answer = outcome === null ? null : { ...deviationOf(outcome, usual), hasEnded };
    const isStatus = statuses.includes(result.id) && (result.id !== PREFLIGHT_SCENARIO || answer?.kind === 'accepted');
    // With such a status, answers to missing and to invalid credentials differ in any case.
    outcomes.set(result.id, isStatus || (differ && result.decidedBy === 'answers-differ') ? null : answer);
  }
  return outcomes;
}

/**
 * Returns the likely fault after a failed preflight. The finding decides, because it has separate evidence, such as the
 * accepted signing mistake or the certificate. A mutant whose preflight fails with the same finding adds its name.
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

/**
 * Returns the only mutant with these outcomes whose preflight fails with this finding, ignoring declared equivalents.
 */
function onlyFaultWith(
  finding: string,
  failed: ScenarioResult | undefined,
  { faults }: FaultDictionary,
): DictionaryFault | undefined {
  const found = faults.filter(
    ({ refusal, outcomes }) =>
      refusal === finding && failed !== undefined && outcomes[failed.id] === encodeOutcome(failed),
  );
  const [first, ...others] = found.filter(({ equivalentTo }) => !found.some(({ name }) => name === equivalentTo?.name));
  if (first === undefined || others.length > 0) return undefined;
  // If several mutants have the same outcomes, the finding is more specific than the name of one of them.
  const outcomes = JSON.stringify(first.outcomes);
  return faults.some((other) => other !== first && JSON.stringify(other.outcomes) === outcomes) ? undefined : first;
}

/** Adds the code for the stack to a fix, if the mistake has such code. */
function withCode(
  fix: string,
  mistake: Mistake | undefined,
  stack: KnownStack | null,
): Pick<Diagnosis, 'fix' | 'stack'> {
  const code = mistake === undefined || stack === null ? undefined : codeFor(mistake.fix, stack.name);
  return code === undefined ? { fix, stack: null } : { fix: `${fix} ${code}`, stack };
}

/** Adds to a fix the command that writes a complete receiver for the stack, if that receiver shows the fix. */
function withRecipe(one: Diagnosis): Diagnosis {
  if (one.stack === null || TLS_LAYER_MISTAKES.has(one.mistake ?? '')) return one;
  return { ...one, fix: `${one.fix} A complete receiver: \`hookproof init --stack ${one.stack.name}\`.` };
}

/**
 * Whether the explanation rests on more than one check. A single check is enough if it looks for this mistake, unless a
 * follow-up isolated a part of its delivery (which is more specific), or it is the check of all plain notifications
 * (which does not show how they were lost).
 */
function isSpecific({ fault, evidence: [id = '', ...others] }: ExplainingFault, parts: ReadonlySet<string>): boolean {
  return others.length > 0 || (id !== ALL_HANDLED && findScenario(id)?.mistake === fault.mistake && !parts.has(id));
}

function diagnosisOf(
  { fault, isExact, alike, evidence, outcomes }: ExplainingFault,
  results: readonly ScenarioResult[],
  partial: boolean,
): Diagnosis {
  const shown = results.filter(({ id }) => evidence.includes(id));
  const own = isExact && !partial && namesOnly(fault, shown);
  const finding = own
    ? findingOf(fault.name, titleOf(fault), fault.mistake, fault.note)
    : findingOf(fault.mistake, asAnswered(MISTAKES[fault.mistake].title, shown), fault.mistake);
  // A mistake predicts no outcomes: only its evidence is counted.
  return own ? { ...shownBy(finding, evidence, outcomes), alike: [...alike] } : shownBy(finding, evidence);
}

/** Whether this receiver gave every status that the mutant's title names. */
function namesOnly({ title }: DictionaryFault, shown: readonly ScenarioResult[]): boolean {
  const named = title.match(/\b[345]\d\d\b/g) ?? [];
  const given = shown.map(({ answered }) => `${answered?.status}`);
  return named.every((status) => given.includes(status));
}

const titleOf = ({ title }: DictionaryFault) => title.replace(/\.$/, '');
