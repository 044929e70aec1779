/**
 * `hookproof run` with an effects window, a restart command and a log, against receivers in their own processes: the
 * reference receiver with each store and handlers that fail at random, its faulty versions, and recipes in other
 * languages. Prints a table, and fails when a line is not as expected. Run by `npm run proofs -- effects`.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultDocument } from '../../harness/report/result-document.ts';
import { MAIN } from '../cli/hookproof.ts';
import { newDatabase, startPostgres } from '../setup/postgres.ts';

const secret = randomBytes(32).toString('base64');
const token = randomBytes(24).toString('base64url');

interface Case {
  readonly name: string;
  /** Flags of `hookproof receiver`. */
  readonly flags: (folder: string) => readonly string[];
  /** The URL of the inbox, where it has a password. */
  readonly inbox?: string;
  /** A module with handlers. */
  readonly handlers?: string;
  readonly level: 0 | 1 | 2;
  /** The checks that do not pass, in the order of the catalogue; empty for a conformant receiver. */
  readonly red: readonly string[];
}

/** Each handler fails one time in five, before or after others had their turn. */
const FAILING = `const fail = () => { if (Math.random() < 0.2) throw new Error('fails at random'); };
export const handlers = Object.fromEntries(['CAAS_BUY', 'CAAS_SELL', 'CAAS_ORDER_TRACKING', 'REFUND',
  'PAYMENT_METHOD', 'WALLET', 'CAAS_BLOCKCHAIN', 'UNKNOWN', 'SUPERSEDED'].map((kind) => [kind, fail]));
`;

const postgres = await startPostgres();
if (postgres === null) throw new Error('this proof needs PostgreSQL (apt-get install postgresql)');
const database = await newDatabase(postgres.url);

const CASES: readonly Case[] = [
  { name: 'memory, no record on disk', flags: () => [], level: 1, red: [] },
  {
    name: 'SQLite, handlers that fail at random',
    flags: (folder) => ['--inbox', `file:${join(folder, 'inbox.db')}`, '--effects-file', join(folder, 'effects')],
    handlers: FAILING,
    level: 2,
    red: [],
  },
  {
    name: 'PostgreSQL, handlers that fail at random',
    flags: (folder) => ['--effects-file', join(folder, 'effects')],
    inbox: database,
    handlers: FAILING,
    level: 2,
    red: [],
  },
  {
    name: 'wrong: inbox in memory, handlers that fail at random',
    flags: (folder) => ['--effects-file', join(folder, 'effects')],
    handlers: FAILING,
    level: 2,
    red: ['effects/survives-kill'],
  },
];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The scripts that start the receiver, and that kill it and start it again. Both end when it accepts connections. */
async function scripts(folder: string, { flags, handlers }: Case): Promise<{ url: string; effects: string }> {
  const [port, effects] = [await freePort(), await freePort()];
  if (handlers !== undefined) writeFileSync(join(folder, 'handlers.mjs'), handlers);
  const words = [
    ...[process.execPath, MAIN, 'receiver', '--port', String(port), '--effects', String(effects)],
    ...flags(folder),
    ...(handlers === undefined ? [] : ['--handlers', join(folder, 'handlers.mjs')]),
  ];
  const start = [
    `${words.map((word) => `'${word}'`).join(' ')} >>log 2>&1 & echo $! >pid`,
    `for i in $(seq 200); do curl -s -o /dev/null http://127.0.0.1:${port}/ && exit 0; sleep 0.05; done; exit 1`,
  ];
  writeFileSync(join(folder, 'start.sh'), `cd '${folder}'\n${start.join('\n')}\n`);
  writeFileSync(join(folder, 'restart.sh'), `cd '${folder}'\nkill -9 $(cat pid)\nsh start.sh\n`);
  return { url: `http://127.0.0.1:${port}/hooks`, effects: `http://127.0.0.1:${effects}/effects` };
}

const env = { ...process.env, HOOKPROOF_SECRET: secret, HOOKPROOF_EFFECTS_TOKEN: token, CI: '1' };

function execute(file: string, args: readonly string[], folder: string, inbox?: string): Promise<number> {
  return new Promise((resolve) => {
    const out = openSync(join(folder, 'output'), 'a');
    const child = execFile(file, [...args], {
      cwd: folder,
      env: { ...env, XDG_STATE_HOME: folder, ...(inbox && { HOOKPROOF_INBOX: inbox }) },
      maxBuffer: 1e9,
    });
    child.stderr?.on('data', (data) => writeFileSync(out, data));
    child.once('close', (code) => resolve(code ?? 4));
  });
}

async function play(one: Case): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-effects-'));
  try {
    const { url, effects } = await scripts(folder, one);
    await execute('/bin/sh', ['start.sh'], folder, one.inbox);
    const windows = one.level < 2 ? [] : ['--restart-command', 'sh restart.sh', '--log', 'log'];
    const started = performance.now();
    const code = await execute(
      process.execPath,
      [
        ...[MAIN, 'run', url, '--effects', effects, '--effects-deadline', '60s', ...windows],
        ...['--reporter', 'json=run.json', '--timeout', '10s'],
      ],
      folder,
      one.inbox,
    );
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL');
    const document = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')) as ResultDocument;
    const red = document.results.filter(({ verdict }) => !['pass', 'not-applicable'].includes(verdict));
    const level = document.evidence?.level ?? 0;
    const took = document.results.flatMap(({ effects: seen = [] }) => seen.flatMap(({ tookMs }) => tookMs ?? []));
    const slowest = Math.round(Math.max(0, ...took));
    const found = red.map(({ id, verdict, reason }) => `${verdict} ${id}: ${reason}`).join('; ') || 'nothing red';
    const isExpected =
      level === one.level &&
      red.map(({ id }) => id).join() === one.red.join() &&
      code === (one.red.length === 0 ? 0 : 1);
    const diagnosis = document.diagnosis.map(({ fault }) => fault).join(', ') || 'none';
    console.log(
      `${isExpected ? '✓' : '✗'} ${one.name}: exit code ${code}, level ${level}, ${document.counts.pass} passed, ` +
        `${found}; diagnosis: ${diagnosis}; slowest effect ${slowest} ms, ${seconds} s`,
    );
    if (!isExpected) process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  const wanted = process.argv.slice(2);
  for (const one of CASES) if (wanted.length === 0 || wanted.some((part) => one.name.includes(part))) await play(one);
} finally {
  await postgres.remove();
}
