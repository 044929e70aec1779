import type { Stack } from '../stacks.ts';

/**
 * What a receiver does wrong, described once. Checks, mutants and findings refer to it by its id. Where a sender can
 * make the same mistake (signing), the texts hold for both.
 */
export interface Mistake {
  /** The defect as the receiver's behaviour, without a full stop: "Compares only a part of the signature". */
  readonly title: string;
  /** Where real code has it, or what shows it. */
  readonly seen: string;
  /** The consequence in production. */
  readonly why: string;
  /** The rule for every stack, and code for the stacks where it differs. */
  readonly fix: FixByStack;
  readonly severity: Severity;
  /** The number of its class in the Common Weakness Enumeration. */
  readonly cwe: number;
  /** The ids of mistakes whose checks a receiver with this one fails as well: its consequences, complete. */
  readonly implies?: readonly string[];
}

export type FixByStack = { readonly rule: string } & Readonly<Partial<Record<Stack, string>>>;

type Severity = 'critical' | 'high' | 'medium' | 'low';

/** A table of mistakes by id. Keeps the ids as a type, so that a reference to a missing one does not compile. */
export const mistakes = <Id extends string>(table: Readonly<Record<Id, Mistake>>) => table;

/** Ids, given as lines of several. */
export const ids = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));
