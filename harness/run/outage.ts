/** Resolves outages: waits for the receiver, and finds the delivery that stopped it. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { isAccepted } from '../judge/index.ts';
import type { RunContext } from './context.ts';
import type { Stop } from './facts.ts';
import type { Lane } from './lane.ts';
import { LATE_WORK_MS } from './lane-pass.ts';
import { failureGroupOf, OUTAGE_MS_EVERYWHERE } from './pace.ts';
import { rateWindowMs } from './repetition.ts';
import { type OutageSign, outageAfter, sendControl } from './send.ts';
import type { RateLimit } from './throttling.ts';
import { otherAddressFor, recordRetry, reusableControl, type Trial, tryScenario } from './trial.ts';

/**
 * After an outage of at least this length, a delivery that was alone in flight is not repeated to confirm that it is
 * the cause.
 */
const LONG_OUTAGE_MS = 5000;

/** Factor for the recovery time of a receiver that accepts connections but does not answer. It may be busy. */
const PATIENCE_WITH_BUSY = 3;

/** The trials that may be the cause of an outage. */
interface Outage {
  readonly suspects: readonly Trial[];
  /** Whether the suspect was the only delivery in flight. */
  readonly wasAlone: boolean;
  /** Trials that settled shortly before. */
  readonly recent: readonly Trial[];
}

/**
 * Resolves an outage. If the receiver comes back, each suspect is repeated alone, and the one that stops it again is
 * the cause. If none does, work that continues after an answer may be the cause, so the suspects and the deliveries
 * that were answered shortly before are repeated in ever smaller groups. If the receiver does not come back, a single
 * suspect is the cause; if there are several, the cause remains unknown. The deliveries that were answered shortly
 * before are recorded, because work for them may be the cause. The run then stops.
 *
 * @returns the final trial of every suspect, and of a cause among the others; if the run is interrupted, only of
 * those resolved before
 */
export async function resolveOutage(
  context: RunContext,
  lane: Lane,
  { suspects, wasAlone, recent }: Outage,
): Promise<readonly Trial[]> {
  const { facts, pacing, signal } = context;
  const startMs = Math.min(...suspects.map((suspect) => suspect.startMs));
  const inFlight = idsInFlight(suspects);
  const outage = suspects.find((suspect) => suspect.outage !== null)?.outage ?? { sign: 'no answer', looksDead: false };
  const { isSerial: wasSerial } = pacing;
  pacing.continueSerially();
  if (pacing.failureGroups.stoppedMs >= OUTAGE_MS_EVERYWHERE) {
    // Checks have stopped the receiver for so long that the verdict is certain. Another outage would add nothing to it.
    const reason = `the receiver stopped answering again (${outage.sign})`;
    facts.recordOutage({ inFlight, culprit: null, recovered: null, ...outage }, { code: 'receiver-down', reason });
    return suspects;
  }
  const isRefusing = suspects.some((suspect) => suspect.outage !== null && statusAfter(suspect) === 503);
  const maxMs = isRefusing ? rateWindowMs(context) : recoveryMs(context, outage);
  reportWait(context, outage, inFlight, maxMs);
  const hasRecovered = await waitForRecovery(context, lane, outage, maxMs);
  if (signal.aborted) return [];
  if (!hasRecovered && isRefusing) {
    recordRefusal(context, 503, inFlight);
    return suspects;
  }
  const downMs = performance.now() - startMs;
  const [only] = suspects;
  const single = suspects.length === 1 && only !== undefined ? only : null;
  if (!hasRecovered) {
    const culprit = single === null ? null : (inFlight[0] ?? '');
    const late = outage.outcome === 'closed' ? recent.slice(-MAX_LATE_SUSPECTS).map(idOf) : [];
    const stop = stopSince(inFlight, outage.sign, late.length > 0);
    facts.recordOutage({ inFlight, recent: late, culprit, recovered: false, ...outage }, stop);
    return single !== null && hasProbe(single) ? [killedBy(single, outage, late.length > 0)] : suspects;
  }
  if (wasAlone && single !== null && recent.length === 0 && downMs >= LONG_OUTAGE_MS && hasProbe(single)) {
    recordCulprit(context, single, downMs);
    pacing.resumeConcurrency(wasSerial);
    facts.recordOutage({ inFlight, culprit: idOf(single), recovered: true, ...outage });
    return [killedBy(single, outage)];
  }
  const repeated = await repeatSuspects(context, lane, suspects);
  if (repeated.isInterrupted) return repeated.settled;
  const late =
    repeated.culprit === null && repeated.stop === null && outage.outcome === 'closed'
      ? await findLateCulprit(context, lane, [...recent, ...suspects.filter(hasProbe)])
      : null;
  const { settled, culprit, stop } = late === null ? repeated : withCulprit(repeated.settled, late);
  // An endpoint that leaves some deliveries unanswered looks like an outage if it does so twice in a row.
  if (culprit === null && pacing.pace.isUnreliable()) pacing.resumeConcurrency(wasSerial);
  else facts.recordOutage({ inFlight, culprit, recovered: stop === null, ...outage }, stop);
  return settled;
}

