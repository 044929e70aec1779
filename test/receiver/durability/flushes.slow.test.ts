/**
 * Acknowledged notifications are flushed to the disk, which a SIGKILL cannot show. The file also contains a short soak
 * test.
 */
import { describe, expect, it } from 'vitest';
import { serialFsyncs } from '../../proofs/durability/fsyncs.ts';
import { sqliteStore } from '../../proofs/durability/receiver-process.ts';
import { soak } from '../../proofs/durability/soak.ts';
import { lacks } from '../../setup/programs.ts';

const skip = lacks('gcc');

describe.concurrent('the flushes of the receiver', () => {
  it.skipIf(skip)('are at least one for each sequential notification', async () => {
    const store = sqliteStore();
    const result = await serialFsyncs(store, 40).finally(() => store.folder.remove());
    expect(result.acknowledged).toBe(40);
    expect(result.fsyncs).toBeGreaterThanOrEqual(40);
  });

  it.skipIf(skip)('are found to be missing when it does not wait for the disk', async () => {
    const store = sqliteStore();
    const result = await serialFsyncs(store, 40, 'does not wait for the disk').finally(() => store.folder.remove());
    expect(result.acknowledged).toBe(40);
    expect(result.fsyncs).toBeLessThan(40);
  });

  it.skipIf(skip)('are far fewer than the notifications under load, and nothing is lost', async () => {
    const store = sqliteStore();
    const setup = { how: 'script', withHandlers: false } as const;
    const result = await soak({ store, setup, deliveries: 2000, warmUp: 200 }).finally(() => store.folder.remove());
    expect(result).toMatchObject({ acknowledged: 2200, rows: 2200 });
    expect(result.fsyncsEach).toBeLessThan(0.2);
    expect(result.memory).toHaveLength(10);
  });
});
