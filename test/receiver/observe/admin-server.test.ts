import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { HookproofError } from '../../../contract/index.ts';
import { type AdminOptions, type AdminServer, startAdminServer } from '../../../receiver/index.ts';

let admin: AdminServer | undefined;
afterEach(() => admin?.close());

async function start(options: AdminOptions = {}): Promise<AdminServer> {
  admin = await startAdminServer(options);
  admin.setState('serving');
  return admin;
}

/** One request; fetch would not let the Host header be chosen. */
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
  it('are both 200 while it serves; readiness is 503 before that and while it drains', async () => {
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

  it('readiness names the checks that fail, hang or throw, and says why in the log only, once', async () => {
    let broken = true;
    const logged: [string, object][] = [];
    const logger = {
      info: (fields: object) => void logged.push(['info', fields]),
      warn: (fields: object) => void logged.push(['warn', fields]),
      error() {},
    };
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
    expect(logged.map(([level]) => level)).toEqual(['warn', 'warn', 'warn']);
    expect(JSON.stringify(logged)).toContain('db.internal');
    broken = false;
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: '{"status":"ready"}' });
    expect(logged.map(([level]) => level)).toEqual(['warn', 'warn', 'warn', 'info', 'info', 'info']);
  });

  it('a check that ends after the draining began does not make it ready again', async () => {
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

describe('the port', () => {
  it('serves these pages, by GET and HEAD, and nothing else', async () => {
    await start({ metrics: { scrape: async () => ({ contentType: 'text/plain', text: 'x 1\n' }) } });
    expect(await ask('/metrics?x=1')).toMatchObject({ status: 200, body: 'x 1\n' });
    expect(await ask('/metrics', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect(await ask('/healthz', { method: 'POST' })).toMatchObject({ status: 405, allow: 'GET, HEAD' });
    for (const path of ['/', '/metrics/', '/healthz/x', '/__proto__']) expect((await ask(path)).status).toBe(404);
  });

  it('has no metrics unless they are given, and survives those that fail, without saying why', async () => {
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
  ])('asked as "%s" it answers %i', async (host, status) => {
    await start();
    expect((await ask('/healthz', { host })).status).toBe(status);
  });

  it('answers to the name that it was given as its host', async () => {
    await start({ host: 'localhost' });
    expect((await ask('/healthz')).status).toBe(200);
  });

  it('that is taken is a usage error', async () => {
    const { port } = await start();
    const error = await startAdminServer({ port }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HookproofError);
    expect((error as HookproofError).code).toBe('RECEIVER_ADMIN_LISTEN');
  });
});
