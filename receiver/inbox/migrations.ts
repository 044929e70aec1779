import type { Dialect } from './dialect.ts';

/** Every step from an empty database to the schema of today. A step is never changed, only followed by another. */
export function migrations({ bytes, counter, integer }: Dialect): readonly (readonly string[])[] {
  return [
    [
      `CREATE TABLE hookproof_inbox (
        seq ${counter},
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        type TEXT NOT NULL,
        transaction_id TEXT,
        status TEXT,
        at ${integer},
        received_at ${integer} NOT NULL,
        position ${integer} NOT NULL,
        state TEXT NOT NULL,
        behind INTEGER NOT NULL DEFAULT 0,
        attempts INTEGER NOT NULL DEFAULT 0,
        due_at ${integer},
        owner TEXT,
        lease_until ${integer},
        last_error TEXT,
        settled_at ${integer},
        body ${bytes} NOT NULL
      )`,
      // One index for each question that is asked, over no more rows than it is about: what is done is in none of them.
      `CREATE INDEX hookproof_inbox_due ON hookproof_inbox (due_at, seq) WHERE state = 'pending' AND behind = 0`,
      `CREATE INDEX hookproof_inbox_behind ON hookproof_inbox (transaction_id) WHERE state = 'pending' AND behind = 1`,
      `CREATE INDEX hookproof_inbox_in_order ON hookproof_inbox (transaction_id, position, seq) WHERE state = 'pending'`,
      `CREATE INDEX hookproof_inbox_leases ON hookproof_inbox (lease_until) WHERE state = 'running'`,
      `CREATE INDEX hookproof_inbox_waiting ON hookproof_inbox (transaction_id) WHERE state = 'pending' AND kind = 'REFUND'`,
      `CREATE INDEX hookproof_inbox_dead ON hookproof_inbox (seq) WHERE state = 'dead'`,
      // The database itself holds that no two receivers handle one transaction at the same time.
      `CREATE UNIQUE INDEX hookproof_inbox_one_at_a_time ON hookproof_inbox (transaction_id) WHERE state = 'running'`,
      `CREATE TABLE hookproof_orders (
        order_key TEXT PRIMARY KEY,
        rank ${integer} NOT NULL,
        at ${integer} NOT NULL,
        failed INTEGER NOT NULL
      )`,
    ],
  ];
}