/** Repeats each suspect alone. Stops when the receiver does not come back. */
async function repeatSuspects(context: RunContext, lane: Lane, suspects: readonly Trial[]) {
  const settled: Trial[] = [];
  let culprit: string | null = null;
  let stop: Stop | null = null;
  for (const suspect of suspects) {
    if (stop !== null) {
      settled.push(suspect);
      continue;
    }
    recordRetry(context, suspect);
    let again = await tryScenario(context, lane, suspect.planned, null, true);
    const isFirst = suspect === suspects[0];
    // The work for the previous suspect may have continued, and stopped the receiver.
    if (!isFirst && again.outage?.outcome === 'closed' && (await waitForRecovery(context, lane, again.outage))) {
      again = await tryScenario(context, lane, suspect.planned, null, true);
    }
    if (context.signal.aborted) return { settled, culprit, stop, isInterrupted: true };
    if (again.outage === null || !hasProbe(again)) {
      settled.push(again);
      continue;
    }
    culprit = idOf(suspect);
    settled.push(killedBy(again, again.outage));
    context.emit({ type: 'notice', message: `${culprit} stops the receiver: confirmed by repeating it alone` });
    const isUp = await waitForRecovery(context, lane, again.outage);
    recordCulprit(context, again, performance.now() - again.startMs);
    if (!isUp) stop = stopSince([culprit], again.outage.sign);
  }
  return { settled, culprit, stop, isInterrupted: false };
}

/** Maximum number of latest deliveries among which to search for one with late work. */
const MAX_LATE_SUSPECTS = 64;

/**
 * Finds a delivery that stops the receiver after its answer: sends groups of suspects and waits. Each group is half of
 * the previous one. Returns the trial with the sign of the outage; null if none stops the receiver, or not every time.
 */
async function findLateCulprit(
  context: RunContext,
  lane: Lane,
  suspects: readonly Trial[],
): Promise<{ readonly trial: Trial; readonly outage: OutageSign; readonly isUp: boolean } | null> {
  let group = suspects.slice(-MAX_LATE_SUSPECTS);
  let tried = await sendAndWatch(context, lane, group);
  while (tried?.isUp === true && !context.signal.aborted) {
    group = group.slice(0, tried.trials.length);
    const [trial] = tried.trials;
    if (group.length === 1 && trial !== undefined) {
      context.emit({ type: 'notice', message: `${idOf(trial)} stops the receiver after its answer` });
      recordCulprit(context, trial, tried.downMs);
      return { trial, ...tried };
    }
    const half = Math.ceil(group.length / 2);
    const first = await sendAndWatch(context, lane, group.slice(0, half));
    tried = first ?? (await sendAndWatch(context, lane, group.slice(half)));
    group = first === null ? group.slice(half) : group.slice(0, half);
  }
  return null;
}

/**
 * Sends these checks one after another, until the receiver stops answering or the time for late work is over. Returns
 * the trials until then, and whether the receiver came back; null if it did not stop.
 */
async function sendAndWatch(context: RunContext, lane: Lane, group: readonly Trial[]) {
  const trials: Trial[] = [];
  const stoppedBy = async (outage: OutageSign) => {
    const startMs = performance.now();
    const isUp = await waitForRecovery(context, lane, outage);
    return { trials, outage, isUp, downMs: performance.now() - startMs };
  };
  for (const { planned } of group) {
    const last = trials.at(-1);
    const trial = await tryScenario(context, lane, planned, last === undefined ? null : reusableControl(last));
    if (context.signal.aborted) return null;
    trials.push(trial);
    if (trial.outage !== null) return stoppedBy(trial.outage);
  }
  const untilMs = performance.now() + LATE_WORK_MS;
  while (performance.now() < untilMs && !context.signal.aborted) {
    await delay(MIN_POLL_MS);
    const outage = outageAfter(await sendControl(context, lane, 'control after the answers', { fresh: true }));
    if (outage?.outcome === 'closed') return stoppedBy(outage);
  }
  return null;
}

/** Replaces the trial of a suspect with the one that stopped the receiver, or adds it. */
function withCulprit(
  settled: readonly Trial[],
  { trial, outage, isUp }: { readonly trial: Trial; readonly outage: OutageSign; readonly isUp: boolean },
) {
  const culprit = idOf(trial);
  return {
    settled: [...settled.filter((one) => idOf(one) !== culprit), killedBy(trial, outage)],
    culprit,
    stop: isUp ? null : stopSince([culprit], outage.sign),
  };
}

/** Returns the ids of the suspects that may have reached the receiver, or of all suspects if none has. */
function idsInFlight(suspects: readonly Trial[]): string[] {
  const reached = suspects.filter(mayHaveReached);
  return (reached.length > 0 ? reached : suspects).map(idOf);
}

