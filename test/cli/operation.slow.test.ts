/**
 * `hookproof operate` and `hookproof console` as processes: from a partner's file to a page, until they are stopped.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { makeCertificate } from '../../certs/index.ts';
import { makeKeyPair } from '../../harness/certify/index.ts';
import { addJobs, openQueue } from '../../harness/operate/index.ts';
import { newDatabase } from '../setup/postgres.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedCommand } from './receivers.ts';

const server = inject('postgresUrl');
let cwd = '';
let env: NodeJS.ProcessEnv = {};
beforeAll(async () => {
  if (server === null) return;
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-operation-'));
  env = { HOOKPROOF_REGISTER: await newDatabase(server) };
  await writeFile(join(cwd, 'operator.pem'), makeKeyPair().privatePem, { mode: 0o600 });
  await mkdir(join(cwd, 'partners'));
  await writeFile(join(cwd, 'partners', 'acme.yaml'), 'url: nowhere\n');
});
afterAll(async () => {
  endReceivers();
  if (cwd !== '') await rm(cwd, { recursive: true });
});

const operate = (...args: string[]) => hookproof(['operate', ...args], { cwd, env });

it.skipIf(server === null)('plans when it starts, and leaves nothing behind when it is stopped', async () => {
  const worker = startedCommand(['operate', '--partners', 'partners', '--key', 'operator.pem'], { cwd, env });
  await worker.says(/ acme: refused/);
  expect((await operate('--status')).stdout).toMatch(/^workers {2}1 worker$/m);
  await worker.stop();
  const { code, stdout } = await operate('--status');
  expect([code, stdout]).toEqual([0, 'queue    0 running, 0 waiting, 0 later, 0 failed\nworkers  none\n']);
});

it.skipIf(server === null)('lists what has failed for good, and puts it back into the queue', async () => {
  const pool = await openQueue(String(env.HOOKPROOF_REGISTER), 1);
  await addJobs(pool, [{ task: 'partner', key: 'acme later', payload: {}, runAt: new Date(Date.now() + 86_400_000) }]);
  const fail = `UPDATE hookproof_queue._private_jobs SET attempts = max_attempts, last_error = 'disk full'
WHERE key = 'acme later' RETURNING id`;
  const id = String((await pool.query<{ id: string }>(fail)).rows[0]?.id);
  await pool.end();
  const failed = await operate('--status');
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain(`  ${id}  partner  acme later  25 attempts  `);
  expect(failed.stdout).toMatch(/ disk full$/m);
  expect(await operate('--retry', id)).toMatchObject({ code: 0, stdout: `job ${id} is in the queue again\n` });
  expect(await operate('--retry', id)).toMatchObject({ code: 2, stderr: expect.stringContaining('OPERATE_RETRY') });
  expect((await operate('--status')).stdout).toMatch(/^queue {4}0 running, 1 waiting, 0 later, 0 failed$/m);
});

it.skipIf(server === null)('shows the partners over TLS', async () => {
  const hosts = ['localhost'];
  const issuer = await makeCertificate({ subject: 'CN=CA', authority: true });
  const { cert, key } = await makeCertificate({ subject: 'CN=localhost', issuer, hosts, usages: ['serverAuth'] });
  await writeFile(join(cwd, 'cert.pem'), cert);
  await writeFile(join(cwd, 'key.pem'), key, { mode: 0o600 });
  await writeFile(join(cwd, 'operator.pub.pem'), makeKeyPair().publicPem);
  const args = [
    'console',
    '--port',
    '0',
    '--key',
    'operator.pub.pem',
    '--tls-cert',
    'cert.pem',
    '--tls-key',
    'key.pem',
  ];
  const pages = startedCommand(args, { cwd, env });
  const url = new URL(await pages.says(/(https:\S+)/));
  const agent = new Agent({ ca: issuer.cert, servername: 'localhost', keepAlive: false });
  const page = await new Promise<string>((resolve, reject) => {
    get(url, { agent }, (response) => {
      response.toArray().then((chunks) => resolve(`${response.statusCode} ${Buffer.concat(chunks)}`), reject);
    }).on('error', reject);
  });
  expect(page).toMatch(/^200 <!doctype html>/i);
  expect(page).toContain('acme');
  await pages.stop();
});
