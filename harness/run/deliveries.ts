/** The deliveries of a run: concurrent scenarios on lanes, exclusive ones alone, outages, repeated trials. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Expectation } from '../../scenarios/index.ts';
import { isAccepted } from '../judge/index.ts';
import { type Attempt, retryAfterMs } from '../transport/index.ts';
import { isPassExhausted, type RunContext, silenceStop } from './context.ts';
import { createKit } from './kit.ts';
import type { Lane, LanePool } from './lane.ts';
import { familyOf, OUTAGE_MS_EVERYWHERE } from './pace.ts';
import type { SendingPlan } from './plan.ts';
import { GATEWAY_ERRORS, type OutageSign, type SentDelivery, sendControl } from './send.ts';
import {
  closeTrials,
  isLast,
  isRestarting,
  leavesNothing,
  mayStayOpen,
  type OpenTrial,
  openTrial,
  otherAddressFor,
  recordRetry,
  reusableControl,
  type Trial,
  tryScenario,
} from './trial.ts';

/** So many scenarios in a row whose controls get 429 stop the run. */
const MAX_RATE_LIMITED = 3;

interface Handlers {
  readonly onSettled: (trial: Trial) => void;
  /** Called for a check that was not sent or not repeated because its family is decided. */
  readonly onDecided: (planned: SendingPlan, reason: string) => void;
}

/** `before`: an accepted control, the last delivery on the first lane, which the first check can use. */
export async function runDeliveries(
  context: RunContext,
  lanes: LanePool,
  sending: readonly SendingPlan[],
  handlers: Handlers,
  before: SentDelivery | null = null,
): Promise<void> {
  const wasStopped = context.stopped !== null;
  await sendAll(context, lanes, sending, handlers, before);
  const isLimited = !wasStopped && context.stopped?.code === 'rate-limited';
  if (isLimited && (await isRefusedForGood(context, lanes.at(0)))) reportRefusal(context, 429, []);
}

async function sendAll(
  context: RunContext,
  lanes: LanePool,
  sending: readonly SendingPlan[],
  { onSettled, onDecided }: Handlers,
  before: SentDelivery | null,
): Promise<void> {
  const { families } = context;
  let control = before;
  let rateLimitedInARow = 0;
  let lastLimited: Attempt | null = null;
  const settle = (trial: Trial) => {
    if (gotNoAnswer(trial) && !context.pace.isUnreliable())
      families.silent(idOf(trial), familyOf(trial.planned.scenario));
    onSettled(trial);
    const { before, after } = trial.evidence;
    const limited = [before, after].find((attempt) => attempt?.answer?.status === 429) ?? null;
    // Checks that share a control share its 429.
    if (limited === null) rateLimitedInARow = 0;
    else if (limited !== lastLimited) rateLimitedInARow++;
    lastLimited = limited;
    if (rateLimitedInARow < MAX_RATE_LIMITED) return;
    const reason = 'rate-limited: the endpoint answers 429 to plain valid deliveries';
    context.stopped ??= { code: 'rate-limited', reason };
  };
  const handlers = { onSettled: settle, onDecided };
  const isExclusive = ({ scenario }: SendingPlan) => 'alone' in scenario && scenario.alone === true;
  const concurrent = sending.filter((planned) => !isExclusive(planned) && !isLast(planned));
  const exclusive = [
    ...sending.filter((planned) => isExclusive(planned) && !isLast(planned)),
    ...sending.filter(isLast),
  ];
  if (context.pace.isSlow()) sortLongestFirst(context, concurrent);
  for (const [queue, isAlone] of [
    [concurrent, sending.length === 1],
    [exclusive, true],
  ] as const) {
    while (queue.length > 0 && !isOver(context)) {
      const wasAlone = isAlone || context.serial;
      const pass = await runLanes(context, lanes, wasAlone, queue, handlers, control);
      control = null;
      if (context.signal.aborted) return;
      if (pass.suspects.length > 0) {
        for (const trial of await resolveOutage(context, lanes.at(0), pass.suspects, wasAlone)) onSettled(trial);
      }
      for (const trial of pass.doubtful) {
        context.stopped ??= silenceStop(context);
        if (isOver(context)) return;
        const family = familyOf(trial.planned.scenario);
        if (gotNoAnswer(trial) && families.missing(family) === 0) {
          onDecided(trial.planned, families.sameSilence(family));
          continue;
        }
        recordRetry(context, trial);
        const again: Trial = await tryScenario(context, lanes.at(0), trial.planned, null, true);
        if (context.signal.aborted) return;
        if (wasSilentWhenKept(trial) && !wasSilent(again)) context.silentWhenKept++;
        if (again.outage === null) settle(again);
        else for (const resolved of await resolveOutage(context, lanes.at(0), [again], true)) onSettled(resolved);
      }
      await proveSilences(context, lanes, pass.unproven, handlers);
      context.stopped ??= silenceStop(context);
    }
  }
}

