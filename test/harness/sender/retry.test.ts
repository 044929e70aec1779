import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deliverWithRetry, isRetryable, type RetryPolicy, type Sender } from '../../../harness/sender/index.ts';
import {
  type Attempt,
  createConnections,
  exchange,
  type TransportErrorKind,
} from '../../../harness/transport/index.ts';
import { request } from '../transport/servers.ts';

const URL = 'http://partner.test/hooks';
const partner = setupServer();
beforeAll(() => partner.listen({ onUnhandledRequest: 'error' }));
afterEach(() => partner.resetHandlers());
afterAll(() => partner.close());

/** Sends with Node's HTTP client, which msw intercepts. */
const sender: Pick<Sender, 'deliver'> = {
  deliver: (prepared, { signal } = {}) => exchange(prepared, { agent: createConnections().agentFor(URL), signal }),
};

type Reply = number | { readonly status: number; readonly retryAfter: string };

/** Delivers to a partner that gives these answers in sequence. Records the pauses instead of waiting. */
async function run(replies: readonly Reply[], policy?: RetryPolicy, random = 1) {
  const bodies: string[] = [];
  partner.use(
    http.post(URL, async ({ request: incoming }) => {
      const reply = replies[bodies.length];
      bodies.push(`${incoming.headers.get('X-Service-Signature')} ${await incoming.text()}`);
      if (reply === undefined) throw new Error('more attempts than expected');
      if (typeof reply === 'number') return new HttpResponse(null, { status: reply });
      return new HttpResponse(null, { status: reply.status, headers: { 'Retry-After': reply.retryAfter } });
    }),
  );
  const waits: number[] = [];
  const { attempts, last } = await deliverWithRetry(sender, request(URL, { signing: { secret: 'for msw' } }), policy, {
    random: () => random,
    now: () => Date.parse('2026-01-01T00:00:00Z'),
    sleep: async (ms) => {
      waits.push(ms);
    },
  });
  expect(last).toBe(attempts.at(-1));
  return { statuses: attempts.map(({ answer }) => answer?.status), waits, bodies };
}

