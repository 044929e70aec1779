/** Worker processes: one that crashes or blocks is ended, and the next partner gets a new one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createWorkers, type Workers } from '../../harness/cli/certify/worker-process.ts';
import type { ResolvedConfig } from '../../harness/config/index.ts';

/** Does what the name of the folder says, and answers with its process id. */
const WORKER = `
const done = (what) =>
  process.send({ kind: 'done', facts: {}, refusals: [], identity: null, files: [String(what)] });
process.on('message', ({ kind, folder }) => {
  if (kind === 'stop') done('stopped');
  else if (folder === 'crash') throw new Error('of this one');
  else if (folder === 'spin') for (;;);
  else if (folder === 'broken') process.send({ kind: 'broken', message: 'no' });
  else if (folder === 'good') done(process.pid);
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
});
