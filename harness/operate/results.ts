import type { Pool } from 'pg';
import { sha256 } from '../certify/index.ts';
import { insertRecords, inTransaction, type RegisterRecord } from '../register/index.ts';
import type { PlannedPartner } from './plan.ts';
import { holdsJob, type Job } from './queue.ts';

export const CERTIFICATE_TABLE = `
CREATE TABLE IF NOT EXISTS hookproof_certificate (
  partner text NOT NULL,
  record uuid PRIMARY KEY,
  due timestamptz,
  envelope text NOT NULL,
  configuration text NOT NULL,
  sha256 text NOT NULL
);
CREATE INDEX IF NOT EXISTS hookproof_certificate_partner ON hookproof_certificate (partner, sha256);`;

/** The files of a certificate. */
export interface CertificateFiles {
  readonly envelope: string;
  readonly configuration: string;
}

export interface Result {
  readonly record: RegisterRecord;
  readonly certificate: CertificateFiles | null;
}

/**
 * Stores the result of a slot, unless the slot has one or another worker now holds the job. Returns whether it was
 * stored.
 */
export async function storeResult(pool: Pool, job: Job, { certificate, record }: Result): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    if (!(await holdsJob(client, job))) return false;
    const { due, id, partner } = record;
    if ((await insertRecords(client, [record])) === 0) return false;
    if (certificate !== null) {
      const { configuration, envelope } = certificate;
      const values = [partner, id, due, envelope, configuration, sha256(Buffer.from(envelope))];
      await client.query('INSERT INTO hookproof_certificate VALUES ($1, $2, $3, $4, $5, $6)', values);
    }
    return true;
  });
}

export function hasResult(records: readonly RegisterRecord[], due: string): boolean {
  return records.some((record) => record.due === due);
}

/** Returns a certificate by its digest; null if this database does not have it. */
export async function certificateBySha(pool: Pool, partner: string, digest: string): Promise<Buffer | null> {
  const select = 'SELECT envelope FROM hookproof_certificate WHERE partner = $1 AND sha256 = $2';
  const { rows } = await pool.query<{ envelope: string }>(select, [partner, digest]);
  return rows[0] === undefined ? null : Buffer.from(rows[0].envelope);
}

/** Returns the newest certificate of a partner, with the slot in which it was issued. */
export async function newestCertificate(
  pool: Pool,
  partner: string,
): Promise<(CertificateFiles & { readonly due: Date; readonly sha256: string }) | null> {
  const { rows } = await pool.query<CertificateFiles & { due: Date; sha256: string }>(
    `SELECT envelope, configuration, due, sha256 FROM hookproof_certificate
    WHERE partner = $1 ORDER BY due DESC NULLS LAST LIMIT 1`,
    [partner],
  );
  return rows[0] ?? null;
}

/** Reads the last slot that has a record from the index of (partner, due). */
const PLANNED = `
SELECT name AS partner, state, until, revision, host,
  CASE WHEN state = 'drifted'
    THEN jsonb_path_query_first(standing, '$.last[*] ? (@.event == "drifted").drift') #>> '{}' END AS drift,
  (SELECT max(due) FROM hookproof_register WHERE partner = name AND due IS NOT NULL) AS "lastDue"
FROM unnest($1::text[]) AS name LEFT JOIN hookproof_standing ON partner = name`;

/** Returns what the planner needs to know about each of the named partners. `host` includes the port. */
export async function plannedPartners(
  pool: Pool,
  names: readonly string[],
): Promise<(PlannedPartner & { readonly host: string | null })[]> {
  const { rows } = await pool.query<PlannedPartner & { host: string | null }>(PLANNED, [names]);
  return rows;
}
