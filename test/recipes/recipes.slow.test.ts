import { randomBytes } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { recipeInScheme, recipeOf, SCHEME_RECIPES, STACKS, type Stack, titleOfStack } from '../../contract/index.ts';
import { run } from '../../harness/index.ts';
import type { RotationStep, SuiteName } from '../../scenarios/index.ts';
import { isItsTurn } from '../setup/turn.ts';
import { RECIPE_FACTS } from './recipe-facts.ts';
import { copyRecipe, type RecipeProcess, removeCopy, sourceOf, startRecipe, whyNotRun } from './recipe-process.ts';

const secret = randomBytes(32).toString('base64');
const apiKey = randomBytes(24).toString('base64url');
const nextSecret = randomBytes(32).toString('base64');
const SECRETS: Readonly<Record<RotationStep, object>> = {
  old: { secret },
  both: { secret: nextSecret, previousSecret: secret },
  new: { secret: nextSecret },
};
const isSwitch = (id: string) => id.startsWith('rotation/switch-to-');

const RECIPES = STACKS.filter((stack) => recipeOf(stack).stack === stack);
const RUN = RECIPES.filter((stack) => recipeOf(stack).notRun === undefined);
const folders: string[] = [];
const processes: RecipeProcess[] = [];

async function started(stack: Stack, folder: string, credentials: object = { secret, apiKey }): Promise<RecipeProcess> {
  const recipe = await startRecipe(stack, { folder, ...credentials });
  processes.push(recipe);
  return recipe;
}

function copied(stack: Stack, source?: string): string {
  const folder = copyRecipe(stack, source);
  folders.push(folder);
  return folder;
}

const checked = (stack: Stack, url: string, suites?: readonly SuiteName[]) =>
  run({
    partner: { url, signing: { secret }, apiKey: { value: apiKey } },
    stack,
    ...(suites && { selection: { suites } }),
  });

