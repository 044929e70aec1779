/** The action's script as a runner starts it, against a receiver. */
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeOutputs } from '../../action/outputs.mjs';
import { checkNode, findProgram } from '../../action/program.mjs';
import { endReceivers, startedReceiver } from '../cli/receivers.ts';
import { readAssignments, runAction } from './run-action.ts';

const SECRET = 'made-for-this-test-and-nothing-else-0001';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-action-'));
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true, force: true });
});

const act = (inputs: Readonly<Record<string, string>>, cwd?: string, cancel?: Promise<unknown>) =>
  runAction({ folder, inputs, cwd, cancel });

describe('the action', () => {
  it('ends with the exit code of the run, and writes verdict, counts and paths', async () => {
    const wrong = await startedReceiver(['--fault', 'compares-first-8'], {
      env: { HOOKPROOF_SECRET: SECRET },
      cwd: folder,
    });
    const inputs = {
      url: `${wrong.url}?token=t0ken`,
      secret: SECRET,
      suites: 'signature, tls',
      'output-dir': 'out put',
    };
    const { code, here, left, log, outputs, summary, written } = await act(inputs);
    expect(code).toBe(1);
    expect(outputs).toMatchObject({ verdict: 'nonconformant', 'exit-code': '1', 'output-dir': join(here, 'out put') });
    const { counts, results } = JSON.parse(await readFile(outputs.result ?? '', 'utf8'));
    expect(counts.notApplicable).toBeGreaterThan(0);
    const judged = counts.pass + counts.fail + counts.warn;
    expect(JSON.parse(outputs.counts ?? '')).toEqual({ ...counts, planned: results.length, judged });
    expect(Number(outputs.failed)).toBe(counts.fail);
    expect(await readFile(outputs.report ?? '', 'utf8')).toContain('partial-comparison');
    expect(outputs.badge).toBe('');
    expect(summary).toContain('(partial run, no verdict)');
    expect(log).toMatch(/^::error title=/m);
    expect(`${log}${summary}${written}`).not.toContain(SECRET);
    expect(left).toEqual([]);

    // A run that did not start must not publish the files of an earlier run.
    const nothing = await act({ ...inputs, suites: 'no-such-suite' }, here);
    expect([nothing.code, nothing.outputs.verdict, nothing.outputs.result]).toEqual([2, 'none', '']);
    await wrong.stop();
  });

  it('sends nothing when an input is invalid, and annotates the reason', async () => {
    const { code, log, outputs, summary } = await act({ url: 'http://127.0.0.1:1', secret: '' });
    expect([code, outputs.verdict, outputs['exit-code'], outputs.report]).toEqual([2, 'none', '2', '']);
    expect(log).toMatch(/^::error title=hookproof::The input `secret` is set but empty\./);
    expect(summary).toContain('no result');
  });

  it('writes the results so far when the job is cancelled', async () => {
    const silent = createServer((request) => request.resume());
    const asked = once(silent, 'request');
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const acting = act({ url: `http://127.0.0.1:${port}/`, open: 'true' }, undefined, asked);
    const { code, outputs } = await acting;
    expect([code, outputs.verdict, outputs['exit-code']]).toEqual([130, 'inconclusive', '130']);
    expect(JSON.parse(await readFile(outputs.result ?? '', 'utf8')).interrupted).toBe(true);
    silent.closeAllConnections();
    silent.close();
  });

  it('writes a key that is given as text to a private file, and removes it', async () => {
    // An invalid key, so that the error contains its path and the run does not start.
    const { code, left, log } = await act({
      url: 'https://127.0.0.1:1',
      'client-cert': '-----BEGIN NOTHING',
      'client-key': '-----BEGIN NOTHING',
    });
    expect(code).toBe(2);
    expect(log).toContain('hookproof_client_key.pem');
    expect(left).toEqual([]);
  });
});

describe('outputs', () => {
  it('cannot inject other outputs', async () => {
    const file = join(folder, 'outputs');
    const values = { verdict: 'x\nEOF\nverdict=conformant\n', report: '/a b/<<c=d' };
    writeOutputs(file, values);
    writeOutputs(file, { more: '' });
    expect(readAssignments(await readFile(file, 'utf8'))).toEqual({ ...values, more: '' });
  });
});

describe('the program', () => {
  /** Creates a fake npm that records its arguments and its folder. */
  async function npmOf(exitCode: number) {
    const place = await mkdtemp(join(folder, 'npm-'));
    await writeFile(
      join(place, 'npm'),
      `#!/bin/sh\nprintf '%s in %s\\n' "$*" "$PWD" >> "${place}/asked"\nexit ${exitCode}\n`,
    );
    await chmod(join(place, 'npm'), 0o755);
    const asked = async () => (await readFile(join(place, 'asked'), 'utf8')).trimEnd().split('\n');
    return { env: { PATH: `${place}${delimiter}${process.env.PATH}` }, asked };
  }

  it('is that of the checkout: built, bundled, or built now', async () => {
    const checkout = await mkdtemp(join(folder, 'checkout-'));
    const program = join(checkout, 'dist', 'bin', 'hookproof.js');
    const { asked, env } = await npmOf(0);
    const where = { version: '', checkout, temporary: folder, env };
    expect(findProgram(where)).toBe(program);
    expect(await asked()).toEqual([
      `ci --ignore-scripts --no-audit --no-fund --loglevel=error in ${checkout}`,
      `run --silent build in ${checkout}`,
    ]);
    const bundle = join(checkout, 'bundle', 'hookproof.cjs');
    await mkdir(dirname(bundle));
    await writeFile(bundle, '');
    expect(findProgram({ ...where, env: {} })).toBe(bundle);
    await mkdir(join(checkout, 'dist', 'bin'), { recursive: true });
    await mkdir(join(checkout, 'node_modules', 'express'), { recursive: true });
    await writeFile(program, '');
    expect(findProgram({ ...where, env: {} })).toBe(program);
  });

  it('is a version from the registry in its own folder; a failing npm is not a verdict on the endpoint', async () => {
    const { asked, env } = await npmOf(0);
    const where = { version: '1.2.3', checkout: folder, temporary: folder, env };
    expect(findProgram(where)).toBe(join(folder, 'hookproof-1.2.3/node_modules/hookproof/dist/bin/hookproof.js'));
    expect((await asked())[0]).toMatch(/^install --prefix .* --ignore-scripts .* hookproof@1\.2\.3 in /);
    const { env: failing } = await npmOf(7);
    expect(() => findProgram({ ...where, env: failing })).toThrow('npm install ended with exit code 7');
  });

  it('requires the Node version of package.json', async () => {
    const { engines } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(() => checkNode('20.18.3')).toThrow(engines.node.replace('>=', 'needs Node '));
    expect(() => checkNode('18.20.0')).toThrow();
    for (const good of ['20.19.0', '22.0.0', '24.1.0']) expect(() => checkNode(good)).not.toThrow();
  });
});
