/** The diagnosis of a run. The fault dictionary is loaded only when something is wrong. */
import type { Stack } from '../../contract/index.ts';
import type { RunObservations } from '../../scenarios/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { explainByFaults } from './explain-by-faults.ts';
import { type DictionaryFault, type FaultDictionary, loadDictionary } from './fault-dictionary.ts';
import type { Finding } from './preflight-findings.ts';
import { type RankedFault, vectorOf } from './rank-faults.ts';
import {
  explainClientCertificates,
  ofAcceptances,
  ofCrashes,
  ofNothingChecked,
  ofOutages,
  ofRefusalStatus,
} from './run-findings.ts';
import { faultOfMistake } from './signing-trials.ts';
import { guessStack, type KnownStack } from './stack.ts';

interface ToDiagnose {
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  /** Why the first delivery was not accepted; null when it was. */
  readonly gate: Finding | null;
  /** As the user gives it; null to guess it from the answers. */
  readonly stack: Stack | null;
}

/** What the endpoint behaves like, the most telling first. Empty when nothing is wrong, and when no known mistake fits. */
export async function diagnose({ results, outages, gate, stack }: ToDiagnose): Promise<Diagnosis[]> {
  const isWrong = results.some(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  if (!isWrong && gate === null && outages.length === 0) return [];
  const dictionary = await loadDictionary();
  const known = stack === null ? guessStack(results) : { name: stack, told: '--stack' };
  const seen = { results, dictionary, stack: known };
  return gate === null ? explainRun({ ...seen, outages }) : explainShutGate(gate, seen);
}

/** What an endpoint behaves like, from the results of a run. Pure. */

/** What a run has seen, for its diagnosis. */
interface Seen {
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  readonly dictionary: FaultDictionary;
  readonly stack: KnownStack | null;
}

/** A fault of the dictionary that fits so well is named before a finding of a coarser kind. */
const FITS_WELL = 0.8;

/** A finding is worth its lines when so much of its evidence is not accounted for by what was said before. */
const NEWS = 0.5;

function addsNews({ evidence }: Diagnosis, before: readonly Diagnosis[]): boolean {
  const said = new Set(before.flatMap((one) => one.evidence));
  return evidence.filter((id) => !said.has(id)).length >= evidence.length * NEWS;
}

/** The faults of the dictionary that account for the results: one, or two at once, and those that come near. */
function explainByDictionary({ results, dictionary, stack }: Omit<Seen, 'outages'>) {
  const { faults, others } = explainByFaults(vectorOf(results), dictionary);
  const named = faults.map((fault, at) => diagnosisOf(fault, at === 0 ? 'main' : 'also', stack));
  const near = others.map((fault) => diagnosisOf(fault, 'or', stack));
  return { named, near, fitsWell: faults.length > 0 && faults.every(({ score }) => score >= FITS_WELL) };
}

/** What the endpoint behaves like, the most telling first. Empty when nothing is wrong, and when nothing known fits. */
function explainRun(seen: Seen): Diagnosis[] {
  const { results, outages } = seen;
  const down = ofOutages(outages, results);
  const nothingChecked = ofNothingChecked(results);
  const certificates = explainClientCertificates(results);
  const { named, near, fitsWell } = explainByDictionary(seen);
  // What is said of the whole comes before the nearest mutant, which would be only a part of it, unless that one fits.
  const whole = [nothingChecked, certificates, down].filter((one) => one !== null);
  const ordered = fitsWell && nothingChecked === null ? [...named, ...whole] : [...whole, ...named];
  const found: Diagnosis[] = [];
  for (const one of [...ordered, ofAcceptances(results), ofRefusalStatus(results), ofCrashes(results)]) {
    if (one === null) continue;
    if (one === down || found.length === 0 || addsNews(one, found))
      found.push({ ...one, relation: found.length === 0 ? 'main' : 'also' });
  }
  // Others come in question only where a mutant is all that is said.
  return found.length === 1 && found[0]?.fault === named[0]?.fault ? [...found, ...near] : found;
}

/** What an endpoint behaves like that accepts not even the first delivery. Pure. */

/** One mutant has to fit as well as this, alone, to be taken for the cause: little was judged. */
const FITS = 0.9;

/**
 * The finding comes first: it rests on evidence of its own, such as the wrong signature that was accepted, or the certificate. Where a
 * mutant does the same, the finding goes by its name, and what is known of the mutant is added.
 */
function explainShutGate(finding: Finding | null, seen: Omit<Seen, 'outages'>): Diagnosis[] {
  const { results, dictionary, stack } = seen;
  const red = results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn').map(({ id }) => id);
  const { named } = explainByDictionary(seen);
  const [nearest] = named;
  if (finding === null) return named;
  const { fault, title, why, fix } = finding;
  const own: Diagnosis = {
    relation: 'main',
    fault,
    title,
    agreement: 1,
    outcomes: 1,
    evidence: red.slice(0, 1),
    alike: [],
    seen: '',
    why,
    fix,
    stack: null,
  };
  const known = dictionary.faults.find(({ name }) => name === faultOfMistake(fault));
  if (known !== undefined) return [knownAs(known, own, stack)];
  const fits = named.length === 1 && nearest !== undefined && nearest.alike.length < 2;
  if (!fits || nearest.agreement < nearest.outcomes * FITS) return [own];
  return [{ ...nearest, title, why, fix, stack: null }];
}

/** The finding under the name of the mutant, with the fix for the stack where there is one. */
function knownAs(known: DictionaryFault, own: Diagnosis, stack: Seen['stack']): Diagnosis {
  const told = fixFor(known.fix, stack);
  return { ...own, fault: known.name, seen: known.seen, ...(told.stack === null ? {} : told) };
}

/** A fault of the dictionary in the words of a report, with the fix for the partner's stack. Pure. */

/** A server tells the language and not always the framework: what is next best when there is no fix for the one that was guessed. */
const NEXT_BEST: Partial<Record<Stack, Stack>> = { flask: 'django', django: 'flask', fastify: 'express' };

/** The rule that holds everywhere and, where the stack is known and differs, how it is done there. */
export function fixFor(fix: DictionaryFault['fix'], stack: KnownStack | null): Pick<Diagnosis, 'fix' | 'stack'> {
  const own = stack === null ? undefined : (fix[stack.name] ?? fix[NEXT_BEST[stack.name] ?? stack.name]);
  return own === undefined ? { fix: fix.rule, stack: null } : { fix: `${fix.rule} ${own}`, stack };
}

function diagnosisOf(
  { fault, agreement, outcomes, evidence, alike }: RankedFault,
  relation: Diagnosis['relation'],
  stack: KnownStack | null,
): Diagnosis {
  const { name, title, seen, why } = fault;
  return {
    relation,
    fault: name,
    title: title.replace(/\.$/, ''),
    agreement,
    outcomes,
    evidence: [...evidence],
    alike: [...alike],
    seen,
    why,
    ...fixFor(fault.fix, stack),
  };
}
