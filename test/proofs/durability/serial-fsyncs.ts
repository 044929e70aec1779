/**
 * One delivery after the other over one connection, each acknowledged before the next: then each needs a flush of its
 * own. A SIGKILL cannot show that, because what was written and not flushed outlives the process; it is lost when the
 * power fails.
 */
import { Agent } from 'node:http';
import { fsyncCounter } from './count-fsyncs.ts';
import { deliver, notification } from './deliveries.ts';
import { query, unsettled, until } from './from-outside.ts';
import { startReceiverProcess } from './receiver-process.ts';
import type { Store } from './stores.ts';
import type { WrongWay } from './wrong-receivers.ts';

export interface SerialResult {
  readonly store: string;
  readonly deliveries: number;
  readonly acknowledged: number;
  /** Null where they cannot be counted. */
  readonly fsyncs: number | null;
}

export async function serialFsyncs(store: Store, deliveries: number, wrong?: WrongWay): Promise<SerialResult> {
  const { url: inbox, folder, name } = store;
  const counter = name === 'SQLite' ? fsyncCounter(folder.path) : null;
  const setup = { how: 'script', inbox, folder, env: counter?.env() ?? {}, withHandlers: false } as const;
  const receiver = await startReceiverProcess({ ...setup, ...(wrong === undefined ? {} : { wrong }) });
  const flushes = async () => (name === 'PostgreSQL' ? serverFlushes(inbox) : 0);
  const before = await flushes();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let acknowledged = 0;
  for (let n = 0; n < deliveries; n += 1) {
    const answer = await deliver(receiver.url, agent, notification(`id-${n}`, `t-${n}`, 1_700_000_000 + n));
    if (answer?.status === 200) acknowledged += 1;
  }
  agent.destroy();
  await until('everything is settled', async () => (await unsettled(inbox)) === 0);
  const { words } = await receiver.end();
  const flushed = (await flushes()) - before;
  const fsyncs = name === 'PostgreSQL' ? flushed : (counter?.read(words) ?? null);
  return { store: name, deliveries, acknowledged, fsyncs };
}

/**
 * Of the write-ahead log of the server, which nobody else uses. The numbers of a connection are there when it has
 * ended.
 */
async function serverFlushes(url: string): Promise<number> {
  const [row] = await query<{ wal_sync: string }>(url, 'SELECT wal_sync FROM pg_stat_wal');
  return Number(row?.wal_sync);
}
