/** `hookproof doctor` as a process: exit codes, output, what it sends, interruption. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serverFixture } from '../../certs/index.ts';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { clientMaterial } from '../certs/client-material.ts';
import { type Endpoint, listen, serve } from '../endpoints/listen.ts';
import { hookproof, MAIN } from './hookproof.ts';
import { recording } from './recording.ts';

const SECRET = randomBytes(32).toString('base64');
const env = { HOOKPROOF_SECRET: SECRET };

let folder = '';
let receiver: RunningReceiver;
let url = '';
const open: Endpoint[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  const [server, client] = [await serverFixture('p256'), await clientMaterial('right')];
  const other = await clientMaterial('rsa');
  const files = { 'ca.pem': server.ca, 'client.pem': client.cert, 'client.key': client.key, 'other.key': other.key };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  receiver = await startReceiver({
    signing: { secrets: [SECRET] },
    tls: { cert: server.cert, key: server.key, ca: client.authority, clientCertificate: 'required' },
  });
  url = `https://localhost:${receiver.port}/`;
});
afterAll(async () => {
  await receiver.close();
  await rm(folder, { recursive: true });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

const MATERIAL = ['--ca', 'ca.pem', '--client-cert', 'client.pem', '--client-key', 'client.key'];
const doctor = (args: readonly string[], more: NodeJS.ProcessEnv = env) =>
  hookproof(['doctor', ...args], { env: more, cwd: folder });

describe('exit codes', () => {
  it('0 when everything was examined, with a delivery', async () => {
    const { code, stdout, stderr } = await doctor([url, ...MATERIAL, '--deliver']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ Delivery +WALLET 7e57ca5e[\w-]+: 200 in /);
    expect(stdout).toMatch(
      /\. This is not a verdict: `hookproof run` gives one\.\n\nExit code 0: there is no problem\.\n$/,
    );
    expect(stdout).not.toContain('✗');
    expect(stderr).toBe('reading the configuration\n');
  });

  it('2 for a delivery without a URL', async () => {
    const { code, stderr } = await doctor(['--deliver']);
    expect(code).toBe(2);
    expect(stderr).toContain('there is no URL to deliver to');
    expect(stderr).toContain('CONFIG_URL_MISSING');
  });

  it('1 when there is a problem of the endpoint or of the configuration', async () => {
    const { code, stdout } = await doctor([url, '--client-cert', 'client.pem', '--client-key', 'other.key']);
    expect(code).toBe(1);
    expect(stdout).toContain('[unknown-authority]');
    expect(stdout).toContain('[client-key-other-pair]');
    expect(stdout).toContain('[client-certificate-required]');
    expect(stdout).toMatch(/\nExit code 1: there are \d+ problems\.\n$/);
    expect((await doctor(['--client-cert', 'client.pem', '--client-key', 'other.key'])).code).toBe(1);
  });

  it('0 when there is only advice, and 1 with --strict', async () => {
    const open = { ...env, HOOKPROOF_SIGNATURE_HEADER: 'X_Signature' };
    const said = await Promise.all([doctor(MATERIAL.slice(2), open), doctor([...MATERIAL.slice(2), '--strict'], open)]);
    expect(said.map(({ code }) => code)).toEqual([0, 1]);
    expect(said[1]?.stdout).toMatch(/\nExit code 1: `--strict` is given, and there is advice\.\n$/);
    expect((await doctor([url, ...MATERIAL, '--strict'])).code).toBe(0);
  });

  it('2 without anything to examine, and for an invalid configuration', async () => {
    const said = await Promise.all([doctor([], {}), doctor(['nonsense']), doctor([url, '--timeout', '1'])]);
    expect(said.map(({ code, stdout }) => [code, stdout])).toEqual(said.map(() => [2, '']));
    expect(said[0]?.stderr).toContain('CONFIG_URL_MISSING');
  });

  it('3 when the endpoint is not reached; the configuration is examined anyway', async () => {
    const endpoint = await listen(createTcp());
    await endpoint.close();
    for (const place of ['https://partner.invalid/', `https://127.0.0.1:${endpoint.port}/`]) {
      const { code, stdout } = await doctor([place, ...MATERIAL]);
      expect([code, stdout.includes('CN=hookproof client'), stdout.includes('44 characters')]).toEqual([3, true, true]);
    }
  });

  it('0 without a URL: examines secrets and certificates', async () => {
    const { code, stdout } = await doctor(MATERIAL.slice(2));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^hookproof doctor {2}local configuration\n/);
    expect(stdout).not.toContain('DNS');
  });
});

describe('--json', () => {
  it('prints one document that matches the schema of --schema', async () => {
    const [{ code, stdout }, schema] = await Promise.all([
      doctor([url, ...MATERIAL, '--deliver', '--json']),
      hookproof(['doctor', '--schema']),
    ]);
    const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(JSON.parse(schema.stdout));
    const document = JSON.parse(stdout);
    expect([code, schema.code, validate(document), validate.errors]).toEqual([0, 0, true, null]);
    expect(document).toMatchObject({ schemaVersion: 1, url, reached: true, counts: { problem: 0 } });
  });

  it('prints a document also when the endpoint is not reached', async () => {
    const { code, stdout } = await doctor(['https://partner.invalid/', '--json']);
    expect([code, JSON.parse(stdout).reached]).toEqual([3, false]);
  });
});

describe('what is sent', () => {
  it('is one OPTIONS request, and with --deliver one signed delivery too', async () => {
    const endpoint = await recording();
    open.push(endpoint);
    await doctor([endpoint.url]);
    expect(endpoint.requests.map(({ method }) => method)).toEqual(['OPTIONS']);
    await doctor([endpoint.url, '--deliver']);
    const delivered = endpoint.requests.filter(({ method }) => method === 'POST');
    expect(endpoint.requests).toHaveLength(3);
    expect(delivered).toHaveLength(1);
    expect(JSON.parse(delivered[0]!.body.toString())).toMatchObject({ id: expect.stringMatching(/^7e57ca5e-/) });
    expect(delivered[0]?.headers.map(([name]) => name)).toContain('X-Service-Signature');
  });

  it('is explained when it is rejected', async () => {
    const endpoint = await serve((request, response) => {
      request.resume();
      response.writeHead(request.method === 'POST' ? 401 : 204).end('who are you?');
    });
    open.push(endpoint);
    const { code, stdout } = await doctor([endpoint.url, '--deliver']);
    expect(code).toBe(1);
    expect(stdout).toContain('[refuses-right-credentials]');
    expect(stdout).toContain('answer: who are you?');
  });
});

describe('a running examination', () => {
  function started(args: readonly string[]) {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [MAIN, 'doctor', ...args], { env: { PATH, HOME, ...env }, cwd: folder });
    let stdout = '';
    child.stdout.on('data', (data) => (stdout += data));
    return { child, stdout: () => stdout };
  }

  it('prints its stage before anything is examined', async () => {
    const endpoint = await listen(createTcp());
    open.push(endpoint);
    const { child } = started([endpoint.url, '--timeout', '10s']);
    const [first] = await once(child.stderr, 'data');
    expect(String(first)).toBe('reading the configuration\n');
    child.kill('SIGKILL');
    await once(child, 'close');
  });

  it('prints its findings when it is interrupted, and exits with 130', async () => {
    let connected = () => {};
    const first = new Promise<void>((resolve) => {
      connected = resolve;
    });
    const endpoint = await listen(createTcp(() => connected()));
    open.push(endpoint);
    const { child, stdout } = started([endpoint.url, '--timeout', '60s']);
    await first;
    child.kill('SIGINT');
    const [code] = await once(child, 'close');
    expect(code).toBe(130);
    expect(stdout()).toContain('Interrupted: these are the findings so far.');
    expect(stdout()).not.toContain('✗');
  });
});
