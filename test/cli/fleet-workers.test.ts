/** Worker processes: a worker that crashes or blocks is ended, and the next partner gets a new one. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createWorkers, WORKER_VARIABLES, type Workers } from '../../harness/cli/certify/worker-process.ts';
import type { ResolvedConfig } from '../../harness/config/index.ts';

/** A worker that does what the name of the folder says, and answers with its process id. */
const WORKER = `
const done = (what) =>
  process.send({ kind: 'done', facts: {}, refusals: [], identity: null, files: [String(what)] });
process.on('message', ({ kind, folder }) => {
  if (kind === 'stop') done('stopped');
  else if (folder === 'crash') throw new Error('of this one');
  else if (folder === 'spin') for (;;);
  else if (folder === 'broken') process.send({ kind: 'broken', message: 'no' });
  else if (folder === 'good') done(process.pid);
  else if (folder === 'environment') done(JSON.stringify(process.env));
});
process.on('disconnect', () => process.exit());
`;

let folder = '';
let workers: Workers;
const signal = new AbortController().signal;
const run = (what: string, timeoutMs = 20_000, given = signal) =>
  workers.run({ kind: 'run', config: {} as ResolvedConfig, folder: what }, { timeoutMs, signal: given });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-workers-'));
  await writeFile(join(folder, 'worker.mjs'), WORKER);
  return () => rm(folder, { recursive: true, force: true });
});
afterEach(() => workers.close());

describe('a worker', () => {
  it('is reused after a finished partner, but not after a crash or an error', async () => {
    workers = createWorkers(join(folder, 'worker.mjs'));
    const pids: unknown[] = [];
    for (const what of ['good', 'good', 'crash', 'good', 'broken', 'good']) pids.push((await run(what)).answer);
    expect(pids[2]).toEqual({ kind: 'gone', how: 'exit code 1' });
    expect(pids[4]).toEqual({ kind: 'broken', message: 'no' });
    expect(pids[1]).toEqual(pids[0]);
    expect(new Set([pids[1], pids[3], pids[5]].map((one) => JSON.stringify(one))).size).toBe(3);
  });

  it('is stopped at its time limit, and killed if it does not stop', async () => {
    workers = createWorkers(join(folder, 'worker.mjs'), 10_000);
    const stopped = await run('wait', 300);
    expect(stopped).toMatchObject({ timedOut: true, answer: { kind: 'done', files: ['stopped'] } });
    workers.close();
    workers = createWorkers(join(folder, 'worker.mjs'), 100);
    const spinning = await run('spin', 300);
    expect(spinning).toEqual({ timedOut: true, answer: { kind: 'gone', how: 'signal SIGKILL' } });
  });

  it('is stopped when the certification is interrupted', async () => {
    workers = createWorkers(join(folder, 'worker.mjs'), 10_000);
    const stop = new AbortController();
    const stopped = run('wait', 20_000, stop.signal);
    stop.abort();
    expect(await stopped).toMatchObject({ timedOut: false, answer: { kind: 'done' } });
  });

  it('has what Node needs in its environment, and neither the signing key nor a secret', async () => {
    const secrets = {
      HOOKPROOF_CERTIFY_KEY: 'the-signing-key',
      HOOKPROOF_CERTIFY_KEY_PASSPHRASE: 'the-passphrase',
      HOOKPROOF_SECRET: 'a-secret',
      PARTNER_ACME__SECRET: 'the-secret-of-acme',
      AWS_SECRET_ACCESS_KEY: 'the-secret-of-the-cloud',
      GITHUB_TOKEN: 'the-token-of-the-job',
    };
    for (const [name, value] of Object.entries(secrets)) vi.stubEnv(name, value);
    vi.stubEnv('NODE_EXTRA_CA_CERTS', '/ca.pem');
    vi.stubEnv('TZ', 'Europe/Paris');
    workers = createWorkers(join(folder, 'worker.mjs'));
    const [{ answer }, pid] = [await run('environment'), (await run('good')).answer];
    vi.unstubAllEnvs();
    if (answer.kind !== 'done' || pid.kind !== 'done') throw new Error('the worker did not answer');
    // A process can change its own environment. On some systems, /proc shows the environment with which it was started.
    const file = `/proc/${pid.files[0]}/environ`;
    const started = existsSync(file) ? (await readFile(file, 'utf8')).split('\0').filter((line) => line !== '') : [];
    const seen = [...Object.keys(JSON.parse(answer.files[0]!)), ...started.map((line) => line.split('=')[0]!)];
    const values = [answer.files[0]!, ...started].join('\n');
    expect(Object.entries(secrets).filter(([name, value]) => seen.includes(name) || values.includes(value))).toEqual(
      [],
    );
    expect(JSON.parse(answer.files[0]!)).toMatchObject({ NODE_EXTRA_CA_CERTS: '/ca.pem', TZ: 'Europe/Paris' });
    // Node itself adds the channel.
    const expected = ['NODE_EXTRA_CA_CERTS', 'TZ', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE'];
    const present = WORKER_VARIABLES.filter((name) => process.env[name] !== undefined);
    expect(seen.filter((name) => ![...expected, ...present].includes(name))).toEqual([]);
  });
});
