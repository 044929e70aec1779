/** Makes the fault dictionary from what was played. Pure: the same outcomes give the same bytes. */
import type { DictionaryFault, FaultDictionary } from '../../harness/diagnose/fault-dictionary.ts';
import type { Fault } from '../../receiver/faults/index.ts';
import { FEATURES } from '../../scenarios/index.ts';
import type { Played } from './played.ts';
import type { Uncertain } from './uncertain-cells.ts';

const byName = (a: { readonly name: string }, b: { readonly name: string }) => (a.name < b.name ? -1 : 1);

function sorted(outcomes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(outcomes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The words of a fault, in a fixed order. */
export function wordsOf(fault: Fault): Omit<DictionaryFault, 'features' | 'outcomes' | 'uncertain' | 'refusal'> {
  const { name, area, title, seen, why, fix, severity, forbidden, equivalentTo } = fault;
  const { rule, express, ...others } = fix;
  return {
    name,
    area,
    title,
    seen,
    why,
    fix: { rule, express, ...sorted(others) },
    severity,
    forbidden,
    ...(equivalentTo && { equivalentTo: { name: equivalentTo.name, reason: equivalentTo.reason } }),
  };
}

/** What was not played is left out. */
export function makeDictionary(
  faults: readonly Fault[],
  played: readonly Played[],
  catalogue: string,
  uncertain: readonly Uncertain[] = [],
): FaultDictionary {
  const said = new Map(played.map((one) => [one.name, one]));
  return {
    schemaVersion: 1,
    catalogue,
    faults: faults.toSorted(byName).flatMap((fault): DictionaryFault[] => {
      const one = said.get(fault.name);
      if (one === undefined) return [];
      const chance = uncertain.find(({ fault: name }) => name === fault.name);
      return [
        {
          ...wordsOf(fault),
          features: FEATURES.filter((feature) => one.features.includes(feature)),
          outcomes: sorted(one.outcomes),
          ...(chance !== undefined && { uncertain: [...chance.scenarios].toSorted() }),
          ...(one.refusal !== null && { refusal: one.refusal }),
        },
      ];
    }),
  };
}

/** One outcome a line, so that a change of one shows as a change of one. */
export function dictionaryText(dictionary: FaultDictionary): string {
  return `${JSON.stringify(dictionary, null, 1)}\n`;
}
