import { describe, expect, it, onTestFinished } from 'vitest';
import { lossOf, repetitionOf } from '../../../harness/diagnose/handlings.ts';
import { run } from '../../../harness/run/index.ts';
import { CATALOGUE, type EffectsAudit } from '../../../scenarios/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf } from '../../endpoints/verifying.ts';

type Notification = EffectsAudit['notifications'][number];

/** Creates an accepted notification of a run, with these fields. */
function notification(at: number, times: number, fields: Record<string, unknown>, more: Partial<Notification> = {}) {
  const texts = Object.entries({ id: `n${at}`, ...fields }).map(([path, value]) => [path, JSON.stringify(value)]);
  const common = {
    id: `n${at}`,
    scenarios: ['controls'],
    isControl: true,
    deliveries: 1,
    outcome: 'accepted',
  } as const;
  return { ...common, times, fields: Object.fromEntries(texts), ...more };
}

/** Returns what the losses of a receiver have in common if it handles only these of twenty notifications. */
function lossWith(
  isHandled: (fields: Record<string, unknown>, at: number) => boolean,
  more: readonly Notification[] = [],
) {
  const notifications = Array.from({ length: 20 }, (_, at) => {
    const fields = { type: at % 2 === 0 ? 'CAAS' : 'WALLET', 'data.providerId': 'P', 'data.transactionId': `t${at}` };
    return notification(at, isHandled(fields, at) ? 1 : 0, fields);
  });
  return lossOf({ notifications: [...more, ...notifications], unexplained: 0, problem: null });
}

/** Handles only the first notification for each value of a field. */
function firstOf(path: string) {
  const known = new Set<unknown>();
  return (fields: Record<string, unknown>) => !known.has(fields[path]) && known.add(fields[path]) !== undefined;
}

describe('what the lost notifications of a run share', () => {
  it.each(['type', 'data.providerId'])('is the field of which the first of each value was handled: %s', (path) => {
    const found = lossWith(firstOf(path));
    expect(found).toMatchObject({ mistake: 'copies-by-content' });
    expect(found?.title).toBe(`Handles only the first notification with each value of \`${path}\``);
  });

  it('is that field, too, when the first of a value got no clear answer', () => {
    const first = notification(99, 1, { type: 'CAAS' }, { outcome: 'unknown' });
    expect(lossWith((_, at) => at === 1, [first])?.title).toContain('`type`');
  });

  it('is no field that most notifications do not have', () => {
    const rare = [90, 91, 92, 93].map((at) => notification(at, at === 90 ? 1 : 0, { 'data.reference': 'r' }));
    expect(lossWith(() => true, rare)?.title).toContain('`data.reference`');
    expect(lossWith((_, at) => at < 3, rare)).toBeNull();
  });

  it('is nothing when some of one kind are lost and others are handled', () => {
    const found = lossWith((_, at) => at % 5 !== 0);
    expect(found).toMatchObject({ mistake: 'acknowledged-before-stored' });
    expect(found?.title).toBe('Loses 4 of 20 notifications of one kind and handles the others');
  });

  it('is not said where the effects window gave no answer', () => {
    const notifications = Array.from({ length: 20 }, (_, at) => notification(at, at % 5 === 0 ? 0 : 1, {}));
    expect(lossOf({ notifications, unexplained: 0, problem: null })).not.toBeNull();
    expect(lossOf({ notifications, unexplained: 0, problem: 'no answer' })).toBeNull();
  });

  it.each<[string, (fields: Record<string, unknown>, at: number) => boolean]>([
    ['nothing is lost', () => true],
    ['all are', () => false],
    ['handling ends', (_, at) => at < 10],
    ['few are', (_, at) => at !== 7 && at !== 9],
  ])('is not said where %s', (_, isHandled) => {
    expect(lossWith(isHandled)).toBeNull();
  });
});

describe('repeated notifications', () => {
  /** Twenty notifications; every fifth was handled twice. */
  const repeating = (more: Partial<Notification> = {}, problem: string | null = null) => {
    const notifications = Array.from({ length: 20 }, (_, at) => notification(at, at % 5 === 0 ? 2 : 1, {}, more));
    return repetitionOf({ notifications, unexplained: 0, problem });
  };

  it('are counted if each of them was delivered once', () => {
    expect(repeating()).toMatchObject({
      mistake: 'effect-and-id-apart',
      title: 'Handles 4 of 20 notifications more than once, although delivered once',
    });
  });

  it('are not reported if copies were delivered, or if the answers do not say what happened', () => {
    expect(repeating({ deliveries: 2 })).toBeNull();
    expect(repeating({ outcome: 'unknown' })).toBeNull();
    expect(repeating({}, 'no answer')).toBeNull();
  });

  it('are not reported if all or very few of them were repeated', () => {
    expect(repeating({ times: 2 })).toBeNull();
    expect(repeating({ times: 1 })).toBeNull();
  });

  it('are the cause that a run reports', async () => {
    const handled: string[] = [];
    const valid = CATALOGUE.find(({ name }) => name === 'valid')?.scenarios.slice(0, 12) ?? [];
    const { url, close } = await serve(async (request, response) => {
      if (request.method === 'GET') {
        const asked = handled.filter((notification) => request.url?.includes(notification));
        const rows = asked.map((notification) => ({ notification }));
        return response.end(JSON.stringify({ total: handled.length, handled: rows }));
      }
      const { id } = JSON.parse(`${await bodyOf(request)}`);
      handled.push(id, ...(handled.length % 3 === 0 ? [id] : []));
      return response.end();
    });
    onTestFinished(close);
    const { diagnosis } = await run({
      partner: { url },
      selection: { suites: ['valid', 'effects'], scenarios: [...valid.map(({ id }) => id), 'effects/accepted-once'] },
      evidenceSources: { effects: { url, deadlineMs: 5000 } },
    });
    expect(diagnosis.map(({ mistake, title }) => [mistake, title])).toEqual([
      [
        'effect-and-id-apart',
        expect.stringMatching(/^Handles \d+ of \d+ notifications more than once, although delivered once$/),
      ],
    ]);
  });
});
