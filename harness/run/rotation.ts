/** Rotates the secret: switches the receiver from step to step, and runs the checks of each step. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '../../contract/index.ts';
import {
  accepted,
  type Change,
  ROTATION_STEPS,
  type RotatedSecret,
  type RotationStep,
  refused,
  type SecretSwitch,
  signedAs,
} from '../../scenarios/index.ts';
import type { RotationSource, SourceOptions } from '../effects/index.ts';
import { describeAttempt, isAccepted } from '../judge/index.ts';
import { isOver, type RunContext, runBoundMs, withStep } from './context.ts';
import { Deliveries } from './deliveries.ts';
import type { RotationOutcome } from './facts.ts';
import { createKit } from './kit.ts';
import type { Lane, LanePool } from './lane.ts';
import type { SendingPlan } from './plan.ts';
import { trialOf } from './preflight.ts';
import { COMMAND_TIMEOUTS, CommandProblem, runReceiverCommand } from './restart.ts';
import { isSilent, isUnreached, type SentDelivery, sendProbe } from './send.ts';
import type { Trial } from './trial.ts';

type SwitchSource = RotationSource & {
  /** Names of the variables that the command gets in addition to the usual ones. */
  readonly variables?: readonly string[] | undefined;
};

/** Whether a person has the receiver accept the secrets of a step, because nothing else does. */
const isByPerson = ({ command, switchTo: byFunction }: SwitchSource) =>
  command === undefined && byFunction === undefined;

interface RotationHandlers {
  readonly onSettled: (trial: Trial) => void;
  readonly onDecided: (planned: SendingPlan, reason: string) => void;
  /** Called for a check whose step was not reached. */
  readonly onUnreached: (planned: SendingPlan, reason: string) => void;
}

/** The deliveries during a switch. */
interface DeliveryCount {
  sent: number;
  readonly rejected: string[];
  unreached: number;
}

/** The last delivery with each secret in a step. */
type Answered = Readonly<Record<RotatedSecret, SentDelivery>>;

const SECRETS: readonly RotatedSecret[] = ['old', 'next'];

/** Whether a secret is valid in a step. */
const isValid = (secret: RotatedSecret, step: RotationStep) =>
  step === 'both' || (secret === 'old') === (step === 'old');

/** The secret that is valid before and after the switch to a step. */
const keptThrough = (step: RotationStep): RotatedSecret => (step === 'new' ? 'next' : 'old');

/** Whether a delivery says nothing about the secrets: the receiver may be restarting. */
const isLost = ({ attempt }: SentDelivery) => isUnreached(attempt) || isSilent({ attempt });

const accepts = (answered: Answered | undefined, secret: RotatedSecret) =>
  answered !== undefined && isAccepted(answered[secret].attempt);

/** What a person is asked to do. */
const REQUESTS: Readonly<Record<Exclude<RotationStep, 'old'>, string>> = {
  both: 'Let the receiver accept both secrets now, then press Enter',
  new: 'Let the receiver accept only the new secret now, then press Enter',
};

const NO_SWITCH =
  'the secrets of the receiver were not switched: there is no `--rotate-command`, and no terminal to ask at (`run` ' +
  'and `certify` ask). Give a command that reads HOOKPROOF_ROTATION_STEP (old, both or new)';

const NOTHING_TO_REPLAY = 'no delivery was accepted in the step old of the rotation';

/** Pauses between the deliveries during a switch, in milliseconds. */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1000;
const longer = (pauseMs: number) => Math.min(1.5 * pauseMs, MAX_PAUSE_MS);

/**
 * Number of rounds in a row in which the receiver must accept exactly the secrets of the step: one of its processes may
 * read its settings earlier.
 */
const STABLE = 2;

/** Milliseconds that a person may take for all steps together. */
const PERSON_MS = 3_600_000;

/**
 * Milliseconds after which a run ends: those of {@link runBoundMs} and, unless a limit is configured, those that a
 * rotation may take.
 */
