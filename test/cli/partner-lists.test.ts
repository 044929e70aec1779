/** What the terminal shows about many partners: before a certification, after it, and later. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { historyLines, standingLines } from '../../harness/cli/partners/standing-lines.ts';
import { createLayout } from '../../harness/report/index.ts';
import { standingWith } from '../harness/fleet/documents.ts';
import { hookproof } from './hookproof.ts';

const layout = createLayout({ columns: 120, color: false, unicode: true });
const COUNTS = { pass: 3, fail: 0, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 };
const KEY = ['--key', 'hookproof-certify.pem'];
let cwd = '';
const run = (...args: string[]) => hookproof(args, { cwd });
const certify = (...args: string[]) => run('certify', '--partners', 'partners', ...KEY, ...args);

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-lists-'));
  await mkdir(join(cwd, 'partners'));
  await writeFile(join(cwd, 'partners', '_defaults.yaml'), 'profile: staging\n');
  await writeFile(join(cwd, 'partners', 'lima.yaml'), 'url: https://lima.example/hooks\nhmac:\n  secrt: x\n');
  await writeFile(
    join(cwd, 'partners', 'acme.eu.yaml'),
    `url: https://acme.example/hooks?key=1\nhmac:\n  secret: \${env:PARTNER_ACME_EU__SECRET}\n`,
  );
  await run('certify', 'keygen');
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const REFUSED = 'partners/lima.yaml:3:3: unknown key "secrt" in hmac';

it('says in the wrong folder that there is no register, not that a key is missing', async () => {
  for (const args of [['partners'], ['revoke', 'lima', '--reason', 'x'], ['partners', '-o', 'other']]) {
    const { code, stderr } = await hookproof(args, { cwd: join(cwd, 'partners') });
    const place = args.includes('other') ? 'other' : 'hookproof-partners';
    expect([code, stderr]).toEqual([2, expect.stringContaining(`there is no ${place} here`)]);
  }
});

it('lists the whole plan with --check, in columns', async () => {
  const options = { cwd, env: { PARTNER_ACME_EU__SECRET: 'a-secret-of-the-partner-acme-0123456789' } };
  const { code, stdout } = await hookproof(['certify', '--partners', 'partners', '--check'], options);
  const [head, ...lines] = stdout.split('\n');
  expect(code).toBe(2);
  expect(head).toMatch(/^2 partners, 1 refused because of an invalid file: \d at a time, 1 per host; output folder /);
  expect(lines.slice(0, 2)).toEqual([
    '  acme.eu  https://acme.example/hooks  staging',
    expect.stringMatching(/^ {2}lima {5}refused: partners\/lima\.yaml:3:3: /),
  ]);
  const shard = await hookproof(['certify', '--partners', 'partners', '--check', '--shard', '1/2'], options);
  expect(shard.stdout).toMatch(/^1 partner of 2 \(shard 1 of 2\): /);
});

it('names a partner whose file is refused, why, and the commands that follow', async () => {
  const { code, stdout, stderr } = await certify('--only', 'lima');
  expect(code).toBe(2);
  expect(stderr).toMatch(/^1 partner, 1 refused because of an invalid file\n/);
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`lima refused ${REFUSED}`);
  expect(stdout).toContain('  next    hookproof partners\n');
  expect(stdout.replaceAll(/ \\\n\s+/g, ' ')).toContain(
    '  again   hookproof certify --partners partners --key hookproof-certify.pem --only lima\n',
  );
  const { stdout: list } = await run('partners');
  expect(list.replaceAll(/\s+/g, ' ')).toMatch(/the last certification \([\d-]+\) was refused: partners\/lima\.yaml/);
  expect(list).not.toContain('no verdict');
});

it('repeats every flag and every partner in the command that certifies again', async () => {
  const names = Array.from({ length: 8 }, (_, at) => `bad${at}`);
  for (const name of names)
    await writeFile(join(cwd, 'partners', `${name}.yaml`), 'url: https://x.example/\nhmac:\n  secrt: x\n');
  const only = names.flatMap((name) => ['--only', name]);
  const { stdout } = await certify('-o', 'again', '--per-host', '4', '--parallel', '2', '--valid-for', '30d', ...only);
  await Promise.all(names.map((name) => rm(join(cwd, 'partners', `${name}.yaml`))));
  const [again = ''] = stdout
    .replaceAll(/ \\\n\s+/g, ' ')
    .split('again   ')
    .slice(1);
  for (const flag of ['--per-host 4', '--parallel 2', '--valid-for 30d', ...names.map((name) => `--only ${name}`)]) {
    expect(again).toContain(flag);
  }
  const { stderr } = await certify('--reporter', 'badge=badge.svg');
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain('`hookproof report NAME/run.json --reporter badge=badge.svg`');
  expect((await certify('--suite', 'tls')).stderr).toContain('Write the settings of a partner in its file.');
});

it('lists who is new, since hours or days', async () => {
  const { code, stdout } = await run('partners', '--changed', '1h');
  expect([code, stdout]).toEqual([1, expect.stringContaining('lima  uncertified (new)')]);
  const { stderr } = await run('partners', '--changed', '90m');
  expect(stderr).toContain('"90m" is not a number of hours or days');
  expect((await certify('--valid-for', '12h')).stderr).toContain('is not a number of days');
});

it('shows in the list and in the history that a certificate has warnings, and no failure', () => {
  const one = standingWith('acme', 'certified', 1);
  const [record] = one.last;
  const suites = { valid: COUNTS, tls: { ...COUNTS, warn: 2 }, http: { ...COUNTS, warn: 1 } };
  const last = [{ ...record!, suites, cause: { fault: 'old-tls', title: 'Accepts TLS 1.1' } }];
  const warnings = ['certified with 3 warnings: Accepts TLS 1.1'];
  expect(standingLines({ ...one, last, warnings }, layout)[1]).toBe('  ! certified with 3 warnings: Accepts TLS 1.1');
  expect(
    historyLines({ ...one, last }, layout)
      .join(' ')
      .replaceAll(/\s+/g, ' '),
  ).toContain('certified with warnings: Accepts TLS 1.1: 2 in tls, 1 in http; hookproof');
});

it.each([
  ['named', ['--register', 'whole-register'], 'whole-named'],
  ['of the output folder', [], 'whole'],
] as const)('joins the records of shards in the register %s, each once', async (_, register, whole) => {
  const shards = await Promise.all(
    [1, 2].map((at) => certify('--shard', `${at}/2`, '--register', `shard-${at}`, '-o', `shard-${at}`)),
  );
  expect(shards.map(({ code }) => code)).toEqual([2, 2]);
  const place = [...register, '-o', whole];
  const merged = await run('certify', 'merge', 'shard-1', 'shard-2', '--key', 'hookproof-certify.pub.pem', ...place);
  expect([merged.code, merged.stdout]).toEqual([2, expect.stringContaining('2 partners: 2 refused')]);
  const { code, stdout } = await run('partners', ...place);
  expect([code, stdout]).toEqual([0, expect.stringContaining('0 of 2 partners may get traffic: 2 uncertified')]);
  expect(stdout).toMatch(/acme\.eu {2}uncertified[\s\S]*lima {2}uncertified/);
  expect((await readFile(join(cwd, whole, 'fleet.csv'), 'utf8')).trimEnd().split('\r\n')).toHaveLength(3);
  const lines = () => readFile(join(cwd, register[1] ?? whole, 'register.ndjson'), 'utf8');
  const before = await lines();
  const again = await run('partners', ...place, '--import', 'shard-1');
  expect([again.stderr, await lines()]).toEqual([expect.stringContaining('0 records added from shard-1'), before]);
  await rm(join(cwd, 'shard-1'), { recursive: true });
  await rm(join(cwd, 'shard-2'), { recursive: true });
});

it.each([
  ['revoked', { event: 'revoked', cause: null }, 'Afterwards: '],
  ['failing', {}, '`hookproof explain verifies-reserialised-json`'],
  ['drifted', { event: 'drifted', drift: 'endpoint-key-changed', cause: null }, 'renewed with the old key.'],
  ['drifted', { event: 'drifted', drift: 'canary-failed', cause: null }, 'Ask the partner what was changed'],
] as const)('says what to do about a partner that is %s', (state, parts, what) => {
  const one = standingWith('acme', state, 1);
  const last = one.last.map((record) => ({ ...record, ...parts }));
  const text = historyLines({ ...one, last }, layout)
    .join(' ')
    .replaceAll(/\s+/g, ' ');
  expect(text).toContain(what);
  expect(text).toContain('`hookproof certify --partners FOLDER --only acme`');
});
