/** The behaviour of every inbox. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';
import type { ClaimedEntry, DurableInbox, Inbox, Settlement } from '../../../receiver/index.ts';
import { query, waitUntil } from '../../proofs/durability/stored-state.ts';
import { onEveryDatabase, onEveryStore, received, STORES, type Store, type StoreName } from './stores.ts';

const LEASE_MS = 60_000;
const done = (claim: ClaimedEntry | undefined): Settlement => ({ claim: claim!, state: 'done', order: null });
const ids = (claims: readonly ClaimedEntry[]) => claims.map(({ id }) => id);

let store: Store;
let inbox: Inbox;

function openForEachTest(name: StoreName): void {
  beforeEach(async () => {
    store = await STORES[name]();
    inbox = await store.open();
  });
  afterEach(async () => {
    await inbox.close();
    store.remove();
  });
}

onEveryStore('an inbox', (name) => {
  openForEachTest(name);

  it('stores an id once, sequentially and concurrently', async () => {
    const one = received('BUY');
    expect([await inbox.put(one), await inbox.put(one)]).toEqual(['stored', 'duplicate']);
    const copies = Array.from({ length: 50 }, () => received('BUY', { id: 'burst' }));
    const answers = await Promise.all(copies.map((copy) => inbox.put(copy)));
    expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1);
    expect(answers[0]).toBe('stored');
    expect((await inbox.depths()).pending).toBe(2);
  });

  it('distinguishes ids that differ in one character, and stores unusual ones', async () => {
    const odd = [
      'one',
      'One',
      'one ',
      '"one"',
      'sha256:x',
      'x'.repeat(200),
      '\u{1f600}'.repeat(100),
      '\ud800',
      "a'b",
      'é',
      'e\u0301',
    ];
    for (const id of odd) expect([id, await inbox.put(received('BUY', { id }))]).toEqual([id, 'stored']);
    for (const id of odd) expect([id, await inbox.put(received('BUY', { id }))]).toEqual([id, 'duplicate']);
    const transactions = ['\0', 'x'.repeat(100_000), '\udc00\ud800', ' '];
    for (const transactionId of transactions) {
      expect(await inbox.put(received('BUY', { transactionId }))).toBe('stored');
    }
    expect(await inbox.claim(100, LEASE_MS)).toHaveLength(odd.length + transactions.length);
  });

  it('returns the bytes unchanged, in the order of arrival', async () => {
    const first = received('BUY', { id: 'first' });
    const bytes = Buffer.from([...first.rawBody, 0x20, 0x0d, 0x0a, 0x00, 0xff, 0xfe]);
    await inbox.put({ ...first, rawBody: bytes });
    await inbox.put(received('WALLET', { id: 'second' }));
    const claims = await inbox.claim(10, LEASE_MS);
    expect(ids(claims)).toEqual(['first', 'second']);
    expect(claims[0]?.rawBody.equals(bytes)).toBe(true);
    expect(claims[0]).toMatchObject({ attempt: 1, receivedAt: first.receivedAt, progress: null, failedSellSeen: null });
  });

  it('claims no more than requested, and nothing twice', async () => {
    for (let index = 0; index < 30; index += 1) await inbox.put(received('BUY'));
    const claims = await Promise.all([inbox.claim(10, LEASE_MS), inbox.claim(10, LEASE_MS), inbox.claim(10, LEASE_MS)]);
    expect(claims.every((some) => some.length <= 10)).toBe(true);
    const rest = await inbox.claim(100, LEASE_MS);
    const all = [...claims.flat(), ...rest].map(({ id }) => id);
    expect([all.length, new Set(all).size]).toEqual([30, 30]);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 30, dead: 0 });
  });

  it('never claims an entry without a handler', async () => {
    const kept = { ...received('BUY', { id: 'kept' }), handle: false };
    expect([await inbox.put(kept), await inbox.put(kept)]).toEqual(['stored', 'duplicate']);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
  });

  it('claims one entry of a transaction at a time, by time and then by status', async () => {
    const transactionId = randomUUID();
    const put = (id: string, status: string, at: number) =>
      inbox.put(received('BUY', { id, transactionId, status, at }));
    await put('completed', 'COMPLETED', 3000);
    await put('pending', 'PENDING', 1000);
    await put('created', 'CREATED', 1000);
    await put('unknown', 'ON_HOLD', 2000);
    const order: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      const claims = await inbox.claim(10, LEASE_MS);
      expect(claims).toHaveLength(1);
      expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
      order.push(...ids(claims));
      // A notification that arrives later with the earliest time waits for the running one.
      if (turn === 0) await put('earliest', 'CREATED', 500);
      for (const claim of claims) expect(await inbox.settle(done(claim))).toBe(true);
    }
    expect(order).toEqual(['created', 'earliest', 'pending', 'unknown']);
    expect(ids(await inbox.claim(10, LEASE_MS))).toEqual(['completed']);
  });

  it('counts attempts, except those that are settled as uncounted', async () => {
    await inbox.put(received('BUY'));
    const [first] = await inbox.claim(1, LEASE_MS);
    await inbox.settle({ claim: first!, state: 'pending', delayMs: 0, error: 'broke' });
    const [second] = await inbox.claim(1, LEASE_MS);
    await inbox.settle({ claim: second!, state: 'pending', delayMs: 0, error: null, uncounted: true });
    const [third] = await inbox.claim(1, LEASE_MS);
    expect([first, second, third].map((claim) => claim?.attempt)).toEqual([1, 2, 2]);
    await inbox.settle({ claim: third!, state: 'dead', error: 'for good' });
    expect(await inbox.claim(1, LEASE_MS)).toEqual([]);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 1 });
    expect(await inbox.nextDueMs()).toBeNull();
  });

  it('ignores the result of an expired claim', async () => {
    await inbox.put(received('BUY'));
    const [claim] = await inbox.claim(1, LEASE_MS);
    expect(await inbox.settle({ claim: claim!, state: 'pending', delayMs: 0, error: 'broke' })).toBe(true);
    expect(await inbox.settle(done(claim!))).toBe(false);
    const [again] = await inbox.claim(1, LEASE_MS);
    expect(await inbox.settle(done(claim!))).toBe(false);
    expect([await inbox.settle(done(again!)), await inbox.settle(done(again!))]).toEqual([true, false]);
  });

  it('keeps the progress of an order, separately for a buy and a sell', async () => {
    const transactionId = randomUUID();
    await inbox.put(received('BUY', { transactionId, at: 1000 }));
    const [claim] = await inbox.claim(1, LEASE_MS);
    const order = { key: `CAAS_BUY ${transactionId}`, rank: 3, at: 5, failed: false };
    await inbox.settle({ claim: claim!, state: 'done', order });
    const progress = async (kind: 'BUY' | 'SELL', step: typeof order) => {
      await inbox.put(received(kind, { transactionId }));
      const [next] = await inbox.claim(1, LEASE_MS);
      await inbox.settle({ claim: next!, state: 'done', order: step });
      return next?.progress;
    };
    expect(await progress('BUY', { ...order, rank: 2, at: 9 })).toMatchObject({ rank: 3, at: 5 });
    expect(await progress('BUY', { ...order, at: 7 })).toMatchObject({ rank: 3, at: 5 });
    expect(await progress('BUY', { ...order, at: 6 })).toMatchObject({ rank: 3, at: 7 });
    expect(await progress('BUY', { ...order, rank: 4, at: 1 })).toMatchObject({ rank: 3, at: 7 });
    expect(await progress('BUY', order)).toMatchObject({ rank: 4, at: 1 });
    expect(await progress('SELL', { ...order, key: `CAAS_SELL ${transactionId}` })).toBeNull();
  });

  it('answers a ping', async () => {
    await expect(inbox.ping()).resolves.toBeUndefined();
  });
});

onEveryDatabase('a durable inbox', (name) => {
  openForEachTest(name);
  const put = (id: string, transactionId: string, at: number) =>
    inbox.put(received('ORDER_TRACKING', { id, transactionId, at }));
  /** Returns the number of entries that no claim considers until the one before them has ended. */
  const countBehind = async () => {
    const sql = 'SELECT COUNT(*) AS entries FROM hookproof_inbox WHERE behind = 1';
    const [row] = await query<{ entries: number }>(store.url!, sql);
    return Number(row?.entries);
  };

  it('looks at a long transaction only once', async () => {
    const long = randomUUID();
    await Promise.all(Array.from({ length: 600 }, (_, index) => put(`long-${index}`, long, 1000 + index)));
    await put('other', randomUUID(), 1000);
    const claims = await inbox.claim(2, LEASE_MS);
    expect(ids(claims)).toEqual(['long-0', 'other']);
    expect(await countBehind()).toBe(599);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
    await inbox.settle(done(claims[0]));
    expect(await countBehind()).toBe(598);
    expect(ids(await inbox.claim(10, LEASE_MS))).toEqual(['long-1']);
    expect(await inbox.depths()).toEqual({ pending: 598, running: 2, dead: 0 });
  });

  it('claims the first of a transaction next, however the one before ended', async () => {
    const ends: ((claim: ClaimedEntry) => Settlement)[] = [
      done,
      (claim) => ({ claim, state: 'superseded', order: null }),
      (claim) => ({ claim, state: 'dead', error: 'for good' }),
      (claim) => ({ claim, state: 'pending', delayMs: 60_000, error: 'broke' }),
    ];
    for (const end of ends) {
      const transactionId = randomUUID();
      await put(`${transactionId} first`, transactionId, 2000);
      const [first] = await inbox.claim(10, LEASE_MS);
      await put(`${transactionId} earlier`, transactionId, 1000);
      await put(`${transactionId} later`, transactionId, 3000);
      expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
      await inbox.settle(end(first!));
      expect(ids(await inbox.claim(10, LEASE_MS))).toEqual([`${transactionId} earlier`]);
    }
  });

  it('claims the first of a transaction after its lease has expired', async () => {
    const transactionId = randomUUID();
    await put('first', transactionId, 2000);
    await inbox.claim(10, 1);
    await put('earlier', transactionId, 1000);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
    await waitUntil('the lease has expired', async () => (await inbox.recover(10)) === 1);
    expect(ids(await inbox.claim(10, LEASE_MS))).toEqual(['earlier']);
  });

  it('accepts only the newer of two claims of one entry that are settled together', async () => {
    await put('twice', randomUUID(), 1000);
    const [older] = await inbox.claim(1, 1);
    await waitUntil('the lease has expired', async () => (await inbox.recover(10)) === 1);
    const [newer] = await inbox.claim(1, LEASE_MS);
    const order = { key: 'CAAS_BUY t', rank: 1, at: 1, failed: false };
    const both = [older, newer].map((claim) => inbox.settle({ claim: claim!, state: 'done', order }));
    expect(await Promise.all(both)).toEqual([false, true]);
  });

  it('stores a time in milliseconds where seconds are expected', async () => {
    await put('far', randomUUID(), 1_700_000_000_000);
    expect((await (inbox as DurableInbox).list({}, { limit: 10 })).map(({ at }) => at)).toEqual([
      new Date(1_700_000_000_000_000),
    ]);
  });
});

it('hides only the warning about SQLite while it loads SQLite', async () => {
  const messages: string[] = [];
  const record = ({ message }: Error) => void messages.push(message);
  process.on('warning', record);
  onTestFinished(() => void process.off('warning', record));
  const loading = loadSqlite();
  process.emitWarning('SQLite is experimental', 'ExperimentalWarning');
  process.emitWarning('another feature is experimental', 'ExperimentalWarning');
  process.emitWarning('a warning');
  await loading;
  await new Promise(setImmediate);
  expect(messages).toEqual(['another feature is experimental', 'a warning']);
});