export function boundMsOf(
  limits: RunContext['limits'],
  sources: SourceOptions | undefined,
  checks: number,
  requests: number,
): number {
  const boundMs = runBoundMs(limits, checks, requests);
  const rotation = sources?.rotation;
  return rotation === undefined || limits.maxMs !== null ? boundMs : boundMs + rotationBoundMs(rotation, limits);
}

function rotationBoundMs(
  { command, ask }: RotationSource,
  { timeoutMs, recoveryMs }: Pick<RunContext['limits'], 'timeoutMs' | 'recoveryMs'>,
): number {
  const switching = command === undefined && ask !== undefined ? PERSON_MS : 0;
  return switching + ROTATION_STEPS.length * (COMMAND_TIMEOUTS * timeoutMs + 2 * recoveryMs);
}

/**
 * Plays the three steps with the checks of each, and has the receiver accept the old secret again. A receiver that
 * accepts the same in every step was not switched, which says nothing about it. Where it was switched once, what it
 * accepts is its own doing.
 */
export async function rotateSecret(
  context: RunContext,
  lanes: LanePool,
  sending: readonly SendingPlan[],
  source: SwitchSource,
  { onSettled, onDecided, onUnreached }: RotationHandlers,
): Promise<RotationOutcome> {
  const lane = lanes.at(0);
  const byPerson = isByPerson(source);
  const played = new Map<RotationStep, Answered>();
  const held: (() => void)[] = [];
  const switches: SecretSwitch[] = [];
  let current = context;
  let problem: string | null = null;
  /** A person is not asked to set up the first step. */
  let isTouched = !byPerson;
  for (const step of ROTATION_STEPS) {
    if (isOver(context)) break;
    const during: DeliveryCount = { sent: 0, rejected: [], unreached: 0 };
    problem = await switchTo(current, lane, step, source, during);
    if (problem !== null) break;
    isTouched ||= step !== 'old';
    current = withStep(current, step, keptThrough(step));
    const answered = await deliverUntilSettled(current, lane, step, during);
    if (answered === null) break;
    played.set(step, answered);
    const isAcceptedAfter = accepts(answered, keptThrough(step));
    if (step !== 'old') switches.push({ step, ...during, isAcceptedAfter });
    else if (isAcceptedAfter) current = { ...current, delivered: answered.old.assembled.value as JsonObject };
    const plain = [keptThrough(step), ...SECRETS].find((one) => isValid(one, step) && accepts(answered, one));
    if (plain !== undefined) current = withStep(current, step, plain);
    const part = sending.filter(({ scenario }) => scenario.step === step);
    // Whether the receiver was switched at all is known after the last step.
    const later = (report: () => void) => void (step === 'old' ? report() : held.push(report));
    const handlers: RotationHandlers = {
      onSettled: (trial) => later(() => onSettled(trial)),
      onDecided: (planned, reason) => later(() => onDecided(planned, reason)),
      onUnreached: (planned, reason) => later(() => onUnreached(planned, reason)),
    };
    if (plain !== undefined) await runStep(current, lanes, part, handlers);
    else judgeStep(step, part, answered, handlers);
  }
  const advice = played.has('old') && isTouched ? await switchBack(current, lane, source) : [];
  const wasSwitched = isSwitched(played);
  const steps = [...played.keys()].filter((step) => step === 'old' || wasSwitched);
  if (wasSwitched) for (const report of held) report();
  const reason = problem ?? (wasSwitched ? null : unswitched(byPerson));
  for (const planned of reason === null || isOver(context) ? [] : sending) {
    const { step = 'old' } = planned.scenario;
    if (!played.has(step) || (step !== 'old' && !wasSwitched)) onUnreached(planned, reason ?? '');
  }
  return {
    rotation: steps.length > 0 && isTouched ? { steps, switchedBy: byPerson ? 'person' : 'command' } : null,
    switches: wasSwitched ? switches : undefined,
    advice,
  };
}

