/**
 * What a run has to say of a server, written by hand, and where what it said differs. Nothing here is taken from the
 * catalogue.
 */
import type { ResultDocument, ScenarioResult } from '../../../harness/index.ts';

/** A verdict; `recorded` is a pass with something to say about it. */
export type Word = 'pass' | 'recorded' | 'warn' | 'fail' | 'inconclusive' | 'not-applicable' | 'harness-error';

/** The scenarios that do not simply pass, by id. */
export type Expected = Readonly<Record<string, Exclude<Word, 'pass'>>>;

export interface Difference {
  /**
   * `false pass`: less was said than was due, down to nothing at all. `false alarm`: more was said, or another thing.
   */
  readonly kind: 'false pass' | 'false alarm';
  readonly scenario: string;
  readonly expected: Word;
  readonly said: Word | 'nothing';
  readonly reason: string;
}

/** The same verdict for several scenarios. */
export function all(word: Expected[string], ids: readonly string[]): Expected {
  return Object.fromEntries(ids.map((id) => [id, word]));
}

/** Every verdict of a run, by scenario. */
export function saidIn({ results }: Pick<ResultDocument, 'results'>): Map<string, Word> {
  return new Map(results.map((result) => [result.id, wordFor(result)]));
}

function wordFor({ verdict, reason }: ScenarioResult): Word {
  return verdict === 'pass' && reason !== '' ? 'recorded' : verdict;
}

/** How much each says against the server. */
const WEIGHT: Readonly<Record<Word | 'nothing', number>> = {
  nothing: 0,
  pass: 1,
  recorded: 2,
  'not-applicable': 3,
  inconclusive: 4,
  warn: 5,
  fail: 6,
  'harness-error': 7,
};

/**
 * Where a run differs from what it has to say; empty when it is right in everything. It has to say something of every
 * scenario in `asked`, so that a run which judged nothing is not taken for one that had nothing to complain of.
 */
export function differences(
  expected: Expected,
  document: Pick<ResultDocument, 'results'>,
  asked: readonly string[],
): Difference[] {
  const said = saidIn(document);
  const reasons = new Map(document.results.map(({ id, reason, observed }) => [id, `${observed}; ${reason}`]));
  return [...new Set([...said.keys(), ...asked, ...Object.keys(expected)])].flatMap((scenario): Difference[] => {
    const is = said.get(scenario) ?? 'nothing';
    const due = expected[scenario] ?? 'pass';
    if (is === due) return [];
    const kind = WEIGHT[is] < WEIGHT[due] ? 'false pass' : 'false alarm';
    return [{ kind, scenario, expected: due, said: is, reason: reasons.get(scenario) ?? '' }];
  });
}
