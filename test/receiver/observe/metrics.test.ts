/** The metrics of deliveries over HTTP. */
import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type AdminServer,
  createMetrics,
  type Inbox,
  memoryInbox,
  type ReceiverMetrics,
  type RunningReceiver,
  startAdminServer,
  startReceiver,
} from '../../../receiver/index.ts';
import { API_KEY, buy, headersFor, SECRET, sign } from '../deliveries.ts';
import { openRaw, rawPost } from '../raw-http.ts';
import { readExposition } from './exposition.ts';

type Samples = ReturnType<typeof readExposition>;

const OLD_SECRET = randomBytes(32).toString('hex');
let metrics: ReceiverMetrics;
let admin: AdminServer;
let receiver: RunningReceiver;
let breakInbox: boolean;

beforeEach(async () => {
  metrics = await createMetrics();
  admin = await startAdminServer({ metrics });
  breakInbox = false;
  const memory = memoryInbox();
  const inbox: Inbox = {
    ...memory,
    put: async (delivery) => {
      if (breakInbox) throw new Error(`${randomUUID()} (is gone)`);
      return memory.put(delivery);
    },
  };
  receiver = await startReceiver({
    signing: { secrets: [SECRET, OLD_SECRET] },
    apiKey: { keys: [API_KEY] },
    path: '/hooks',
    inbox,
    observers: [metrics.deliveries],
    connectionObserver: metrics.connections,
  });
});
afterEach(async () => {
  await receiver.close();
  await admin.close();
});

async function scrape(): Promise<Samples> {
  const answer = await fetch(new URL('/metrics', admin.url));
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return readExposition(await answer.text());
}

/** Returns the value of a series of the receiver. Undefined if there is none. */
function value(samples: Samples, name: string, labels: Record<string, string> = {}): number | undefined {
  return samples.get(`hookproof_receiver_${name}`)?.find((sample) => isDeepStrictEqual(sample.labels, labels))?.value;
}

async function post(body: string, changes: Record<string, string | undefined> = {}, path = '/hooks') {
  const answer = await fetch(new URL(path, receiver.url), { method: 'POST', body, headers: headersFor(body, changes) });
  await answer.text();
  return answer.status;
}

const deliveriesOf = (samples: Samples, outcome: string, reason: string) =>
  value(samples, 'deliveries_total', { outcome, reason });

