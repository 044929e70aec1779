/**
 * The short form of `npm run proofs -- fleet`: the compiled program certifies a few partners. It is interrupted and
 * resumed, and runs in shards that are joined.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FleetDocument } from '../../../harness/fleet.ts';
import { hookproof, MAIN } from '../../cli/hookproof.ts';
import { forgeries } from './forgeries.ts';
import { DEAD, HANGING, HOSTILE, type Kind, LATE, RIGHT, surprises, withoutTimes } from './kinds.ts';
import { startFleet, type TestFleet } from './start-fleet.ts';

/**
 * The partners, sorted by name. The first one ends at once, so that there is something to resume. Only one of them
 * takes a whole run. The long form also has faulty receivers.
 */
const KINDS: readonly Kind[] = [DEAD, RIGHT, HANGING[0]!, HOSTILE[0]!, DEAD, DEAD, LATE];
/** All partners except the one that must be stopped. */
const SHORT = ['p001-dead', 'p002-right', 'p003-hanging', 'p004-hostile', 'p005-dead', 'p006-dead'];
const OF_SHORT = SHORT.flatMap((name) => ['--only', name]);

let folder = '';
let fleet: TestFleet;
let shards: Promise<unknown>;
const out = (name: string) => join(folder, name);
const documentIn = async (name: string): Promise<FleetDocument> =>
  JSON.parse(await readFile(join(out(name), 'fleet.json'), 'utf8'));
const words = (name: string, ...more: string[]) => {
  const own = [
    ...['--partners', fleet.partners, '--key', fleet.key, '-o', out(name), '--allow-private', 'localhost'],
    ...['--per-host', '4', '--parallel', '3'],
  ];
  return ['certify', ...own, ...(more.includes('--only') ? more : [...OF_SHORT, ...more])];
};
const certify = (name: string, ...more: string[]) => hookproof(words(name, ...more));

/** Starts a certification, waits until one partner is finished, and ends it with a signal. */
async function interrupted(name: string, signal: NodeJS.Signals): Promise<{ code: number | null; done: string[] }> {
  // Partners are certified in sequence, so that others have not started when the first one is finished.
  const args = [MAIN, ...words(name), '--parallel', '1'];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: 'ignore' });
  const finished = () => SHORT.filter((one) => existsSync(join(out(name), one)));
  await expect.poll(() => finished().length, { timeout: 120_000, interval: 20 }).toBeGreaterThan(0);
  child.kill(signal);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { code, done: finished() };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-fleet-'));
  fleet = await startFleet(folder, KINDS, 1);
  // The shards mostly wait, so they run during the other tests, each in one process.
  const certifyShard = (index: number) => certify(`shard-${index}`, '--shard', `${index}/2`, '--parallel', '1');
  shards = Promise.all([1, 2].map(certifyShard));
});
afterAll(async () => {
  await shards;
  fleet?.close();
  await rm(folder, { recursive: true, force: true });
});

// For the same reason, the tests are concurrent, except those that depend on a run.
describe.concurrent('a certification of partners', () => {
  it.sequential('resumes after a kill without repeating partners, and gives each the expected outcome', async () => {
    const killed = await interrupted('whole', 'SIGKILL');
    expect(killed.done.length).toBeLessThan(SHORT.length);
    const outcomes = () =>
      Promise.all(killed.done.map((one) => readFile(join(out('whole'), one, 'outcome.json'), 'utf8')));
    const before = await outcomes();

    const { code, stdout, stderr } = await certify('whole', '--resume', '--json');
    expect(await outcomes()).toEqual(before);
    expect(stderr).toContain(`${killed.done.length} already finished`);
    const document = await documentIn('whole');
    expect(surprises(document, new Map([...fleet.kindOf].filter(([name]) => SHORT.includes(name))))).toEqual([]);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      exitCode: 1,
      complete: true,
      totals: { certified: 1, failed: 2, inconclusive: 3 },
    });

    // The files that the killed process has left are removed, and each certified partner has a certificate.
    const files = await readdir(out('whole'));
    expect(files.filter((name) => name.startsWith('.') || name.endsWith('.tmp'))).toEqual([]);
    for (const { name, outcome } of document.partners) {
      expect(existsSync(join(out('whole'), name, 'certificate.dsse.json'))).toBe(outcome === 'certified');
    }
    const right = join(out('whole'), 'p002-right');
    const verified = await hookproof([
      ...['certify', 'verify', join(right, 'certificate.dsse.json'), '--key', join(folder, 'operator.pub.pem')],
      ...['--result', join(right, 'run.json'), '--profile', 'staging'],
    ]);
    expect(verified.code).toBe(0);
  });

  it.sequential('gives the same document, except times, when it is run in shards and joined', async () => {
    await shards;
    const merge = (first: string, second: string, to: string) =>
      hookproof([
        'certify',
        'merge',
        out(first),
        out(second),
        '-o',
        out(to),
        '--key',
        join(folder, 'operator.pub.pem'),
      ]);
    const { code } = await merge('shard-1', 'shard-2', 'joined');
    expect(code).toBe(1);
    expect(withoutTimes(await documentIn('joined'))).toBe(withoutTimes(await documentIn('whole')));
    expect(existsSync(join(out('joined'), 'p002-right', 'certificate.dsse.json'))).toBe(true);

    const doubled = await merge('shard-1', 'shard-1', 'doubled');
    expect([doubled.code, doubled.stderr]).toEqual([2, expect.stringContaining('are both shard 1')]);
  });

  it.sequential('is joined when an internal error has stopped a partner, which has no folder', async () => {
    await shards;
    const broken = join(folder, 'broken');
    await cp(out('shard-1'), broken, { recursive: true });
    await rm(join(broken, 'p003-hanging'), { recursive: true });
    const fleetFile = join(broken, 'fleet.json');
    const document = JSON.parse(await readFile(fleetFile, 'utf8')) as FleetDocument;
    const nothing = { verdict: null, counts: null, suites: {}, diagnosis: null, files: [], startedAt: null };
    const partners = document.partners.map((one) =>
      one.name === 'p003-hanging' ? { ...one, ...nothing, outcome: 'harness-error' } : one,
    );
    await writeFile(fleetFile, JSON.stringify({ ...document, partners }));
    const places = [broken, out('shard-2'), '-o', out('with-broken'), '--key', join(folder, 'operator.pub.pem')];
    expect((await hookproof(['certify', 'merge', ...places])).code).toBe(4);
    expect((await documentIn('with-broken')).totals).toMatchObject({ certified: 1, 'harness-error': 1 });
  });

  const FORGERIES = forgeries();
  it.sequential.each(Object.keys(FORGERIES))('is not joined when %s', async (attack) => {
    await shards;
    const [forge, reason] = FORGERIES[attack]!;
    const [mine, to] = [await mkdtemp(join(folder, 'forged-')), `to-${Object.keys(FORGERIES).indexOf(attack)}`];
    for (const index of [1, 2]) await cp(out(`shard-${index}`), join(mine, `shard-${index}`), { recursive: true });
    await forge({ one: join(mine, 'shard-1'), two: join(mine, 'shard-2'), folder });
    const places = [join(mine, 'shard-1'), join(mine, 'shard-2')];
    const trusted = join(folder, 'operator.pub.pem');
    const { code, stderr } = await hookproof(['certify', 'merge', ...places, '-o', out(to), '--key', trusted]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
    expect(existsSync(out(to))).toBe(false);
  });
});

