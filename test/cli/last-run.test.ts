import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keepComparedRun, readComparedRun, readLastRun, rememberRun } from '../../harness/cli/last-run.ts';
import { createRedactor } from '../../harness/report/index.ts';
import { type ResultDocument, resultDocument, type Verdict } from '../../harness/report/result-document.ts';
import { serve } from '../endpoints/listen.ts';
import { hmacOf, verifying } from '../endpoints/verifying.ts';
import { documentWith, exchangeWith, resultWith } from '../harness/report/documents.ts';
import { hookproof } from './hookproof.ts';

const URL_GIVEN = 'http://127.0.0.1:3000/hooks?token=not-to-be-seen';
let state = '';
beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'hookproof-'));
  vi.stubEnv('XDG_STATE_HOME', state);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(state, { recursive: true, force: true });
});

const runOf = (verdicts: Readonly<Record<string, Verdict>>, parts: Partial<ResultDocument> = {}) =>
  documentWith({ results: Object.entries(verdicts).map(([id, verdict]) => resultWith({ id, verdict })), ...parts });

const remembered = async () => (await readLastRun(URL_GIVEN))?.failed;

it('remembers the last full run, and which checks still fail after partial runs', async () => {
  expect(await readLastRun(URL_GIVEN)).toBeNull();
  await rememberRun(runOf({ a: 'fail', b: 'pass', c: 'fail', d: 'warn' }), URL_GIVEN);
  expect(await remembered()).toEqual(['a', 'c']);
  const partial = { partial: true };
  await rememberRun(runOf({ a: 'pass', b: 'fail' }, partial), URL_GIVEN);
  expect(await remembered()).toEqual(['b', 'c']);
  // Without a new verdict, a check still counts as failed.
  await rememberRun(runOf({ b: 'inconclusive', c: 'pass' }, partial), URL_GIVEN);
  expect(await readLastRun(URL_GIVEN)).toMatchObject({ full: { counts: { fail: 2, pass: 1 } }, failed: ['b'] });
  expect(await readLastRun('http://127.0.0.1:3000/other')).toBeNull();
});

it('counts warnings as failed in a strict run, and known failures never', async () => {
  const known = { reason: 'slow team', owner: 'payments', expires: '2099-01-01' };
  const results = [resultWith({ id: 'a', verdict: 'warn' }), resultWith({ id: 'b', verdict: 'fail', known })];
  await rememberRun(documentWith({ results, strict: true }), URL_GIVEN);
  expect(await remembered()).toEqual(['a']);
});

