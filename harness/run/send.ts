/**
 * Sends the deliveries of a run, including the controls of each trial. The oracle checks each request, a request that
 * gets 429 or 503 is repeated, and each answer is scanned for leaks.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { type OfferedTlsVersion, sameHeaderName, tlsVersionName } from '../../contract/index.ts';
import { printedSignatures } from '../../contract/secret-spellings.ts';
import { accepted, type Change, type Expectation, type Kit, type Leak } from '../../scenarios/index.ts';
import {
  type Credential,
  describeAttempt,
  isAccepted,
  outcomeOfAttempt,
  type ProbeEvidence,
  wasClosed,
} from '../judge/index.ts';
import type { Attempt } from '../transport/index.ts';
import { type Assembled, assemble } from './assemble.ts';
import type { RunContext } from './context.ts';
import type { Lane, SendOptions } from './lane.ts';
import { findLeaks, isHarmless } from './leak-scan.ts';
import { faultOfControl, faultOfProbe } from './oracle.ts';
import { Repetition, type RepetitionOptions } from './repetition.ts';
import { reserialisedBodies, visibleBodies } from './visible-bodies.ts';

/** A delivery with its result. The judge uses it as evidence, and reports show its exchange. */
export interface SentDelivery extends ProbeEvidence {
  readonly role: 'control' | 'probe';
  readonly assembled: Assembled;
  /** Whether the wait ended early and without an answer. The delivery then allows no conclusion. */
  readonly cutShort: boolean;
}

export interface ProbeOptions extends SendOptions, Omit<RepetitionOptions, 'is503Answer'> {
  /** Whether to wait for the full time limit, even if earlier deliveries got no answer. */
  readonly patient?: boolean;
  /** Whether the delivery follows a probe that got no answer. */
  readonly afterSilence?: boolean;
  /** Whether a short wait is enough. */
  readonly brief?: boolean;
  /**
   * Whether the delivery is one of several concurrent ones, which are not spaced. A 503 is then an answer if it is
   * expected.
   */
  readonly inBurst?: boolean;
}

export async function sendProbe(
  context: RunContext,
  lane: Lane,
  { label, change, expect }: { readonly label: string; readonly change: Change; readonly expect: Expectation },
  kit: Kit,
  options: ProbeOptions = {},
): Promise<SentDelivery> {
  const assembled = assemble(change, kit, context.partner);
  const probeFault = faultOfProbe(assembled, context.partner, expect.authentic);
  const is503Answer = options.inBurst === true && expect.warn?.includes('5xx') === true;
  const probe = { role: 'probe', label, expect, assembled, probeFault, lacking: lackingIn(assembled) } as const;
  const sent = await send(context, lane, probe, { ...options, is503Answer });
  recordEffect(context, sent, expect.authentic);
  return sent;
}

interface ControlOptions extends ProbeOptions {
  readonly version?: OfferedTlsVersion | undefined;
  /** Decides whether a valid signature may be sent. Default: any. */
  readonly suits?: (signature: string) => boolean;
}

/**
 * Sends the plain valid delivery. With `version`, uses a new connection that offers only this TLS version. With `hold`,
 * sends the body in two halves.
 */
export async function sendControl(
  context: RunContext,
  lane: Lane,
  label: string,
  { version, suits, ...options }: ControlOptions = {},
): Promise<SentDelivery> {
  const change: Change = {
    ...(version !== undefined && { connect: { label: `only ${tlsVersionName(version)}`, version } }),
    ...(options.hold !== undefined && { transmit: { kind: 'held' } }),
  };
  const assembled = assemble(change, context.controlKit, context.partner, suits);
  context.pacing.recordControl();
  const probeFault = faultOfControl(assembled, context.partner);
  const sent = await send(context, lane, { role: 'control', label, expect: accepted, assembled, probeFault }, options);
  if (isAccepted(sent.attempt)) context.facts.recordAnswerTime(sent.attempt.timings.totalMs);
  recordEffect(context, sent, true);
  return sent;
}

/**
 * Records a delivery whose effects the effects window may report. The outcome is unknown if there is no answer, or one
 * that neither accepts nor rejects.
 */
