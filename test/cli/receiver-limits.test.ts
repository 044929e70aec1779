/** `hookproof receiver`: limits, rotation of credentials, health and metrics. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type LimitFlags, limitSettings } from '../../harness/cli/receiver/receiver-limits.ts';
import { buy, sign } from '../receiver/deliveries.ts';
import { readExposition } from '../receiver/observe/exposition.ts';
import { openRaw, rawPost } from '../receiver/raw-http.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const CREDENTIALS = ['new-secret', 'old-secret', 'new-key', 'old-key'] as const;
const values = Object.fromEntries(CREDENTIALS.map((name) => [name, randomBytes(32).toString('hex')])) as Record<
  (typeof CREDENTIALS)[number],
  string
>;
let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  for (const name of CREDENTIALS) await writeFile(join(cwd, name), `${values[name]}\n`);
});
afterAll(async () => {
  endReceivers();
  await rm(cwd, { recursive: true });
});

async function post(port: number, secret: string, key: string): Promise<number> {
  const body = JSON.stringify(buy());
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': sign(body, secret), 'X-API-Key': key };
  const connection = await openRaw(port);
  await connection.write(rawPost(body, headers));
  const { status } = await connection.answer();
  connection.socket.destroy();
  return status;
}

describe('hookproof receiver', () => {
  it('accepts old and new credentials from files, warns once about the old ones, and counts them', async () => {
    const files = CREDENTIALS.flatMap((name) => [name.endsWith('secret') ? '--secret-file' : '--api-key-file', name]);
    const { port, says, stop, output } = await startedReceiver([...files, '--admin-port', '0'], { env: {}, cwd });
    const admin = await says(/health and metrics at (\S+)/);
    for (let count = 0; count < 3; count += 1) {
      expect(await post(port, values['new-secret'], values['new-key'])).toBe(200);
      expect(await post(port, values['old-secret'], values['old-key'])).toBe(200);
    }
    expect(await post(port, values['old-key'], values['old-secret'])).toBe(401);
    await vi.waitFor(async () => {
      const text = await (await fetch(new URL('/metrics', admin))).text();
      const used = readExposition(text).get('hookproof_receiver_credentials_used_total') ?? [];
      expect(used.map(({ labels, value }) => [labels.credential, labels.position, value]).sort()).toEqual([
        ['key', '0', 3],
        ['key', '1', 3],
        ['secret', '0', 3],
        ['secret', '1', 3],
      ]);
    }, 120_000);
    await stop();
    const { stdout, stderr } = output();
    expect(stdout.match(/an older signature secret is still in use/g)).toHaveLength(1);
    expect(stdout.match(/an older API key is still in use/g)).toHaveLength(1);
    for (const value of Object.values(values)) expect(stdout + stderr).not.toContain(value);
  });

  it('enforces the given limits', async () => {
    const limits = [
      '--max-connections',
      '2',
      '--max-headers',
      '10',
      '--max-header-bytes',
      '2000',
      '--header-timeout',
      '200ms',
    ];
    const { port, stop } = await startedReceiver(['--open', ...limits], { env: {}, cwd });
    const [first, second] = [await openRaw(port), await openRaw(port)];
    await second.write(rawPost('{}', { 'X-Long': 'x'.repeat(2100) }));
    expect((await second.answer()).status).toBe(431);
    const third = await openRaw(port);
    await third.write(rawPost('{}', Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`X-${index}`, '1']))));
    expect((await third.answer()).status).toBe(431);
    // The connection limit or the header timeout closes the connections.
    await first.ended;
    const silent = await openRaw(port);
    expect((await silent.answer()).status).toBe(408);
    await stop();
  });

  it.each<[string, LimitFlags, string]>([
    ['no connection', { maxConnections: '0' }, '--max-connections: "0" is not a whole number from 1 to 1000000'],
    ['an invalid number', { maxConnections: 'many' }, '--max-connections: "many" is not a whole number'],
    ['too few headers', { maxHeaders: '2' }, '--max-headers: "2" is not a whole number from 10 to 10000'],
    ['too few bytes', { maxHeaderBytes: '1' }, '--max-header-bytes: "1" is not a whole number'],
    ['a time without unit', { requestTimeout: '30' }, '--request-timeout: "30" is not a duration'],
    ['too short a time', { drainTimeout: '1ms' }, '--drain-timeout: "1ms" is out of range'],
    ['more time for headers than for the request', { headerTimeout: '1m' }, '`--header-timeout` is longer than'],
  ])('rejects %s', (_, flags, says) => {
    expect(() => limitSettings(flags)).toThrow(says);
  });

  it.concurrent.each<[string, string[], string]>([
    ['an invalid admin port', ['--admin-port', '70000'], '--admin-port: "70000" is not a whole number'],
    ['an admin host alone', ['--admin-host', '127.0.0.1'], '`--admin-host` needs `--admin-port`'],
    ['an admin address of another machine', ['--admin-port', '0', '--admin-host', '192.0.2.1'], '192.0.2.1'],
    ['an address of another machine', ['--host', '192.0.2.1', '--admin-port', '0'], 'Cannot listen on 192.0.2.1'],
    ['an invalid body limit', ['--body-limit', 'x', '--admin-port', '0'], '--body-limit'],
  ])('exits with 2 for %s', async (_, args, says) => {
    const { code, stderr } = await hookproof(['receiver', '--open', '--port', '0', ...args], { cwd });
    expect({ code, says: stderr.includes(says) ? says : stderr }).toEqual({ code: 2, says });
  });
});
