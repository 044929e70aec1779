/** One trial of a scenario: control, probes, control. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { JsonValue, OfferedTlsVersion } from '../../contract/index.ts';
import type { Delivery, ExpectedEffect, Kit } from '../../scenarios/index.ts';
import {
  differenceBetween,
  type Evidence,
  is2xx,
  isAccepted,
  judge,
  mustBeRejected,
  PREFLIGHT_SCENARIO,
  wasClosed,
} from '../judge/index.ts';
import { createHold, type Hold } from '../probe/index.ts';
import { type Attempt, endpointOf } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import { isObject, mayBeChance, sendAgain, sendFollowUps } from './follow-ups.ts';
import { createKit } from './kit.ts';
import type { Lane } from './lane.ts';
import { credentialsOf, type SendingPlan, versionOf } from './plan.ts';
import { restartReceiver } from './restart.ts';
import { cookiesOf, credentialsReturnedBy } from './returned-credentials.ts';
import {
  isSilent,
  MORE_TRIES,
  type OutageSign,
  outageAfter,
  type ProbeOptions,
  pauseFor,
  recordFailedControl,
  type SentDelivery,
  sendConfirmedControl,
  sendControl,
  sendFirstControl,
  sendProbe,
} from './send.ts';

/** The trial of a scenario: the evidence for the judge, and what the run needs in order to continue. */
export interface Trial extends Evidence {
  readonly planned: SendingPlan;
  readonly deliveries: readonly SentDelivery[];
  readonly probes: readonly SentDelivery[];
  readonly startMs: number;
  readonly endMs: number;
  /** Whether the wait for a probe ended early and without an answer. The trial then allows no verdict. */
  readonly cutShort: boolean;
  /** How the receiver stopped accepting plain valid deliveries after the probes. Null if it did not. */
  readonly outage: OutageSign | null;
  /** The only TLS version that the controls offer. If absent, they offer all versions. */
  readonly version?: OfferedTlsVersion | undefined;
  /** Whether the endpoint rejects even the control over this version, although it has not stopped answering. */
  readonly versionRefused?: boolean;
  /** Whether the receiver may be down because its restart failed. The trial then allows no verdict. */
  readonly restartFailed?: true;
  /** The notifications whose effects are judged. Absent if there are none. */
  readonly effects?: readonly AwaitedEffect[];
}

/** A notification of a trial, and the effect that it should have. */
interface AwaitedEffect {
  readonly label: string;
  readonly id: string;
  readonly transaction: string | null;
  readonly expect: ExpectedEffect;
}

/** Tries a scenario on a lane, with a control before and after it. See {@link TrialRun}. */
export async function tryScenario(
  context: RunContext,
  lane: Lane,
  planned: SendingPlan,
  before: SentDelivery | null,
  fresh = false,
): Promise<Trial> {
  const open = await new TrialRun(context, lane, planned, fresh).open(before);
  if (open.restartFailed) return open;
  const [closed = open] = await closeTrials(context, lane, [open]);
  return closed;
}

/**
 * One trial of a scenario. With `fresh`, every delivery gets its own connection and waits for the full time limit, for
 * a repetition that must not depend on earlier deliveries.
 */
export class TrialRun {
  readonly #context: RunContext;
  readonly #lane: Lane;
  readonly #planned: SendingPlan;
  readonly #isFresh: boolean;
  readonly #kit: Kit;
  readonly #startMs = performance.now();
  readonly #otherAddress: string | undefined;
  /** The answers from which later deliveries may return cookies and tokens. */
  readonly #answered: Attempt[] = [];
  readonly #deliveries: SentDelivery[] = [];
  readonly #probes: SentDelivery[] = [];
  readonly #effects: AwaitedEffect[] = [];
  /** How a probe stopped the receiver. Null if none did. */
  #stopped: OutageSign | null = null;
  #restartFailed = false;

  constructor(context: RunContext, lane: Lane, planned: SendingPlan, fresh = false) {
    this.#context = context;
    this.#lane = lane;
    this.#planned = planned;
    this.#isFresh = fresh;
    this.#otherAddress = otherAddressFor(context.partner);
    const { partner, seed, now, onSignature, otherServerNames, delivered } = context;
    const answered = this.#answered;
    const kit: Kit = createKit(partner, seed, planned.scenario.id, now, onSignature, {
      get cookies() {
        return answered.flatMap(cookiesOf);
      },
      get returned() {
        return answered.flatMap((attempt) => credentialsReturnedBy(attempt, kit));
      },
      otherServerNames,
      ...(delivered !== null && { delivered }),
    });
    this.#kit = kit;
  }

