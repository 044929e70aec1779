/** The matrix as the rules see it. */

import type { Played } from '../played.ts';
import type { Uncertain } from '../uncertain-cells.ts';

export interface MatrixFault {
  readonly name: string;
  readonly area: string;
  readonly forbidden: boolean;
  /** Which scenarios show it differs from run to run. */
  readonly comesAndGoes?: boolean;
  readonly equivalentTo?: { readonly name: string; readonly reason: string } | undefined;
}

export interface MatrixProbe {
  readonly id: string;
  readonly suite: string;
  readonly level: 'must' | 'should' | 'info';
  /** Features without which it does not apply. */
  readonly needs?: readonly string[];
}

export interface Matrix {
  readonly faults: readonly MatrixFault[];
  readonly probes: readonly MatrixProbe[];
  /** Probes that need not kill a mutant, each with the reason. */
  readonly exempt: Readonly<Record<string, string>>;
  /** Cells that are left out of `runs`. */
  readonly uncertain: readonly Uncertain[];
  /** Everything once, as often as it was played. */
  readonly runs: readonly (readonly Played[])[];
  /** What could not be played here, with the programs that are missing. */
  readonly leftOut: readonly { readonly name: string; readonly missing: readonly string[] }[];
}

export const RULE_TITLES = {
  survivor: 'Mutants that survive',
  'fails-what-is-allowed': 'Mutants that the specification allows and that fail at level must',
  'idle-probe': 'Probes that kill no mutant',
  'wrong-exemption': 'Exemptions that do not hold',
  alarm: 'Right receivers that raise an alarm',
  'left-out': 'Right receivers that cannot be played here',
  indistinguishable: 'Mutants that nothing tells apart',
  'differing-equivalents': 'Mutants that are declared equivalent and differ',
  'unknown-equivalent': 'Mutants that are declared equivalent to one that does not exist',
  undecided: 'Cells without a verdict',
  flaky: 'Cells that differ from run to run',
} as const;

export interface Complaint {
  readonly rule: keyof typeof RULE_TITLES;
  /** A sentence that names what it is about. */
  readonly message: string;
}

/** What the first run said of every mutant that was played. */
export function firstRun({ runs }: Matrix): ReadonlyMap<string, Played> {
  return new Map((runs[0] ?? []).map((played) => [played.name, played]));
}

/** A few of many, for a message. */
export function several(names: readonly string[], most = 5): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
