/**
 * Kills a recipe with SIGKILL at random moments under load, and starts it again on the same journal. At the end,
 * unacknowledged notifications are delivered again, and the journal must contain every acknowledged notification
 * exactly once.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Stack } from '../../../contract/index.ts';
import { copyRecipe, type RecipeProcess, removeCopy, startRecipe } from '../../recipes/recipe-process.ts';
import { seededRandom } from '../../setup/seeded-random.ts';
import { type Delivery, notification, openLedger, SECRET, startLoad } from '../durability/deliveries.ts';
import { missingFrom, waitUntil } from '../durability/stored-state.ts';

export interface RecipeKills {
  readonly rounds: number;
  readonly acknowledged: number;
  /** Number of notifications that were acknowledged, but are not in the journal after a kill. */
  readonly lost: number;
  /** Number of lines with an id that already has a line. */
  readonly storedTwice: number;
  /** Number of notifications that were acknowledged, but have another body in the journal. */
  readonly altered: number;
  /** Number of kills that truncated a line of the journal. */
  readonly cutOff: number;
}

/** Faults of the recipe for Express, which the rounds must find: the file, and the text in it that is replaced. */
export const FAULTY_JOURNALS = {
  'answers before it stores': {
    file: 'receiver.mjs',
    find: 'await journal.store(id, rawBody);',
    replace: 'journal.store(id, rawBody).catch(() => {});',
  },
  'does not read the ids back': { file: 'journal.mjs', find: 'ids.add(read);', replace: '' },
} as const;

export type JournalFault = keyof typeof FAULTY_JOURNALS;

export interface KillOptions {
  readonly stack: Stack;
  readonly rounds: number;
  readonly seed: number;
  readonly connections?: number;
  readonly fault?: JournalFault;
}

export async function killRecipe({ stack, rounds, seed, connections = 32, fault }: KillOptions): Promise<RecipeKills> {
  const folder = copyRecipe(stack);
  if (fault !== undefined) addFault(folder, fault);
  const random = seededRandom(seed);
  const made = new Map<string, Delivery>();
  const ledger = openLedger((n) => {
    const delivery = notification(`id-${n}`, `t-${n}`, 1_700_000_000 + n);
    made.set(delivery.id, delivery);
    return delivery;
  }, random);
  const { next, onAnswer } = ledger;
  const lost = new Set<string>();
  let cutOff = 0;
  let recipe: RecipeProcess | undefined;
  try {
    for (let round = 0; round < rounds; round += 1) {
      recipe = await startRecipe(stack, { folder, secret: SECRET });
      const before = ledger.counts.ok;
      const load = startLoad({ url: recipe.url, connections, next, onAnswer });
      await waitUntil('the first acknowledgement of a round', () => ledger.counts.ok > before);
      await pause(100 + random() * 500);
      await recipe.kill();
      await load.stop();
      const { entries, isCutOff } = readJournal(folder);
      const stored = entries.map(({ id }) => id);
      for (const id of missingFrom(ledger.acknowledged(), stored)) lost.add(id);
      if (isCutOff) cutOff += 1;
    }
    recipe = await startRecipe(stack, { folder, secret: SECRET });
    // Copies of the oldest notifications are also sent, because only the journal knows their ids.
    const again = [...ledger.unacknowledged(), ...[...made.values()].slice(0, 50)];
    await startLoad({ url: recipe.url, connections, next: () => again.pop() ?? null, onAnswer }).ended;
  } finally {
    await recipe?.kill();
  }
  const { entries } = readJournal(folder);
  removeCopy(folder);
  const ids = entries.map(({ id }) => id);
  for (const id of missingFrom(ledger.acknowledged(), ids)) lost.add(id);
  return {
    rounds,
    acknowledged: ledger.acknowledged().length,
    lost: lost.size,
    storedTwice: ids.length - new Set(ids).size,
    altered: entries.filter(({ id, body }) => made.get(id)?.body.toString() !== body).length,
    cutOff,
  };
}

function addFault(folder: string, fault: JournalFault): void {
  const { file, find, replace } = FAULTY_JOURNALS[fault];
  const path = join(folder, file);
  const source = readFileSync(path, 'utf8');
  if (!source.includes(find)) throw new Error(`${file} of the recipe has no "${find}"`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
}

/** Returns the complete lines of the journal. */
function readJournal(folder: string) {
  const lines = readFileSync(join(folder, 'journal.ndjson'), 'utf8').split('\n');
  const isCutOff = lines.pop() !== '';
  return { isCutOff, entries: lines.map((line) => JSON.parse(line) as { readonly id: string; readonly body: string }) };
}
