/** What an inbox and the handling tell whoever measures. Durations in seconds. */
export interface InboxMeter {
  /** A delivery was stored or known, from the question to the durable answer. */
  stored(seconds: number): void;
  /** One transaction with so many writes. */
  committed(writes: number, seconds: number): void;
  /** A handler ended, or an entry was passed over. */
  handled(kind: string, outcome: 'done' | 'failed' | 'dead' | 'superseded', seconds: number): void;
}

export const silentMeter: InboxMeter = { stored() {}, committed() {}, handled() {} };