describe('deliverWithRetry', () => {
  it('makes one attempt without a policy', async () => {
    expect(await run([503])).toMatchObject({ statuses: [503], waits: [] });
  });

  it('retries until the partner accepts, with the same bytes and signature', async () => {
    const { statuses, bodies } = await run([500, 429, 408, 200], { attempts: 5 });
    expect(statuses).toEqual([500, 429, 408, 200]);
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toMatch(/^[A-Za-z0-9+/]{43}= \{"id"/);
  });

  it('stops after the last attempt', async () => {
    expect((await run([503, 503, 503], { attempts: 3 })).statuses).toEqual([503, 503, 503]);
  });

  it.each([200, 202, 301, 400, 401, 404, 413, 422])('does not retry after %i', async (status) => {
    expect((await run([status], { attempts: 3 })).statuses).toEqual([status]);
  });

  it('doubles the waits up to the limit', async () => {
    const policy = { attempts: 6, baseDelayMs: 100, maxDelayMs: 500 };
    expect((await run(Array(6).fill(503), policy)).waits).toEqual([100, 200, 400, 500, 500]);
  });

  it('applies full jitter to the waits', async () => {
    const policy = { attempts: 3, baseDelayMs: 100 };
    expect((await run(Array(3).fill(503), policy, 0.25)).waits).toEqual([25, 50]);
    expect((await run(Array(3).fill(503), policy, 0)).waits).toEqual([0, 0]);
  });

  it.each([
    ['seconds', '7', 7_000],
    ['seconds of two digits', '12', 12_000],
    ['a date', 'Thu, 01 Jan 2026 00:00:09 GMT', 9_000],
    ['a past date', 'Wed, 31 Dec 2025 00:00:00 GMT', 100],
    ['more than the limit', '3600', 20_000],
    ['less than the backoff', '0', 100],
    ['text', 'soon', 100],
    ['seconds with white space around them', ' 7 ', 7_000],
    ['a negative number', '-7', 100],
    ['a number with a unit', '7s', 100],
    ['a number after a letter', 'x7', 100],
  ])('honours Retry-After: %s', async (_what, retryAfter, wait) => {
    const policy = { attempts: 2, baseDelayMs: 100, maxRetryAfterMs: 20_000 };
    expect((await run([{ status: 503, retryAfter }, 200], policy)).waits).toEqual([wait]);
  });

  it.each([
    ['the longest', ['3', '7', '5']],
    ['those that can be read', ['soon', '7']],
  ])('honours of several Retry-After %s', async (_what, values) => {
    const headers = values.map((value): [string, string] => ['Retry-After', value]);
    const answer = { status: 503, reasonPhrase: '', headers, body: Buffer.alloc(0), truncated: false };
    const timings = { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0, reused: true };
    const waits: number[] = [];
    await deliverWithRetry(
      { deliver: async () => ({ startedAt: '', timings, answer, error: null }) },
      request(URL),
      { attempts: 2, baseDelayMs: 0 },
      { sleep: async (ms) => void waits.push(ms) },
    );
    expect(waits).toEqual([7_000]);
  });

  it('stops during a wait when the signal is aborted, and keeps the attempts', async () => {
    partner.use(http.post(URL, () => new HttpResponse(null, { status: 503 })));
    const controller = new AbortController();
    const policy = { attempts: 5, baseDelayMs: 3_600_000, maxDelayMs: 3_600_000 };
    const running = deliverWithRetry(
      {
        deliver: (prepared, options) =>
          sender.deliver(prepared, options).finally(() => setImmediate(() => controller.abort())),
      },
      request(URL),
      policy,
      { signal: controller.signal, random: () => 1 },
    );
    expect((await running).attempts.map(({ answer }) => answer?.status)).toEqual([503]);
  });
});

describe('isRetryable', () => {
  const failed = (kind: TransportErrorKind): Attempt => ({
    startedAt: '2026-01-01T00:00:00.000Z',
    timings: { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 1, reused: false },
    answer: null,
    error: { kind, phase: 'connect', code: 'X', message: 'X.' },
  });

  it('accepts every transport error except a local one', () => {
    const kinds: TransportErrorKind[] = ['dns', 'refused', 'unreachable', 'tls', 'reset', 'timeout', 'local'];
    expect(kinds.map((kind) => isRetryable(failed(kind)))).toEqual([true, true, true, true, true, true, false]);
  });

  it.each([
    [200, false],
    [407, false],
    [408, true],
    [409, false],
    [428, false],
    [429, true],
    [430, false],
    [499, false],
    [500, true],
    [599, true],
    [600, false],
  ])('status %i: %s', (status, retryable) => {
    const answer = { status, reasonPhrase: '', headers: [], body: new Uint8Array(), truncated: false };
    expect(isRetryable({ ...failed('reset'), error: null, answer })).toBe(retryable);
  });

  it('rejects an attempt without answer and error', () =>
    expect(isRetryable({ ...failed('reset'), error: null })).toBe(false));
});

describe('the default waits', () => {
  it('start at half a second, end at half a minute, and honour a minute of Retry-After', async () => {
    const { waits } = await run(Array(9).fill(503), { attempts: 9 });
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect((await run([{ status: 503, retryAfter: '3600' }, 200], { attempts: 2 })).waits).toEqual([60_000]);
  });

  it('use the real clock and random jitter', async () => {
    partner.use(http.post(URL, () => new HttpResponse(null, { status: 503 })));
    const began = performance.now();
    const { attempts } = await deliverWithRetry(
      sender,
      request(URL),
      { attempts: 2, baseDelayMs: 60 },
      { random: () => 1 },
    );
    expect(attempts).toHaveLength(2);
    expect(performance.now() - began).toBeGreaterThanOrEqual(59);
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    await deliverWithRetry(sender, request(URL), { attempts: 6, baseDelayMs: 1_000, maxDelayMs: 1_000 }, { sleep });
    expect(new Set(waits).size).toBeGreaterThan(1);
    expect(waits.every((ms) => ms >= 0 && ms < 1_000)).toBe(true);
  });

  it('count a date from the current time', async () => {
    const retryAfter = new Date(Date.now() + 30_000).toUTCString();
    partner.use(http.post(URL, () => new HttpResponse(null, { status: 503, headers: { 'Retry-After': retryAfter } })));
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    await deliverWithRetry(sender, request(URL), { attempts: 2 }, { sleep });
    expect(waits[0]).toBeGreaterThan(5_000);
    expect(waits[0]).toBeLessThanOrEqual(30_000);
  });

  it('end with the signal, as an attempt does', async () => {
    const { signal } = new AbortController();
    const given: unknown[] = [];
    const deliver = async (_prepared: unknown, options: unknown) => {
      given.push(options);
      return await sender.deliver({ ...request(URL), url: 'http://127.0.0.1:1/' }, { signal: AbortSignal.abort() });
    };
    await deliverWithRetry({ deliver }, request(URL), {}, { signal });
    await deliverWithRetry({ deliver }, request(URL));
    expect(given).toEqual([{ signal }, {}]);
    expect((given[0] as { signal: AbortSignal }).signal).toBe(signal);
  });
});
