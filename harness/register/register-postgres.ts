/** The register in PostgreSQL: one table, to which rows are only added. */
import type { KeyObject } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { databaseError, openDatabase } from './postgres-tables.ts';
import { type RegisterRecord, registerRecord } from './record.ts';
import type { Register, RegisterContent } from './register-files.ts';
import { type RefreshOptions, refreshStandings } from './standing-table.ts';

const INSERT = `
INSERT INTO hookproof_register (id, partner, event, at, due, record)
SELECT id, partner, event, at, due, record
FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS given (record, place),
  jsonb_to_record(record) AS (id uuid, partner text, event text, at timestamptz, due timestamptz)
ORDER BY place
ON CONFLICT DO NOTHING`;

/** Orders records of the same millisecond as they were added. */
const SELECT = 'SELECT id, record FROM hookproof_register ORDER BY at, added';

const SELECT_PARTNER = 'SELECT record FROM hookproof_register WHERE partner = $1 ORDER BY at, added';

/**
 * Adds records, in the caller's transaction if there is one, and returns how many were stored. A second record of a
 * partner for the same due time is not stored.
 */
export async function insertRecords(
  database: Pick<Pool | PoolClient, 'query'>,
  records: readonly RegisterRecord[],
): Promise<number> {
  return (await database.query(INSERT, [JSON.stringify(records)])).rowCount ?? 0;
}

/** Returns the records of a partner in order of time, without those that this version cannot read. */
export async function recordsOf(database: Pool | PoolClient, partner: string): Promise<RegisterRecord[]> {
  const { rows } = await database.query<{ record: unknown }>(SELECT_PARTNER, [partner]);
  return rows.flatMap(({ record }) => registerRecord.safeParse(record).data ?? []);
}

export class RegisterPostgres implements Register {
  readonly #pool: Pool;

  private constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** @throws HookproofError REGISTER_DATABASE */
  static async open(url: string): Promise<RegisterPostgres> {
    return new RegisterPostgres(await openDatabase(url, { max: 2, name: 'hookproof-register' }));
  }

  async read(): Promise<RegisterContent> {
    const { rows } = await this.#pool.query<{ id: string; record: unknown }>(SELECT).catch((cause) => {
      throw databaseError('cannot be read', cause);
    });
    const notes: string[] = [];
    const records: RegisterRecord[] = [];
    for (const { id, record } of rows) {
      const { success, data } = registerRecord.safeParse(record);
      if (success) records.push(data);
      else notes.push(`record ${id}: not a record that this version of hookproof can read, so it is ignored`);
    }
    return { records, notes };
  }

  async append(records: readonly RegisterRecord[]): Promise<void> {
    if (records.length === 0) return;
    await insertRecords(this.#pool, records).catch((cause) => {
      throw databaseError('cannot be written', cause);
    });
  }

  async refresh(keys: readonly KeyObject[], options: RefreshOptions, partners: readonly string[]): Promise<void> {
    await refreshStandings(this.#pool, keys, options, partners);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
