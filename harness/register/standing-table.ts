/**
 * The table of standings in PostgreSQL: one row for each partner, derived from the records, for lists, sorting
 * and searching.
 *
 * Rows are a cache, and are not trusted: for a row that says that a partner may get traffic, {@link readStandingRow}
 * verifies the grant and takes the expiry from it.
 */
import type { KeyObject } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { sha256 } from '../certify/canonical-json.ts';
import { keyIdOf } from '../certify/keys.ts';
import { databaseError, inTransaction } from './postgres-tables.ts';
import { type Grant, type RegisterRecord, readGrant, registerRecord } from './record.ts';
import { endpointOf, judgedBy, type Standing, type State, standingsOf } from './standing.ts';

export interface RefreshOptions {
  /** The newest revision of the catalogue. Certificates for older ones get a warning. */
  readonly currentRevision: number;
  readonly now: Date;
}

/** Increment this when the derivation of standings changes: all rows are then derived again. */
const DERIVATION = 2;
/** Maximum number of partners whose records are in memory at once. */
const BATCH = 100;
/** The first key of the advisory locks. The second key stands for the partner. */
const PARTNER_LOCKS = 7_355_610;

/**
 * Selects the partners whose standing does not include their newest record, or was derived on another basis. Reads one
 * index entry per partner instead of all records.
 */
const STALE = `
WITH RECURSIVE newest AS (
  (SELECT partner, added FROM hookproof_register ORDER BY partner, added DESC LIMIT 1)
  UNION ALL
  SELECT following.partner, following.added FROM newest, LATERAL (
    SELECT partner, added FROM hookproof_register
    WHERE partner > newest.partner ORDER BY partner, added DESC LIMIT 1
  ) AS following
)
SELECT partner FROM newest LEFT JOIN hookproof_standing AS standing USING (partner)
WHERE standing.partner IS NULL OR standing.added < newest.added OR standing.basis <> $1
ORDER BY partner`;

const RECORDS = `
SELECT partner, added, record FROM hookproof_register WHERE partner = ANY($1) ORDER BY partner, at, added`;

const UPSERT = `
INSERT INTO hookproof_standing
SELECT row.* FROM jsonb_populate_recordset(NULL::hookproof_standing, $1::jsonb) AS row
ON CONFLICT (partner) DO UPDATE SET
  (state, since, until, url, host, cause, reason, warnings, last_event, last_at, judged_at, certified_at, revision,
    profile, added, basis, "grant", standing) =
  ROW (EXCLUDED.state, EXCLUDED.since, EXCLUDED.until, EXCLUDED.url, EXCLUDED.host, EXCLUDED.cause, EXCLUDED.reason,
    EXCLUDED.warnings, EXCLUDED.last_event, EXCLUDED.last_at, EXCLUDED.judged_at, EXCLUDED.certified_at,
    EXCLUDED.revision, EXCLUDED.profile, EXCLUDED.added, EXCLUDED.basis, EXCLUDED."grant", EXCLUDED.standing)`;

/**
 * Updates the standings of the named partners; without names, of those with a newer record, and of those whose standing
 * was derived with other keys or for another revision. Returns the names of the updated partners.
 *
 * @throws HookproofError REGISTER_DATABASE
 */
export async function refreshStandings(
  pool: Pool,
  keys: readonly KeyObject[],
  options: RefreshOptions,
  partners?: readonly string[],
): Promise<string[]> {
  const basis = basisOf(keys, options);
  try {
    const names = partners === undefined ? await staleIn(pool, basis) : [...new Set(partners)].toSorted();
    for (let at = 0; at < names.length; at += BATCH) {
      await inTransaction(pool, (client) => derive(client, names.slice(at, at + BATCH), { basis, keys, options }));
    }
    return names;
  } catch (cause) {
    throw databaseError('cannot derive the standings', cause);
  }
}

/**
 * Derives the standing of one partner from its records, ignoring the stored standing. Null if there are no records.
 *
 * @throws HookproofError REGISTER_DATABASE
 */
export async function readStanding(
  pool: Pool,
  keys: readonly KeyObject[],
  options: RefreshOptions,
  partner: string,
): Promise<Standing | null> {
  const { rows } = await pool.query<RecordRow>(RECORDS, [[partner]]).catch((cause) => {
    throw databaseError('cannot be read', cause);
  });
  return rows.length === 0 ? null : derivedFrom(rows, keys, options).standing;
}

async function staleIn(pool: Pool, basis: string): Promise<string[]> {
  const { rows } = await pool.query<{ partner: string }>(STALE, [basis]);
  return rows.map(({ partner }) => partner);
}

interface Derivation {
  readonly basis: string;
  readonly keys: readonly KeyObject[];
  readonly options: RefreshOptions;
}

