/** Makes the outcomes of the fault dictionary from what was played. Pure: the same outcomes give the same bytes. */
import type { FaultOutcomes, OutcomesFile } from '../../harness/diagnose/fault-dictionary.ts';
import { FEATURES } from '../../scenarios/index.ts';
import type { Played } from './played.ts';
import type { Uncertain } from './uncertain-cells.ts';

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
