/** What the matrix keeps of one run: the raw material of every rule, of the dictionary and of the document. */
export interface Played {
  /** The name of the mutant; `none` and `none-over-tls` for the right receiver; `correct:NAME` for one that is right and different. */
  readonly name: string;
  readonly kind: 'fault' | 'right' | 'correct';
  readonly durationMs: number;
  /** What was on. */
  readonly features: readonly string[];
  /** Scenario to outcome (`fail 200`, `warn 400`, ...): what was judged and is not a pass. */
  readonly outcomes: Readonly<Record<string, string>>;
  /** The scenarios that got no verdict, each with the reason. */
  readonly undecided: Readonly<Record<string, string>>;
  /** Why the run could not go on to its end: no plain valid delivery was accepted at all, or none any more. Null when it could. */
  readonly stopped: 'gate' | 'down' | 'rate-limited' | null;
  /** When none was accepted at all: what the endpoint was found to behave like. */
  readonly refusal: string | null;
  /** How many scenarios were judged. */
  readonly judged: number;
}
