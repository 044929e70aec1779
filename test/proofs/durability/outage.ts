/**
 * The inbox fails under load and recovers, while the receiver keeps running: what the receiver answers in the meantime,
 * whether it says that it is not ready, whether every 200 has a row, and whether everything is handled afterwards.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../setup/seeded-random.ts';
import { notification, openLedger, startLoad } from './deliveries.ts';
import { type ReceiverProcess, type ReceiverSetup, type Store, startReceiverProcess } from './receiver-process.ts';
import { endedIds, missingFrom, storedRows, unsettled, waitUntil } from './stored-state.ts';

/** How an inbox fails. */
export interface Failure {
  /** Description of the failure, for the document. */
  readonly what: string;
  begin(receiver: ReceiverProcess): Promise<void> | void;
  end(receiver: ReceiverProcess): Promise<void> | void;
}

export interface OutageResult {
  readonly what: string;
  readonly store: string;
  readonly acknowledged: number;
  readonly refused: number;
  /** Number of answers other than 200 and 503, and of connections that ended without an answer. */
  readonly otherwise: number;
  readonly slowestMs: number;
  /** Number of deliveries that were answered 200, but have no row. */
  readonly acknowledgedWithoutRow: number;
  readonly duplicates: number;
  /** Time from the end of the failure until the receiver is ready, without any delivery, in milliseconds. */
  readonly readyAfterMs: number;
  /** Time from the next delivery to the next 200, in milliseconds. */
  readonly backAfterMs: number;
  readonly unhandled: number;
  readonly handledAgain: number;
  readonly sameProcess: boolean;
  /** The events of the log, without those about single deliveries. */
  readonly logLines: readonly string[];
  readonly secretInLog: boolean;
}

export interface OutageOptions {
  readonly store: Store;
  readonly failure: Failure;
  readonly setup: Omit<ReceiverSetup, 'inbox' | 'folder'>;
  /** The inbox URL for the receiver, if it differs from that of the store because of a proxy. */
  readonly inbox?: string;
  /** The failure lasts until this many deliveries have been rejected, and at least `lastsMs`. */
  readonly refusals: number;
  readonly lastsMs?: number;
  readonly connections?: number;
}

export async function outage(options: OutageOptions): Promise<OutageResult> {
  const { store, failure, setup, refusals, lastsMs = 0, connections = 16 } = options;
  const { folder, url } = store;
  const inbox = options.inbox ?? url;
  const ledger = openLedger((n) => notification(`id-${n}`, `t-${n}`, 1_700_000_000 + n), seededRandom(1));
  const { counts, next, onAnswer } = ledger;
  const receiver = await startReceiverProcess({ ...setup, inbox, folder });
  const start = () => startLoad({ url: receiver.url, connections, next, onAnswer });
  const isReady = async () => (await receiver.readiness()) === 200;
  let load = start();
  await waitUntil('the load is under way', () => counts.ok >= connections * 4);
  await waitUntil('it is ready', isReady);

  await failure.begin(receiver);
  const beganAt = performance.now();
  await waitUntil('deliveries are refused', () => counts.refused >= refusals);
  await pause(Math.max(0, lastsMs - (performance.now() - beganAt)));
  await waitUntil('it is not ready', async () => !(await isReady()));
  await load.stop();
  await failure.end(receiver);
  const endedAt = performance.now();
  await waitUntil('it is ready again without traffic', isReady);
  const readyAfterMs = performance.now() - endedAt;
  const before = counts.ok;
  const resumedAt = performance.now();
  load = start();
  await waitUntil('deliveries are accepted again', () => counts.ok > before);
  const backAfterMs = performance.now() - resumedAt;
  await waitUntil('the load is under way again', () => counts.ok >= before + connections * 4);
  await load.stop();

  const { refused, unanswered, slowestMs } = counts;
  const otherwise = unanswered + refused - (ledger.statuses.get(503) ?? 0);
  const withoutRow = missingFrom(
    ledger.acknowledged(),
    (await storedRows(url)).map(({ id }) => id),
  );
  // Repeats the rejected deliveries, as a sender does. Some of them are already in the inbox.
  const again = ledger.unacknowledged();
  await startLoad({ url: receiver.url, connections, next: () => again.pop() ?? null, onAnswer }).ended;
  await waitUntil('everything is handled', async () => (await unsettled(url)) === 0);
  const stored = (await storedRows(url)).map(({ id }) => id);
  for (const id of missingFrom(ledger.acknowledged(), stored)) withoutRow.push(id);
  const handled = endedIds(folder.handled);
  const { code, stderr } = await receiver.end();
  const log = folder.log();
  return {
    what: failure.what,
    store: store.name,
    acknowledged: ledger.acknowledged().length,
    refused,
    otherwise,
    slowestMs,
    acknowledgedWithoutRow: new Set(withoutRow).size,
    duplicates: ledger.acceptedTwice().length,
    readyAfterMs,
    backAfterMs,
    unhandled: missingFrom(ledger.acknowledged(), handled).length,
    handledAgain: handled.length - new Set(handled).size,
    sameProcess: code === 0,
    logLines: eventsIn(log),
    secretInLog: passwordsOf(inbox).some((password) => `${log}${stderr}`.includes(password)),
  };
}

/** Returns the events of a log that are not about a single delivery, in order. */
function eventsIn(log: string): string[] {
  const usual = new Set(['delivery', 'listening']);
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { event: string }).event)
    .filter((event) => !usual.has(event));
}

function passwordsOf(url: string): string[] {
  const { password } = new URL(url);
  return password === '' ? [] : [password, decodeURIComponent(password)];
}
