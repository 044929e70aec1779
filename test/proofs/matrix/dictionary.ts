/** Makes the outcomes of the fault dictionary from what was played. Pure: the same outcomes give the same bytes. */

import { createHash } from 'node:crypto';
import type { FaultOutcomes, OutcomesFile } from '../../../harness/diagnose/fault-dictionary.ts';
import type { DictionaryFault, FaultDictionary } from '../../../harness/diagnose/index.ts';
import { FEATURES } from '../../../scenarios/index.ts';
import type { Uncertain } from './exceptions.ts';
import type { Played } from './play.ts';

function sorted(outcomes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(outcomes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Of the mutants that were played; the reference receiver and the other correct receivers are left out. */
export function makeOutcomes(
  played: readonly Played[],
  catalogue: string,
  uncertain: readonly Uncertain[] = [],
): OutcomesFile {
  const mutants = played.filter(({ kind }) => kind === 'fault').toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    schemaVersion: 2,
    catalogue,
    faults: mutants.map(({ name, features, outcomes, refusal }): FaultOutcomes => {
      const chance = uncertain.find(({ fault }) => fault === name);
      return {
        name,
        features: FEATURES.filter((feature) => features.includes(feature)),
        outcomes: sorted(outcomes),
        ...(chance !== undefined && { uncertain: [...chance.scenarios].toSorted() }),
        ...(refusal !== null && { refusal }),
      };
    }),
  };
}

/** One line a mutant, so that a change of one shows as a change of one. */
export function outcomesText({ faults, ...head }: OutcomesFile): string {
  const lines = faults.map((fault) => JSON.stringify(fault)).join(',\n');
  return `${JSON.stringify(head).slice(0, -1)},"faults":[\n${lines}\n]}\n`;
}

/**
 * A part of the matrix that is enough for every commit. Each mutant plays the scenarios that the dictionary says it turns red, the plain valid
 * delivery, and an eighth of those that it passes, another eighth for each mutant. What comes out otherwise than the dictionary says is played
 * again in full before it counts. Receivers that are right always play everything.
 *
 * It leaves out seven eighths of the passes: that a mutant is turned red by a scenario that passed it before, which neither makes it survive nor
 * a probe idle, may be noticed only by the whole matrix.
 */

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
