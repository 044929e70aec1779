/** One trial of one scenario: control, probes, control. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type HeaderLine,
  type JsonObject,
  type JsonValue,
  type OfferedTlsVersion,
  sameHeaderName,
} from '../../contract/index.ts';
import type { Delivery, ExpectedEffect, Kit } from '../../scenarios/index.ts';
import {
  differenceBetween,
  type Evidence,
  is2xx,
  isAccepted,
  judge,
  mustBeRejected,
  PREFLIGHT_SCENARIO,
  type ProbeEvidence,
  wasClosed,
} from '../judge/index.ts';
import type { Hold } from '../probe/index.ts';
import { type Attempt, endpointOf } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import { createKit } from './kit.ts';
import type { Lane } from './lane.ts';
import { credentialsOf, type SendingPlan, versionOf } from './plan.ts';
import { restartReceiver } from './restart.ts';
import {
  evidenceOf,
  isSilent,
  MORE_TRIES,
  type OutageSign,
  outageAfter,
  type ProbeOptions,
  recordFailedControl,
  type SentDelivery,
  sendConfirmedControl,
  sendControl,
  sendFirstControl,
  sendProbe,
} from './send.ts';

export interface Trial {
  readonly planned: SendingPlan;
  readonly deliveries: readonly SentDelivery[];
  readonly evidence: Evidence;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether a probe got no answer in a wait that was cut short: the trial allows no verdict. */
  readonly cutShort: boolean;
  /** How the receiver stopped accepting plain valid deliveries after the probes, or null. */
  readonly outage: OutageSign | null;
  /** The receiver may not be running, and not because of a delivery: the trial allows no verdict. */
  readonly restartFailed?: true;
  /** The notifications whose effects are judged; absent where none are. */
  readonly effects?: readonly AwaitedEffect[];
}

/** A notification of a trial, and what the receiver should do with it. */
interface AwaitedEffect {
  readonly label: string;
  readonly id: string;
  readonly transaction: string | null;
  readonly expect: ExpectedEffect;
}

/** A trial whose control after has not been sent. */
export interface OpenTrial extends Trial {
  readonly version: OfferedTlsVersion | undefined;
  /** The endpoint rejects even the control over this version, and has not stopped answering. */
  readonly versionRefused: boolean;
}

/** Tries a scenario on a lane, with controls around it: see {@link openTrial}. */
export async function tryScenario(
  context: RunContext,
  lane: Lane,
  planned: SendingPlan,
  before: SentDelivery | null,
  fresh = false,
): Promise<Trial> {
  const open = await openTrial(context, lane, planned, before, fresh);
  if (open.restartFailed) return open;
  const [closed = open] = await closeTrials(context, lane, [open]);
  return closed;
}

/**
 * Sends the control before and the probes of a scenario. The control after one scenario is the control before the next
 * on the same lane and is passed on as `before`; null sends a new one. With `fresh` every delivery has a separate
 * connection, for a repetition that must not depend on earlier ones; such a repetition waits for the full time limit.
 */
