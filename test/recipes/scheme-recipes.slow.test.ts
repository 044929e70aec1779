import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type HeaderLine, SCHEME_RECIPES, type Stack } from '../../contract/index.ts';
import { SCHEMES, type Scheme, signWithScheme } from '../../contract/signing/index.ts';
import { run } from '../../harness/index.ts';
import { hookproof } from '../cli/hookproof.ts';
import { inTurn } from '../setup/turn.ts';
import { type RecipeProcess, startRecipe, whyNotRun } from './recipe-process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const nowInSeconds = () => Math.floor(Date.now() / 1000);

/** A fault of a recipe: the text to replace. */
const WITHOUT_TOLERANCE: Partial<Record<Stack, [file: string, from: string, to: string]>> = {
  express: ['receiver.mjs', 'const TOLERANCE_SECONDS = 300', 'const TOLERANCE_SECONDS = 1e12'],
  flask: ['receiver.py', 'TOLERANCE_SECONDS = 300', 'TOLERANCE_SECONDS = 1e12'],
};

/** Writes a recipe with `init`, perhaps with a fault. */
async function written(stack: Stack, scheme: string, fault?: [file: string, from: string, to: string]) {
  const folder = mkdtempSync(join(tmpdir(), `scheme-recipe-${stack}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { code, stdout } = await hookproof(['init', '--stack', stack, '--scheme', scheme, folder], { cwd: folder });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('whsec_') });
  expect(readFileSync(join(folder, 'hookproof.yaml'), 'utf8')).toMatch(/^scheme: standard-webhooks /m);
  if (fault !== undefined) {
    const [file, from, to] = fault;
    const source = readFileSync(join(folder, file), 'utf8');
    expect(source).toContain(from);
    writeFileSync(join(folder, file), source.replace(from, to));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function started(stack: Stack, settings: Parameters<typeof startRecipe>[1]): Promise<RecipeProcess> {
  const receiver = await startRecipe(stack, settings);
  onTestFinished(() => receiver.kill());
  return receiver;
}

const RECIPES = Object.entries(SCHEME_RECIPES).flatMap(([scheme, stacks]) =>
  stacks.map((stack) => [stack, SCHEMES.find(({ name }) => name === scheme) as Scheme] as const),
);

describe.each(inTurn(RECIPES, 2))('the recipe for %s in another scheme', (stack, scheme) => {
  const skipped = whyNotRun(stack) !== null;

  it.skipIf(skipped)('passes every check, and without its tolerance does not', async () => {
    const secret = newSecret();
    const played = async (fault?: [string, string, string]) => {
      const receiver = await started(stack, { folder: await written(stack, scheme.name, fault), secret });
      const document = await run({ partner: { url: receiver.url, signing: { secret, scheme } } });
      return document.results.filter(({ verdict }) => verdict === 'fail').map(({ id }) => id);
    };
    expect(await played()).toEqual([]);
    expect(await played(WITHOUT_TOLERANCE[stack])).toContain('scheme/time-past');
  });

  it.skipIf(skipped)('takes two secrets, handles an id once, also after a restart, and needs a secret', async () => {
    const [secret, previousSecret] = [newSecret(), newSecret()];
    const folder = await written(stack, scheme.name);
    const journal = join(folder, 'journal.ndjson');
    const body = Buffer.from('{"type":"a.b","name":"café"}');
    const post = async (url: string, id: string, secrets: readonly string[], sent = body) => {
      const headers: HeaderLine[] = signWithScheme(scheme, { body: sent, url, id, timestamp: nowInSeconds() }, secrets);
      const json = ['Content-Type', 'application/json'] as const;
      const { status } = await fetch(url, {
        method: 'POST',
        body: sent,
        headers: [json, ...headers] as [string, string][],
      });
      return status;
    };
    const settings = { folder, journal, secret, previousSecret };
    const first = await started(stack, settings);
    expect(await post(first.url, 'msg_1', [secret])).toBe(200);
    expect(await post(first.url, 'msg_2', [previousSecret])).toBe(200);
    expect(await post(first.url, 'msg_3', [newSecret(), secret])).toBe(200);
    expect(await post(first.url, 'msg_4', [newSecret()])).toBe(401);
    expect(await post(first.url, 'msg_1', [secret])).toBe(200);
    expect(await post(first.url, 'msg_5', [secret], Buffer.from('{'))).toBe(400);
    expect(await post(first.url, 'msg_6', [secret], Buffer.alloc(1024 * 1024 + 2, '1'))).toBe(413);
    await first.kill();
    const second = await started(stack, settings);
    expect(await post(second.url, 'msg_1', [secret])).toBe(200);
    await second.kill();
    const lines = readFileSync(journal, 'utf8').trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('msg_1'))).toHaveLength(1);
    expect(lines).toHaveLength(3);
    await expect(startRecipe(stack, { ...settings, secret: 'whsec_a!' })).rejects.toThrow('must be whsec_ followed by');
  });
});

it('init names the stacks that have a recipe in a scheme', async () => {
  const { code, stderr } = await hookproof(['init', '--stack', 'go', '--scheme', 'standard-webhooks', '/nowhere']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Choose from express, flask') });
  const alone = await hookproof(['init', '--scheme', 'standard-webhooks']);
  expect({ code: alone.code, stderr: alone.stderr }).toEqual({ code: 2, stderr: expect.stringContaining('--stack') });
});