/** A long check that starts late keeps one lane busy while the others have nothing left to do. */
function sortLongestFirst({ partner, seed, now }: RunContext, queue: SendingPlan[]): void {
  const stepsOf = ({ scenario }: SendingPlan) =>
    'flow' in scenario ? scenario.flow(createKit(partner, seed, scenario.id, now)).length : 1;
  const steps = new Map(queue.map((planned) => [planned, stepsOf(planned)]));
  queue.sort((one, other) => (steps.get(other) ?? 0) - (steps.get(one) ?? 0));
}

function isOver({ stopped, signal }: RunContext): boolean {
  return stopped !== null || signal.aborted;
}

function idOf({ planned }: Trial): string {
  return planned.scenario.id;
}

/** Whether a probe that expects an answer got none. */
function gotNoAnswer({ evidence }: Trial): boolean {
  return evidence.probes.some(
    ({ attempt, expect }) => attempt.error?.kind === 'timeout' && !expect.pass.includes('none'),
  );
}

/**
 * Repeats checks whose wait was cut short, with the full time limit and several at once, until a family is decided; the
 * rest of the family is not repeated. One late answer shows that the family is slow, and then all of it is repeated.
 */
async function proveSilences(
  context: RunContext,
  lanes: LanePool,
  unproven: readonly Trial[],
  { onSettled, onDecided }: Handlers,
): Promise<void> {
  const { families, pace } = context;
  const familyOfTrial = ({ planned }: Trial) => familyOf(planned.scenario);
  for (const family of new Set(unproven.map(familyOfTrial))) {
    const queue = unproven.filter((trial) => familyOfTrial(trial) === family);
    while (queue.length > 0 && !isOver(context)) {
      const missing = families.missing(family);
      if (missing === 0) {
        for (const { planned } of queue.splice(0)) onDecided(planned, families.sameSilence(family));
        break;
      }
      const batch = queue.splice(0, Math.min(missing, context.serial ? 1 : pace.width()));
      const repeated = await Promise.all(
        batch.map((trial, at) => {
          recordRetry(context, trial);
          return tryScenario(context, lanes.at(at), trial.planned, null, true);
        }),
      );
      for (const again of repeated) {
        if (context.signal.aborted) return;
        if (!gotNoAnswer(again)) families.late(family);
        if (again.outage === null) onSettled(again);
        else for (const one of await resolveOutage(context, lanes.at(0), [again], batch.length === 1)) onSettled(one);
      }
    }
  }
}

/**
 * So many checks in a row on one lane share the controls around them, as long as the endpoint answers. Others send at
 * the same time, so a control after each check would not say more about it than one after a few.
 */
export const MAX_OPEN = 6;
/**
 * The same for checks that run alone, at an endpoint that is slow or far away: each of their deliveries waits for the
 * one before, so without this they would take longer than all others together. Otherwise each has separate controls.
 */
const MAX_OPEN_ALONE = 16;

/** Checks of many deliveries at a slow endpoint take minutes, and more lanes should not wait for the first to end. */
const WIDEN_EVERY_MS = 500;

