/** Runs `hookproof run` against a receiver of the proof of effects, each in a separate process. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultDocument } from '../../../harness/report/result-document.ts';
import { MAIN } from '../../cli/hookproof.ts';
import { freePort } from '../../endpoints/listen.ts';
import { copyRecipe, removeCopy, startEffects, startRecipe } from '../../recipes/recipe-process.ts';
import { mistakeOf } from '../../setup/mistake-of.ts';
import { SECRET } from '../durability/deliveries.ts';
import { bundledScript } from '../durability/receiver-process.ts';
import { type Case, inboxUrl } from './cases.ts';

const TOKEN = randomBytes(24).toString('base64url');

export interface Played {
  readonly code: number;
  readonly level: number;
  readonly passed: number;
  /** The checks that did not pass, with their verdicts. */
  readonly red: readonly { readonly id: string; readonly verdict: string; readonly reason: string }[];
  /** The names of the causes. */
  readonly diagnosis: readonly string[];
  readonly slowestMs: number;
  readonly seconds: number;
}

/** How a receiver is reached, and the flags of the run. */
export interface Target {
  readonly url: string;
  readonly flags: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  end(): Promise<void>;
}

/** Makes each handler fail in one of five runs, before or after the other handlers. */
const FAILING = `const fail = () => { if (Math.random() < 0.2) throw new Error('fails at random'); };
export const handlers = Object.fromEntries(['CAAS_BUY', 'CAAS_SELL', 'CAAS_ORDER_TRACKING', 'REFUND',
  'PAYMENT_METHOD', 'WALLET', 'CAAS_BLOCKCHAIN', 'UNKNOWN', 'SUPERSEDED'].map((kind) => [kind, fail]));
`;

/** Starts the receiver of a case in this folder. `more` are flags of `hookproof receiver`. */
export async function startCase(
  { receiver, store, level }: Case,
  folder: string,
  database: string,
  more: readonly string[] = [],
): Promise<Target> {
  if (receiver.how === 'recipe') {
    const copy = copyRecipe(receiver.stack);
    const recipe = await startRecipe(receiver.stack, { folder: copy, secret: SECRET });
    const window = await startEffects(receiver.stack, copy, TOKEN);
    const end = async () => {
      await Promise.all([recipe.kill(), window.kill()]);
      removeCopy(copy);
    };
    return { url: recipe.url, flags: ['--effects', window.url], end };
  }
  const [port, windowPort] = [await freePort(), await freePort()];
  const inbox = inboxUrl(store, folder, database);
  const file = join(folder, 'effects.ndjson');
  const env: NodeJS.ProcessEnv = inbox === undefined ? {} : { HOOKPROOF_INBOX: inbox };
  let command = [process.execPath, await bundledScript()];
  if (receiver.how === 'program') {
    writeFileSync(join(folder, 'handlers.mjs'), FAILING);
    command = [
      ...[process.execPath, MAIN, 'receiver', '--port', `${port}`, '--effects', `${windowPort}`, ...more],
      ...(receiver.flags ?? []),
      ...(receiver.isFailing ? ['--handlers', 'handlers.mjs'] : []),
      ...(receiver.isForgetful ? [] : ['--effects-file', file]),
    ];
  } else {
    const { fault, backgroundMs, effects } = receiver;
    const setup = { failures: 0, ...effects, file, windowPort };
    const handling = {
      pollMs: 200,
      leaseMs: 4000,
      firstDelayMs: 20,
      maxDelayMs: 200,
      attempts: 1000,
      concurrency: 100,
    };
    env.SETTINGS = JSON.stringify({ fault, backgroundMs, handling, effects: setup, withHandlers: false, port });
  }
  const scheme = more.includes('--tls-cert') ? 'https' : 'http';
  const start = [
    `${command.map((word) => `'${word}'`).join(' ')} >>log 2>&1 & echo $! >pid`,
    `for i in $(seq 400); do curl -sk -o /dev/null ${scheme}://127.0.0.1:${port}/ && exit 0; sleep 0.05; done; exit 1`,
  ];
  writeFileSync(join(folder, 'start.sh'), `cd '${folder}'\n${start.join('\n')}\n`);
  writeFileSync(join(folder, 'restart.sh'), `cd '${folder}'\nkill -9 $(cat pid)\nsh start.sh\n`);
  const all = { ...env, HOOKPROOF_SECRET: SECRET };
  const code = await execute('/bin/sh', ['start.sh'], folder, all);
  if (code !== 0) throw new Error(`the receiver does not start: ${readFileSync(join(folder, 'log'), 'utf8')}`);
  const variables = [...Object.keys(all), 'HOOKPROOF_EFFECTS_TOKEN'].flatMap((name) => ['--command-env', name]);
  const sources = level < 2 ? [] : ['--restart-command', 'sh restart.sh', '--log', 'log', ...variables];
  return {
    url: `${scheme}://${scheme === 'https' ? 'localhost' : '127.0.0.1'}:${port}/hooks`,
    flags: ['--effects', `http://127.0.0.1:${windowPort}/effects`, ...sources],
    env: all,
    async end() {
      try {
        process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL');
      } catch {
        // The log shows why the receiver ended. The run then has no verdict on restarts.
        console.log(readFileSync(join(folder, 'log'), 'utf8').slice(-2000));
      }
    },
  };
}

