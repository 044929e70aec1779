import type { ClaimedEntry, Inbox, OrderProgress, OrderStep, Settlement } from './inbox.ts';
import { type InboxRow, toInboxRow } from './inbox-row.ts';

interface Waiting extends InboxRow {
  readonly seq: number;
  attempts: number;
  dueAt: number;
  claimed: boolean;
}

const OWNER = 'memory';

/**
 * An inbox in memory, for tests and demos. Its contents are lost with the process. It remembers the last `maxIds` ids
 * and orders (default: 100,000), so a duplicate of an older notification counts as new. It rejects notifications while
 * `maxWaiting` others (default: 10,000) wait for their handlers.
 */
export function memoryInbox(options: { maxIds?: number; maxWaiting?: number } = {}): Inbox {
  const { maxIds = 100_000, maxWaiting = 10_000 } = options;
  // A Set iterates in insertion order, so its first id is the oldest.
  const known = new Set<string>();
  const waiting = new WaitingEntries(maxIds);

  const requireSpace = () => {
    if (waiting.size >= maxWaiting) throw new Error('too many notifications are waiting');
  };

  return {
    durable: false,
    // There is no await between the lookup and the insert, so no other delivery can be stored in between.
    async put(delivery) {
      const row = toInboxRow(delivery);
      if (known.has(row.id)) return 'duplicate';
      if (row.state === 'pending') requireSpace();
      known.add(row.id);
      dropOldest(known, maxIds);
      if (row.state === 'pending') waiting.add(row);
      return 'stored';
    },
    claim: async (limit) => waiting.claim(limit),
    settle: async (settlement) => waiting.settle(settlement),
    // Claims in memory need no lease, because they end with the process.
    async extend() {},
    async recover() {
      return 0;
    },
    nextDueMs: async () => waiting.nextDueMs(),
    depths: async () => waiting.countByState(),
    async ping() {
      requireSpace();
    },
    async close() {},
  };
}

/** The entries that wait for their handlers, and the progress of the last `maxOrders` orders. */
class WaitingEntries {
  readonly #maxOrders: number;
  /** Orders by kind and transaction. */
  readonly #orders = new Map<string, OrderProgress & { readonly failed: boolean }>();
  /** Waiting entries by id, in the order of arrival. */
  readonly #byId = new Map<string, Waiting>();
  readonly #byTransaction = new Map<string, Set<Waiting>>();
  #seq = 0;
  #dead = 0;

  constructor(maxOrders: number) {
    this.#maxOrders = maxOrders;
  }

  get size(): number {
    return this.#byId.size;
  }

  add(row: InboxRow): void {
    this.#seq += 1;
    const entry = { ...row, seq: this.#seq, attempts: 0, dueAt: Date.now() + row.waitMs, claimed: false };
    this.#byId.set(entry.id, entry);
    if (entry.transactionId === null) return;
    const others = this.#byTransaction.get(entry.transactionId) ?? new Set();
    this.#byTransaction.set(entry.transactionId, others.add(entry));
  }

  claim(limit: number): ClaimedEntry[] {
    const claims: ClaimedEntry[] = [];
    const now = Date.now();
    for (const entry of this.#byId.values()) {
      if (claims.length >= limit) break;
      if (entry.claimed || !this.#isDue(entry, now) || !this.#isHead(entry)) continue;
      entry.claimed = true;
      entry.attempts += 1;
      claims.push({
        id: entry.id,
        rawBody: entry.rawBody,
        receivedAt: new Date(entry.receivedAt),
        attempt: entry.attempts,
        owner: OWNER,
        progress: this.#orders.get(`${entry.kind} ${entry.transactionId}`) ?? null,
        failedSellSeen: entry.kind === 'REFUND' ? this.#hasFailedSell(entry) : null,
      });
    }
    return claims;
  }

  settle(settlement: Settlement): boolean {
    const entry = this.#byId.get(settlement.claim.id);
    if (entry === undefined || !entry.claimed || entry.attempts !== settlement.claim.attempt) return false;
    if (settlement.state === 'pending') {
      entry.claimed = false;
      entry.dueAt = Date.now() + settlement.delayMs;
      if (settlement.uncounted) entry.attempts -= 1;
      return true;
    }
    this.#remove(entry);
    if (settlement.state === 'dead') this.#dead += 1;
    else if (settlement.order !== null) this.#advanceOrder(settlement.order);
    return true;
  }

  nextDueMs(): number | null {
    const now = Date.now();
    let next = Number.POSITIVE_INFINITY;
    for (const entry of this.#byId.values()) {
      if (entry.claimed || !this.#isHead(entry)) continue;
      next = Math.min(next, this.#isDue(entry, now) ? now : entry.dueAt);
    }
    return Number.isFinite(next) ? next - now : null;
  }

  countByState(): Awaited<ReturnType<Inbox['depths']>> {
    let running = 0;
    for (const { claimed } of this.#byId.values()) if (claimed) running += 1;
    return { pending: this.size - running, running, dead: this.#dead };
  }

  #remove(entry: Waiting): void {
    this.#byId.delete(entry.id);
    const others = this.#byTransaction.get(entry.transactionId ?? '');
    others?.delete(entry);
    if (others?.size === 0) this.#byTransaction.delete(entry.transactionId ?? '');
  }

  #advanceOrder({ key, ...step }: OrderStep): void {
    const before = this.#orders.get(key);
    this.#orders.delete(key);
    this.#orders.set(key, { ...later(before, step), failed: step.failed || before?.failed === true });
    dropOldest(this.#orders, this.#maxOrders);
  }

  /** Returns true when no other entry of the transaction is claimed or must be handled first. */
  #isHead(entry: Waiting): boolean {
    for (const other of this.#byTransaction.get(entry.transactionId ?? '') ?? []) {
      if (other !== entry && (other.claimed || isBefore(other, entry))) return false;
    }
    return true;
  }

  #isDue(entry: Waiting, now: number): boolean {
    return entry.dueAt <= now || (entry.kind === 'REFUND' && entry.attempts === 0 && this.#hasFailedSell(entry));
  }

  #hasFailedSell({ transactionId }: Waiting): boolean {
    return this.#orders.get(`CAAS_SELL ${transactionId}`)?.failed === true;
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return one.position < other.position || (one.position === other.position && one.seq < other.seq);
}

function later(one: OrderProgress | undefined, other: OrderProgress): OrderProgress {
  if (one === undefined) return other;
  return other.rank > one.rank || (other.rank === one.rank && other.at > one.at) ? other : one;
}

function dropOldest(collection: Set<string> | Map<string, unknown>, maxSize: number): void {
  if (collection.size <= maxSize) return;
  for (const oldest of collection.keys()) {
    collection.delete(oldest);
    return;
  }
}