/** The result of one pass over the queue. */
interface Pass {
  /** Trials whose failure another delivery in flight may have caused: to be repeated alone. */
  readonly doubtful: readonly Trial[];
  /** Trials without an answer whose wait was cut short. */
  readonly unproven: readonly Trial[];
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
  lanes: LanePool,
  isAlone: boolean,
  queue: SendingPlan[],
  { onSettled, onDecided }: Handlers,
  given: SentDelivery | null,
): Promise<Pass> {
  // Spans only: the answers would add up to the memory of the whole run.
  const finished: Span[] = [];
  const suspects: Trial[] = [];
  const ambiguous: Trial[] = [];
  const unproven: Trial[] = [];
  const waitedBeforeMs = context.waitedMs;
  let halt = false;

  /** How many checks may share controls now. */
  function most(): number {
    if (context.serial) return 1;
    if (isAlone) return context.pace.isSlow() ? MAX_OPEN_ALONE : 1;
    return context.sharesControls && !context.pace.wasSilent() ? MAX_OPEN : 1;
  }

  /** The next check of a family that is not decided. */
  function next(): SendingPlan | undefined {
    for (;;) {
      const planned = queue.shift();
      if (planned === undefined) return undefined;
      const reason = context.families.decided(planned.suite, familyOf(planned.scenario));
      if (reason === null) return planned;
      onDecided(planned, reason);
    }
  }

  function classify(trial: Trial): void {
    if (trial.outage !== null) {
      halt = true;
      suspects.push(trial);
    } else if (trial.cutShort && gotNoAnswer(trial) && !context.pace.isUnreliable()) {
      unproven.push(trial);
    } else if (mayBeCausedByOthers(trial)) {
      ambiguous.push(trial);
    } else {
      finished.push({ startMs: trial.startMs, endMs: trial.endMs });
      onSettled(trial);
    }
  }

  async function work(lane: Lane, index: number): Promise<void> {
    let before = index === 0 ? given : null;
    const open: OpenTrial[] = [];
    async function close(): Promise<void> {
      const closed = await closeTrials(context, lane, open.splice(0));
      const last = closed.at(-1);
      before = last === undefined ? null : reusableControl(last);
      // The interruption ended its deliveries, not the endpoint, so it allows no conclusion.
      if (!context.signal.aborted || before !== null) for (const trial of closed) classify(trial);
    }
    while (!halt && !isOver(context) && (index === 0 || !context.serial)) {
      if (isPassExhausted(context, waitedBeforeMs)) break;
      const planned = next();
      if (planned === undefined) break;
      const last = open.at(-1);
      // A restart is not between two controls of another check: it may fail.
      const isSeparate = isLast(planned) || isRestarting(planned);
      const mayFollow = last === undefined || (!isSeparate && (isAlone || leavesNothing(context, last, planned)));
      if (!mayFollow) await close();
      const trial: OpenTrial = await openTrial(context, lane, planned, before);
      // The run is stopped, which is the reason of every check that is left.
      if (trial.restartFailed) break;
      open.push(trial);
      if (open.length < most() && mayStayOpen(trial)) before = firstControl(trial);
      else await close();
      widen();
    }
    if (open.length > 0) await close();
  }

  const working: Promise<void>[] = [];
  function widen(): void {
    const width = isAlone || context.serial ? 1 : context.pace.width();
    while (working.length < width && queue.length > 0 && !halt)
      working.push(work(lanes.at(working.length), working.length));
  }
  widen();
  const timer = setInterval(widen, WIDEN_EVERY_MS);
  try {
    for (let joined = 0; joined < working.length; ) {
      joined = working.length;
      await Promise.all(working);
    }
  } finally {
    clearInterval(timer);
  }

  // A failure with no other trial at the time is the scenario's own. A timeout is shared only when another lane failed
  // at the time.
  const all: Span[] = [...finished, ...ambiguous, ...unproven, ...suspects];
  const failures: Span[] = [...ambiguous, ...unproven, ...suspects];
  const unexplained: Span[] = [...ambiguous.filter((trial) => !wasClosedAsExpected(trial)), ...suspects];
  const doubtful = ambiguous.filter((trial) => {
    if (foundNoListener(trial)) return true;
    if (trial.evidence.probes.some(({ attempt, expect }) => wasRepeated(attempt, expect))) return true;
    if (wasClosedAsExpected(trial)) return unexplained.some((other) => overlaps(trial, other));
    const timedOut = trial.evidence.probes.some(({ attempt }) => attempt.error?.kind === 'timeout');
    return (timedOut ? failures : all).some((other) => overlaps(trial, other));
  });
  for (const trial of ambiguous) {
    if (!doubtful.includes(trial)) onSettled(trial);
  }
  return { doubtful, unproven, suspects };
}