describe.concurrent('a certification of one partner', () => {
  it.sequential('stops a partner at its time limit, without a verdict', async () => {
    const { code } = await certify('late', '--only', 'p007-late', '--partner-timeout', '2s');
    const [late] = (await documentIn('late')).partners;
    expect([code, late?.outcome, late?.refusals[0]?.code]).toEqual([3, 'inconclusive', 'partner-timeout']);
  });

  it.sequential('compares with the previous certification, and keeps its files', async () => {
    const before = await documentIn('late');
    const partners = before.partners.map((one) => ({ ...one, name: 'p001-dead', outcome: 'certified' }));
    await writeFile(join(folder, 'before.json'), JSON.stringify({ ...before, partners }));
    const named = ['--only', 'p001-dead', '--json'];
    const { stdout } = await certify('trend', ...named, '--previous', join(folder, 'before.json'));
    expect(JSON.parse(stdout).worse).toEqual(['p001-dead']);
    const again = await certify('trend', ...named);
    expect(JSON.parse(again.stdout).worse).toEqual([]);
    const [aside] = await readdir(join(out('trend'), '_earlier'));
    expect(existsSync(join(out('trend'), '_earlier', aside!, 'p001-dead', 'run.json'))).toBe(true);
  });
});

describe.concurrent('a certification that is interrupted', () => {
  it('exits with 130, and is marked as not complete', async () => {
    const { code, done } = await interrupted('stopped', 'SIGINT');
    const document = await documentIn('stopped');
    expect([code, document.complete]).toEqual([130, false]);
    const left = document.partners.filter(({ outcome }) => outcome === 'not-run').map(({ name }) => name);
    expect(left.length).toBeGreaterThan(0);
    expect([...left, ...done].toSorted()).toEqual(SHORT);
  });
});

describe.concurrent('before the first request', () => {
  it('prints the plan with --check, and sends nothing', async () => {
    const { code, stdout } = await certify('none', '--check', '--shard', '2/3');
    expect([code, existsSync(out('none'))]).toEqual([0, false]);
    expect(stdout).toMatch(/^2 partners of 6 \(shard 2 of 3\): 3 at a time, 4 per host;/);
    expect(stdout).toContain('Nothing was sent.');
  });

  it('lists the problems of every file with their positions, and those of the defaults once', async () => {
    const partners = join(folder, 'wrong');
    await promisify(execFile)('mkdir', ['-p', partners]);
    const files = {
      '_defaults.yaml': 'profile: staging\ntimeout: soon\n',
      'a.yaml': 'url: https://a.example/\nhmac:\n  secret: in-the-clear\n',
      'b.yaml': `url: https://b.example/\nsuites: [valid]\nhmac:\n  secret: \${env:NOT_SET_ANYWHERE}\n`,
      'c.yaml': 'url: ftp://c.example/\n',
      'D.yaml': 'url: https://d.example/\n',
      'd.yaml': 'url: https://d.example/\n',
      'e.yml': '',
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(partners, name), text);
    const { code, stderr } = await hookproof(['certify', '--partners', partners, '--key', fleet.key], {
      env: { HOOKPROOF_SECRET: 'unused' },
    });
    expect(code).toBe(2);
    const places = [
      '_defaults.yaml:2:10',
      'a.yaml:3:11',
      'b.yaml:4:11',
      'c.yaml:1:6',
      'd.yaml: differs',
      'e.yml: is ignored',
    ];
    for (const place of places) expect(stderr).toContain(place);
    expect(stderr.match(/_defaults\.yaml:2:10/g)).toHaveLength(1);
    expect(stderr).not.toContain('in-the-clear');
  });

  it.each([
    [['--url', 'x'], /unknown option/],
    [['--suite', 'valid'], /cannot be combined with `--suite`/],
    [['--only', 'unknown'], /there is no partner unknown/],
    [['--resume'], /contains no certification to resume/],
    [['--shard', '3/2'], /is not a shard/],
  ])('rejects %j', async (more, reason) => {
    const { code, stderr } = await certify('none', ...more);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });
});
