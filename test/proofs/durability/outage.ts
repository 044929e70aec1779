/**
 * The inbox fails in the middle of a load and comes back, while the receiver runs on: what is answered meanwhile,
 * whether anything that was answered 200 has no row, and whether everything goes on by itself afterwards.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../setup/seeded-random.ts';
import { notification, startLoad } from './deliveries.ts';
import { endedIds, storedRows, unsettled, until, without } from './from-outside.ts';
import { openLedger } from './ledger.ts';
import { type ReceiverProcess, type ReceiverSetup, startReceiverProcess } from './receiver-process.ts';
import type { Store } from './stores.ts';

/** How an inbox fails. */
export interface Trouble {
  /** What stands in the document. */
  readonly what: string;
  begin(receiver: ReceiverProcess): Promise<void> | void;
  end(receiver: ReceiverProcess): Promise<void> | void;
}

export interface OutageResult {
  readonly what: string;
  readonly store: string;
  readonly acknowledged: number;
  readonly refused: number;
  /** Answers that were neither 200 nor 503, and connections that ended without one. */
  readonly otherwise: number;
  readonly slowestMs: number;
  /** Answered 200, and no row. */
  readonly acknowledgedWithoutRow: number;
  readonly duplicates: number;
  /** From the end of the trouble to the next 200, in milliseconds. */
  readonly backAfterMs: number;
  readonly unhandled: number;
  readonly handledAgain: number;
  readonly sameProcess: boolean;
  /** Of the log: lines about the outage, one of each kind and time, without those about single deliveries. */
  readonly logLines: readonly string[];
  readonly secretInLog: boolean;
}

export interface OutageOptions {
  readonly store: Store;
  readonly trouble: Trouble;
  readonly setup: Omit<ReceiverSetup, 'inbox' | 'folder'>;
  /** The URL that the receiver is given, when it is another: that of a proxy. */
  readonly inbox?: string;
  /** It lasts until so many were refused, and so long at least. */
  readonly refusals: number;
  readonly lastsMs?: number;
  readonly connections?: number;
}

export async function outage(options: OutageOptions): Promise<OutageResult> {
  const { store, trouble, setup, refusals, lastsMs = 0, connections = 16 } = options;
  const { folder, url } = store;
  const inbox = options.inbox ?? url;
  const ledger = openLedger((n) => notification(`id-${n}`, `t-${n}`, 1_700_000_000 + n), seededRandom(1));
  const { counts, next, told } = ledger;
  const receiver = await startReceiverProcess({ ...setup, inbox, folder });
  const load = startLoad({ url: receiver.url, connections, next, told });
  await until('the load is under way', () => counts.ok >= connections * 4);

  await trouble.begin(receiver);
  const beganAt = performance.now();
  await until('deliveries are refused', () => counts.refused >= refusals);
  await pause(Math.max(0, lastsMs - (performance.now() - beganAt)));
  await trouble.end(receiver);
  const endedAt = performance.now();
  const before = counts.ok;
  await until('deliveries are accepted again', () => counts.ok > before);
  const backAfterMs = performance.now() - endedAt;
  await until('the load is under way again', () => counts.ok >= before + connections * 4);
  await load.stop();

  const { refused, unanswered, slowestMs } = counts;
  const otherwise = unanswered + refused - (ledger.statuses.get(503) ?? 0);
  const withoutRow = without(
    ledger.acknowledged(),
    (await storedRows(url)).map(({ id }) => id),
  );
  // What was refused is delivered again, as a sender would. Some of it is in the inbox all the same.
  const again = ledger.unacknowledged();
  await startLoad({ url: receiver.url, connections, next: () => again.pop() ?? null, told }).ended;
  await until('everything is handled', async () => (await unsettled(url)) === 0);
  const stored = (await storedRows(url)).map(({ id }) => id);
  for (const id of without(ledger.acknowledged(), stored)) withoutRow.push(id);
  const handled = endedIds(folder.handled);
  const { code, words } = await receiver.end();
  const log = folder.log();
  return {
    what: trouble.what,
    store: store.name,
    acknowledged: ledger.acknowledged().length,
    refused,
    otherwise,
    slowestMs,
    acknowledgedWithoutRow: new Set(withoutRow).size,
    duplicates: ledger.acceptedTwice().length,
    backAfterMs,
    unhandled: without(ledger.acknowledged(), handled).length,
    handledAgain: handled.length - new Set(handled).size,
    sameProcess: code === 0,
    logLines: eventsIn(log),
    secretInLog: passwordsOf(inbox).some((password) => `${log}${words}`.includes(password)),
  };
}

/** The events of a log that are about more than one delivery, in their order. */
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
