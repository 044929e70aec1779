/** How every recipe uses its journal, apart from what the attacks in test/proofs/recipes/promises.ts show. */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { recipeOf, STACKS, type Stack, titleOfStack } from '../../contract/index.ts';
import { freePort } from '../endpoints/listen.ts';
import { isItsTurn } from '../setup/turn.ts';
import { copyRecipe, type RecipeProcess, removeCopy, startProcess, startRecipe, whyNotRun } from './recipe-process.ts';

const apiKey = randomBytes(24).toString('base64url');
const RECIPES = STACKS.filter((stack) => recipeOf(stack).stack === stack && recipeOf(stack).notRun === undefined);
const folders: string[] = [];
const processes: RecipeProcess[] = [];

function copied(stack: Stack): { readonly folder: string; readonly journal: string } {
  const folder = copyRecipe(stack);
  folders.push(folder);
  return { folder, journal: join(folder, 'kept.ndjson') };
}

async function started(stack: Stack, { folder, journal }: { folder: string; journal: string }): Promise<RecipeProcess> {
  const recipe = await startRecipe(stack, { folder, journal, apiKey });
  processes.push(recipe);
  return recipe;
}

function posted(url: string, body: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': apiKey };
  return fetch(url, { method: 'POST', headers, body }).then(({ status }) => status);
}

/** Creates a notification with JSON text as its id. */
const withId = (id: string, type = '"WALLET"') => `{"id":${id},"type":${type},"data":{"operation":"ANY"}}`;

const storedIn = (journal: string) =>
  readFileSync(journal, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { readonly id: string }).id);

const LINE = '{"id":"first","receivedAt":"2026-01-01T00:00:00.000Z","body":"{}"}\n';

/** Files of other programs, with the line that the message names. */
const FOREIGN = {
  'a text without a line end': ['not ours', 1],
  'lines of YAML': ['a: 1\nb: 2\nc', 1],
  'JSON without an id': [`${LINE}{"name":"first"}\n`, 2],
  'a number for an id': [`${LINE}{"id":5}\n`, 2],
  'an unknown text at the end': [`${LINE}not ours`, 2],
} as const;

afterEach(async () => {
  await Promise.all(processes.splice(0).map(({ kill }) => kill()));
  for (const folder of folders.splice(0)) removeCopy(folder);
});

describe.each(RECIPES)('the journal of the recipe for %s', (stack) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the journal of the recipe for ${stack}: ${reason}`);
  const isPlayed = (at: number) => isItsTurn(RECIPES.indexOf(stack), at, 3);
  const test = (at: number, what: string, play: () => Promise<void>) => {
    if (isPlayed(at)) it.skipIf(reason !== null)(what, play);
  };
  const foreign = Object.entries(FOREIGN).filter((_, at) => isPlayed(at));

  test(0, 'can be read by its owner alone', async () => {
    const copy = copied(stack);
    await started(stack, copy);
    expect((statSync(copy.journal).mode & 0o777).toString(8)).toBe('600');
  });

  test(1, 'takes no number for a text, and stores a later text with the same digits', async () => {
    const copy = copied(stack);
    const { url } = await started(stack, copy);
    expect(await posted(url, withId('5'))).toBe(400);
    expect(await posted(url, withId('"6"', '6'))).toBe(400);
    expect(await posted(url, withId('"5"'))).toBe(200);
    expect(storedIn(copy.journal)).toEqual(['5']);
  });

  test(2, 'refuses what is not JSON, and ids that cannot be read back', async () => {
    const copy = copied(stack);
    const { url, kill } = await started(stack, copy);
    const statuses = await Promise.all(
      [
        withId(String.raw`"\ud800"`),
        withId(String.raw`"a\udc00b"`),
        `/* a */${withId('"a"')}`,
        `${withId('"a"')}// a`,
        `{"id":"a","type":"WALLET","data":{"amount":NaN}}`,
      ].map((body) => posted(url, body)),
    );
    expect(statuses).toEqual(statuses.map(() => 400));
    expect(await posted(url, withId(String.raw`"pair \ud83d\ude00"`))).toBe(200);
    await kill();
    const again = await started(stack, copy);
    expect(await posted(again.url, withId('"pair 😀"'))).toBe(200);
    expect(storedIn(copy.journal)).toEqual(['pair 😀']);
  });

  test(3, 'says why it does not acknowledge when it was removed', async () => {
    const copy = copied(stack);
    const { url, output } = await started(stack, copy);
    renameSync(copy.journal, `${copy.journal}.away`);
    expect(await posted(url, withId('"a"'))).toBe(503);
    await expect.poll(output).toContain(basename(copy.journal));
  });

  test(4, 'is named by a second process, where only one can use it', async () => {
    const copy = copied(stack);
    const { url } = await started(stack, copy);
    const second = started(stack, copy);
    if (titleOfStack(stack).language === 'PHP') await second;
    else await expect(second).rejects.toThrow(/ended with [1-9][\s\S]*kept\.ndjson is in use by another process/);
    expect(await posted(url, withId('"a"'))).toBe(200);
  });

  it.skipIf(reason !== null).each(foreign)('leaves a file alone that is not a journal: %s', async (_, [text, line]) => {
    const copy = copied(stack);
    writeFileSync(copy.journal, text);
    const message = new RegExp(`ended with [1-9][\\s\\S]*kept\\.ndjson line ${line} is not a line of a journal`);
    await expect(started(stack, copy)).rejects.toThrow(message);
    expect(readFileSync(copy.journal, 'utf8')).toBe(text);
  });

  test(5, 'loses only a last line that was cut off', async () => {
    const copy = copied(stack);
    writeFileSync(copy.journal, `${LINE}{"id":"second","rec`);
    const { url } = await started(stack, copy);
    expect(await posted(url, withId('"first"'))).toBe(200);
    expect(await posted(url, withId('"second"'))).toBe(200);
    expect(readFileSync(copy.journal, 'utf8').startsWith(LINE)).toBe(true);
    expect(storedIn(copy.journal)).toEqual(['first', 'second']);
  });
});

describe.each(['php', 'laravel'] as const)('the journal of the recipe for %s, served by a web server', (stack) => {
  const reason = whyNotRun(stack);

  it.skipIf(reason !== null)('is refused in the document root, where anyone could read it', async () => {
    const { folder } = copied(stack);
    const port = await freePort();
    const address = `127.0.0.1:${port}`;
    const outside = `${folder}.ndjson`;
    const journals = { 'public.ndjson': 503, 'link.ndjson': 503, [outside]: 200 };
    for (const [name, expected] of Object.entries(journals)) {
      const journal = resolve(folder, name);
      if (name === 'link.ndjson') symlinkSync('public.ndjson', journal);
      else writeFileSync(journal, '', { mode: 0o600 });
      const server = await startProcess({
        // This starts PHP like a web server with php-fpm, which has no start of its own.
        run: `exec php -S ${address} -t . receiver.php`,
        folder,
        env: { WEBHOOK_API_KEY: apiKey, WEBHOOK_JOURNAL: journal },
        port,
        url: `http://${address}/hooks`,
        says: 'started',
      });
      processes.push(server);
      expect([name, await posted(server.url, withId('"a"'))]).toEqual([name, expected]);
      await server.kill();
    }
    rmSync(outside);
  });
});
