/**
 * A part of the matrix that is enough for every commit. Each mutant plays the scenarios that the dictionary says it turns red, the plain valid
 * delivery, and an eighth of those that it passes, another eighth for each mutant. What comes out otherwise than the dictionary says is played
 * again in full before it counts. Receivers that are right always play everything.
 *
 * It leaves out seven eighths of the passes: that a mutant is turned red by a scenario that passed it before, which neither makes it survive nor
 * a probe idle, may be noticed only by the whole matrix.
 */
import { createHash } from 'node:crypto';
import type { DictionaryFault, FaultDictionary } from '../../harness/diagnose/index.ts';
import type { Played } from './played.ts';

const GATE = 'valid/plain';
const ONE_IN = 8;

function isInSample(fault: string, id: string): boolean {
  return (createHash('sha256').update(`${fault} ${id}`).digest()[0] ?? 0) % ONE_IN === 0;
}

/** The scenarios to play against a mutant; undefined for all of them. */
export function subsetFor(known: DictionaryFault | undefined, ids: readonly string[]): readonly string[] | undefined {
  // Where nothing is accepted nothing else is sent, and where chance decides a part may turn out in any way.
  if (known === undefined || known.refusal !== undefined || known.uncertain !== undefined) return undefined;
  return ids.filter((id) => id === GATE || known.outcomes[id] !== undefined || isInSample(known.name, id));
}

/** The subset of each mutant by name. Empty when the dictionary is of another catalogue, as an absent one is. */
export function subsetsOf(
  dictionary: FaultDictionary,
  catalogue: string,
  ids: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  if (dictionary.catalogue !== catalogue) return new Map();
  return new Map(
    dictionary.faults.flatMap((known) => {
      const subset = subsetFor(known, ids);
      return subset === undefined ? [] : [[known.name, subset] as const];
    }),
  );
}

/** Whether a mutant did in its subset just what the dictionary says. */
export function isAsKnown({ outcomes, undecided, refusal }: Played, known: DictionaryFault): boolean {
  const ids = Object.keys(outcomes);
  return (
    refusal === null &&
    Object.keys(undecided).length === 0 &&
    ids.length === Object.keys(known.outcomes).length &&
    ids.every((id) => outcomes[id] === known.outcomes[id])
  );
}
