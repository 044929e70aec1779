/**
 * The outcomes of the fault dictionary, made from what the matrix played, and the part of the matrix that is enough for
 * a commit.
 */

import { createHash } from 'node:crypto';
import type { FaultOutcomes, OutcomesFile } from '../../../harness/diagnose/fault-dictionary.ts';
import type { DictionaryFault, FaultDictionary } from '../../../harness/diagnose/index.ts';
import { describeFault, FAULTS } from '../../../mutants/index.ts';
import { FEATURES } from '../../../scenarios/index.ts';
import type { Uncertain } from './exceptions.ts';
import type { Played } from './play.ts';

function sorted(outcomes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(outcomes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the outcomes of the mutants only, without correct receivers. */
export function makeOutcomes(
  played: readonly Played[],
  catalogue: string,
  uncertain: readonly Uncertain[] = [],
): OutcomesFile {
  const mutants = played.filter(({ kind }) => kind === 'fault').toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return {
    schemaVersion: 2,
    catalogue,
    mutants: describeFaults(mutants.map(({ name }) => name)),
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

/** Returns the recorded outcomes of mutants as if they had just been played. */
export function playedBefore(faults: readonly FaultOutcomes[]): Played[] {
  return faults.map(({ name, features, outcomes, refusal = null }) => {
    const nothing = { durationMs: 0, undecided: {}, stopped: null, judged: 0 };
    return { name, kind: 'fault', features, outcomes, refusal, ...nothing };
  });
}

/** Returns the descriptions of the mutants with these names, in their order. */
export function describeFaults(names: readonly string[]): OutcomesFile['mutants'] {
  return names.flatMap((name) => FAULTS.filter((fault) => fault.name === name).map(describeFault));
}

/** Formats the file with one line per mutant and list, so that a change of one mutant changes one line. */
export function outcomesText({ mutants, faults, ...head }: OutcomesFile): string {
  const list = (rows: readonly object[]) => `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]`;
  return `${JSON.stringify(head).slice(0, -1)},"mutants":${list(mutants)},"faults":${list(faults)}}\n`;
}

/**
 * A part of the matrix for every commit. Each mutant plays the scenarios that turn it red, the plain valid delivery,
 * and an eighth of the others, a different eighth for each mutant. A mutant whose outcomes differ from the recorded
 * ones is played again in full before it counts. Correct receivers always play everything. A scenario that newly turns
 * a mutant red may be missed; only the whole matrix finds all of them.
 */

/** The plain valid delivery. Unless it is accepted, nothing else is sent. */
export const GATE = 'valid/plain';
const ONE_IN = 8;

function isInSample(fault: string, id: string): boolean {
  return (createHash('sha256').update(`${fault} ${id}`).digest()[0] ?? 0) % ONE_IN === 0;
}

/** Returns the scenarios to play against a mutant. Undefined means all of them. */
export function subsetFor(known: DictionaryFault | undefined, ids: readonly string[]): readonly string[] | undefined {
  // If nothing is accepted, nothing else is sent; if outcomes are random, a part proves nothing.
  if (known === undefined || known.refusal !== undefined || known.uncertain !== undefined) return undefined;
  return ids.filter((id) => id === GATE || known.outcomes[id] !== undefined || isInSample(known.name, id));
}

/** Returns the scenarios to play, by mutant. Empty if the dictionary is missing or belongs to another catalogue. */
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

/** Returns whether a mutant had exactly the recorded outcomes. */
export function isAsKnown({ outcomes, undecided, refusal }: Played, known: DictionaryFault): boolean {
  const ids = Object.keys(outcomes);
  return (
    refusal === null &&
    Object.keys(undecided).length === 0 &&
    ids.length === Object.keys(known.outcomes).length &&
    ids.every((id) => outcomes[id] === known.outcomes[id])
  );
}
