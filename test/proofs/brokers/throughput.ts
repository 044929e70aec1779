/**
 * Measures how many deliveries per second a receiver accepts with a broker, with SQLite, and with an inbox in memory.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { notification, startLoad } from '../durability/deliveries.ts';
import { openFolder, sqliteStore, startReceiverProcess } from '../durability/receiver-process.ts';
import { BROKERS, type BrokerName } from './broker.ts';
import { SCRIPT } from './kill-rounds.ts';

const WARM_UP_MS = 1500;
const MEASURED_MS = 4000;
const ROUNDS = 5;

type StoreName = 'memory' | 'SQLite' | BrokerName;

interface OpenStore {
  readonly url: string;
  remove(): Promise<void> | void;
}

const STORES: Readonly<Record<StoreName, () => Promise<OpenStore>>> = {
  memory: async () => ({ url: 'memory:', remove() {} }),
  SQLite: async () => {
    const { url, folder } = sqliteStore();
    return { url, remove: folder.remove };
  },
  NATS: BROKERS.NATS.start,
  RabbitMQ: BROKERS.RabbitMQ.start,
};

export interface Throughput {
  readonly store: StoreName;
  /** Deliveries per second: the median of the rounds. */
  readonly perSecond: number;
  /** Ratios to SQLite in the same round: the lowest, the median and the highest. */
  readonly toSqlite: readonly [lowest: number, median: number, highest: number];
}

/** Measures the stores alternately, so that other load on the machine affects all of them. */
export async function measureThroughput(): Promise<Throughput[]> {
  const names = Object.keys(STORES) as StoreName[];
  const rounds: Record<StoreName, number>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const rates = { memory: 0, SQLite: 0, NATS: 0, RabbitMQ: 0 };
    for (const name of names) rates[name] = await rateOf(name, round);
    rounds.push(rates);
  }
  return names.map((store) => {
    const ratios = rounds.map((rates) => rates[store] / rates.SQLite);
    return {
      store,
      perSecond: median(rounds.map((rates) => rates[store])),
      toSqlite: [Math.min(...ratios), median(ratios), Math.max(...ratios)],
    };
  });
}

async function rateOf(name: StoreName, round: number): Promise<number> {
  const store = await STORES[name]();
  const folder = openFolder();
  const receiver = await startReceiverProcess({ how: 'script', script: SCRIPT, inbox: store.url, folder });
  let sent = 0;
  let accepted = 0;
  const load = startLoad({
    url: receiver.url,
    connections: 64,
    next() {
      sent += 1;
      return notification(`id-${round}-${sent}`, `t-${sent}`, 1_700_000_000 + sent);
    },
    onAnswer(_delivery, answer) {
      if (answer?.status === 200) accepted += 1;
    },
  });
  await pause(WARM_UP_MS);
  const [before, startedAt] = [accepted, performance.now()];
  await pause(MEASURED_MS);
  const rate = ((accepted - before) * 1000) / (performance.now() - startedAt);
  await load.stop();
  await receiver.kill();
  await store.remove();
  folder.remove();
  return rate;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
