/**
 * The operator's register over time: six partners, an outage, `--only`, an expired certificate, a bad file, a drift, a
 * failing run, a revocation and an edited register. Each step checks the answer of `hookproof partners` and the page.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCertificate } from '../../certs/index.ts';
import { makeKeyPair } from '../../harness/certify/index.ts';
import { FAULTS, startFaultyReceiver } from '../../mutants/index.ts';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { hookproof } from './hookproof.ts';

const NAMES = ['acme', 'bolt', 'corto', 'dune', 'ember', 'fjord'] as const;
type Name = (typeof NAMES)[number];
const SECRET = 'a-secret-of-all-partners-0123456789abcdef';

let cwd = '';
let ca: Awaited<ReturnType<typeof makeCertificate>>;
let tls: { cert: string; key: string };
const receivers = new Map<Name, RunningReceiver>();
const ports = new Map<Name, number>();

const certificateOf = async () => {
  const hosts = ['localhost'];
  const { cert, key } = await makeCertificate({ subject: 'CN=localhost', issuer: ca, hosts, usages: ['serverAuth'] });
  return { cert, key };
};

async function start(name: Name, parts: { fault?: string; tls?: typeof tls } = {}): Promise<void> {
  await receivers.get(name)?.close();
  const options = {
    signing: { secrets: [SECRET] },
    tls: parts.tls ?? tls,
    host: '127.0.0.1',
    port: ports.get(name) ?? 0,
  };
  const fault = FAULTS.find((one) => one.name === parts.fault);
  const receiver = fault === undefined ? await startReceiver(options) : await startFaultyReceiver(fault, options);
  receivers.set(name, receiver);
  ports.set(name, Number(new URL(receiver.url).port));
}
const stop = async (name: Name) => {
  await receivers.get(name)?.close();
  receivers.delete(name);
};

async function writePartner(name: Name, more = ''): Promise<void> {
  const lines = [`url: https://localhost:${ports.get(name)}/hooks`, 'hmac:', `  secret: \${file:secrets/${name}.hmac}`];
  await writeFile(join(cwd, 'partners', `${name}.yaml`), `${lines.join('\n')}\n${more}`);
}

const LOCAL = ['--allow-private', 'localhost'];
const PUBLIC = ['--key', 'operator.pub.pem'];
const certify = (...more: string[]) =>
  hookproof(['certify', '--partners', 'partners', '--key', 'operator.pem', '--per-host', '3', ...LOCAL, ...more], {
    cwd,
  });
const recheck = (...more: string[]) =>
  hookproof(['certify', 'recheck', '--partners', 'partners', ...PUBLIC, ...LOCAL, '--json', ...more], { cwd });

interface Answered {
  readonly partners: readonly {
    partner: Name;
    state: string;
    mayGetTraffic: boolean;
    warnings: string[];
    reason: string;
  }[];
}
async function partners(...more: string[]) {
  const { code, stdout, stderr } = await hookproof(['partners', ...PUBLIC, '--json', ...more], { cwd });
  const { partners: all } = JSON.parse(stdout) as Answered;
  const states = Object.fromEntries(all.map(({ partner, state }) => [partner, state]));
  return { code, stderr, states, of: (name: Name) => all.find(({ partner }) => partner === name) };
}
const page = () => readFile(join(cwd, 'hookproof-partners', 'fleet.html'), 'utf8');
const ALL = Object.fromEntries(NAMES.map((name) => [name, 'certified']));

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-register-'));
  ca = await makeCertificate({ subject: 'CN=CA', authority: true });
  tls = await certificateOf();
  await mkdir(join(cwd, 'partners', 'secrets'), { recursive: true });
  await writeFile(join(cwd, 'partners', 'ca.pem'), ca.cert);
  await writeFile(join(cwd, 'partners', '_defaults.yaml'), 'profile: staging\ntimeout: 60s\ntls:\n  ca: ca.pem\n');
  const pair = makeKeyPair();
  await writeFile(join(cwd, 'operator.pem'), pair.privatePem, { mode: 0o600 });
  await writeFile(join(cwd, 'operator.pub.pem'), pair.publicPem);
  for (const name of NAMES) {
    await start(name);
    await writeFile(join(cwd, 'partners', 'secrets', `${name}.hmac`), SECRET);
    await writePartner(name);
  }
});
afterAll(async () => {
  await Promise.all([...receivers.values()].map((receiver) => receiver.close()));
  await rm(cwd, { recursive: true, force: true });
});

it('certifies all of them', async () => {
  expect((await certify()).code).toBe(0);
  const { states, code } = await partners();
  expect({ states, code }).toEqual({ states: ALL, code: 0 });
  expect(await page()).toContain('6 of 6 partners may get traffic');
});

it('names no folder of the operator in what a partner gets', async () => {
  const { code } = await certify('--output-dir', 'absolute', '--only', 'bolt', '--partners', join(cwd, 'partners'));
  expect(code).toBe(0);
  for (const file of ['run.json', 'report.html', 'configuration.json']) {
    expect(await readFile(join(cwd, 'absolute', 'bolt', file), 'utf8'), file).not.toContain(cwd);
  }
});

it('keeps a certificate through an outage, and through a run of another partner alone', async () => {
  await stop('bolt');
  expect((await certify('--only', 'bolt')).code).toBe(3);
  const { states, of } = await partners();
  expect(states).toEqual(ALL);
  expect(await readdir(join(cwd, 'hookproof-partners', 'bolt'))).toContain('certificate.dsse.json');
  expect(of('bolt')?.warnings).toEqual([
    expect.stringMatching(/^the last run \(.*\) had no verdict: nothing is listening on the port of the endpoint$/),
  ]);
  expect(await page()).toContain('6 of 6 partners may get traffic');
  expect((await certify('--only', 'bolt', '--exit-on', 'harness')).code).toBe(0);
  const { code, stdout } = await recheck('--only', 'bolt');
  expect([code, JSON.parse(stdout).partners[0].reason]).toEqual([3, expect.stringContaining('no verdict')]);
  expect((await partners()).states).toEqual(ALL);
  await start('bolt');
  expect((await recheck('--only', 'bolt')).code).toBe(0);
  expect((await partners()).of('bolt')?.warnings).toEqual([]);
});

it('answers who expires, and who has expired at a time', async () => {
  expect((await certify('--only', 'corto', '--valid-for', '1d')).code).toBe(0);
  const { code, states } = await partners('--expiring', '14d');
  expect({ code, states }).toEqual({ code: 1, states: { corto: 'certified' } });
  const later = new Date(Date.now() + 2 * 86_400_000).toISOString();
  expect((await partners('--at', later)).states).toEqual({ ...ALL, corto: 'expired' });
  expect((await hookproof(['partners', 'corto', ...PUBLIC, '--at', later], { cwd })).code).toBe(1);
});

it('takes a bad file for the outcome of its partner, and goes on with the others', async () => {
  await writePartner('dune', 'suites: [valid]\n');
  const { code, stdout } = await certify('--only', 'dune', '--only', 'ember', '--json');
  expect(code).toBe(2);
  expect(JSON.parse(stdout).totals).toMatchObject({ certified: 1, refused: 1 });
  const { states, of } = await partners();
  expect(states).toEqual(ALL);
  expect(of('dune')?.warnings).toEqual([
    expect.stringMatching(
      /^the last certification \(.*\) was refused: .*dune\.yaml:4:10: suites: cannot be set by a partner/,
    ),
  ]);
  await writePartner('dune');
});

it('ends a certificate when the key of the endpoint changes, until it is certified again or overridden', async () => {
  await start('dune', { tls: await certificateOf() });
  const drift = await recheck();
  expect(drift.code).toBe(1);
  const { states, of } = await partners();
  expect(states).toEqual({ ...ALL, dune: 'drifted' });
  expect(of('dune')?.reason).toContain('has another key');
  expect(await page()).toContain('5 of 6 partners may get traffic');
  const override = ['override', 'dune', '--reason', 'renewed with a new key, ticket 7', '--key', 'operator.pem'];
  expect((await hookproof(override, { cwd })).code).toBe(0);
  expect((await partners()).states).toEqual({ ...ALL, dune: 'allowed' });
});

it('suspends a partner whose run fails, and says why and since when', async () => {
  await start('ember', { fault: 'missing-signature-accepted' });
  expect((await certify('--only', 'ember')).code).toBe(1);
  const { states, of } = await partners('--changed');
  expect(states.ember).toBe('failing');
  expect(of('ember')?.reason).toMatch(/signature/i);
  const html = await page();
  expect(html).toContain('5 of 6 partners may get traffic');
  const report = await readFile(join(cwd, 'hookproof-partners', 'ember', 'report.html'), 'utf8');
  expect(report).toContain(`:${ports.get('ember')}/hooks&#39; --profile staging --scenario `);
  expect(report).not.toContain('hookproof certify');
  expect(html).toMatch(/href="ember\/report\.html#suite-[a-z-]+"/);
  await start('ember');
  expect((await certify('--only', 'ember')).code).toBe(0);
  expect((await partners()).states.ember).toBe('certified');
});

it('revokes a certificate, with a reason that the history shows', async () => {
  expect((await hookproof(['revoke', 'fjord', '--reason', 'leaked secret, ticket 8', ...PUBLIC], { cwd })).code).toBe(
    0,
  );
  expect((await partners()).states.fjord).toBe('revoked');
  const { code, stdout } = await hookproof(['partners', 'fjord', ...PUBLIC], { cwd });
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/revoked\s+leaked secret, ticket 8/) });
  const override = ['override', 'fjord', '--reason', 'no', '--key', 'operator.pem'];
  const { code: refused, stderr } = await hookproof(override, { cwd });
  expect([refused, stderr]).toEqual([2, expect.stringContaining('fjord is revoked')]);
});

it('is not certified by whoever edits the register', async () => {
  const file = join(cwd, 'hookproof-partners', 'register.ndjson');
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  const certified = lines.map((line) => JSON.parse(line)).find(({ partner }) => partner === 'acme');
  const forged = [
    // One grant belongs to another partner, and one is missing.
    { ...certified, id: crypto.randomUUID(), partner: 'fjord', at: new Date().toISOString() },
    { ...certified, id: crypto.randomUUID(), partner: 'mallory', grant: null, at: new Date().toISOString() },
  ];
  await writeFile(file, `${[...lines, ...forged.map((one) => JSON.stringify(one)), '{"torn'].join('\n')}`);
  const { states, of, stderr } = await partners();
  expect(states).toMatchObject({ fjord: 'revoked', mallory: 'uncertified' });
  expect(of('fjord')?.warnings).toEqual([expect.stringContaining('for the partner acme')]);
  expect(of('mallory' as Name)?.warnings).toEqual([expect.stringContaining('has no signature')]);
  expect(stderr).toMatch(/register\.ndjson:\d+: an unfinished line/);
  expect((await readdir(join(cwd, 'hookproof-partners'))).filter((name) => name.startsWith('register'))).toEqual([
    'register.ndjson',
  ]);
});
