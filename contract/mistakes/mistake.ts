import type { Stack } from '../stacks.ts';

/**
 * One thing that a receiver does wrong. Checks, mutants and findings refer to it by its id. A sender can make signing
 * mistakes as well, so their texts apply to both sides.
 */
export interface Mistake {
  /** The behaviour of the receiver, without a full stop: "Compares only a part of the signature". */
  readonly title: string;
  /** Where this occurs in real code, or which symptom shows it. */
  readonly seen: string;
  /** The consequence in production. */
  readonly why: string;
  /** The rule for every stack, and code for the stacks that have their own. */
  readonly fix: FixByStack;
  readonly severity: Severity;
  /** CWE number (Common Weakness Enumeration). */
  readonly cwe: number;
  /** Ids of all other mistakes that the checks also find in a receiver with this mistake. */
  readonly implies?: readonly string[];
}

export type FixByStack = { readonly rule: string } & Readonly<Partial<Record<Stack, string>>>;

type Severity = 'critical' | 'high' | 'medium' | 'low';

/** Declares a table of mistakes by id. Its type keeps the ids, so a reference to a missing id is a type error. */
export const mistakes = <Id extends string>(table: Readonly<Record<Id, Mistake>>) => table;

/** Splits lines of space-separated ids into a list. */
export const ids = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));
