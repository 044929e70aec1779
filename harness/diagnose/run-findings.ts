/** What an endpoint behaves like, from the results of a run. Pure. */
import type { RunObservations } from '../../scenarios/index.ts';
import type { Diagnosis, ScenarioResult } from '../result/result-document.ts';
import { explainByFaults } from './explain-by-faults.ts';
import { diagnosisOf } from './fault-diagnosis.ts';
import type { FaultDictionary } from './fault-dictionary.ts';
import { vectorOf } from './rank-faults.ts';
import type { KnownStack } from './stack.ts';
import { explainClientCertificates } from './tls-findings.ts';
import { ofAcceptances, ofCrashes, ofNothingChecked, ofOutages, ofRefusalStatus } from './whole-findings.ts';

/** What a run has seen, for its diagnosis. */
export interface Seen {
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
export function explainByDictionary({ results, dictionary, stack }: Omit<Seen, 'outages'>) {
  const { faults, others } = explainByFaults(vectorOf(results), dictionary);
  const named = faults.map((fault, at) => diagnosisOf(fault, at === 0 ? 'main' : 'also', stack));
  const near = others.map((fault) => diagnosisOf(fault, 'or', stack));
  return { named, near, fitsWell: faults.length > 0 && faults.every(({ score }) => score >= FITS_WELL) };
}

/** What the endpoint behaves like, the most telling first. Empty when nothing is wrong, and when nothing known fits. */
export function explainRun(seen: Seen): Diagnosis[] {
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
