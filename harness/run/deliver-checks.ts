/** All deliveries of a run, from the first delivery to the observations. */

import type { Finding } from '../diagnose/index.ts';
import { type EffectsTracker, WindowProblem } from '../effects/index.ts';
import { type EffectEvidence, PREFLIGHT_SCENARIO, STATUS_SCENARIOS } from '../judge/index.ts';
import type { TlsInspection } from '../probe/index.ts';
import { formatDuration } from '../report/index.ts';
import type { Attempt } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import { Deliveries } from './deliveries.ts';
import { checksToSend } from './estimate.ts';
import { examineHistory } from './examine-history.ts';
import { examineSlowAnswer } from './examine-refusal.ts';
import { lackOfIds } from './kit.ts';
import type { LanePool } from './lane.ts';
import type { Handlers } from './lane-pass.ts';
import {
  endsLearning,
  learnDialect,
  learningPlans,
  MIN_LEARNT_TO_SHARE,
  mustBeRepeated,
  recordRejections,
} from './learn-dialect.ts';
import { readLog } from './open-sources.ts';
import { type OtherControl, sendsRejectedField, sendsRejectedKind } from './other-control.ts';
import { isObservation, isSending, type SendingPlan } from './plan.ts';
import {
  diagnosePreflight,
  type Preflight,
  runPreflight,
  stopAfterPreflight,
  trialOf,
  trialOfPreflight,
} from './preflight.ts';
import { hasExpectedAnswers, resultOfEffects, resultOfObservation, withoutVerdict } from './results.ts';
import { rotateSecret } from './rotation.ts';
import type { RunOptions } from './run-options.ts';
import type { RunResults } from './run-results.ts';
import type { SentDelivery } from './send.ts';
import { isRestarting, reusableControl, type Trial } from './trial.ts';

/** The result of the first deliveries. */
export interface OpenedEndpoint {
  readonly preflight: Preflight;
  readonly accepted: boolean;
  /** Why the first deliveries were not accepted. Null if they were accepted. */
  readonly finding: Finding | null;
  /** The context for the deliveries that follow. Its controls are of a kind that the endpoint accepts. */
  readonly context: RunContext;
  /** The first control. Null if nothing more can be sent. */
  readonly control: SentDelivery | null;
}

/**
 * Sends the first deliveries. If they are not accepted, determines why. Returns null if the run has nothing to deliver.
 */
export async function openEndpoint(
  context: RunContext,
  results: RunResults,
  lanes: LanePool,
  inspection: TlsInspection | null,
): Promise<OpenedEndpoint | null> {
  const { facts, signal } = context;
  const sends = results.open().some((planned) => isSending(planned) || isObservation(planned.scenario));
  if (!sends || facts.stopped !== null || signal.aborted) return null;
  for (const planned of results.open()) {
    const lack = lackOfIds(context.partner, planned.scenario);
    if (lack !== null) results.report(withoutVerdict(planned, 'samples-too-short', lack));
  }
  const preflight = await runPreflight(context, lanes.at(0));
  const opened = { preflight, context, finding: null, control: null };
  if (signal.aborted) return { ...opened, accepted: preflight.passed };
  const { finding, other, forgeries } = preflight.passed
    ? await examineSlowAnswer(context, lanes, preflight.delivery)
    : await diagnosePreflight(context, lanes, preflight, inspection);
  if (signal.aborted) return { ...opened, accepted: false };
  if (other !== null) {
    results.reportFailure(other.context, PREFLIGHT_SCENARIO, (planned) => trialOfPreflight(planned, preflight));
    leaveOutRejected(other, results);
    return { ...opened, accepted: true, context: other.context, control: other.delivery };
  }
  if (preflight.passed && finding === null) return { ...opened, accepted: true, control: preflight.delivery };
  facts.recordStop(stopAfterPreflight(preflight, finding));
  for (const { id, sent } of forgeries) results.reportFailure(context, id, (planned) => trialOf(planned, sent));
  const own = results.open().find(({ scenario }) => scenario.id === PREFLIGHT_SCENARIO);
  if (own !== undefined && isSending(own)) results.reportTrial(context, trialOfPreflight(own, preflight));
  return { ...opened, accepted: false, finding };
}

