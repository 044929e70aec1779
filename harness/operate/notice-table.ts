/** The notices in PostgreSQL: one row for each notice and recipient, with the time of the next attempt. */
import { type KeyObject, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { JsonObject } from '../../contract/index.ts';
import type { NoticeDestination } from '../config/index.ts';
import { type RegisterRecord, recordsOf, type Standing, standingsOf } from '../register/index.ts';
import { type Notice, noticeBody, noticesFor, RECIPIENTS, type Recipient } from './notices.ts';
import { type SendNoticeOptions, sendNotice } from './send-notice.ts';

const INSERT = `
INSERT INTO hookproof_notice (id, partner, kind, subject, recipient, record, at, body, next_at)
SELECT id, partner, kind, subject, recipient, record, at, body, at
FROM jsonb_to_recordset($1::jsonb) AS given
  (id uuid, partner text, kind text, subject text, recipient text, record uuid, at timestamptz, body jsonb)
ON CONFLICT DO NOTHING`;

/** Partners with new records since a time. Only these events can change a standing. */
const CHANGED = `
SELECT DISTINCT partner FROM hookproof_register
WHERE at > $1 AND event IN ('certified', 'failed', 'drifted', 'revoked', 'override')`;

/**
 * Partners that may get traffic according to their row, but whose permission ends soon or whose revision is superseded,
 * and that have no notice about it.
 */
const OVERDUE = `
SELECT partner, until FROM hookproof_standing AS standing
WHERE state IN ('certified', 'allowed') AND (
  (until <= $1::timestamptz + interval '14 days' AND NOT EXISTS (
    SELECT FROM hookproof_notice AS notice WHERE notice.partner = standing.partner AND notice.at >= standing.since
      AND notice.kind = CASE WHEN until <= $1 THEN 'worse' ELSE 'expiring' END))
  OR (revision < $2 AND NOT EXISTS (
    SELECT FROM hookproof_notice AS notice WHERE notice.partner = standing.partner AND notice.at >= standing.since
      AND notice.kind = 'revision-superseded' AND notice.subject LIKE $2 || ' %')))`;

export interface PlanNoticesOptions {
  /** The trusted public keys of the operator. A grant that none of them signed does not count. */
  readonly keys: readonly KeyObject[];
  /** When notices were last planned, or a little earlier: records since then are considered. */
  readonly since: Date;
  readonly at: Date;
  readonly currentRevision: number;
}

/**
 * Stores the notices that follow from the records and the time, regardless of which process added the records. Running
 * this again, or in two processes, is harmless: each notice is stored once.
 */
export async function planNotices(pool: Pool, { since, ...options }: PlanNoticesOptions): Promise<void> {
  const { at, currentRevision } = options;
  const changed = await pool.query<{ partner: string }>(CHANGED, [since.toISOString()]);
  for (const { partner } of changed.rows) {
    const records = await recordsOf(pool, partner);
    const fresh = records.flatMap((record, place) =>
      record.at > since.toISOString() && record.at <= at.toISOString()
        ? arisen(records.slice(0, place), records.slice(0, place + 1), record, options)
        : [],
    );
    await addNotices(pool, fresh, at);
  }
  const overdue = await pool.query<{ partner: string; until: Date }>(OVERDUE, [at.toISOString(), currentRevision]);
  for (const { partner, until } of overdue.rows) {
    const records = await recordsOf(pool, partner);
    const before = new Date(Math.min(at.getTime(), until.getTime() - 1));
    await addNotices(pool, arisen(records, records, null, options, before), at);
  }
}

/** Returns the notices, each with the standing that it is about. */
function arisen(
  earlier: readonly RegisterRecord[],
  records: readonly RegisterRecord[],
  record: RegisterRecord | null,
  { keys, at: now, currentRevision }: Omit<PlanNoticesOptions, 'since'>,
  before = record === null ? now : new Date(record.at),
) {
  const at = record === null ? now : new Date(record.at);
  const [was = null] = standingsOf(earlier, { keys, at: before, currentRevision });
  const [standing] = standingsOf(records, { keys, at, currentRevision });
  if (standing === undefined) return [];
  const notices = noticesFor({ before: was, after: standing, record, at, currentRevision });
  return notices.map((notice) => ({ notice, standing }));
}

/** Stores notices, each once, for the operator and for the partner. */
async function addNotices(
  pool: Pool,
  notices: readonly { readonly notice: Notice; readonly standing: Standing }[],
  at: Date,
): Promise<void> {
  if (notices.length === 0) return;
  const rows = notices.flatMap(({ notice, standing }) =>
    RECIPIENTS.map((recipient) => {
      const id = randomUUID();
      return {
        id,
        ...notice,
        recipient,
        at: at.toISOString(),
        body: noticeBody(notice, { id, at, recipient, standing }),
      };
    }),
  );
  await pool.query(INSERT, [JSON.stringify(rows)]);
}

/** Returns the ids of the notices to send now. Each becomes a job with the id as its key. */
export async function dueNotices(pool: Pool, at: Date): Promise<string[]> {
  const due = 'SELECT id FROM hookproof_notice WHERE next_at <= $1 ORDER BY next_at LIMIT 1000';
  return (await pool.query<{ id: string }>(due, [at.toISOString()])).rows.map(({ id }) => id);
}

/** Returns the job that sends a notice. */
export function noticeJob({ id }: { readonly id: string }) {
  return { task: 'notice', key: `notice ${id}`, payload: { id } };
}

interface NoticeRow {
  readonly partner: string;
  readonly recipient: Recipient;
  readonly attempts: number;
  readonly body: JsonObject;
}

export interface DeliverNoticeOptions extends Omit<SendNoticeOptions, 'secrets'> {
  /** Returns where notices about a partner go, and its secrets. */
  readonly destinationsOf: (partner: string) => Promise<{
    readonly notices: Readonly<Record<Recipient, NoticeDestination | null>>;
    readonly secrets: SendNoticeOptions['secrets'];
  }>;
  /** A number in [0, 1). */
  readonly random?: () => number;
}

/** Maximum number of attempts. Together, they take about half a day. */
const MAX_ATTEMPTS = 12;
const BASE_MS = 30_000;
const MAX_WAIT_MS = 4 * 3_600_000;
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/**
 * Makes one attempt to send a notice that has not been sent yet, and stores the result. After a failure, the notice is
 * due again later. If no URL is configured for its recipient, it is not sent, and stays in the list.
 */
export async function deliverNotice(pool: Pool, id: string, options: DeliverNoticeOptions): Promise<void> {
  const { destinationsOf, now = Date.now, random = Math.random, ...sending } = options;
  const select =
    'SELECT partner, recipient, attempts, body FROM hookproof_notice WHERE id = $1 AND next_at IS NOT NULL';
  const [row] = (await pool.query<NoticeRow>(select, [id])).rows;
  if (row === undefined) return;
  const end = async (values: { sent?: true; attempts: number; error?: string; nextMs?: number }) => {
    const time = (ms: number) => new Date(ms).toISOString();
    await pool.query(
      'UPDATE hookproof_notice SET sent_at = $2, attempts = $3, last_error = $4, next_at = $5 WHERE id = $1',
      [
        id,
        values.sent === true ? time(now()) : null,
        values.attempts,
        values.error ?? null,
        values.nextMs === undefined ? null : time(now() + values.nextMs),
      ],
    );
  };
  const { notices, secrets } = await destinationsOf(row.partner);
  const destination = notices[row.recipient];
  if (destination === null) {
    await end({ attempts: row.attempts, error: 'no URL is configured' });
    return;
  }
  const outcome = await sendNotice(row.body, destination, { ...sending, now, secrets });
  const attempts = row.attempts + 1;
  if (outcome.kind === 'sent') await end({ sent: true, attempts });
  else if (outcome.kind === 'refused') await end({ attempts, error: outcome.error });
  else if (attempts >= MAX_ATTEMPTS) await end({ attempts, error: `${outcome.error}; given up` });
  else {
    const backoff = random() * Math.min(MAX_WAIT_MS, BASE_MS * 2 ** (attempts - 1));
    const asked = Math.min(outcome.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
    await end({ attempts, error: outcome.error, nextMs: Math.max(backoff, asked) });
  }
}
