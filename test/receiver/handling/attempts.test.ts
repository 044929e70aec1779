/** How often a handler is tried, and what it may do meanwhile: on every store. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { DurableInbox, HandlerContext } from '../../../receiver/index.ts';
import { received } from '../inbox/stores.ts';
import { DURABLE_NAMES, gate, lacking, manyTurns, rig, STORE_NAMES, until } from './rig.ts';

/** Reading it fails, whatever is read. */
const unreadable = () => {
  const error = new Error('x');
  for (const name of ['name', 'message', 'stack']) {
    Object.defineProperty(error, name, {
      get() {
        throw new Error('no');
      },
    });
  }
  return error;
};

const ODD_FAILURES: [string, () => Promise<void> | void][] = [
  [
    'throws at once',
    () => {
      throw new Error('broke');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broke'))],
  [
    'throws text',
    () => {
      throw 'broke';
    },
  ],
  ['rejects with nothing', () => Promise.reject()],
  ['rejects with null', () => Promise.reject(null)],
  ['throws an error that cannot be read', () => Promise.reject(unreadable())],
  [
    'throws an error whose message is a symbol',
    () => Promise.reject(Object.assign(new Error(), { message: Symbol() })),
  ],
  [
    'throws what cannot even be asked what it is',
    () =>
      Promise.reject(
        new Proxy(
          {},
          {
            getPrototypeOf() {
              throw new Error('no');
            },
          },
        ),
      ),
  ],
  ['throws a text that no database takes', () => Promise.reject(new Error('\0\ud800\u001b[2J'))],
  [
    'gives a promise of its own making that throws',
    () =>
      Object.defineProperty({}, 'then', {
        value: () => {
          throw new Error('broke');
        },
      }) as unknown as Promise<void>,
  ],
];

describe.each(STORE_NAMES)('a handler, on %s,', (name) => {
  const skip = lacking(name);

  it.skipIf(skip)('that fails is tried again with the same key, until it ends well', async () => {
    const seen: Pick<HandlerContext, 'attempt' | 'idempotencyKey'>[] = [];
    const { give, outcomes, inbox, handling } = await rig(name, {
      CAAS_BUY: (_notification, { attempt, idempotencyKey }) => {
        seen.push({ attempt, idempotencyKey });
        if (attempt < 4) throw new Error('not yet');
      },
    });
    await give('BUY', { id: 'one' });
    await until(() => outcomes.includes('CAAS_BUY done'));
    await handling.settled();
    expect(seen).toEqual([1, 2, 3, 4].map((attempt) => ({ attempt, idempotencyKey: 'one' })));
    expect(outcomes).toEqual(['CAAS_BUY failed', 'CAAS_BUY failed', 'CAAS_BUY failed', 'CAAS_BUY done']);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
  });

  it.skipIf(skip)('that fails is not tried before its pause is over', async () => {
    let calls = 0;
    const { give, handling, inbox } = await rig(
      name,
      {
        CAAS_BUY: () => {
          calls += 1;
          throw new Error('broke');
        },
      },
      { firstDelayMs: 60_000, maxDelayMs: 600_000 },
    );
    await give('BUY');
    await handling.settled();
    await handling.settled();
    expect(calls).toBe(1);
    const dueMs = await inbox.nextDueMs();
    expect(dueMs).toBeGreaterThan(25_000);
    expect(dueMs).toBeLessThanOrEqual(60_000);
  });

  it.skipIf(skip)('that fails each time is dead after its last attempt, and one that had one more is not', async () => {
    const calls: Record<string, number> = {};
    const { give, outcomes, events, inbox, handling } = await rig(
      name,
      {
        CAAS_BUY: ({ id }) => {
          calls[id] = (calls[id] ?? 0) + 1;
          if (id === 'always' || calls[id] < 3) throw new Error('broke');
        },
      },
      { attempts: 3 },
    );
    await give('BUY', { id: 'always' });
    await give('BUY', { id: 'twice' });
    await until(() => outcomes.includes('CAAS_BUY dead') && outcomes.includes('CAAS_BUY done'));
    await handling.settled();
    await manyTurns();
    expect(calls).toEqual({ always: 3, twice: 3 });
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 1 });
    expect(events('handler-dead')).toMatchObject([{ level: 'error', id: 'always', kind: 'CAAS_BUY', attempt: 3 }]);
  });

  it.skipIf(skip).each(ODD_FAILURES)('that %s is tried again, and the process goes on', async (_what, fail) => {
    let calls = 0;
    const { give, outcomes } = await rig(name, {
      CAAS_BUY: () => {
        calls += 1;
        return calls === 1 ? fail() : undefined;
      },
    });
    await give('BUY');
    await until(() => outcomes.includes('CAAS_BUY done'));
    expect(outcomes).toEqual(['CAAS_BUY failed', 'CAAS_BUY done']);
  });

  it.skipIf(skip)('that never returns is told, and tried again beside itself', async () => {
    const signals: AbortSignal[] = [];
    const { give, outcomes, events } = await rig(
      name,
      {
        CAAS_BUY: (_notification, { signal, attempt }) => {
          signals.push(signal);
          return attempt === 1 ? new Promise<void>(() => {}) : undefined;
        },
      },
      { timeLimitMs: 20 },
    );
    await give('BUY');
    await until(() => outcomes.includes('CAAS_BUY done'));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(String(signals[0]?.reason)).toContain('longer than 20 ms');
    expect(events('handler-failed')).toMatchObject([{ error: { message: 'the handler took longer than 20 ms' } }]);
  });

  it.skipIf(skip)('that ends or fails when its time is over changes nothing any more', async () => {
    const late = gate();
    let ended = 0;
    const { give, outcomes, inbox, handling } = await rig(
      name,
      {
        CAAS_BUY: async (_notification, { attempt }) => {
          if (attempt === 3) return;
          await late.passed;
          ended += 1;
          if (attempt === 1) throw new Error('too late');
        },
      },
      { timeLimitMs: 20 },
    );
    await give('BUY');
    await until(() => outcomes.includes('CAAS_BUY done'));
    late.open();
    await until(() => ended === 2);
    await handling.settled();
    expect(outcomes).toEqual(['CAAS_BUY failed', 'CAAS_BUY failed', 'CAAS_BUY done']);
    expect(await inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
  });

  it.skipIf(skip)('that ends when it is told has failed once', async () => {
    const { give, outcomes } = await rig(
      name,
      {
        CAAS_BUY: (_notification, { signal, attempt }) =>
          attempt > 1
            ? undefined
            : new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
      },
      { timeLimitMs: 20 },
    );
    await give('BUY');
    await until(() => outcomes.includes('CAAS_BUY done'));
    expect(outcomes).toEqual(['CAAS_BUY failed', 'CAAS_BUY done']);
  });

  it.skipIf(skip)('gets a notification without keys that reach for prototypes', async () => {
    const seen: object[] = [];
    const { handling, inbox } = await rig(name, { CAAS_BUY: ({ raw }) => void seen.push(raw) });
    const { notification, receivedAt, rawBody } = received('BUY', { id: 'evil' });
    const evil = Buffer.from(
      rawBody.toString().replace('{', '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},'),
    );
    await inbox.put({ notification, receivedAt, rawBody: evil, handle: true });
    await handling.settled();
    expect(seen.map((raw) => [Object.hasOwn(raw, '__proto__'), Object.hasOwn(raw, 'constructor')])).toEqual([
      [false, false],
    ]);
  });

  it.skipIf(skip)(
    'that is missing here but was there when the notification came is a failure, and nothing is lost',
    async () => {
      const { inbox, handling, events } = await rig(name, { WALLET: () => {} }, { attempts: 1 });
      await inbox.put(received('BUY', { id: 'wanted' }));
      handling.wake();
      await handling.settled();
      expect(events('handler-dead')).toMatchObject([
        { id: 'wanted', error: { message: 'this receiver has no handler for CAAS_BUY' } },
      ]);
      expect((await inbox.depths()).dead).toBe(1);
    },
  );

  it.skipIf(skip)('is not called for what no handler was waiting for', async () => {
    const { give, handling, inbox, outcomes } = await rig(name, { WALLET: () => {} });
    expect(await give('BUY', { id: 'same' })).toBe('stored');
    expect(await give('BUY', { id: 'same' })).toBe('duplicate');
    await handling.settled();
    expect([outcomes, await inbox.depths()]).toEqual([[], { pending: 0, running: 0, dead: 0 }]);
  });

  it.skipIf(skip)('is called once for each of many, never more than the policy says at a time', async () => {
    const ids = Array.from({ length: 100 }, () => randomUUID());
    const handled: string[] = [];
    let running = 0;
    let most = 0;
    const { give, handling } = await rig(
      name,
      {
        CAAS_BUY: async ({ id }) => {
          running += 1;
          most = Math.max(most, running);
          await new Promise(setImmediate);
          handled.push(id);
          running -= 1;
        },
      },
      { concurrency: 7 },
    );
    await Promise.all(ids.flatMap((id) => [give('BUY', { id }), give('BUY', { id })]));
    await handling.settled();
    expect([handled.toSorted(), most]).toEqual([ids.toSorted(), 7]);
  });

  it.skipIf(skip).each(['outcomes', 'lines'] as const)(
    'is neither lost nor the end of the process when the receiver breaks: %s cannot be told',
    async (told) => {
      const warned: string[] = [];
      const onWarning = ({ message }: Error) => void warned.push(message);
      process.on('warning', onWarning);
      let calls = 0;
      const made = await rig(
        name,
        {
          CAAS_BUY: () => {
            calls += 1;
            // So that there is something to log.
            if (calls === 1 && told === 'lines') throw new Error('broke');
          },
        },
        { pollMs: 5 },
      );
      made[told].push = () => {
        throw new Error('nobody listens');
      };
      await made.give('BUY');
      await until(() => calls === (told === 'lines' ? 2 : 1) && warned.length === 1);
      await made.handling.settled();
      process.off('warning', onWarning);
      expect(warned).toEqual(["The receiver's own code failed: Error: nobody listens"]);
      expect(await made.inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
    },
  );
});

describe.each(DURABLE_NAMES)('what is kept in %s', (name) => {
  const skip = lacking(name);

  it.skipIf(skip)('says what the last attempt died of, in words that fit', async () => {
    const { give, inbox, handling } = await rig(
      name,
      { CAAS_BUY: ({ id }) => Promise.reject(new RangeError(id === 'long' ? 'x'.repeat(10_000) : 'too\0 far')) },
      { attempts: 1 },
    );
    await give('BUY', { id: 'short' });
    await give('BUY', { id: 'long' });
    await handling.settled();
    const entries = await (inbox as DurableInbox).list({}, { limit: 10 });
    expect(entries.map(({ id, state, attempts, lastError }) => [id, state, attempts, lastError?.slice(0, 25)])).toEqual(
      [
        ['short', 'dead', 1, 'RangeError: too far'],
        ['long', 'dead', 1, `RangeError: ${'x'.repeat(13)}`],
      ],
    );
    expect(entries[1]?.lastError).toHaveLength(500);
  });

  it.skipIf(skip)('and cannot be read any more is dead at once, and says so', async () => {
    const { inbox, handling, events } = await rig(name, { CAAS_BUY: () => {} });
    await inbox.put({ ...received('BUY', { id: 'spoilt' }), rawBody: Buffer.from('{"id":') });
    handling.wake();
    await handling.settled();
    expect(events('handler-dead')).toMatchObject([{ level: 'error', id: 'spoilt' }]);
    const [entry] = await (inbox as DurableInbox).list({}, { limit: 1 });
    expect(entry).toMatchObject({ state: 'dead', attempts: 1, lastError: expect.stringContaining('cannot be read') });
  });
});