interface RecordRow {
  readonly partner: string;
  /** A bigint, which pg returns as text. */
  readonly added: string;
  readonly record: unknown;
}

async function derive(client: PoolClient, names: readonly string[], derivation: Derivation): Promise<void> {
  // The lock is taken before the records are read. Otherwise, a process that read fewer records could write last.
  await client.query(`SELECT pg_advisory_xact_lock(${PARTNER_LOCKS}, hashtext(name)) FROM unnest($1::text[]) AS name`, [
    names,
  ]);
  const { rows } = await client.query<RecordRow>(RECORDS, [names]);
  const byPartner = new Map<string, RecordRow[]>();
  for (const row of rows) {
    const own = byPartner.get(row.partner);
    if (own === undefined) byPartner.set(row.partner, [row]);
    else own.push(row);
  }
  const derived = [...byPartner.values()].flatMap((own) => rowOf(own, derivation) ?? []);
  await client.query(UPSERT, [JSON.stringify(derived)]);
}

/** Derives the standing (null if no record is due yet) from one partner's rows, and the last row that it includes. */
function derivedFrom(rows: readonly RecordRow[], keys: readonly KeyObject[], options: RefreshOptions) {
  const records: RegisterRecord[] = [];
  let unreadable = 0;
  let included = 0n;
  let missing: bigint | null = null;
  for (const { added, record } of rows) {
    const { success, data } = registerRecord.safeParse(record);
    const place = BigInt(added);
    if (success && Date.parse(data.at) > options.now.getTime()) {
      if (missing === null || place < missing) missing = place;
      continue;
    }
    if (place > included) included = place;
    if (success) records.push(data);
    else unreadable += 1;
  }
  const [standing] = standingsOf(records, { keys, at: options.now, currentRevision: options.currentRevision });
  const unread = `${unreadable} of its records cannot be read by hookproof: install a newer version`;
  return {
    standing:
      standing === undefined || unreadable === 0
        ? (standing ?? null)
        : { ...standing, warnings: [...standing.warnings, unread] },
    // All rows up to this one are included. Rows from the first future record on are read again once its time has come.
    added: missing === null ? included : missing - 1n,
  };
}

function rowOf(rows: readonly RecordRow[], { basis, keys, options }: Derivation) {
  const { added, standing } = derivedFrom(rows, keys, options);
  if (standing === null) return null;
  const { certificate, grant, last, partner, reason, since, state, until, warnings } = standing;
  const url = endpointOf(standing);
  const judged = judgedBy(standing);
  return {
    partner,
    state,
    since,
    until,
    url,
    host: url === null ? null : new URL(url).host,
    cause: judged?.cause?.title ?? null,
    reason,
    warnings,
    last_event: last[0]?.event ?? null,
    last_at: last[0]?.at ?? null,
    judged_at: judged?.at ?? null,
    certified_at: certificate?.issuedAt ?? null,
    revision: certificate?.revision ?? null,
    profile: certificate?.profile ?? null,
    added: String(added),
    basis,
    grant,
    standing,
  };
}

/** Returns a digest that identifies what standings depend on besides the records: derivation, revision and keys. */
export function basisOf(keys: readonly KeyObject[], { currentRevision }: RefreshOptions): string {
  return sha256(JSON.stringify([DERIVATION, currentRevision, keys.map(keyIdOf).toSorted()]));
}

/** The columns of a row that determine whether a partner may get traffic. */
export interface StandingRow {
  readonly partner: string;
  readonly state: State;
  readonly until: Date | null;
  readonly grant: string | null;
}

/** What a row proves at a given time: the state, when it ends, and the grant that allows the traffic. */
export interface BelievedStanding {
  readonly state: State;
  readonly until: string | null;
  readonly grant: Grant | null;
  /** Why the row is not believed, in a sentence; null if it is believed. */
  readonly disbelieved: string | null;
}

/** Returns what a row proves at a given time. A row that allows traffic must contain a valid grant. */
export function readStandingRow(row: StandingRow, keys: readonly KeyObject[], at: Date): BelievedStanding {
  const { grant: envelope, partner, state } = row;
  if (state !== 'certified' && state !== 'allowed') return { state, until: null, grant: null, disbelieved: null };
  const event = state === 'certified' ? 'certified' : 'override';
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]));
  const grant = readGrant({ partner, event, grant: envelope }, byId);
  if (typeof grant === 'string') {
    const disbelieved = `the register says that ${partner} is ${state}, but the row ${grant}`;
    return { state: 'uncertified', until: null, grant: null, disbelieved };
  }
  const until = grant.expiresAt;
  const isOver = Date.parse(until) <= at.getTime();
  return { state: isOver ? 'expired' : state, until: isOver ? null : until, grant, disbelieved: null };
}