  /**
   * Sends the control before the probes, and the probes. `before` is the control after the previous scenario on the
   * lane, which is used again. If it is null or has another TLS version, a new control is sent.
   */
  async open(before: SentDelivery | null): Promise<Trial> {
    const { scenario } = this.#planned;
    const version = controlVersionOf(scenario);
    const { control, versionRefused } =
      before !== null && before.assembled.change.connect?.version === version
        ? { control: before, versionRefused: false }
        : await sendFirstControl(this.#context, this.#lane, scenario.id, version);
    this.#deliveries.push(control);
    this.#answered.push(control.attempt);
    let number = 0;
    for (const group of isAccepted(control.attempt) ? this.#groups() : []) {
      await this.#reachState(number);
      if (this.#restartFailed) break;
      number += 1;
      await this.#pauseBefore(group, control.attempt.timings.totalMs);
      await interruptForgeries(this.#context, this.#lane, scenario, group);
      const sent = await this.#sendGroup(group);
      this.#context.pacing.timeLeft.recordGroup(scenario.id, group.length);
      for (const [delivery, probe] of sent) await this.#collectEvidence(delivery, probe);
      if (group.some(({ change }) => change.transmit?.kind === 'cut-off')) {
        await pause(NOTICE_MS, this.#context.signal);
      }
      if (this.#isDecided()) break;
    }
    return {
      planned: this.#planned,
      deliveries: this.#deliveries,
      before: control.attempt,
      probes: this.#probes,
      after: null,
      killed: null,
      uniform: uniformOf(scenario),
      startMs: this.#startMs,
      endMs: performance.now(),
      cutShort: this.#deliveries.some(({ role, cutShort }) => role === 'probe' && cutShort),
      outage: this.#restartFailed ? null : this.#stopped,
      ...(this.#restartFailed && { restartFailed: true }),
      ...(this.#effects.length > 0 && { effects: this.#effects }),
      version,
      versionRefused,
    };
  }

  /** Yields the groups of the scenario. Yields all of them again while answers that should be equal differ. */
  *#groups(): Generator<readonly Delivery[]> {
    const { scenario } = this.#planned;
    yield* groupsOf(scenario, this.#kit);
    for (let round = 0; round < MORE_ROUNDS && this.#answersDiffer(); round++) yield* groupsOf(scenario, this.#kit);
  }

  #answersDiffer(): boolean {
    const uniform = uniformOf(this.#planned.scenario);
    const difference = uniform === null ? null : differenceBetween(this.#probes);
    return difference !== null && (uniform === 'answer' || difference.part === 'status');
  }

  /**
   * Before a group that requires it, restarts the receiver, or waits until the receiver has handled the notifications
   * that it accepted.
   */
  async #reachState(group: number): Promise<void> {
    const { scenario } = this.#planned;
    const { facts, sources } = this.#context;
    if ('restartBefore' in scenario && scenario.restartBefore === group) {
      const reason = await restartReceiver(this.#context, this.#lane);
      if (reason !== null) {
        facts.recordStop({ code: 'restart-failed', reason });
        this.#restartFailed = true;
        return;
      }
    }
    if ('handledBefore' in scenario && scenario.handledBefore === group) {
      await sources.effects?.waitUntilHandled(this.#effects.map(({ id }) => id));
    }
  }

  async #pauseBefore(group: readonly Delivery[], controlMs: number): Promise<void> {
    // All deliveries of a group are sent at once. To keep the maximum rate, the deliveries after them wait longer.
    if (group.length > 1) await pauseFor(this.#context, this.#context.pacing.spacing.freeInMs());
    if (isKept(this.#planned)) await pause(Math.min(MAX_PAUSE_MS, 2 * controlMs));
  }

  /**
   * Sends the deliveries of a group concurrently. If some are held, the others are sent one after another, once the
   * first half of every held body has been sent.
   */
  async #sendGroup(group: readonly Delivery[]): Promise<(readonly [Delivery, SentDelivery])[]> {
    const inBurst = group.length > 1;
    const sendable = group.filter(
      ({ fromOtherAddress }) => fromOtherAddress !== true || this.#otherAddress !== undefined,
    );
    const held = sendable.filter(isHeld);
    if (held.length === 0) return Promise.all(sendable.map((delivery) => this.#sendDelivery(delivery, inBurst)));
    const timer = new AbortController();
    const tooLong = delay(MAX_HOLD_MS, undefined, { signal: timer.signal }).catch(() => {});
    const hold = createHold(held.length);
    const isPatient = held.some(isHeldPatiently);
    const sendOthers = async () => {
      await Promise.race([hold.allBegun, tooLong]);
      // A server may handle the newest connection first.
      if (isPatient) await pause(NOTICE_MS);
      const sent: (readonly [Delivery, SentDelivery])[] = [];
      for (const delivery of sendable) if (!isHeld(delivery)) sent.push(await this.#sendDelivery(delivery, inBurst));
      return sent;
    };
    const others = sendOthers();
    void (isPatient ? others : Promise.race([others, tooLong])).then(hold.release);
    const heldOnes = await Promise.all(held.map((delivery) => this.#sendDelivery(delivery, inBurst, hold)));
    const sent = new Map([...heldOnes, ...(await others)]);
    timer.abort();
    return sendable.flatMap((delivery) => {
      const probe = sent.get(delivery);
      return probe === undefined ? [] : [[delivery, probe] as const];
    });
  }

  /**
   * Sends a delivery. If its connection is closed without a TLS alert, sends it again, because an overloaded server may
   * close connections as well. If nothing is listening at the second try, the first one stopped the receiver, however
   * fast the receiver recovers.
   */
  async #sendDelivery(delivery: Delivery, inBurst: boolean, hold?: Hold): Promise<readonly [Delivery, SentDelivery]> {
    const { pace } = this.#context.pacing;
    const options = this.#optionsFor(delivery, inBurst, hold);
    let probe = await sendProbe(this.#context, this.#lane, delivery, this.#kit, options);
    const mayBeSilent = delivery.expect.pass.includes('none');
    for (let turn = 0; turn <= MORE_TRIES && !mayBeSilent && pace.isUnreliable() && isSilent(probe); turn++) {
      probe = await sendProbe(this.#context, this.#lane, delivery, this.#kit, options);
    }
    if (delivery.change.connect === undefined || !wasClosed(probe.attempt)) return [delivery, probe];
    probe = await sendProbe(this.#context, this.#lane, delivery, this.#kit, options);
    const { error } = probe.attempt;
    if (error?.kind === 'refused') this.#stopped ??= { sign: error.message, looksDead: true, outcome: 'closed' };
    return [delivery, probe];
  }

  #optionsFor(delivery: Delivery, inBurst: boolean, hold: Hold | undefined): ProbeOptions {
    const { scenario } = this.#planned;
    const isFresh = this.#isFresh || inBurst || ('onNewConnections' in scenario && scenario.onNewConnections === true);
    return {
      ...(isKept(this.#planned) ? { kept: true, patient: true } : { fresh: isFresh, patient: this.#isFresh, inBurst }),
      ...(isLast(this.#planned) && { meetsLimits: true }),
      ...(hold !== undefined && { hold }),
      brief: delivery.expect.isBrief === true,
      ...(isHeldPatiently(delivery) && { timeoutMs: 2 * this.#context.limits.timeoutMs }),
      localAddress: delivery.fromOtherAddress === true ? this.#otherAddress : undefined,
    };
  }

  /** Sends the deliveries that follow a probe, and adds the evidence of the probe and of these. */
  async #collectEvidence(delivery: Delivery, probe: SentDelivery): Promise<void> {
    const { scenario } = this.#planned;
    const isSingle = 'change' in scenario;
    const followed =
      isIndependent(this.#planned) && mayBeChance(this.#context, probe, delivery)
        ? await sendAgain(this.#context, this.#lane, delivery, probe, this.#kit, isSingle)
        : await sendFollowUps(this.#context, this.#lane, delivery, probe, this.#kit);
    this.#deliveries.push(probe, ...followed.sent);
    this.#probes.push(...followed.evidence);
    this.#answered.push(probe.attempt);
    this.#effects.push(...awaitedEffects(this.#context, delivery, probe));
    this.#context.facts.recordLeaks(scenario.id, probe.leaks);
  }

  /**
   * Returns whether the remaining deliveries are pointless: they would also time out, or get the same 429 or TLS alert.
   */
  #isDecided(): boolean {
    const { scenario } = this.#planned;
    if (this.#probes.some(isUnanswered) || this.#context.facts.throttling.limit?.isFinal === true) return true;
    return 'endsInHandshake' in scenario && this.#probes.some(({ attempt }) => attempt.error?.alert !== undefined);
  }
}

function uniformOf(scenario: SendingPlan['scenario']): Evidence['uniform'] {
  return ('uniform' in scenario && scenario.uniform) || null;
}

/** Returns whether the deliveries of a scenario must use the kept connection. */
function isKept({ scenario }: SendingPlan): boolean {
  return 'kept' in scenario && scenario.kept === true;
}

/** Returns whether no delivery of a scenario depends on an earlier one. */
function isIndependent({ suite, scenario }: SendingPlan): boolean {
  if ('change' in scenario) return true;
  const { alone, kept, last, owns, uniform, version, restartBefore } = scenario;
  return (
    suite !== 'delivery' && [alone, kept, last, owns, uniform, version, restartBefore].every((one) => one === undefined)
  );
}

/** Returns the expected effect of a delivery. If the delivery was accepted, starts to wait for its effect. */
function awaitedEffects(
  { sources: { effects } }: RunContext,
  { label, effect }: Delivery,
  { assembled: { value }, attempt }: SentDelivery,
): AwaitedEffect[] {
  if (effect === undefined || effects === null) return [];
  const id = textAt(value, 'id') ?? '';
  const data = isObject(value) ? value.data : undefined;
  const transaction = textAt(data, 'transactionId') ?? textAt(data, 'partnerTransactionId');
  if (effect.times > 0 && isAccepted(attempt)) effects.expect(id);
  return [{ label, id, transaction, expect: effect }];
}

function textAt(value: JsonValue | undefined, name: string): string | null {
  const found = isObject(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : null;
}

/**
 * Sends one control after the probes of all these trials, which must be in the order in which they were sent. If the
 * control is not accepted, any of the trials may be the cause, so each records the outage.
 */
export async function closeTrials(context: RunContext, lane: Lane, open: readonly Trial[]): Promise<Trial[]> {
  const last = open.at(-1);
  if (last === undefined) return [];
  const { planned, deliveries, version } = last;
  let after: SentDelivery | null = null;
  let failed: Attempt | null = null;
  if (last.probes.length > 0 && !isLast(planned)) {
    const afterSilence = deliveries.some((sent) => sent.role === 'probe' && isSilent(sent));
    const confirmed = await sendConfirmedControl(context, lane, 'control after', version, afterSilence);
    recordFailedControl(context, planned.scenario.id, confirmed);
    after = confirmed.control;
    failed = confirmed.failed;
  }
  const endMs = performance.now();
  return open.map((trial) => {
    const [before] = trial.deliveries;
    const end = after ?? before;
    return {
      ...trial,
      deliveries: after === null ? trial.deliveries : [...trial.deliveries, after],
      after: trial.probes.length === 0 ? null : (end?.attempt ?? null),
      endMs,
      outage:
        trial.versionRefused || end === undefined ? null : (outageAfter(end) ?? trial.outage ?? endOf(trial, failed)),
    };
  });
}

/**
 * Returns the sign that the receiver ended on a probe and was restarted at once: it closed the connection, and nothing
 * was listening when the control after it was first tried.
 */
function endOf({ probes }: Trial, failed: Attempt | null): OutageSign | null {
  if (failed?.error?.kind !== 'refused' || !probes.some(({ attempt }) => wasClosed(attempt))) return null;
  return { sign: failed.error.message, looksDead: true, outcome: 'closed' };
}

/** Whether the receiver is restarted between the deliveries of a scenario. */
export function isRestarting({ scenario }: SendingPlan): boolean {
  return 'restartBefore' in scenario;
}

/** Returns whether a scenario runs after all others, without a control after it. */
export function isLast({ scenario }: SendingPlan): boolean {
  return 'last' in scenario && scenario.last === true;
}

/**
 * Returns whether the control after this trial may be sent later, after other trials: every probe got an answer below
 * 500, or was expected to get none.
 */
export function mayStayOpen({ probes, version, outage }: Trial): boolean {
  return (
    probes.length > 0 &&
    version === undefined &&
    outage === null &&
    probes.every(({ attempt: { answer }, expect }) =>
      answer === null ? expect.pass.includes('none') : answer.status < 500,
    )
  );
}

/**
 * Returns whether the next check may use the same controls. This requires that these probes cannot have changed its
 * result: either all were accepted, or all were rejected with 401 and the next check sends only forgeries. If a
 * receiver remembers a rejection, it rejects the next delivery as well; that delivery must therefore be a control or
 * another forgery.
 */
export function mayShareControl(context: RunContext, { probes }: Trial, next: SendingPlan): boolean {
  const statuses = probes.map(({ attempt }) => attempt.answer?.status ?? 0);
  return statuses.every(is2xx) || (statuses.every((status) => status === 401) && sendsOnlyForgeries(context, next));
}

function sendsOnlyForgeries({ partner, seed, now }: RunContext, { scenario }: SendingPlan): boolean {
  const deliveries = groupsOf(scenario, createKit(partner, seed, scenario.id, now)).flat();
  return deliveries.every(({ expect }) => !expect.authentic);
}

/**
 * Number of times to repeat the deliveries of a scenario whose answers differ. A process number or a host name in an
 * answer differs by chance; a reason for the rejection differs each time.
 */
const MORE_ROUNDS = 2;

/**
 * Maximum pause before the next delivery on a kept connection, in milliseconds. The pause is twice the time of a
 * delivery, so that an endpoint that closes connections after each answer has done so.
 */
const MAX_PAUSE_MS = 500;

/**
 * Sends a control before forgeries that would exceed the maximum number in a row. The check for lock-outs runs last,
 * and a lock-out should not end the run before it. Scenarios whose deliveries depend on each other get no control in
 * between.
 */
async function interruptForgeries(
  context: RunContext,
  lane: Lane,
  scenario: SendingPlan['scenario'],
  group: readonly Delivery[],
): Promise<void> {
  const forged = group.filter(({ expect }) => mustBeRejected(expect)).length;
  const isSequence = 'flow' in scenario && [scenario.alone, scenario.kept, scenario.last].includes(true);
  if (forged > 0 && !isSequence && context.pacing.wouldLockOut(forged)) {
    await sendControl(context, lane, 'control between forgeries');
  }
  context.pacing.recordForgeries(forged);
}

/** Returns a second source address, if the endpoint is on this machine and the system has such an address. */
export function otherAddressFor({ url }: RunContext['partner']): string | undefined {
  const isHere = /^127\.\d+\.\d+\.\d+$/.test(endpointOf(url).hostname);
  return isHere && process.platform === 'linux' ? '127.0.0.2' : undefined;
}

/** Returns the control that the next scenario on the lane can use, or null. */
export function reusableControl({ deliveries }: Trial): SentDelivery | null {
  const last = deliveries.at(-1);
  if (last === undefined || last.role !== 'control' || !isAccepted(last.attempt)) return null;
  return { ...last, label: 'control before' };
}

/**
 * Records that a trial is repeated, unless it would have passed. Checks that pass only at their second try are listed
 * for the operator who certifies the receiver.
 */
export function recordRetry(context: RunContext, trial: Trial): void {
  const { level, id } = trial.planned.scenario;
  if (judge(level, inDialect(context, trial)).verdict !== 'pass') context.facts.recordRetry(id);
}

/** Returns the evidence of a trial, with the dialect in which it is judged. */
export function inDialect({ facts, pacing }: RunContext, trial: Trial): Evidence {
  const { scenario } = trial.planned;
  const unreliable = pacing.pace.isUnreliable();
  if (scenario.id === PREFLIGHT_SCENARIO) return { ...trial, unreliable };
  return { ...trial, unreliable, dialect: facts.dialect, credentials: credentialsOf(scenario) };
}

/** Returns whether a probe fails because it got no answer in time. */
function isUnanswered({ attempt, expect }: SentDelivery): boolean {
  const { pass, note = [], warn = [], unclear = [] } = expect;
  const allowed = [...pass, ...note, ...warn, ...unclear];
  return attempt.error?.kind === 'timeout' && !allowed.includes('none');
}

export function groupsOf(scenario: SendingPlan['scenario'], kit: Kit): readonly (readonly Delivery[])[] {
  if ('flow' in scenario) return scenario.flow(kit);
  const { change, expect, followUps } = scenario;
  return [[{ label: 'probe', change, expect, ...(followUps && { followUps }) }]];
}

/**
 * Returns the TLS version of the controls, which is that of the scenario. Undefined if the probe tests the version
 * itself.
 */
function controlVersionOf(scenario: SendingPlan['scenario']): OfferedTlsVersion | undefined {
  const likeControl = 'change' in scenario && scenario.change.connect?.likeControl === true;
  return likeControl ? undefined : versionOf(scenario);
}

/**
 * Time, in milliseconds, that an endpoint may need to notice a delivery that was cut off or is unfinished. A delivery
 * sent sooner might find the endpoint unaffected.
 */
const NOTICE_MS = 40;

/**
 * Maximum time to hold deliveries, in milliseconds. A server that handles one request at a time answers the others only
 * after that.
 */
const MAX_HOLD_MS = 1000;

function isHeld({ change }: Delivery): boolean {
  return change.transmit?.kind === 'held';
}

/** Returns whether a delivery stays open until the others of its group have reached their time limit. */
function isHeldPatiently({ change: { transmit } }: Delivery): boolean {
  return transmit?.kind === 'held' && transmit.isPatient === true;
}

/**
 * Waits in several short steps, because an endpoint in the same process may need to run in between on a busy machine.
 */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  for (let turn = 0; turn < 4 && signal?.aborted !== true; turn++) await delay(ms / 4);
}