/** Whether the receiver has accepted anything else in a later step than in the first one. */
function isSwitched(played: ReadonlyMap<RotationStep, Answered>): boolean {
  const [both, end] = [played.get('both'), played.get('new')];
  const rejectsOld = end !== undefined && !accepts(end, 'old') && !isLost(end.old);
  return accepts(both, 'next') || accepts(end, 'next') || rejectsOld;
}

function unswitched(byPerson: boolean): string {
  const who = byPerson ? 'it was confirmed' : '`--rotate-command` ended with exit code 0';
  return (
    `the receiver was not switched: ${who}, and in every step it accepts the old secret and rejects the new one. ` +
    'Check that the step reaches the configuration of the receiver, and that the receiver reads it again'
  );
}

/**
 * Has the receiver accept the secrets of a step, and delivers meanwhile what is valid before and after it.
 *
 * @returns why it could not be switched, or null. Whether it was switched shows in what it accepts.
 */
async function switchTo(
  context: RunContext,
  lane: Lane,
  step: RotationStep,
  source: SwitchSource,
  during: DeliveryCount,
): Promise<string | null> {
  const byPerson = isByPerson(source);
  // The preflight has shown that the old secret is accepted.
  if (step === 'old') return byPerson ? null : switchReceiver(context, step, source, context.signal);
  if (byPerson && source.ask === undefined) return NO_SWITCH;
  let isOngoing = true;
  const switching = switchReceiver(context, step, source, context.signal).finally(() => {
    isOngoing = false;
  });
  for (let pauseMs = MIN_PAUSE_MS; isOngoing && !context.signal.aborted; pauseMs = longer(pauseMs)) {
    const sent = await deliver(context, lane, keptThrough(step), 'delivery during the switch');
    // Without a switch there is nothing to lose.
    if (isOngoing) count(during, sent);
    await Promise.race([switching, delay(pauseMs)]);
  }
  return switching;
}

