import { describe, expect, it, onTestFinished } from 'vitest';
import type { ForwardedExchange, HeaderLine } from '../../../contract/index.ts';
import { type InspectorOptions, type RunningInspector, startInspector } from '../../../receiver/index.ts';
import { API_KEY, buy, SECRET, sign } from '../deliveries.ts';
import { apiKey, BODY, exchange, openEvents, signing } from './inspected.ts';

type Replay = NonNullable<InspectorOptions['forwarding']>['replay'];

async function inspector(options: InspectorOptions = { signing, apiKey }, replay?: Replay): Promise<RunningInspector> {
  const forwarding = {
    upstream: 'http://127.0.0.1:3000/hooks',
    replay: replay ?? (async () => exchange()),
    curl: () => `curl ${SECRET}`,
  };
  const made = await startInspector({ ...options, forwarding });
  onTestFinished(() => made.close());
  return made;
}

async function viewOf({ url, record }: RunningInspector, one: ForwardedExchange) {
  const answer = await fetch(`${url}deliveries/${record(one).id}`);
  const text = await answer.text();
  return { text, view: JSON.parse(text) };
}

describe('a forwarded delivery', () => {
  it.each([
    ['The receiver answered 200, as expected: the delivery is valid.', exchange(), 'accepted', undefined],
    ['The receiver answered 401 to a valid delivery.', exchange({ status: 401 }), 'refused', 'refused-although-valid'],
    [
      'The receiver answered 401. The delivery has no signature.',
      exchange({ status: 401, headers: { 'X-Service-Signature': undefined } }),
      'refused',
      'signature-missing',
    ],
    [
      'The receiver accepted a delivery whose API key is not the configured one (200).',
      exchange({ headers: { 'X-API-Key': 'another' } }),
      'accepted',
      'accepted-although-invalid (api-key-mismatch)',
    ],
    [
      'The receiver answered 400. The body is not JSON.',
      exchange({ status: 400, body: Buffer.from('{') }),
      'refused',
      'body-not-json',
    ],
    ['The connection was closed before the receiver answered.', exchange({ status: 0 }), 'aborted', 'no-answer'],
    [
      'The connection was closed before the request was complete, and there was no answer.',
      exchange({ status: 0, complete: false }),
      'aborted',
      'no-answer (connection-closed)',
    ],
    [
      'The receiver answered 400. The bytes are not an HTTP/1 request.',
      exchange({ status: 400, method: '' }),
      'refused',
      'not-http',
    ],
  ])('%s', async (title, one, outcome, reason) => {
    const { view } = await viewOf(await inspector(), one);
    expect(view).toMatchObject({ outcome, explanation: { title }, replayable: true });
    expect(view.reason).toBe(reason);
  });

  const forged = { 'X-Service-Signature': sign('other bytes') };
  it.each([
    ['200 to a valid delivery', exchange(), 'correct'],
    ['401 to a valid delivery', exchange({ status: 401 }), 'incorrect'],
    ['202 to a valid delivery', exchange({ status: 202 }), 'incorrect'],
    ['401 to a forged one', exchange({ status: 401, headers: forged }), 'correct'],
    ['403 to one without key', exchange({ status: 403, headers: { 'X-API-Key': undefined } }), 'correct'],
    ['500 to a forged one', exchange({ status: 500, headers: forged }), 'incorrect'],
    ['200 to a forged one', exchange({ headers: forged }), 'unsafe'],
    ['204 to a forged one', exchange({ status: 204, headers: forged }), 'unsafe'],
    ['200 to a signed body that is not JSON', exchange({ body: Buffer.from('{') }), undefined],
    ['no answer', exchange({ status: 0 }), undefined],
  ])('%s is judged', async (_name, one, answered) => {
    const made = await inspector();
    expect(made.record(one).answered).toBe(answered);
    expect((await viewOf(made, one)).view.answered).toBe(answered);
  });

  it('names the alarm: a forged delivery that was accepted', async () => {
    const { view } = await viewOf(await inspector(), exchange({ headers: forged }));
    expect(view.explanation.title).toBe('The receiver accepted a delivery whose signature does not match (200).');
  });

  it('is not judged by one credential when it carries another that is not configured here', async () => {
    const made = await inspector({ apiKey });
    const { view } = await viewOf(made, exchange({ status: 401 }));
    expect([view.answered, view.reason]).toEqual([undefined, undefined]);
    expect(view.explanation.title).toContain('has a credential that is not configured here');
    expect(made.record(exchange({ headers: { 'X-API-Key': 'another' } })).answered).toBe('unsafe');
  });

  it('explains a signature as for the reference receiver, with the difference of the bytes', async () => {
    const pretty = Buffer.from(JSON.stringify(buy('id-1'), null, 2));
    const compact = JSON.stringify(JSON.parse(String(pretty)));
    const headers = { 'X-Service-Signature': sign(compact) };
    const { view, text } = await viewOf(await inspector(), exchange({ status: 401, body: pretty, headers }));
    expect(view.mistakes).toHaveLength(1);
    expect(view.mistakes[0].fix).toMatch(/^The sender signed that text, but other bytes arrived: /);
    expect(view.mistakes[0].fix).toContain('The receiver is right to reject');
    expect(view.diff.signed.size).toBe(compact.length);
    expect(text).not.toContain(sign(compact));
  });

  it('shows the answer of the receiver, with credentials masked', async () => {
    const answer = {
      headers: [
        ['Set-Cookie', 'session=1'],
        ['X-Debug', `key ${API_KEY}`],
      ] as HeaderLine[],
      body: `expected ${sign(BODY)} under ${SECRET}`,
    };
    const { view, text } = await viewOf(await inspector(), exchange({ status: 401, answer }));
    expect(view.answer).toMatchObject({ status: 401, headers: [{ value: null }, { value: 'key [***]' }] });
    expect(Buffer.from(view.answer.body.base64, 'base64').toString()).toBe('expected [***] under [***]');
    for (const hidden of [SECRET, API_KEY, sign(BODY), 'session=1']) expect(text).not.toContain(hidden);
  });

  it('says that nothing was checked when no credentials are configured', async () => {
    const { view } = await viewOf(await inspector({}), exchange({ status: 401 }));
    expect(view.explanation.title).toContain('Neither a secret nor an API key is configured here');
  });

  it('is listed in the stream of events', async () => {
    const made = await inspector();
    const { id } = made.record(exchange({ status: 403 }));
    const events = await openEvents(made);
    const all = await events.until((seen) => seen.some((one) => one.event === 'delivery'));
    expect(all.at(-1)).toMatchObject({ id, data: { outcome: 'refused', status: 403 } });
    events.close();
  });
});