/**
 * Reports the checks that send a kind of notification that the endpoint rejects. They are not sent, because the answers
 * would allow no conclusion.
 */
function leaveOutRejected({ context, rejected, finding }: OtherControl, results: RunResults): void {
  const reason = `${finding.title}, so this check was not sent`;
  const checks = [PREFLIGHT_SCENARIO];
  for (const planned of results.open()) {
    if (isSending(planned) && sendsRejectedKind(context, planned, rejected)) {
      results.report(withoutVerdict(planned, 'kind-rejected', reason));
    } else if (isSending(planned) && planned.suite === 'valid' && sendsRejectedField(context, planned, rejected)) {
      checks.push(planned.scenario.id);
    }
  }
  context.facts.recordCause({ finding, checks });
}

/** Sends and judges everything that follows the first accepted delivery, which is passed as `control`. */
export async function deliverChecks(
  { context, preflight }: OpenedEndpoint,
  control: SentDelivery,
  results: RunResults,
  lanes: LanePool,
  sources: RunOptions['evidenceSources'],
): Promise<void> {
  const { facts, pacing } = context;
  pacing.timeLeft.begin(checksToSend(context, results.open()));
  announceTime(context, control.attempt);
  const onDecided = (planned: SendingPlan, reason: string) =>
    results.report(withoutVerdict(planned, 'decided-early', reason));
  const sending = results.open().filter(isSending);
  const learnt = await sendLearningChecks(context, lanes, results, control, onDecided);
  facts.recordDialect(learnDialect(control.attempt, learnt, context.partner.signing?.scheme !== undefined));
  const settled = learnt.filter((trial) => !mustBeRepeated(trial));
  for (const trial of settled) {
    if (sending.includes(trial.planned)) results.reportTrial(context, trial);
    else recordRejections(context, trial);
  }
  pacing.startConcurrency(learnt.length >= MIN_LEARNT_TO_SHARE);
  const rest = sending.filter((planned) => !settled.some((trial) => trial.planned === planned));
  const held: Trial[] = [];
  const onSettled = (trial: Trial) => {
    if (trial.restartFailed) return;
    // A trial whose late work stopped the receiver is settled a second time.
    const earlier = held.findIndex(({ planned }) => planned === trial.planned);
    if (earlier !== -1) held.splice(earlier, 1);
    if (trial.effects !== undefined && hasExpectedAnswers(context, trial)) held.push(trial);
    else results.reportTrial(context, trial);
  };
  // The effects of all other checks are read before the restarts: a receiver may lose them when it restarts.
  const isOfStep = ({ scenario }: SendingPlan) => scenario.step !== undefined;
  const others = rest.filter((one) => !isOfStep(one));
  for (const part of [others.filter((one) => !isRestarting(one)), others.filter(isRestarting)]) {
    if (part.length > 0) await new Deliveries(context, lanes, { onSettled, onDecided }).send(part);
    else if (facts.seen.effects !== undefined) continue;
    await reportEffects(context, results, held.splice(0), sources);
  }
  await rotate(context, lanes, results, rest.filter(isOfStep), { onSettled, onDecided }, sources);
  await examineAcceptedForgeries(context, lanes, results);
  await readLog(context);
  reportWrongStatuses(context, results, preflight);
  if (context.signal.aborted) return;
  const isAlone = !results.plan.some((planned) => planned.obstacle === null && isSending(planned));
  for (const planned of results.open()) {
    if (isObservation(planned.scenario)) results.report(resultOfObservation(context, facts.seen, planned, isAlone));
  }
}

/** Sends, one after another, the checks from which the run learns the dialect of the endpoint. */
async function sendLearningChecks(
  context: RunContext,
  lanes: LanePool,
  results: RunResults,
  control: SentDelivery,
  onDecided: Handlers['onDecided'],
): Promise<Trial[]> {
  const learnt: Trial[] = [];
  let before: SentDelivery | null = { ...control, label: 'control before' };
  for (const group of learningPlans(context, results.open())) {
    for (const planned of group) {
      const handlers = { onSettled: (trial: Trial) => learnt.push(trial), onDecided };
      await new Deliveries(context, lanes, handlers).send([planned], before);
      const last = learnt.at(-1);
      before = last === undefined ? null : reusableControl(last);
      if (last === undefined || endsLearning(last)) break;
    }
  }
  return learnt;
}

