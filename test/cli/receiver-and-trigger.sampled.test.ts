import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { signatureOf } from '../../contract/signing/index.ts';
import { SAMPLE_EVENTS } from '../../harness/cli/sample-events.ts';
import { setPath } from '../../harness/cli/set-fields.ts';
import { type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { serve } from '../endpoints/listen.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';
import { recording } from './recording.ts';

const SECRET = randomBytes(32).toString('base64');
const API_KEY = randomBytes(24).toString('base64url');
const env = { HOOKPROOF_SECRET: SECRET, HOOKPROOF_API_KEY: API_KEY };

describe('trigger', () => {
  let receiver: RunningReceiver;
  let url = '';
  beforeAll(async () => {
    receiver = await startReceiver({ signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] }, port: 0 });
    url = new URL('/hooks', receiver.url).href;
  });
  afterAll(() => receiver.close());

  it('list prints every sample', async () => {
    const { code, stdout } = await hookproof(['trigger', 'list']);
    const names = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[0]);
    expect({ code, names }).toEqual({ code: 0, names: Object.keys(SAMPLE_EVENTS) });
  });

  // Each event needs a process. Only `whole` runs all of them.
  const played = Object.keys(SAMPLE_EVENTS).filter((_, at) => inject('whole') || at % 3 === 0);

  it.concurrent.each(played)('%s is accepted by the reference receiver', async (name) => {
    const { code, stdout, stderr } = await hookproof(['trigger', name, url, '--json'], { env });
    const attempts = JSON.parse(stdout) as { answer: { status: number } | null }[];
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(attempts.length).toBeGreaterThan(0);
    expect(attempts.map(({ answer }) => answer?.status)).toEqual(attempts.map(() => 200));
  });

  it('sends a flow in order', async () => {
    const { stdout } = await hookproof(['trigger', 'failed-external-sell', url, '--json'], { env });
    const types = (JSON.parse(stdout) as { notification: { type: string } }[]).map(
      ({ notification }) => notification.type,
    );
    expect(types).toEqual(['CAAS', 'REFUND']);
  });

  it('--dry-run prints the request with the fields of --set and without credentials, and sends nothing', async () => {
    const set = ['--set', 'data.metadata.orderStatus=PENDING', '--set', 'data.extra.deep=7'];
    const nowhere = 'http://127.0.0.1:1/hooks?x=1';
    const { code, stdout } = await hookproof(['trigger', 'buy', nowhere, '--dry-run', ...set], { env });
    const [head = '', body = ''] = stdout.split('\n\n');
    expect({ code, lines: head.split('\n').filter((line) => !/^(?:Host|Content-Length): /.test(line)) }).toEqual({
      code: 0,
      lines: [
        'POST /hooks?x=[redacted] HTTP/1.1',
        'Content-Type: application/json',
        'X-Service-Signature: [signature]',
        'X-API-Key: [API key]',
        'Connection: keep-alive',
      ],
    });
    expect(JSON.parse(body).data).toMatchObject({ metadata: { orderStatus: 'PENDING' }, extra: { deep: 7 } });
  });

  it.each<[string, string[], string, string]>([
    ['nothing', [], 'no notification or flow was given', 'hookproof trigger buy http://127.0.0.1:3000/'],
    [
      'a misspelt name',
      ['depost', 'http://127.0.0.1:7/x'],
      '"depost"',
      'hookproof trigger deposit http://127.0.0.1:7/x',
    ],
    ['only a URL', ['http://127.0.0.1:7/x'], 'before the URL', 'hookproof trigger buy http://127.0.0.1:7/x'],
  ])('lists what can be triggered, and the next command, for %s', async (_, args, message, next) => {
    const { code, stderr } = await hookproof(['trigger', ...args], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(stderr).toContain('\n  Notifications: buy, sell, ');
    expect(stderr).toContain('\n  Flows:         blockchain-accepted, ');
    expect(stderr).toContain(`\n  Next:          ${next}\n`);
  });

  it('uses the configured samples, and --set overrides them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trigger-'));
    const config = join(folder, 'hookproof.yaml');
    const samples = 'samples: { transactions: [T-1, T-2], providers: [P-1], fields: ["data.tenant=acme"] }';
    await writeFile(config, `url: http://127.0.0.1:1/hooks\n${samples}\n`);
    const trigger = async (...flags: string[]) => {
      const args = ['trigger', 'failed-external-sell', '--config', config, '--dry-run', ...flags];
      const { stdout, stderr } = await hookproof(args, { env });
      const bodies = stdout.split('\n\n').filter((part) => part.startsWith('{'));
      return { stderr, data: bodies.map((body) => JSON.parse(body).data) };
    };
    const known = { transactionId: 'T-1', providerId: 'P-1', tenant: 'acme' };
    const flow = await trigger();
    expect(flow).toMatchObject({ stderr: '', data: [known, known] });
    const { data } = await trigger('--set', 'data.transactionId=T-9', '--set', 'data.tenant=other');
    expect(data[0]).toMatchObject({ transactionId: 'T-9', providerId: 'P-1', tenant: 'other' });
    await rm(folder, { recursive: true });
  });

  it('sends the bytes of a file, signed, and with --set a JSON object written anew', async () => {
    const endpoint = await recording();
    const folder = await mkdtemp(join(tmpdir(), 'trigger-'));
    const file = join(folder, 'body');
    const bytes = Buffer.from('{ "id" : "\u00e9",\r\n "n": 1.0 }\n');
    await writeFile(file, bytes);
    const trigger = (...flags: string[]) => hookproof(['trigger', '--body', file, endpoint.url, ...flags], { env });
    expect(await trigger()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`${bytes.length} bytes\n  ✓ 200`),
    });
    expect((await trigger('--set', 'n=2')).code).toBe(0);
    const sent = endpoint.requests.map(({ body, headers }) => {
      const signature = headers.find(([name]) => name === 'X-Service-Signature')?.[1];
      return { text: body.toString(), isSigned: signature === signatureOf(body, SECRET) };
    });
    expect(sent).toEqual([
      { text: bytes.toString(), isSigned: true },
      { text: '{"id":"\u00e9","n":2}', isSigned: true },
    ]);
    await writeFile(file, 'not JSON');
    expect(await trigger('--set', 'n=2')).toMatchObject({ code: 2, stderr: expect.stringContaining('a JSON object') });
    expect(await hookproof(['trigger', 'buy', endpoint.url, '--body', file], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Give the URL alone'),
    });
    await rm(folder, { recursive: true });
    await endpoint.close();
  });

  it.each([['data'], ['=x'], ['a..b=1'], ['__proto__.x=1'], ['id.x=1']])('--set %s is rejected', (assignment) => {
    expect(() => setPath({ id: 'x' }, assignment)).toThrow(expect.objectContaining({ code: 'SET_INVALID' }));
  });

  it('prints a note about values that the service would never send', async () => {
    const { code, stderr } = await hookproof(['trigger', 'buy', url, '--set', 'data.metadata=5'], { env });
    expect({ code, says: stderr.includes('the service would never send') }).toEqual({
      code: 1,
      says: true,
    });
  });

  it('exits with 1 when it is rejected, and with 3 without an answer', async () => {
    const wrong = { ...env, HOOKPROOF_SECRET: randomBytes(32).toString('base64') };
    const [refused, unreachable] = await Promise.all([
      hookproof(['trigger', 'wallet', url], { env: wrong }),
      hookproof(['trigger', 'wallet', 'http://127.0.0.1:1/'], { env }),
    ]);
    expect([refused.code, unreachable.code]).toEqual([1, 3]);
    expect(refused.stdout).toMatch(/WALLET .*\n {2}✗ 401 in \d+ ms/);
    expect(unreachable.stdout).toContain('✗ no answer after');
  });

  it('escapes a hostile answer', async () => {
    const endpoint = await serve((_, response) => response.end('\u001b[2J<script>\u0007'));
    const { stdout } = await hookproof(['trigger', 'wallet', endpoint.url], { env });
    await endpoint.close();
    expect(/[\u0007\u001b]/.test(stdout)).toBe(false);
  });
});

