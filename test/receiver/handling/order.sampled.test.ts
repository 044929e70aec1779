/** The order of handling: within a transaction, superseded statuses, and a REFUND after its failed SELL. */
import { expect, it } from 'vitest';
import type { DurableInbox } from '../../../receiver/index.ts';
import { onEveryDatabase, onEveryStore, received } from '../inbox/stores.ts';
import { gate, manyTurns, rig, until } from './rig.ts';

const broke = () => Promise.reject(new Error('broke'));

/** Statuses with their times, in the order of arrival, and the statuses that are handled. */
const SUPERSEDED: Readonly<Record<string, [arrivals: string, handled: string]>> = {
  'CREATED after COMPLETED is superseded': ['COMPLETED@5 CREATED@1', 'COMPLETED'],
  'CREATED after FAILED is superseded, even with a later time': ['FAILED@5 CREATED@9', 'FAILED'],
  'FAILED after CONFIRMED is handled': ['CONFIRMED@5 FAILED@7', 'CONFIRMED FAILED'],
  'FAILED from before CONFIRMED is superseded': ['CONFIRMED@5 FAILED@3', 'CONFIRMED'],
  'two final statuses of one second are both handled': ['COMPLETED@5 CONFIRMED@5', 'COMPLETED CONFIRMED'],
  'CONFIRMED from before COMPLETED is superseded': ['COMPLETED@5 CONFIRMED@4', 'COMPLETED'],
  'PENDING after BLOCKCHAIN_ACCEPTED is superseded': ['BLOCKCHAIN_ACCEPTED@5 PENDING@6', 'BLOCKCHAIN_ACCEPTED'],
  'a later update of the same status is handled': [
    'BLOCKCHAIN_ACCEPTED@5 BLOCKCHAIN_ACCEPTED@6',
    'BLOCKCHAIN_ACCEPTED BLOCKCHAIN_ACCEPTED',
  ],
  'an unknown status is never superseded': ['COMPLETED@5 ON_HOLD@1', 'COMPLETED ON_HOLD'],
  'an unknown status supersedes nothing': ['ON_HOLD@9 CREATED@1', 'ON_HOLD CREATED'],
  'statuses in their order are handled': ['CREATED@1 PENDING@1 COMPLETED@1', 'CREATED PENDING COMPLETED'],
};

