/**
 * Several receivers that share one database, behind a proxy that uses them in turn. Each notification is delivered
 * three times at once over different connections, so that it reaches different receivers.
 */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../setup/seeded-random.ts';
import { type Delivery, deliver, notification } from './deliveries.ts';
import { type ReceiverSetup, type Store, startReceiverProcess } from './receiver-process.ts';
import { type HandlerRun, handlerRuns, missingFrom, storedRows, unsettled, waitUntil } from './stored-state.ts';
import { addressOf, startProxy } from './tcp-proxy.ts';

export interface ReplicaResult {
  readonly notifications: number;
  /** Number of answers with 200. Expected: three for each notification. */
  readonly ok: number;
  /** Number of these answers that reported a new notification. Expected: one for each notification. */
  readonly accepted: number;
  readonly rows: number;
  /** Number of started handlers, and of completely handled notifications. */
  readonly runs: number;
  readonly handled: number;
  /** Number of pairs of handlers of one transaction that ran at the same time. */
  readonly overlaps: number;
  /**
   * Number of pairs of one transaction that were handled in the wrong order, although both notifications were
   * acknowledged before the handlers could continue.
   */
  readonly outOfOrder: number;
  /** Number of all such pairs. */
  readonly pairs: number;
  /** Number of notifications that each receiver handled. */
  readonly shares: readonly number[];
}

export interface ReplicaOptions {
  readonly store: Store;
  readonly setup: Omit<ReceiverSetup, 'inbox' | 'folder'>;
  readonly notifications: number;
  readonly atATime?: number;
  /** Number of notifications in one transaction. */
  readonly inTransaction?: number;
  /** Kills the first receiver after this many acknowledged notifications. */
  readonly killAfter?: number;
}

const COPIES = 3;

export async function replicas(options: ReplicaOptions): Promise<ReplicaResult> {
  const { store, setup, notifications, atATime = 20, inTransaction = 5, killAfter } = options;
  const { url: inbox, folder } = store;
  // The handlers wait until half of the notifications are stored. A handler that starts earlier shows nothing about the
  // order, because the other notifications were not stored when its entry was claimed.
  const gate = join(folder.path, 'gate');
  // A receiver that runs handlers before it answers would wait forever.
  const env = setup.fault === undefined ? { HANDLER_GATE_FILE: gate } : {};
  const receivers = await Promise.all([1, 2].map(() => startReceiverProcess({ ...setup, inbox, folder, env })));
  const proxy = await startProxy(receivers.map(({ url }) => addressOf(url)));
  const url = `http://127.0.0.1:${proxy.port}/`;
  const acknowledgedAt = new Map<string, number>();
  let [ok, accepted, killed, releasedAt] = [0, 0, killAfter === undefined, 0];

  // The notifications of a transaction arrive in random order, close to one another.
  const random = seededRandom(3);
  const all = Array.from({ length: notifications }, (_, n) => ({ n, at: Math.floor(n / 40) + random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ n }) => notification(`id-${n}`, `t-${Math.floor(n / inTransaction)}`, 1_700_000_000 + n));
  const deliverCopies = async (delivery: Delivery, agents: readonly Agent[]) => {
    const answers = await Promise.all(agents.map((agent) => deliver(url, agent, delivery)));
    const accepting = answers.filter((answer) => answer?.status === 200);
    ok += accepting.length;
    accepted += accepting.filter((answer) => answer?.word === 'accepted').length;
    if (accepting.length > 0) acknowledgedAt.set(delivery.id, microseconds());
    return accepting.length > 0;
  };
  const work = async () => {
    // Each copy has its own connection, so that the copies reach different receivers.
    const agents = Array.from({ length: COPIES }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    for (let delivery = all.shift(); delivery !== undefined; delivery = all.shift()) {
      while (!(await deliverCopies(delivery, agents))) await pause(5);
      if (releasedAt === 0 && acknowledgedAt.size >= notifications / 2) {
        releasedAt = microseconds();
        writeFileSync(gate, '');
      }
      if (!killed && acknowledgedAt.size >= (killAfter ?? 0)) {
        killed = true;
        await receivers[0]?.kill();
      }
    }
    for (const agent of agents) agent.destroy();
  };
  await Promise.all(Array.from({ length: atATime }, work));
  await waitUntil('everything is handled', async () => (await unsettled(inbox)) === 0);
  await Promise.all(receivers.slice(killAfter === undefined ? 0 : 1).map((receiver) => receiver.end()));
  await proxy.close();

  const rows = (await storedRows(inbox)).map(({ id }) => id);
  if (missingFrom(acknowledgedAt.keys(), rows).length > 0) throw new Error('acknowledged, but not in the inbox');
  const runs = handlerRuns(folder.handled);
  const ended = runs.filter(({ endedAt }) => endedAt !== null);
  return {
    notifications,
    ok,
    accepted,
    rows: rows.length,
    runs: runs.length,
    handled: new Set(ended.map(({ id }) => id)).size,
    ...orderIn(ended, acknowledgedAt, releasedAt),
    shares: receivers.map(({ pid }) => ended.filter((run) => run.pid === pid).length),
  };
}

/**
 * Compares each pair of handlers of a transaction. Interrupted handlers are left out, because the time of their end is
 * unknown.
 */
function orderIn(ended: readonly HandlerRun[], acknowledgedAt: ReadonlyMap<string, number>, releasedAt: number) {
  const transactions = new Map<string, HandlerRun[]>();
  for (const run of ended) transactions.set(run.transactionId, [...(transactions.get(run.transactionId) ?? []), run]);
  let [overlaps, outOfOrder, pairs] = [0, 0, 0];
  for (const runs of transactions.values()) {
    for (const one of runs) {
      for (const other of runs) {
        if (numberOf(one) >= numberOf(other)) continue;
        if (one.startedAt < (other.endedAt ?? 0) && other.startedAt < (one.endedAt ?? 0)) overlaps += 1;
        const there = Math.max(acknowledgedAt.get(one.id) ?? 0, acknowledgedAt.get(other.id) ?? 0);
        if (there > releasedAt || Math.min(one.startedAt, other.startedAt) < releasedAt) continue;
        pairs += 1;
        if (other.startedAt < one.startedAt) outOfOrder += 1;
      }
    }
  }
  return { overlaps, outOfOrder, pairs };
}

/** Returns the time of the clock that all processes of a machine share. */
const microseconds = () => Number(process.hrtime.bigint() / 1000n);
const numberOf = ({ id }: HandlerRun) => Number(id.slice('id-'.length));
