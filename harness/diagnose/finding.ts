/** What the diagnosis says: which mistake the endpoint makes, why it happens, and how to mend it. */
export interface Finding {
  /** Stable name of the fault. */
  readonly fault: string;
  readonly title: string;
  readonly why: string;
  readonly fix: string;
}
