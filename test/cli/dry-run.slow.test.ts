/** `hookproof run --dry-run`, forbidden addresses, and proxies in the environment. */
import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startReceiver } from '../../receiver/index.ts';
import { type Endpoint, listen } from '../endpoints/listen.ts';
import { hookproof } from './hookproof.ts';

const SECRET = 'a secret of more than thirty-two characters';
const API_KEY = 'key-0123456789-abcdefghij';
const env = { HOOKPROOF_SECRET: SECRET, HOOKPROOF_API_KEY: API_KEY };
const open: { close(): unknown }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
});

/** Starts a server that counts and closes its connections, and records what it receives. */
async function trap(): Promise<Endpoint & { connections(): number; received(): string }> {
  let connections = 0;
  let received = '';
  const endpoint = await listen(
    createServer((socket) => {
      connections += 1;
      socket.on('data', (piece) => {
        received += piece.toString('latin1');
        if (/\r\n\r\n[\s\S]*\}$/.test(received)) socket.destroy();
      });
    }),
  );
  open.push(endpoint);
  return { ...endpoint, connections: () => connections, received: () => received };
}

describe('run --dry-run', () => {
  it('opens no connection, prints no credential, and exits with 0', async () => {
    const endpoint = await trap();
    const { code, stdout, stderr } = await hookproof(['run', endpoint.url, '--dry-run', '--seed', 'abc'], { env });
    expect({ code, stderr, connections: endpoint.connections() }).toEqual({ code: 0, stderr: '', connections: 0 });
    for (const secret of [SECRET, API_KEY]) expect(stdout).not.toContain(secret);
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      'Dry run: nothing is sent',
      `  target        ${endpoint.url}`,
      '  address       127.0.0.1, for the whole run',
      '  features      hmac, api-key',
    ]);
    expect(stdout).toContain('checks: the feature https is not configured');
  });

  it('prints the exact bytes of a delivery, except credentials, ids and times', async () => {
    const shown = await hookproof(
      ['run', 'http://127.0.0.1:9/hooks?a=b', '--dry-run', '--json', '--seed', 'abc', '--header', 'X-Mine: yes'],
      { env },
    );
    const { request } = JSON.parse(shown.stdout) as { request: string };
    const endpoint = await trap();
    await hookproof(
      [
        'run',
        `${endpoint.url}?a=b`,
        '--scenario',
        'valid/plain',
        '--seed',
        'abc',
        '--header',
        'X-Mine: yes',
        '--timeout',
        '1s',
        '--recovery',
        '0ms',
      ],
      { env },
    );
    const [first = ''] = endpoint.received().split(/(?<=\})(?=POST )/);
    const alike = (text: string) =>
      text
        .replace(/^(X-Service-Signature|X-API-Key): .*\r$/gm, '$1: ...')
        .replace(/^Host: .*\r$/m, 'Host')
        .replace(/7e57ca5e-[0-9a-f-]{27}/, 'id')
        .replace(/"at":\d+/, '"at"');
    // The query is sent and not shown.
    expect(alike(request)).toBe(alike(first).replace('?a=b ', '?a=[redacted] '));
    expect(request).toContain(
      '\r\nX-Service-Signature: [signature]\r\nX-API-Key: [API key]\r\nX-Mine: yes\r\nConnection: keep-alive\r\n\r\n{',
    );
  });

  it('estimates the requests of a run against a correct receiver within 5 %', async () => {
    const receiver = await startReceiver({
      signing: { secrets: [SECRET] },
      apiKey: { keys: [API_KEY] },
      host: '127.0.0.1',
      port: 0,
    });
    open.push(receiver);
    const args = ['run', receiver.url, '--suite', 'signature', '--suite', 'delivery', '--suite', 'http'];
    const [planned, done] = await Promise.all([
      hookproof([...args, '--dry-run', '--json'], { env }),
      hookproof([...args, '--reporter', 'json'], { env }),
    ]);
    const { requests, applicable, boundMs } = JSON.parse(planned.stdout);
    const { requests: sent, judged, counts, durationMs } = JSON.parse(done.stdout);
    expect(applicable).toBe(judged - counts.notApplicable);
    expect(Math.abs(requests.about - sent)).toBeLessThan(requests.about / 20);
    expect(sent).toBeLessThan(requests.most);
    expect(durationMs).toBeLessThan(boundMs);
  });

  it('prints the plan for a name that does not resolve', async () => {
    const { code, stdout } = await hookproof(['run', 'https://nowhere.invalid/', '--dry-run', '--suite', 'valid'], {
      env,
    });
    expect({ code, says: /address {7}unknown: nowhere\.invalid does not resolve/.test(stdout) }).toEqual({
      code: 0,
      says: true,
    });
  });

  it('--json needs --dry-run', async () => {
    const { code, stderr } = await hookproof(['run', 'http://127.0.0.1:9/', '--json'], { env });
    expect({ code, says: stderr.includes('RUN_JSON') }).toEqual({ code: 2, says: true });
  });
});

describe('a forbidden address', () => {
  const url = 'http://[::ffff:169.254.169.254]/latest/meta-data/';
  it.each([[['run']], [['run', '--dry-run']], [['trigger', 'buy']]])(
    '%j rejects it before anything is sent',
    async (args) => {
      const { code, stderr } = await hookproof([...args, url], { env });
      expect({ code, says: stderr.includes('ENDPOINT_ADDRESS_REFUSED') }).toEqual({
        code: 2,
        says: true,
      });
    },
  );

  it('doctor reports it, and does not connect', async () => {
    const { code, stdout } = await hookproof(['doctor', 'http://169.254.169.254/', '--json'], { env });
    const { sections } = JSON.parse(stdout) as { sections: { id: string; state: string; reason: string }[] };
    expect(code).toBe(3);
    expect(sections.find(({ id }) => id === 'connection')).toMatchObject({
      state: 'skipped',
      reason: 'connections to these addresses are not allowed',
    });
  });
});

describe('a proxy in the environment', () => {
  it('is ignored', async () => {
    const [endpoint, proxy] = await Promise.all([trap(), trap()]);
    const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
    const proxies = Object.fromEntries(names.map((name) => [name, new URL(proxy.url).origin]));
    const { code } = await hookproof(
      ['run', endpoint.url, '--suite', 'valid', '--timeout', '1s', '--recovery', '0ms'],
      {
        env: { ...env, ...proxies, NODE_USE_ENV_PROXY: '1' },
      },
    );
    expect({ code, reached: endpoint.connections() > 0, proxied: proxy.connections() }).toEqual({
      code: 1,
      reached: true,
      proxied: 0,
    });
  });
});