export function recordEffect(
  { sources: { effects } }: Pick<RunContext, 'sources'>,
  { assembled, attempt, role }: SentDelivery,
  isValid: boolean,
): void {
  const { answer, error } = attempt;
  if (effects === null || error?.code === NOT_SENT) return;
  const kind = assembled.transmission?.kind;
  const isRejected = answer !== null && answer.status >= 400 && answer.status < 500;
  effects.record({
    scenario: assembled.kit.scenario ?? '',
    body: assembled.prepared.body,
    isValid,
    isControl: role === 'control',
    outcome: isAccepted(attempt) ? 'accepted' : isRejected ? 'rejected' : 'unknown',
    isRaw: kind === 'raw',
    isCutOff: kind === 'cut-off',
  });
}

/** Returns the credentials for which a request has no header. */
function lackingIn({ kit: { signatureHeader, apiKeyHeader }, prepared: { headers } }: Assembled): Credential[] {
  const isSent = (header: string) => headers.some(([name]) => sameHeaderName(name, header));
  return [
    ...(isSent(signatureHeader) ? [] : (['signature'] as const)),
    ...(isSent(apiKeyHeader) ? [] : (['api-key'] as const)),
  ];
}

/** Number of further tries, after the second, at an endpoint that leaves some valid deliveries unanswered. */
export const MORE_TRIES = 2;

/** A control after all its tries. `failed` is the first attempt if it was not accepted. */
interface ConfirmedControl {
  readonly control: SentDelivery;
  readonly failed: Attempt | null;
}

/**
 * Sends a control. If it is not accepted, sends a second one on a new connection, because one bad answer is not an
 * outage.
 */
export async function sendConfirmedControl(
  context: RunContext,
  lane: Lane,
  label: string,
  version: OfferedTlsVersion | undefined,
  afterSilence = false,
): Promise<ConfirmedControl> {
  const first = await sendControl(context, lane, label, { version, afterSilence });
  if (isAccepted(first.attempt) || first.probeFault !== null || isRateLimited(first)) {
    return { control: first, failed: null };
  }
  let control = await sendControl(context, lane, `${label}, second try`, { fresh: true, version, afterSilence });
  for (let turn = 0; turn < MORE_TRIES && context.pacing.pace.isUnreliable() && isSilent(control); turn++) {
    control = await sendControl(context, lane, `${label}, another try`, { fresh: true, version, afterSilence });
  }
  // If the first wait was cut short and the endpoint then accepts the delivery, the first attempt proves nothing.
  return { control, failed: first.cutShort && isAccepted(control.attempt) ? null : first.attempt };
}

/**
 * Sends the control before the probes. `versionRefused` is true if the endpoint rejects the plain valid delivery over
 * this TLS version but accepts it over others, so it has not stopped answering.
 */
export async function sendFirstControl(
  context: RunContext,
  lane: Lane,
  scenario: string,
  version: OfferedTlsVersion | undefined,
): Promise<{ readonly control: SentDelivery; readonly versionRefused: boolean }> {
  const { control, failed } = await sendConfirmedControl(context, lane, 'control before', version);
  if (version !== undefined && outageAfter(control) !== null) {
    const overAny = await sendControl(context, lane, 'control over any version', { fresh: true });
    if (isAccepted(overAny.attempt)) {
      // The endpoint may have recovered in the meantime.
      const again = await sendControl(context, lane, 'control before, third try', { fresh: true, version });
      const versionRefused = !isAccepted(again.attempt);
      if (!versionRefused) recordFailedControl(context, scenario, { control: again, failed });
      return { control: again, versionRefused };
    }
  }
  recordFailedControl(context, scenario, { control, failed });
  return { control, versionRefused: false };
}

/** Records a failed control, for the check that an endpoint accepts the plain valid delivery every time. */
export function recordFailedControl(
  context: RunContext,
  scenario: string,
  { control, failed }: ConfirmedControl,
): void {
  if (failed === null) return;
  context.facts.recordFailedControl({
    scenario,
    observed: describeAttempt(failed),
    recovered: isAccepted(control.attempt),
    outcome: outcomeOfAttempt(failed),
  });
}

/**
 * How a receiver stopped accepting plain valid deliveries. `looksDead` is false if the network or a gateway may be the
 * cause.
 */
export interface OutageSign {
  readonly sign: string;
  readonly looksDead: boolean;
  readonly outcome?: string;
}

