/** One delivery of a run: checked by the oracle, sent, repeated when the endpoint asks for patience, and looked at. */
import { setTimeout as delay } from 'node:timers/promises';
import { type OfferedTlsVersion, tlsVersionName } from '../../contract/index.ts';
import type { Change, Expectation, Kit, Leak } from '../../scenarios/index.ts';
import { isAccepted, type ProbeEvidence } from '../judge/index.ts';
import type { Answer, Attempt } from '../sender/index.ts';
import { type Assembled, assemble } from './assemble.ts';
import type { RunContext } from './context.ts';
import { derivedSignatures } from './derived-signatures.ts';
import type { Lane, SendOptions } from './lane.ts';
import { findLeaks } from './leak-scan.ts';
import { faultOfControl, faultOfProbe } from './oracle.ts';

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