/** Runs a program in a folder, with its output in the file `output`. */
export async function execute(
  file: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv = {},
): Promise<number> {
  const output = createWriteStream(join(folder, 'output'), { flags: 'a' });
  await once(output, 'open');
  const child = spawn(file, args, {
    cwd: folder,
    env: {
      ...process.env,
      HOOKPROOF_SECRET: SECRET,
      HOOKPROOF_EFFECTS_TOKEN: TOKEN,
      XDG_STATE_HOME: folder,
      CI: '1',
      ...env,
    },
    stdio: ['ignore', output, output],
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  output.end();
  return code ?? 4;
}

export async function play(one: Case, database: string): Promise<Played> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-effects-'));
  try {
    const { url, flags, env, end } = await startCase(one, folder, database);
    // Waiting for lost notifications is pointless, but failing handlers are retried for longer. A lease lasts 4 s.
    const deadline = one.red.length > 0 ? '8s' : '30s';
    const started = performance.now();
    const report = ['--reporter', 'json=run.json', '--timeout', '10s'];
    const args = [MAIN, 'run', url, ...flags, '--effects-deadline', deadline, ...report];
    const code = await execute(process.execPath, args, folder, env).finally(end);
    const seconds = (performance.now() - started) / 1000;
    const document = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as ResultDocument;
    const took = document.results.flatMap(({ effects = [] }) => effects.flatMap(({ tookMs }) => tookMs ?? []));
    return {
      code,
      level: document.evidence?.level ?? 0,
      passed: document.counts.pass,
      red: document.results
        .filter(({ verdict }) => !['pass', 'not-applicable'].includes(verdict))
        .map(({ id, verdict, reason }) => ({ id, verdict, reason })),
      diagnosis: document.diagnosis.map(({ fault }) => fault),
      slowestMs: Math.round(Math.max(0, ...took)),
      seconds,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the unexpected results, as sentences. */
export function problemsOf(one: Case, { code, level, red, diagnosis }: Played): string[] {
  const named = one.diagnosis ?? [];
  const expected = { code: one.red.length === 0 ? 0 : 1, diagnosis: [...named, ...named.map(mistakeOf)] };
  const others = red.filter(({ id }) => one.warnings?.includes(id) !== true);
  const failures = others.filter(({ verdict }) => verdict === 'fail');
  const [main = 'none'] = diagnosis;
  return [
    ...(code === expected.code ? [] : [`exit code ${code}, expected ${expected.code}`]),
    ...(level === one.level ? [] : [`level ${level}, expected ${one.level}`]),
    ...(one.red.length === 0 ? others.map(({ id, verdict, reason }) => `${verdict} ${id}: ${reason}`) : []),
    ...(one.red.length > 0 && !failures.some(({ id }) => one.red.includes(id)) ? [`passes ${one.red.join()}`] : []),
    ...(one.red.length > 0 && !expected.diagnosis.includes(main)
      ? [`diagnosis ${main}, expected ${named.join(' or ')}`]
      : []),
  ];
}
