/** What every look at the endpoint keeps to. */
export interface Limits {
  /** Milliseconds for one connection with all that is done on it. */
  readonly timeoutMs: number;
  /** Breaks everything off. */
  readonly signal: AbortSignal;
}