onEveryStore('a transaction', (name) => {
  it('is handled in the order of its times, in parallel with others', async () => {
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

  it('waits behind a failed notification until that is dead', async () => {
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

  it('skips superseded statuses', async () => {
    const handled: Record<string, string> = {};
    const { give, handling, inbox, events } = await rig(name, {
      CAAS_BUY: ({ data }) => {
        const { transactionId, metadata } = data;
        handled[transactionId] = [handled[transactionId], metadata.orderStatus].filter(Boolean).join(' ');
      },
    });
    let skipped = 0;
    for (let turn = 0; turn < 3; turn += 1) {
      for (const [transactionId, [arrivals]] of Object.entries(SUPERSEDED)) {
        const [status, at] = arrivals.split(' ')[turn]?.split('@') ?? [];
        if (status !== undefined) await give('BUY', { transactionId, status, at: Number(at) });
      }
      await handling.settled();
    }
    for (const [arrivals, expected] of Object.values(SUPERSEDED)) {
      skipped += arrivals.split(' ').length - expected.split(' ').length;
    }
    expect(handled).toEqual(
      Object.fromEntries(Object.entries(SUPERSEDED).map(([what, [, expected]]) => [what, expected])),
    );
    expect(events('superseded')).toHaveLength(skipped);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
  });

  it('is not advanced by a status whose handler failed for good, nor by another kind', async () => {
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

  it('has no superseded statuses in order tracking', async () => {
    const handled: string[] = [];
    const { give, handling } = await rig(name, { CAAS_ORDER_TRACKING: ({ id }) => void handled.push(id) });
    await give('ORDER_TRACKING', { id: 'one', transactionId: 't', status: 'COMPLETED', at: 9 });
    await handling.settled();
    await give('ORDER_TRACKING', { id: 'two', transactionId: 't', status: 'EXPIRED', at: 1 });
    await handling.settled();
    expect(handled).toEqual(['one', 'two']);
  });
});

onEveryStore('a REFUND', (name) => {
  const TEN_MINUTES = { refundWaitMs: 600_000 };

  /** Starts a receiver whose handlers record the id, and whether the SELL of a REFUND is missing. */
  async function recording(policy: Parameters<typeof rig>[2] = TEN_MINUTES, handlers: Parameters<typeof rig>[1] = {}) {
    const handled: string[] = [];
    const record = ({ id }: { id: string }) => void handled.push(id);
    const REFUND = ({ id }: { id: string }, { sellMissing }: { sellMissing: boolean }) =>
      void handled.push(`${id}${sellMissing ? ', SELL missing' : ''}`);
    const all = { CAAS_SELL: record, CAAS_ORDER_TRACKING: record, REFUND, ...handlers };
    return { handled, record, ...(await rig(name, all, policy)) };
  }
  type Recording = Awaited<ReturnType<typeof recording>>;
  const refund = ({ give }: Recording, changes: object = {}) =>
    give('REFUND', { id: 'refund', transactionId: 't', status: 'SUCCESS', ...changes });
  const sell = ({ give }: Recording, changes: object = {}) =>
    give('SELL', { id: 'sell', transactionId: 't', status: 'FAILED', ...changes });

  it('waits for the failed SELL of its transaction only', async () => {
    const test = await recording();
    const { handled, handling, events } = test;
    await refund(test);
    await sell(test, { id: 'of another', transactionId: 'u' });
    await sell(test, { id: 'not failed', status: 'PENDING' });
    await handling.settled();
    expect(handled.toSorted()).toEqual(['not failed', 'of another']);
    await sell(test, { at: 1_800_000_000 });
    await until(() => handled.includes('refund'));
    expect(handled.slice(2)).toEqual(['sell', 'refund']);
    expect(events('refund-without-sell')).toEqual([]);
  });

  it.each<[string, object]>([
    ['has a handler', {}],
    ['has no handler', { CAAS_SELL: undefined }],
  ])('does not wait when its SELL failed before, which %s', async (_case, handlers) => {
    const test = await recording(TEN_MINUTES, handlers);
    await sell(test);
    await test.handling.settled();
    await refund(test, { at: 1 });
    await test.handling.settled();
    expect(test.handled.at(-1)).toBe('refund');
  });

  it('waits beyond its limit while its SELL is retried', async () => {
    const CAAS_SELL = (_sell: unknown, { attempt }: { attempt: number }) => {
      if (attempt < 4) throw new Error('not yet');
      test.handled.push('sell');
    };
    const test = await recording({ refundWaitMs: 0, firstDelayMs: 5 }, { CAAS_SELL });
    await sell(test);
    await refund(test);
    await until(() => test.handled.length === 2);
    expect(test.handled).toEqual(['sell', 'refund']);
  });

  it('does not wait for a superseded SELL', async () => {
    const test = await recording();
    await sell(test, { id: 'confirmed', status: 'CONFIRMED', at: 9000 });
    await test.handling.settled();
    await sell(test, { at: 5000 });
    await test.handling.settled();
    expect(test.events('superseded')).toHaveLength(1);
    await refund(test);
    await test.handling.settled();
    expect(test.handled).toEqual(['confirmed', 'refund']);
  });

  it.each([
    ['never comes', undefined, {}],
    ['is a BUY', 'BUY', { CAAS_BUY: () => {} }],
    ['is dead', 'SELL', { CAAS_SELL: broke }],
  ] as const)(
    'whose SELL %s is handled after the limit, as one whose SELL is missing',
    async (_case, kind, handlers) => {
      const test = await recording({ refundWaitMs: 40, attempts: 1 }, handlers);
      if (kind !== undefined) await test.give(kind, { transactionId: 't', status: 'FAILED' });
      await refund(test);
      await until(() => test.outcomes.includes('REFUND done'));
      expect(test.handled).toEqual(['refund, SELL missing']);
      expect(test.events('refund-without-sell')).toMatchObject([{ level: 'warn', id: 'refund', kind: 'REFUND' }]);
    },
  );

  it('has the usual pause after a failure', async () => {
    let calls = 0;
    const REFUND = () => {
      calls += 1;
      return broke();
    };
    const pauses = { firstDelayMs: 60_000, maxDelayMs: 60_000 };
    const test = await recording({ ...TEN_MINUTES, ...pauses }, { REFUND });
    await sell(test);
    await refund(test);
    await test.handling.settled();
    // Another failed SELL does not shorten the pause.
    await sell(test, { id: 'sell 2' });
    await test.handling.settled();
    expect(calls).toBe(1);
  });

  it('comes after all else of its transaction, and in the order of times among REFUNDs', async () => {
    const other = gate();
    const test = await recording({ concurrency: 1, ...TEN_MINUTES }, { WALLET: () => other.passed });
    await test.give('WALLET');
    await refund(test, { id: 'refund 2', at: 2 });
    await refund(test, { id: 'refund 1', status: 'FAIL', at: 1 });
    await test.give('ORDER_TRACKING', { id: 'tracking', transactionId: 't', at: 8.64e12 });
    await sell(test, { at: 4e9 });
    other.open();
    await until(() => test.handled.length === 4);
    await test.handling.settled();
    expect(test.handled).toEqual(['sell', 'tracking', 'refund 1', 'refund 2']);
  });
});

onEveryDatabase('a superseded status', (name) => {
  it('is kept and listed, its copies are duplicates, and a replay supersedes it again', async () => {
    const { give, handling, inbox, states } = await rig(name, { CAAS_BUY: () => {} });
    const late = { id: 'late', transactionId: 't', status: 'CREATED' };
    await give('BUY', { id: 'end', transactionId: 't', status: 'COMPLETED' });
    await handling.settled();
    await give('BUY', late);
    await handling.settled();
    expect(await states()).toEqual({ end: 'done', late: 'superseded' });
    expect(await give('BUY', late)).toBe('duplicate');
    const [entry] = await (inbox as DurableInbox).list({ states: ['superseded'] }, { limit: 10 });
    expect(entry?.rawBody.equals(received('BUY', late).rawBody)).toBe(true);
    expect(await (inbox as DurableInbox).replay({ ids: ['late'] })).toBe(1);
    handling.wake();
    await handling.settled();
    expect(await states()).toEqual({ end: 'done', late: 'superseded' });
  });
});