export async function openTrial(
  context: RunContext,
  lane: Lane,
  planned: SendingPlan,
  before: SentDelivery | null,
  fresh = false,
): Promise<OpenTrial> {
  const startMs = performance.now();
  const { scenario } = planned;
  const answered: Attempt[] = [];
  const { partner, seed, now, onSignature } = context;
  const kit: Kit = createKit(partner, seed, scenario.id, now, onSignature, {
    get cookies() {
      return answered.flatMap(cookiesOf);
    },
    get returned() {
      return answered.flatMap((attempt) => returnedBy(attempt, kit));
    },
  });
  const version = controlVersionOf(scenario);
  const { control, versionRefused } =
    before !== null && before.assembled.change.connect?.version === version
      ? { control: before, versionRefused: false }
      : await sendFirstControl(context, lane, scenario.id, version);
  const deliveries: SentDelivery[] = [control];
  const probes: Evidence['probes'][number][] = [];
  const effects: AwaitedEffect[] = [];
  let stopped: OutageSign | null = null;
  let groupNumber = 0;
  let restartFailed = false;

  const isKept = 'kept' in scenario && scenario.kept === true;
  const otherAddress = otherAddressFor(context.partner);
  const uniform = 'uniform' in scenario && scenario.uniform === true;

  /** The groups of the scenario, and all of them again as long as the answers differ where they should not. */
  function* groups() {
    yield* groupsOf(scenario, kit);
    for (let round = 0; round < MORE_ROUNDS && uniform && differenceBetween(probes) !== null; round++) {
      yield* groupsOf(scenario, kit);
    }
  }

  if (isAccepted(control.attempt)) {
    answered.push(control.attempt);
    for (const group of groups()) {
      if ('restartBefore' in scenario && scenario.restartBefore === groupNumber) {
        const reason = await restartReceiver(context, lane);
        if (reason !== null) {
          context.stopped ??= { code: 'restart-failed', reason };
          restartFailed = true;
          break;
        }
      }
      groupNumber += 1;
      const options = isKept
        ? { kept: true, patient: true }
        : { fresh: fresh || group.length > 1, patient: fresh, inBurst: group.length > 1 };
      if (isKept) await pause(Math.min(MAX_PAUSE_MS, 2 * control.attempt.timings.totalMs));
      await interruptForgeries(context, lane, scenario, group);
      const sent = await sendGroup(
        group.filter(({ fromOtherAddress }) => fromOtherAddress !== true || otherAddress !== undefined),
        async (delivery, hold) => {
          const localAddress = delivery.fromOtherAddress === true ? otherAddress : undefined;
          const withHold = hold === undefined ? {} : { hold };
          return {
            delivery,
            ...(await sendUnambiguously(context, lane, delivery, kit, {
              ...options,
              ...withHold,
              ...(isHeldPatiently(delivery) && { timeoutMs: 2 * context.limits.timeoutMs }),
              localAddress,
            })),
          };
        },
      );
      stopped ??= sent.find((one) => one.stopped !== null)?.stopped ?? null;
      for (const { delivery, probe } of sent) {
        const followed = await followUp(context, lane, delivery, probe, kit);
        deliveries.push(probe, ...followed.sent);
        probes.push(...followed.evidence);
        answered.push(probe.attempt);
        effects.push(...awaitedEffects(context, delivery, probe));
        for (const leak of probe.leaks) context.seen.leaks.push({ leak, scenario: scenario.id });
      }
      if (group.some(({ change }) => change.transmit?.kind === 'cut-off')) await pause(NOTICE_MS, context.signal);
      // The rest of the flow could only wait as long again.
      if (probes.some(isUnanswered)) break;
    }
  }
  return {
    planned,
    deliveries,
    evidence: { before: control.attempt, probes, after: null, killed: null, uniform },
    startMs,
    endMs: performance.now(),
    cutShort: deliveries.some(({ role, cutShort }) => role === 'probe' && cutShort),
    outage: restartFailed ? null : stopped,
    ...(restartFailed && { restartFailed }),
    ...(effects.length > 0 && { effects }),
    version,
    versionRefused,
  };
}