/** A run that is expected to take longer than this prints a notice at the start. */
const LONG_RUN_MS = 60_000;

function announceTime({ pacing, limits, emit }: RunContext, { timings }: Attempt): void {
  const leftMs = pacing.timeLeft.leftMs(pacing.isSerial) ?? 0;
  if (leftMs < LONG_RUN_MS) return;
  const why = limits.intervalMs === null ? `the first answer took ${formatDuration(timings.totalMs)}` : '`--max-rate`';
  emit({ type: 'notice', message: `${why}: the run will take about ${formatDuration(leftMs)}` });
}

/**
 * Runs the checks of a rotation. They are sent after all others, because the rotation changes which deliveries the
 * receiver accepts.
 */
async function rotate(
  context: RunContext,
  lanes: LanePool,
  results: RunResults,
  sending: readonly SendingPlan[],
  handlers: Handlers,
  { rotation, commandVariables: variables }: NonNullable<RunOptions['evidenceSources']> = {},
): Promise<void> {
  const isPlanned = results.open().some(({ scenario }) => scenario.needs?.includes('rotation'));
  if (rotation === undefined || !isPlanned) return;
  const onUnreached = (planned: SendingPlan, reason: string) =>
    results.report(withoutVerdict(planned, 'not-switched', reason));
  const source = { ...rotation, variables };
  context.facts.recordRotation(await rotateSecret(context, lanes, sending, source, { ...handlers, onUnreached }));
}

/** Determines whether the accepted forgeries are accepted only after a valid delivery. */
async function examineAcceptedForgeries(context: RunContext, lanes: LanePool, results: RunResults): Promise<void> {
  if (context.facts.stopped !== null) return;
  const forged = results
    .reported()
    .filter(({ verdict, decidedBy }) => verdict === 'fail' && decidedBy === 'forgery-accepted')
    .map(({ id }) => id);
  const finding = await examineHistory(context, lanes.at(0), forged);
  if (finding !== null) context.facts.recordCause({ finding, checks: forged });
}

/**
 * Waits for the effects of these trials and reports the result of each. The first call also records what the effects
 * window shows about all other deliveries.
 */
async function reportEffects(
  context: RunContext,
  results: RunResults,
  held: readonly Trial[],
  sources: RunOptions['evidenceSources'],
): Promise<void> {
  const { facts, signal } = context;
  const { effects } = context.sources;
  if (effects === null || signal.aborted) return;
  const problem = await effects.settle({ isAfterRestart: held.some(({ planned }) => isRestarting(planned)) });
  if (facts.seen.effects === undefined) facts.recordFromSources({ effects: effects.audit() });
  for (const trial of held) {
    const evidence = problem ?? (await effectEvidenceOf(trial, effects, sources?.effects?.deadlineMs ?? 0));
    results.report(resultOfEffects(context, trial, evidence, results.keepsEvidence));
  }
}

async function effectEvidenceOf(
  { effects: awaited = [] }: Trial,
  effects: EffectsTracker,
  deadlineMs: number,
): Promise<readonly EffectEvidence[] | WindowProblem> {
  try {
    return await Promise.all(
      awaited.map(async ({ label, id, transaction, expect }) => ({
        label,
        expect,
        ...effects.effectsOf(id),
        deadlineMs,
        ...(expect.current !== undefined && transaction !== null && { current: await effects.currentOf(transaction) }),
      })),
    );
  } catch (error) {
    if (error instanceof WindowProblem) return error;
    throw error;
  }
}

/** Reports statuses that are wrong in every answer, even if the check for them was not selected. */
function reportWrongStatuses(context: RunContext, results: RunResults, preflight: Preflight): void {
  if (!results.plan.some(({ scenario }) => scenario.id === PREFLIGHT_SCENARIO)) {
    results.reportFailure(context, PREFLIGHT_SCENARIO, (planned) => trialOfPreflight(planned, preflight));
  }
  for (const id of Object.values(STATUS_SCENARIOS)) {
    results.addFailure(id, (planned) => resultOfObservation(context, context.facts.seen, planned));
  }
}
