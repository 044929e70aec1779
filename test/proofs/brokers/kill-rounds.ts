/**
 * Kills the receiver and the broker alternately with SIGKILL, at random moments under load, and starts each again. At
 * the end, every acknowledged notification must be in the broker.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../setup/seeded-random.ts';
import { notification, openLedger, startLoad } from '../durability/deliveries.ts';
import { openFolder, type ReceiverProcess, startReceiverProcess } from '../durability/receiver-process.ts';
import { missingFrom, waitUntil } from '../durability/stored-state.ts';
import { BROKERS, type BrokerName, NAME } from './broker.ts';

export const SCRIPT = fileURLToPath(new URL('receiver-script.ts', import.meta.url));
const CONNECTIONS = 64;

export interface BrokerKillResult {
  /** Number of kills of the receiver, and of kills of the broker. */
  readonly kills: number;
  readonly sent: number;
  readonly acknowledged: number;
  /** Ids that were acknowledged, but are not in the broker at the end. */
  readonly lost: readonly string[];
  /** Deliveries that were answered 503, and those without an answer. */
  readonly refused: number;
  readonly unanswered: number;
  /** Answers that were neither 200 nor 503. */
  readonly otherwise: number;
  /** Number of messages in the broker in excess of the number of ids. */
  readonly copies: number;
  /** The ids of the copies. */
  readonly duplicates: readonly string[];
  /**
   * Number of duplicates that were sent again because a delivery was not answered 200. The others were sent twice on
   * purpose.
   */
  readonly afterLostAnswer: number;
  /** Ids that occur in the broker more often than they were sent. */
  readonly multiplied: readonly string[];
  /** The longest time from the first delivery after a start of the broker to the next 200, in milliseconds. */
  readonly slowestReturnMs: number;
}

export async function brokerKillRounds(options: {
  readonly name: BrokerName;
  readonly kills: number;
  readonly seed: number;
  /** Bounds of the random time from the first acknowledgement to the kill, in milliseconds. */
  readonly betweenMs: readonly [number, number];
  readonly fault?: 'acknowledges first';
}): Promise<BrokerKillResult> {
  const { name, kills, seed, betweenMs, fault } = options;
  const random = seededRandom(seed);
  const ledger = openLedger((n) => notification(`id-${n}`, `t-${n}`, 1_700_000_000 + n), random);
  const { counts } = ledger;
  const sends = new Map<string, number>();
  const notAnswered200 = new Set<string>();
  const next = () => {
    const delivery = ledger.next();
    sends.set(delivery.id, (sends.get(delivery.id) ?? 0) + 1);
    return delivery;
  };
  const onAnswer: typeof ledger.onAnswer = (delivery, answer) => {
    if (answer?.status !== 200) notAnswered200.add(delivery.id);
    ledger.onAnswer(delivery, answer);
  };
  const acknowledgement = async () => {
    const before = counts.ok;
    await waitUntil('an acknowledgement', () => counts.ok > before, 240_000, 5);
  };
  const randomMoment = () => pause(betweenMs[0] + random() * (betweenMs[1] - betweenMs[0]));

  const folder = openFolder();
  const broker = await BROKERS[name].start();
  let receiver: ReceiverProcess | undefined;
  const start = () =>
    startReceiverProcess({
      how: 'script',
      script: SCRIPT,
      inbox: broker.url,
      folder,
      ...(fault === undefined ? {} : { fault }),
    });
  let slowestReturnMs = 0;
  try {
    for (let round = 0; round < kills; round += 1) {
      receiver ??= await start();
      let load = startLoad({ url: receiver.url, connections: CONNECTIONS, next, onAnswer });
      await acknowledgement();
      await randomMoment();
      await receiver.kill();
      await load.stop();

      receiver = await start();
      load = startLoad({ url: receiver.url, connections: CONNECTIONS, next, onAnswer });
      await acknowledgement();
      await waitUntil('the queue on disk', () => broker.isOnDisk(NAME));
      await randomMoment();
      await broker.kill();
      // Some deliveries arrive without a broker. More of them would only slow down its start.
      await pause(100);
      await Promise.all([broker.start(), load.stop()]);
      const startedAt = performance.now();
      load = startLoad({ url: receiver.url, connections: CONNECTIONS, next, onAnswer });
      await acknowledgement();
      slowestReturnMs = Math.max(slowestReturnMs, performance.now() - startedAt);
      await load.stop();
    }
    receiver ??= await start();
    const again = ledger.unacknowledged();
    const nextAgain = () => {
      const delivery = again.pop() ?? null;
      if (delivery !== null) sends.set(delivery.id, (sends.get(delivery.id) ?? 0) + 1);
      return delivery;
    };
    await startLoad({ url: receiver.url, connections: CONNECTIONS, next: nextAgain, onAnswer }).ended;
    await receiver.end();

    const stored = await BROKERS[name].storedIds(broker.url);
    const copies = new Map<string, number>();
    for (const id of stored) copies.set(id, (copies.get(id) ?? 0) + 1);
    const idsWhere = (isSo: (id: string, times: number) => boolean) =>
      [...copies].filter(([id, times]) => isSo(id, times)).map(([id]) => id);
    const duplicates = idsWhere((_id, times) => times > 1);
    return {
      kills,
      sent: [...sends.values()].reduce((sum, times) => sum + times, 0),
      acknowledged: ledger.acknowledged().length,
      lost: missingFrom(ledger.acknowledged(), stored),
      refused: ledger.statuses.get(503) ?? 0,
      unanswered: counts.unanswered,
      otherwise: counts.refused - (ledger.statuses.get(503) ?? 0),
      copies: stored.length - copies.size,
      duplicates,
      afterLostAnswer: duplicates.filter((id) => notAnswered200.has(id)).length,
      multiplied: idsWhere((id, times) => times > (sends.get(id) ?? 0)),
      slowestReturnMs,
    };
  } finally {
    await receiver?.kill();
    await broker.remove();
    folder.remove();
  }
}
