/** What the matrix keeps of one run: the raw material of every rule, of the dictionary and of the document. */
export interface Played {
  /** The name of the mutant; `none` and `none-over-tls` for the right receiver; `correct:NAME` for one that is right and different. */
  readonly name: string;
  readonly durationMs: number;
  /** What was on. */
  readonly features: readonly string[];
  /** Scenario to outcome: only what is not a pass; `no verdict` where nothing was proved. */
  readonly outcomes: Readonly<Record<string, string>>;
  /** The scenarios that applied. */
  readonly judged: readonly string[];
}
