/** Which exchanges a page shows: it has to stay small however much went wrong. */
import type { ScenarioResult } from '../../result/result-document.ts';
import { causeOf } from '../causes.ts';
import { groupBy } from '../group.ts';
import { answersOf, exchangesOf } from './exchanges.ts';
import { type Markup, sizeOf } from './markup.ts';

/** Characters for all exchanges together. What is beyond gets the answers in one line. */
const ALLOWED = 1_400_000;

/** What a check has to show. */
export interface Evidence {
  readonly exchanges: Markup | '';
  /** Whether an earlier check with the same cause shows the same: on paper, where nothing unfolds, once is enough. */
  readonly again: boolean;
}

/** The first of each cause before the second of any, so that no cause goes without. */
function inOrder(results: readonly ScenarioResult[]): { result: ScenarioResult; again: boolean }[] {
  const groups = groupBy(results, causeOf).map(([, members]) => members);
  return [
    ...groups.flatMap((members) => members.slice(0, 1)).map((result) => ({ result, again: false })),
    ...groups.flatMap((members) => members.slice(1)).map((result) => ({ result, again: true })),
  ];
}

/** The finished exchanges of each check that has any. */
export function evidenceOf(results: readonly ScenarioResult[]): ReadonlyMap<ScenarioResult, Evidence> {
  let left = ALLOWED;
  return new Map(
    inOrder(results.filter(({ exchanges }) => exchanges.length > 0)).map(({ result, again }) => {
      const shown = left > 0 ? exchangesOf(result) : '';
      if (shown !== '' && sizeOf(shown) <= left) {
        left -= sizeOf(shown);
        return [result, { exchanges: shown, again }];
      }
      return [result, { exchanges: answersOf(result), again }];
    }),
  );
}