/** Returns the sign of an outage in the control after the probes, or null. */
export function outageAfter(after: SentDelivery): OutageSign | null {
  const { attempt, probeFault } = after;
  if (isAccepted(attempt) || probeFault !== null || isRateLimited(after)) return null;
  const { answer } = attempt;
  const sign = answer === null ? describeAttempt(attempt) : `the plain valid delivery got ${answer.status}`;
  return { sign, looksDead: looksDead(attempt), ...outcomeWithoutAnswer(attempt) };
}

/** Statuses of a gateway that does not reach the receiver. */
export const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Returns whether a delivery did not reach the receiver: there was no connection, it was closed, or a gateway answered.
 */
export function isUnreached(attempt: Attempt): boolean {
  const { answer, error } = attempt;
  if (answer !== null) return GATEWAY_ERRORS.has(answer.status);
  return error?.kind === 'refused' || error?.kind === 'unreachable' || wasClosed(attempt);
}

/**
 * Returns whether the receiver seems to have ended or to hang: it refuses or closes connections, reads requests without
 * answering, or answers valid deliveries with another status. If no connection can be made, the network may be the
 * cause.
 */
function looksDead({ answer, error }: Attempt): boolean {
  if (answer !== null) return !GATEWAY_ERRORS.has(answer.status);
  if (error?.kind === 'timeout') return error.phase === 'answer';
  return error?.kind === 'refused' || error?.kind === 'reset' || (error?.kind === 'tls' && error.alert === undefined);
}

function outcomeWithoutAnswer(attempt: Attempt): { readonly outcome?: string } {
  return attempt.answer === null ? { outcome: outcomeOfAttempt(attempt) } : {};
}

/** Returns whether a delivery got no answer in time. */
export function isSilent({ attempt }: Pick<SentDelivery, 'attempt'>): boolean {
  return attempt.error?.kind === 'timeout';
}

function isRateLimited({ attempt }: SentDelivery): boolean {
  return attempt.answer?.status === 429;
}

async function send(
  context: RunContext,
  lane: Lane,
  delivery: Omit<SentDelivery, 'attempt' | 'leaks' | 'cutShort'>,
  options: ProbeOptions & RepetitionOptions,
): Promise<SentDelivery> {
  const { assembled, probeFault } = delivery;
  const { limits, facts, pacing } = context;
  if (probeFault !== null) return { ...delivery, attempt: notSent(context.now), leaks: [], cutShort: false };
  const visible = registerSignatures(context, assembled);
  const waitMs = maxWaitMs(context, options);
  const isShort = waitMs < limits.timeoutMs;
  const repetition = new Repetition(context, options);
  let attempt: Attempt;
  for (;;) {
    const spacingMs = pacing.spacing.takeMs();
    if (spacingMs > 0 && options.inBurst !== true && options.kept !== true) await pauseFor(context, spacingMs);
    // After an interruption, all connections are closed, and a new one would delay the end of the run.
    attempt = notSent(context.now, 'the run was interrupted');
    if (context.signal.aborted) break;
    facts.recordRequest();
    const fresh = (options.fresh === true || pacing.avoidsKeptConnections) && options.kept !== true;
    attempt = await lane.send(assembled, { ...options, ...(isShort && { timeoutMs: waitMs }), fresh });
    if (isSilent({ attempt })) pacing.recordSilence(attempt.timings.totalMs);
    const pauseMs = repetition.pauseMsAfter(attempt);
    if (pauseMs === null) break;
    await pauseFor(context, pauseMs);
  }
  const cutShort = isShort && options.brief !== true && isSilent({ attempt });
  if (attempt.answer !== null) pacing.pace.recordAnswer(attempt.timings.totalMs, isAccepted(attempt));
  else if (isSilent({ attempt }) && !isShort) pacing.pace.recordSilence(delivery.role);
  return { ...delivery, attempt, leaks: leaksIn(context, attempt, assembled, visible), cutShort };
}

/**
 * Registers the signatures of a request that must not appear in a report or in the receiver's log. Returns the bodies
 * that a receiver may read from the request.
 */
