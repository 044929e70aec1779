/** The short form of `npm run fleet`: ten partners through the compiled program, interrupted, resumed, in shards, joined. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetDocument } from '../../harness/fleet/index.ts';
import { hookproof, MAIN } from '../cli/hookproof.ts';
import { DEAD, FAULTY, HANGING, HOSTILE, type Kind, RIGHT } from './kinds.ts';
import { surprises, withoutTimes } from './prove.ts';
import { startFleet, type TestFleet } from './start-fleet.ts';

const KINDS: readonly Kind[] = [RIGHT, FAULTY[0]!, DEAD, HANGING[0]!, HOSTILE[0]!, RIGHT];

let folder = '';
let fleet: TestFleet;
const out = (name: string) => join(folder, name);
const documentIn = async (name: string): Promise<FleetDocument> =>
  JSON.parse(await readFile(join(out(name), 'fleet.json'), 'utf8'));
const words = (name: string, ...more: string[]) => {
  const own = ['--partners', fleet.partners, '--key', fleet.key, '-o', out(name), '--per-host', '4', '--parallel', '3'];
  return ['certify', ...own, ...more];
};
const certify = (name: string, ...more: string[]) => hookproof(words(name, ...more));

/** Starts it, waits until a partner has its folder, and ends it with a signal. */
async function interrupted(name: string, signal: NodeJS.Signals): Promise<{ code: number | null; done: string[] }> {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...words(name)], { stdio: 'ignore' });
  const finished = () => [...fleet.kindOf.keys()].filter((one) => existsSync(join(out(name), one)));
  await expect.poll(() => finished().length, { timeout: 15_000, interval: 20 }).toBeGreaterThan(0);
  child.kill(signal);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, done: finished() };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-fleet-'));
  fleet = await startFleet(folder, KINDS, 1);
}, 60_000);
afterAll(async () => {
  fleet?.close();
  await rm(folder, { recursive: true, force: true });
});

describe('certify --partners', () => {
  it('is killed, goes on, and repeats nobody; then every partner has come to what its kind demands', async () => {
    const killed = await interrupted('whole', 'SIGKILL');
    expect(killed.done.length).toBeLessThan(KINDS.length);
    const outcomes = () =>
      Promise.all(killed.done.map((one) => readFile(join(out('whole'), one, 'outcome.json'), 'utf8')));
    const before = await outcomes();

    const { code, stdout, stderr } = await certify('whole', '--resume', '--json');
    expect(await outcomes()).toEqual(before);
    expect(stderr).toContain(`${killed.done.length} of them finished before`);
    const document = await documentIn('whole');
    expect(surprises(document, fleet.kindOf)).toEqual([]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 1, complete: true, totals: { certified: 2, failed: 2 } });

    // What is left of the process that was killed is gone, and a certificate is there for each that is certified.
    const files = await readdir(out('whole'));
    expect(files.filter((name) => name.startsWith('.') || name.endsWith('.tmp'))).toEqual([]);
    for (const { name, outcome } of document.partners) {
      expect(existsSync(join(out('whole'), name, 'certificate.dsse.json'))).toBe(outcome === 'certified');
    }
    const right = join(out('whole'), 'p001-right');
    const verified = await hookproof([
      ...['certify', 'verify', join(right, 'certificate.dsse.json'), '--key', join(folder, 'operator.pub.pem')],
      ...['--result', join(right, 'run.json'), '--profile', 'staging'],
    ]);
    expect(verified.code).toBe(0);
  }, 60_000);

  it('in shards, as the Kubernetes Job counts them, joined is the same document but for the times', async () => {
    for (const index of [1, 2]) await certify(`shard-${index}`, '--shard', `${index}/2`);
    const { code } = await hookproof(['certify', 'merge', out('shard-1'), out('shard-2'), '-o', out('joined')]);
    expect(code).toBe(1);
    expect(withoutTimes(await documentIn('joined'))).toBe(withoutTimes(await documentIn('whole')));
    expect(existsSync(join(out('joined'), 'p001-right', 'certificate.dsse.json'))).toBe(true);

    const doubled = await hookproof(['certify', 'merge', out('shard-1'), out('shard-1'), '-o', out('doubled')]);
    expect([doubled.code, doubled.stderr]).toEqual([2, expect.stringContaining('are both shard 1')]);
  }, 60_000);

  it('ends with 130 when it is interrupted, and says that it is not complete', async () => {
    const { code, done } = await interrupted('stopped', 'SIGINT');
    const document = await documentIn('stopped');
    expect([code, document.complete]).toEqual([130, false]);
    const left = document.partners.filter(({ outcome }) => outcome === 'not-run').map(({ name }) => name);
    expect([...left, ...done].toSorted()).toEqual([...fleet.kindOf.keys()].toSorted());
  }, 60_000);
});

describe('before the first request', () => {
  it('shows the plan with --check, and sends nothing', async () => {
    const { code, stdout } = await certify('none', '--check', '--shard', '2/3');
    expect([code, existsSync(out('none'))]).toEqual([0, false]);
    expect(stdout).toMatch(/^2 of 6 partners \(shard 2 of 3\) on 1 hosts/);
    expect(stdout).toContain('Nothing was sent.');
  });

  it('tells everything that is wrong with any of the files, with its place, and what is wrong with the defaults once', async () => {
    const partners = join(folder, 'wrong');
    await promisify(execFile)('mkdir', ['-p', partners]);
    const files = {
      '_defaults.yaml': 'profile: staging\ntimeout: soon\n',
      'a.yaml': 'url: https://a.example/\nhmac:\n  secret: in-the-clear\n',
      'b.yaml': 'url: https://b.example/\nsuites: [valid]\nhmac:\n  secret: ${env:NOT_SET_ANYWHERE}\n',
      'c.yaml': 'url: ftp://c.example/\n',
      'D.yaml': 'url: https://d.example/\n',
      'd.yaml': 'url: https://d.example/\n',
      'e.yml': '',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(partners, name), text);
    const { code, stderr } = await hookproof(['certify', '--partners', partners, '--key', fleet.key], {
      env: { HOOKPROOF_SECRET: 'of nobody' },
    });
    expect(code).toBe(2);
    const places = [
      '_defaults.yaml:2:10',
      'a.yaml:3:11',
      'b.yaml:4:11',
      'c.yaml:1:6',
      'd.yaml: differs',
      'e.yml: is not read',
    ];
    for (const place of places) expect(stderr).toContain(place);
    expect(stderr.match(/_defaults\.yaml:2:10/g)).toHaveLength(1);
    expect(stderr).not.toContain('in-the-clear');
  });

  it.each([
    [['--url', 'x'], /unknown option/],
    [['--suite', 'valid'], /does not go with --suite/],
    [['--only', 'nobody'], /there is no partner nobody/],
    [['--resume'], /holds no certification that could be resumed/],
    [['--shard', '3/2'], /is not a shard/],
  ])('refuses %j', async (more, reason) => {
    const { code, stderr } = await certify('none', ...more);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });
});
