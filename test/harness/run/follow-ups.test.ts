import { describe, expect, it } from 'vitest';
import { judge } from '../../../harness/judge/index.ts';
import type { Assembled } from '../../../harness/run/assemble.ts';
import { createContext, DEFAULT_LIMITS } from '../../../harness/run/context.ts';
import type { Lane } from '../../../harness/run/lane.ts';
import { isSending, planScenarios } from '../../../harness/run/plan.ts';
import { tryScenario } from '../../../harness/run/trial.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import { answered, NOW, partnerAt } from './parts.ts';

/** Tries one scenario. Returns its judgement and the requests without a valid signature. */
async function play(id: string, answer: (request: Assembled['prepared']) => Attempt) {
  const partner = partnerAt();
  const selection = { suites: [], scenarios: [id], greps: [], shard: null };
  const [planned] = planScenarios({ features: ['hmac', 'api-key'], isExposed: false }, selection).filter(isSending);
  const context = createContext({
    partner,
    seed: 'seed',
    flags: '',
    now: NOW,
    limits: DEFAULT_LIMITS,
    emit: () => {},
    signal: new AbortController().signal,
    onSignature: () => {},
  });
  const forged: Assembled['prepared'][] = [];
  const lane: Lane = {
    send: async ({ prepared, change }) => {
      if (Object.keys(change).length === 0) return answered(200);
      forged.push(prepared);
      return answer(prepared);
    },
    close: () => {},
  };
  const trial = await tryScenario(context, lane, planned!, null);
  return { forged, ...judge('must', trial.evidence) };
}

const has = ({ headers }: Assembled['prepared'], name: string) => headers.some(([other]) => other === name);

describe('the hints of one delivery', () => {
  const id = 'signature/unsigned-skip-headers';

  it('are not sent one by one when the delivery is rejected', async () => {
    const { forged, verdict } = await play(id, () => answered(401));
    expect([forged.length, verdict]).toEqual([1, 'pass']);
  });

  it('are sent one by one after an acceptance, and the accepted one is named', async () => {
    const { forged, verdict, delivery } = await play(id, (request) =>
      answered(has(request, 'X-Test-Mode') ? 200 : 401),
    );
    expect(forged.length).toBeGreaterThan(10);
    expect([verdict, delivery]).toEqual(['fail', 'X-Test-Mode: true']);
  });

  it('fail together when none of them is enough', async () => {
    const { verdict, delivery } = await play(id, (request) =>
      answered(has(request, 'X-Test-Mode') && has(request, 'X-Bypass') ? 200 : 401),
    );
    expect([verdict, delivery]).toEqual(['fail', 'probe']);
  });
});

describe('another URL', () => {
  const id = 'signature/unsigned-query-skip';

  it('may serve a page to every request', async () => {
    const { forged, verdict, decidedBy } = await play(id, () => answered(200, '<h1>Welcome, visitor 7</h1>'));
    expect([forged.length, verdict, decidedBy]).toEqual([3, 'pass', 'allowed-answer']);
  });

  it.each([
    ['a random path answers differently', (request: Assembled['prepared']) => request.target.includes('hooks')],
    ['a request without a body answers differently', (request: Assembled['prepared']) => request.body.length > 0],
  ])('fails when %s', async (_name, isAccepted) => {
    const { verdict, decidedBy } = await play(id, (request) => answered(isAccepted(request) ? 200 : 404));
    expect([verdict, decidedBy]).toEqual(['fail', 'forgery-accepted']);
  });

  it('passes with a redirect', async () => {
    expect((await play(id, () => answered(301))).verdict).toBe('pass');
  });
});

it.each([
  [200, 'pass', 'allowed-answer'],
  [401, 'fail', 'forgery-accepted'],
])(
  'distinguishes a server that folds all header names (%i) from a receiver that reads two',
  async (status, verdict, by) => {
    const id = 'signature/in-underscore-name';
    const found = await play(id, (request) => answered(has(request, 'X_API_Key') ? status : 200));
    expect([found.verdict, found.decidedBy]).toEqual([verdict, by]);
  },
);

it('allows a page for GET, but not the acceptance of a notification', async () => {
  const id = 'signature/missing-by-get';
  expect((await play(id, () => answered(200, 'The webhook is running.'))).verdict).toBe('pass');
  expect((await play(id, ({ body }) => answered(body.length > 0 ? 200 : 400))).verdict).toBe('fail');
});

describe('answers that differ where they should not', () => {
  const id = 'leaks/uniform-across-checks';

  it('are compared again, and a difference that comes and goes is none', async () => {
    let requests = 0;
    // The second delivery reaches another process than the others.
    const { forged, verdict } = await play(id, () => answered(401, `worker ${++requests === 2 ? 'beta' : 'alpha'}`));
    expect([forged.length, verdict]).toEqual([10, 'pass']);
  });

  it('fail when they differ each time', async () => {
    const { forged, decidedBy } = await play(id, (request) =>
      answered(401, has(request, 'X-Service-Signature') ? 'worker alpha' : 'worker beta'),
    );
    expect([forged.length, decidedBy]).toEqual([15, 'answers-differ']);
  });

  it('are sent once when they are the same', async () => {
    const { forged, verdict } = await play(id, () => answered(401, 'no'));
    expect([forged.length, verdict]).toEqual([5, 'pass']);
  });
});
