/** Wake-ups, a store that fails for a while, leases, and stopping. */
import { expect, it, vi } from 'vitest';
import type { ClaimedEntry, Inbox } from '../../../receiver/index.ts';
import { onEveryDatabase, onEveryStore, received, type StoreName } from '../inbox/stores.ts';
import { gate, manyTurns, openStore, rig, until } from './rig.ts';

const unavailable = () => Promise.reject(new Error('unavailable'));

onEveryStore('handling', (name) => {
  it('loses no wake-up: retries and new notifications do not wait for a poll', async () => {
    const done = new Set<string>();
    const { give } = await rig(name, {
      CAAS_BUY: async ({ id }, { attempt }) => {
        await new Promise(setImmediate);
        if (attempt < 3) throw new Error('again');
        done.add(id);
      },
    });
    const all = Array.from({ length: 40 }, (_, index) => ({ id: `id ${index}`, transactionId: `t${index % 10}` }));
    for (const each of all) await give('BUY', each);
    await until(() => done.size === all.length);
  });

  it('handles what becomes due between a claim and the query for the next time', async () => {
    const CAAS_BUY = vi.fn().mockRejectedValueOnce(new Error('broke'));
    const nextDueMs = vi.fn();
    const { give } = await rig(name, { CAAS_BUY }, { firstDelayMs: 40, maxDelayMs: 40 }, (inbox) => {
      nextDueMs.mockImplementation(async () => {
        // After the failed attempt, the handler returns only when the pause is over.
        if (CAAS_BUY.mock.calls.length === 1) await until(async () => ((await inbox.nextDueMs()) ?? 1) <= 0);
        return inbox.nextDueMs();
      });
      return { ...inbox, nextDueMs };
    });
    await give('BUY');
    await until(() => CAAS_BUY.mock.calls.length === 2);
    expect(nextDueMs).toHaveBeenCalled();
  });

  it('does not query the store repeatedly while everything waits', async () => {
    const claim = vi.fn();
    const { give, handling } = await rig(
      name,
      { CAAS_BUY: () => Promise.reject(new Error('broke')), REFUND: () => {} },
      { firstDelayMs: 60_000, maxDelayMs: 60_000 },
      (inbox) => ({ ...inbox, claim: claim.mockImplementation(inbox.claim) }),
    );
    await give('BUY', { transactionId: 't' });
    await handling.settled();
    // One entry is due but must wait for an earlier one, and one waits for its own time.
    await give('BUY', { transactionId: 't', at: 1_800_000_000 });
    await give('REFUND', { transactionId: 'u', status: 'FAIL' });
    await handling.settled();
    claim.mockClear();
    await manyTurns();
    await manyTurns();
    expect(claim.mock.calls.length).toBeLessThanOrEqual(1);
  });

  it('logs an outage once, queries once per poll, and then continues', async () => {
    const claim = vi.fn<Inbox['claim']>(unavailable);
    const CAAS_BUY = vi.fn();
    let real: Inbox | undefined;
    const { give, events, handling } = await rig(name, { CAAS_BUY }, { pollMs: 10 }, (inbox) => {
      real = inbox;
      return { ...inbox, claim };
    });
    const startedAt = performance.now();
    await give('BUY', { id: 'waits' });
    handling.wake();
    await until(() => claim.mock.calls.length >= 5);
    expect(claim.mock.calls.length).toBeLessThanOrEqual((performance.now() - startedAt) / 10 + 4);
    expect(events('inbox-failed')).toMatchObject([{ level: 'error', error: { message: 'unavailable' } }]);
    claim.mockImplementation(real!.claim);
    await until(() => CAAS_BUY.mock.calls.length === 1);
    expect(events('inbox-back')).toHaveLength(1);
  });

  it('stores the result of a handler when the store is back, without running it again', async () => {
    const settle = vi.fn<Inbox['settle']>();
    const CAAS_BUY = vi.fn();
    const { give, events, handling, inbox } = await rig(name, { CAAS_BUY }, { pollMs: 5 }, (real) => {
      settle.mockImplementation(real.settle);
      for (let call = 0; call < 4; call += 1) settle.mockImplementationOnce(unavailable);
      return { ...real, settle };
    });
    await give('BUY');
    await until(() => settle.mock.calls.length > 4);
    await handling.settled();
    expect([CAAS_BUY.mock.calls.length, events('settle-failed').length]).toEqual([1, 1]);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
  });

  it('that stops waits for running handlers and starts no others', async () => {
    const first = gate();
    const handled: string[] = [];
    const { give, handling, inbox } = await rig(
      name,
      {
        CAAS_BUY: async ({ id }) => {
          await first.passed;
          handled.push(id);
        },
      },
      { concurrency: 1 },
    );
    await give('BUY', { id: 'runs' });
    await until(async () => (await inbox.depths()).running === 1);
    await give('BUY', { id: 'waits' });
    const stopping = handling.stop(10_000);
    await manyTurns();
    first.open();
    await stopping;
    // Entries that are only in memory would be lost, so they are handled first.
    expect(handled).toEqual(name === 'memory' ? ['runs', 'waits'] : ['runs']);
    expect(await inbox.depths()).toEqual({ pending: name === 'memory' ? 0 : 1, running: 0, dead: 0 });
    await give('BUY', { id: 'after' });
    await manyTurns();
    expect(handled).not.toContain('after');
  });

  it('that stops signals running handlers, and one that then rejects has not failed', async () => {
    const reasons: unknown[] = [];
    const CAAS_BUY = vi.fn(
      (_notification: unknown, { signal }: { signal: AbortSignal }) =>
        new Promise<void>((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            reject(new Error('gave up'));
          }),
        ),
    );
    const { give, handling, inbox, events } = await rig(name, { CAAS_BUY }, { attempts: 1 });
    await give('BUY');
    await until(() => CAAS_BUY.mock.calls.length === 1);
    await handling.stop(200);
    expect(reasons).toMatchObject([{ message: 'the receiver stops' }]);
    expect([events('handler-interrupted').length, events('handler-dead').length]).toEqual([1, 0]);
    // The entry is due at once for the next receiver, with all its attempts.
    let claim: ClaimedEntry | undefined;
    await until(async () => {
      [claim] = await inbox.claim(10, 1000);
      return claim !== undefined;
    });
    expect(claim?.attempt).toBe(1);
    expect(events('inbox-lost')).toMatchObject(name === 'memory' ? [{ level: 'warn', entries: 1 }] : []);
  });

  it('stops in time with a handler that never ends and a store that fails', async () => {
    const settle = vi.fn<Inbox['settle']>(unavailable);
    const CAAS_BUY = vi.fn(() => new Promise<void>(() => {}));
    const handlers = { CAAS_BUY, WALLET: () => {} };
    const { give, handling } = await rig(name, handlers, { pollMs: 5 }, (real) => ({ ...real, settle }));
    await give('BUY');
    await until(() => CAAS_BUY.mock.calls.length === 1);
    await give('WALLET');
    await until(() => settle.mock.calls.length > 0);
    await handling.stop(100);
    // A second call changes nothing.
    await handling.stop(1);
  });

  it('gives back what it claims while it begins to stop', async () => {
    const claimed = gate();
    const deliver = gate();
    const CAAS_BUY = vi.fn();
    const { give, handling, inbox } = await rig(name, { CAAS_BUY }, {}, (real) => ({
      ...real,
      async claim(...given) {
        const claims = await real.claim(...given);
        if (claims.length === 0) return claims;
        claimed.open();
        await deliver.passed;
        return claims;
      },
    }));
    await give('BUY', { id: 'one' });
    await claimed.passed;
    // The inbox in memory waits for due notifications until its time limit.
    const stopping = handling.stop(name === 'memory' ? 50 : 10_000);
    if (name === 'memory') await stopping;
    deliver.open();
    await stopping;
    await until(async () => (await inbox.depths()).running === 0);
    expect(CAAS_BUY).not.toHaveBeenCalled();
    expect((await inbox.claim(1, 1000))[0]?.attempt).toBe(1);
  });
});

