/** The tracker follows the notifications of a run through a fake effects window. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type EffectsQuery, type Handled, MAX_EFFECT_IDS } from '../../../contract/effects.ts';
import {
  type EffectsWindow,
  type TrackedDelivery,
  trackEffects,
  WindowProblem,
} from '../../../harness/effects/index.ts';

/** Creates a window for this list of handled ids. `before` runs before each query, and may change the list or throw. */
function windowOn(handled: string[], before: (query: EffectsQuery, count: number) => void = () => {}) {
  const queries: EffectsQuery[] = [];
  let closed = 0;
  const window: EffectsWindow = {
    async ask(query) {
      queries.push(query);
      before(query, queries.length);
      if ('transaction' in query) return { total: handled.length, handled: [], current: { status: 'COMPLETED' } };
      const found: Handled[] = handled.flatMap((id) =>
        query.notifications.includes(id) ? [{ notification: id, kind: 'WALLET' }] : [],
      );
      return { total: handled.length, handled: found };
    },
    close: () => void closed++,
  };
  return { window, queries, closed: () => closed };
}

/** Creates a clock that advances by this many milliseconds whenever it is read. */
function clock(tickMs: number) {
  let time = 0;
  return () => (time += tickMs);
}

const body = (...ids: string[]) => Buffer.from(`{${ids.map((id) => `"id": ${JSON.stringify(id)}`).join(', ')}}`);

function delivery(id: string, more: Partial<TrackedDelivery> = {}): TrackedDelivery {
  const common = { scenario: 'valid/wallet', isValid: true, isControl: false, outcome: 'accepted' } as const;
  return { ...common, body: body(id), ...more };
}

/**
 * Creates a tracker. With a `tickMs` of 1000 or more, a deadline of one second passes with a single reading of the
 * clock.
 */
const track = (window: EffectsWindow, tickMs = 1, signal = new AbortController().signal) =>
  trackEffects(window, { deadlineMs: 1000, signal, now: clock(tickMs) });

describe('an accepted notification', () => {
  it('is waited for until it is handled, and how long that took is known', async () => {
    const handled: string[] = [];
    const { window } = windowOn(handled, (_, count) => {
      if (count === 6) handled.push('a');
    });
    const tracker = await track(window);
    tracker.record(delivery('a'));
    tracker.expect('a');
    expect(await tracker.settle()).toBeNull();
    const { handled: found, tookMs } = tracker.effectsOf('a');
    expect(found).toEqual([{ notification: 'a', kind: 'WALLET' }]);
    expect(tookMs).toBeGreaterThan(0);
  });

  it('is not waited for longer than the deadline, and took no time then', async () => {
    const { window } = windowOn([]);
    const tracker = await track(window, 1000);
    tracker.record(delivery('a'));
    tracker.expect('a');
    expect(await tracker.settle()).toBeNull();
    expect(tracker.effectsOf('a')).toEqual({ handled: [], tookMs: null });
    expect(tracker.audit().notifications).toMatchObject([{ id: 'a', outcome: 'accepted', times: 0 }]);
  });

  it('is examined again after a pause: a second handling that follows the first is seen', async () => {
    const handled = ['a'];
    const { window, queries } = windowOn(handled, () => {
      if (queries.length === 3) handled.push('a');
    });
    const tracker = await track(window);
    tracker.record(delivery('a', { isControl: true }));
    // Query 1 opened the window, query 2 sees the first handling, query 3 comes after the pause.
    expect(await tracker.settle()).toBeNull();
    expect(queries).toHaveLength(3);
    expect(tracker.effectsOf('a').handled).toHaveLength(2);
    expect(tracker.audit().notifications).toMatchObject([{ id: 'a', times: 2, isControl: true }]);
  });

  it.each([
    ['until the deadline after a restart: a lease may have to end first', true, 2],
    ['only shortly without a restart', false, 1],
  ])('is watched %s', async (_, isAfterRestart, times) => {
    const handled = ['a'];
    const { window } = windowOn(handled);
    const tracker = await trackEffects(window, { deadlineMs: 600, signal: new AbortController().signal });
    tracker.record(delivery('a', { isControl: true }));
    const timer = setTimeout(() => handled.push('a'), 350);
    expect(await tracker.settle({ isAfterRestart })).toBeNull();
    clearTimeout(timer);
    expect(tracker.effectsOf('a').handled).toHaveLength(times);
  });

  it('keeps what was seen when an answer that was asked for earlier arrives later', async () => {
    const late: { answer: () => void } = { answer: () => {} };
    let asked = 0;
    const twice: Handled[] = [{ notification: 'a' }, { notification: 'a' }];
    const window: EffectsWindow = {
      async ask() {
        asked += 1;
        if (asked === 1) return { total: 0, handled: [] };
        if (asked > 2) return { total: 2, handled: twice };
        await new Promise<void>((resolve) => {
          late.answer = resolve;
        });
        return { total: 1, handled: twice.slice(1) };
      },
      close() {},
    };
    const tracker = await track(window);
    tracker.record(delivery('a'));
    tracker.expect('a');
    expect(await tracker.settle()).toBeNull();
    late.answer();
    await turn();
    expect(tracker.effectsOf('a').handled).toHaveLength(2);
  });
});

