/**
 * Kills the receiver with SIGKILL at random moments under load, and starts it again on the same inbox. After each kill
 * the inbox is read; at the end every acknowledged notification must have been handled.
 */
import { copyFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';
import { seededRandom } from '../../setup/seeded-random.ts';
import { notification, openLedger, startLoad } from './deliveries.ts';
import { type ReceiverSetup, type Store, startReceiverProcess } from './receiver-process.ts';
import { endedIds, handlerRuns, missingFrom, storedRows, unsettled, waitUntil } from './stored-state.ts';

export interface KillResult {
  readonly rounds: number;
  readonly delivered: number;
  readonly acknowledged: number;
  /** Number of notifications that were acknowledged, but are not in the inbox after a kill. */
  readonly missing: number;
  /** Number of second rows for an id, and of ids that were reported as new twice. */
  readonly duplicates: number;
  /** Number of notifications that were acknowledged, but are not completely handled at the end. */
  readonly unhandled: number;
  /** Number of notifications whose handler started, but that were not in the inbox after a kill. */
  readonly handledUnstored: number;
  /**
   * Number of notifications that were in the inbox when the receiver was killed, but were not answered. The sender
   * delivers them again.
   */
  readonly storedUnacknowledged: number;
  /** Number of notifications that were handled again after a kill had interrupted the handler. */
  readonly handledAgain: number;
  readonly dead: number;
}

export interface KillOptions {
  readonly store: Store;
  readonly setup: Omit<ReceiverSetup, 'inbox' | 'folder'>;
  readonly rounds: number;
  readonly seed: number;
  /** Bounds of the random time from the first acknowledgement of a round to the kill, in milliseconds. */
  readonly betweenMs: readonly [number, number];
  readonly connections?: number;
  /** Time by which the clock is set back between each kill and the next start, in milliseconds. SQLite only. */
  readonly clockBackMs?: number;
}

/**
 * Makes every stored time later, which has the same effect on the receiver as setting back its clock. Returns the URL
 * of a copy, because the receiver would mistake connections of this process to the original for another receiver.
 */
async function setClockBack(url: string, ms: number, round: number): Promise<string> {
  const copy = `${url}.${round}`;
  for (const end of ['', '-wal']) copyFileSync(fileURLToPath(`${url}${end}`), fileURLToPath(`${copy}${end}`));
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(fileURLToPath(copy));
  const columns = ['lease_until', 'due_at', 'received_at', 'settled_at'].map((name) => `${name} = ${name} + ${ms}`);
  database.exec(`UPDATE hookproof_inbox SET ${columns.join(', ')}`);
  database.close();
  return copy;
}

export async function killRounds(options: KillOptions): Promise<KillResult> {
  const { store, setup, rounds, seed, betweenMs, connections = 64, clockBackMs = 0 } = options;
  const { folder } = store;
  let inbox = store.url;
  const random = seededRandom(seed);
  // Each transaction has five notifications, some of them far apart.
  const ledger = openLedger((n) => notification(`id-${n}`, `t-${n % 7 === 0 ? n % 70 : n}`, 1_700_000_000 + n), random);
  const { next, onAnswer } = ledger;
  const missing = new Set<string>();
  const handledUnstored = new Set<string>();
  let duplicateRows = 0;
  let storedUnacknowledged = 0;

  for (let round = 0; round < rounds; round += 1) {
    const receiver = await startReceiverProcess({ ...setup, inbox, folder });
    const before = ledger.counts.ok;
    const load = startLoad({ url: receiver.url, connections, next, onAnswer });
    await waitUntil('the first acknowledgement of a round', () => ledger.counts.ok > before);
    await pause(betweenMs[0] + random() * (betweenMs[1] - betweenMs[0]));
    await receiver.kill();
    await load.stop();

    const stored = (await storedRows(inbox)).map(({ id }) => id);
    duplicateRows += stored.length - new Set(stored).size;
    for (const id of missingFrom(ledger.acknowledged(), stored)) missing.add(id);
    const begun = handlerRuns(folder.handled).map(({ id }) => id);
    for (const id of missingFrom(begun, stored)) handledUnstored.add(id);
    storedUnacknowledged += missingFrom(stored, ledger.acknowledged()).length;
    if (clockBackMs > 0) inbox = await setClockBack(inbox, clockBackMs, round);
  }

  const receiver = await startReceiverProcess({ ...setup, inbox, folder });
  const again = ledger.unacknowledged();
  await startLoad({ url: receiver.url, connections, next: () => again.pop() ?? null, onAnswer }).ended;
  await waitUntil('everything is handled', async () => (await unsettled(inbox)) === 0, 120_000);
  await receiver.end();
  const rows = await storedRows(inbox);
  const handled = endedIds(folder.handled);
  return {
    rounds,
    delivered: ledger.counts.sent,
    acknowledged: ledger.acknowledged().length,
    missing: missing.size,
    duplicates: duplicateRows + ledger.acceptedTwice().length,
    unhandled: missingFrom(ledger.acknowledged(), handled).length,
    handledUnstored: handledUnstored.size,
    storedUnacknowledged,
    handledAgain: handled.length - new Set(handled).size,
    dead: rows.filter(({ state }) => state === 'dead').length,
  };
}
