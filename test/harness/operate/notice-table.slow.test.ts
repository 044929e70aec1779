/** Notices in a real PostgreSQL: each is stored once, and retried until it is sent, rejected or abandoned. */
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { deliverNotice, dueNotices, planNotices } from '../../../harness/operate/index.ts';
import { openDatabase, openRegister, type RegisterRecord, refreshStandings } from '../../../harness/register/index.ts';
import { newDatabase } from '../../setup/postgres.ts';
import { httpServer } from '../transport/servers.ts';
import { CURRENT, dayOf, granted, KEYS, on } from './standings.ts';

const server = inject('postgresUrl');
const SECRET = 'made-for-the-notices-of-this-test-0001';
const ALLOWED = { reach: 'public-only', allowPrivate: ['127.0.0.1'] } as const;
const START = dayOf(5).getTime();
const HOUR = 3_600_000;

let url = '';
let pool: pg.Pool;
beforeAll(async () => {
  if (server === null) return;
  url = await newDatabase(server);
  pool = await openDatabase(url, { max: 4, name: 'test' });
});
beforeEach(async () => {
  await pool?.query('TRUNCATE hookproof_register, hookproof_standing, hookproof_notice');
});
afterAll(() => pool?.end());

async function append(...records: RegisterRecord[]) {
  const register = await openRegister(url);
  await register.append(records);
  await register.close();
}

/** Plans the notices on a day, as if the previous planning had been a day earlier. */
async function planAt(day: number, currentRevision = CURRENT) {
  const at = dayOf(day + 0.5);
  await refreshStandings(pool, KEYS, { currentRevision, now: dayOf(2) });
  await planNotices(pool, { keys: KEYS, since: dayOf(day - 0.5), at, currentRevision });
}

const rows = async (columns: string, where = "recipient = 'operator'") =>
  (await pool.query(`SELECT ${columns} FROM hookproof_notice WHERE ${where} ORDER BY at, kind, recipient`)).rows;
const kinds = async () => (await rows('kind')).map(({ kind }) => kind);

/** Delivers the notices that are pending at this time to an endpoint with these answers. The partner has no URL. */
async function deliverAt(ms: number, ...statuses: number[]) {
  const seen: string[] = [];
  const endpoint = await httpServer(async (request, response) => {
    seen.push(Buffer.concat(await request.toArray()).toString());
    response.writeHead(statuses.shift() ?? 500).end();
  });
  const operator = { url: endpoint, secret: SECRET };
  const destinationsOf = async () => ({ notices: { operator, partner: null }, secrets: [] });
  for (const id of await dueNotices(pool, new Date(ms))) {
    await deliverNotice(pool, id, { destinationsOf, policy: ALLOWED, now: () => ms, random: () => 1 });
  }
  return seen;
}

it.skipIf(server === null)('arises from the records since a time, once, whoever plans it', async () => {
  await append(granted(1), on(5, 'failed', { reason: 'accepts unsigned requests' }));
  await planAt(3);
  expect(await kinds()).toEqual([]);
  await Promise.all([planAt(5), planAt(5), planAt(5)]);
  await append(on(5.2, 'failed'), granted(5.3), on(5.4, 'revoked', { reason: 'ticket 1' }));
  await planAt(5);
  expect(await rows('kind, recipient, partner, attempts', 'true')).toEqual([
    { kind: 'failing', recipient: 'operator', partner: 'acme', attempts: 0 },
    { kind: 'failing', recipient: 'partner', partner: 'acme', attempts: 0 },
    { kind: 'worse', recipient: 'operator', partner: 'acme', attempts: 0 },
    { kind: 'worse', recipient: 'partner', partner: 'acme', attempts: 0 },
  ]);
});

it.skipIf(server === null)('arises from time alone: before an expiry, at it, and for a newer revision', async () => {
  await append(granted(1));
  await planAt(60);
  expect(await kinds()).toEqual([]);
  await planAt(80);
  await planAt(85);
  await planAt(95);
  await planAt(96);
  expect(await kinds()).toEqual(['expiring', 'worse']);
  expect((await rows("body->'data'->>'state' AS state")).map(({ state }) => state)).toEqual(['certified', 'expired']);
  await append(granted(2, { certificate: 'd'.repeat(64) }));
  await planAt(60, CURRENT + 1);
  await planAt(61, CURRENT + 1);
  expect((await kinds()).filter((kind) => kind === 'revision-superseded')).toHaveLength(1);
});

it.skipIf(server === null)('does not arise from what nobody has signed', async () => {
  await append({ ...granted(1), partner: 'other' }, on(4.9, 'revoked', { partner: 'other' }));
  await planAt(5);
  expect(await kinds()).toEqual([]);
});

it.skipIf(server === null)('is tried again with the same bytes, later each time, and then not again', async () => {
  await append(granted(1), on(5, 'failed'));
  await planAt(5);
  await pool.query('UPDATE hookproof_notice SET next_at = $1', [new Date(START).toISOString()]);
  const first = await deliverAt(START, 500);
  expect(await deliverAt(START + 29_000)).toEqual([]);
  const second = await deliverAt(START + 30_000, 503);
  expect(await deliverAt(START + 89_000)).toEqual([]);
  expect(await rows('attempts, last_error')).toEqual([{ attempts: 2, last_error: 'answered 503' }]);
  const third = await deliverAt(START + 90_000, 200);
  expect([first.length, second, third]).toEqual([1, first, first]);
  expect(await rows('recipient, attempts, last_error, sent_at IS NOT NULL AS sent', 'true')).toEqual([
    { recipient: 'operator', attempts: 3, last_error: null, sent: true },
    { recipient: 'partner', attempts: 0, last_error: 'no URL is configured', sent: false },
  ]);
  expect(await deliverAt(START + 1000 * HOUR)).toEqual([]);
});

it.skipIf(server === null)('ends with 410', async () => {
  await append(granted(1), on(5, 'failed'));
  await planAt(5);
  await deliverAt(START + 24 * HOUR, 410);
  expect(await rows('last_error, next_at')).toEqual([{ last_error: 'answered 410', next_at: null }]);
});

it.skipIf(server === null)('ends after twelve failures', async () => {
  await append(granted(1), on(5, 'failed'));
  await planAt(5);
  let made = 0;
  for (let hour = 24; hour < 124; hour += 4) made += (await deliverAt(START + hour * HOUR)).length;
  expect([made, await rows('last_error')]).toEqual([12, [{ last_error: 'answered 500; given up' }]]);
});
