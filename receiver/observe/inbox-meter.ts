/** What the inbox and the handling tell about themselves. Times are in seconds. None of it throws or waits. */
export interface InboxMeter {
  /** One delivery was stored: from the call of the store to its durable answer. */
  stored(seconds: number): void;
  /** One transaction was committed, with so many deliveries in it. */
  committed(rows: number, seconds: number): void;
  /**
   * One attempt of a handler ended. `failed`: it is tried again; `dead`: it is not; `superseded`: it was not called, because something newer
   * made it pointless.
   */
  handled(kind: string, outcome: 'done' | 'failed' | 'dead' | 'superseded', seconds: number): void;
}

/** How many notifications are in each state: `{ waiting: 3, dead: 1 }`. Asked at every scrape, with a time limit. */
export type QueueDepths = () => Promise<Readonly<Record<string, number>>>;
