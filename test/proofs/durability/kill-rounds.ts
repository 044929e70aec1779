/**
 * The receiver is killed with SIGKILL at random moments of a load, and started again on what it left. After each kill
 * the inbox is looked at from outside; at the end everything that was acknowledged has to have been handled.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../setup/seeded-random.ts';
import { notification, startLoad } from './deliveries.ts';
import { endedIds, handlerRuns, storedRows, unsettled, until, without } from './from-outside.ts';
import { openLedger } from './ledger.ts';
import { type ReceiverSetup, startReceiverProcess } from './receiver-process.ts';
import type { Store } from './stores.ts';

export interface KillResult {
  readonly rounds: number;
  readonly delivered: number;
  readonly acknowledged: number;
  /** Acknowledged, and not in the inbox after a kill. */
  readonly missing: number;
  /** Rows beyond the first of an id, and ids that were told twice that they are new. */
  readonly duplicates: number;
  /** Acknowledged, and not handled to the end when all was over. */
  readonly unhandled: number;
  /** Handled (begun, at least), and not in the inbox after a kill. */
  readonly handledUnstored: number;
  /** In the inbox when the receiver was killed, and no answer had come: the sender delivers it again. */
  readonly storedUnacknowledged: number;
  /** Handled again after a kill in the middle. */
  readonly handledAgain: number;
  readonly dead: number;
}

export interface KillOptions {
  readonly store: Store;
  readonly setup: Omit<ReceiverSetup, 'inbox' | 'folder'>;
  readonly rounds: number;
  readonly seed: number;
  /** From the first acknowledgement of a round to the kill, in milliseconds: a random moment between the two. */
  readonly betweenMs: readonly [number, number];
  readonly connections?: number;
}

export async function killRounds(options: KillOptions): Promise<KillResult> {
  const { store, setup, rounds, seed, betweenMs, connections = 64 } = options;
  const { url: inbox, folder } = store;
  const random = seededRandom(seed);
  // Five notifications a transaction, some of them far apart.
  const ledger = openLedger((n) => notification(`id-${n}`, `t-${n % 7 === 0 ? n % 70 : n}`, 1_700_000_000 + n), random);
  const { next, told } = ledger;
  const missing = new Set<string>();
  const handledUnstored = new Set<string>();
  let duplicateRows = 0;
  let storedUnacknowledged = 0;

  for (let round = 0; round < rounds; round += 1) {
    const receiver = await startReceiverProcess({ ...setup, inbox, folder });
    const before = ledger.counts.ok;
    const load = startLoad({ url: receiver.url, connections, next, told });
    await until('the first acknowledgement of a round', () => ledger.counts.ok > before);
    await pause(betweenMs[0] + random() * (betweenMs[1] - betweenMs[0]));
    await receiver.kill();
    await load.stop();

    const stored = (await storedRows(inbox)).map(({ id }) => id);
    duplicateRows += stored.length - new Set(stored).size;
    for (const id of without(ledger.acknowledged(), stored)) missing.add(id);
    const begun = handlerRuns(folder.handled).map(({ id }) => id);
    for (const id of without(begun, stored)) handledUnstored.add(id);
    storedUnacknowledged += without(stored, ledger.acknowledged()).length;
  }

  const receiver = await startReceiverProcess({ ...setup, inbox, folder });
  const again = ledger.unacknowledged();
  await startLoad({ url: receiver.url, connections, next: () => again.pop() ?? null, told }).ended;
  await until('everything is handled', async () => (await unsettled(inbox)) === 0, 120_000);
  await receiver.end();
  const rows = await storedRows(inbox);
  const handled = endedIds(folder.handled);
  return {
    rounds,
    delivered: ledger.counts.sent,
    acknowledged: ledger.acknowledged().length,
    missing: missing.size,
    duplicates: duplicateRows + ledger.acceptedTwice().length,
    unhandled: without(ledger.acknowledged(), handled).length,
    handledUnstored: handledUnstored.size,
    storedUnacknowledged,
    handledAgain: handled.length - new Set(handled).size,
    dead: rows.filter(({ state }) => state === 'dead').length,
  };
}
