import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type EffectsAnswer, effectsAnswer } from '../../contract/effects.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const token = randomBytes(24).toString('base64url');
const env = { HOOKPROOF_SECRET: randomBytes(32).toString('base64'), HOOKPROOF_EFFECTS_TOKEN: token };
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-effects-'));
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true });
});

const WINDOW = /effects window at (http:\/\/127\.0\.0\.1:\d+\/effects) \(test environments only\)\n/;

/** Returns the answer of the window once it reports this many handlings. */
async function handledBy(url: string, total: number): Promise<EffectsAnswer> {
  for (;;) {
    const answer = await fetch(`${url}?notification=unknown`, { headers: { Authorization: `Bearer ${token}` } });
    const effects = effectsAnswer.parse(await answer.json());
    if (effects.total >= total) return effects;
  }
}

it('--effects shows what was handled, and remembers it in a file', async () => {
  const args = ['--effects', '0', '--effects-file', join(folder, 'effects.ndjson')];
  const first = await startedReceiver(args, { env, cwd: folder });
  const url = await first.says(WINDOW);
  expect((await fetch(`${url}?notification=x`)).status).toBe(401);
  // The two events are a buy, and a failed sell with its refund.
  for (const event of ['buy', 'failed-external-sell']) {
    expect((await hookproof(['trigger', event, first.url], { env })).code).toBe(0);
  }
  expect(await handledBy(url, 3)).toEqual({ total: 3, handled: [] });
  await first.stop();
  const { stdout, stderr } = first.output();
  expect(stdout + stderr).not.toContain(token);

  const second = await startedReceiver(args, { env, cwd: folder });
  expect((await handledBy(await second.says(WINDOW), 3)).total).toBe(3);
  await second.stop();
});

it('serves it with a mutant and a token in a file', async () => {
  const file = join(folder, 'token');
  await writeFile(file, `${token}\n`, { mode: 0o600 });
  const args = ['--effects', '0', '--effects-token-file', file, '--fault', 'compares-first-8'];
  const receiver = await startedReceiver(args, { env: { HOOKPROOF_SECRET: env.HOOKPROOF_SECRET }, cwd: folder });
  const url = await receiver.says(WINDOW);
  expect((await hookproof(['trigger', 'deposit', receiver.url], { env })).code).toBe(0);
  await handledBy(url, 1);
  await receiver.stop();
});

it('has no window by default, even with a token', async () => {
  const receiver = await startedReceiver([], { env, cwd: folder });
  const answer = await fetch(new URL('/effects?notification=x', receiver.url), {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect([answer.status, await answer.text()]).toEqual([405, '{"error":"method-not-allowed"}']);
  await receiver.stop();
  expect(receiver.output().stderr).not.toContain('effects');
});

it('rejects invalid flags, and does not start without a token', async () => {
  const secret = { HOOKPROOF_SECRET: env.HOOKPROOF_SECRET };
  const wrong: [string[], NodeJS.ProcessEnv, string][] = [
    [['--effects', 'x'], env, '--effects: "x" is not a whole number from 0 to 65535'],
    [['--effects-host', '::1'], env, '`--effects-host` needs `--effects`'],
    [['--effects-file', join(folder, 'none')], env, '`--effects-file` needs `--effects`'],
    [['--effects-token-file', 'x'], env, '`--effects-token-file` needs `--effects`'],
    [['--effects', '0'], secret, '`--effects` needs a token'],
    [['--effects', '0'], { ...secret, HOOKPROOF_EFFECTS_TOKEN: 'guessable' }, 'The token of the effects window'],
    [['--effects', '0', '--effects-file', join(folder, 'a', 'b')], env, 'cannot be opened'],
    [['--effects', '0', '--inbox', `file:${join(folder, 'a', 'b')}`], env, 'cannot be opened'],
  ];
  for (const [args, given, message] of wrong) {
    const { code, stdout, stderr } = await hookproof(['receiver', '--port', '0', ...args], { env: given });
    expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringContaining(message) });
    expect(stdout + stderr).not.toContain(given.HOOKPROOF_EFFECTS_TOKEN ?? token);
  }
  expect(existsSync(join(folder, 'none'))).toBe(false);
});