describe('a wait for a handling', () => {
  it.each([
    ['the notification is handled', 4, 1],
    ['the deadline has passed', Number.POSITIVE_INFINITY, 600],
  ])('ends when %s', async (_, query, tickMs) => {
    const handled: string[] = [];
    const { window } = windowOn(handled, (_, count) => {
      if (count === query) handled.push('a');
    });
    const tracker = await track(window, tickMs);
    tracker.record(delivery('a'));
    tracker.expect('a');
    await tracker.waitUntilHandled(['a']);
    expect(tracker.effectsOf('a').handled).toHaveLength(query === 4 ? 1 : 0);
    tracker.close();
  });
});

describe('the audit', () => {
  /** Returns the audit of these deliveries to a receiver that has handled these ids since the start of the run. */
  async function auditOf(deliveries: readonly TrackedDelivery[], handled: readonly string[]) {
    const all = ['before'];
    const { window } = windowOn(all);
    const tracker = await track(window, 1000);
    for (const one of deliveries) tracker.record(one);
    all.push(...handled);
    expect(await tracker.settle()).toBeNull();
    return tracker.audit();
  }

  it('has a rejected notification that was handled, with the scenarios that delivered it', async () => {
    const rejected = { isValid: false, outcome: 'rejected' } as const;
    const deliveries = [
      delivery('a', { ...rejected, scenario: 'signature/missing' }),
      delivery('a', { ...rejected, scenario: 'signature/wrong' }),
      delivery('b', rejected),
    ];
    const { notifications, unexplained } = await auditOf(deliveries, ['a']);
    expect(notifications).toMatchObject([
      {
        id: 'a',
        scenarios: ['signature/missing', 'signature/wrong'],
        outcome: 'rejected',
        isControl: false,
        deliveries: 2,
        times: 1,
      },
      { id: 'b', scenarios: ['valid/wallet'], outcome: 'rejected', isControl: false, deliveries: 1, times: 0 },
    ]);
    expect(unexplained).toBe(0);
  });

  it.each<[string, TrackedDelivery[], string]>([
    ['a forged copy was rejected', [delivery('a'), delivery('a', { outcome: 'rejected', isValid: false })], 'accepted'],
    ['it was accepted at last', [delivery('a', { outcome: 'rejected' }), delivery('a')], 'accepted'],
  ])('takes a notification as accepted when %s', async (_, deliveries, outcome) => {
    expect((await auditOf(deliveries, ['a'])).notifications).toMatchObject([{ outcome, times: 1 }]);
  });

  it.each<[string, TrackedDelivery]>([
    ['without an answer', delivery('a', { outcome: 'unknown' })],
    ['forged and accepted, which its answer reports', delivery('a', { isValid: false })],
    ['with two ids', delivery('a', { body: body('a', 'b'), outcome: 'rejected' })],
  ])('draws no conclusion from a delivery %s', async (_, one) => {
    const { notifications, unexplained } = await auditOf([one], ['a']);
    expect(new Set(notifications.map(({ outcome }) => outcome))).toEqual(new Set(['unknown']));
    expect(unexplained).toBe(0);
  });

  it('has the fields of a notification by their paths', async () => {
    const text = '{"id":"a","data":{"type":null,"list":[{"x":1}]}}';
    const { notifications } = await auditOf([delivery('', { body: Buffer.from(text) })], ['a']);
    expect(notifications[0]?.fields).toEqual({ id: '"a"', 'data.type': 'null', 'data.list.0.x': '1' });
  });

  it.each([
    ['not JSON', '<"id":"a">'],
    ['cut off', '{"id" : "a", "type'],
    ['with the id deep inside', '[[{"data": {"id":\n"a"}}]]'],
  ])('finds the id in a body that is %s', async (_, text) => {
    const { notifications } = await auditOf([delivery('', { body: Buffer.from(text), outcome: 'rejected' })], ['a']);
    expect(notifications).toMatchObject([{ id: 'a', times: 1 }]);
  });

  it('does not ask for an id that no query could have', async () => {
    const long = body('x'.repeat(201));
    const invalid = Buffer.from('{"id":"a\xff"}', 'latin1');
    const bodies = [body('a\u0000'), long, invalid, Buffer.from('{"id":"a\u0007"}'), Buffer.from('{"id":""}')];
    const { notifications } = await auditOf(
      bodies.map((one) => delivery('', { body: one, outcome: 'rejected' })),
      [],
    );
    expect(notifications).toEqual([]);
  });

  it('counts handlings that nothing explains, and no others', async () => {
    expect((await auditOf([delivery('a')], ['a', 'x', 'y'])).unexplained).toBe(2);
    // The handling of an accepted delivery without an id has another id or none.
    const untraceable = delivery('', { body: Buffer.from('{}') });
    expect((await auditOf([delivery('a'), untraceable], ['a', 'x', 'y'])).unexplained).toBe(1);
    // A receiver may keep an id in another spelling.
    expect((await auditOf([delivery('a')], ['A'])).unexplained).toBe(0);
    // A rejected delivery explains nothing.
    const rejected = delivery('', { body: Buffer.from('{}'), outcome: 'rejected', isValid: false });
    expect((await auditOf([rejected], ['x'])).unexplained).toBe(1);
  });

  it('asks for many notifications in several queries', async () => {
    const ids = Array.from({ length: 2 * MAX_EFFECT_IDS + 1 }, (_, at) => `n${at}`);
    const { window, queries } = windowOn(ids);
    const tracker = await track(window, 1000);
    for (const id of ids) tracker.record(delivery(id));
    expect(await tracker.settle()).toBeNull();
    expect(tracker.audit().notifications.map(({ times }) => times)).toEqual(ids.map(() => 1));
    const sizes = queries.slice(1).map((query) => ('notifications' in query ? query.notifications.length : 0));
    expect(sizes).toEqual([MAX_EFFECT_IDS, MAX_EFFECT_IDS, 1]);
  });
});

