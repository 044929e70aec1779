/** The deliveries of a run: concurrent scenarios on lanes, exclusive ones alone, outages, repeated trials. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { isAccepted } from '../judge/index.ts';
import { isPassExhausted, type RunContext, silenceStop } from './context.ts';
import type { Lane } from './lane.ts';
import type { SendingPlan } from './plan.ts';
import { GATEWAY_ERRORS, type OutageSign, type SentDelivery, sendControl } from './send.ts';
import { recordRetry, reusableControl, type Trial, tryScenario } from './trial.ts';

/** So many scenarios in a row whose controls get 429 stop the run. */
const MAX_RATE_LIMITED = 3;

export async function runDeliveries(
  context: RunContext,
  lanes: readonly [Lane, ...Lane[]],
  sending: readonly SendingPlan[],
  onSettled: (trial: Trial) => void,
): Promise<void> {
  let rateLimitedInARow = 0;
  const settle = (trial: Trial) => {
    onSettled(trial);
    const limited = [trial.evidence.before, trial.evidence.after].some((attempt) => attempt?.answer?.status === 429);
    rateLimitedInARow = limited ? rateLimitedInARow + 1 : 0;
    if (rateLimitedInARow < MAX_RATE_LIMITED) return;
    const reason = 'rate-limited: the endpoint answers 429 to plain valid deliveries';
    context.stopped ??= { code: 'rate-limited', reason };
  };
  const [firstLane] = lanes;
  const isLast = ({ scenario }: SendingPlan) => 'last' in scenario && scenario.last === true;
  const isAlone = ({ scenario }: SendingPlan) => 'alone' in scenario && scenario.alone === true;
  const concurrent = sending.filter((planned) => !isAlone(planned) && !isLast(planned));
  const exclusive = [...sending.filter((planned) => isAlone(planned) && !isLast(planned)), ...sending.filter(isLast)];
  for (const [queue, width] of [
    [concurrent, lanes.length],
    [exclusive, 1],
  ] as const) {
    while (queue.length > 0 && context.stopped === null && !context.signal.aborted) {
      const pass = await runLanes(context, lanes.slice(0, context.serial ? 1 : width), queue, settle);
      if (context.signal.aborted) return;
      if (pass.suspects.length > 0) {
        for (const trial of await resolveOutage(context, firstLane, pass.suspects)) onSettled(trial);
      }
      for (const trial of pass.doubtful) {
        context.stopped ??= silenceStop(context);
        if (context.stopped !== null || context.signal.aborted) return;
        recordRetry(context, trial);
        const again: Trial = await tryScenario(context, firstLane, trial.planned, null, true);
        if (context.signal.aborted) return;
        if (wasSilentWhenKept(trial) && !wasSilent(again)) context.silentWhenKept++;
        if (again.outage === null) settle(again);
        else for (const resolved of await resolveOutage(context, firstLane, [again])) onSettled(resolved);
      }
      context.stopped ??= silenceStop(context);
    }
  }
}

/** The result of one pass over the queue. */
interface Pass {
  /** Trials whose failure another delivery in flight may have caused: to be repeated alone. */
  readonly doubtful: readonly Trial[];
  /** Trials in flight when the receiver stopped answering. */
  readonly suspects: readonly Trial[];
}

/** The time that a trial took. */
type Span = Pick<Trial, 'startMs' | 'endMs'>;

/**
 * Works through the queue until it is empty, the receiver stops answering, or the run stops. Removes from the queue
 * what it tries.
 */
async function runLanes(
  context: RunContext,
  lanes: readonly Lane[],
  queue: SendingPlan[],
  onSettled: (trial: Trial) => void,
): Promise<Pass> {
  // Spans only: the answers would add up to the memory of the whole run.
  const finished: Span[] = [];
  const suspects: Trial[] = [];
  const ambiguous: Trial[] = [];
  const waitedBeforeMs = context.waitedMs;
  let halt = false;

  async function work(lane: Lane, index: number): Promise<void> {
    let before: SentDelivery | null = null;
    while (!halt && !context.signal.aborted && context.stopped === null && (index === 0 || !context.serial)) {
      if (isPassExhausted(context, waitedBeforeMs)) return;
      const planned = queue.shift();
      if (planned === undefined) return;
      const trial = await tryScenario(context, lane, planned, before);
      before = reusableControl(trial);
      // The interruption ended its deliveries, not the endpoint, so it allows no conclusion.
      if (context.signal.aborted && before === null) return;
      if (trial.outage !== null) {
        halt = true;
        suspects.push(trial);
      } else if (mayBeCausedByOthers(trial)) {
        ambiguous.push(trial);
      } else {
        finished.push({ startMs: trial.startMs, endMs: trial.endMs });
        onSettled(trial);
      }
    }
  }
  await Promise.all(lanes.map(work));

  // A failure with no other trial at the time is the scenario's own. A timeout is shared only when another lane failed
  // at the time.
  const all: Span[] = [...finished, ...ambiguous, ...suspects];
  const failures: Span[] = [...ambiguous, ...suspects];
  const unexplained: Span[] = [...ambiguous.filter((trial) => !wasClosedAsExpected(trial)), ...suspects];
  const doubtful = ambiguous.filter((trial) => {
    if (foundNoListener(trial)) return true;
    if (wasClosedAsExpected(trial)) return unexplained.some((other) => overlaps(trial, other));
    const timedOut = trial.evidence.probes.some(({ attempt }) => attempt.error?.kind === 'timeout');
    return (timedOut ? failures : all).some((other) => overlaps(trial, other));
  });
  for (const trial of ambiguous) {
    if (!doubtful.includes(trial)) onSettled(trial);
  }
  return { doubtful, suspects };
}

