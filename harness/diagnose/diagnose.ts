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
  ofRejectionStatus,
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
}

/**
 * The likely faults of the endpoint, the most important first. Empty when nothing is wrong, and when no known fault
 * fits.
 */
export async function diagnose({ results, outages, preflight, stack }: ToDiagnose): Promise<Diagnosis[]> {
  const hasFailures = results.some(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  if (!hasFailures && preflight === null && outages.length === 0) return [];
  const dictionary = await loadDictionary();
  const known = stack === null ? guessStack(results) : { name: stack, told: '--stack' };
  const seen = { results, dictionary, stack: known };
  return preflight === null ? explainRun({ ...seen, outages }) : explainFailedPreflight(preflight, seen);
}

/** What a run has observed, for its diagnosis. */
interface Seen {
  readonly results: readonly ScenarioResult[];
  readonly outages: RunObservations['outages'];
  readonly dictionary: FaultDictionary;
  readonly stack: KnownStack | null;
}

/** From this score on, a fault of the dictionary comes before a more general finding. */
const FITS_WELL = 0.8;

/** The likely faults from the results of a run whose preflight passed. */
function explainRun(seen: Seen): Diagnosis[] {
  const { results, outages } = seen;
  const down = ofOutages(outages, results);
  const nothingChecked = ofNothingChecked(results);
  const certificates = explainClientCertificates(results);
  const { named, near, fitsWell } = explainByDictionary(seen);
  // A finding about the whole run comes before the nearest mutant, which would be only a part of it, unless that one
  // fits well.
  const whole = [nothingChecked, certificates, down].filter((one) => one !== null);
  const ordered = fitsWell && nothingChecked === null ? [...named, ...whole] : [...whole, ...named];
  const found: Diagnosis[] = [];
  for (const one of [...ordered, ofAcceptances(results), ofRejectionStatus(results), ofCrashes(results)]) {
    if (one === null) continue;
    if (one === down || found.length === 0 || addsNews(one, found)) {
      found.push({ ...one, relation: found.length === 0 ? 'main' : 'also' });
    }
  }
  // Alternatives are listed only next to a mutant without other findings.
  return found.length === 1 && found[0]?.fault === named[0]?.fault ? [...found, ...near] : found;
}

/** A further finding needs this share of evidence that no finding before it explains. */
const NEWS = 0.5;

function addsNews({ evidence }: Diagnosis, before: readonly Diagnosis[]): boolean {
  const explained = new Set(before.flatMap((one) => one.evidence));
  return evidence.filter((id) => !explained.has(id)).length >= evidence.length * NEWS;
}

/** Little is judged after a failed preflight, so only a single mutant that fits this well is taken for the cause. */
const FITS = 0.9;

/**
 * The likely faults after a failed preflight. The finding has evidence of its own, such as the accepted signing mistake
 * or the certificate, so it decides. A mutant with the same fault gives its name, and what the dictionary adds.
 */
function explainFailedPreflight({ fault, title, why, fix }: Finding, seen: Omit<Seen, 'outages'>): Diagnosis[] {
  const { results, dictionary, stack } = seen;
  const failed = results.find(({ verdict }) => verdict === 'fail' || verdict === 'warn');
  const own: Diagnosis = {
    relation: 'main',
    fault,
    title,
    agreement: 1,
    outcomes: 1,
    evidence: failed === undefined ? [] : [failed.id],
    alike: [],
    seen: '',
    why,
    fix,
    stack: null,
  };
  const known = faultOfMistake(fault, dictionary.faults);
  if (known !== undefined) {
    const forStack = fixFor(known.fix, stack);
    return [{ ...own, fault: known.name, seen: known.seen, ...(forStack.stack === null ? {} : forStack) }];
  }
  const { named } = explainByDictionary(seen);
  const [nearest] = named;
  const fits = named.length === 1 && nearest !== undefined && nearest.alike.length < 2;
  if (!fits || nearest.agreement < nearest.outcomes * FITS) return [own];
  return [{ ...nearest, title, why, fix, stack: null }];
}

/** The faults of the dictionary that explain the results, one or two at once, and those that fit nearly as well. */
function explainByDictionary({ results, dictionary, stack }: Omit<Seen, 'outages'>) {
  const { faults, others } = explainByFaults(vectorOf(results), dictionary);
  const named = faults.map((fault, at) => diagnosisOf(fault, at === 0 ? 'main' : 'also', stack));
  const near = others.map((fault) => diagnosisOf(fault, 'or', stack));
  return { named, near, fitsWell: faults.length > 0 && faults.every(({ score }) => score >= FITS_WELL) };
}

/** A server names the language and not always the framework: the alternative when the guessed stack has no fix. */
const ALTERNATIVES: Partial<Record<Stack, Stack>> = { flask: 'django', django: 'flask', fastify: 'express' };

/** The general rule and, where the stack is known and has its own, the fix for it. */
export function fixFor(fix: DictionaryFault['fix'], stack: KnownStack | null): Pick<Diagnosis, 'fix' | 'stack'> {
  const own = stack === null ? undefined : (fix[stack.name] ?? fix[ALTERNATIVES[stack.name] ?? stack.name]);
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