function reportWait({ emit }: RunContext, { sign }: OutageSign, inFlight: readonly string[], maxMs: number): void {
  const during = inFlight.slice(0, 3).join(', ') + (inFlight.length > 3 ? ' and others' : '');
  const limit = `up to ${Math.round(maxMs / 1000)} s for it to come back`;
  emit({ type: 'notice', message: `the receiver stopped answering (${sign}) during ${during}; waiting ${limit}` });
}

function recordCulprit({ pacing }: RunContext, { planned: { suite, scenario } }: Trial, downMs: number): void {
  pacing.failureGroups.recordStop(scenario.id, suite, failureGroupOf(scenario), downMs);
}

function idOf({ planned }: Trial): string {
  return planned.scenario.id;
}

const LATE = ', or work for an earlier one';

function stopSince(inFlight: readonly string[], sign: string, mayBeLate = false): Stop {
  const [first = ''] = inFlight;
  const since =
    inFlight.length === 1
      ? `has been down since ${first}`
      : `is down: one of ${inFlight.length} deliveries in flight stopped it${mayBeLate ? LATE : ''}`;
  return { code: 'receiver-down', reason: `the receiver ${since} (${sign})` };
}

function killedBy(trial: Trial, { sign }: OutageSign, mayBeLate = false): Trial {
  const killed = mayBeLate ? `${sign}; work for one of the deliveries before it may also be the cause` : sign;
  return { ...trial, outage: null, killed };
}

/**
 * Returns whether a delivery of a trial may have reached the receiver. If it was sent again on a new connection, the
 * first attempt may have arrived although the second was refused.
 */
function mayHaveReached({ probes }: Trial): boolean {
  return probes.some(({ attempt }) => attempt.error?.kind !== 'refused' || attempt.sentAgain === true);
}

function hasProbe({ probes }: Trial): boolean {
  return probes.length > 0;
}

/** Returns the status that the last plain valid delivery of a trial got. */
function statusAfter({ before, after }: Trial): number | undefined {
  return (after ?? before).answer?.status;
}

/**
 * Returns whether an endpoint that answers 429 rejects every valid delivery for longer than a rate limit usually lasts.
 * A second address must get 429, too, because the endpoint may have locked out the first one after the forgeries. False
 * if no second address is available.
 */
export async function isRefusedForGood(
  context: RunContext,
  lane: Lane,
  { stated, waitedMs }: RateLimit,
): Promise<boolean> {
  const localAddress = otherAddressFor(context.partner);
  if (localAddress === undefined || (stated.endsInMs ?? 0) > rateWindowMs(context)) return false;
  const isLimitedThere = async () => {
    const options = { localAddress, once: true };
    const { attempt } = await sendControl(context, lane, 'control from another address', options);
    return attempt.answer?.status === 429;
  };
  if (!(await isLimitedThere())) return false;
  context.emit({
    type: 'notice',
    message: 'the endpoint answers 429 to valid deliveries; waiting for its limit to end',
  });
  if (await waitForRecovery(context, lane, null, Math.max(0, rateWindowMs(context) - waitedMs))) return false;
  return !context.signal.aborted && (await isLimitedThere());
}

/** Records that an endpoint is up but no longer accepts valid deliveries. Stops the run. */
export function recordRefusal(context: RunContext, status: 429 | 503, inFlight: readonly string[]): void {
  const seconds = Math.round(rateWindowMs(context) / 1000);
  const sign = `every plain valid delivery got ${status} for ${seconds} s`;
  const reason = `the endpoint no longer accepts valid deliveries: ${sign}`;
  context.facts.recordOutage(
    { inFlight, culprit: null, recovered: false, sign, looksDead: true, outcome: `${status}` },
    { code: 'receiver-down', reason },
  );
}

const MIN_POLL_MS = 50;
const MAX_POLL_MS = 500;

function recoveryMs({ limits }: RunContext, outage: OutageSign | null): number {
  return limits.recoveryMs * (outage?.outcome === 'silence' ? PATIENCE_WITH_BUSY : 1);
}

/**
 * Waits until the plain valid delivery is accepted again. Returns false if this takes longer than `maxMs`, by default
 * the recovery time.
 */
async function waitForRecovery(
  context: RunContext,
  lane: Lane,
  outage: OutageSign | null,
  maxMs: number = recoveryMs(context, outage),
): Promise<boolean> {
  const deadline = performance.now() + maxMs;
  const maxPauseMs = Math.max(MAX_POLL_MS, maxMs / 20);
  for (let pause = MIN_POLL_MS; !context.signal.aborted; pause = Math.min(pause * 2, maxPauseMs)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    const timeoutMs = Math.max(1, Math.min(context.limits.timeoutMs, left));
    const control = await sendControl(context, lane, 'recovery check', {
      fresh: true,
      timeoutMs,
      once: outage === null,
    });
    if (isAccepted(control.attempt)) return true;
    await delay(Math.min(pause, Math.max(0, deadline - performance.now())));
  }
  return false;
}