/** What is expected of the notification of a delivery. An accepted one is waited for from now on. */
function awaitedEffects(
  { effects }: RunContext,
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

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textAt(value: JsonValue | undefined, name: string): string | null {
  const found = isObject(value) ? value[name] : undefined;
  return typeof found === 'string' ? found : null;
}

/**
 * Sends one control after the probes of all these trials, the latest last. When it is not accepted, any of them may be
 * the cause, and each shows the outage.
 */
export async function closeTrials(context: RunContext, lane: Lane, open: readonly OpenTrial[]): Promise<Trial[]> {
  const last = open.at(-1);
  if (last === undefined) return [];
  const { planned, deliveries, version } = last;
  let after: SentDelivery | null = null;
  if (last.evidence.probes.length > 0 && !isLast(planned)) {
    const afterSilence = deliveries.some((sent) => sent.role === 'probe' && isSilent(sent));
    const confirmed = await sendConfirmedControl(context, lane, 'control after', version, afterSilence);
    recordFailedControl(context, planned.scenario.id, confirmed);
    after = confirmed.control;
  }
  const endMs = performance.now();
  return open.map(({ version: _, versionRefused, ...trial }) => {
    const { evidence } = trial;
    const [before] = trial.deliveries;
    const end = after ?? before;
    return {
      ...trial,
      deliveries: after === null ? trial.deliveries : [...trial.deliveries, after],
      evidence: { ...evidence, after: evidence.probes.length === 0 ? null : (end?.attempt ?? null) },
      endMs,
      outage: versionRefused || end === undefined ? null : (outageAfter(end) ?? trial.outage),
    };
  });
}

/** Whether the receiver is restarted between the deliveries of a scenario. */
export function isRestarting({ scenario }: SendingPlan): boolean {
  return 'restartBefore' in scenario;
}

/** Whether a scenario runs after all others, with no control after it. */
export function isLast({ scenario }: SendingPlan): boolean {
  return 'last' in scenario && scenario.last === true;
}

/**
 * Whether the control after this trial may follow later, after other trials: every probe got an answer below 500, or
 * was not meant to get one.
 */
export function mayStayOpen({ evidence: { probes }, version, outage }: OpenTrial): boolean {
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
 * Whether nothing that these probes have left behind on the connection can change the result of the next check: either
 * all were accepted, or all were rejected with 401 and the next check sends only forgeries. A receiver that remembers a
 * rejection rejects the next delivery as well, which should be a control unless it is another forgery.
 */
export function leavesNothing(context: RunContext, { evidence: { probes } }: OpenTrial, next: SendingPlan): boolean {
  const statuses = probes.map(({ attempt }) => attempt.answer?.status ?? 0);
  return statuses.every(is2xx) || (statuses.every((status) => status === 401) && isForgery(context, next));
}

function isForgery({ partner, seed, now }: RunContext, { scenario }: SendingPlan): boolean {
  const deliveries = groupsOf(scenario, createKit(partner, seed, scenario.id, now)).flat();
  return deliveries.every(({ expect }) => !expect.authentic);
}

/**
 * How often the deliveries of a scenario are sent again when their answers differ: the number of a process or the name
 * of a host differs by chance, and a reason differs each time.
 */
const MORE_ROUNDS = 2;

/**
 * The maximum pause before the next delivery on a kept connection, which is otherwise twice the time of a delivery. An
 * endpoint that closes connections after each answer should have done so by then.
 */
const MAX_PAUSE_MS = 500;

/**
 * Sends a plain valid delivery before a forgery that would be one of too many in a row. A lock-out is a separate check,
 * the last one, and should not end the run before it. Checks whose deliveries depend on each other are left alone.
 */
async function interruptForgeries(
  context: RunContext,
  lane: Lane,
  scenario: SendingPlan['scenario'],
  group: readonly Delivery[],
): Promise<void> {
  const forged = group.filter(({ expect }) => mustBeRejected(expect)).length;
  const isSequence = 'flow' in scenario && [scenario.alone, scenario.kept, scenario.last].includes(true);
  if (forged > 0 && !isSequence && context.forgedInARow + forged > MAX_FORGED_IN_A_ROW) {
    await sendControl(context, lane, 'control between forgeries');
  }
  context.forgedInARow += forged;
}

/** Usual lock-outs begin at ten, and deliveries on several lanes do not arrive exactly in the order they were sent. */
export const MAX_FORGED_IN_A_ROW = 6;

/** A second source address, where the endpoint is on this machine and the system has one. */
export function otherAddressFor({ url }: RunContext['partner']): string | undefined {
  const isHere = /^127\.\d+\.\d+\.\d+$/.test(endpointOf(url).hostname);
  return isHere && process.platform === 'linux' ? '127.0.0.2' : undefined;
}

/** The control that the next scenario on the lane can use, or null. */
export function reusableControl({ deliveries }: Trial): SentDelivery | null {
  const last = deliveries.at(-1);
  if (last === undefined || last.role !== 'control' || !isAccepted(last.attempt)) return null;
  return { ...last, label: 'control before' };
}

/**
 * Records that a trial is repeated, unless it would have passed: a check that passes only at its second try is listed
 * for the operator who certifies the receiver.
 */
export function recordRetry(context: RunContext, trial: Trial): void {
  const { level, id } = trial.planned.scenario;
  if (judge(level, inDialect(context, trial)).verdict !== 'pass') context.retried.add(id);
}

/** The evidence of a trial, with the dialect in which it is judged. */
export function inDialect({ dialect, pace }: RunContext, { planned: { scenario }, evidence }: Trial): Evidence {
  const unreliable = pace.isUnreliable();
  if (scenario.id === PREFLIGHT_SCENARIO) return { ...evidence, unreliable };
  return { ...evidence, unreliable, dialect, credentials: credentialsOf(scenario) };
}

/** Whether a probe fails because it got no answer in time. */
function isUnanswered({ attempt, expect }: Evidence['probes'][number]): boolean {
  const { pass, note = [], warn = [], unclear = [] } = expect;
  const allowed = [...pass, ...note, ...warn, ...unclear];
  return attempt.error?.kind === 'timeout' && !allowed.includes('none');
}

export function groupsOf(scenario: SendingPlan['scenario'], kit: Kit): readonly (readonly Delivery[])[] {
  if ('flow' in scenario) return scenario.flow(kit);
  const { change, expect, ifAccepted } = scenario;
  return [[{ label: 'probe', change, expect, ...(ifAccepted && { ifAccepted }) }]];
}

/** The cookies that an answer sets, as `name=value`. */
function cookiesOf({ answer }: Attempt): string[] {
  const lines = answer?.headers.filter(([name]) => name.toLowerCase() === 'set-cookie') ?? [];
  return lines.map(([, value]) => value.split(';', 1)[0] ?? '').filter((cookie) => cookie.includes('='));
}

/** Names of headers and members that may identify a session or a client. */
const TOKEN = /auth|csrf|nonce|session|ticket|token|xsrf/i;
const MAX_RETURNED = 20;
const MAX_TOKEN_LENGTH = 1000;

/**
 * The headers of an answer that an endpoint may accept as a credential, as they would be sent back: its own headers
 * under their names, tokens in the headers or the body also as a bearer token, and an ETag in If-None-Match.
 */
function returnedBy({ answer }: Attempt, { apiKeyHeader, signatureHeader }: Kit): HeaderLine[] {
  if (answer === null) return [];
  const isCredential = (name: string) => [apiKeyHeader, signatureHeader].some((one) => sameHeaderName(one, name));
  const lines = answer.headers.flatMap(([name, value]): HeaderLine[] => {
    if (sameHeaderName(name, 'ETag')) return [['If-None-Match', value]];
    const isOwn = (/^x-/i.test(name) || isToken(name)) && !isCredential(name);
    return isOwn ? [[name, value], ...(isToken(name) ? tokenHeaders(value) : [])] : [];
  });
  const tokens = textMembers(answer.body).flatMap(([name, value]) => (isToken(name) ? tokenHeaders(value) : []));
  return [...lines, ...tokens].filter(([, value]) => value.length <= MAX_TOKEN_LENGTH).slice(0, MAX_RETURNED);
}

const isToken = (name: string) => TOKEN.test(name) && !/authenticate$/i.test(name);

function tokenHeaders(token: string): HeaderLine[] {
  return /^[\x21-\x7e]+$/.test(token)
    ? [
        ['Authorization', `Bearer ${token}`],
        ['X-Session-Token', token],
      ]
    : [];
}

/** The texts directly in a JSON object. */
function textMembers(body: Uint8Array): (readonly [string, string])[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  } catch {
    return [];
  }
}

/**
 * Sends the follow-ups of a forged delivery that was accepted. The evidence begins with the parts, so that an accepted
 * part is named instead of the whole.
 */
async function followUp(
  context: RunContext,
  lane: Lane,
  delivery: Delivery,
  probe: SentDelivery,
  kit: Kit,
): Promise<{ readonly sent: readonly SentDelivery[]; readonly evidence: readonly ProbeEvidence[] }> {
  const { expect, ifAccepted = [] } = delivery;
  const whole = evidenceOf(probe, expect);
  if (!mustBeRejected(expect) || !is2xx(probe.attempt.answer?.status ?? 0)) return { sent: [], evidence: [whole] };
  const sent: SentDelivery[] = [];
  const parts: ProbeEvidence[] = [];
  const comparisons: Attempt[] = [];
  for (const { role, label, change } of ifAccepted) {
    const one = await sendProbe(context, lane, { label, change, expect }, kit);
    sent.push(one);
    if (role === 'compares') comparisons.push(one.attempt);
    else parts.push(evidenceOf(one, expect));
  }
  return { sent, evidence: [...parts, whole].map((one) => ({ ...one, comparisons })) };
}

/** The TLS version of the controls: that of the scenario, unless the version itself is what the probe tests. */
function controlVersionOf(scenario: SendingPlan['scenario']): OfferedTlsVersion | undefined {
  const likeControl = 'change' in scenario && scenario.change.connect?.likeControl === true;
  return likeControl ? undefined : versionOf(scenario);
}

/**
 * Sends a probe, and once more when its connection was closed without a TLS alert, which an overloaded server does as
 * well. When nothing is listening at the second try, the first one has stopped the receiver, however fast it recovers:
 * see `stopped`.
 */
async function sendUnambiguously(
  context: RunContext,
  lane: Lane,
  delivery: Delivery,
  kit: Kit,
  options: ProbeOptions,
): Promise<{ readonly probe: SentDelivery; readonly stopped: OutageSign | null }> {
  let first = await sendProbe(context, lane, delivery, kit, options);
  const mayBeSilent = delivery.expect.pass.includes('none');
  for (let turn = 0; turn <= MORE_TRIES && !mayBeSilent && context.pace.isUnreliable() && isSilent(first); turn++) {
    first = await sendProbe(context, lane, delivery, kit, options);
  }
  if (delivery.change.connect === undefined || !wasClosed(first.attempt)) return { probe: first, stopped: null };
  const probe = await sendProbe(context, lane, delivery, kit, options);
  const { error } = probe.attempt;
  return {
    probe,
    stopped: error?.kind === 'refused' ? { sign: error.message, looksDead: true, outcome: 'closed' } : null,
  };
}

/**
 * How long an endpoint may take to notice a delivery that was cut off or is unfinished. An earlier delivery would find
 * it unaffected.
 */
const NOTICE_MS = 40;

/** How long deliveries are held. A server that handles one request at a time answers the others only after that. */
const MAX_HOLD_MS = 1000;

/** Such a delivery is still open when the others of its group reach their time limit. */
function isHeldPatiently({ change: { transmit } }: Delivery): boolean {
  return transmit?.kind === 'held' && transmit.isPatient === true;
}

/**
 * Sends the deliveries of a group concurrently. Next to held ones, the others are sent one after another, as soon as
 * the first half of every held body has been sent.
 */
async function sendGroup<T>(
  group: readonly Delivery[],
  send: (delivery: Delivery, hold?: Hold) => Promise<T>,
): Promise<T[]> {
  const isHeld = ({ change }: Delivery) => change.transmit?.kind === 'held';
  const held = group.filter(isHeld);
  if (held.length === 0) return Promise.all(group.map((delivery) => send(delivery)));
  const timer = new AbortController();
  const tooLong = delay(MAX_HOLD_MS, undefined, { signal: timer.signal }).catch(() => {});
  const [released, release] = signalling();
  const [begun, reportBegun] = signalling();
  let beginning = held.length;
  const hold: Hold = {
    released,
    begun: () => {
      beginning -= 1;
      if (beginning === 0) reportBegun();
    },
  };
  const sendOthers = async () => {
    await Promise.race([begun, tooLong]);
    // A server may begin with the newest connection.
    if (held.some(isHeldPatiently)) await pause(NOTICE_MS);
    const sent = new Map<Delivery, T>();
    for (const delivery of group) if (!isHeld(delivery)) sent.set(delivery, await send(delivery));
    return sent;
  };
  const others = sendOthers();
  void (held.some(isHeldPatiently) ? others : Promise.race([others, tooLong])).then(release);
  const heldOnes = await Promise.all(held.map(async (delivery) => [delivery, await send(delivery, hold)] as const));
  const sent = new Map([...heldOnes, ...(await others)]);
  timer.abort();
  return group.flatMap((delivery) => sent.get(delivery) ?? []);
}

/** A promise, and the function that resolves it. */
function signalling(): readonly [Promise<void>, () => void] {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return [promise, () => resolve()];
}

/** Several short waits instead of one: an endpoint in the same process, on a busy machine, runs between them. */
async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  for (let turn = 0; turn < 4 && signal?.aborted !== true; turn++) await delay(ms / 4);
}
