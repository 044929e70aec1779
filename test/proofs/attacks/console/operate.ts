/** Attacks on a real `hookproof operate`: hostile partners, and rows that an attacker has added to its tables. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Tried } from './sources.ts';
import { forgedCertificate, type Program, type Stage } from './stage.ts';

const TIMEOUT_MS = 120_000;
const POLL_MS = 500;

/** Runs a worker until it has judged the partners, and checks what it trusted and where it sent something. */
export async function attackOperate(stage: Stage, [command, ...args]: Program): Promise<Tried[]> {
  const { database, folder, pool } = stage;
  const contacted: string[] = [];
  const sink = createServer((request, response) => {
    contacted.push(request.url ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  await once(sink, 'listening');
  const { port } = sink.address() as AddressInfo;
  await writePartners(join(folder, 'partners'), port);
  const flags = ['--partners', 'partners', '--key', 'operator.pem', '--allow-private', 'localhost'];
  const env = { PATH: process.env.PATH, HOOKPROOF_REGISTER: database };
  const start = () =>
    spawn(command, [...args, 'operate', ...flags], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const started = new Date().toISOString();
  let worker = start();
  try {
    await until(
      async () => (await count(pool, "SELECT FROM information_schema.tables WHERE table_name = '_private_jobs'")) > 0,
    );
    await forgeTables(stage, started);
    const judged = `SELECT DISTINCT partner FROM hookproof_register
      WHERE at >= '${started}' AND partner IN ('good', 'ghost', 'evil')`;
    await until(async () => (await count(pool, judged)) === 3);
    const open = "SELECT FROM hookproof_queue._private_jobs AS job WHERE key LIKE 'forged%' AND attempts = 0";
    await until(async () => (await count(pool, open)) === 0);
    // A worker plans as soon as it starts, and thus finds the notices for earlier events.
    worker.kill('SIGTERM');
    await once(worker, 'exit');
    worker = start();
    const waiting = "SELECT FROM hookproof_notice WHERE partner = 'evil' AND recipient = 'partner' AND next_at IS NULL";
    await until(async () => (await count(pool, waiting)) > 0);
  } finally {
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    await ended;
    sink.close();
  }
  const events = await pool.query<{ partner: string; event: string }>(
    'SELECT partner, event FROM hookproof_register WHERE at >= $1',
    [started],
  );
  const eventOf = (partner: string) => events.rows.find((row) => row.partner === partner)?.event ?? 'none';
  const notice = await pool.query<{ last_error: string }>(
    "SELECT last_error FROM hookproof_notice WHERE partner = 'evil' AND recipient = 'partner' AND next_at IS NULL",
  );
  const error = notice.rows[0]?.last_error ?? 'none';
  const beside = (await readdir(folder)).filter((name) => name.startsWith('escaped'));
  return [
    { name: 'a partner signs with the secret of another', got: eventOf('evil') === 'refused' ? null : eventOf('evil') },
    {
      name: 'a request was sent for it',
      got: contacted.some((url) => url.includes('evil')) ? contacted.join(', ') : null,
    },
    { name: 'a notice goes to a private address', got: error.startsWith('will not connect to') ? null : error },
    { name: 'a forged row of a certificate, with a record', got: eventOf('good') === 'unchanged' ? 'unchanged' : null },
    {
      name: 'a forged row of a certificate, without a record',
      got: eventOf('ghost') === 'certified' ? 'certified' : null,
    },
    { name: 'a forged job for a partner with a path as its name', got: beside.length === 0 ? null : beside.join(', ') },
  ];
}

async function writePartners(folder: string, port: number): Promise<void> {
  await mkdir(join(folder, 'secrets'), { recursive: true });
  const own = (name: string, secret: string) =>
    `url: https://localhost:${port}/${name}\nhmac:\n  secret: \${file:secrets/${secret}}\n`;
  const place = `http://127.0.0.1:${port}/evil-notice`;
  const notices = `operate:\n  notices:\n    url: ${place}\n    secret: \${file:secrets/evil}\n`;
  for (const [file, text] of [
    ['_defaults.yaml', 'profile: staging\noperate:\n  retry-after: [1s]\n'],
    ['good.yaml', own('good', 'good')],
    ['ghost.yaml', own('ghost', 'ghost')],
    ['evil.yaml', own('evil', 'good') + notices],
    ...['good', 'ghost', 'evil'].map(
      (name) => [`secrets/${name}`, `the-secret-of-${name}-0123456789abcdef0123`] as const,
    ),
  ] as const)
    await writeFile(join(folder, file), text);
}

async function forgeTables({ pool }: Stage, due: string): Promise<void> {
  for (const partner of ['good', 'ghost', '../escaped', '../../escaped']) {
    await pool.query(
      `INSERT INTO hookproof_certificate (partner, record, due, envelope, configuration, sha256)
      VALUES ($1, gen_random_uuid(), $2, $3, '{}', repeat('c', 64))`,
      [partner, due, forgedCertificate()],
    );
  }
  for (const [at, partner] of ['../escaped', '../../escaped', '/tmp/escaped', 'good/../../escaped'].entries()) {
    await pool.query('SELECT hookproof_queue.add_job($1, $2::json, job_key => $3)', [
      'partner',
      JSON.stringify({ partner, due, attempt: 0 }),
      `forged ${at}`,
    ]);
  }
}

async function count(pool: Stage['pool'], statement: string): Promise<number> {
  return (await pool.query(statement)).rowCount ?? 0;
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error('the worker has not done what it was to do within two minutes');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