function overlaps(a: Span, b: Span): boolean {
  return a !== b && a.startMs < b.endMs && b.startMs < a.endMs;
}

function wasSilent({ evidence }: Trial): boolean {
  return evidence.probes.some(({ attempt }) => attempt.error?.kind === 'timeout');
}

function wasSilentWhenKept({ evidence }: Trial): boolean {
  return evidence.probes.some(({ attempt }) => attempt.error?.kind === 'timeout' && attempt.timings.reused);
}

/** Whether another delivery in flight may have caused the answer to a probe. */
function mayBeCausedByOthers(trial: Trial): boolean {
  return trial.evidence.probes.some(({ attempt, expect }) => {
    if (attempt.answer !== null) return GATEWAY_ERRORS.has(attempt.answer.status);
    const kind = attempt.error?.kind;
    if (expect.pass.includes('none')) return false;
    return kind === 'reset' || kind === 'refused' || kind === 'unreachable' || kind === 'timeout';
  });
}

/**
 * Whether nothing was listening when a probe was sent, although the control before it was accepted. Another delivery,
 * or the probe itself when it was sent a second time after its kept connection was cut off, has stopped the receiver.
 * Alone, on new connections, it shows.
 */
function foundNoListener({ evidence: { before, probes } }: Trial): boolean {
  return isAccepted(before) && probes.some(({ attempt }) => attempt.error?.kind === 'refused');
}

/**
 * Whether the only failures are closed connections, as expected, and each was made twice, as probes that change the
 * connect stage are. A delivery that broke the receiver would fail in another way itself, so without such a failure
 * there is no doubt.
 */
function wasClosedAsExpected({ deliveries, evidence }: Trial): boolean {
  const probes = deliveries.filter(({ role }) => role === 'probe');
  if (probes.some(({ assembled }) => assembled.change.connect === undefined)) return false;
  return evidence.probes.every(
    ({ attempt, expect }) =>
      attempt.answer !== null || (attempt.error?.kind === 'reset' && expect.pass.includes('closed')),
  );
}

/**
 * Resolves an outage. When the receiver is back, each suspect is repeated alone: the one that stops the receiver again
 * is the cause. When it does not come back, a single suspect is the cause; of several none can be named, and the run
 * stops.
 *
 * @returns the final trial of every suspect; after an interruption, those that were resolved before it
 */
async function resolveOutage(context: RunContext, lane: Lane, suspects: readonly Trial[]): Promise<Trial[]> {
  const inFlight = suspects.map(({ planned }) => planned.scenario.id);
  const outage = suspects.find((suspect) => suspect.outage !== null)?.outage ?? { sign: 'no answer', looksDead: false };
  const { sign } = outage;
  context.serial = true;
  context.emit({
    type: 'notice',
    message: `the receiver stopped answering (${sign}) during ${inFlight.join(', ')}; waiting for it to recover`,
  });

  const recovered = await waitForRecovery(context, lane);
  if (context.signal.aborted) return [];
  if (!recovered) {
    const [only] = suspects;
    const isSingle = suspects.length === 1 && only !== undefined;
    context.seen.outages.push({
      inFlight,
      culprit: isSingle ? (inFlight[0] ?? null) : null,
      recovered: false,
      ...outage,
    });
    context.stopped = downSince(inFlight.join(', '), sign);
    return isSingle && only.evidence.probes.length > 0 ? [killedBy(only, outage)] : [...suspects];
  }

  const settled: Trial[] = [];
  let culprit: string | null = null;
  let isUp = true;
  for (const suspect of suspects) {
    if (!isUp) {
      settled.push(suspect);
      continue;
    }
    recordRetry(context, suspect);
    const again = await tryScenario(context, lane, suspect.planned, null, true);
    if (context.signal.aborted) return settled;
    if (again.outage === null || again.evidence.probes.length === 0) {
      settled.push(again);
      continue;
    }
    culprit = suspect.planned.scenario.id;
    settled.push(killedBy(again, again.outage));
    context.emit({ type: 'notice', message: `${culprit} stops the receiver: confirmed by repeating it alone` });
    isUp = await waitForRecovery(context, lane);
    if (!isUp) context.stopped = downSince(culprit, again.outage.sign);
  }
  context.seen.outages.push({ inFlight, culprit, recovered: isUp, ...outage });
  return settled;
}

function downSince(scenarios: string, sign: string): RunContext['stopped'] {
  return { code: 'receiver-down', reason: `the receiver is down since ${scenarios} (${sign})` };
}

function killedBy(trial: Trial, { sign }: OutageSign): Trial {
  return { ...trial, outage: null, evidence: { ...trial.evidence, killed: sign } };
}

const MIN_POLL_MS = 50;
const MAX_POLL_MS = 500;

/** Waits until the plain valid delivery is accepted again, at most for the recovery time. */
async function waitForRecovery(context: RunContext, lane: Lane): Promise<boolean> {
  const deadline = performance.now() + context.limits.recoveryMs;
  for (let pause = MIN_POLL_MS; !context.signal.aborted; pause = Math.min(pause * 2, MAX_POLL_MS)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    const timeoutMs = Math.max(1, Math.min(context.limits.timeoutMs, left));
    const control = await sendControl(context, lane, 'recovery check', { fresh: true, timeoutMs });
    if (isAccepted(control.attempt)) return true;
    await delay(Math.min(pause, Math.max(0, deadline - performance.now())));
  }
  return false;
}