describe('the replay of a delivery', () => {
  /** Sends the request of the page with these changes. Returns the answer, and what was replayed. */
  async function ask(
    changes: Record<string, string | undefined>,
    { method = 'POST', host = '', body = '', rest = '' } = {},
  ) {
    const sent: unknown[] = [];
    const made = await inspector(undefined, async (raw, options) => {
      const { edit, sign } = options;
      sent.push([String(raw), sign, ...(edit === undefined ? [] : [edit.headers, String(edit.body)])]);
      return { ...exchange({ status: 201 }), replayOf: options.id };
    });
    const { id } = made.record(exchange());
    const events = await openEvents(made);
    const hello = (await events.until((seen) => seen.length > 0))[0]?.data as unknown as { actionToken: string };
    events.close();
    const { request } = await import('node:http');
    const headers = Object.fromEntries(
      Object.entries({
        Host: host || new URL(made.url).host,
        Origin: new URL(made.url).origin,
        'Sec-Fetch-Site': 'same-origin',
        'X-Hookproof-Action': hello.actionToken,
        ...changes,
      }).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const path = `/deliveries/${id}/replay?sign=1`;
      const asked = request({ port: made.port, host: '127.0.0.1', path, method, headers }, (res) => {
        res.resume();
        resolve(asked.writableEnded ? res.statusCode : undefined);
      });
      asked.on('error', reject);
      if (rest === '') asked.end(body);
      else asked.write(body, () => setTimeout(() => asked.end(rest), 200));
    });
    return { status, sent };
  }

  it('sends the bytes again for the page itself', async () => {
    expect(await ask({})).toEqual({ status: 200, sent: [['the bytes', true]] });
  });

  it('sends what the page has edited', async () => {
    const body = JSON.stringify({ headers: [['X-Tenant', 'acme']], body: '{"id":"2"}' });
    expect(await ask({}, { body })).toEqual({
      status: 200,
      sent: [['the bytes', true, [['X-Tenant', 'acme']], '{"id":"2"}']],
    });
  });

  it.each([
    ['a line break in a header', { headers: [['X-A', 'b\r\nX-Service-Signature: c']] }],
    ['a line break in the name of a header', { headers: [['X-A: b\r\nX-B', 'c']] }],
    ['a header without a name', { headers: [['', 'a']] }],
    ['a character that a header cannot have', { headers: [['X-A', '\u4e2d']] }],
    ['another host', { headers: [], url: 'http://other.example/' }],
    ['a body that is no text', { headers: [], body: 1 }],
    ['more than it may have', { headers: [], body: 'a'.repeat(3_000_000) }],
    ['another length', { headers: [['content-length', '5']] }],
    ['another framing', { headers: [['Transfer-Encoding', 'chunked']] }],
    ['no edit', null],
  ])('is refused with an edit that has %s', async (_what, edit) => {
    expect(await ask({}, { body: JSON.stringify(edit) })).toEqual({ status: 400, sent: [] });
  });

  it('is refused only after an edit that is too large has been sent: a browser shows no earlier answer', async () => {
    expect(await ask({}, { body: 'a'.repeat(3_000_000), rest: 'a' })).toEqual({ status: 400, sent: [] });
  });

  it.each([
    ['no token', { 'X-Hookproof-Action': undefined }, 403],
    ['another token', { 'X-Hookproof-Action': '0'.repeat(32) }, 403],
    ['the origin of another site', { Origin: 'https://evil.example' }, 403],
    ['the origin of another port of this machine', { Origin: 'http://127.0.0.1:1' }, 403],
    ['no origin', { Origin: undefined }, 403],
    ['the opaque origin of a sandbox', { Origin: 'null' }, 403],
    ['a request that the browser calls cross-site', { 'Sec-Fetch-Site': 'cross-site' }, 403],
    ['a request of the same site, on another port', { 'Sec-Fetch-Site': 'same-site' }, 403],
  ])('is refused with %s', async (_what, changes, status) => {
    expect(await ask(changes)).toEqual({ status, sent: [] });
  });

  it('is refused under another host name, which may resolve to this machine, and with other methods', async () => {
    const evil = { Origin: 'http://evil.example' };
    expect(await ask(evil, { host: 'evil.example' })).toEqual({ status: 421, sent: [] });
    expect(await ask({}, { method: 'GET' })).toEqual({ status: 404, sent: [] });
    expect(await ask({}, { method: 'PUT' })).toEqual({ status: 405, sent: [] });
  });

  it('does not exist on the page of a receiver', async () => {
    const made = await startInspector({ signing, apiKey });
    onTestFinished(() => made.close());
    const { id } = made.record(exchange());
    const answer = await fetch(`${made.url}deliveries/${id}/replay`, {
      method: 'POST',
      headers: { Origin: new URL(made.url).origin },
    });
    expect(answer.status).toBe(405);
    expect((await fetch(`${made.url}deliveries/${id}/curl`)).status).toBe(404);
  });

  it('gives a script with curl, masked', async () => {
    const made = await inspector();
    expect(await (await fetch(`${made.url}deliveries/${made.record(exchange()).id}/curl`)).text()).toBe('curl [***]');
  });
});