function registerSignatures({ partner, sources, onSignature }: RunContext, assembled: Assembled): Uint8Array[] {
  const { prepared, raw, value, kit } = assembled;
  for (const signature of derivedSignatures(assembled)) onSignature(signature);
  const visible = partner.signing === undefined ? [] : visibleBodies(assembled);
  const expected = visible.map((body) => kit.sign(body));
  sources.log?.registerRequest({
    target: prepared.target,
    headers: prepared.headers,
    body: prepared.body,
    raw,
    value,
    signatures: [...rightSignatures(assembled), ...expected],
  });
  return visible;
}

/** Returns how long to wait for the answer to a delivery, in milliseconds. */
function maxWaitMs({ limits, pacing: { pace } }: RunContext, options: ProbeOptions): number {
  const { timeoutMs } = limits;
  if (options.brief === true) return Math.min(timeoutMs, Math.max(MIN_BRIEF_MS, pace.waitMs('silence')));
  // If a missing answer allows no conclusion, a longer wait is useless. The check of kept connections always waits.
  const isPatient = options.kept === true || (options.patient === true && !pace.isUnreliable());
  if (isPatient || options.timeoutMs !== undefined) return timeoutMs;
  return pace.waitMs(options.afterSilence === true ? 'silence' : undefined);
}

function leaksIn(
  { partner }: RunContext,
  { answer }: Attempt,
  assembled: Assembled,
  visible: readonly Uint8Array[],
): readonly Leak[] {
  if (answer === null || isHarmless(answer, partner)) return [];
  // The signatures of re-serialised bodies matter only if there is an answer that may contain them.
  if (partner.signing !== undefined) {
    for (const body of reserialisedBodies(assembled, visible)) assembled.kit.sign(body);
  }
  return findLeaks(answer, partner, rightSignatures(assembled), sentValues(assembled));
}

/** Returns the valid signature of a request, and the valid older ones. */
function rightSignatures({ rightSignature, olderKits, prepared: { body } }: Assembled): string[] {
  return rightSignature === null ? [] : [rightSignature, ...olderKits.map((kit) => kit.sign(body))];
}

/**
 * Minimum wait, in milliseconds, for an answer that is expected to be missing. At a slow endpoint, the wait is longer.
 */
const MIN_BRIEF_MS = 5000;

/** A value that shares this many consecutive characters with a spelling of the valid signature was made from it. */
const MIN_SHARED = 16;

/**
 * Returns the pieces of the headers that reveal most of the valid signature without being equal to it. Redaction must
 * know them, too.
 */
function derivedSignatures({ prepared, rightSignature, change, kit }: Assembled): string[] {
  if (rightSignature === null || (change.sign === undefined && change.address === undefined)) return [];
  const pieces = prepared.headers
    .flatMap(([, value]) => value.split(/[^A-Za-z0-9+/_=-]+/))
    .filter((piece) => piece.length >= MIN_SHARED && piece !== rightSignature && !isUsual(piece, kit));
  if (pieces.length === 0) return [];
  const known = printedSignatures(rightSignature).join('\n');
  return pieces.filter((piece) => sharesRun(piece, known));
}

/** Returns whether the headers of every delivery contain this piece, so it was not made from a signature. */
function isUsual(piece: string, { apiKey }: Kit): boolean {
  return piece === 'application/json' || apiKey.includes(piece);
}

function sharesRun(value: string, spellings: string): boolean {
  for (let at = 0; at + MIN_SHARED <= value.length; at++) {
    if (spellings.includes(value.slice(at, at + MIN_SHARED))) return true;
  }
  return false;
}

/** Returns the values that a request contains in its headers, its target and its query. */
function sentValues({ prepared: { headers, target } }: Assembled): string[] {
  const query = target.indexOf('?');
  const inQuery = query === -1 ? [] : new URLSearchParams(target.slice(query)).values();
  return [...headers.map(([, value]) => value), target, ...inQuery];
}

/** Waits. Returns early if the run is interrupted. */
export async function pauseFor({ signal }: Pick<RunContext, 'signal'>, ms: number): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}

const NOT_SENT = 'HOOKPROOF_NOT_SENT';

/** Returns the attempt for a delivery that was not sent, because its request was faulty or the run was interrupted. */
function notSent(now: Date, message = 'the request was not sent'): Attempt {
  return {
    startedAt: now.toISOString(),
    timings: { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0, reused: false },
    answer: null,
    error: { kind: 'local', phase: 'send', code: NOT_SENT, message },
  };
}