describe('metrics of deliveries', () => {
  it('count outcomes, reasons, duplicates, credentials and durations', async () => {
    const body = JSON.stringify(buy());
    expect(await post(body)).toBe(200);
    expect(await post(body, { 'X-Service-Signature': sign(body, OLD_SECRET) })).toBe(200);
    expect(await post(body, { 'X-API-Key': 'x' })).toBe(401);
    expect(await post(body, { 'X-Service-Signature': undefined })).toBe(401);
    expect(await post('[]')).toBe(400);
    expect(await post('['.repeat(100))).toBe(400);
    expect(await post(body, {}, '/elsewhere')).toBe(404);
    breakInbox = true;
    expect(await post(JSON.stringify(buy()))).toBe(503);
    await vi.waitFor(async () => {
      const samples = await scrape();
      expect(deliveriesOf(samples, 'accepted', 'none')).toBe(2);
      expect(deliveriesOf(samples, 'refused', 'inbox-failed')).toBe(1);
    }, 120_000);
    const samples = await scrape();
    for (const reason of [
      'api-key-mismatch',
      'signature-missing',
      'not-a-notification',
      'body-too-deep',
      'not-found',
    ]) {
      expect([reason, deliveriesOf(samples, 'refused', reason)]).toEqual([reason, 1]);
    }
    expect(value(samples, 'duplicates_total')).toBe(1);
    expect(value(samples, 'credentials_used_total', { credential: 'secret', position: '0' })).toBe(4);
    expect(value(samples, 'credentials_used_total', { credential: 'secret', position: '1' })).toBe(1);
    expect(value(samples, 'credentials_used_total', { credential: 'key', position: '0' })).toBe(6);
    expect(value(samples, 'delivery_duration_seconds_count', { outcome: 'accepted' })).toBe(2);
    const seconds = value(samples, 'delivery_duration_seconds_sum', { outcome: 'accepted' }) ?? 0;
    expect(seconds > 0 && seconds < 10).toBe(true);
    expect(samples.has('process_cpu_seconds_total')).toBe(true);
    expect(samples.has('nodejs_eventloop_lag_seconds')).toBe(true);
  });

  it('create no series for, and show nothing of, what senders choose', async () => {
    const countSeries = (all: Samples) =>
      [...all].filter(([name]) => name.startsWith('hookproof')).flatMap(([, samples]) => samples).length;
    const hostile = async () => {
      const canary = `canary-${randomUUID()}`;
      const body = JSON.stringify({ ...buy(canary), type: canary, [canary]: canary });
      await post(body, { 'Content-Type': 'application/json', [canary]: canary });
      await post(body, { 'X-API-Key': canary });
      await post(body, { 'X-Service-Signature': canary });
      await post(body, { 'Content-Type': canary });
      await post(body, { 'Content-Encoding': canary });
      await post(`${canary}{`);
      await post(JSON.stringify({ id: canary }));
      await post(body, {}, `/${canary}`);
      const raw = await openRaw(receiver.port);
      await raw.write(`${canary} / HTTP/1.1\r\n\r\n`);
      await raw.answer();
      await raw.ended;
      breakInbox = true;
      await post(JSON.stringify({ ...buy(canary), type: canary }));
      breakInbox = false;
    };
    await hostile();
    await vi.waitFor(async () => expect(deliveriesOf(await scrape(), 'refused', 'inbox-failed')).toBe(1), 120_000);
    const first = countSeries(await scrape());
    for (let round = 0; round < 10; round += 1) await hostile();
    await vi.waitFor(async () => expect(deliveriesOf(await scrape(), 'refused', 'inbox-failed')).toBe(11), 120_000);
    const samples = await scrape();
    expect(countSeries(samples)).toBe(first);
    const labels = [...samples.values()].flat().flatMap((sample) => Object.values(sample.labels));
    const odd = labels.filter((label) => label.includes('canary') || label === 'other');
    expect(odd).toEqual([]);
  });

  it('count an unknown reason as other, and omit the details of a reason', async () => {
    const report = { outcome: 'refused', duplicate: false, durationMs: 1 } as const;
    for (const reasonCode of ['something-new', 'something else', 'client-certificate-not-allowed']) {
      metrics.deliveries({ ...report, reason: `${reasonCode} (CN=x")`, reasonCode } as never);
    }
    const samples = await scrape();
    expect(deliveriesOf(samples, 'refused', 'other')).toBe(2);
    expect(deliveriesOf(samples, 'refused', 'client-certificate-not-allowed')).toBe(1);
  });
});

describe('metrics of connections', () => {
  it('count open connections, and requests that are refused before the stages', async () => {
    const open = await Promise.all([openRaw(receiver.port), openRaw(receiver.port)]);
    await vi.waitFor(async () => expect(value(await scrape(), 'connections_open')).toBe(2), 120_000);
    for (const connection of open) await connection.write('garbage\r\n\r\n');
    for (const connection of open) expect((await connection.answer()).status).toBe(400);
    const large = await openRaw(receiver.port);
    await large.write(rawPost('{}', { 'X-Long': 'x'.repeat(20_000) }));
    await large.answer();
    const many = await openRaw(receiver.port);
    await many.write(rawPost('{}', Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`X-${index}`, '1']))));
    await many.answer();
    for (const { socket } of [...open, large, many]) socket.destroy();
    await vi.waitFor(async () => expect(value(await scrape(), 'connections_open')).toBe(0), 120_000);
    const samples = await scrape();
    const refused = (status: string, reason: string) => value(samples, 'requests_refused_total', { status, reason });
    expect(refused('400', 'bad-request')).toBe(2);
    expect(refused('431', 'headers-too-large')).toBe(1);
    expect(refused('431', 'headers-too-many')).toBe(1);
    expect(value(samples, 'connections_dropped_total', { why: 'waiting' })).toBe(0);
    metrics.connections.dropped('waiting');
    expect(value(await scrape(), 'connections_dropped_total', { why: 'waiting' })).toBe(1);
  });
});