/** Has the receiver accept the secrets of a step. Never rejects; returns why it could not be switched, or null. */
async function switchReceiver(
  context: RunContext,
  step: RotationStep,
  { command, variables, switchTo: byFunction, ask }: SwitchSource,
  signal: AbortSignal,
): Promise<string | null> {
  const aborted = new Promise<null>((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    if (command !== undefined) {
      const values = { HOOKPROOF_ROTATION_STEP: step };
      await runReceiverCommand('--rotate-command', { command, variables, values }, context.limits, signal);
    } else if (byFunction !== undefined) {
      const isDone = await Promise.race([byFunction(step).then(() => true), aborted]);
      if (isDone === null) return `step ${step} of the rotation: \`switchTo\` did not end`;
    } else if (step !== 'old') {
      const isConfirmed = await Promise.race([ask?.(REQUESTS[step], signal), aborted]);
      if (isConfirmed !== true) return `step ${step} of the rotation was not confirmed`;
    }
    return null;
  } catch (error) {
    const { message } = error as Error;
    return `step ${step} of the rotation: ${error instanceof CommandProblem ? message : `it failed: ${message}`}`;
  }
}

/**
 * Leaves the receiver as it was, also after an interruption. A receiver reads its settings a while after the command
 * has ended: without a wait, whatever delivers next would be rejected.
 *
 * @returns what the operator should do after the run
 */
async function switchBack(context: RunContext, lane: Lane, source: SwitchSource): Promise<string[]> {
  const { limits } = context;
  const problem = isByPerson(source)
    ? 'let the receiver accept only the old secret again, before the next run'
    : await switchReceiver(context, 'old', source, AbortSignal.timeout((COMMAND_TIMEOUTS + 1) * limits.timeoutMs));
  if (problem !== null) return [problem];
  if (context.signal.aborted) return [];
  const during = { sent: 0, rejected: [], unreached: 0 };
  const answered = await deliverUntilSettled(withStep(context, 'old', 'old'), lane, 'old', during);
  if (answered === null || accepts(answered, 'old')) return [];
  return ['after the rotation the receiver still rejects the old secret, although told to accept it'];
}

/** Delivers with both secrets until exactly those of the step are accepted, as long as for an outage. */
async function deliverUntilSettled(
  context: RunContext,
  lane: Lane,
  step: RotationStep,
  during: DeliveryCount,
): Promise<Answered | null> {
  const kept = keptThrough(step);
  const until = performance.now() + context.limits.recoveryMs;
  let inARow = 0;
  for (let pauseMs = MIN_PAUSE_MS; ; pauseMs = longer(pauseMs)) {
    const old = await deliver(context, lane, 'old', `step ${step}, old secret`);
    const next = await deliver(context, lane, 'next', `step ${step}, next secret`);
    if (context.signal.aborted) return null;
    const answered = { old, next };
    count(during, answered[kept]);
    inARow = SECRETS.every((secret) => accepts(answered, secret) === isValid(secret, step)) ? inARow + 1 : 0;
    if (inARow < STABLE && performance.now() < until) {
      await delay(inARow > 0 ? 0 : pauseMs);
      continue;
    }
    return answered;
  }
}

/** A delivery that is signed with this secret, on a new connection. */
function deliver(context: RunContext, lane: Lane, secret: RotatedSecret, label: string): Promise<SentDelivery> {
  const { partner, seed, now, onSignature } = context;
  const expect = isValid(secret, partner.rotation?.step ?? 'old') ? accepted : refused;
  const kit = createKit(partner, seed, 'rotation', now, onSignature);
  return sendProbe(context, lane, { label, change: { sign: signedAs(secret) }, expect }, kit, { fresh: true });
}

function count(during: DeliveryCount, sent: SentDelivery): void {
  const { attempt } = sent;
  const seen = describeAttempt(attempt);
  during.sent += 1;
  if (isLost(sent)) during.unreached += 1;
  else if (!isAccepted(attempt)) during.rejected.push(attempt.answer === null ? seen : `answered ${seen}`);
}

/** Runs the checks of a step, between deliveries with a secret that is valid and accepted in it. */
async function runStep(
  context: RunContext,
  lanes: LanePool,
  part: readonly SendingPlan[],
  { onSettled, onDecided, onUnreached }: RotationHandlers,
): Promise<void> {
  const canSend = ({ scenario }: SendingPlan) => scenario.replays !== true || context.delivered !== null;
  const sendable = part.filter(canSend);
  if (sendable.length > 0) await new Deliveries(context, lanes, { onSettled, onDecided }).send(sendable);
  for (const planned of part) if (!canSend(planned)) onUnreached(planned, NOTHING_TO_REPLAY);
}

/**
 * Judges the checks of a step in which no valid delivery is accepted: only what was sent already, and only what needs
 * no other delivery, which is a rejected valid one, and an accepted forgery.
 */
function judgeStep(
  step: RotationStep,
  part: readonly SendingPlan[],
  answered: Answered,
  { onSettled, onUnreached }: RotationHandlers,
): void {
  for (const planned of part) {
    const { scenario } = planned;
    const secret = SECRETS.find((one) => 'change' in scenario && isOnlySignedAs(scenario.change, one));
    const sent = secret === undefined ? undefined : answered[secret];
    const isDecisive =
      sent !== undefined &&
      'change' in scenario &&
      (scenario.expect.authentic ? !isLost(sent) : isAccepted(sent.attempt));
    if (isDecisive) onSettled(trialOf(planned, sent));
    else onUnreached(planned, `the receiver accepts no valid delivery in the step ${step} of the rotation`);
  }
}

function isOnlySignedAs({ sign, ...others }: Change, secret: RotatedSecret): boolean {
  return sign?.label === signedAs(secret).label && Object.keys(others).length === 0;
}
