/**
 * Sends one delivery of a run: checked by the oracle, repeated after 429 and 503, its answer scanned for leaks; and the
 * controls of a trial.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { type HeaderLine, headerValues, type OfferedTlsVersion, tlsVersionName } from '../../contract/index.ts';
import { printedSignatures } from '../../contract/secret-spellings.ts';
import type { Change, Expectation, Kit, Leak } from '../../scenarios/index.ts';
import { type Credential, describeAttempt, isAccepted, outcomeOfAttempt, type ProbeEvidence } from '../judge/index.ts';
import { type Attempt, retryAfterMs } from '../transport/index.ts';
import { type Assembled, assemble } from './assemble.ts';
import type { RunContext } from './context.ts';
import type { Lane, SendOptions } from './lane.ts';
import { findLeaks, isHarmless } from './leak-scan.ts';
import { faultOfControl, faultOfProbe } from './oracle.ts';
import { reserialisedBodies, visibleBodies } from './visible-bodies.ts';

/** A delivery with its result: the source of the evidence and of the exchanges in reports. */
export interface SentDelivery {
  readonly role: 'control' | 'probe';
  readonly label: string;
  readonly assembled: Assembled;
  readonly attempt: Attempt;
  readonly leaks: readonly Leak[];
  /** What the oracle found wrong with the request, which was then not sent; else null. */
  readonly fault: string | null;
  /** Whether the wait was cut short without an answer, so that no conclusion is possible. */
  readonly cutShort: boolean;
}

interface WaitOptions extends SendOptions {
  /** Waits the full time limit, whatever the endpoint did before. */
  readonly patient?: boolean;
  /** After a probe that got no answer. */
  readonly afterSilence?: boolean;
}

export interface ProbeOptions extends WaitOptions {
  /** One of many concurrent deliveries, where a 503 is an answer if the expectation names it. */
  readonly inBurst?: boolean;
}

/** Sends a probe. */
export async function sendProbe(
  context: RunContext,
  lane: Lane,
  { label, change, expect }: { readonly label: string; readonly change: Change; readonly expect: Expectation },
  kit: Kit,
  options: ProbeOptions = {},
): Promise<SentDelivery> {
  const assembled = assemble(change, kit, context.partner);
  const fault = faultOfProbe(assembled, context.partner, expect.authentic);
  const inBurst = options.inBurst === true && expect.warn?.includes('5xx') === true;
  const sent = await send(context, lane, { role: 'probe', label, assembled, fault }, { ...options, inBurst });
  recordEffect(context, sent, expect.authentic);
  return sent;
}

interface ControlOptions extends WaitOptions {
  readonly version?: OfferedTlsVersion | undefined;
  /** Which valid signatures to send. Absent: any. */
  readonly suits?: (signature: string) => boolean;
}

/** Sends the plain valid delivery; with a TLS version, on a new connection that offers only this version. */
export async function sendControl(
  context: RunContext,
  lane: Lane,
  label: string,
  { version, suits, ...options }: ControlOptions = {},
): Promise<SentDelivery> {
  const change: Change =
    version === undefined ? {} : { connect: { label: `only ${tlsVersionName(version)}`, version } };
  const assembled = assemble(change, context.controlKit, context.partner, suits);
  context.forgedInARow = 0;
  const fault = faultOfControl(assembled, context.partner);
  const sent = await send(context, lane, { role: 'control', label, assembled, fault }, options);
  if (isAccepted(sent.attempt)) context.seen.answerTimesMs.push(sent.attempt.timings.totalMs);
  recordEffect(context, sent, true);
  return sent;
}

