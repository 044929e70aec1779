/** What waits for what: the order within a transaction, late statuses, and a REFUND before its SELL. On every store. */
import { describe, expect, it } from 'vitest';
import type { DurableInbox } from '../../../receiver/index.ts';
import { received } from '../inbox/stores.ts';
import { DURABLE_NAMES, gate, lacking, manyTurns, rig, STORE_NAMES, until } from './rig.ts';

type Arrival = readonly [status: string, at: number];

describe.each(STORE_NAMES)('on %s', (name) => {
  const skip = lacking(name);

  it.skipIf(skip)('a transaction goes one by one in the order of its times, and others beside it', async () => {
    const first = gate();
    const handled: string[] = [];
    const { give, handling } = await rig(name, {
      CAAS_BUY: async ({ id }) => {
        if (id === 'a1') await first.passed;
        handled.push(id);
      },
    });
    await give('BUY', { id: 'a1', transactionId: 'a', at: 1000 });
    await give('BUY', { id: 'a3', transactionId: 'a', at: 3000 });
    await give('BUY', { id: 'a2', transactionId: 'a', at: 2000 });
    await give('BUY', { id: 'b1', transactionId: 'b', at: 9000 });
    await until(() => handled.includes('b1'));
    await manyTurns();
    expect(handled).toEqual(['b1']);
    first.open();
    await handling.settled();
    expect(handled).toEqual(['b1', 'a1', 'a2', 'a3']);
  });

  it.skipIf(skip)('one that fails holds up what comes after it, until it is dead', async () => {
    const handled: string[] = [];
    const { give, handling, outcomes } = await rig(
      name,
      {
        CAAS_BUY: ({ id }) => {
          handled.push(id);
          if (id === 'bad') throw new Error('broke');
        },
      },
      { attempts: 3 },
    );
    await give('BUY', { id: 'bad', transactionId: 't', at: 1000 });
    await give('BUY', { id: 'next', transactionId: 't', at: 2000 });
    await until(() => outcomes.includes('CAAS_BUY done'));
    await handling.settled();
    expect(handled).toEqual(['bad', 'bad', 'bad', 'next']);
  });

  it.skipIf(skip).each<[string, Arrival[], string[]]>([
    [
      'CREATED after COMPLETED is superseded',
      [
        ['COMPLETED', 5],
        ['CREATED', 1],
      ],
      ['COMPLETED'],
    ],
    [
      'CREATED after FAILED is superseded, even with a later time',
      [
        ['FAILED', 5],
        ['CREATED', 9],
      ],
      ['FAILED'],
    ],
    [
      'FAILED after CONFIRMED is handled',
      [
        ['CONFIRMED', 5],
        ['FAILED', 7],
      ],
      ['CONFIRMED', 'FAILED'],
    ],
    [
      'FAILED from before CONFIRMED is superseded',
      [
        ['CONFIRMED', 5],
        ['FAILED', 3],
      ],
      ['CONFIRMED'],
    ],
    [
      'COMPLETED and CONFIRMED of one second are both handled',
      [
        ['COMPLETED', 5],
        ['CONFIRMED', 5],
      ],
      ['COMPLETED', 'CONFIRMED'],
    ],
    [
      'CONFIRMED from before COMPLETED is superseded',
      [
        ['COMPLETED', 5],
        ['CONFIRMED', 4],
      ],
      ['COMPLETED'],
    ],
    [
      'PENDING after BLOCKCHAIN_ACCEPTED is superseded',
      [
        ['BLOCKCHAIN_ACCEPTED', 5],
        ['PENDING', 6],
      ],
      ['BLOCKCHAIN_ACCEPTED'],
    ],
    [
      'BLOCKCHAIN_ACCEPTED comes again with the hash',
      [
        ['BLOCKCHAIN_ACCEPTED', 5],
        ['BLOCKCHAIN_ACCEPTED', 6],
      ],
      ['BLOCKCHAIN_ACCEPTED', 'BLOCKCHAIN_ACCEPTED'],
    ],
    [
      'a status that is not listed is never late',
      [
        ['COMPLETED', 5],
        ['ON_HOLD', 1],
      ],
      ['COMPLETED', 'ON_HOLD'],
    ],
    [
      'a status that is not listed makes nothing late',
      [
        ['ON_HOLD', 9],
        ['CREATED', 1],
      ],
      ['ON_HOLD', 'CREATED'],
    ],
    [
      'every status in its order is handled',
      [
        ['CREATED', 1],
        ['PENDING', 1],
        ['COMPLETED', 1],
      ],
      ['CREATED', 'PENDING', 'COMPLETED'],
    ],
  ])('%s', async (_what, arrivals, expected) => {
    const handled: (string | null)[] = [];
    const { give, handling, inbox, events } = await rig(name, {
      CAAS_BUY: ({ data }) => void handled.push(data.metadata.orderStatus),
    });
    for (const [status, at] of arrivals) {
      await give('BUY', { transactionId: 't', status, at });
      await handling.settled();
    }
    expect(handled).toEqual(expected);
    expect(events('superseded')).toHaveLength(arrivals.length - expected.length);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
  });

  it.skipIf(skip)(
    'what arrives out of order and is still waiting is put in order, and nothing is superseded',
    async () => {
      const other = gate();
      const handled: (string | null)[] = [];
      const { give, handling, events } = await rig(
        name,
        {
          WALLET: () => other.passed,
          CAAS_SELL: ({ data }) => void handled.push(data.metadata.orderStatus),
        },
        { concurrency: 1 },
      );
      await give('WALLET');
      for (const [status, at] of [
        ['FAILED', 7],
        ['CREATED', 7],
        ['BLOCKCHAIN_ACCEPTED', 7],
        ['PENDING', 7],
      ] as const) {
        await give('SELL', { transactionId: 't', status, at });
      }
      other.open();
      await handling.settled();
      expect(handled).toEqual(['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'FAILED']);
      expect(events('superseded')).toEqual([]);
    },
  );

  it.skipIf(skip)('a status whose handler died has not moved the order, and a sell is not its buy', async () => {
    const handled: string[] = [];
    const handle = ({ id }: { id: string }) => {
      if (id === 'dies') throw new Error('broke');
      handled.push(id);
    };
    const { give, handling } = await rig(name, { CAAS_BUY: handle, CAAS_SELL: handle }, { attempts: 1 });
    for (const [id, kind, status] of [
      ['dies', 'BUY', 'COMPLETED'],
      ['after', 'BUY', 'PENDING'],
      ['end', 'BUY', 'COMPLETED'],
      ['sell', 'SELL', 'CREATED'],
    ] as const) {
      await give(kind, { id, transactionId: 't', status });
      await handling.settled();
    }
    expect(handled).toEqual(['after', 'end', 'sell']);
  });

  it.skipIf(skip)('order tracking has no status that could be late', async () => {
    const handled: string[] = [];
    const { give, handling } = await rig(name, { CAAS_ORDER_TRACKING: ({ id }) => void handled.push(id) });
    for (const [id, status, at] of [
      ['one', 'COMPLETED', 9],
      ['two', 'EXPIRED', 1],
    ] as const) {
      await give('ORDER_TRACKING', { id, transactionId: 't', status, at });
      await handling.settled();
    }
    expect(handled).toEqual(['one', 'two']);
  });
});

describe.each(STORE_NAMES)('a REFUND, on %s,', (name) => {
  const skip = lacking(name);
  const TEN_MINUTES = { refundWaitMs: 600_000 };
  const told = (handled: string[]) => ({
    CAAS_SELL: ({ id }: { id: string }) => void handled.push(id),
    REFUND: ({ id }: { id: string }, { sellMissing }: { sellMissing: boolean }) =>
      void handled.push(`${id}${sellMissing ? ', SELL missing' : ''}`),
  });

  it.skipIf(skip)('waits for its failed SELL, goes on right after it, and for no other', async () => {
    const handled: string[] = [];
    const { give, handling, events } = await rig(name, told(handled), TEN_MINUTES);
    await give('REFUND', { id: 'refund', transactionId: 't', status: 'SUCCESS' });
    await give('SELL', { id: 'of another', transactionId: 'u', status: 'FAILED' });
    await give('SELL', { id: 'no failure', transactionId: 't', status: 'PENDING' });
    await handling.settled();
    expect(handled.toSorted()).toEqual(['no failure', 'of another']);
    await give('SELL', { id: 'failure', transactionId: 't', status: 'FAILED', at: 1_800_000_000 });
    await until(() => handled.includes('refund'));
    expect(handled.slice(2)).toEqual(['failure', 'refund']);
    expect(events('refund-without-sell')).toEqual([]);
  });

  it.skipIf(skip)('does not wait at all when the SELL has failed before', async () => {
    const handled: string[] = [];
    const { give, handling } = await rig(name, told(handled), TEN_MINUTES);
    await give('SELL', { id: 'sell', transactionId: 't', status: 'FAILED' });
    await handling.settled();
    await give('REFUND', { id: 'refund', transactionId: 't', status: 'SUCCESS', at: 1 });
    await handling.settled();
    expect(handled).toEqual(['sell', 'refund']);
  });

  it.skipIf(skip)('knows a failed SELL that nobody handles', async () => {
    const handled: string[] = [];
    const { CAAS_SELL: _, ...handlers } = told(handled);
    const { give, handling } = await rig(name, handlers, TEN_MINUTES);
    await give('SELL', { transactionId: 't', status: 'FAILED' });
    await give('REFUND', { id: 'refund', transactionId: 't', status: 'SUCCESS' });
    await handling.settled();
    expect(handled).toEqual(['refund']);
  });

  it.skipIf(skip)('waits while its SELL is tried again, beyond its own limit', async () => {
    const handled: string[] = [];
    const { give } = await rig(
      name,
      {
        ...told(handled),
        CAAS_SELL: ({ id }, { attempt }) => {
          if (attempt < 4) throw new Error('not yet');
          handled.push(id);
        },
      },
      { refundWaitMs: 0, firstDelayMs: 5 },
    );
    await give('SELL', { id: 'sell', transactionId: 't', status: 'FAILED' });
    await give('REFUND', { id: 'refund', transactionId: 't', status: 'SUCCESS' });
    await until(() => handled.length === 2);
    expect(handled).toEqual(['sell', 'refund']);
  });

  it.skipIf(skip).each<[string, () => Promise<void> | void, boolean]>([
    [
      'dead',
      () => {
        throw new Error('broke');
      },
      true,
    ],
    ['handled', () => {}, false],
  ])('whose SELL is %s knows that', async (_what, handle, missing) => {
    const handled: boolean[] = [];
    const { give } = await rig(
      name,
      { CAAS_SELL: handle, REFUND: (_refund, { sellMissing }) => void handled.push(sellMissing) },
      { attempts: 1, refundWaitMs: 50 },
    );
    await give('SELL', { transactionId: 't', status: 'FAILED' });
    await give('REFUND', { transactionId: 't', status: 'SUCCESS' });
    await until(() => handled.length === 1);
    expect(handled).toEqual([missing]);
  });

  it.skipIf(skip)('whose SELL was superseded does not wait for it: it is not still to come', async () => {
    const handled: string[] = [];
    const { give, handling, events } = await rig(name, told(handled), TEN_MINUTES);
    await give('SELL', { id: 'confirmed', transactionId: 't', status: 'CONFIRMED', at: 9000 });
    await handling.settled();
    await give('SELL', { id: 'failed', transactionId: 't', status: 'FAILED', at: 5000 });
    await handling.settled();
    expect(events('superseded')).toHaveLength(1);
    await give('REFUND', { id: 'refund', transactionId: 't', status: 'SUCCESS' });
    await handling.settled();
    expect(handled).toEqual(['confirmed', 'refund']);
  });

  it.skipIf(skip).each([
    ['never comes', undefined],
    ['is a BUY', 'BUY'],
  ] as const)(
    'whose SELL %s is handled after the limit, says that it is missing, and is logged',
    async (_what, kind) => {
      const handled: string[] = [];
      const { give, events, outcomes } = await rig(
        name,
        { ...told(handled), CAAS_BUY: () => {} },
        { refundWaitMs: 40 },
      );
      if (kind !== undefined) await give(kind, { transactionId: 't', status: 'FAILED' });
      await give('REFUND', { id: 'refund', transactionId: 't', status: 'SUCCESS' });
      await until(() => outcomes.includes('REFUND done'));
      expect(handled).toEqual(['refund, SELL missing']);
      expect(events('refund-without-sell')).toMatchObject([{ level: 'warn', id: 'refund', kind: 'REFUND' }]);
    },
  );

  it.skipIf(skip)('that fails after its wait has its pauses as everything else', async () => {
    let calls = 0;
    const { give, handling } = await rig(
      name,
      {
        REFUND: () => {
          calls += 1;
          throw new Error('broke');
        },
      },
      { ...TEN_MINUTES, firstDelayMs: 60_000, maxDelayMs: 60_000 },
    );
    await give('SELL', { transactionId: 't', status: 'FAILED' });
    await give('REFUND', { transactionId: 't', status: 'SUCCESS' });
    await handling.settled();
    // Another failed SELL does not shorten the pause.
    await give('SELL', { transactionId: 't', status: 'FAILED' });
    await handling.settled();
    expect(calls).toBe(1);
  });

  it.skipIf(skip)(
    'comes after everything else of its transaction, and two of them in the order of their times',
    async () => {
      const other = gate();
      const handled: string[] = [];
      const { give, handling } = await rig(
        name,
        { ...told(handled), CAAS_ORDER_TRACKING: ({ id }) => void handled.push(id), WALLET: () => other.passed },
        { concurrency: 1, ...TEN_MINUTES },
      );
      await give('WALLET');
      await give('REFUND', { id: 'refund 2', transactionId: 't', status: 'SUCCESS', at: 2 });
      await give('REFUND', { id: 'refund 1', transactionId: 't', status: 'FAIL', at: 1 });
      await give('ORDER_TRACKING', { id: 'tracking', transactionId: 't', at: 8.64e12 });
      await give('SELL', { id: 'sell', transactionId: 't', status: 'FAILED', at: 4e9 });
      other.open();
      await until(() => handled.length === 4);
      await handling.settled();
      expect(handled).toEqual(['sell', 'tracking', 'refund 1', 'refund 2']);
    },
  );
});

describe.each(DURABLE_NAMES)('a superseded status, in %s,', (name) => {
  const skip = lacking(name);

  it.skipIf(skip)('is kept, can be seen, and its copies are duplicates', async () => {
    const { give, handling, inbox, states } = await rig(name, { CAAS_BUY: () => {} });
    await give('BUY', { id: 'end', transactionId: 't', status: 'COMPLETED' });
    await handling.settled();
    await give('BUY', { id: 'late', transactionId: 't', status: 'CREATED' });
    await handling.settled();
    expect(await states()).toEqual({ end: 'done', late: 'superseded' });
    expect(await give('BUY', { id: 'late', transactionId: 't', status: 'CREATED' })).toBe('duplicate');
    const [entry] = await (inbox as DurableInbox).list({ states: ['superseded'] }, { limit: 10 });
    const sent = received('BUY', { id: 'late', transactionId: 't', status: 'CREATED' });
    expect(entry?.rawBody.equals(sent.rawBody)).toBe(true);
    // Replayed, it is still too late.
    expect(await (inbox as DurableInbox).replay({ ids: ['late'] })).toBe(1);
    handling.wake();
    await handling.settled();
    expect(await states()).toEqual({ end: 'done', late: 'superseded' });
  });
});