onEveryDatabase('two receivers on one store', (name) => {
  const LEASE = { leaseMs: 150, pollMs: 20 };

  it('handle what a lost receiver had claimed, and the attempt counts', async () => {
    const { open, store } = await openStore(name);
    const lost = await store.open();
    await lost.put(received('BUY', { id: 'left', transactionId: 't' }));
    await lost.put(received('BUY', { id: 'behind', transactionId: 't', at: 1_800_000_000 }));
    expect(await lost.claim(10, 30)).toHaveLength(1);
    await lost.close();
    const seen: [string, number][] = [];
    const CAAS_BUY = ({ id }: { id: string }, { attempt }: { attempt: number }) => void seen.push([id, attempt]);
    // A lease of its own that ends on a busy machine would be recovered too.
    const { events } = await open({ CAAS_BUY }, { ...LEASE, leaseMs: 2000 });
    await until(() => seen.length === 2);
    expect(seen).toEqual([
      ['left', 2],
      ['behind', 1],
    ]);
    expect(events('recovered')).toMatchObject([{ level: 'warn', entries: 1 }]);
  });

  it('stop retrying a notification that ends its receiver each time', async () => {
    const { open, store } = await openStore(name);
    const lost = await store.open();
    await lost.put(received('BUY', { id: 'poison', transactionId: 't' }));
    await lost.put(received('BUY', { id: 'behind', transactionId: 't', at: 1_800_000_000 }));
    for (let life = 1; life <= 2; life += 1) {
      expect(await lost.claim(1, 1)).toMatchObject([{ id: 'poison', attempt: life }]);
      if (life < 2) await until(async () => (await lost.recover(2)) === 1);
    }
    await lost.close();
    const seen: string[] = [];
    const { states } = await open({ CAAS_BUY: ({ id }) => void seen.push(id) }, { ...LEASE, attempts: 2 });
    await until(() => seen.length === 1);
    expect(seen).toEqual(['behind']);
    expect((await states()).poison).toBe('dead');
  });

  /** Starts a handler that runs until the test ends it, and a second receiver that looks for lost entries. */
  async function slowHandler(first: StoreName, keeps: boolean, lease = LEASE) {
    const { open } = await openStore(first);
    const end = gate();
    const seen: string[] = [];
    const recover = vi.fn<Inbox['recover']>();
    const extended: string[] = [];
    const slow = await open(
      {
        CAAS_BUY: async (_notification, { attempt }) => {
          seen.push(`slow ${attempt}`);
          await end.passed;
        },
      },
      // With a concurrency of 1, it does not claim its own entry again.
      { ...lease, concurrency: 1 },
      (real) => ({
        ...real,
        async extend(...given) {
          extended.push(...given[0].map(({ id }) => id));
          return keeps ? real.extend(...given) : undefined;
        },
        recover: async () => 0,
      }),
    );
    await slow.give('BUY', { id: 'one' });
    await until(() => seen.length === 1);
    const quick = await open(
      { CAAS_BUY: (_notification, { attempt }) => void seen.push(`quick ${attempt}`) },
      lease,
      (real) => ({
        ...real,
        // Its own lease must not end on a busy machine.
        claim: (free) => real.claim(free, 60_000),
        extend: async () => {},
        recover: recover.mockImplementation(real.recover),
      }),
    );
    return { slow, quick, end, seen, extended, recover };
  }

  it('keep the lease of a handler that takes longer, while its receiver runs', async () => {
    // The lease is long enough to be renewed in time on a busy machine. It is renewed after each third of its duration.
    const { slow, quick, end, seen, extended, recover } = await slowHandler(name, true, { ...LEASE, leaseMs: 3000 });
    await until(() => recover.mock.calls.length >= 8 && extended.length >= 4);
    end.open();
    await slow.handling.settled();
    expect(seen).toEqual(['slow 1']);
    expect(slow.events('lease-lost')).toEqual([]);
    expect(await quick.states()).toEqual({ one: 'done' });
  });

  it('handle a notification again after a lost lease, and ignore the first result', async () => {
    const { slow, quick, end, seen } = await slowHandler(name, false);
    await until(() => seen.length === 2);
    await quick.handling.settled();
    end.open();
    await until(() => slow.events('lease-lost').length === 1);
    expect(seen).toEqual(['slow 1', 'quick 2']);
    expect(slow.events('lease-lost')).toMatchObject([{ level: 'warn', id: 'one' }]);
    expect(await quick.states()).toEqual({ one: 'done' });
  });
});