describe('metrics of the budget', () => {
  it('show the bytes of uploads, and the connections that are closed at a limit', async () => {
    const upload = await openRaw(receiver.port);
    const body = 'x'.repeat(500_000);
    await upload.write(rawPost(body, headersFor(body), '/hooks').subarray(0, -1));
    await vi.waitFor(async () => expect(value(await scrape(), 'upload_bytes')).toBeGreaterThan(499_000), 120_000);
    const chunked = await openRaw(receiver.port);
    const lines = Object.entries({ ...headersFor(body), 'Transfer-Encoding': 'chunked' });
    const head = `POST /hooks HTTP/1.1\r\nHost: x\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`;
    await chunked.write(head + '1\r\nx\r\n'.repeat(11_000));
    await chunked.ended;
    upload.socket.destroy();
    await vi.waitFor(async () => expect(value(await scrape(), 'upload_bytes')).toBe(0), 120_000);
    const samples = await scrape();
    const dropped = (why: string) => value(samples, 'connections_dropped_total', { why });
    expect([dropped('small-chunks'), dropped('slow-upload'), dropped('unread')]).toEqual([1, 0, 0]);
    expect(deliveriesOf(samples, 'aborted', 'small-chunks')).toBe(1);
  });
});

describe('metrics of the inbox', () => {
  it('measure storing and handling in seconds, with kinds from a closed list', async () => {
    metrics.inbox.stored(0.004);
    metrics.inbox.committed(20, 0.003);
    metrics.inbox.handled('CAAS_BUY', 'done', 0.2);
    metrics.inbox.handled('CAAS_BUY', 'failed', 0.2);
    metrics.inbox.handled(`made up ${randomUUID()}"`, 'dead', 0.2);
    const samples = await scrape();
    expect(value(samples, 'store_duration_seconds_sum')).toBe(0.004);
    expect(value(samples, 'commit_rows_sum')).toBe(20);
    expect(value(samples, 'commit_rows_bucket', { le: '16' })).toBe(0);
    expect(value(samples, 'commit_rows_bucket', { le: '32' })).toBe(1);
    expect(value(samples, 'commit_duration_seconds_count')).toBe(1);
    for (const [kind, outcome] of [
      ['CAAS_BUY', 'done'],
      ['CAAS_BUY', 'failed'],
      ['other', 'dead'],
    ] as const) {
      expect(value(samples, 'handler_duration_seconds_count', { kind, outcome })).toBe(1);
    }
  });

  it('query the queue at each scrape, and omit it when that fails', async () => {
    expect(value(await scrape(), 'queue_depth', { state: 'waiting' })).toBeUndefined();
    let depth = 3;
    metrics.watchQueue(async () => ({ waiting: depth, dead: 1 }));
    expect(value(await scrape(), 'queue_depth', { state: 'waiting' })).toBe(3);
    depth = 5;
    expect(value(await scrape(), 'queue_depth', { state: 'waiting' })).toBe(5);
    metrics.watchQueue(() => Promise.reject(new Error('the database is gone')));
    expect(value(await scrape(), 'queue_depth', { state: 'waiting' })).toBeUndefined();
    metrics.watchQueue(() => new Promise(() => {}));
    const late = await scrape();
    expect(value(late, 'queue_depth', { state: 'dead' })).toBeUndefined();
    expect(value(late, 'connections_open')).toBe(0);
    metrics.watchQueue(() => {
      throw new Error('at once');
    });
    expect(value(await scrape(), 'queue_depth', { state: 'dead' })).toBeUndefined();
  });
});

it('metrics are not shared by two receivers in one process', async () => {
  const other = await createMetrics();
  other.inbox.stored(1);
  expect(value(readExposition((await other.scrape()).text), 'store_duration_seconds_count')).toBe(1);
  expect(value(await scrape(), 'store_duration_seconds_count')).toBe(0);
});
