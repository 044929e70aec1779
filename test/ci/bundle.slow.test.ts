/** The bundle, in folders without installed packages. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeBundle } from '../../bundle.ts';
import { filesOf, recipeOf, STACKS } from '../../contract/stacks.ts';
import { endReceivers, startedReceiver } from '../cli/receivers.ts';
import { runAction } from './run-action.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const SECRET = 'made-for-this-test-and-nothing-else-0001';
let folder = '';
let checkout = '';
let bundle = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-bundle-'));
  checkout = join(folder, 'checkout');
  await cp(join(ROOT, 'action'), join(checkout, 'action'), { recursive: true });
  bundle = await writeBundle(join(checkout, 'bundle'));
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true, force: true });
});

/** Runs the bundle, and returns its exit code and output. */
const run = (args: readonly string[]) =>
  new Promise<{ code: number; output: string }>((done) => {
    const child = execFile(process.execPath, [bundle, ...args], { cwd: folder, env: {} }, (_, stdout, stderr) =>
      done({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
  });

it('runs the whole catalogue for the action, which installs nothing', async () => {
  const right = await startedReceiver([], { env: { HOOKPROOF_SECRET: SECRET }, cwd: folder });
  const { code, log, outputs } = await runAction({ folder, checkout, inputs: { url: right.url, secret: SECRET } });
  expect([code, outputs.verdict], log).toEqual([0, 'conformant']);
  expect(Number(outputs.passed)).toBeGreaterThan(500);
  expect(await readFile(outputs.report ?? '', 'utf8')).toContain('</html>');
  expect(log).not.toContain('npm');
  await right.stop();
});

it('has the version, and the files of every recipe', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  expect(await run(['--version'])).toEqual({ code: 0, output: `${version}\n` });
  for (const stack of STACKS) {
    expect((await run(['init', '--stack', stack, stack])).code).toBe(0);
    for (const { from, to } of filesOf(recipeOf(stack))) {
      const written = await readFile(join(folder, stack, to), 'utf8');
      expect(written).toBe(await readFile(join(ROOT, 'recipes', from), 'utf8'));
    }
  }
});

it('finds optional packages next to it, and says which one is missing', async () => {
  const args = ['inbox', 'list', '--inbox', 'postgres://127.0.0.1:1/x'];
  const missing = await run(args);
  expect(missing.code).toBe(2);
  expect(missing.output).toContain('PostgreSQL needs the package pg, which is not installed.');
  const module = join(dirname(bundle), 'node_modules/pg/index.js');
  await mkdir(dirname(module), { recursive: true });
  await writeFile(module, "throw new Error('this is pg')");
  expect((await run(args)).output).toContain('this is pg');
});

it('contains no path of the machine that made it', async () => {
  expect(await readFile(bundle, 'utf8')).not.toContain(ROOT);
});
