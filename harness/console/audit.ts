/** The audit: who did what in the console. Entries are only ever added, each in the transaction of its action. */
import type { Pool, PoolClient } from 'pg';
import type { AuditEntry } from './schemas.ts';

export interface Done {
  readonly who: string;
  readonly action: string;
  readonly partner: string;
  readonly reason: string;
  readonly details: Readonly<Record<string, string>>;
}

export async function addAuditEntry(client: PoolClient, { action, details, partner, reason, who }: Done) {
  await client.query(
    'INSERT INTO hookproof_audit (who, action, partner, reason, details) VALUES ($1, $2, $3, $4, $5)',
    [who, action, partner, reason, JSON.stringify(details)],
  );
}

interface AuditQuery {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly partner?: string;
}

/** Returns a page of audit entries, newest first. */
export async function readAudit(
  pool: Pool,
  { after, limit, partner }: AuditQuery,
): Promise<{ entries: AuditEntry[]; next: string | null }> {
  const { rows } = await pool.query<Omit<AuditEntry, 'at'> & { at: Date }>(
    `SELECT id, at, who, action, partner, reason FROM hookproof_audit
    WHERE ($1::bigint IS NULL OR id < $1) AND ($2::text IS NULL OR partner = $2) ORDER BY id DESC LIMIT $3`,
    [after ?? null, partner ?? null, limit + 1],
  );
  const entries = rows.slice(0, limit).map((row) => ({ ...row, at: row.at.toISOString() }));
  return { entries, next: rows.length > limit ? (entries.at(-1)?.id ?? null) : null };
}
