/** What cannot run yet is put behind, so that no claim looks at it again, and comes back when it can. */
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { ClaimedEntry, Inbox, Settlement } from '../../../receiver/index.ts';
import { query, waitUntil } from '../../proofs/durability/stored-state.ts';
import { lacks, received, STORES, type Store } from './stores.ts';

const LEASE_MS = 60_000;
const done = (claim: ClaimedEntry | undefined): Settlement => ({ claim: claim!, state: 'done', order: null });
const ids = (claims: readonly ClaimedEntry[]) => claims.map(({ id }) => id);

describe.each(['sqlite', 'postgres'] as const)('the inbox in %s', (name) => {
  const skip = lacks(name);
  let store: Store;
  let inbox: Inbox;
  const open = async () => {
    store = await STORES[name]();
    inbox = await store.open();
  };
  const put = (id: string, transactionId: string, at: number) =>
    inbox.put(received('ORDER_TRACKING', { id, transactionId, at }));
  const behind = async () => {
    const [row] = await query<{ entries: number }>(
      store.url!,
      'SELECT COUNT(*) AS entries FROM hookproof_inbox WHERE behind = 1',
    );
    return Number(row?.entries);
  };

  afterEach(async () => {
    if (skip) return;
    await inbox.close();
    store.remove();
  });

  it.skipIf(skip)('looks at a long transaction once, and past it', async () => {
    await open();
    const long = randomUUID();
    await Promise.all(Array.from({ length: 600 }, (_, index) => put(`long-${index}`, long, 1000 + index)));
    await put('other', randomUUID(), 1000);
    const claims = await inbox.claim(2, LEASE_MS);
    expect(ids(claims)).toEqual(['long-0', 'other']);
    expect(await behind()).toBe(599);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
    await inbox.settle(done(claims[0]));
    expect(await behind()).toBe(598);
    expect(ids(await inbox.claim(10, LEASE_MS))).toEqual(['long-1']);
    expect(await inbox.depths()).toEqual({ pending: 598, running: 2, dead: 0 });
  });

  it.skipIf(skip)('gives the turn to the first of a transaction, however the one before has ended', async () => {
    await open();
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

  it.skipIf(skip)('gives the turn on when a receiver is gone', async () => {
    await open();
    const transactionId = randomUUID();
    await put('first', transactionId, 2000);
    await inbox.claim(10, 1);
    await put('earlier', transactionId, 1000);
    expect(await inbox.claim(10, LEASE_MS)).toEqual([]);
    await waitUntil('the lease is over', async () => (await inbox.recover(10)) === 1);
    expect(ids(await inbox.claim(10, LEASE_MS))).toEqual(['earlier']);
  });

  it.skipIf(skip)('takes only the younger of two claims of one receiver on one entry, written together', async () => {
    await open();
    await put('twice', randomUUID(), 1000);
    const [elder] = await inbox.claim(1, 1);
    await waitUntil('the lease is over', async () => (await inbox.recover(10)) === 1);
    const [younger] = await inbox.claim(1, LEASE_MS);
    const order = { key: 'CAAS_BUY t', rank: 1, at: 1, failed: false };
    const both = [elder, younger].map((claim) => inbox.settle({ claim: claim!, state: 'done', order }));
    expect(await Promise.all(both)).toEqual([false, true]);
  });

  it.skipIf(skip)('lets a REFUND go at once when its SELL has failed before', async () => {
    await open();
    await inbox.put(received('SELL', { id: 'sell', transactionId: 't', status: 'FAILED' }));
    const [sell] = await inbox.claim(1, LEASE_MS);
    await inbox.settle({ claim: sell!, state: 'done', order: { key: 'CAAS_SELL t', rank: 4, at: 1, failed: true } });
    await inbox.put({ ...received('REFUND', { id: 'refund', transactionId: 't', status: 'FAIL' }), waitMs: 60_000 });
    expect(ids(await inbox.claim(1, LEASE_MS))).toEqual(['refund']);
  });

  it.skipIf(skip)('takes a time in other units, and gives the entry back', async () => {
    await open();
    // Milliseconds where seconds are due.
    await put('far away', randomUUID(), 1_700_000_000_000);
    const durable = inbox as Awaited<ReturnType<typeof import('../../../receiver/index.ts').openInbox>>;
    expect((await durable.list({}, { limit: 10 })).map(({ at }) => at)).toEqual([new Date(1_700_000_000_000_000)]);
  });
});
