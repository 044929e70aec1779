/** A receiver whose handlers fail at random is killed under load: its record contains everything exactly once. */
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { MAX_EFFECT_IDS } from '../../../contract/effects.ts';
import { fileEffects } from '../../../receiver/index.ts';
import { killRounds } from '../../proofs/durability/kill-rounds.ts';
import { type EffectsSetup, postgresStore, sqliteStore } from '../../proofs/durability/receiver-process.ts';
import { storedRows } from '../../proofs/durability/stored-state.ts';

const server = inject('postgresUrl');

/** Returns how often each stored notification is in the record. Every acknowledged one is stored. */
async function timesAfterKills(name: 'SQLite' | 'PostgreSQL', rounds: number, more: Partial<EffectsSetup> = {}) {
  const store = name === 'SQLite' ? sqliteStore() : await postgresStore(server ?? '');
  onTestFinished(() => store.folder.remove());
  const effects = { file: join(store.folder.path, 'effects.ndjson'), failures: 0.2, ...more };
  const handling = { leaseMs: 500, pollMs: 100, firstDelayMs: 5, maxDelayMs: 20, attempts: 1000 };
  const setup = { how: 'script', handlerMs: 2, handling, effects } as const;
  const result = await killRounds({ store, setup, rounds, seed: 7, betweenMs: [50, 200], connections: 16 });
  const ids = (await storedRows(store.url)).map(({ id }) => id);
  const record = await fileEffects(effects.file);
  onTestFinished(() => record.close());
  const times = new Map(ids.map((id) => [id, 0]));
  for (let at = 0; at < ids.length; at += MAX_EFFECT_IDS) {
    const { handled } = await record.answer({ notifications: ids.slice(at, at + MAX_EFFECT_IDS) });
    for (const { notification } of handled) times.set(notification, (times.get(notification) ?? 0) + 1);
  }
  const { total } = await record.answer({ notifications: [] });
  return { result, total, times: [...times.values()] };
}

describe('a receiver that records its effects, and is killed under load', () => {
  for (const name of ['SQLite', 'PostgreSQL'] as const) {
    it.skipIf(name === 'PostgreSQL' && server === null)(`records everything exactly once on ${name}`, async () => {
      const { result, total, times } = await timesAfterKills(name, 3);
      expect(result).toMatchObject({ missing: 0, duplicates: 0, unhandled: 0, handledUnstored: 0, dead: 0 });
      expect(result.acknowledged).toBeGreaterThan(20);
      // Some handlers did run again.
      expect(result.handledAgain).toBeGreaterThan(0);
      expect(times.length).toBeGreaterThanOrEqual(result.acknowledged);
      expect([...new Set(times)]).toEqual([1]);
      expect(total).toBe(times.length);
    });
  }

  it('is caught when it records an effect each time that the handler runs', async () => {
    const { times } = await timesAfterKills('SQLite', 1, { ignoresKeys: true });
    expect(times.filter((count) => count > 1).length).toBeGreaterThan(0);
  });
});
