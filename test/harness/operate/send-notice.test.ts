/** One attempt to send a notice: to our own receiver, to mocked failures, and to addresses that are not allowed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedNotification } from '../../../contract/index.ts';
import { NOTICE_TYPE } from '../../../harness/operate/notices.ts';
import { type NoticeOutcome, type SendNoticeOptions, sendNotice } from '../../../harness/operate/send-notice.ts';
import type { Resolve } from '../../../harness/transport/index.ts';
import { createReceiver } from '../../../receiver/index.ts';
import { freePort } from '../../endpoints/listen.ts';
import { httpServer, listen } from '../transport/servers.ts';

const SECRET = 'made-for-the-notices-of-this-test-0001';
const NOTICE = {
  id: '5b0f8c1e-0000-4000-8000-000000000000',
  type: NOTICE_TYPE,
  at: '2026-11-27T00:00:00.000Z',
  data: { kind: 'failing', partner: 'acme', reason: 'accepts unsigned requests' },
};
const NOW = Date.parse('2026-11-27T12:00:00Z');

const to = (...addresses: string[]): Resolve & { asked: string[] } => {
  const asked: string[] = [];
  return Object.assign(
    async (host: string) => {
      asked.push(host);
      // Each lookup returns another address, as with DNS rebinding.
      const address = addresses[Math.min(asked.length, addresses.length) - 1] ?? '';
      return [{ address, family: address.includes(':') ? 6 : 4 }];
    },
    { asked },
  );
};
const ALLOWED = { reach: 'public-only', allowPrivate: ['127.0.0.1', 'notices.test'] } as const;
const send = (url: string, options: Partial<SendNoticeOptions> = {}, body: object = NOTICE) =>
  sendNotice(
    body as typeof NOTICE,
    { url, secret: SECRET },
    { policy: ALLOWED, secrets: [], now: () => NOW, ...options },
  );

describe('the reference receiver', () => {
  it('accepts a notice, stores it once, and has it handled', async () => {
    const handled: ReceivedNotification[] = [];
    const receiver = createReceiver({
      signing: { secrets: [SECRET] },
      handlers: { UNKNOWN: (notification) => void handled.push(notification) },
    });
    const url = `http://127.0.0.1:${await listen(createServer(receiver.app))}/`;
    expect([await send(url), await send(url)]).toEqual([{ kind: 'sent' }, { kind: 'sent' }]);
    await receiver.settled();
    expect(handled).toMatchObject([{ id: NOTICE.id, type: NOTICE_TYPE, data: NOTICE.data }]);
    await receiver.stop(0);
  });

  it('refuses a notice that is signed with another secret', async () => {
    const receiver = createReceiver({ signing: { secrets: ['another-secret-of-this-test-00000002'] } });
    const url = `http://127.0.0.1:${await listen(createServer(receiver.app))}/`;
    expect(await send(url)).toEqual({ kind: 'refused', error: 'answered 401' });
    await receiver.stop(0);
  });
});

it('a connection that breaks is tried again', async () => {
  const breaking = createServer((request) => request.socket.destroy());
  const broken = await send(`http://127.0.0.1:${await listen(breaking)}/`);
  expect(broken).toMatchObject({ kind: 'failed', error: expect.stringMatching(/^no answer \(/) });
});

describe('a recipient that fails', () => {
  const URL = 'https://partner.test/notices/token-in-the-path';
  const partner = setupServer();
  beforeAll(() => partner.listen({ onUnhandledRequest: 'error' }));
  afterEach(() => partner.resetHandlers());
  afterAll(() => partner.close());

  async function answerOf(reply: () => Response | Promise<Response>, options: Partial<SendNoticeOptions> = {}) {
    const seen: string[] = [];
    partner.use(
      http.post(URL, async ({ request }) => {
        seen.push(`${request.headers.get('X-Service-Signature')} ${await request.text()}`);
        return reply();
      }),
    );
    const outcome = await send(URL, { resolve: to('93.184.215.14'), ...options });
    return { outcome, seen };
  }
  const status =
    (code: number, headers: Record<string, string> = {}) =>
    () =>
      new HttpResponse(null, { status: code, headers });
  const later = (code: number, retryAfterMs: number | null = null): NoticeOutcome => ({
    kind: 'failed',
    error: `answered ${code}`,
    retryAfterMs,
  });

  it.each([200, 202, 204])('%i is accepted', async (code) => {
    const { outcome, seen } = await answerOf(status(code));
    expect(outcome).toEqual({ kind: 'sent' });
    expect(seen).toEqual([expect.stringMatching(/^[A-Za-z0-9+/]{43}= \{"id":"5b0f8c1e/)]);
  });

  it.each([408, 429, 500, 502, 503, 504])('%i is tried again', async (code) => {
    expect((await answerOf(status(code))).outcome).toEqual(later(code));
  });

  it('Retry-After is respected, in seconds and as a date', async () => {
    expect((await answerOf(status(503, { 'Retry-After': '120' }))).outcome).toEqual(later(503, 120_000));
    const date = 'Fri, 27 Nov 2026 12:10:00 GMT';
    expect((await answerOf(status(429, { 'Retry-After': date }))).outcome).toEqual(later(429, 600_000));
  });

  it.each([400, 401, 404, 410])('%i ends the attempts', async (code) => {
    expect((await answerOf(status(code))).outcome).toEqual({ kind: 'refused', error: `answered ${code}` });
  });

  it('an answer that does not come is tried again', async () => {
    const silent = await answerOf(() => new Promise<Response>(() => undefined), { timeoutMs: 50 });
    expect(silent.outcome).toEqual({ kind: 'failed', error: 'no answer (TimeoutError)', retryAfterMs: null });
  });

  it('plain HTTP to a public address is not used', async () => {
    const refused = await send('http://partner.test/', { resolve: to('93.184.215.14') });
    expect(refused).toEqual({ kind: 'refused', error: 'plain HTTP to a public address' });
  });

  it('a secret of the partner does not leave, and neither does the URL in an error', async () => {
    const leaked = { ...NOTICE, data: { ...NOTICE.data, reason: 'it printed partner-secret-0123456789, twice' } };
    const secrets = [{ name: 'secret', value: 'partner-secret-0123456789' }];
    const bodies: string[] = [];
    partner.use(http.post(URL, async ({ request }) => HttpResponse.text(`${bodies.push(await request.text())}`)));
    await send(URL, { resolve: to('93.184.215.14'), secrets }, leaked);
    expect(bodies).toEqual([expect.stringContaining('it printed [redacted:secret], twice')]);
    const outcome = await answerOf(() => HttpResponse.error());
    expect(JSON.stringify(outcome.outcome)).not.toContain('token-in-the-path');
  });
});

describe('an address that is not allowed', () => {
  const contacted: string[] = [];
  let port = 0;
  const inside = createServer((request, response) => {
    contacted.push(request.url ?? '');
    response.end();
  });
  beforeAll(async () => {
    inside.listen(0, '127.0.0.1');
    await once(inside, 'listening');
    port = (inside.address() as AddressInfo).port;
  });
  afterAll(() => void inside.close());
  const PUBLIC_ONLY = { policy: { reach: 'public-only' } } as const;

  it.each([
    ['a loopback address', 'http://127.0.0.1:PORT/'],
    ['as a number', 'http://2130706433:PORT/'],
    ['an IPv4-mapped address', 'http://[::ffff:127.0.0.1]:PORT/'],
    ['a NAT64 address', 'http://[64:ff9b::7f00:1]:PORT/'],
    ['localhost', 'http://localhost:PORT/'],
    ['a metadata address', 'http://169.254.169.254:PORT/'],
  ])('%s', async (_, url) => {
    const outcome = await send(url.replace('PORT', String(port)), PUBLIC_ONLY);
    expect(outcome).toMatchObject({ kind: 'refused', error: expect.stringContaining('will not connect to') });
    expect(contacted).toEqual([]);
  });

  it('a name that resolves to one', async () => {
    const outcome = await send(`http://rebound.test:${port}/`, { ...PUBLIC_ONLY, resolve: to('127.0.0.1') });
    expect(outcome).toMatchObject({ kind: 'refused', error: expect.stringContaining('rebound.test') });
    expect(contacted).toEqual([]);
  });

  it('a metadata address of a host that is allowed by name', async () => {
    const outcome = await send(`http://notices.test:${port}/`, { resolve: to('169.254.169.254') });
    expect(outcome).toMatchObject({ kind: 'refused' });
  });

  it('a redirect to one is not followed', async () => {
    const location = `http://127.0.0.1:${port}/stolen`;
    const url = await httpServer((_, response) => response.writeHead(307, { Location: location }).end());
    expect(await send(url)).toEqual({ kind: 'refused', error: 'answered 307: redirects are not followed' });
    expect(contacted).toEqual([]);
  });

  it('a name is resolved once, and the connection goes to the address that was checked', async () => {
    const resolve = to('127.0.0.1', '127.0.0.2');
    const outcome = await send(`http://notices.test:${port}/pinned`, { resolve });
    expect([outcome.kind, resolve.asked, contacted]).toEqual(['sent', ['notices.test'], ['/pinned']]);
  });
});

it('nothing listening is tried again', async () => {
  const port = await freePort();
  await expect(once(createConnection(port, '127.0.0.1'), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'failed', error: 'no answer (ECONNREFUSED)' });
});

it('a proxy of the environment is refused, because it resolves names itself', async () => {
  const symbol = Symbol.for('undici.globalDispatcher.1');
  const holder = globalThis as unknown as Record<symbol, unknown>;
  const own = holder[symbol];
  class ProxyAgent {}
  try {
    holder[symbol] = new ProxyAgent();
    const outcome = await send(await httpServer((_, response) => response.end()));
    expect(outcome).toEqual({ kind: 'refused', error: 'this process sends its requests through a proxy' });
  } finally {
    holder[symbol] = own;
  }
});
