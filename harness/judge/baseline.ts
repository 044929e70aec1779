/** The baseline lists known failures, each with a reason, an owner, and the last day on which it is tolerated. */

import { nearestName } from '../nearest-name.ts';
import type { BaselineOutcome, ResultDocument, ScenarioResult } from '../report/result-document.ts';
import { failsTheRun } from '../report/verdict.ts';

export interface BaselineEntry {
  /** The id of the scenario. */
  readonly scenario: string;
  readonly reason: string;
  readonly owner: string;
  /** The last day, in UTC, on which the failure is tolerated: `2027-01-31`. */
  readonly expires: string;
}

export interface Baseline {
  /** The path of the file as the user specified it. */
  readonly file: string;
  readonly entries: readonly BaselineEntry[];
}

/** The placeholder for a reason or an owner that is not filled in yet. */
const TO_FILL_IN = 'TODO';

const isPlaceholder = (text: string) => text.startsWith(TO_FILL_IN);

function isUnfilled({ reason, owner }: BaselineEntry): boolean {
  return isPlaceholder(reason) || isPlaceholder(owner);
}

/** Returns the date of a moment in UTC. */
function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

function isExpired({ expires }: BaselineEntry, now: Date): boolean {
  return expires < dayOf(now);
}

/** Returns the baseline entry for a failure or warning. Null if there is none or it has expired. */
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

/**
 * Compares the baseline with the results of a run. `catalogue` contains all ids, including those that the run did not
 * select.
 */
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
      const message = `There is no check ${scenario}.${meant} Remove or correct the entry.`;
      stale.push({ scenario, problem: 'unknown-scenario', message });
    } else if (verdicts.get(scenario) === 'pass') {
      const message = `${scenario} passes now. Remove the entry, so that a new failure is reported.`;
      stale.push({ scenario, problem: 'passes', message });
    } else if (isExpired(entry, now)) {
      const expired = `The entry for ${scenario} (owner: ${owner}) expired after ${expires}.`;
      const message = `${expired} Fix the receiver, or agree on a new date.`;
      stale.push({ scenario, problem: 'expired', message });
    }
  }
  const removed = new Set(stale.filter(({ problem }) => problem !== 'expired').map(({ scenario }) => scenario));
  const judged = (id: string) => ['pass', 'fail', 'warn'].includes(verdicts.get(id) ?? '');
  return {
    file: baseline.file,
    entries: baseline.entries.length,
    known: results.filter(({ known }) => known !== null).map(({ id }) => id),
    stale,
    unfilled: baseline.entries
      .filter((one) => isUnfilled(one) && !removed.has(one.scenario))
      .map((one) => one.scenario),
    notJudged: baseline.entries.map(({ scenario }) => scenario).filter((id) => catalogue.includes(id) && !judged(id)),
  };
}

export interface UpdatedBaseline {
  readonly entries: readonly BaselineEntry[];
  /** Ids of scenarios. Each is in exactly one of these three lists. */
  readonly added: readonly string[];
  readonly kept: readonly string[];
  readonly removed: readonly string[];
  /** Ids of the kept entries that have expired and need a new date. */
  readonly expired: readonly string[];
  /** Ids of the kept entries whose placeholders the given reason or owner replaces. */
  readonly filled: readonly string[];
}

/** Number of days for which new entries are tolerated. */
const DAYS = 90;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Adds the failures of a run, with the `given` reason and owner, which also replace the placeholders of older entries.
 * Removes entries whose check passed or is not in the `catalogue`. Entries whose check was not judged are kept.
 */
export function updateBaseline(
  before: Baseline | null,
  document: Pick<ResultDocument, 'results' | 'strict'>,
  catalogue: readonly string[],
  now: Date,
  given: Partial<Pick<BaselineEntry, 'reason' | 'owner'>> = {},
): UpdatedBaseline {
  const entries = before?.entries ?? [];
  const passed = new Set(document.results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id));
  const isKept = ({ scenario }: BaselineEntry) => catalogue.includes(scenario) && !passed.has(scenario);
  const fill = (entry: BaselineEntry): BaselineEntry => {
    const { reason = entry.reason, owner = entry.owner } = given;
    return {
      ...entry,
      reason: isPlaceholder(entry.reason) ? reason : entry.reason,
      owner: isPlaceholder(entry.owner) ? owner : entry.owner,
    };
  };
  const old = entries.filter(isKept);
  const kept = old.map(fill);
  const listed = new Set(kept.map(({ scenario }) => scenario));
  const expires = dayOf(new Date(now.getTime() + DAYS * DAY_MS));
  const added = document.results
    .filter(({ id, verdict }) => failsTheRun(verdict, document.strict) && !listed.has(id))
    .map(({ id, observed }): BaselineEntry => {
      const reason = given.reason ?? `${TO_FILL_IN}: why is this accepted for now? (observed: ${observed})`;
      return { scenario: id, reason, owner: given.owner ?? `${TO_FILL_IN}: who fixes it?`, expires };
    });
  const place = (id: string) => catalogue.indexOf(id);
  const idsOf = (some: readonly BaselineEntry[]) => some.map(({ scenario }) => scenario);
  return {
    entries: [...kept, ...added].toSorted((a, b) => place(a.scenario) - place(b.scenario)),
    added: idsOf(added),
    kept: idsOf(kept),
    removed: idsOf(entries.filter((entry) => !isKept(entry))),
    expired: idsOf(kept.filter((entry) => isExpired(entry, now))),
    filled: idsOf(kept.filter((entry, at) => entry.reason !== old[at]?.reason || entry.owner !== old[at]?.owner)),
  };
}
