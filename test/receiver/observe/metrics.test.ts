/** The metrics, of real deliveries over real HTTP, read back by a strict reader. */
import { randomBytes, randomUUID } from 'node:crypto';
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
import { type Family, readExposition } from './exposition.ts';

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

async function scrape(): Promise<Map<string, Family>> {
  const answer = await fetch(new URL('/metrics', admin.url));
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return readExposition(await answer.text());
}

/** The value of a series of ours; undefined when there is none. */
function value(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number | undefined {
  const full = `hookproof_receiver_${name}`;
  const family = families.get(full) ?? families.get(full.replace(/_(?:count|sum|bucket)$/, ''));
  const same = (other: Readonly<Record<string, string>>) =>
    Object.keys(other).length === Object.keys(labels).length &&
    Object.entries(labels).every(([key, wanted]) => other[key] === wanted);
  return family?.samples.find((sample) => sample.name === full && same(sample.labels))?.value;
}

async function post(body: string, changes: Record<string, string | undefined> = {}, path = '/hooks') {
  const answer = await fetch(new URL(path, receiver.url), { method: 'POST', body, headers: headersFor(body, changes) });
  await answer.text();
  return answer.status;
}

const deliveriesOf = (families: Map<string, Family>, outcome: string, reason: string) =>
  value(families, 'deliveries_total', { outcome, reason });

describe('of deliveries', () => {
  it('counts what came of them, why, duplicates, credentials and how long it took', async () => {
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
      const families = await scrape();
      expect(deliveriesOf(families, 'accepted', 'none')).toBe(2);
      expect(deliveriesOf(families, 'refused', 'inbox-failed')).toBe(1);
    });
    const families = await scrape();
    for (const reason of [
      'api-key-mismatch',
      'signature-missing',
      'not-a-notification',
      'body-too-deep',
      'not-found',
    ]) {
      expect([reason, deliveriesOf(families, 'refused', reason)]).toEqual([reason, 1]);
    }
    expect(value(families, 'duplicates_total')).toBe(1);
    expect(value(families, 'credentials_used_total', { credential: 'secret', position: '0' })).toBe(4);
    expect(value(families, 'credentials_used_total', { credential: 'secret', position: '1' })).toBe(1);
    expect(value(families, 'credentials_used_total', { credential: 'key', position: '0' })).toBe(6);
    expect(value(families, 'delivery_duration_seconds_count', { outcome: 'accepted' })).toBe(2);
    const seconds = value(families, 'delivery_duration_seconds_sum', { outcome: 'accepted' }) ?? 0;
    expect(seconds > 0 && seconds < 10).toBe(true);
    expect(families.has('process_cpu_seconds_total')).toBe(true);
    expect(families.has('nodejs_eventloop_lag_seconds')).toBe(true);
  });

  it('whatever is sent, no new series come of it and nothing of it is shown', async () => {
    const shapeOf = (families: Map<string, Family>) =>
      [...families.values()].flatMap(({ samples }) => samples).filter(({ name }) => name.startsWith('hookproof'))
        .length;
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
    await vi.waitFor(async () => expect(deliveriesOf(await scrape(), 'refused', 'inbox-failed')).toBe(1));
    const first = shapeOf(await scrape());
    for (let round = 0; round < 10; round += 1) await hostile();
    await vi.waitFor(async () => expect(deliveriesOf(await scrape(), 'refused', 'inbox-failed')).toBe(11));
    const families = await scrape();
    expect(shapeOf(families)).toBe(first);
    const labels = [...families.values()]
      .flatMap(({ samples }) => samples)
      .flatMap((sample) => Object.values(sample.labels));
    const odd = labels.filter((label) => label.includes('canary') || label === 'other');
    expect(odd).toEqual([]);
  });

  it('a reason that nobody has listed is counted as other, and what it quotes is left out', async () => {
    const report = { outcome: 'refused', duplicate: false, durationMs: 1 } as const;
    for (const reason of [
      'something-new',
      'something-else: 1',
      'client-certificate-not-allowed (CN=x")',
      'connection closed',
    ]) {
      metrics.deliveries({ ...report, reason } as never);
    }
    const families = await scrape();
    expect(deliveriesOf(families, 'refused', 'other')).toBe(2);
    expect(deliveriesOf(families, 'refused', 'client-certificate-not-allowed')).toBe(1);
    expect(deliveriesOf(families, 'refused', 'connection-closed')).toBe(1);
  });
});

describe('of connections', () => {
  it('counts what is open, and what was refused before the stages', async () => {
    const open = await Promise.all([openRaw(receiver.port), openRaw(receiver.port)]);
    await vi.waitFor(async () => expect(value(await scrape(), 'connections_open')).toBe(2));
    for (const connection of open) await connection.write('garbage\r\n\r\n');
    for (const connection of open) expect((await connection.answer()).status).toBe(400);
    const large = await openRaw(receiver.port);
    await large.write(rawPost('{}', { 'X-Long': 'x'.repeat(20_000) }));
    await large.answer();
    const many = await openRaw(receiver.port);
    await many.write(rawPost('{}', Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`X-${index}`, '1']))));
    await many.answer();
    for (const { socket } of [...open, large, many]) socket.destroy();
    await vi.waitFor(async () => expect(value(await scrape(), 'connections_open')).toBe(0));
    const families = await scrape();
    const refused = (status: string, reason: string) => value(families, 'requests_refused_total', { status, reason });
    expect(refused('400', 'bad-request')).toBe(2);
    expect(refused('431', 'headers-too-large')).toBe(1);
    expect(refused('431', 'headers-too-many')).toBe(1);
    expect(value(families, 'connections_dropped_total', { why: 'waiting' })).toBe(0);
    metrics.connections.dropped('waiting');
    expect(value(await scrape(), 'connections_dropped_total', { why: 'waiting' })).toBe(1);
  });
});

describe('of the inbox', () => {
  it('takes what the store and the handling tell, in seconds, with kinds from a closed list', async () => {
    metrics.inbox.stored(0.004);
    metrics.inbox.committed(20, 0.003);
    metrics.inbox.handled('CAAS_BUY', 'done', 0.2);
    metrics.inbox.handled('CAAS_BUY', 'failed', 0.2);
    metrics.inbox.handled(`made up ${randomUUID()}"`, 'dead', 0.2);
    const families = await scrape();
    expect(value(families, 'store_duration_seconds_sum')).toBe(0.004);
    expect(value(families, 'commit_rows_sum')).toBe(20);
    expect(value(families, 'commit_rows_bucket', { le: '16' })).toBe(0);
    expect(value(families, 'commit_rows_bucket', { le: '32' })).toBe(1);
    expect(value(families, 'commit_duration_seconds_count')).toBe(1);
    for (const [kind, outcome] of [
      ['CAAS_BUY', 'done'],
      ['CAAS_BUY', 'failed'],
      ['other', 'dead'],
    ] as const) {
      expect(value(families, 'handler_duration_seconds_count', { kind, outcome })).toBe(1);
    }
  });

  it('asks for the queue at every scrape, and leaves it out when it cannot be counted', async () => {
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

it('two receivers in one process do not share their metrics', async () => {
  const other = await createMetrics();
  other.inbox.stored(1);
  expect(value(readExposition((await other.scrape()).text), 'store_duration_seconds_count')).toBe(1);
  expect(value(await scrape(), 'store_duration_seconds_count')).toBe(0);
});
