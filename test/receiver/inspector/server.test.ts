import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startInspector } from '../../../receiver/index.ts';
import { verifyCommandFor } from '../../../receiver/inspector/delivery-view.ts';
import { API_KEY, buy, SECRET, sign } from '../deliveries.ts';
import { deliveriesIn, type Inspected, inspected, inspectedForTest, openEvents } from './inspected.ts';

const read = async (url: string | URL, init: RequestInit = {}) => {
  const answer = await fetch(url, init);
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

/** Sends a request with headers that `fetch` does not send. */
function ask(url: string, headers: Record<string, string>, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method, headers }, (res) => {
      resolve(res.statusCode ?? 0);
      res.destroy();
    });
    req.on('error', reject).end();
  });
}

/** Returns the summaries of the recorded deliveries, with the newest last. */
async function recorded({ inspector }: Inspected, count: number) {
  const events = await openEvents(inspector);
  const all = await events.until((seen) => deliveriesIn(seen).length >= count);
  events.close();
  return deliveriesIn(all).map(({ data }) => data);
}

/** Returns the first recorded delivery as text. */
async function firstDelivery(site: Inspected): Promise<string> {
  const [first] = await recorded(site, 1);
  return (await read(new URL(`deliveries/${first?.id}`, site.inspector.url))).text;
}

describe('a response', () => {
  let site: Inspected;
  beforeAll(async () => {
    site = await inspected();
  });
  afterAll(() => site.close());
  const at = (path: string) => new URL(path, site.inspector.url).href;

  it('has headers that isolate the page', async () => {
    await site.deliver(JSON.stringify(buy()));
    const [{ id = '' } = {}] = await recorded(site, 1);
    const paths = ['', 'main.js', 'style.css', 'icon.svg', 'search?q=x', `deliveries/${id}`, `deliveries/${id}/body`];
    for (const path of [...paths, 'none']) {
      const { headers, status } = await read(at(path));
      expect({ path, status, ...Object.fromEntries(headers) }).toMatchObject({
        status: path === 'none' ? 404 : 200,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
        ),
      });
      expect(headers.get('access-control-allow-origin')).toBeNull();
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
    }
    const events = await openEvents(site.inspector);
    expect(events.answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(events.answer.headers.get('cache-control')).toBe('no-store');
    events.close();
  });

  it('has no inline script, style or event handler', async () => {
    const { text } = await read(at(''));
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=|javascript:/);
  });

  it('is 405 to other methods than GET, and 404 for other paths', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD']) expect(await ask(at(''), {}, method)).toBe(405);
    const others = ['../index.ts', '%2e%2e/index.ts', '/etc/passwd', 'deliveries/', 'deliveries/000000-1', 'toString'];
    for (const path of others) {
      expect(await ask(at('') + path, {})).toBe(404);
    }
  });

  it.each([
    ['another name (DNS rebinding)', { host: 'evil.example' }, 421],
    ['a name that begins alike', { host: '127.0.0.1.evil.example' }, 421],
    ['another address', { host: '192.0.2.1:80' }, 421],
    ['the name of this machine', { host: 'localhost:9' }, 200],
    ['its other addresses', { host: '[::1]:9' }, 200],
    ['another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 403],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }, 403],
    ['another origin', { origin: 'http://localhost:1' }, 403],
    ['no origin', { origin: 'null' }, 403],
    ['the page itself', { 'sec-fetch-site': 'same-origin' }, 200],
    ['the address bar', { 'sec-fetch-site': 'none' }, 200],
  ])('to %s', async (_who, headers, status) => {
    for (const path of ['events', 'search?q=a', 'main.js']) expect(await ask(at(path), headers)).toBe(status);
  });

  it('to a link from another site is the page only', async () => {
    const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect([await ask(at(''), visit), await ask(at('events'), visit)]).toEqual([200, 403]);
  });

  it('with a body is a download', async () => {
    const body = Buffer.concat([Buffer.from('{"a":"<script>alert(1)</script>"}'), randomBytes(200_000)]);
    await site.deliver(body);
    const id = (await recorded(site, 2)).at(-1)?.id;
    const answer = await fetch(at(`deliveries/${id}/body`));
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="delivery-${id}.bin"`,
    });
    expect(Buffer.from(await answer.arrayBuffer()).equals(body)).toBe(true);
    const view = JSON.parse((await read(at(`deliveries/${id}`))).text);
    expect(view.body).toMatchObject({ size: body.length, cut: true, masked: false });
    expect(Buffer.from(view.body.base64, 'base64')).toHaveLength(64 * 1024);
  });

  it('to a search lists bodies that contain the text in any letter case, after an id', async () => {
    await site.deliver(JSON.stringify(buy('n-1', { note: 'Needle \u00e9' })));
    await site.deliver(JSON.stringify(buy('n-2', { note: 'nEEDLE \u00c9' })));
    const ids = (await recorded(site, 4)).map(({ id }) => id);
    const found = async (query: string) => JSON.parse((await read(at(`search?${query}`))).text);
    expect(await found('q=needle+%C3%89')).toEqual(ids.slice(-2));
    expect(await found(`q=needle&after=${ids.at(-2)}`)).toEqual(ids.slice(-1));
    expect([await found('q='), await found('q=nowhere'), await found('x=1')]).toEqual([[], [], []]);
  });
});

it('continues a stream after Last-Event-ID without losing or repeating a delivery', async () => {
  const site = await inspectedForTest();
  await site.deliver(JSON.stringify(buy()));
  const first = await openEvents(site.inspector);
  const last = deliveriesIn(await first.until((seen) => deliveriesIn(seen).length === 1))[0]?.id ?? '';
  first.close();
  for (let count = 0; count < 3; count++) await site.deliver(JSON.stringify(buy()));
  const again = await openEvents(site.inspector, { 'Last-Event-ID': last });
  await site.deliver(JSON.stringify(buy()));
  const seen = deliveriesIn(await again.until((events) => deliveriesIn(events).length === 4));
  expect(seen.map(({ data }) => data.number)).toEqual([2, 3, 4, 5]);
  again.close();
});

describe('an inspector on a public address', () => {
  it('serves only the URL with the token', async () => {
    const inspector = await startInspector({ host: '0.0.0.0' });
    const { port } = inspector;
    const [, token = ''] = /^http:\/\/0\.0\.0\.0:\d+\/([0-9a-f]{32})\/$/.exec(inspector.url) ?? [];
    const base = `http://127.0.0.1:${port}`;
    for (const path of ['/', '/main.js', '/events', `/${'0'.repeat(32)}/`, `/${token.slice(1)}/`, `/${token}`]) {
      expect([path, await ask(base + path, {})]).toEqual([path, 404]);
    }
    for (const path of ['', 'main.js', 'events']) expect(await ask(`${base}/${token}/${path}`, {})).toBe(200);
    const hosts = { '192.0.2.1:80': 200, '[2001:db8::1]': 200, 'evil.example': 421 };
    for (const [host, status] of Object.entries(hosts)) expect(await ask(`${base}/${token}/`, { host })).toBe(status);
    expect((await read(`${base}/`)).text).not.toContain(token);
    await inspector.close();
  });

  it('reports a port that is in use', async () => {
    const one = await startInspector();
    await expect(startInspector({ port: one.port })).rejects.toMatchObject({
      code: 'INSPECTOR_LISTEN',
      hint: expect.stringContaining('--inspect PORT'),
    });
    await one.close();
  });
});

