import type { ClaimedEntry, Inbox, OrderProgress } from './inbox.ts';
import { type InboxRow, toInboxRow } from './inbox-row.ts';

interface Waiting extends InboxRow {
  readonly seq: number;
  attempts: number;
  dueAt: number;
  claimed: boolean;
}

const OWNER = 'memory';

/**
 * An inbox in memory, for tests and demos. It is lost with the process. It remembers the last `maxIds` ids and orders
 * (100,000 by default): a duplicate of an older one counts as new. While `maxWaiting` notifications wait for their
 * handlers (10,000 by default), it accepts no others.
 */
export function memoryInbox(options: { maxIds?: number; maxWaiting?: number } = {}): Inbox {
  const { maxIds = 100_000, maxWaiting = 10_000 } = options;
  // Sets and Maps keep the order of insertion, so the first one is the oldest.
  const known = new Set<string>();
  const orders = new Map<string, OrderProgress & { failed: boolean }>();
  const waiting = new Map<string, Waiting>();
  const transactions = new Map<string, Set<Waiting>>();
  let seq = 0;
  let dead = 0;

  const isHead = (entry: Waiting): boolean => {
    for (const other of transactions.get(entry.transactionId ?? '') ?? []) {
      if (other !== entry && (other.claimed || isBefore(other, entry))) return false;
    }
    return true;
  };
  const failedSellSeen = (entry: Waiting) => orders.get(`CAAS_SELL ${entry.transactionId}`)?.failed === true;
  const isDue = (entry: Waiting, now: number): boolean =>
    entry.dueAt <= now || (entry.kind === 'REFUND' && entry.attempts === 0 && failedSellSeen(entry));

  const checkRoom = () => {
    if (waiting.size >= maxWaiting) throw new Error('too many notifications are waiting');
  };
  const forget = (entry: Waiting) => {
    waiting.delete(entry.id);
    const others = transactions.get(entry.transactionId ?? '');
    others?.delete(entry);
    if (others?.size === 0) transactions.delete(entry.transactionId ?? '');
  };

  return {
    durable: false,
    // No await between the lookup and the insert: no other delivery can interleave.
    async put(delivery) {
      const row = toInboxRow(delivery);
      if (known.has(row.id)) return 'duplicate';
      if (row.state === 'pending') checkRoom();
      known.add(row.id);
      dropOldest(known, maxIds);
      if (row.state === 'done') return 'stored';
      seq += 1;
      const entry = { ...row, seq, attempts: 0, dueAt: Date.now() + row.waitMs, claimed: false };
      waiting.set(entry.id, entry);
      if (entry.transactionId !== null) {
        const others = transactions.get(entry.transactionId) ?? new Set();
        transactions.set(entry.transactionId, others.add(entry));
      }
      return 'stored';
    },
    async claim(limit) {
      const claims: ClaimedEntry[] = [];
      const now = Date.now();
      for (const entry of waiting.values()) {
        if (claims.length >= limit) break;
        if (entry.claimed || !isDue(entry, now) || !isHead(entry)) continue;
        entry.claimed = true;
        entry.attempts += 1;
        claims.push({
          id: entry.id,
          rawBody: entry.rawBody,
          receivedAt: new Date(entry.receivedAt),
          attempt: entry.attempts,
          owner: OWNER,
          progress: orders.get(`${entry.kind} ${entry.transactionId}`) ?? null,
          failedSellSeen: entry.kind === 'REFUND' ? failedSellSeen(entry) : null,
        });
      }
      return claims;
    },
    async settle(settlement) {
      const entry = waiting.get(settlement.claim.id);
      if (entry === undefined || !entry.claimed || entry.attempts !== settlement.claim.attempt) return false;
      if (settlement.state === 'pending') {
        entry.claimed = false;
        entry.dueAt = Date.now() + settlement.delayMs;
        if (settlement.uncounted) entry.attempts -= 1;
        return true;
      }
      forget(entry);
      if (settlement.state === 'dead') dead += 1;
      if ('order' in settlement && settlement.order !== null) {
        const { key, ...step } = settlement.order;
        const before = orders.get(key);
        orders.delete(key);
        orders.set(key, { ...later(before, step), failed: step.failed || before?.failed === true });
        dropOldest(orders, maxIds);
      }
      return true;
    },
    // Claims end with the process.
    async extend() {},
    async recover() {
      return 0;
    },
    async nextDueMs() {
      const now = Date.now();
      let next = Number.POSITIVE_INFINITY;
      for (const entry of waiting.values()) {
        if (entry.claimed || !isHead(entry)) continue;
        next = Math.min(next, isDue(entry, now) ? now : entry.dueAt);
      }
      return Number.isFinite(next) ? next - now : null;
    },
    async depths() {
      let running = 0;
      for (const { claimed } of waiting.values()) if (claimed) running += 1;
      return { pending: waiting.size - running, running, dead };
    },
    async ping() {
      checkRoom();
    },
    async close() {},
  };
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
