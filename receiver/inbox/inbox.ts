/** What an inbox is: where accepted notifications are kept until they are handled, and how duplicates are told. */
import type { ReceivedNotification } from '../../contract/index.ts';

/** A notification that passed every check. */
export interface AcceptedDelivery {
  readonly notification: ReceivedNotification;
  /** The body as it came. */
  readonly rawBody: Buffer;
  readonly receivedAt: Date;
  /** Whether a handler is to see it. What none is waiting for is kept, and done at once. */
  readonly handle: boolean;
  /** For a notification that waits for another one: how long at most, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/**
 * - `pending`: waits for its handler, at once or (after a failed attempt) later
 * - `running`: a receiver has claimed it
 * - `done`: its handler has ended well, or there was none for it
 * - `superseded`: an order status that came too late; no handler saw it
 * - `dead`: its handler failed for the last time; somebody has to look at it
 */
export const ENTRY_STATES = ['pending', 'running', 'done', 'superseded', 'dead'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** How far an order has come, by the notifications that were handled. Later is larger: first by rank, then by time. */
export interface OrderProgress {
  readonly rank: number;
  readonly at: number;
}

/** An entry that this receiver has claimed, and nobody else. */
export interface ClaimedEntry {
  readonly id: string;
  readonly rawBody: Buffer;
  readonly receivedAt: Date;
  /** How many attempts there were, this one included. Together with `owner` it tells this claim from every other. */
  readonly attempt: number;
  readonly owner: string;
  /** Of the order that it belongs to, before it. Null when nothing of the order was handled yet. */
  readonly progress: OrderProgress | null;
  /** For a REFUND: whether the failed SELL before it was handled. Null for everything else. */
  readonly failedSellSeen: boolean | null;
}

/** What a notification says of its order. `failed` is remembered for the REFUND, whatever comes after it. */
export type OrderStep = OrderProgress & { readonly key: string; readonly failed: boolean };

/** What came of a claim. */
export type Settlement = { readonly claim: ClaimedEntry } & (
  | { readonly state: 'done' | 'superseded'; readonly order: OrderStep | null }
  | { readonly state: 'dead'; readonly error: string }
  /** To be tried again after `delayMs`. `uncounted` takes the attempt back: it was none. */
  | { readonly state: 'pending'; readonly delayMs: number; readonly error: string | null; readonly uncounted?: true }
);

/**
 * A store of accepted notifications, by id. Every method rejects when the store cannot be reached, and works again when it can: none gives
 * up for good.
 */
export interface Inbox {
  /** Whether it outlives the process, and other receivers may share it. */
  readonly durable: boolean;
  /**
   * Keeps a delivery unless its id is known, and resolves once that is durable. Has to decide in one step (a unique key, not "look, then
   * insert"): copies of a notification can arrive at the same instant. When it rejects, the sender is told 503 and delivers again.
   */
  put(delivery: AcceptedDelivery): Promise<'stored' | 'duplicate'>;
  /**
   * Claims up to `limit` entries that are due, for `leaseMs` milliseconds: in their order within a transaction, and only one of a
   * transaction at a time. No entry is claimed by two.
   */
  claim(limit: number, leaseMs: number): Promise<readonly ClaimedEntry[]>;
  /** Ends a claim. False when the lease had run out and somebody else has the entry: then nothing is written. */
  settle(settlement: Settlement): Promise<boolean>;
  /** Extends the leases of this receiver's claims. */
  extend(claims: readonly ClaimedEntry[], leaseMs: number): Promise<void>;
  /**
   * Gives back what was claimed and whose lease has run out, because its receiver lives no more; what was attempted `maxAttempts` times is dead.
   * To be called now and then. Gives how many entries it were.
   */
  recover(maxAttempts: number): Promise<number>;
  /** In how many milliseconds the next entry can be claimed: 0 when one can be by now. Null when none waits for a time. */
  nextDueMs(): Promise<number | null>;
  /** How many entries are in each state that is not over: what waits, what runs, what is dead. */
  depths(): Promise<Readonly<Record<'pending' | 'running' | 'dead', number>>>;
  /** Rejects when the store cannot be reached. */
  ping(): Promise<void>;
  /** Ends the use. What is under way is finished first. */
  close(): Promise<void>;
}

/** What an inbox keeps of a notification, and where it stands. */
export interface EntrySummary {
  /** The order of arrival. */
  readonly seq: number;
  readonly id: string;
  readonly kind: string;
  readonly type: string;
  readonly transactionId: string | null;
  readonly status: string | null;
  readonly at: Date | null;
  readonly receivedAt: Date;
  readonly state: EntryState;
  readonly attempts: number;
  readonly dueAt: Date | null;
  readonly lastError: string | null;
  readonly settledAt: Date | null;
  readonly bodyBytes: number;
}

export interface InboxEntry extends EntrySummary {
  /** The body as it came, byte for byte. */
  readonly rawBody: Buffer;
}

/** Which entries are meant. Everything that is given has to be so. */
export interface EntryFilter {
  readonly ids?: readonly string[];
  readonly states?: readonly EntryState[];
  readonly kinds?: readonly string[];
  readonly transactionId?: string;
  /** Received at this time or later. */
  readonly since?: Date;
  /** Received before this time. */
  readonly until?: Date;
  /** How the id begins. */
  readonly idPrefix?: string;
  /** Done, superseded or dead before this time. */
  readonly settledBefore?: Date;
  readonly upToSeq?: number;
}

/** In the order of arrival, at most `limit` of those after `afterSeq`. `newestFirst` turns it around: those before `afterSeq`. */
export interface EntryPage {
  readonly limit: number;
  readonly afterSeq?: number;
  readonly newestFirst?: boolean;
}

/** An inbox that outlives the process, and can be looked into. */
export interface DurableInbox extends Inbox {
  list(filter: EntryFilter, page: EntryPage): Promise<InboxEntry[]>;
  /** Makes entries due again, with all their attempts before them. What is running is left alone. Gives how many it were. */
  replay(filter: EntryFilter): Promise<number>;
}
