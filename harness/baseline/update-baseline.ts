/** Makes a baseline from a run: what is known already keeps its words, what is new waits for a person to fill in the reason. Pure. */
import type { ResultDocument } from '../result/result-document.ts';
import { failsTheRun } from '../result/tally.ts';
import { type Baseline, type BaselineEntry, dayOf, isExpired, TO_FILL_IN } from './baseline.ts';

export interface UpdatedBaseline {
  readonly entries: readonly BaselineEntry[];
  /** Ids, each in one of these. */
  readonly added: readonly string[];
  readonly kept: readonly string[];
  readonly removed: readonly string[];
  /** Of the kept ones: their day is over, so a person has to agree on a new one. */
  readonly expired: readonly string[];
}

/** New entries are put up with for so many days. */
const DAYS = 90;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Entries whose check passes are removed, and so are those that no check of the `catalogue` has. Those that the run did not judge stay.
 */
export function updateBaseline(
  before: Baseline | null,
  document: Pick<ResultDocument, 'results' | 'strict'>,
  catalogue: readonly string[],
  now: Date,
): UpdatedBaseline {
  const entries = before?.entries ?? [];
  const passed = new Set(document.results.filter(({ verdict }) => verdict === 'pass').map(({ id }) => id));
  const isKept = ({ scenario }: BaselineEntry) => catalogue.includes(scenario) && !passed.has(scenario);
  const kept = entries.filter(isKept);
  const listed = new Set(kept.map(({ scenario }) => scenario));
  const expires = dayOf(new Date(now.getTime() + DAYS * DAY_MS));
  const added = document.results
    .filter(({ id, verdict }) => failsTheRun(verdict, document.strict) && !listed.has(id))
    .map(({ id, observed }): BaselineEntry => {
      const reason = `${TO_FILL_IN}: why is this known? (observed: ${observed})`;
      return { scenario: id, reason, owner: `${TO_FILL_IN}: who mends it?`, expires };
    });
  const place = (id: string) => catalogue.indexOf(id);
  const idsOf = (some: readonly BaselineEntry[]) => some.map(({ scenario }) => scenario);
  return {
    entries: [...kept, ...added].toSorted((a, b) => place(a.scenario) - place(b.scenario)),
    added: idsOf(added),
    kept: idsOf(kept),
    removed: idsOf(entries.filter((entry) => !isKept(entry))),
    expired: idsOf(kept.filter((entry) => isExpired(entry, now))),
  };
}
