/** Summarises a delivery as one line of the list. */

import type { Masker } from './masking.ts';
import { type AnswerVerdict, type RecordedDelivery, type Recorder, textIn } from './recorder.ts';

export interface DeliverySummary {
  readonly id: string;
  readonly number: number;
  /** Time of arrival, in ISO 8601. */
  readonly at: string;
  readonly outcome: 'accepted' | 'duplicate' | 'refused' | 'aborted';
  readonly status?: number | undefined;
  /** Verdict on another receiver's answer. */
  readonly answered?: AnswerVerdict | undefined;
  /** Why a delivery through a proxy needs attention; undefined if it does not. */
  readonly alarm?: 'accepted although invalid' | 'refused although valid' | 'no answer' | undefined;
  readonly reason?: string | undefined;
  readonly kind?: string | undefined;
  readonly notificationId?: string | undefined;
  readonly transactionId?: string | undefined;
  /** True when the ids come from a delivery that was rejected or not checked. */
  readonly claimed: boolean;
  /** Length of the body, in bytes. */
  readonly size?: number | undefined;
  readonly durationMs: number;
}

/** Maximum size, in bytes, of an unverified body from which the ids are read. */
const CLAIMS_UP_TO = 8 * 1024;
const MAX_TEXT = 200;

export type Summarise = (delivery: RecordedDelivery) => DeliverySummary;

/** Returns a function that creates the summary of a delivery on first use, and caches it. */
export function createSummariser(recorder: Recorder, masker: Masker): Summarise {
  const made = new WeakMap<RecordedDelivery, DeliverySummary>();
  return (delivery) => {
    const before = made.get(delivery);
    if (before !== undefined) return before;
    const summary = summarise(delivery, recorder.idOf(delivery), masker);
    made.set(delivery, summary);
    return summary;
  };
}

function summarise(delivery: RecordedDelivery, id: string, masker: Masker): DeliverySummary {
  const { number, outcome, status, reason, kind, duplicate, bodyLength, receivedAt, durationMs } = delivery;
  const short = (text: string | undefined) => (text === undefined ? undefined : masker.text(text).slice(0, MAX_TEXT));
  const verified = delivery.notificationId !== undefined;
  const ids = verified ? delivery : claimedIds(delivery.rawBody);
  return {
    id,
    number,
    at: receivedAt.toISOString(),
    outcome: outcome === 'accepted' && duplicate ? 'duplicate' : outcome,
    status,
    answered: delivery.forwarded?.answered,
    alarm: alarmOf(delivery),
    reason: short(reason),
    kind: short(kind),
    notificationId: short(ids.notificationId),
    transactionId: short(ids.transactionId),
    claimed: !verified,
    size: bodyLength,
    durationMs: Math.round(durationMs * 1000) / 1000,
  };
}

function alarmOf({ forwarded, reason = '' }: RecordedDelivery): DeliverySummary['alarm'] {
  if (forwarded === undefined) return undefined;
  if (forwarded.answered === 'unsafe') return 'accepted although invalid';
  if (reason === 'refused-although-valid') return 'refused although valid';
  // A sender that closes the connection gets no answer.
  return /^no-answer(?! \(connection-closed\))/.test(reason) ? 'no answer' : undefined;
}

function claimedIds(body: Buffer | undefined): {
  notificationId?: string | undefined;
  transactionId?: string | undefined;
} {
  if (body === undefined || body.length > CLAIMS_UP_TO) return {};
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    const data = typeof value === 'object' && value !== null ? (value as { data?: unknown }).data : undefined;
    return { notificationId: textIn(value, 'id'), transactionId: textIn(data, 'transactionId') };
  } catch {
    return {};
  }
}
