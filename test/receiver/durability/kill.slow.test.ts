/**
 * The receiver is killed under load. `npm run proofs -- durability` does this 20 times with each store, and this test
 * twice.
 */
import { describe, expect, inject, it } from 'vitest';
import type { Fault } from '../../proofs/durability/faulty-receivers.ts';
import { killRounds } from '../../proofs/durability/kill-rounds.ts';
import { postgresStore, sqliteStore } from '../../proofs/durability/receiver-process.ts';

const server = inject('postgresUrl');
async function kill(name: 'SQLite' | 'PostgreSQL', rounds: number, fault?: Fault, seed = 7, clockBackMs = 0) {
  const store = name === 'SQLite' ? sqliteStore() : await postgresStore(server ?? '');
  // A kill must interrupt the handler of a faulty receiver, so its handler takes longer.
  const handlerMs = fault === undefined ? 2 : 100;
  const setup = { how: 'script', handlerMs, handling: { leaseMs: 500, pollMs: 100 } } as const;
  const options = { store, rounds, seed, clockBackMs, betweenMs: [20, 150] as const };
  const killed = killRounds({ ...options, setup: { ...setup, ...(fault === undefined ? {} : { fault }) } });
  return killed.finally(() => store.folder.remove());
}

/**
 * Returns what a faulty receiver has lost or done too early. A kill between two deliveries shows nothing, so several
 * seeds are tried.
 */
async function caught(fault: Fault, what: 'missing' | 'handledUnstored' | 'unhandled'): Promise<number> {
  for (let seed = 1; seed <= 8; seed += 1) {
    const { [what]: found } = await kill('SQLite', 1, fault, seed);
    if (found > 0) return found;
  }
  return 0;
}

describe('a receiver that is killed under load', () => {
  for (const name of ['SQLite', 'PostgreSQL'] as const) {
    it.skipIf(name === 'PostgreSQL' && server === null)(`loses nothing on ${name}`, async () => {
      const result = await kill(name, 2);
      expect(result.acknowledged).toBeGreaterThan(20);
      expect(result).toMatchObject({ missing: 0, duplicates: 0, unhandled: 0, handledUnstored: 0, dead: 0 });
    });
  }

  it('loses nothing on SQLite, and waits for no lease, when the clock is set back by an hour', async () => {
    const result = await kill('SQLite', 2, undefined, 7, 3_600_000);
    expect(result.acknowledged).toBeGreaterThan(20);
    expect(result).toMatchObject({ missing: 0, duplicates: 0, unhandled: 0, handledUnstored: 0, dead: 0 });
  });

  it('is caught when it acknowledges before it stores', async () => {
    expect(await caught('acknowledges first', 'missing')).toBeGreaterThan(0);
  });

  it('is caught when it handles before it stores', async () => {
    expect(await caught('handles first', 'handledUnstored')).toBeGreaterThan(0);
  });

  it('is caught when it records the result before it handles', async () => {
    expect(await caught('settles first', 'unhandled')).toBeGreaterThan(0);
  });
});
