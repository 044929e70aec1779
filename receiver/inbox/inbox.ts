/**
 * The inbox interface: where accepted notifications are stored until they are handled, and where duplicates are
 * detected.
 */
import type { ReceivedNotification } from '../../contract/index.ts';

/** A notification that passed every check. */
export interface AcceptedDelivery {
  readonly notification: ReceivedNotification;
  /** The body as received. */
  readonly rawBody: Buffer;
  readonly receivedAt: Date;
  /** Whether there is a handler for it. Otherwise it is stored as done. */
  readonly handle: boolean;
  /** The maximum time to wait for another notification that comes first, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/**
 * - `pending`: waits for its handler, or (after a failed attempt) for the next attempt
 * - `running`: a receiver has claimed it
 * - `done`: its handler succeeded, or there was none for it
 * - `superseded`: an order status that arrived too late; no handler saw it
 * - `dead`: its last attempt failed; an operator has to look at it
 */
export const ENTRY_STATES = ['pending', 'running', 'done', 'superseded', 'dead'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** The progress of an order, by the notifications that were handled. Compared by rank, then by time. */
export interface OrderProgress {
  readonly rank: number;
  readonly at: number;
}

/** An entry that this receiver has claimed, and no other. */
export interface ClaimedEntry {
  readonly id: string;
  readonly rawBody: Buffer;
  readonly receivedAt: Date;
  /** The number of attempts, including this one. Together with `owner` it identifies this claim. */
  readonly attempt: number;
  readonly owner: string;
  /** The progress of its order before this entry. Null when no notification of the order has been handled yet. */
  readonly progress: OrderProgress | null;
  /** For a REFUND: whether the failed SELL that precedes it was handled. Null for every other kind. */
  readonly failedSellSeen: boolean | null;
}

/** What a notification reports about its order. `failed` is remembered for the REFUND, whatever follows. */
export type OrderStep = OrderProgress & { readonly key: string; readonly failed: boolean };

/** The result of a claim. */
export type Settlement = { readonly claim: ClaimedEntry } & (
  | { readonly state: 'done' | 'superseded'; readonly order: OrderStep | null }
  | { readonly state: 'dead'; readonly error: string }
  /** To be retried after `delayMs`. `uncounted`: the attempt does not count. */
  | { readonly state: 'pending'; readonly delayMs: number; readonly error: string | null; readonly uncounted?: true }
);

/**
 * A store of accepted notifications, by id. Every method rejects while the store is unreachable, and works again
 * afterwards.
 */
export interface Inbox {
  /** Whether it survives the process, and other receivers can share it. */
  readonly durable: boolean;
  /**
   * Stores a delivery unless its id is known, and resolves when that is durable. Must decide atomically (a unique key,
   * not a query followed by an insert): copies of a notification can arrive at the same time. When it rejects, the
   * sender gets 503 and delivers again.
   */
  put(delivery: AcceptedDelivery): Promise<'stored' | 'duplicate'>;
  /**
   * Claims up to `limit` due entries for `leaseMs` milliseconds: one per transaction at a time, in the order of the
   * transaction. No entry is claimed by two receivers.
   */
  claim(limit: number, leaseMs: number): Promise<readonly ClaimedEntry[]>;
  /** Ends a claim. False when the lease expired and another receiver has the entry: then nothing is written. */
  settle(settlement: Settlement): Promise<boolean>;
  /** Extends the leases of this receiver's claims. */
  extend(claims: readonly ClaimedEntry[], leaseMs: number): Promise<void>;
  /**
   * Ends claims whose lease has expired because their receiver is gone: the entries are pending again, or dead after
   * `maxAttempts` attempts. Call it regularly. Resolves with their number.
   */
  recover(maxAttempts: number): Promise<number>;
  /** In how many milliseconds the next entry can be claimed: 0 when one is due. Null when no entry waits for a time. */
  nextDueMs(): Promise<number | null>;
  /** The number of entries in each state that needs work. */
  depths(): Promise<Readonly<Record<'pending' | 'running' | 'dead', number>>>;
  /**
   * Rejects when the store cannot store deliveries. After one that it could not store, it tries a write: so it is ready
   * again also without traffic.
   */
  ping(): Promise<void>;
  /** Finishes writes that are under way, and closes the store. */
  close(): Promise<void>;
}

/** What an inbox stores of a notification, and its state. */
export interface EntrySummary {
  /** Increases in the order of arrival. */
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
  /** The body as received, byte for byte. */
  readonly rawBody: Buffer;
}

/** Selects entries. All given conditions must hold. */
export interface EntryFilter {
  readonly ids?: readonly string[];
  readonly states?: readonly EntryState[];
  readonly kinds?: readonly string[];
  readonly transactionId?: string;
  /** Received at this time or later. */
  readonly since?: Date;
  /** Received before this time. */
  readonly until?: Date;
  /** The beginning of the id. */
  readonly idPrefix?: string;
  /** Done, superseded or dead before this time. */
  readonly settledBefore?: Date;
  readonly upToSeq?: number;
}

/**
 * At most `limit` entries after `afterSeq`, in the order of arrival. With `newestFirst` in reverse order: those before
 * `afterSeq`.
 */
export interface EntryPage {
  readonly limit: number;
  readonly afterSeq?: number;
  readonly newestFirst?: boolean;
}

/** An inbox that survives the process, and whose entries can be listed. */
export interface DurableInbox extends Inbox {
  list(filter: EntryFilter, page: EntryPage): Promise<InboxEntry[]>;
  /** Makes entries due again, with all their attempts, except running ones. Resolves with their number. */
  replay(filter: EntryFilter): Promise<number>;
}

/** Is called with warnings about the store. They contain no part of its URL, which can hold a password. */
export type InboxWarning = (event: string, message: string, cause?: unknown) => void;

/** Is notified of the durations of storing and handling, in seconds. For metrics. */
export interface InboxMeter {
  /** A delivery was stored, or known already. */
  stored(seconds: number): void;
  /** One transaction with this number of writes. */
  committed(writes: number, seconds: number): void;
  /** A handler ended, or an entry was superseded. */
  handled(kind: string, outcome: 'done' | 'failed' | 'dead' | 'superseded', seconds: number): void;
}

export const silentMeter: InboxMeter = { stored() {}, committed() {}, handled() {} };
