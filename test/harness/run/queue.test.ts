import { expect, it } from 'vitest';
import { planScenarios } from '../../../harness/plan/plan.ts';
import { createContext, DEFAULT_LIMITS } from '../../../harness/run/context.ts';
import type { Lane, SendOptions } from '../../../harness/run/lane.ts';
import { runQueue } from '../../../harness/run/queue.ts';
import { isSending, type Trial } from '../../../harness/run/trial.ts';
import type { Attempt, TransportErrorKind } from '../../../harness/sender/index.ts';
import { answered, NOW, partnerAt } from './parts.ts';

function unanswered(kind: TransportErrorKind): Attempt {
  return { ...answered(200), answer: null, error: { kind, phase: 'connect', code: kind, message: kind } };
}

/** Plays one probe with one delivery in flight, and gives what was sent and how it was settled. */
async function play(answer: (options: SendOptions) => Attempt) {
  const partner = partnerAt();
  const selection = { suites: [], scenarios: ['signature/missing'], greps: [], shard: null };
  const planned = planScenarios({ features: ['hmac', 'api-key'], readableOnTheWay: false }, selection).filter(
    isSending,
  );
  const context = createContext({
    partner,
    seed: 'seed',
    now: NOW,
    limits: { ...DEFAULT_LIMITS, concurrency: 1 },
    emit: () => {},
    signal: new AbortController().signal,
    onSignature: () => {},
  });
  const probes: SendOptions[] = [];
  const lane: Lane = {
    send: async ({ change }, options = {}) => {
      if (change.sign === undefined) return answered(200);
      probes.push(options);
      return answer(options);
    },
    close: () => {},
  };
  const settled: Trial[] = [];
  await runQueue(context, [lane], lane, planned, (trial) => settled.push(trial));
  return { probes, errors: settled.map(({ evidence }) => evidence.probes.map(({ attempt }) => attempt.error?.kind)) };
}

it('tries a probe that met nobody once more, alone and on a connection of its own', async () => {
  // On the kept connection the probe stopped the receiver, and what was sent again by itself found nobody there.
  const { probes, errors } = await play(({ fresh }) => unanswered(fresh === true ? 'reset' : 'refused'));
  expect(probes.map(({ fresh }) => fresh)).toEqual([false, true]);
  expect(errors).toEqual([['reset']]);
});

it('believes a connection that was closed when nothing else was in flight', async () => {
  const { probes, errors } = await play(() => unanswered('reset'));
  expect(probes).toHaveLength(1);
  expect(errors).toEqual([['reset']]);
});
