/** How often a handler is attempted, and what it may do in the meantime. */
import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import type { DurableInbox, HandlerContext } from '../../../receiver/index.ts';
import { onEveryDatabase, onEveryStore, received } from '../inbox/stores.ts';
import { gate, manyTurns, rig, until } from './rig.ts';

const raise = (value: unknown) => {
  throw value;
};

/** Creates an error whose properties cannot be read. */
function unreadable(): Error {
  const error = new Error('x');
  for (const name of ['name', 'message', 'stack']) {
    Object.defineProperty(error, name, { get: () => raise(new Error('no')) });
  }
  return error;
}

const FAILURES: Readonly<Record<string, () => Promise<void>>> = {
  'throws at once': () => raise(new Error('broke')),
  rejects: () => Promise.reject(new Error('broke')),
  'throws text': () => raise('broke'),
  'rejects with nothing': () => Promise.reject(),
  'rejects with null': () => Promise.reject(null),
  'throws an unreadable error': () => Promise.reject(unreadable()),
  'throws an error whose message is a symbol': () => Promise.reject(Object.assign(new Error(), { message: Symbol() })),
  'throws an object without a readable prototype': () =>
    Promise.reject(new Proxy({}, { getPrototypeOf: () => raise(new Error('no')) })),
  'throws a text that no database stores': () => Promise.reject(new Error('\0\ud800\u001b[2J')),
  'returns a promise whose `then` throws': () =>
    Object.defineProperty({}, 'then', { value: () => raise(new Error('broke')) }) as Promise<void>,
};

onEveryStore('a handler', (name) => {
  it('that fails is retried with the same idempotency key until it succeeds', async () => {
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

  it('that fails is not retried before its pause is over', async () => {
    const CAAS_BUY = vi.fn().mockRejectedValue(new Error('broke'));
    const policy = { firstDelayMs: 60_000, maxDelayMs: 600_000 };
    const { give, handling, inbox } = await rig(name, { CAAS_BUY }, policy);
    await give('BUY');
    await handling.settled();
    await handling.settled();
    expect(CAAS_BUY).toHaveBeenCalledTimes(1);
    const dueMs = await inbox.nextDueMs();
    expect(dueMs).toBeGreaterThan(25_000);
    expect(dueMs).toBeLessThanOrEqual(60_000);
  });

  it('that always fails is dead after its last attempt, and one that succeeds then is not', async () => {
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

  it('is retried however it fails', async () => {
    const calls: Record<string, number> = {};
    const { give, outcomes, events, handling } = await rig(name, {
      CAAS_BUY: ({ id }) => {
        calls[id] = (calls[id] ?? 0) + 1;
        return calls[id] === 1 ? FAILURES[id]?.() : undefined;
      },
    });
    const ids = Object.keys(FAILURES);
    for (const id of ids) await give('BUY', { id });
    await until(() => outcomes.filter((outcome) => outcome === 'CAAS_BUY done').length === ids.length);
    await handling.settled();
    expect(calls).toEqual(Object.fromEntries(ids.map((id) => [id, 2])));
    const failed = events('handler-failed').map(({ level, kind, id }) => `${level} ${kind} ${id}`);
    expect(failed.toSorted()).toEqual(ids.map((id) => `error CAAS_BUY ${id}`).toSorted());
  });

  it('that exceeds its time limit gets a signal, and is retried', async () => {
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

  it('that ends after its time limit changes nothing', async () => {
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

  it('that ends on the signal has failed once', async () => {
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

  it('gets a notification without keys that reach a prototype', async () => {
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

  it('that no longer exists is a failure, and its notification is kept', async () => {
    const { inbox, handling, events } = await rig(name, { WALLET: () => {} }, { attempts: 1 });
    await inbox.put(received('BUY', { id: 'wanted' }));
    handling.wake();
    await handling.settled();
    expect(events('handler-dead')).toMatchObject([
      { id: 'wanted', error: { message: 'this receiver has no handler for CAAS_BUY' } },
    ]);
    expect((await inbox.depths()).dead).toBe(1);
  });

  it('is not called for another kind', async () => {
    const { give, handling, inbox, outcomes } = await rig(name, { WALLET: () => {} });
    expect(await give('BUY', { id: 'same' })).toBe('stored');
    expect(await give('BUY', { id: 'same' })).toBe('duplicate');
    await handling.settled();
    expect([outcomes, await inbox.depths()]).toEqual([[], { pending: 0, running: 0, dead: 0 }]);
  });

  it('is called once for each notification, with the configured concurrency', async () => {
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

  it.each(['outcomes', 'lines'] as const)('survives an error in the code of the receiver: %s throw', async (faulty) => {
    const warned: string[] = [];
    const onWarning = ({ message }: Error) => void warned.push(message);
    process.on('warning', onWarning);
    let calls = 0;
    const made = await rig(
      name,
      {
        CAAS_BUY: () => {
          calls += 1;
          if (calls === 1 && faulty === 'lines') throw new Error('broke');
        },
      },
      { pollMs: 5 },
    );
    made[faulty].push = () => {
      throw new Error('no listener');
    };
    await made.give('BUY');
    await until(() => calls === (faulty === 'lines' ? 2 : 1) && warned.length === 1);
    await made.handling.settled();
    process.off('warning', onWarning);
    expect(warned).toEqual(["The receiver's own code failed: Error: no listener"]);
    expect(await made.inbox.depths()).toEqual({ pending: 0, running: 0, dead: 0 });
  });
});

onEveryDatabase('a dead entry', (name) => {
  it('keeps the error of its last attempt, cut to a length that fits', async () => {
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

  it('is one that can no longer be parsed, at its first attempt', async () => {
    const { inbox, handling, events } = await rig(name, { CAAS_BUY: () => {} });
    await inbox.put({ ...received('BUY', { id: 'unreadable' }), rawBody: Buffer.from('{"id":') });
    handling.wake();
    await handling.settled();
    expect(events('handler-dead')).toMatchObject([{ level: 'error', id: 'unreadable' }]);
    const [entry] = await (inbox as DurableInbox).list({}, { limit: 1 });
    expect(entry).toMatchObject({ state: 'dead', attempts: 1, lastError: expect.stringContaining('cannot be read') });
  });
});
