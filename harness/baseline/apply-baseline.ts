/** Holds the results of a run against the list of known failures. Pure. */
import { nearestName } from '../config/nearest-name.ts';
import type { BaselineOutcome, ScenarioResult } from '../result/result-document.ts';
import { type Baseline, isExpired, isUnfilled } from './baseline.ts';

/** What the baseline says of a result that is not a pass; null when it says nothing, or no longer. */
export function knownIn(
  baseline: Baseline | null,
  { id, verdict }: Pick<ScenarioResult, 'id' | 'verdict'>,
  now: Date,
): ScenarioResult['known'] {
  if (baseline === null || (verdict !== 'fail' && verdict !== 'warn')) return null;
  const entry = baseline.entries.find(({ scenario }) => scenario === id);
  if (entry === undefined || isExpired(entry, now)) return null;
  const { reason, owner, expires } = entry;
  return { reason, owner, expires };
}

/** What became of the whole list. `catalogue` holds every id that there is, those that this run did not select included. */
export function baselineOutcome(
  baseline: Baseline,
  results: readonly ScenarioResult[],
  catalogue: readonly string[],
  now: Date,
): BaselineOutcome {
  const verdicts = new Map(results.map(({ id, verdict }) => [id, verdict]));
  const stale: BaselineOutcome['stale'] = [];
  for (const entry of baseline.entries) {
    const { scenario, owner, expires } = entry;
    if (!catalogue.includes(scenario)) {
      const near = nearestName(scenario, catalogue);
      const meant = near === null ? '' : ` Did you mean ${near}?`;
      const message = `There is no check ${scenario}.${meant} Remove the entry, or correct it.`;
      stale.push({ scenario, problem: 'unknown-scenario', message });
    } else if (verdicts.get(scenario) === 'pass') {
      const message = `${scenario} passes now. Remove the entry, so that it stays that way.`;
      stale.push({ scenario, problem: 'passes', message });
    } else if (isExpired(entry, now)) {
      const message = `The entry for ${scenario} (owner: ${owner}) expired after ${expires}. Mend the receiver, or agree on a new date.`;
      stale.push({ scenario, problem: 'expired', message });
    }
  }
  const judged = (id: string) => ['pass', 'fail', 'warn'].includes(verdicts.get(id) ?? '');
  return {
    file: baseline.file,
    entries: baseline.entries.length,
    known: results.filter(({ known }) => known !== null).map(({ id }) => id),
    stale,
    unfilled: baseline.entries.filter(isUnfilled).map(({ scenario }) => scenario),
    notJudged: baseline.entries.map(({ scenario }) => scenario).filter((id) => catalogue.includes(id) && !judged(id)),
  };
}