describe('a window', () => {
  const gone = () => {
    throw new WindowProblem('the effects window answered 500, expected 200', 'Check its URL.');
  };

  it('that does not answer at the start is a problem at once', async () => {
    await expect(track(windowOn([], gone).window)).rejects.toThrow('answered 500');
  });

  it('that fails twice and returns is asked again', async () => {
    const { window } = windowOn(['a'], (_, count) => {
      if (count === 2 || count === 3 || count === 5) gone();
    });
    const tracker = await track(window);
    tracker.record(delivery('a', { isControl: true }));
    expect(await tracker.settle()).toBeNull();
    expect(tracker.audit()).toMatchObject({ notifications: [{ times: 1 }], problem: null });
  });

  it('that does not return is a problem, and nothing is concluded', async () => {
    const { window } = windowOn(['a'], (_, count) => {
      if (count > 1) gone();
    });
    const tracker = await track(window);
    tracker.record(delivery('a', { isControl: true }));
    expect((await tracker.settle())?.message).toContain('answered 500');
    expect(tracker.audit().problem).toContain('answered 500');
  });

  it('that forgets what it reported is a problem: a second handling would not show', async () => {
    const handled = ['a', 'b'];
    const { window } = windowOn(handled);
    const tracker = await track(window, 1000);
    for (const id of handled) tracker.record(delivery(id));
    expect(await tracker.settle()).toBeNull();
    handled.pop();
    expect((await tracker.settle())?.message).toBe('the effects window forgot handlings: 1 in total, previously 2');
  });

  it('that forgets one notification is a problem, however many others it reports since', async () => {
    const handled = ['a'];
    const { window } = windowOn(handled);
    const tracker = await track(window, 1000);
    for (const id of ['a', 'b', 'c']) tracker.record(delivery(id));
    expect(await tracker.settle()).toBeNull();
    handled.splice(0, 1, 'b', 'c');
    expect((await tracker.settle())?.message).toBe('the effects window forgot handlings: 0 of a, previously 1');
  });

  it('is not asked any more when the run is interrupted', async () => {
    const interruption = new AbortController();
    const { window, queries } = windowOn([], (_, count) => {
      if (count === 3) interruption.abort();
    });
    const tracker = await track(window, 1, interruption.signal);
    tracker.record(delivery('a', { isControl: true }));
    expect((await tracker.settle())?.message).toBe('the run was interrupted');
    expect(queries).toHaveLength(3);
  });

  it('says what a transaction has now, and is closed with the tracker', async () => {
    const { window, closed } = windowOn([]);
    const tracker = await track(window);
    expect(await tracker.currentOf('t')).toEqual({ status: 'COMPLETED' });
    expect(closed()).toBe(0);
    tracker.close();
    expect(closed()).toBe(1);
  });
});
