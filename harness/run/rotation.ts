/** Rotates the secret: switches the receiver from step to step, and runs the checks for each step. */
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
  /** Names of environment variables that the command receives in addition to the default ones. */
  readonly variables?: readonly string[] | undefined;
};

/** Returns whether a person must switch the receiver, because there is neither a command nor a function for it. */
const isByPerson = ({ command, switchTo: byFunction }: SwitchSource) =>
  command === undefined && byFunction === undefined;

interface RotationHandlers {
  readonly onSettled: (trial: Trial) => void;
  readonly onDecided: (planned: SendingPlan, reason: string) => void;
  /** Called for a check whose step of the rotation was not reached. */
  readonly onUnreached: (planned: SendingPlan, reason: string) => void;
}

/** Counts the deliveries during a switch. */
interface DeliveryCount {
  sent: number;
  readonly rejected: string[];
  unreached: number;
}

/** For each secret, the last delivery that was signed with it in a step. */
type Answered = Readonly<Record<RotatedSecret, SentDelivery>>;

const SECRETS: readonly RotatedSecret[] = ['old', 'next'];

/** Returns whether a secret is valid in a step. */
const isValid = (secret: RotatedSecret, step: RotationStep) =>
  step === 'both' || (secret === 'old') === (step === 'old');

/** Returns the secret that is valid both before and after the switch to a step. */
const keptThrough = (step: RotationStep): RotatedSecret => (step === 'new' ? 'next' : 'old');

/** Returns whether a delivery shows nothing about the secrets, because the receiver may be restarting. */
const isLost = ({ attempt }: SentDelivery) => isUnreached(attempt) || isSilent({ attempt });

const accepts = (answered: Answered | undefined, secret: RotatedSecret) =>
  answered !== undefined && isAccepted(answered[secret].attempt);

/** What a person is asked to do for each step. */
const REQUESTS: Readonly<Record<Exclude<RotationStep, 'old'>, string>> = {
  both: 'Let the receiver accept both secrets now, then press Enter',
  new: 'Let the receiver accept only the new secret now, then press Enter',
};

const NO_SWITCH =
  'the secrets of the receiver were not switched: there is no `--rotate-command`, and no terminal for a prompt ' +
  '(`run` and `certify` show one). Give a command that reads HOOKPROOF_ROTATION_STEP (old, both or new)';

const NOTHING_TO_REPLAY = 'no delivery was accepted in step old of the rotation';

/** Pauses between the deliveries during a switch, in milliseconds. */
const MIN_PAUSE_MS = 10;
const MAX_PAUSE_MS = 1000;
const longer = (pauseMs: number) => Math.min(1.5 * pauseMs, MAX_PAUSE_MS);

/**
 * Number of consecutive rounds in which the receiver must accept exactly the secrets of the step. If it has several
 * processes, one of them may read its settings earlier than the others.
 */
const STABLE = 2;

/** Total time that a person may take, in milliseconds. */
const PERSON_MS = 3_600_000;

/**
 * Returns the milliseconds after which a run ends. Unless a limit is configured, the time that a rotation may take is
 * added to {@link runBoundMs}.
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
 * Runs the three steps of a rotation with the checks of each step, and switches the receiver back to the old secret.
 * If the receiver accepts the same secrets in every step, it was not switched, and the checks allow no conclusion. If
 * it was switched at least once, it is judged by what it accepts in each step.
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
  /** Whether the receiver may have been changed. For the first step, a person is not asked to change anything. */
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
    // Only after the last step is it known whether the receiver was switched at all.
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

/** Returns whether the receiver accepted other secrets in a later step than in the first one. */
function isSwitched(played: ReadonlyMap<RotationStep, Answered>): boolean {
  const [both, end] = [played.get('both'), played.get('new')];
  const rejectsOld = end !== undefined && !accepts(end, 'old') && !isLost(end.old);
  return accepts(both, 'next') || accepts(end, 'next') || rejectsOld;
}

function unswitched(byPerson: boolean): string {
  const who = byPerson ? 'the switch was confirmed' : '`--rotate-command` ended with exit code 0';
  return (
    `the receiver was not switched: ${who}, and in every step it accepts the old secret and rejects the new one. ` +
    'Check that the step reaches the configuration of the receiver, and that the receiver reads it again'
  );
}

/**
 * Switches the receiver to the secrets of a step. Meanwhile, sends deliveries that are valid both before and after the
 * switch.
 *
 * @returns why the receiver could not be switched, or null. Null does not prove the switch: only later deliveries do.
 */
async function switchTo(
  context: RunContext,
  lane: Lane,
  step: RotationStep,
  source: SwitchSource,
  during: DeliveryCount,
): Promise<string | null> {
  const byPerson = isByPerson(source);
  // The preflight has shown that the receiver accepts the old secret.
  if (step === 'old') return byPerson ? null : switchReceiver(context, step, source, context.signal);
  if (byPerson && source.ask === undefined) return NO_SWITCH;
  let isOngoing = true;
  const switching = switchReceiver(context, step, source, context.signal).finally(() => {
    isOngoing = false;
  });
  for (let pauseMs = MIN_PAUSE_MS; isOngoing && !context.signal.aborted; pauseMs = longer(pauseMs)) {
    const sent = await deliver(context, lane, keptThrough(step), 'delivery during the switch');
    // If the switch has ended meanwhile, the delivery is not part of it.
    if (isOngoing) count(during, sent);
    await Promise.race([switching, delay(pauseMs)]);
  }
  return switching;
}

/**
 * Switches the receiver to the secrets of a step. Never rejects. Returns why the receiver could not be switched, or
 * null.
 */
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
 * Switches the receiver back to the old secret, even after an interruption. Waits until the receiver accepts it: a
 * receiver may read its settings some time after the command has ended, and until then the next sender's deliveries
 * would be rejected.
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
  return ['after the rotation the receiver still rejects the old secret, although it was switched back to it'];
}

/**
 * Sends deliveries with both secrets until the receiver accepts exactly the secrets of the step, for at most the
 * recovery time. Returns the last delivery with each secret, or null if the run is interrupted.
 */
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

/** Sends a delivery that is signed with this secret, on a new connection. */
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

/** Runs the checks of a step. The controls are signed with a secret that is valid and accepted in this step. */
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
 * Judges the checks of a step in which the receiver accepts no valid delivery. Without controls, only two observations
 * allow a verdict: a valid delivery was rejected, or a forgery was accepted. Both use deliveries that were already
 * sent.
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
    else onUnreached(planned, `the receiver accepts no valid delivery in step ${step} of the rotation`);
  }
}

function isOnlySignedAs({ sign, ...others }: Change, secret: RotatedSecret): boolean {
  return sign?.label === signedAs(secret).label && Object.keys(others).length === 0;
}
