/** The list of known failures in the terminal report: what is known, and which entries are no longer true. */
import type { BaselineOutcome, ScenarioResult } from '../result/result-document.ts';
import { namesOf } from './diagnosis-words.ts';
import { counted, type Layout } from './layout.ts';

/** Entries that fail the run. Empty when there are none. */
export function renderStale(baseline: BaselineOutcome | null, layout: Layout): string[] {
  if (baseline === null || baseline.stale.length === 0) return [];
  return [
    layout.paint(`Not true any longer in ${layout.safe(baseline.file)} (${baseline.stale.length})`, 'bold'),
    ...baseline.stale.flatMap(({ message }) => layout.paragraph(`  ${layout.sign('fail')} `, message)),
    ...layout.paragraph('  fix  ', `hookproof baseline update ${baseline.file}`, 'cyan'),
  ];
}

/** What failed or warned and is known. Empty when nothing is. */
export function renderKnown(
  results: readonly ScenarioResult[],
  baseline: BaselineOutcome | null,
  layout: Layout,
): string[] {
  if (baseline === null) return [];
  const known = results.flatMap((result) => (result.known === null ? [] : [{ ...result, known: result.known }]));
  const notes = [
    ...(baseline.unfilled.length > 0
      ? [
          `${counted(baseline.unfilled.length, 'entry', 'entries')} without a reason or an owner: ${namesOf(baseline.unfilled)}`,
        ]
      : []),
    ...(baseline.notJudged.length > 0
      ? [
          `${counted(baseline.notJudged.length, 'entry', 'entries')} not judged in this run: ${namesOf(baseline.notJudged)}`,
        ]
      : []),
  ];
  if (known.length + notes.length === 0) return [];
  return [
    layout.paint(`Known failures (${known.length}), from ${layout.safe(baseline.file)}`, 'bold'),
    ...known.flatMap(({ id, verdict, observed, known: { reason, owner, expires } }) => [
      ...layout.paragraph(`  ${layout.sign(verdict)} `, `${id}: ${observed}`),
      ...layout.paragraph('    ', `${reason} (owner: ${owner}, until ${expires})`, 'dim'),
    ]),
    ...notes.flatMap((note) => layout.paragraph('  ! ', note, 'yellow')),
  ];
}
