/** The interface of an inbox, which stores accepted notifications until they are handled, and detects duplicates. */
import type { ReceivedNotification } from '../../contract/index.ts';

/** A notification that passed every check. */
export interface AcceptedDelivery {
  readonly notification: ReceivedNotification;
  /** The body as received. */
  readonly rawBody: Buffer;
  readonly receivedAt: Date;
  /** True when the receiver must handle the notification. Otherwise it is stored as done. */
  readonly handle: boolean;
  /** Maximum time to wait for another notification that must be handled first, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/**
 * - `pending`: waiting for its handler or, after a failed attempt, for the next attempt
 * - `running`: claimed by a receiver
 * - `done`: handled, or stored without a handler
 * - `superseded`: an order status that arrived too late; the handler of its kind was not called
 * - `dead`: the last attempt failed; an operator must examine the entry
 */
export const ENTRY_STATES = ['pending', 'running', 'done', 'superseded', 'dead'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

/** How far an order has progressed. Compared by rank, then by time. */
export interface OrderProgress {
  readonly rank: number;
  readonly at: number;
}

/** An entry that only this receiver has claimed. */
export interface ClaimedEntry {
  readonly id: string;
  readonly rawBody: Buffer;
  readonly receivedAt: Date;
  /** Number of attempts, including this one. Together with `owner`, it identifies this claim. */
  readonly attempt: number;
  readonly owner: string;
  /** Progress of the order before this entry. Null when no notification of the order has been handled yet. */
  readonly progress: OrderProgress | null;
  /** For a REFUND: true when the failed SELL that precedes it was handled. Null for every other kind. */
  readonly failedSellSeen: boolean | null;
}

/**
 * The progress of an order that a notification reports. `failed` is true for a failed status, which the inbox keeps for
 * the REFUND even if another status follows.
 */
export type OrderStep = OrderProgress & { readonly key: string; readonly failed: boolean };

/** The result of handling a claimed entry. */
export type Settlement = { readonly claim: ClaimedEntry } & (
  | { readonly state: 'done' | 'superseded'; readonly order: OrderStep | null }
  | { readonly state: 'dead'; readonly error: string }
  /** The entry is retried after `delayMs` milliseconds. With `uncounted`, the attempt is not counted. */
  | { readonly state: 'pending'; readonly delayMs: number; readonly error: string | null; readonly uncounted?: true }
);

/**
 * Stores accepted notifications by id. Every method rejects while the store is unreachable, and works again afterwards.
 */
export interface Inbox {
  /** True when the store survives the process. Claims then have leases, which must be extended. */
  readonly durable: boolean;
  /**
   * Stores a delivery unless its id is known, and resolves when the result is durable. An implementation must decide
   * atomically (with a unique key, not with a query followed by an insert), because copies of a notification can arrive
   * at the same time. When `put` rejects, the sender gets 503 and delivers again.
   */
  put(delivery: AcceptedDelivery): Promise<'stored' | 'duplicate'>;
  /**
   * Claims up to `limit` due entries for `leaseMs` milliseconds: at most one per transaction at a time, in the order of
   * the transaction. No entry is claimed by two receivers at the same time.
   */
  claim(limit: number, leaseMs: number): Promise<readonly ClaimedEntry[]>;
  /**
   * Ends a claim. Resolves with false, and writes nothing, when the lease has expired and another receiver has claimed
   * the entry.
   */
  settle(settlement: Settlement): Promise<boolean>;
  /** Extends the leases of these claims to `leaseMs` milliseconds from now. */
  extend(claims: readonly ClaimedEntry[], leaseMs: number): Promise<void>;
  /**
   * Ends claims whose leases have expired because their receivers are gone. The entries become pending, or dead after
   * `maxAttempts` attempts. Call this regularly. Resolves with the number of entries.
   */
  recover(maxAttempts: number): Promise<number>;
  /**
   * Resolves with the number of milliseconds until the next entry can be claimed: 0 when one is due, null when none
   * waits.
   */
  nextDueMs(): Promise<number | null>;
  /** Resolves with the number of entries in each state that needs work. */
  depths(): Promise<Readonly<Record<'pending' | 'running' | 'dead', number>>>;
  /**
   * Rejects when the store cannot store deliveries. After a failed `put`, it tries a write, so that the store becomes
   * ready again even when no deliveries arrive.
   */
  ping(): Promise<void>;
  /** Finishes writes in progress, and closes the store. */
  close(): Promise<void>;
}

/** A stored notification without its body, and its state. */
export interface EntrySummary {
  /** Sequence number in the order of arrival. */
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

/** Selects entries that match all given conditions. */
export interface EntryFilter {
  readonly ids?: readonly string[];
  readonly states?: readonly EntryState[];
  readonly kinds?: readonly string[];
  readonly transactionId?: string;
  /** Received at this time or later. */
  readonly since?: Date;
  /** Received before this time. */
  readonly until?: Date;
  /** Prefix of the id. */
  readonly idPrefix?: string;
  /** Done, superseded or dead before this time. */
  readonly settledBefore?: Date;
  readonly upToSeq?: number;
}

/**
 * Selects at most `limit` entries after `afterSeq`, in the order of arrival. With `newestFirst`, selects entries before
 * `afterSeq`, in reverse order.
 */
export interface EntryPage {
  readonly limit: number;
  readonly afterSeq?: number;
  readonly newestFirst?: boolean;
}

/** An inbox that survives the process, and whose entries can be listed. */
export interface DurableInbox extends Inbox {
  list(filter: EntryFilter, page: EntryPage): Promise<InboxEntry[]>;
  /**
   * Makes entries due again with all their attempts, except running entries. Resolves with the number of changed
   * entries.
   */
  replay(filter: EntryFilter): Promise<number>;
}

/** Called with warnings about the store. They never contain the URL of the store, which can include a password. */
export type InboxWarning = (event: string, message: string, cause?: unknown) => void;

/** Receives durations of storing and handling, in seconds. Used for metrics. */
export interface InboxMeter {
  /** Called when a delivery was stored or found to be a duplicate. */
  stored(seconds: number): void;
  /** Called after a transaction with this number of writes. */
  committed(writes: number, seconds: number): void;
  /** Called when a handler has ended or an entry was superseded. */
  handled(kind: string, outcome: 'done' | 'failed' | 'dead' | 'superseded', seconds: number): void;
}

export const silentMeter: InboxMeter = { stored() {}, committed() {}, handled() {} };