describe('a credential', () => {
  const older = randomBytes(32).toString('hex');
  const mac = (body: string, encoding: 'hex' | 'base64' | 'base64url', secret = SECRET) =>
    createHmac('sha256', secret).update(body).digest(encoding);

  /** Creates a delivery with credentials and valid signatures in unusual places. */
  const tricky = (): [body: string, headers: Record<string, string | undefined>, path?: string][] => {
    const plain = () => JSON.stringify(buy(randomUUID()));
    const signedWith = (value: (body: string) => string): [string, Record<string, string>] => {
      const body = plain();
      return [body, { 'X-Service-Signature': value(body) }];
    };
    const changed = (change: (valid: string) => string) => signedWith((body) => change(sign(body)));
    const pretty = JSON.stringify(buy(), null, 2);
    return [
      [plain(), {}],
      [plain(), { 'X-API-Key': undefined, Authorization: `Bearer ${API_KEY}`, 'X-Other': API_KEY }],
      [plain(), { 'X-API-Key': `"${API_KEY}"`, 'X-Secret-Too': SECRET }],
      [plain(), {}, `/?api_key=${API_KEY}&${SECRET}`],
      [plain(), { 'Content-Type': `text/${API_KEY}` }],
      [plain(), { 'Content-Type': 'text/plain', 'X-Copy': sign('x') }],
      signedWith((body) => mac(body, 'hex')),
      signedWith((body) => mac(body, 'base64url')),
      changed((valid) => `${valid}x`),
      changed((valid) => `v1,${valid}`),
      changed((valid) => `${valid.slice(0, 20)}${valid[20] === 'A' ? 'B' : 'A'}${valid.slice(21)}`),
      changed((valid) => valid.slice(0, -4)),
      changed((valid) => valid.toUpperCase()),
      [pretty, { 'X-Service-Signature': sign(JSON.stringify(JSON.parse(pretty))) }],
      [`${plain()}\n`, {}],
      [JSON.stringify(buy(API_KEY, { transactionId: SECRET, [older]: 1 })), {}],
      [JSON.stringify({ id: SECRET, at: API_KEY }), {}],
      [`${SECRET} ${Buffer.from(API_KEY).toString('base64')}`, {}],
      [`x`.repeat(70_000) + SECRET, { 'X-Service-Signature': 'x' }],
    ];
  };

  it('is not shown in any response, event, search or download', async () => {
    const secrets = [SECRET, older];
    const site = await inspectedForTest({ signing: { secrets } });
    const bodies: string[] = [];
    for (const [body, headers, path] of tricky()) {
      await site.deliver(body, headers, path);
      bodies.push(body);
      const json = body.trim();
      if (json.startsWith('{')) bodies.push(json, JSON.stringify(JSON.parse(json)));
    }
    const encodedKey = Buffer.from(API_KEY).toString('base64');
    const hidden = new Set([SECRET, API_KEY, older, encodedKey, encodeURIComponent(SECRET)]);
    for (const body of bodies) {
      for (const secret of secrets) {
        for (const encoding of ['hex', 'base64', 'base64url'] as const) hidden.add(mac(body, encoding, secret));
      }
    }
    const count = tricky().length;
    const events = await openEvents(site.inspector);
    const seen = deliveriesIn(await events.until((all) => deliveriesIn(all).length === count));
    let everything = events.text();
    events.close();
    const shown = new Map<number, string>();
    for (const { data } of seen) {
      const { text } = await read(new URL(`deliveries/${data.id}`, site.inspector.url));
      const view = JSON.parse(text);
      const inside = [view.body, view.diff?.signed].map((part) => Buffer.from(part?.base64 ?? '', 'base64').toString());
      const { text: download } = await read(new URL(`deliveries/${data.id}/body`, site.inspector.url));
      everything += [text, ...inside, download].join('\n');
      shown.set(data.number, JSON.stringify(view.headers));
    }
    expect(everything.length).toBeGreaterThan(50_000);
    expect([...hidden].filter((value) => everything.includes(value))).toEqual([]);
    // A long part of a valid signature must not occur either, in any letter case.
    for (const body of bodies) {
      const valid = sign(body).toLowerCase();
      expect([...shown.values()].filter((text) => text.toLowerCase().includes(valid.slice(2, 18)))).toEqual([]);
      expect([...shown.values()].filter((text) => text.toLowerCase().includes(valid.slice(24, 40)))).toEqual([]);
    }
    const search = async (query: string) =>
      (await read(new URL(`search?q=${encodeURIComponent(query)}`, site.inspector.url))).text;
    for (const value of [SECRET, SECRET.slice(0, 12), API_KEY, API_KEY.slice(5)])
      expect(await search(value)).toBe('[]');
  });

  it('of another service is not shown in the places of credentials', async () => {
    const site = await inspectedForTest();
    const unknown = { Authorization: 'Bearer unknown-credential', Cookie: 'session=unknown-credential' };
    await site.deliver(JSON.stringify(buy()), unknown, '/hooks?token=unknown-credential');
    const text = await firstDelivery(site);
    expect(text).not.toContain('unknown-credential');
    expect(JSON.parse(text)).toMatchObject({
      request: { target: '/hooks?token=[***]' },
      headers: expect.arrayContaining([
        { name: 'X-Service-Signature', value: null, note: 'correct, so it is not shown' },
        { name: 'X-API-Key', value: null, note: 'the API key is never shown' },
      ]),
    });
  });

  it('is shown when it is an unrelated signature', async () => {
    const site = await inspectedForTest();
    const wrong = randomBytes(32).toString('base64');
    await site.deliver(JSON.stringify(buy()), { 'X-Service-Signature': wrong });
    const { headers, id, verifyCommand } = JSON.parse(await firstDelivery(site));
    expect(headers).toContainEqual({ name: 'X-Service-Signature', value: wrong });
    const command = `hookproof verify delivery-${id}.bin --signature '${wrong}' --secret-file secret.txt`;
    expect(verifyCommand).toBe(command);
  });

  it('is quoted for a shell in the command that verifies it', () => {
    expect(verifyCommandFor('a-1', "x='; id; '")).toContain(` --signature 'x='\\''; id; '\\''' `);
  });
});

it('keeps the receiver responsive while many streams are open and none is read', async () => {
  const site = await inspectedForTest({ maxDeliveries: 50 });
  const streams = await Promise.all(Array.from({ length: 25 }, () => openEvents(site.inspector)));
  const body = JSON.stringify(buy());
  const statuses = await Promise.all(Array.from({ length: 300 }, () => site.deliver(body)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  const full = await Promise.all(streams.map((stream) => stream.until((events) => events.length > 0)));
  expect(full.filter(([first]) => first?.event === 'full')).toHaveLength(5);
  for (const stream of streams) stream.close();
  // A stream can be opened again.
  await vi.waitFor(async () => {
    const stream = await openEvents(site.inspector);
    const [first] = await stream.until((events) => events.length > 0);
    stream.close();
    expect(first?.event).toBe('hello');
  }, 120_000);
});
