/** Two receivers on one PostgreSQL server. `npm run proofs -- durability` sends more notifications. */
import { describe, expect, inject, it } from 'vitest';
import { postgresStore } from '../../proofs/durability/receiver-process.ts';
import { type ReplicaOptions, replicas } from '../../proofs/durability/replicas.ts';

// On a busy machine, extending a lease can take a second or two.
const setup = { how: 'script', handlerMs: 2, handling: { leaseMs: 4000, pollMs: 50 } } as const;
const skip = inject('postgresUrl') === null;

async function play(options: Omit<ReplicaOptions, 'store' | 'setup'>, fault?: 'handles first') {
  const store = await postgresStore(inject('postgresUrl') ?? '');
  const played = replicas({ store, setup: fault === undefined ? setup : { ...setup, fault }, ...options });
  return played.finally(() => store.folder.remove());
}

describe.concurrent('two receivers on one database', () => {
  it.skipIf(skip)('store and handle once, in order, what is delivered three times concurrently', async () => {
    const result = await play({ notifications: 200 });
    expect(result).toMatchObject({ ok: 600, accepted: 200, rows: 200, runs: 200, handled: 200 });
    expect(result).toMatchObject({ overlaps: 0, outOfOrder: 0 });
    expect(result.pairs).toBeGreaterThan(0);
    for (const share of result.shares) expect(share).toBeGreaterThan(0);
  });

  it.skipIf(skip)('handle everything when one of them is killed', async () => {
    const result = await play({ notifications: 200, killAfter: 150 });
    expect(result).toMatchObject({ rows: 200, handled: 200, overlaps: 0 });
  });

  it.skipIf(skip)('are caught when each of them handles before it stores', async () => {
    const result = await play({ notifications: 40 }, 'handles first');
    expect(result.runs).toBeGreaterThan(40);
    expect(result.overlaps).toBeGreaterThan(0);
  });
});
