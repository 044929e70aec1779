import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resultDocument } from '../../harness/report/result-document.ts';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { CATALOGUE } from '../../scenarios/index.ts';
import { type Endpoint, serve } from '../endpoints/listen.ts';
import { hmacOf, verifying } from '../endpoints/verifying.ts';
import { hookproof, MAIN } from './hookproof.ts';

const SECRET = randomBytes(32).toString('base64');
const API_KEY = randomBytes(24).toString('base64url');
const env = { HOOKPROOF_SECRET: SECRET, HOOKPROOF_API_KEY: API_KEY };
const ALL = CATALOGUE.flatMap(({ scenarios }) => scenarios).length;

let cwd = '';
let receiver: RunningReceiver;
let url = '';
const open: Endpoint[] = [];
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  receiver = await startReceiver({ signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] }, port: 0 });
  url = new URL('/hooks', receiver.url).href;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});
afterAll(async () => {
  await receiver.close();
  await rm(cwd, { recursive: true });
});

const documentIn = (text: string) => resultDocument.parse(JSON.parse(text));

describe('run', () => {
  it('writes nothing but JSON to stdout with --reporter json=-', async () => {
    const { code, stdout } = await hookproof(['run', url, '--suite', 'valid', '--reporter', 'json=-'], { env });
    const { partial, partialReasons, target, results } = documentIn(stdout);
    expect({ code, partial, partialReasons, features: target.features }).toEqual({
      code: 0,
      partial: true,
      partialReasons: ['selection'],
      features: ['hmac', 'api-key'],
    });
    expect(new Set(results.map(({ suite }) => suite))).toEqual(new Set(['valid']));
  });

  it('writes one event per line with --reporter ndjson', async () => {
    const { stdout } = await hookproof(['run', url, '--suite', 'combination', '--reporter', 'ndjson'], { env });
    const types = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type);
    expect(types).toEqual(['run-started', ...Array.from({ length: 9 }, () => 'scenario-finished'), 'run-finished']);
  });

  it('records the exchanges of passes only with --evidence', async () => {
    const one = ['run', url, '--scenario', 'signature/missing', '--reporter', 'json=-'];
    const [without, kept] = await Promise.all([hookproof(one, { env }), hookproof([...one, '--evidence'], { env })]);
    expect(documentIn(without.stdout).results[0]?.exchanges).toEqual([]);
    expect(documentIn(kept.stdout).results[0]?.exchanges.map(({ role }) => role)).toEqual([
      'control',
      'probe',
      'control',
    ]);
  });

  it('sends the same values with the same seed, except ids', async () => {
    const one = ['run', url, '--scenario', 'valid/plain', '--seed', 's', '--evidence', '--reporter', 'json=-'];
    const bodies = await Promise.all(
      [1, 2].map(async () => {
        const { results } = documentIn((await hookproof(one, { env })).stdout);
        const probe = results[0]?.exchanges.find(({ role }) => role === 'probe');
        return JSON.parse(probe?.request.body.text ?? '{}');
      }),
    );
    expect(bodies[0].id).not.toBe(bodies[1].id);
    expect({ ...bodies[0], id: '', at: 0 }).toEqual({ ...bodies[1], id: '', at: 0 });
  });

  it('runs every scenario in exactly one shard', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async (index) => {
        const args = ['run', url, '--suite', 'typo-key', '--shard', `${index}/3`, '--reporter', 'json=-'];
        return documentIn((await hookproof(args, { env })).stdout).results.map(({ id }) => id);
      }),
    );
    const suite = CATALOGUE.find(({ name }) => name === 'typo-key');
    expect(ids.flat().toSorted()).toEqual(suite?.scenarios.map(({ id }) => id).toSorted());
  });

  it('names the feature that is not configured', async () => {
    const args = ['run', 'http://127.0.0.1:9/', '--suite', 'api-key', '--reporter', 'json=-'];
    const { results } = documentIn((await hookproof(args, { env: { HOOKPROOF_SECRET: SECRET } })).stdout);
    const verdicts = new Set(results.map(({ verdict, reason }) => `${verdict}: ${reason}`));
    expect([...verdicts]).toContain('not-applicable: the feature api-key is not configured');
  });

  it('fails for warnings with --strict', async () => {
    // This endpoint meets every requirement of level must, but violates one of level should: it accepts other methods.
    const endpoint = await serve(verifying((body) => hmacOf(SECRET, body).toString('base64')));
    open.push(endpoint);
    const args = ['run', endpoint.url, '--scenario', 'http/method-put', '--reporter', 'json=-'];
    const given = { env: { HOOKPROOF_SECRET: SECRET } };
    const [lax, strict] = await Promise.all([hookproof(args, given), hookproof([...args, '--strict'], given)]);
    expect([lax, strict].map(({ code, stdout }) => [code, documentIn(stdout).counts.warn])).toEqual([
      [0, 1],
      [1, 1],
    ]);
  });

  it('stops after the first failure with --bail, and judges the rest inconclusive', async () => {
    const endpoint = await serve((request, response) => void request.resume().on('end', () => response.end()));
    open.push(endpoint);
    const args = ['run', endpoint.url, '--suite', 'signature', '--bail', '--concurrency', '1', '--reporter', 'json=-'];
    const { code, stdout } = await hookproof(args, { env: { HOOKPROOF_SECRET: SECRET } });
    const { counts, planned, judged, results } = documentIn(stdout);
    // The first checks, which show the statuses of the endpoint, are judged together.
    expect([1, 2, 3]).toContain(counts.fail);
    expect({ code, rest: counts.inconclusive, judged }).toEqual({
      code: 1,
      rest: planned - counts.pass - counts.notApplicable - counts.fail,
      judged: planned,
    });
    expect(results.find(({ id }) => id === 'signature/hex')?.reason).toMatch(
      /^stopped after the first failure \(signature\//,
    );
  });
});

