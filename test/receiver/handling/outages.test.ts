/** A store that is away for a while, leases, wake-ups, and the end of a receiver. */
import { describe, expect, it } from 'vitest';
import type { ClaimedEntry, Inbox } from '../../../receiver/index.ts';
import { received } from '../inbox/stores.ts';
import { DURABLE_NAMES, gate, lacking, manyTurns, rig, STORE_NAMES, type StoreName, shop, until } from './rig.ts';

const gone = () => Promise.reject(new Error('gone'));

describe.each(STORE_NAMES)('with %s', (name) => {
  const skip = lacking(name);

  it.skipIf(skip)('no wake-up is lost: what has a pause, or comes meanwhile, waits for no poll', async () => {
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

  it.skipIf(skip)('what becomes due between the claim and the look at the next time is not slept over', async () => {
    let calls = 0;
    let looked = 0;
    const slow = (inbox: Inbox): Inbox => ({
      ...inbox,
      async nextDueMs() {
        looked += 1;
        // The first time after the failed attempt: only when its pause is over.
        if (calls === 1) await until(async () => ((await inbox.nextDueMs()) ?? 1) <= 0);
        return inbox.nextDueMs();
      },
    });
    const { give } = await rig(
      name,
      {
        CAAS_BUY: () => {
          calls += 1;
          if (calls === 1) throw new Error('broke');
        },
      },
      { firstDelayMs: 40, maxDelayMs: 40 },
      slow,
    );
    await give('BUY');
    await until(() => calls === 2);
    expect(looked).toBeGreaterThan(0);
  });

  it.skipIf(skip)('nothing is asked again and again while everything waits', async () => {
    let claims = 0;
    const counting = (inbox: Inbox): Inbox => ({
      ...inbox,
      claim(...given) {
        claims += 1;
        return inbox.claim(...given);
      },
    });
    const { give, handling } = await rig(
      name,
      { CAAS_BUY: () => Promise.reject(new Error('broke')), REFUND: () => {} },
      { firstDelayMs: 60_000, maxDelayMs: 60_000 },
      counting,
    );
    await give('BUY', { transactionId: 't' });
    await handling.settled();
    // Due, and behind one that waits; and one that waits by itself.
    await give('BUY', { transactionId: 't', at: 1_800_000_000 });
    await give('REFUND', { transactionId: 'u', status: 'FAIL' });
    await handling.settled();
    const before = claims;
    await manyTurns();
    await manyTurns();
    expect(claims - before).toBeLessThanOrEqual(1);
  });

  it.skipIf(skip)('an outage is told once, asked about once a poll, and what waited goes on', async () => {
    let away = true;
    let claims = 0;
    const handled: string[] = [];
    const { give, events, handling } = await rig(
      name,
      { CAAS_BUY: ({ id }) => void handled.push(id) },
      { pollMs: 10 },
      (inbox) => ({
        ...inbox,
        claim(...given) {
          claims += 1;
          return away ? gone() : inbox.claim(...given);
        },
      }),
    );
    const startedAt = performance.now();
    await give('BUY', { id: 'waits' });
    handling.wake();
    await until(() => claims >= 5);
    expect(claims).toBeLessThanOrEqual((performance.now() - startedAt) / 10 + 4);
    expect(events('inbox-failed')).toMatchObject([{ level: 'error', error: { message: 'gone' } }]);
    away = false;
    await until(() => handled.length === 1);
    expect(events('inbox-back')).toHaveLength(1);
  });

  it.skipIf(skip)('what came of a handler is written when the store is back, and it runs no second time', async () => {
    let away = true;
    let tries = 0;
    let calls = 0;
    const { give, events, handling, inbox } = await rig(
      name,
      {
        CAAS_BUY: () => {
          calls += 1;
        },
      },
      { pollMs: 5 },
      (real) => ({
        ...real,
        settle(settlement) {
          tries += 1;
          return away ? gone() : real.settle(settlement);
        },
      }),
    );
    await give('BUY');
    await until(() => tries >= 4);
    away = false;
    await handling.settled();
    expect([calls, events('settle-failed').length]).toEqual([1, 1]);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
  });

  it.skipIf(skip)('stop waits for what runs, and starts nothing more', async () => {
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
    // What is only in memory would be lost, so it is still handled.
    expect(handled).toEqual(name === 'memory' ? ['runs', 'waits'] : ['runs']);
    expect(await inbox.depths()).toEqual({ pending: name === 'memory' ? 0 : 1, running: 0, dead: 0 });
    await give('BUY', { id: 'after' });
    await manyTurns();
    expect(handled).not.toContain('after');
  });

  it.skipIf(skip)('stop tells handlers that are still at it, and one that gives up has not failed', async () => {
    const reasons: unknown[] = [];
    let started = 0;
    const heeds = (_notification: unknown, { signal }: { signal: AbortSignal }) => {
      started += 1;
      return new Promise<void>((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          reasons.push(signal.reason);
          reject(new Error('gave up'));
        }),
      );
    };
    const { give, handling, inbox, events } = await rig(name, { CAAS_BUY: heeds }, { attempts: 1 });
    await give('BUY');
    await until(() => started === 1);
    await handling.stop(200);
    expect(reasons).toMatchObject([{ message: 'the receiver stops' }]);
    expect([events('handler-interrupted').length, events('handler-dead').length]).toEqual([1, 0]);
    // At once for the next receiver, and with all its attempts.
    let claim: ClaimedEntry | undefined;
    await until(async () => {
      [claim] = await inbox.claim(10, 1000);
      return claim !== undefined;
    });
    expect(claim?.attempt).toBe(1);
    expect(events('inbox-lost')).toMatchObject(name === 'memory' ? [{ level: 'warn', entries: 1 }] : []);
  });

  it.skipIf(skip)('stop ends in time with a handler that never ends, and with a store that is away', async () => {
    const settle = { away: false, tries: 0 };
    let started = 0;
    const { give, handling } = await rig(
      name,
      {
        CAAS_BUY: () => {
          started += 1;
          return new Promise<void>(() => {});
        },
        WALLET: () => {},
      },
      { pollMs: 5 },
      (real) => ({
        ...real,
        settle(settlement) {
          settle.tries += 1;
          return settle.away ? gone() : real.settle(settlement);
        },
      }),
    );
    await give('BUY');
    await until(() => started === 1);
    settle.away = true;
    await give('WALLET');
    await until(() => settle.tries > 0);
    const startedAt = performance.now();
    await handling.stop(100);
    expect(performance.now() - startedAt).toBeLessThan(1500);
    // A second time changes nothing.
    await handling.stop(1);
  });

  it.skipIf(skip)(
    'what is claimed while the receiver begins to end is given back, and no handler sees it',
    async () => {
      const claimed = gate();
      const deliver = gate();
      let handled = 0;
      const { give, handling, inbox } = await rig(
        name,
        {
          CAAS_BUY: () => {
            handled += 1;
          },
        },
        {},
        (real) => ({
          ...real,
          async claim(...given) {
            const claims = await real.claim(...given);
            if (claims.length === 0) return claims;
            claimed.open();
            await deliver.passed;
            return claims;
          },
        }),
      );
      await give('BUY', { id: 'one' });
      await claimed.passed;
      // Memory waits for what is due as long as it may.
      const stopping = handling.stop(name === 'memory' ? 50 : 10_000);
      if (name === 'memory') await stopping;
      deliver.open();
      await stopping;
      await until(async () => (await inbox.depths()).running === 0);
      expect([handled, (await inbox.claim(1, 1000))[0]?.attempt]).toEqual([0, 1]);
    },
  );
});

describe.each(DURABLE_NAMES)('two receivers on %s', (name) => {
  const skip = lacking(name);
  const LEASE = { leaseMs: 150, pollMs: 20 };

  it.skipIf(skip)(
    'what a receiver had claimed when it went away is handled by the next, and the attempt counts',
    async () => {
      const { open, store } = await shop(name);
      const away = await store.open();
      await away.put(received('BUY', { id: 'left', transactionId: 't' }));
      await away.put(received('BUY', { id: 'behind', transactionId: 't', at: 1_800_000_000 }));
      expect(await away.claim(10, 30)).toHaveLength(1);
      await away.close();
      const seen: [string, number][] = [];
      const { events } = await open({ CAAS_BUY: ({ id }, { attempt }) => void seen.push([id, attempt]) }, LEASE);
      await until(() => seen.length === 2);
      expect(seen).toEqual([
        ['left', 2],
        ['behind', 1],
      ]);
      expect(events('recovered')).toMatchObject([{ level: 'warn', entries: 1 }]);
    },
  );

  it.skipIf(skip)('what brings its receiver down each time is dead in the end', async () => {
    const { open, store } = await shop(name);
    const away = await store.open();
    await away.put(received('BUY', { id: 'poison', transactionId: 't' }));
    await away.put(received('BUY', { id: 'behind', transactionId: 't', at: 1_800_000_000 }));
    for (let life = 1; life <= 2; life += 1) {
      expect(await away.claim(1, 1)).toMatchObject([{ id: 'poison', attempt: life }]);
      if (life < 2) await until(async () => (await away.recover(2)) === 1);
    }
    await away.close();
    const seen: string[] = [];
    const { states } = await open({ CAAS_BUY: ({ id }) => void seen.push(id) }, { ...LEASE, attempts: 2 });
    await until(() => seen.length === 1);
    expect(seen).toEqual(['behind']);
    expect((await states()).poison).toBe('dead');
  });

  /** A handler that takes as long as it needs until the other receiver has looked often enough. */
  async function slowHandler(first: StoreName, keeps: boolean) {
    const { open } = await shop(first);
    const end = gate();
    const seen: string[] = [];
    let looks = 0;
    const extended: string[] = [];
    const slow = await open(
      {
        CAAS_BUY: async (_notification, { attempt }) => {
          seen.push(`slow ${attempt}`);
          await end.passed;
        },
      },
      // So that it does not claim its own entry anew.
      { ...LEASE, concurrency: 1 },
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
      LEASE,
      (real) => ({
        ...real,
        recover(...given) {
          looks += 1;
          return real.recover(...given);
        },
      }),
    );
    return { slow, quick, end, seen, extended, looks: () => looks };
  }

  it.skipIf(skip)('a handler that takes longer than its lease keeps it, as long as its receiver lives', async () => {
    const { slow, quick, end, seen, extended, looks } = await slowHandler(name, true);
    await until(() => looks() >= 8 && extended.length >= 8);
    end.open();
    await slow.handling.settled();
    expect(seen).toEqual(['slow 1']);
    expect(slow.events('lease-lost')).toEqual([]);
    expect(await quick.states()).toEqual({ one: 'done' });
  });

  it.skipIf(skip)(
    'when the lease is lost in the middle, the other one handles it, and what the first writes is not taken',
    async () => {
      const { slow, quick, end, seen } = await slowHandler(name, false);
      await until(() => seen.length === 2);
      await quick.handling.settled();
      end.open();
      await until(() => slow.events('lease-lost').length === 1);
      expect(seen).toEqual(['slow 1', 'quick 2']);
      expect(slow.events('lease-lost')).toMatchObject([{ level: 'warn', id: 'one' }]);
      expect(await quick.states()).toEqual({ one: 'done' });
    },
  );
});
