import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FAULTS, startFaultyReceiver } from '../../mutants/index.ts';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { hookproof } from './hookproof.ts';

const SECRET = randomBytes(32).toString('base64');
const env = { HOOKPROOF_SECRET: SECRET };
/** A part of the catalogue in which a mutant that re-serialises the body gets one failure and one warning. */
const PART = ['--scenario', 'valid/plain', '--scenario', 'raw-body/spaces', '--scenario', 'raw-body/tabs'];

let cwd = '';
let wrong: RunningReceiver;
let right: RunningReceiver;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  const fault = FAULTS.find(({ name }) => name === 'verifies-reserialised-json')!;
  const options = { signing: { secrets: [SECRET] } };
  [wrong, right] = await Promise.all([startFaultyReceiver(fault, options), startReceiver(options)]);
});
afterAll(async () => {
  await Promise.all([wrong.close(), right.close(), rm(cwd, { recursive: true })]);
});

const content = (name: string) => readFile(join(cwd, name), 'utf8');
const command = (args: string[], more: NodeJS.ProcessEnv = {}) => hookproof(args, { cwd, env: { ...env, ...more } });
const run = (url: string, ...args: string[]) => command(['run', url, ...PART, ...args]);

function entries(...ids: string[]): string {
  const list = ids.map((scenario) => ({ scenario, reason: 'The gateway.', owner: 'payments', expires: '2099-12-31' }));
  return JSON.stringify({ version: 1, failures: list });
}