/** Nothing is known about bytes that no client would send, and about a delivery without an answer. */
function recordEffect({ effects }: RunContext, { assembled, attempt, role }: SentDelivery, isValid: boolean): void {
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

/** The evidence of a probe for the judge. */
export function evidenceOf(sent: SentDelivery, expect: Expectation): ProbeEvidence {
  const { label, attempt, leaks, fault, assembled } = sent;
  const { signatureHeader, apiKeyHeader } = assembled.kit;
  const sends = (header: string) =>
    assembled.prepared.headers.some(([name]) => name.toLowerCase() === header.toLowerCase());
  const lacking: Credential[] = [
    ...(sends(signatureHeader) ? [] : (['signature'] as const)),
    ...(sends(apiKeyHeader) ? [] : (['api-key'] as const)),
  ];
  return { label, expect, attempt, leaks, probeFault: fault, lacking };
}

/** Tries after the second, for an endpoint that leaves some valid deliveries unanswered. */
export const MORE_TRIES = 2;

/** The control that counts, and the first attempt when that was not accepted. */
interface ConfirmedControl {
  readonly control: SentDelivery;
  readonly failed: Attempt | null;
}

/** A control, and a second one on a new connection when the first is not accepted: one bad answer is not an outage. */
export async function sendConfirmedControl(
  context: RunContext,
  lane: Lane,
  label: string,
  version: OfferedTlsVersion | undefined,
  afterSilence = false,
): Promise<ConfirmedControl> {
  const first = await sendControl(context, lane, label, { version, afterSilence });
  if (isAccepted(first.attempt) || first.fault !== null || isRateLimited(first)) {
    return { control: first, failed: null };
  }
  let control = await sendControl(context, lane, `${label}, second try`, { fresh: true, version, afterSilence });
  for (let turn = 0; turn < MORE_TRIES && context.pace.isUnreliable() && isSilent(control); turn++) {
    control = await sendControl(context, lane, `${label}, another try`, { fresh: true, version, afterSilence });
  }
  // A wait that was cut short is no evidence against an endpoint that then accepts the delivery.
  return { control, failed: first.cutShort && isAccepted(control.attempt) ? null : first.attempt };
}

/**
 * The control before the probes. `versionRefused`: an endpoint that rejects the plain valid delivery over this version
 * and accepts it over any version has not stopped answering.
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

/** Records a failed control for the observation that an endpoint accepts the plain valid delivery every time. */
export function recordFailedControl(
  context: RunContext,
  scenario: string,
  { control, failed }: ConfirmedControl,
): void {
  if (failed === null) return;
  context.seen.failedControls.push({
    scenario,
    observed: describeAttempt(failed),
    recovered: isAccepted(control.attempt),
    ...outcomeWithoutAnswer(failed),
  });
}

/** How a receiver stopped accepting plain valid deliveries. */
export interface OutageSign {
  readonly sign: string;
  readonly looksDead: boolean;
  readonly outcome?: string;
}

/** The sign of an outage in the control after the probes, or null. */
export function outageAfter(after: SentDelivery): OutageSign | null {
  const { attempt, fault } = after;
  if (isAccepted(attempt) || fault !== null || isRateLimited(after)) return null;
  const { answer } = attempt;
  const sign = answer === null ? describeAttempt(attempt) : `the plain valid delivery got ${answer.status}`;
  return { sign, looksDead: looksDead(attempt), ...outcomeWithoutAnswer(attempt) };
}

/** What a gateway answers when it does not reach the receiver. */
export const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Whether this is what a receiver that has ended, or hangs, looks like: it refuses or closes connections, reads
 * requests and does not answer, or answers valid deliveries with another status. No connection at all may as well be
 * the network.
 */
function looksDead({ answer, error }: Attempt): boolean {
  if (answer !== null) return !GATEWAY_ERRORS.has(answer.status);
  if (error?.kind === 'timeout') return error.phase === 'answer';
  return error?.kind === 'refused' || error?.kind === 'reset' || (error?.kind === 'tls' && error.alert === undefined);
}

function outcomeWithoutAnswer(attempt: Attempt): { readonly outcome?: string } {
  return attempt.answer === null ? { outcome: outcomeOfAttempt(attempt) } : {};
}

/** Whether a delivery got no answer in time. */
export function isSilent({ attempt }: Pick<SentDelivery, 'attempt'>): boolean {
  return attempt.error?.kind === 'timeout';
}

function isRateLimited({ attempt }: SentDelivery): boolean {
  return attempt.answer?.status === 429;
}

async function send(
  context: RunContext,
  lane: Lane,
  delivery: Pick<SentDelivery, 'role' | 'label' | 'assembled' | 'fault'>,
  options: ProbeOptions,
): Promise<SentDelivery> {
  const { assembled, fault } = delivery;
  if (fault !== null) return { ...delivery, attempt: notSent(context.now), leaks: [], cutShort: false };
  for (const value of derivedSignatures(assembled)) context.onSignature(value);
  const isSigned = context.partner.signing !== undefined;
  const visible = isSigned ? visibleBodies(assembled) : [];
  const expected = visible.map((body) => assembled.kit.sign(body));
  registerForLog(context, assembled, expected);
  const { pace, limits } = context;
  // If silence says nothing about a delivery, a longer wait does not either. A check of kept connections always waits.
  const isPatient = options.kept === true || (options.patient === true && !pace.isUnreliable());
  const isAdaptive = options.timeoutMs === undefined && !isPatient;
  const waitMs = isAdaptive ? pace.waitMs(options.afterSilence === true ? 'silence' : undefined) : limits.timeoutMs;
  const isShort = waitMs < limits.timeoutMs;
  const attempt = await sendRepeating(context, lane, assembled, isShort ? { ...options, timeoutMs: waitMs } : options);
  const cutShort = isShort && isSilent({ attempt });
  if (attempt.answer !== null) pace.answered(attempt.timings.totalMs, isAccepted(attempt));
  else if (isSilent({ attempt }) && !isShort) pace.silent(delivery.role);
  const { answer } = attempt;
  if (answer === null || isHarmless(answer, context.partner)) return { ...delivery, attempt, leaks: [], cutShort };
  // Signatures of what a receiver may make of the body matter only where the answer can contain one.
  if (isSigned) for (const body of reserialisedBodies(assembled, visible)) assembled.kit.sign(body);
  const leaks = findLeaks(answer, context.partner, assembled.rightSignature, sentValues(assembled));
  return { ...delivery, attempt, leaks, cutShort };
}

/** What the log must not contain because of this delivery. */
function registerForLog({ log }: RunContext, assembled: Assembled, expected: readonly string[]): void {
  const { prepared, raw, rightSignature, value } = assembled;
  log?.sending({
    target: prepared.target,
    headers: prepared.headers,
    body: prepared.body,
    raw,
    value,
    signatures: rightSignature === null ? expected : [rightSignature, ...expected],
  });
}

/** A value that shares this many characters with a spelling of the correct signature was made from it. */
const MIN_SHARED = 16;

/**
 * The pieces of the request's headers that reveal most of the correct signature and are not the correct signature
 * itself: redaction has to know them too.
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

/** Whether every delivery has this piece in its headers, so that it was not made from a signature. */
function isUsual(piece: string, { apiKey }: Kit): boolean {
  return piece === 'application/json' || apiKey.includes(piece);
}

function sharesRun(value: string, spellings: string): boolean {
  for (let at = 0; at + MIN_SHARED <= value.length; at++) {
    if (spellings.includes(value.slice(at, at + MIN_SHARED))) return true;
  }
  return false;
}

/** What the request contained: the values of its headers and of its query. */
function sentValues({ prepared: { headers, target } }: Assembled): string[] {
  const query = target.indexOf('?');
  const inQuery = query === -1 ? [] : new URLSearchParams(target.slice(query)).values();
  return [...headers.map(([, value]) => value), target, ...inQuery];
}

/** After this many, every delivery gets a new connection; a check of kept connections reports the fault. */
const MAX_SILENT_WHEN_KEPT = 2;

const MAX_REPEATS = 3;
const MAX_PAUSE_MS = 5000;
/** After so many deliveries that still get 503 when they are repeated, it is not a rate limit. */
const MAX_PAUSED_503 = 3;

/**
 * Sends, and sends again after a pause when the answer is 429 or 503. A 503 is a rate limit only when the identical
 * request gets another status later; otherwise it is the answer. Once that is certain, repeats need no pause.
 */
async function sendRepeating(
  context: RunContext,
  lane: Lane,
  assembled: Assembled,
  options: ProbeOptions,
): Promise<Attempt> {
  const { busy } = context;
  let was503 = false;
  for (let turn = 0; ; turn++) {
    // After an interruption the connections are closed, and a new one would delay the end.
    if (context.signal.aborted) return notSent(context.now, 'the run was interrupted');
    context.requests++;
    const fresh = options.fresh === true || context.silentWhenKept >= MAX_SILENT_WHEN_KEPT;
    const attempt = await lane.send(assembled, { ...options, fresh: fresh && options.kept !== true });
    if (attempt.error?.kind === 'timeout') context.waitedMs += attempt.timings.totalMs;
    const status = attempt.answer?.status;
    const is503 = status === 503 && options.inBurst !== true;
    if (was503 && status !== undefined && status !== 503) {
      busy.limits = true;
      continueSerially(context, 503);
    }
    if (status !== undefined && status !== 429) {
      context.answered++;
      context.limited = null;
    }
    if (attempt.answer === null || (status !== 429 && !is503)) return attempt;
    if (status === 429) {
      context.limited ??= { answered: context.answered, limit: limitOf(attempt.answer.headers) };
      continueSerially(context, 429);
    }
    was503 ||= is503;
    if (turn === MAX_REPEATS || context.signal.aborted) {
      if (is503) busy.constant++;
      return attempt;
    }
    const isPointless = is503 && !busy.limits && busy.constant >= MAX_PAUSED_503;
    const asked = retryAfterMs(attempt.answer.headers, Date.now()) ?? context.limits.backoffMs * 2 ** turn;
    const pause = isPointless ? 0 : Math.min(asked, MAX_PAUSE_MS);
    await delay(pause, undefined, { signal: context.signal }).catch(() => {});
  }
}

/** What the answer says about the limit. */
function limitOf(headers: readonly HeaderLine[]): string {
  return ['Retry-After', 'RateLimit-Policy']
    .flatMap((name) => headerValues(headers, name).map((value) => `${name}: ${value.slice(0, 80)}`))
    .join(', ');
}

/** From now on, one delivery at a time. */
function continueSerially(context: RunContext, status: number): void {
  if (!context.serial) {
    const message = `the endpoint answered ${status}: continuing with one delivery at a time`;
    context.emit({ type: 'notice', message });
  }
  context.serial = true;
}

const NOT_SENT = 'HOOKPROOF_NOT_SENT';

/** The attempt of a delivery that was not sent: its request was faulty, or the run was interrupted. */
function notSent(now: Date, message = 'the request was not sent'): Attempt {
  return {
    startedAt: now.toISOString(),
    timings: { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0, reused: false },
    answer: null,
    error: { kind: 'local', phase: 'send', code: NOT_SENT, message },
  };
}
