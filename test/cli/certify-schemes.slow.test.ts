/** `hookproof certify` in the scheme of another service: what is certified, verified, rechecked and shown. */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeCertificate } from '../../certs/index.ts';
import { definitionOf, FOREIGN_SCHEMES, type Scheme } from '../../contract/signing/index.ts';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { catalogueDigest } from '../../scenarios/index.ts';
import { hookproof } from './hookproof.ts';

const SECRET = randomBytes(32).toString('hex');
const scheme = FOREIGN_SCHEMES.find(({ name }) => name === 'stripe') as Scheme;
const { toleranceSeconds: _, ...ageless } = scheme;
const env = { HOOKPROOF_SECRET: SECRET };
let cwd = '';
let tls: { cert: string; key: string };
let receiver: RunningReceiver;

const certify = (...args: string[]) => hookproof(['certify', ...args], { cwd, env });
const start = (given: Scheme, port: number) =>
  startReceiver({ signing: { secrets: [SECRET], scheme: given }, tls, host: '127.0.0.1', port });
const urlOf = ({ url }: RunningReceiver) => `https://localhost:${new URL(url).port}/hooks`;
const LOCAL = ['--allow-private', 'localhost', '--ca', 'ca.pem'];
const STAGING = ['--profile', 'staging', '--key', 'operator.pem', ...LOCAL];
const CERTIFICATE = 'out/certificate.dsse.json';
const PUBLIC = ['--key', 'operator.pub.pem'];

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-certify-'));
  const ca = await makeCertificate({ subject: 'CN=CA', authority: true });
  tls = await makeCertificate({ subject: 'CN=localhost', issuer: ca, hosts: ['localhost'], usages: ['serverAuth'] });
  await writeFile(join(cwd, 'ca.pem'), ca.cert);
  await certify('keygen', 'operator.pem');
  receiver = await start(scheme, 0);
});
afterAll(async () => {
  await receiver.close();
  await rm(cwd, { recursive: true, force: true });
});

it('certifies a receiver, and names the scheme wherever the certificate is shown', async () => {
  const { code, stdout } = await certify(urlOf(receiver), '--scheme', 'stripe', ...STAGING, '-o', 'out');
  expect({ code, stdout }).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('2, in the scheme stripe, until'),
  });
  const { payload } = JSON.parse(await readFile(join(cwd, CERTIFICATE), 'utf8'));
  const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString());
  const { notScoredTests, scheme: signed } = predicate.hookproofCertificate;
  expect(signed).toEqual(definitionOf(scheme));
  expect(predicate.passedTests).toEqual(expect.arrayContaining(['scheme/time-past', 'scheme/time-changed']));
  expect(notScoredTests.filter((id: string) => id.startsWith('scheme/'))).toEqual([]);
  const digest = `sha256:${predicate.configuration[0].digest.sha256}`;
  expect(digest).toBe(catalogueDigest(scheme));
  expect(JSON.parse(await readFile(join(cwd, 'out/run.json'), 'utf8')).catalogue.digest).toBe(digest);
});

it('is valid for this scheme alone', async () => {
  const verify = (...args: string[]) => certify('verify', CERTIFICATE, ...PUBLIC, ...args);
  const shown = 'stripe: hex of HMAC-SHA256 over <timestamp>.<body>, as t=<timestamp>,v1=<value>; tolerance 300 s';
  const { code, stdout } = await verify('--scheme', 'stripe');
  expect({ code, text: stdout.replaceAll(/\s+/g, ' ') }).toEqual({ code: 0, text: expect.stringContaining(shown) });
  for (const args of [[], ['--scheme', 'github']]) {
    expect(await verify(...args)).toMatchObject({ code: 1, stdout: expect.stringContaining('(other-scheme)') });
  }
});

it('is rechecked in this scheme alone, and finds a receiver that no longer checks the time', async () => {
  const recheck = (...args: string[]) => certify('recheck', CERTIFICATE, ...PUBLIC, ...LOCAL, ...args);
  expect(await recheck('--scheme', 'stripe')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('scheme/time-past'),
  });
  expect(await recheck()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is for the scheme stripe, but the scheme of the specification is configured'),
  });
  expect((await recheck('--scheme', 'github')).stderr).toContain('but the scheme github is configured');
  const port = Number(new URL(receiver.url).port);
  await receiver.close();
  receiver = await start(ageless, port);
  expect(await recheck('--scheme', 'stripe')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/no longer pass:\s+scheme\/time-past/),
  });
  const refused = await certify(urlOf(receiver), '--scheme', 'stripe', ...STAGING, '-o', 'failed');
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/scored checks failed:\s+scheme\/time-past/),
  });
  await receiver.close();
  receiver = await start(scheme, port);
});

it('certifies partners in the scheme of the defaults, which a partner cannot set', async () => {
  await mkdir(join(cwd, 'partners/acme'), { recursive: true });
  const write = (name: string, text: string) => writeFile(join(cwd, 'partners', name), text);
  await write('_defaults.yaml', 'scheme: stripe\n');
  const own = `url: ${urlOf(receiver)}\nhmac: { secret: '\${env:PARTNER_ACME__SECRET}' }\ntls: { ca: acme/ca.pem }\n`;
  await write('acme.yaml', own);
  await writeFile(join(cwd, 'partners/acme/ca.pem'), await readFile(join(cwd, 'ca.pem')));
  const fleet = () =>
    hookproof(
      ['certify', '--partners', 'partners', '--profile', 'staging', '--key', 'operator.pem', ...LOCAL.slice(0, 2)],
      { cwd, env: { PARTNER_ACME__SECRET: SECRET } },
    );
  const { code, stdout, stderr } = await fleet();
  expect({ code, stderr: code === 0 ? '' : stdout + stderr }).toEqual({ code: 0, stderr: '' });
  const text = (name: string) => readFile(join(cwd, 'hookproof-partners', name), 'utf8');
  expect(JSON.parse(await text('fleet.json'))).toMatchObject({
    catalogue: { digest: catalogueDigest(scheme) },
    partners: [{ name: 'acme', scheme: 'stripe', outcome: 'certified' }],
  });
  expect(await text('fleet.html')).toContain('staging, revision 2, scheme stripe, evidence level 0');
  await write('acme.yaml', `${own}scheme: github\n`);
  expect((await fleet()).stderr).toContain('scheme');
});

it('needs a secret, because nothing would be signed in the scheme', async () => {
  const args = ['--scheme', 'stripe', '--profile', 'basic', '--key', 'operator.pem'];
  const { code, stderr } = await hookproof(['certify', urlOf(receiver), ...args], {
    cwd,
    env: { HOOKPROOF_API_KEY: SECRET },
  });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('no secret is configured') });
});
