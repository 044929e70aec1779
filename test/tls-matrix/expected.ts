/** What a run has to say of a server, written by hand, and where what it said differs. Nothing here is taken from the catalogue. */
import type { ResultDocument, ScenarioResult } from '../../harness/index.ts';

/** A verdict; `recorded` is a pass with something to say about it. */
export type Word = 'pass' | 'recorded' | 'warn' | 'fail' | 'inconclusive' | 'not-applicable' | 'harness-error';

/** The scenarios that do not simply pass, by id. */
export type Expected = Readonly<Record<string, Exclude<Word, 'pass'>>>;

export interface Difference {
  /** `false pass`: a fault was called for and not seen. `false alarm`: something right was called wrong, or got no verdict. */
  readonly kind: 'false pass' | 'false alarm';
  readonly scenario: string;
  readonly expected: Word | 'nothing';
  readonly said: Word | 'nothing';
  readonly reason: string;
}

/** The same verdict for several scenarios. */
export function all(word: Expected[string], ids: readonly string[]): Expected {
  return Object.fromEntries(ids.map((id) => [id, word]));
}

/** Every verdict of a run, by scenario. */
export function saidIn({ results }: ResultDocument): ReadonlyMap<string, Word> {
  return new Map(results.map((result) => [result.id, wordFor(result)]));
}

function wordFor({ verdict, reason }: ScenarioResult): Word {
  return verdict === 'pass' && reason !== '' ? 'recorded' : verdict;
}

const COMPLAINTS: readonly Word[] = ['warn', 'fail', 'inconclusive'];

/** Where a run differs from what it has to say; empty when it is right in everything. */
export function differences(expected: Expected, document: ResultDocument): Difference[] {
  const said = saidIn(document);
  const reasons = new Map(document.results.map(({ id, reason, observed }) => [id, `${observed}; ${reason}`]));
  return [...new Set([...said.keys(), ...Object.keys(expected)])].flatMap((scenario): Difference[] => {
    const is = said.get(scenario) ?? 'nothing';
    const due = expected[scenario] ?? 'pass';
    if (is === due) return [];
    const missed = (COMPLAINTS as readonly string[]).includes(due) && !(is === 'fail' || is === 'warn');
    const kind = missed || is === 'nothing' ? 'false pass' : 'false alarm';
    return [{ kind, scenario, expected: due, said: is, reason: reasons.get(scenario) ?? '' }];
  });
}
