/** One delivery of a run: checked by the oracle, sent, repeated when the endpoint asks for patience, and looked at. */
import { setTimeout as delay } from 'node:timers/promises';
import { type OfferedTlsVersion, tlsVersionName } from '../../contract/index.ts';
import type { Change, Expectation, Kit, Leak } from '../../scenarios/index.ts';
import { describeAttempt, isAccepted, type ProbeEvidence } from '../judge/index.ts';
import type { Answer, Attempt } from '../transport/index.ts';
import { type Assembled, assemble } from './assemble.ts';
import type { RunContext } from './context.ts';
import { derivedSignatures } from './derived-signatures.ts';
import type { Lane, SendOptions } from './lanes.ts';
import { findLeaks } from './leak-scan.ts';
import { faultOfControl, faultOfProbe } from './oracle.ts';
import type { PlannedScenario } from './plan.ts';

/** A delivery with all that is known about it: the raw material of evidence and of the report's exchanges. */
export interface Shipment {
  readonly role: 'control' | 'probe';
  readonly label: string;
  readonly assembled: Assembled;
  readonly attempt: Attempt;
  readonly leaks: readonly Leak[];
  readonly fault: string | null;
}

const MOST_REPEATS = 3;
const LONGEST_PAUSE_MS = 5000;

function pauseAfter429(answer: Answer, turn: number, firstMs: number): number {
  const header = answer.headers.find(([name]) => name.toLowerCase() === 'retry-after')?.[1];
  const asked = header !== undefined && /^\d+$/.test(header) ? Number(header) * 1000 : firstMs * 2 ** turn;
  return Math.min(asked, LONGEST_PAUSE_MS);
}

/** Sends, and sends again after a pause when the answer is 429: the endpoint has not looked at the delivery then. */
async function sendPatiently(
  context: RunContext,
  lane: Lane,
  assembled: Assembled,
  options: SendOptions,
): Promise<Attempt> {
  for (let turn = 0; ; turn++) {
    // After an interruption nothing more goes out: the connections are closed, and a new one would hold up the end.
    if (context.signal.aborted) return notSent(context.now, 'the run was interrupted');
    context.requests++;
    const attempt = await lane.send(assembled, options);
    if (attempt.error?.kind === 'timeout') context.waitedMs += attempt.timings.totalMs;
    if (attempt.answer?.status !== 429) return attempt;
    if (!context.serial)
      context.emit({ type: 'notice', message: 'the endpoint answered 429: going on one delivery at a time' });
    context.serial = true;
    if (turn === MOST_REPEATS || context.signal.aborted) return attempt;
    const pause = pauseAfter429(attempt.answer, turn, context.limits.backoffMs);
    await delay(pause, undefined, { signal: context.signal }).catch(() => {});
  }
}

/** The record of a delivery that was not sent: it was not what it should be, or the run was interrupted. */
function notSent(now: Date, message = 'the request was not sent'): Attempt {
  return {
    startedAt: now.toISOString(),
    timings: { connectMs: null, tlsMs: null, firstByteMs: null, totalMs: 0, reused: false },
    answer: null,
    error: { kind: 'local', phase: 'send', code: 'HOOKPROOF_NOT_SENT', message },
  };
}

/** What the request itself has told: the values of its headers and of its query. */
function sentValues({ prepared: { headers, target } }: Assembled): string[] {
  const query = target.indexOf('?');
  const inQuery = query === -1 ? [] : new URLSearchParams(target.slice(query)).values();
  return [...headers.map(([, value]) => value), target, ...inQuery];
}

async function ship(
  context: RunContext,
  lane: Lane,
  assembled: Assembled,
  role: Shipment['role'],
  label: string,
  fault: string | null,
  options: SendOptions,
): Promise<Shipment> {
  if (fault !== null) return { role, label, assembled, attempt: notSent(context.now), leaks: [], fault };
  for (const value of derivedSignatures(assembled)) context.onSignature(value);
  const attempt = await sendPatiently(context, lane, assembled, options);
  const leaks =
    attempt.answer === null
      ? []
      : findLeaks(attempt.answer, context.partner, assembled.rightSignature, sentValues(assembled));
  return { role, label, assembled, attempt, leaks, fault: null };
}