describe('an interrupted run', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s: exits with %d at once, with a partial report', async (signal, exit) => {
    let requests = 0;
    let interrupt = () => {};
    const right = verifying((body) => hmacOf(SECRET, body).toString('base64'));
    const endpoint = await serve((request, response) => {
      requests++;
      if (requests <= 20) return right(request, response);
      // Nothing is answered from here on: deliveries are in flight when the signal arrives.
      interrupt();
    });
    open.push(endpoint);
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [MAIN, 'run', endpoint.url, '--timeout', '10m', '--reporter', 'json=-'], {
      env: { PATH, HOME, HOOKPROOF_SECRET: SECRET },
      cwd,
    });
    interrupt = () => child.kill(signal);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (data) => (stdout += data));
    child.stderr.on('data', (data) => (stderr += data));
    // The signal is sent only once, because a second one ends the process at once.
    const once = interrupt;
    interrupt = () => {
      interrupt = () => {};
      once();
    };
    const code = await new Promise((resolve) => child.once('close', resolve));
    const { interrupted, planned, judged, counts, results } = documentIn(stdout);
    expect({ code, interrupted, judged, planned }).toEqual({
      code: exit,
      interrupted: true,
      judged: ALL,
      planned: ALL,
    });
    expect(counts.pass).toBeGreaterThan(0);
    expect({ fail: counts.fail, harnessError: counts.harnessError }).toEqual({ fail: 0, harnessError: 0 });
    const applicable = results.filter(({ verdict }) => verdict !== 'not-applicable');
    expect(applicable.at(-1)).toMatchObject({ verdict: 'inconclusive', reason: 'the run was interrupted' });
    expect(stderr).toContain('interrupted');
  });
});

describe('reports of the hookproof.yaml of the current folder', () => {
  it.each([
    ['output-dir: out', 'json'],
    ['reporters: [junit=out/junit.xml]', 'junit'],
    ['reporters: [ndjson=events.ndjson]', 'ndjson'],
  ])('are not written through a link that leads out of it: %s', async (line, name) => {
    const [folder, outside] = [await mkdtemp(join(cwd, 'clone-')), await mkdtemp(join(cwd, 'home-'))];
    await writeFile(join(outside, 'events'), 'precious');
    await symlink(outside, join(folder, 'out'));
    await symlink(join(outside, 'events'), join(folder, 'events.ndjson'));
    let requests = 0;
    const endpoint = await serve((_, response) => {
      requests += 1;
      response.end();
    });
    open.push(endpoint);
    await writeFile(join(folder, 'hookproof.yaml'), `url: ${endpoint.url}\nscenarios: [valid/plain]\n${line}\n`);
    const { code, stderr } = await hookproof(['run'], { cwd: folder, env });
    expect([code, requests, await readdir(outside)]).toEqual([2, 0, ['events']]);
    expect(await readFile(join(outside, 'events'), 'utf8')).toBe('precious');
    expect(stderr).toMatch(
      new RegExp(`The ${name} report cannot be written to \\S+: a symbolic link leads out of \\S+`),
    );
  });
});