describe('receiver', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
    await writeFile(join(folder, 'old.txt'), SECRET);
    await writeFile(join(folder, 'new.txt'), `${SECRET}-new`);
  });
  afterAll(async () => {
    endReceivers();
    await rm(folder, { recursive: true });
  });

  const started = (args: readonly string[], given: NodeJS.ProcessEnv) =>
    startedReceiver(args, { env: given, cwd: folder });

  it.each([['SIGTERM'], ['SIGINT']] as const)('serves until %s, and exits with 0', async (signal) => {
    const { url, stop, output } = await started([], env);
    const { code } = await hookproof(['trigger', 'wallet', url], { env });
    await stop(signal);
    expect(code).toBe(0);
    const said = Object.values(output()).join('');
    expect(said.includes(SECRET) || said.includes(API_KEY)).toBe(false);
  });

  it('accepts the two secrets of a rotation, and no third', async () => {
    const { child, url } = await started(['--secret-file', 'old.txt', '--secret-file', 'new.txt'], {});
    const codes = await Promise.all(
      [SECRET, `${SECRET}-new`, `${SECRET}-other`].map(
        async (secret) => (await hookproof(['trigger', 'wallet', url], { env: { HOOKPROOF_SECRET: secret } })).code,
      ),
    );
    child.kill();
    expect(codes).toEqual([0, 0, 1]);
  });

  it('serves HTTPS with a temporary certificate', async () => {
    const { child, url } = await started(['--tls-quick-start'], env);
    const { code, stdout } = await hookproof(['trigger', 'wallet', url.replace('127.0.0.1', 'localhost')], { env });
    child.kill();
    expect({ url: url.slice(0, 8), code, says: /not trusted|self-signed|self signed/.test(stdout) }).toEqual({
      url: 'https://',
      code: 3,
      says: true,
    });
  });

  it.each<[string, string[], NodeJS.ProcessEnv, string]>([
    ['neither secret nor key', [], {}, 'no HMAC secret, no API key and no check'],
    ['an empty secret', [], { HOOKPROOF_SECRET: '' }, 'HOOKPROOF_'],
    ['--open with a secret', ['--open'], env, '`--open` cannot be combined'],
    [
      '--open with client certificates',
      ['--open', '--proxy', '127.0.0.1', '--proxy-client-header', 'X-Verified: SUCCESS'],
      {},
      '`--open` cannot be combined',
    ],
    ['a missing secret file', ['--secret-file', 'no.txt'], {}, 'no.txt'],
  ])('refuses to start with %s: exit 2', async (_, args, given, says) => {
    const { code, stdout, stderr } = await hookproof(['receiver', ...args], { env: given, cwd: folder });
    expect({ code, stdout, says: stderr.includes(says) ? says : stderr }).toEqual({ code: 2, stdout: '', says });
  });
});
