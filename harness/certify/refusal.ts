/** A reason not to issue a certificate. */

export interface Refusal {
  /** Stable, for programs. */
  readonly code: string;
  /** What is in the way, one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly fix: string;
  /** The exit code that it asks for, by the table of the house: 1 the endpoint, 2 what was asked for, 3 no verdict, 4 hookproof itself. */
  readonly exit: 1 | 2 | 3 | 4;
}

const PRECEDENCE = [4, 1, 2, 3] as const;

/** The exit code of several refusals: the one that weighs most. 0 without any. */
export function exitCodeOfRefusals(refusals: readonly Refusal[]): 0 | 1 | 2 | 3 | 4 {
  return PRECEDENCE.find((code) => refusals.some(({ exit }) => exit === code)) ?? 0;
}

/** Up to eight names, and how many more there are. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