const journalOf = (folder: string) =>
  readFileSync(join(folder, 'journal.ndjson'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { readonly id: string; readonly body: string });

afterEach(async () => {
  await Promise.all(processes.splice(0).map(({ kill }) => kill()));
  for (const folder of folders.splice(0)) removeCopy(folder);
});

describe.each(RUN)('the recipe for %s', (stack) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the recipe for ${stack}: ${reason}`);
  const facts = RECIPE_FACTS[stack];
  const isPlayed = (at: number) => isItsTurn(RUN.indexOf(stack), at, 3);

  if (isPlayed(0)) {
    it.skipIf(reason !== null)('passes the whole catalogue', async () => {
      const folder = copied(stack);
      const { url } = await started(stack, folder);
      const document = await checked(stack, url);
      const found = document.results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
      expect(
        found.map(({ id, verdict, reason }) => ({ id, verdict, reason })).filter(({ id }) => !isExpected(id)),
      ).toEqual([]);
      expect(document.verdict).toBe('conformant');
      const ids = journalOf(folder).map(({ id }) => id);
      expect(ids.length).toBeGreaterThan(100);
      expect(new Set(ids).size).toBe(ids.length);
    });
  }

  const isExpected = (id: string) => facts?.warnings?.[id] !== undefined;

  if (isPlayed(1)) {
    it.skipIf(reason !== null)(
      'is caught when it verifies re-serialised JSON, with a fix for its language',
      async () => {
        const source = sourceOf(stack);
        const { find = '', replace = '' } = facts?.mutation ?? {};
        const faulty = source.replace(find, () => replace);
        expect(faulty).not.toBe(source);
        const { url } = await started(stack, copied(stack, faulty));
        const document = await checked(stack, url, ['raw-body', 'signature']);
        const [main] = document.diagnosis;
        // The two suites that reveal the fault name its mistake, unless the first delivery is enough.
        expect(main?.fault).toMatch(/^verifies-.*json$|^reserialised-body$|^body-rewritten-upstream$/);
        expect(main?.fix).toContain(facts?.fixSays);
        expect(document.verdict).not.toBe('conformant');
      },
    );
  }

  if (isPlayed(0)) {
    it.skipIf(reason !== null)(
      'knows its notifications after a restart, and repairs a line that was cut off',
      async () => {
        const folder = copied(stack);
        const first = await started(stack, folder, { apiKey });
        expect(await delivered(first.url, 'one')).toBe(200);
        await first.kill();
        appendFileSync(join(folder, 'journal.ndjson'), '{"id":"two","rec');
        const second = await started(stack, folder, { apiKey });
        expect(await delivered(second.url, 'one')).toBe(200);
        expect(await delivered(second.url, 'two')).toBe(200);
        expect(journalOf(folder).map(({ id }) => id)).toEqual(['one', 'two']);
      },
    );
  }

  if (isPlayed(2)) {
    it.skipIf(reason !== null)('accepts the old and the new secret of a rotation, each at its time', async () => {
      const folder = copied(stack);
      let current = await started(stack, folder);
      const { url } = current;
      const switchTo = async (step: RotationStep) => {
        await current.kill();
        current = await started(stack, folder, { ...SECRETS[step], apiKey, port: Number(new URL(url).port) });
      };
      const document = await run({
        partner: { url, signing: { secret }, apiKey: { value: apiKey } },
        selection: { suites: ['rotation'] },
        evidenceSources: { rotation: { nextSecret, switchTo } },
      });
      expect(document.rotation?.steps).toEqual(['old', 'both', 'new']);
      const found = document.results.filter(({ verdict }) => verdict !== 'pass');
      // The recipe restarts to switch its secrets.
      expect(
        found.map(({ id, verdict, reason }) => ({ id, verdict, reason })).filter(({ id }) => !isSwitch(id)),
      ).toEqual([]);
    });
  }

  const isLimited = ['Python', 'PHP'].includes(titleOfStack(stack).language);

  if (isLimited) {
    it.skipIf(reason !== null)('answers 503 to what it cannot write, and keeps no part of it', async () => {
      const folder = copied(stack);
      const full = await started(stack, folder, { apiKey, maxFileBytes: 1024 });
      const statuses: number[] = [];
      for (let n = 0; n < 20; n += 1) statuses.push(await delivered(full.url, `id-${n}`));
      const stored = statuses.filter((status) => status === 200).length;
      expect(statuses).toEqual([...Array(stored).fill(200), ...Array(20 - stored).fill(503)]);
      expect(stored).toBeGreaterThan(0);
      expect(readFileSync(join(folder, 'journal.ndjson'), 'utf8')).toMatch(/\n$/);
      expect(journalOf(folder)).toHaveLength(stored);
      await full.kill();
      const free = await started(stack, folder, { apiKey });
      expect(await delivered(free.url, 'id-19')).toBe(200);
      expect(journalOf(folder)).toHaveLength(stored + 1);
    });
  }

  if (isPlayed(1)) {
    it.skipIf(reason !== null)('does not start without any credential', async () => {
      const start = started(stack, copied(stack), {});
      await expect(start).rejects.toThrow(/ended with [1-9][\s\S]*WEBHOOK_SECRET/);
    });
  }
});

function delivered(url: string, id: string): Promise<number> {
  const body = JSON.stringify({ id, type: 'WALLET', at: '2026-01-01T00:00:00Z', data: { operation: 'ANY' } });
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': apiKey };
  return fetch(url, { method: 'POST', headers, body }).then(({ status }) => status);
}

/** The stack of each folder with a recipe for another scheme. */
const SCHEME_FOLDERS = new Map(
  Object.entries(SCHEME_RECIPES).flatMap(([scheme, stacks]) =>
    stacks.map((stack) => [recipeInScheme(stack, scheme).stack as string, stack] as const),
  ),
);

describe('the table of stacks', () => {
  it('lists the files that the recipes of a language share', () => {
    const names = RECIPES.flatMap((stack) => recipeOf(stack).shared ?? []);
    const root = fileURLToPath(new URL('../../recipes/', import.meta.url));
    const files = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => name).toSorted()).toEqual([...new Set(names), 'README.md'].toSorted());
  });

  it('lists the files of every recipe', () => {
    const root = fileURLToPath(new URL('../../recipes/', import.meta.url));
    const folderNames = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of folderNames) {
      const isOf = (stack: Stack) => name === stack || SCHEME_FOLDERS.get(name) === stack;
      const listed = STACKS.filter(isOf).map((stack) => [...recipeOf(stack).files].toSorted());
      const files = readdirSync(join(root, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(join(root, name), join(entry.parentPath, entry.name)));
      expect([files.toSorted()]).toEqual(listed);
    }
  });
});