/** The control before a trial, for the next one that shares it. */
function firstControl({ deliveries: [control] }: Trial): SentDelivery | null {
  return control === undefined ? null : { ...control, label: 'control before' };
}

/**
 * Whether a valid delivery was accepted only when it was sent again after its kept connection was reset. A receiver
 * that had stored its id before it failed accepts the second one as a copy, so the check is repeated with a new id.
 */
function wasRepeated(attempt: Attempt, { authentic }: Expectation): boolean {
  return authentic && attempt.resetInUse === true && isAccepted(attempt);
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
    if (wasRepeated(attempt, expect)) return true;
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
async function resolveOutage(
  context: RunContext,
  lane: Lane,
  suspects: readonly Trial[],
  wasAlone: boolean,
): Promise<Trial[]> {
  const startMs = Math.min(...suspects.map((suspect) => suspect.startMs));
  const inFlight = suspects.map(({ planned }) => planned.scenario.id);
  const outage = suspects.find((suspect) => suspect.outage !== null)?.outage ?? { sign: 'no answer', looksDead: false };
  const { sign } = outage;
  const wasSerial = context.serial;
  context.serial = true;
  if (context.families.stoppedMs() >= OUTAGE_MS_EVERYWHERE) {
    // The verdict is certain, and another outage of this length would add nothing to it.
    context.seen.outages.push({ inFlight, culprit: null, recovered: null, ...outage });
    context.stopped = { code: 'receiver-down', reason: `the receiver stopped answering again (${sign})` };
    return [...suspects];
  }
  const during = inFlight.slice(0, 3).join(', ') + (inFlight.length > 3 ? ' and others' : '');
  context.emit({
    type: 'notice',
    message: `the receiver stopped answering (${sign}) during ${during}; waiting for it to recover`,
  });

  const isRefusing = suspects.some((suspect) => suspect.outage !== null && statusAfter(suspect) === 503);
  const recovered = await waitForRecovery(context, lane, outage, isRefusing ? rateWindowMs(context) : undefined);
  if (context.signal.aborted) return [];
  if (!recovered && isRefusing) {
    reportRefusal(context, 503, inFlight);
    return [...suspects];
  }
  const downMs = performance.now() - startMs;
  const recordCulprit = ({ planned: { suite, scenario } }: Trial, ms: number) =>
    context.families.stopped(scenario.id, suite, familyOf(scenario), ms);
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
    return isSingle && hasProbe(only) ? [killedBy(only, outage)] : [...suspects];
  }

  const [only] = suspects;
  if (wasAlone && suspects.length === 1 && only !== undefined && downMs >= LONG_OUTAGE_MS && hasProbe(only)) {
    recordCulprit(only, downMs);
    context.serial = wasSerial;
    context.seen.outages.push({ inFlight, culprit: idOf(only), recovered, ...outage });
    return [killedBy(only, outage)];
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
    if (again.outage === null || !hasProbe(again)) {
      settled.push(again);
      continue;
    }
    culprit = suspect.planned.scenario.id;
    settled.push(killedBy(again, again.outage));
    context.emit({ type: 'notice', message: `${culprit} stops the receiver: confirmed by repeating it alone` });
    isUp = await waitForRecovery(context, lane, again.outage);
    recordCulprit(again, performance.now() - again.startMs);
    if (!isUp) context.stopped = downSince(culprit, again.outage.sign);
  }
  // An endpoint that leaves some deliveries unanswered looks like an outage when it does so twice in a row.
  if (culprit === null && context.pace.isUnreliable()) context.serial = wasSerial;
  else context.seen.outages.push({ inFlight, culprit, recovered: isUp, ...outage });
  return settled;
}