/** Sends the plain valid delivery; with a version, over a connection of its own that offers this version alone. */
export async function shipControl(
  context: RunContext,
  lane: Lane,
  label: string,
  { version, ...options }: SendOptions & { readonly version?: OfferedTlsVersion | undefined } = {},
): Promise<Shipment> {
  const change: Change =
    version === undefined ? {} : { connect: { label: `${tlsVersionName(version)} alone`, version } };
  const assembled = assemble(change, context.controlKit, context.partner);
  const shipment = await ship(
    context,
    lane,
    assembled,
    'control',
    label,
    faultOfControl(assembled, context.partner),
    options,
  );
  if (isAccepted(shipment.attempt)) context.seen.answerTimesMs.push(shipment.attempt.timings.totalMs);
  return shipment;
}

/** Sends a probe. */
export function shipProbe(
  context: RunContext,
  lane: Lane,
  delivery: { readonly label: string; readonly change: Change; readonly expect: Expectation },
  kit: Kit,
  options: SendOptions = {},
): Promise<Shipment> {
  const assembled = assemble(delivery.change, kit, context.partner);
  const fault = faultOfProbe(assembled, context.partner, delivery.expect.authentic);
  return ship(context, lane, assembled, 'probe', delivery.label, fault, options);
}

/** The judge's view of a probe. */
export function evidenceOf(shipment: Shipment, expect: Expectation): ProbeEvidence {
  const { label, attempt, leaks, fault } = shipment;
  return { label, expect, attempt, leaks, probeFault: fault };
}

/** The controls around the probes of a trial: plain valid deliveries, tried again before anything is concluded from them. */

/** The control that counts, and what came at the first try when that was not accepted. */
interface SteadyControl {
  readonly control: Shipment;
  readonly failed: string | null;
}

/** A control, and a second one on a new connection when the first is not accepted: one bad answer is no outage yet. */
export async function steadyControl(
  context: RunContext,
  lane: Lane,
  label: string,
  version: OfferedTlsVersion | undefined,
): Promise<SteadyControl> {
  const first = await shipControl(context, lane, label, { version });
  if (isAccepted(first.attempt) || first.fault !== null || first.attempt.answer?.status === 429)
    return { control: first, failed: null };
  const second = await shipControl(context, lane, `${label}, second try`, { fresh: true, version });
  return { control: second, failed: describeAttempt(first.attempt) };
}

/** For the observation that an endpoint accepts the plain valid delivery every time. */
export function noteFailure(
  context: RunContext,
  { scenario }: PlannedScenario,
  { control, failed }: SteadyControl,
): void {
  if (failed === null) return;
  context.seen.failedControls.push({ scenario: scenario.id, observed: failed, again: isAccepted(control.attempt) });
}

/** How it shows in a control that the receiver stopped accepting plain valid deliveries, or null. */
export function outageAfter(after: Shipment): string | null {
  if (isAccepted(after.attempt) || after.fault !== null || after.attempt.answer?.status === 429) return null;
  const { answer } = after.attempt;
  return answer === null ? describeAttempt(after.attempt) : `the plain valid delivery got ${answer.status}`;
}

/**
 * The control before the probes. `versionRefused`: an endpoint that refuses the plain valid delivery over this version and accepts it over any has
 * not stopped answering.
 */
export async function firstControl(
  context: RunContext,
  lane: Lane,
  planned: PlannedScenario,
  version: OfferedTlsVersion | undefined,
): Promise<{ readonly control: Shipment; readonly versionRefused: boolean }> {
  const steady = await steadyControl(context, lane, 'control before', version);
  const { control } = steady;
  if (version !== undefined && outageAfter(control) !== null) {
    const overAny = await shipControl(context, lane, 'control over any version', { fresh: true });
    if (isAccepted(overAny.attempt)) {
      // It may have come back in the meantime.
      const again = await shipControl(context, lane, 'control before, third try', { fresh: true, version });
      const versionRefused = !isAccepted(again.attempt);
      if (!versionRefused) noteFailure(context, planned, { ...steady, control: again });
      return { control: again, versionRefused };
    }
  }
  noteFailure(context, planned, steady);
  return { control, versionRefused: false };
}