it('writes files that only their owner reads, without the URL', async () => {
  await rememberRun(runOf({ a: 'fail' }), URL_GIVEN);
  const folder = join(state, 'hookproof', 'runs');
  const [name = ''] = await readdir(folder);
  expect(name).toMatch(/^[0-9a-f]{16}\.json$/);
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it('remembers nothing where it cannot write, and ignores a damaged file', async () => {
  await rememberRun(runOf({ a: 'fail' }), URL_GIVEN);
  const folder = join(state, 'hookproof', 'runs');
  await writeFile(join(folder, (await readdir(folder))[0]!), '{"schemaVersion":1,"failed":[1]}');
  expect(await readLastRun(URL_GIVEN)).toBeNull();
  const file = join(state, 'file');
  await writeFile(file, '');
  vi.stubEnv('XDG_STATE_HOME', file);
  await rememberRun(runOf({ a: 'fail' }), URL_GIVEN);
  expect(await readLastRun(URL_GIVEN)).toBeNull();
});

it('keeps the last full run with verdicts for a comparison, without exchanges and secrets', async () => {
  const redactor = createRedactor({ values: [{ name: 'secret', value: 'not-to-be-kept' }] });
  const keep = (document: ResultDocument) => keepComparedRun(document, URL_GIVEN, redactor);
  const kept = async () => (await readComparedRun(URL_GIVEN))?.results.map(({ id, reason }) => [id, reason]);
  expect(await kept()).toBeUndefined();
  const result = resultWith({ verdict: 'fail', reason: 'echoes not-to-be-kept', exchanges: [exchangeWith()] });
  await keep(documentWith({ results: [result] }));
  expect(await kept()).toEqual([[result.id, 'echoes [redacted:secret]']]);
  await keep(runOf({ a: 'pass' }, { partial: true }));
  await keep(runOf({ a: 'inconclusive', b: 'inconclusive', c: 'pass' }));
  expect(await kept()).toHaveLength(1);
  const [name = ''] = await readdir(join(state, 'hookproof', 'runs'));
  const path = join(state, 'hookproof', 'runs', name);
  expect([(await stat(path)).mode & 0o777, (await readFile(path, 'utf8')).includes('exchange"')]).toEqual([
    0o600,
    false,
  ]);
  await writeFile(path, '{}');
  expect(await kept()).toBeUndefined();
});

it('forgets the endpoints that were not used for the longest time', async () => {
  for (let port = 1; port <= 102; port++) await rememberRun(runOf({ a: 'fail' }), `http://127.0.0.1:${port}/`);
  expect(await readdir(join(state, 'hookproof', 'runs'))).toHaveLength(100);
});

it('shows the last full run with a partial one', async () => {
  const secret = 'c2VjcmV0LW9mLXRoZS10ZXN0LW9mLW1lbW9yeQ';
  const endpoint = await serve(verifying((body) => hmacOf(secret, body).toString('base64')));
  const env = { HOOKPROOF_SECRET: secret, XDG_STATE_HOME: state };
  const run = async (...args: string[]) => {
    const { stdout } = await hookproof(['run', endpoint.url, '--reporter', 'json', ...args], { env });
    return resultDocument.parse(JSON.parse(stdout));
  };
  expect((await run('--scenario', 'valid/plain')).lastFullRun).toBeUndefined();
  const { counts, startedAt, tool, verdict } = await run();
  const full = { counts, startedAt, verdict, version: tool.version };
  expect((await run('--scenario', 'valid/plain')).lastFullRun).toEqual(full);
  const since = startedAt.slice(0, 16).replace('T', ' ');
  const line = `0 fixed, 0 new, 0 still failing since the run of ${since} UTC (1 check in both)`;
  const { stdout } = await hookproof(['run', endpoint.url, '--scenario', 'valid/plain'], { env });
  expect(stdout.replaceAll(/\n */g, ' ')).toContain(line);
  expect(
    (await hookproof(['run', endpoint.url, '--scenario', 'valid/plain'], { env: { ...env, CI: 'true' } })).stdout,
  ).not.toContain('still failing');
  await endpoint.close();
});

it('repeats what failed last time with --failed', async () => {
  const secret = 'c2VjcmV0LW9mLXRoZS10ZXN0LW9mLW1lbW9yeQ';
  const correct = verifying((body) => hmacOf(secret, body).toString('base64'));
  const lenient = verifying((body) => hmacOf(secret, body).toString('base64'), undefined, { lenient: true });
  let isFixed = false;
  const endpoint = await serve((request, response) => (isFixed ? correct : lenient)(request, response));
  const env = { HOOKPROOF_SECRET: secret, XDG_STATE_HOME: state };
  const failed = (...args: string[]) => hookproof(['run', endpoint.url, '--failed', ...args], { env });
  const json = async (...args: string[]) => resultDocument.parse(JSON.parse((await failed(...args)).stdout));

  expect(await failed()).toMatchObject({ code: 2, stderr: expect.stringContaining(`hookproof run ${endpoint.url}`) });
  const ids = ['signature/missing', 'signature/empty', 'raw-body/spaces'];
  await hookproof(['run', endpoint.url, ...ids.flatMap((id) => ['--scenario', id])], { env });
  expect(await failed('--shard', '1/2')).toMatchObject({ code: 2 });
  expect(await failed('--scenario', 'raw-body/spaces')).toMatchObject({ code: 2 });

  const broken = await json('--reporter', 'json', '--suite', 'signature');
  expect(broken).toMatchObject({ partial: true, verdict: 'nonconformant', planned: 1 });
  expect(broken.results.map(({ id }) => id)).toEqual(['signature/missing']);
  isFixed = true;
  expect(await json('--reporter', 'json')).toMatchObject({ partial: true, counts: { pass: 1, fail: 0 } });
  // No full run is known to have passed.
  const unknown = await failed();
  expect(unknown.code).toBe(3);
  expect(unknown.stdout).toContain('no full run is stored');
  await rememberRun(runOf({ a: 'pass' }), endpoint.url);
  const green = await failed();
  expect(green.code).toBe(0);
  expect(green.stdout).toContain(`Full run: hookproof run ${endpoint.url}`);
  await endpoint.close();
});
