/** What the sender knows of each notification: the other side of the inbox. */
import type { Answer, Delivery } from './deliveries.ts';

interface Line {
  readonly delivery: Delivery;
  /** How often it was told that this one is new. More than once is a duplicate insert. */
  accepted: number;
  acknowledged: boolean;
}

export interface Ledger {
  /** Delivers again, now and then, what was delivered before. */
  next(): Delivery;
  told(delivery: Delivery, answer: Answer | null): void;
  acknowledged(): string[];
  /** Delivered, and no 200 yet: a sender delivers them again. */
  unacknowledged(): Delivery[];
  acceptedTwice(): string[];
  readonly counts: { sent: number; ok: number; refused: number; unanswered: number; slowestMs: number };
  /** Other answers than 200, by their status. */
  readonly statuses: Map<number, number>;
}

/**
 * `make` gives the n-th notification; `random` gives numbers from 0 to 1. One in twenty is one that was sent before, on
 * its way or not.
 */
export function openLedger(make: (n: number) => Delivery, random: () => number): Ledger {
  const lines = new Map<string, Line>();
  const order: Line[] = [];
  const counts = { sent: 0, ok: 0, refused: 0, unanswered: 0, slowestMs: 0 };
  const statuses = new Map<number, number>();
  return {
    counts,
    statuses,
    next() {
      counts.sent += 1;
      const again = order[Math.floor(random() * 20 * order.length)];
      if (again !== undefined) return again.delivery;
      const line: Line = { delivery: make(order.length), accepted: 0, acknowledged: false };
      lines.set(line.delivery.id, line);
      order.push(line);
      return line.delivery;
    },
    told({ id }, answer) {
      const line = lines.get(id);
      if (line === undefined) throw new Error(`nothing was sent as ${id}`);
      if (answer === null) {
        counts.unanswered += 1;
        return;
      }
      counts.slowestMs = Math.max(counts.slowestMs, answer.ms);
      if (answer.status === 200) {
        counts.ok += 1;
        line.acknowledged = true;
        if (answer.word === 'accepted') line.accepted += 1;
      } else {
        counts.refused += 1;
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      }
    },
    acknowledged: () => order.filter(({ acknowledged }) => acknowledged).map(({ delivery }) => delivery.id),
    unacknowledged: () => order.filter(({ acknowledged }) => !acknowledged).map(({ delivery }) => delivery),
    acceptedTwice: () => order.filter(({ accepted }) => accepted > 1).map(({ delivery }) => delivery.id),
  };
}
