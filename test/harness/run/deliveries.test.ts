import { expect, it } from 'vitest';
import type { Assembled } from '../../../harness/run/assemble.ts';
import { DEFAULT_LIMITS } from '../../../harness/run/context.ts';
import { Deliveries } from '../../../harness/run/deliveries.ts';
import type { Lane, SendOptions } from '../../../harness/run/lane.ts';
import { isSending, planScenarios } from '../../../harness/run/plan.ts';
import type { Trial } from '../../../harness/run/trial.ts';
import type { Attempt, TransportErrorKind } from '../../../harness/transport/index.ts';
import type { Change } from '../../../scenarios/index.ts';
import { answered, contextOf, partnerAt } from './parts.ts';

function unanswered(kind: TransportErrorKind): Attempt {
  return { ...answered(200), answer: null, error: { kind, phase: 'connect', code: kind, message: kind } };
}

/**
 * Runs each scenario on its own lane. Returns the probes that were sent, with their options, the errors, and all
 * trials.
 */
async function play(
  ids: readonly string[],
  answer: (change: Change, options: SendOptions) => Attempt,
  endpoint: { readonly isSlow?: boolean; send?(assembled: Assembled): Attempt } = {},
) {
  const partner = partnerAt('https://127.0.0.1:9/hooks');
  const selection = { suites: [], scenarios: ids, greps: [], shard: null };
  const features = ['hmac', 'api-key', 'https', 'mtls'] as const;
  const planned = planScenarios({ features, isExposed: false }, selection).filter(isSending);
  const context = contextOf(partner, { ...DEFAULT_LIMITS, concurrency: ids.length });
  if (endpoint.isSlow === true) context.pacing.pace.recordAnswer(3000, true);
  context.pacing.startConcurrency(false);
  const probes: (SendOptions & { readonly of: string })[] = [];
  let sent = 0;
  const lane: Lane = {
    send: async (assembled, options = {}) => {
      const { change } = assembled;
      // Waits for one turn of the event loop, so that scenarios on several lanes overlap.
      await new Promise(setImmediate);
      sent++;
      if (endpoint.send !== undefined) return endpoint.send(assembled);
      const of = change.sign !== undefined ? 'signature' : change.connect?.clientCertificate;
      if (of === undefined) return answered(200);
      probes.push({ ...options, of: String(of) });
      return answer(change, options);
    },
    close: () => {},
  };
  const settled: Trial[] = [];
  const lanes = { at: () => lane, close: () => {} };
  const handlers = { onSettled: (trial: Trial) => settled.push(trial), onDecided: () => {} };
  await new Deliveries(context, lanes, handlers).send(planned);
  const errors = settled.map(({ probes: sent }) => sent.map(({ attempt }) => attempt.error?.kind));
  return { probes, errors, sent, settled };
}

const MISSING = 'signature/missing';
const SELF_SIGNED = 'mtls/tls-1-3-self-signed';

it('repeats a probe whose connection is refused once, alone and on a new connection', async () => {
  // The probe on the open connection stops the receiver, so the automatic repetition is refused.
  const { probes, errors } = await play([MISSING], (_change, { fresh }) =>
    unanswered(fresh === true ? 'reset' : 'refused'),
  );
  expect(probes.map(({ fresh }) => fresh)).toEqual([false, true]);
  expect(errors).toEqual([['reset']]);
});

it('takes a closed connection for the end of the process if the next connection is refused', async () => {
  let last: 'probe' | 'refused' | 'other' = 'other';
  const { settled } = await play([MISSING], () => answered(200), {
    send({ change }) {
      const isAfterProbe = last === 'probe';
      last = change.sign !== undefined ? 'probe' : isAfterProbe ? 'refused' : 'other';
      return last === 'other' ? answered(200) : unanswered(last === 'probe' ? 'reset' : 'refused');
    },
  });
  expect(settled.map(({ killed }) => killed)).toEqual(['refused']);
});

it('accepts a reset as the answer when nothing else was in flight', async () => {
  const { probes, errors } = await play([MISSING], () => unanswered('reset'));
  expect(probes).toHaveLength(1);
  expect(errors).toEqual([['reset']]);
});

it('accepts resets as the answer where they are expected, after a repetition, when others were in flight', async () => {
  const { probes } = await play([SELF_SIGNED, 'mtls/tls-1-3-issued-by-client'], () => unanswered('reset'));
  expect(probes.map(({ of }) => of).toSorted()).toEqual([
    'issued-by-client',
    'issued-by-client',
    'self-signed',
    'self-signed',
  ]);
});

it('does not accept them when one of the others failed without an explanation', async () => {
  const { probes } = await play([SELF_SIGNED, MISSING], () => unanswered('reset'));
  const ofClient = probes.filter(({ of }) => of === 'self-signed');
  expect(ofClient.map(({ fresh }) => fresh)).toEqual([false, false, true, true]);
});

const ALONE = ['malformed/pollution-proto', 'malformed/pollution-envelope', 'malformed/pollution-constructor'];

it('shares the controls of checks that run alone at a slow endpoint', async () => {
  const send = () => answered(200);
  const [fast, slow] = [await play(ALONE, send, { send }), await play(ALONE, send, { send, isSlow: true })];
  // The fast run sends one control before each check and one after the last, the slow run one before and one after all
  // of them.
  expect(fast.sent - slow.sent).toBe(2);
  for (const { settled } of [fast, slow]) {
    expect(settled.map(({ planned }) => planned.scenario.id).toSorted()).toEqual(ALONE.toSorted());
    expect(settled.every(({ before, after }) => before !== null && after !== null)).toBe(true);
  }
});

it('finds the check that stops a slow endpoint among those that share a control', async () => {
  // The receiver answers the two deliveries after the payload, and refuses the next four connections.
  let sinceStop = Number.POSITIVE_INFINITY;
  const { settled } = await play(ALONE, () => answered(200), {
    isSlow: true,
    send({ prepared }) {
      sinceStop = Buffer.from(prepared.body).includes('"constructor"') ? 0 : sinceStop + 1;
      return sinceStop > 2 && sinceStop <= 6 ? unanswered('refused') : answered(200);
    },
  });
  const stopping = settled.filter(({ killed }) => killed !== null);
  expect(stopping.map(({ planned }) => planned.scenario.id)).toEqual(['malformed/pollution-constructor']);
  expect(settled.map(({ planned }) => planned.scenario.id).toSorted()).toEqual(ALONE.toSorted());
});
