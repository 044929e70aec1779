/** The inbox for several receivers: one PostgreSQL database that they share, and whose work they share. */
import type { DatabaseError, Pool } from 'pg';
import { POSTGRES } from './dialect.ts';
import type { Filing } from './filing.ts';
import { groupCommit } from './group-commit.ts';
import type { DurableInbox, Settlement } from './inbox.ts';
import { type InboxMeter, silentMeter } from './meter.ts';
import { openPool, type PostgresWarning } from './postgres-pool.ts';
import { PUT_MANY, RELEASE_MANY, SETTLE_MANY } from './postgres-statements.ts';
import { filingValues, orderValues, settlementValues } from './row-values.ts';
import { type SqlDatabase, type SqlRow, type SqlValue, sqlInbox, transactionsOf } from './sql-inbox.ts';

/** One write fills while the other is on its way. More of them only make each smaller. */
const PARALLEL_WRITES = 2;
const DEADLOCK = '40P01';
const MAX_ROWS = 512;
const MAX_BYTES = 8 * 1024 * 1024;
/** How long a delivery waits to be stored, in milliseconds, before it is answered 503: well under the time limit of a sender, 10 s. */
const PATIENCE_MS = 5000;

/** Connects. Throws `HookproofError` `INBOX_OPEN`, `INBOX_SCHEMA`, `INBOX_NOT_DURABLE`. `owner` tells this receiver from others. */
export async function postgresInbox(
  url: string,
  { owner, meter = silentMeter, onWarning }: { owner: string; meter?: InboxMeter; onWarning: PostgresWarning },
): Promise<DurableInbox> {
  const pool = await openPool(url, onWarning);
  const unreleased = new Set<string>();
  const release = async (transactions: readonly string[]) => {
    for (const each of transactions) unreleased.add(each);
    if (unreleased.size === 0) return;
    const all = [...unreleased];
    await pool.query({ name: 'release-many', text: RELEASE_MANY, values: [all] });
    for (const each of all) unreleased.delete(each);
  };
  const puts = groupCommit<Filing, 'stored' | 'duplicate'>({
    write: (filings) => measured(meter, filings.length, () => putMany(pool, filings)),
    parallel: PARALLEL_WRITES,
    patienceMs: PATIENCE_MS,
    maxItems: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeOf: ({ rawBody }) => rawBody.length,
  });
  const settlements = groupCommit<Settlement, boolean>({
    write: async (given) => {
      const rows = await measured(meter, given.length, () => settleMany(pool, given));
      // Once more, after the commit: only now is seen what another receiver has inserted, and put behind, meanwhile. When it fails, the next one does it.
      await release(transactionsOf(rows)).catch(() => {});
      const settled = new Set(rows.map((row) => claimKey(String(row.id), Number(row.attempt))));
      return given.map(({ claim }) => settled.has(claimKey(claim.id, claim.attempt)));
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
    release,
    read: async (text, values = []) => (await pool.query(text, [...values])).rows,
    write: async (text, values = []) => {
      try {
        const { rows, rowCount } = await pool.query(text, [...values]);
        return { rows, changes: rowCount ?? 0 };
      } catch (error) {
        // Another receiver has just claimed an entry of the same transaction that came later and belongs before it. This claim has changed nothing.
        // When both do that to each other, PostgreSQL calls it a deadlock.
        const { constraint, code } = error as DatabaseError;
        if (constraint === 'hookproof_inbox_one_at_a_time' || code === DEADLOCK) return { rows: [], changes: 0 };
        throw error;
      }
    },
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

/** Gives those that were ours. */
async function settleMany(pool: Pool, settlements: readonly Settlement[]): Promise<readonly SqlRow[]> {
  const steps = settlements.flatMap((each) =>
    'order' in each && each.order !== null ? [[each.claim.id, each.claim.attempt, ...orderValues(each.order)]] : [],
  );
  const values = [...columns(settlements.map(settlementValues), 7), ...columns(steps, 6)];
  return (await pool.query({ name: 'settle-many', text: SETTLE_MANY, values })).rows;
}

/** One entry can be here twice: as it was claimed before its lease ran out, and as it is claimed now. */
const claimKey = (id: string, attempt: number) => `${attempt} ${id}`;

/** Rows as columns. */
function columns(rows: readonly (readonly SqlValue[])[], width: number): SqlValue[][] {
  return Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? null));
}