describe('a baseline', () => {
  it('makes a failing run pass, and a fixed receiver fail until it is updated', async () => {
    const failing = await run(wrong.url, '--reporter', 'human', '--reporter', 'json=run.json');
    expect(failing.code).toBe(1);

    const updated = await command(['baseline', 'update', 'known.yaml', '--run', 'run.json']);
    expect(updated).toMatchObject({ code: 0, stderr: '' });
    expect(updated.stdout).toContain('wrote known.yaml: 2 new, 0 kept, 0 removed');
    expect(await content('known.yaml')).toMatch(/scenario: raw-body\/spaces\n {4}reason: "TODO/);

    const known = await run(
      wrong.url,
      '--baseline',
      'known.yaml',
      '--reporter',
      'human',
      '--reporter',
      'json=known.json',
      '--reporter',
      'junit=known.xml',
    );
    expect(known.code).toBe(0);
    expect(known.stdout).toContain('3 of 886 checks run, 2 known failures (partial run, no verdict)');
    expect(known.stdout).toContain('Known failures: 2 in known.yaml (raw-body/spaces, raw-body/tabs)');
    expect(known.stdout).toContain('Without a reason or an owner in the baseline: raw-body/spaces, raw-body/tabs');
    expect(known.stdout).toMatch(
      /Exit code 0: all 2 failures are known \(known\.yaml\) \(partial run, no verdict\)\n$/,
    );
    const document = JSON.parse(await content('known.json'));
    expect(document).toMatchObject({
      verdict: 'nonconformant',
      baseline: { file: 'known.yaml', entries: 2, known: ['raw-body/spaces', 'raw-body/tabs'], stale: [] },
    });
    expect(await content('known.xml')).toMatch(/failures="0" errors="0" skipped="2"/);

    const fixed = await run(
      right.url,
      '--timeout',
      '5s',
      '--baseline',
      'known.yaml',
      '--reporter',
      'human',
      '--reporter',
      'junit=stale.xml',
    );
    expect(fixed.code).toBe(1);
    expect(fixed.stdout.replace(/\s+/g, ' ')).toContain('known.yaml is out of date (2 entries pass now)');
    expect(fixed.stdout).toContain('raw-body/spaces passes now. Remove the entry');
    expect(fixed.stdout).not.toContain('Without a reason or an owner');
    expect(await content('stale.xml')).toContain('name="the baseline still holds for raw-body/spaces"');
    expect((await run(right.url)).code).toBe(0);

    // The printed command repeats the run: without its checks, it would judge the whole catalogue.
    const [, printed = ''] = /fix {2}hookproof (baseline update .+)\n/.exec(fixed.stdout) ?? [];
    const again = await command(printed.replaceAll("'", '').split(' '));
    expect(printed).toBe(`baseline update known.yaml '${right.url}' --timeout 5s ${PART.join(' ')}`);
    expect(again).toMatchObject({ code: 0, stderr: expect.not.stringContaining('--yes') });
    expect(again.stdout).toContain('wrote known.yaml: 0 new, 0 kept, 2 removed');
  });

  it('is updated by a new run, and keeps reasons and owners', async () => {
    await writeFile(join(cwd, 'mine.json'), entries('raw-body/spaces', 'valid/plain'));
    const { code, stdout } = await command(['baseline', 'update', 'mine.json', wrong.url, ...PART]);
    expect({ code, first: stdout.split('\n')[0] }).toEqual({
      code: 0,
      first: 'wrote mine.json: 1 new, 1 kept, 1 removed',
    });
    const { failures } = JSON.parse(await content('mine.json'));
    expect(failures).toMatchObject([
      { scenario: 'raw-body/spaces', reason: 'The gateway.', owner: 'payments', expires: '2099-12-31' },
      { scenario: 'raw-body/tabs' },
    ]);
  });

  it('gets the reason and the owner of its new entries from the command', async () => {
    const update = (...args: string[]) => command(['baseline', 'update', 'given.json', wrong.url, ...PART, ...args]);
    const empty = await update('--reason', ' ');
    expect({ code: empty.code, says: empty.stderr.includes('It is empty') }).toEqual({ code: 2, says: true });
    const { stdout } = await update('--reason', 'The gateway.', '--owner', 'payments');
    expect(stdout).toBe(
      'wrote given.json: 2 new, 0 kept, 0 removed\n  new      raw-body/spaces\n  new      raw-body/tabs\n',
    );
    const { failures } = JSON.parse(await content('given.json'));
    expect(failures[1]).toMatchObject({ scenario: 'raw-body/tabs', reason: 'The gateway.', owner: 'payments' });
  });

  it('fills in the placeholders of earlier entries, and never replaces a reason or an owner', async () => {
    await writeFile(join(cwd, 'later.json'), entries('raw-body/spaces').replace('The gateway.', 'TODO: why?'));
    const update = (...args: string[]) => command(['baseline', 'update', 'later.json', wrong.url, ...PART, ...args]);
    await update();
    const { stdout } = await update('--reason', 'The proxy.', '--owner', 'edge');
    expect(stdout).toBe('wrote later.json: 0 new, 2 kept (2 filled in), 0 removed\n');
    expect(JSON.parse(await content('later.json')).failures).toMatchObject([
      { scenario: 'raw-body/spaces', reason: 'The proxy.', owner: 'payments' },
      { scenario: 'raw-body/tabs', reason: 'The proxy.', owner: 'edge' },
    ]);
    expect((await update('--reason', 'Another.', '--owner', 'else')).stdout).toContain('2 kept, 0 removed');
  });

  it('fails a run for a failure that it does not contain', async () => {
    await writeFile(join(cwd, 'half.yaml'), entries('raw-body/spaces'));
    const { code, stdout } = await run(wrong.url, '--baseline', 'half.yaml');
    expect({ code, numbers: stdout.includes('2 failed (1 known)') }).toEqual({ code: 1, numbers: true });
  });

  it('fails a run for an expired entry, and for one that names no check', async () => {
    const list = entries('raw-body/spaces', 'raw-body/tabs');
    await writeFile(join(cwd, 'expired.yaml'), list.replace('2099-12-31', '2020-01-31'));
    const expired = await run(wrong.url, '--baseline', 'expired.yaml');
    expect(expired.code).toBe(1);
    expect(expired.stdout.replace(/\s+/g, ' ')).toContain('(owner: payments) expired after 2020-01-31');
    await writeFile(join(cwd, 'unknown.yaml'), entries('raw-body/spaces', 'raw-body/tabs', 'raw-body/tab'));
    const unknown = await run(wrong.url, '--baseline', 'unknown.yaml');
    expect(unknown.code).toBe(1);
    expect(unknown.stdout).toContain('There is no check raw-body/tab. Did you mean raw-body/tabs?');
  });

  it('may contain checks that this run did not judge', async () => {
    await writeFile(join(cwd, 'more.yaml'), entries('raw-body/spaces', 'raw-body/tabs', 'signature/missing'));
    const { code, stdout } = await run(wrong.url, '--baseline', 'more.yaml', '--verbose');
    expect({ code, listed: stdout.includes('1 entry not evaluated in this run: signature/missing') }).toEqual({
      code: 0,
      listed: true,
    });
  });

  it('does not stop a run with --bail at a failure that is known', async () => {
    await writeFile(join(cwd, 'bail.yaml'), entries('raw-body/spaces', 'raw-body/tabs'));
    const { code } = await run(wrong.url, '--baseline', 'bail.yaml', '--bail');
    expect(code).toBe(0);
  });

  it.each([
    ['does not exist', 'nowhere.yaml', null, 'the baseline nowhere.yaml does not exist'],
    ['is invalid', 'bad.yaml', 'version: 1\nfailures: [{ scenario: a/b }]', 'entry 1 (a/b): the reason is missing'],
  ])('is a usage error when it %s, before anything is sent', async (_, name, text, says) => {
    if (text !== null) await writeFile(join(cwd, name), text);
    const { code, stdout, stderr } = await command(['run', 'http://127.0.0.1:9/', '--baseline', name]);
    expect({ code, stdout, says: stderr.includes(says) }).toEqual({ code: 2, stdout: '', says: true });
  });

  it('is never written in CI', async () => {
    const { code, stderr } = await command(['baseline', 'update', 'ci.yaml', wrong.url, ...PART], { CI: 'true' });
    expect({ code, says: stderr.includes('never written in CI') }).toEqual({ code: 2, says: true });
    await expect(content('ci.yaml')).rejects.toThrow('ENOENT');
  });

  it('is written with CI=false', async () => {
    const { code } = await command(['baseline', 'update', 'no-ci.yaml', wrong.url, ...PART], { CI: 'false' });
    expect(code).toBe(0);
  });

  it('is not written from a run without verdicts, or from another file', async () => {
    const nothing = await command(['baseline', 'update', 'none.yaml', 'http://127.0.0.1:9/', ...PART]);
    expect({ code: nothing.code, says: nothing.stderr.includes('evaluated no check') }).toEqual({
      code: 2,
      says: true,
    });
    await writeFile(join(cwd, 'other.json'), '{"results":[1]}');
    const other = await command(['baseline', 'update', 'none.yaml', '--run', 'other.json']);
    expect({ code: other.code, says: other.stderr.includes('is not the JSON report of a run') }).toEqual({
      code: 2,
      says: true,
    });
    await expect(content('none.yaml')).rejects.toThrow('ENOENT');
  });
});
