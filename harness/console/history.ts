/** The records of a partner, and the causes of all partners by week. */
import type { Pool } from 'pg';
import { registerRecord } from '../register/index.ts';
import { cursorOf, readCursor } from './cursor.ts';
import type { RecordPage, RecordsQuery } from './schemas.ts';

/** Returns a page of a partner's records, newest first, and the number of unreadable records that it omits. */
export async function readRecords(
  pool: Pool,
  partner: string,
  { after, event, limit }: RecordsQuery,
): Promise<RecordPage & { unreadable: number }> {
  const values: unknown[] = [partner];
  const param = (value: unknown) => `$${values.push(value)}`;
  const conditions = ['partner = $1'];
  if (event !== undefined && event.length > 0) conditions.push(`event = ANY(${param(event)})`);
  if (after !== undefined) {
    const [at, added] = readCursor(after, 2);
    conditions.push(`(at, added) < (${param(at)}::timestamptz, ${param(added)}::bigint)`);
  }
  const { rows } = await pool.query<{ place: string; added: string; record: unknown }>(
    `SELECT at::text AS place, added, record FROM hookproof_register
    WHERE ${conditions.join(' AND ')} ORDER BY at DESC, added DESC LIMIT ${param(limit + 1)}`,
    values,
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const records = shown.flatMap(({ record }) => {
    const { success, data } = registerRecord.safeParse(record);
    if (!success) return [];
    const { grant: _, ...others } = data;
    return [others];
  });
  return {
    partner,
    records,
    unreadable: shown.length - records.length,
    next: rows.length > limit && last !== undefined ? cursorOf([last.place, last.added]) : null,
  };
}

interface Trend {
  readonly cause: string;
  /** The number of partners that had a run with this cause, for each week. */
  readonly partners: readonly number[];
}

export interface Trends {
  /** The first day of each week (YYYY-MM-DD), oldest first. */
  readonly weeks: readonly string[];
  readonly trends: readonly Trend[];
  /** The number of less frequent causes that `trends` omits. */
  readonly others: number;
}

const MAX_TRENDS = 30;
const DAY_MS = 86_400_000;

/** Counts the partners with each cause by week, the most frequent cause first. */
export async function readTrends(pool: Pool, weeks: number, now = new Date()): Promise<Trends> {
  const monday = now.getTime() - (now.getTime() % DAY_MS) - ((now.getUTCDay() + 6) % 7) * DAY_MS;
  const starts = Array.from({ length: weeks }, (_, at) => monday - (weeks - 1 - at) * 7 * DAY_MS);
  const days = starts.map((start) => new Date(start).toISOString().slice(0, 10));
  const { rows } = await pool.query<{ cause: string; week: string; partners: number }>(
    `SELECT week::text, cause, count(*)::integer AS partners FROM (
      SELECT DISTINCT week, cause, partner FROM hookproof_register
      WHERE cause IS NOT NULL AND week >= $1::date AND week <= $2::date
    ) AS found GROUP BY week, cause`,
    [days[0], days.at(-1)],
  );
  const byCause = new Map<string, number[]>();
  for (const { cause, partners, week } of rows) {
    const counts = byCause.get(cause) ?? days.map(() => 0);
    counts[days.indexOf(week)] = partners;
    byCause.set(cause, counts);
  }
  const sum = (counts: readonly number[]) => counts.reduce((total, one) => total + one, 0);
  const ordered = [...byCause].toSorted(([, one], [, other]) => sum(other) - sum(one));
  return {
    weeks: days,
    trends: ordered.slice(0, MAX_TRENDS).map(([cause, partners]) => ({ cause, partners })),
    others: Math.max(0, ordered.length - MAX_TRENDS),
  };
}