function downSince(scenarios: string, sign: string): RunContext['stopped'] {
  return { code: 'receiver-down', reason: `the receiver is down since ${scenarios} (${sign})` };
}

function killedBy(trial: Trial, { sign }: OutageSign): Trial {
  return { ...trial, outage: null, evidence: { ...trial.evidence, killed: sign } };
}

function hasProbe({ evidence }: Trial): boolean {
  return evidence.probes.length > 0;
}

/** After an outage of this length, a delivery that was alone in flight is not repeated. */
const LONG_OUTAGE_MS = 5000;

/** A receiver that accepts connections but does not answer may be busy, and gets this many times as long to recover. */
const PATIENCE_WITH_BUSY = 3;

/** The status of the last plain valid delivery of a trial. */
function statusAfter({ evidence: { before, after } }: Trial): number | undefined {
  return (after ?? before).answer?.status;
}

/** Most limits are per minute. With the default recovery time of 10 s, this is 65 s. */
const RECOVERIES_PER_RATE_WINDOW = 6.5;

/** How long a rate limit may last. */
function rateWindowMs({ limits }: RunContext): number {
  return limits.recoveryMs * RECOVERIES_PER_RATE_WINDOW;
}

/**
 * Whether an endpoint that answers 429 accepts no valid delivery for as long as a rate limit may last. It may have
 * locked out this address because of the forgeries, so a second address must get 429 too; without a second address, the
 * answer is false.
 */
async function isRefusedForGood(context: RunContext, lane: Lane): Promise<boolean> {
  const localAddress = otherAddressFor(context.partner);
  if (localAddress === undefined) return false;
  const isLimitedThere = async () => {
    const { attempt } = await sendControl(context, lane, 'control from another address', { localAddress });
    return (
      attempt.answer?.status === 429 && (retryAfterMs(attempt.answer.headers, Date.now()) ?? 0) <= rateWindowMs(context)
    );
  };
  if (!(await isLimitedThere())) return false;
  context.emit({
    type: 'notice',
    message: 'the endpoint answers 429 to valid deliveries; waiting for its limit to end',
  });
  if (await waitForRecovery(context, lane, null, rateWindowMs(context))) return false;
  return !context.signal.aborted && (await isLimitedThere());
}

/** Records that an endpoint is up but no longer accepts valid deliveries, and stops the run. */
function reportRefusal(context: RunContext, status: 429 | 503, inFlight: readonly string[]): void {
  const seconds = Math.round(rateWindowMs(context) / 1000);
  const sign = `every plain valid delivery got ${status} for ${seconds} s`;
  context.seen.outages.push({
    inFlight: [...inFlight],
    culprit: null,
    recovered: false,
    sign,
    looksDead: true,
    outcome: `${status}`,
  });
  context.stopped = { code: 'receiver-down', reason: `the endpoint no longer accepts valid deliveries: ${sign}` };
}

const MIN_POLL_MS = 50;
const MAX_POLL_MS = 500;

/** Waits until the plain valid delivery is accepted again, by default at most for the recovery time. */
async function waitForRecovery(
  context: RunContext,
  lane: Lane,
  outage: OutageSign | null,
  maxMs: number = context.limits.recoveryMs * (outage?.outcome === 'silence' ? PATIENCE_WITH_BUSY : 1),
): Promise<boolean> {
  const deadline = performance.now() + maxMs;
  const maxPauseMs = Math.max(MAX_POLL_MS, maxMs / 20);
  for (let pause = MIN_POLL_MS; !context.signal.aborted; pause = Math.min(pause * 2, maxPauseMs)) {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    const timeoutMs = Math.max(1, Math.min(context.limits.timeoutMs, left));
    const control = await sendControl(context, lane, 'recovery check', { fresh: true, timeoutMs });
    if (isAccepted(control.attempt)) return true;
    await delay(Math.min(pause, Math.max(0, deadline - performance.now())));
  }
  return false;
}
