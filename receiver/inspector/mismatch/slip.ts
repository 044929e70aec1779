/** One known way to get a signature wrong. */
export interface Slip {
  /** In kebab-case. */
  readonly name: string;
  /** What the sender did, as a sentence. */
  readonly title: string;
  readonly fix: string;
  /** Likely enough to be tried together with slips of another kind. */
  readonly common?: true;
}
