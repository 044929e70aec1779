/** What every inbox does, held against each of the three. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedEntry, Inbox, Settlement } from '../../../receiver/index.ts';
import { lacks, received, STORES, type Store } from './stores.ts';

const LEASE_MS = 60_000;
const done = (claim: ClaimedEntry): Settlement => ({ claim, state: 'done', order: null });
const ids = (claims: readonly ClaimedEntry[]) => claims.map(({ id }) => id);

describe.each(Object.keys(STORES) as (keyof typeof STORES)[])('the inbox in %s', (name) => {
  const skip = lacks(name);
  let store: Store;
  let inbox: Inbox;

  beforeAll(async () => {
    if (!skip) store = await STORES[name]();
  });
  beforeEach(async () => {
    if (skip) return;
    await inbox?.close();
    store.remove();
    store = await STORES[name]();
    inbox = await store.open();
  });
  afterAll(async () => {
    if (skip) return;
    await inbox.close();
    store.remove();
  });

  it.skipIf(skip)('stores an id once, one after another and at the same time', async () => {
    const one = received('BUY');
    expect([await inbox.put(one), await inbox.put(one)]).toEqual(['stored', 'duplicate']);
    const copies = Array.from({ length: 50 }, () => received('BUY', { id: 'burst' }));
    const answers = await Promise.all(copies.map((copy) => inbox.put(copy)));
    expect(answers.filter((answer) => answer === 'stored')).toHaveLength(1);
    expect(answers[0]).toBe('stored');
    expect((await inbox.depths()).pending).toBe(2);
  });

  it.skipIf(skip)('tells ids apart that differ in a character, and takes those that are odd', async () => {
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

  it.skipIf(skip)('gives back the bytes as they came, in the order of arrival', async () => {
    const first = received('BUY', { id: 'first' });
    const bytes = Buffer.from([...first.rawBody, 0x20, 0x0d, 0x0a, 0x00, 0xff, 0xfe]);
    await inbox.put({ ...first, rawBody: bytes });
    await inbox.put(received('WALLET', { id: 'second' }));
    const claims = await inbox.claim(10, LEASE_MS);
    expect(ids(claims)).toEqual(['first', 'second']);
    expect(claims[0]?.rawBody.equals(bytes)).toBe(true);
    expect(claims[0]).toMatchObject({ attempt: 1, receivedAt: first.receivedAt, progress: null, failedSellSeen: null });
  });

  it.skipIf(skip)('claims no more than asked, and nothing twice', async () => {
    for (let index = 0; index < 30; index += 1) await inbox.put(received('BUY'));
    const claims = await Promise.all([inbox.claim(10, LEASE_MS), inbox.claim(10, LEASE_MS), inbox.claim(10, LEASE_MS)]);
    expect(claims.every((some) => some.length <= 10)).toBe(true);
    const rest = await inbox.claim(100, LEASE_MS);
    const all = [...claims.flat(), ...rest].map(({ id }) => id);
    expect([all.length, new Set(all).size]).toEqual([30, 30]);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 30, dead: 0 });
  });

  it.skipIf(skip)('keeps what no handler is waiting for, and never claims it', async () => {
    const kept = { ...received('BUY', { id: 'kept' }), handle: false };
    expect([await inbox.put(kept), await inbox.put(kept)]).toEqual(['stored', 'duplicate']);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
  });

  it.skipIf(skip)('claims one entry of a transaction at a time, in the order of time and then of status', async () => {
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
      // One that comes late, and before all others in time, waits for the one that runs.
      if (turn === 0) await put('earliest', 'CREATED', 500);
      for (const claim of claims) expect(await inbox.settle(done(claim))).toBe(true);
    }
    expect(order).toEqual(['created', 'earliest', 'pending', 'unknown']);
    expect(ids(await inbox.claim(10, LEASE_MS))).toEqual(['completed']);
  });

  it.skipIf(skip)(
    'brings back what failed after its pause, and holds up the rest of its transaction meanwhile',
    async () => {
      const transactionId = randomUUID();
      await inbox.put(received('BUY', { id: 'first', transactionId, at: 1000 }));
      await inbox.put(received('BUY', { id: 'next', transactionId, at: 2000 }));
      const [claim] = await inbox.claim(10, LEASE_MS);
      await inbox.settle({ claim: claim!, state: 'pending', delayMs: 60_000, error: 'broke' });
      expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
      const due = await inbox.nextDueMs();
      expect(due).toBeGreaterThan(50_000);
      expect(due).toBeLessThanOrEqual(60_000);
      expect(await inbox.depths()).toEqual({ pending: 2, running: 0, dead: 0 });
    },
  );

  it.skipIf(skip)('counts attempts, takes back one that was none, and gives what is due at once', async () => {
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

  it.skipIf(skip)('takes nothing from whoever has no claim any more', async () => {
    await inbox.put(received('BUY'));
    const [claim] = await inbox.claim(1, LEASE_MS);
    expect(await inbox.settle({ claim: claim!, state: 'pending', delayMs: 0, error: 'broke' })).toBe(true);
    expect(await inbox.settle(done(claim!))).toBe(false);
    const [again] = await inbox.claim(1, LEASE_MS);
    expect(await inbox.settle(done(claim!))).toBe(false);
    expect([await inbox.settle(done(again!)), await inbox.settle(done(again!))]).toEqual([true, false]);
  });

  it.skipIf(skip)('knows how far an order has come, a buy and a sell of one id apart', async () => {
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

  it.skipIf(skip)('lets a REFUND wait for its failed SELL, and no longer than its limit', async () => {
    const put = (kind: 'SELL' | 'REFUND', transactionId: string, status: string, waitMs = 0) =>
      inbox.put({ ...received(kind, { id: `${kind} ${transactionId}`, transactionId, status, at: 1000 }), waitMs });
    await put('REFUND', 'a', 'SUCCESS', 60_000);
    await put('REFUND', 'b', 'SUCCESS', 0);
    const [overdue, none] = await inbox.claim(10, LEASE_MS);
    expect([overdue?.id, overdue?.failedSellSeen, none]).toEqual(['REFUND b', false, undefined]);
    await put('SELL', 'a', 'FAILED');
    const [sell, other] = await inbox.claim(10, LEASE_MS);
    expect([sell?.id, other]).toEqual(['SELL a', undefined]);
    await inbox.settle({ claim: sell!, state: 'done', order: { key: 'CAAS_SELL a', rank: 4, at: 1, failed: true } });
    const [refund] = await inbox.claim(10, LEASE_MS);
    expect([refund?.id, refund?.failedSellSeen]).toEqual(['REFUND a', true]);
    // When the SELL was first, the REFUND does not wait at all.
    await inbox.settle(done(refund!));
    await inbox.put({ ...received('REFUND', { id: 'late', transactionId: 'a', status: 'FAIL' }), waitMs: 60_000 });
    await inbox.recover(10);
    expect(ids(await inbox.claim(10, LEASE_MS))).toEqual(['late']);
  });

  it.skipIf(skip)('answers a ping', async () => {
    await expect(inbox.ping()).resolves.toBeUndefined();
  });
});
