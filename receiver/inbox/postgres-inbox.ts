/** The inbox for several receivers: one PostgreSQL database that they share, and whose work they share. */
import type { Pool } from 'pg';
import { POSTGRES } from './dialect.ts';
import type { Filing } from './filing.ts';
import { groupCommit } from './group-commit.ts';
import type { DurableInbox, Settlement } from './inbox.ts';
import { type InboxMeter, silentMeter } from './meter.ts';
import { openPool, type PostgresWarning } from './postgres-pool.ts';
import { PUT_MANY, SETTLE_MANY } from './postgres-statements.ts';
import { filingValues, orderValues, settlementValues } from './row-values.ts';
import { type SqlDatabase, type SqlValue, sqlInbox } from './sql-inbox.ts';
import { statements } from './statements.ts';

/** One write fills while the other is on its way. More of them only make each smaller. */
const PARALLEL_WRITES = 2;
const MAX_ROWS = 512;
/**
 * unique_violation, deadlock_detected: two receivers claimed different entries of one transaction, because one of them came in between. The
 * index that keeps them apart let the other one have it.
 */
const LOST_RACES: ReadonlySet<string> = new Set(['23505', '40P01']);
const MAX_BYTES = 8 * 1024 * 1024;

/** Connects. Throws `HookproofError` `INBOX_OPEN`, `INBOX_SCHEMA`, `INBOX_NOT_DURABLE`. `owner` tells this receiver from others. */
export async function postgresInbox(
  url: string,
  { owner, meter = silentMeter, onWarning }: { owner: string; meter?: InboxMeter; onWarning: PostgresWarning },
): Promise<DurableInbox> {
  const pool = await openPool(url, onWarning);
  const { releaseRefunds } = statements(POSTGRES);
  const puts = groupCommit<Filing, 'stored' | 'duplicate'>({
    write: (filings) => measured(meter, filings.length, () => putMany(pool, filings)),
    parallel: PARALLEL_WRITES,
    maxItems: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeOf: ({ rawBody }) => rawBody.length,
  });
  const settlements = groupCommit<Settlement, boolean>({
    write: async (given) => {
      const settled = await measured(meter, given.length, () => settleMany(pool, given));
      if (given.some((each) => 'order' in each && each.order?.failed)) {
        await pool.query(releaseRefunds);
      }
      return settled;
    },
    parallel: 1,
    maxItems: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeOf: () => 1,
  });
  const database: SqlDatabase = {
    dialect: POSTGRES,
    put: (filing) => puts.write(filing),
    settle: (settlement) => settlements.write(settlement),
    read: async (text, values = []) => (await pool.query(text, [...values])).rows,
    write: async (text, values = []) => {
      const { rows, rowCount } = await pool.query(text, [...values]);
      return { rows, changes: rowCount ?? 0 };
    },
    lostRace: (error) => error instanceof Error && 'code' in error && LOST_RACES.has(String(error.code)),
    async close() {
      await Promise.all([puts.settled(), settlements.settled()]);
      await pool.end();
    },
  };
  return sqlInbox(database, owner);
}

async function measured<T>(meter: InboxMeter, writes: number, write: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await write();
  meter.committed(writes, (performance.now() - startedAt) / 1000);
  return result;
}

async function putMany(pool: Pool, filings: readonly Filing[]): Promise<('stored' | 'duplicate')[]> {
  const { rows } = await pool.query({
    name: 'put-many',
    text: PUT_MANY,
    values: columns(filings.map(filingValues), 11),
  });
  const fresh = new Set(rows.map(({ id }) => String(id)));
  // Of copies that came together, the first is the one that was stored.
  return filings.map(({ id }) => (fresh.delete(id) ? 'stored' : 'duplicate'));
}

async function settleMany(pool: Pool, settlements: readonly Settlement[]): Promise<boolean[]> {
  const steps = settlements.flatMap((each) =>
    'order' in each && each.order !== null ? [[each.claim.id, ...orderValues(each.order)]] : [],
  );
  const values = [...columns(settlements.map(settlementValues), 7), ...columns(steps, 5)];
  const { rows } = await pool.query({ name: 'settle-many', text: SETTLE_MANY, values });
  const settled = new Set(rows.map(({ id }) => String(id)));
  return settlements.map(({ claim }) => settled.has(claim.id));
}

/** Rows as columns. */
function columns(rows: readonly (readonly SqlValue[])[], width: number): SqlValue[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? null));
}
