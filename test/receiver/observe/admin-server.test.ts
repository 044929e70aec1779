import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type AdminOptions, type AdminServer, startAdminServer } from '../../../receiver/index.ts';
import { collectLogs } from '../logs.ts';

let admin: AdminServer | undefined;
afterEach(() => admin?.close());

async function start(options: AdminOptions = {}): Promise<AdminServer> {
  admin = await startAdminServer(options);
  admin.setState('serving');
  return admin;
}

/** Sends a request. fetch does not allow another Host header. */
function ask(path: string, { method = 'GET', host }: { method?: string; host?: string } = {}) {
  return new Promise<{ status: number; body: string; allow: string | undefined }>((resolve, reject) => {
    const headers = host === undefined ? {} : { Host: host };
    request(new URL(path, admin?.url), { method, headers, agent: false }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, allow: answer.headers.allow }));
    })
      .on('error', reject)
      .end();
  });
}

describe('health and readiness', () => {
  it('are 200 while the receiver serves; readiness is 503 before that and while it drains', async () => {
    admin = await startAdminServer();
    const both = async () => [await ask('/healthz'), await ask('/readyz')].map(({ status, body }) => [status, body]);
    expect(await both()).toEqual([
      [200, '{"status":"ok"}'],
      [503, '{"status":"starting"}'],
    ]);
    admin.setState('serving');
    expect(await both()).toEqual([
      [200, '{"status":"ok"}'],
      [200, '{"status":"ready"}'],
    ]);
    admin.setState('draining');
    expect(await both()).toEqual([
      [200, '{"status":"ok"}'],
      [503, '{"status":"draining"}'],
    ]);
  });

  it('list failing checks in readiness, and log the reason once', async () => {
    let broken = true;
    const { logger, lines } = collectLogs();
    await start({
      checkMs: 50,
      logger,
      checks: [
        { name: 'right', check: async () => {} },
        {
          name: 'inbox',
          check: async () => {
            if (broken) throw new Error('connect ECONNREFUSED user@db.internal');
          },
        },
        { name: 'hangs', check: () => (broken ? new Promise(() => {}) : Promise.resolve()) },
        {
          name: 'throws',
          check: () => {
            if (broken) throw new Error('before there is a promise');
            return Promise.resolve();
          },
        },
      ],
    });
    const failing = {
      status: 503,
      body: '{"status":"not-ready","failed":["inbox","hangs","throws"]}',
      allow: undefined,
    };
    expect(await ask('/readyz')).toEqual(failing);
    expect(await ask('/readyz')).toEqual(failing);
    expect((await ask('/healthz')).status).toBe(200);
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn']);
    expect(JSON.stringify(lines)).toContain('db.internal');
    broken = false;
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: '{"status":"ready"}' });
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn', 'warn', 'info', 'info', 'info']);
  });

  it('stay not ready when a check ends after draining has begun', async () => {
    const server = await start({
      checks: [
        {
          name: 'slow',
          check: async () => {
            server.setState('draining');
          },
        },
      ],
    });
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: '{"status":"draining"}' });
  });
});

describe('the admin server', () => {
  it('serves its pages for GET and HEAD, and nothing else', async () => {
    await start({ metrics: { scrape: async () => ({ contentType: 'text/plain', text: 'x 1\n' }) } });
    expect(await ask('/metrics?x=1')).toMatchObject({ status: 200, body: 'x 1\n' });
    expect(await ask('/metrics', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect(await ask('/healthz', { method: 'POST' })).toMatchObject({ status: 405, allow: 'GET, HEAD' });
    for (const path of ['/', '/metrics/', '/healthz/x', '/__proto__']) expect((await ask(path)).status).toBe(404);
  });

  it('has no metrics unless configured, and answers 500 without details when they fail', async () => {
    await start();
    expect((await ask('/metrics')).status).toBe(404);
    await admin?.close();
    await start({ metrics: { scrape: () => Promise.reject(new Error('insides')) } });
    expect(await ask('/metrics')).toMatchObject({ status: 500, body: '{"error":"internal"}' });
    expect((await ask('/healthz')).status).toBe(200);
  });

  it.each([
    ['127.0.0.1', 200],
    ['127.0.0.1:9464', 200],
    ['10.1.2.3:9464', 200],
    ['[::1]', 200],
    ['[::1]:9464', 200],
    ['localhost', 200],
    ['LocalHost:9464', 200],
    ['evil.example', 421],
    ['evil.example:9464', 421],
    ['127.0.0.1.evil.example', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1@evil.example', 421],
    ['[evil.example]', 421],
    ['::1', 421],
    ['0x7f.1', 421],
  ])('answers the Host header "%s" with %i', async (host, status) => {
    await start();
    expect((await ask('/healthz', { host })).status).toBe(status);
  });

  it('accepts its configured host name', async () => {
    await start({ host: 'localhost' });
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('reports a port that is in use', async () => {
    const { port } = await start();
    await expect(startAdminServer({ port })).rejects.toMatchObject({ code: 'RECEIVER_ADMIN_LISTEN', kind: 'usage' });
  });
});
