/** Reads the stored standings of all partners, and verifies the grants of those that may get traffic. */
import type { KeyObject } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Pool } from 'pg';
import { sha256 } from '../certify/index.ts';
import {
  basisOf,
  type RefreshOptions,
  readStanding,
  readStandingRow,
  refreshStandings,
  STATES,
  type Standing,
  type StandingRow,
  type State,
} from '../register/index.ts';
import { cursorOf, readCursor } from './cursor.ts';
import type { ListQuery, PartnerPage, PartnerSummary, Sort, Totals } from './schemas.ts';

/** Minimum time between two searches for records that other processes have added. */
const REFRESH_MS = 5000;
/** Maximum time that a list waits for all standings. Those on the requested page are always up to date. */
const PATIENCE_MS = 100;
/** How long the totals are cached. */
const TOTALS_MS = 2000;
/** Number of grants to verify before other requests are served. */
const PER_TURN = 100;

/** SQL for the state at the time in the first parameter. */
const CURRENT = `
CASE WHEN state IN ('certified', 'allowed') AND until <= $1::timestamptz THEN 'expired' ELSE state END`;

/** SQL for the order by need: partners without traffic first. */
const BY_NEED = `array_position(ARRAY[${STATES.toReversed().map((state) => `'${state}'`)}]::text[], current)`;

/** The SQL expression and type of each order. Nulls are replaced, because they cannot be compared with a cursor. */
const KEYS: Readonly<Record<Sort, readonly [expression: string, type: string]>> = {
  need: [BY_NEED, 'integer'],
  name: ['partner', 'text'],
  until: [`coalesce(until, 'infinity')`, 'timestamptz'],
  last: [`coalesce(last_at, '-infinity')`, 'timestamptz'],
  host: [`coalesce(host, '')`, 'text'],
  cause: [`coalesce(cause, '~')`, 'text'],
};

interface Row extends StandingRow {
  readonly since: Date | null;
  readonly url: string | null;
  readonly cause: string | null;
  readonly reason: string | null;
  readonly warnings: readonly string[];
  readonly profile: string | null;
  readonly revision: number | null;
  readonly last_event: string | null;
  readonly last_at: Date | null;
  readonly certified_at: Date | null;
  readonly basis: string;
  readonly is_newest: boolean;
  /** The value that the list is sorted by, as text. */
  readonly place: string;
}

const COLUMNS = `partner, state, since, until, url, cause, reason, warnings, profile, revision, last_event, last_at,
  certified_at, basis, "grant", added`;
const IS_NEWEST = `coalesce(added >= (
  SELECT newest.added FROM hookproof_register AS newest
  WHERE newest.partner = page.partner ORDER BY newest.added DESC LIMIT 1), true) AS is_newest`;

export interface StandingsOptions {
  readonly pool: Pool;
  readonly keys: readonly KeyObject[];
  readonly currentRevision: number;
  readonly onError: (error: unknown) => void;
}

interface Verified {
  /** When the grant expires, ISO 8601; null if the grant is not valid. */
  readonly expiresAt: string | null;
  readonly disbelieved: string | null;
}

export class Standings {
  readonly #options: StandingsOptions;
  #refreshing: Promise<unknown> | null = null;
  #refreshedAt = 0;
  /** Caches the verified grants by partner, state and digest. */
  readonly #verified = new Map<string, Verified>();
  #totals: { readonly at: number; readonly totals: Promise<Totals> } | null = null;

  constructor(options: StandingsOptions) {
    this.#options = options;
  }

  /** Derives a standing from the records, because decisions about traffic must not depend on stored standings. */
  standingOf(partner: string): Promise<Standing | null> {
    const { keys, pool } = this.#options;
    return readStanding(pool, keys, this.#refreshOptions(), partner);
  }

  /**
   * Updates the stored standings, unless that was done less than {@link REFRESH_MS} ago. Returns false if it takes
   * longer than `patienceMs`; it then continues in the background.
   */
  async refresh(patienceMs = PATIENCE_MS): Promise<boolean> {
    const { keys, onError, pool } = this.#options;
    if (this.#refreshing === null && Date.now() - this.#refreshedAt > REFRESH_MS) {
      this.#refreshing = refreshStandings(pool, keys, this.#refreshOptions())
        .catch(onError)
        .finally(() => {
          this.#refreshing = null;
          this.#refreshedAt = Date.now();
        });
    }
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([this.#refreshing, patience]);
    clearTimeout(timer);
    return this.#refreshing === null;
  }

  /** Returns a page of the list. The database sorts and searches. */
  async list(query: ListQuery): Promise<PartnerPage> {
    const isComplete = await this.refresh();
    const now = new Date();
    const rows = await this.#page(query, now);
    const shown = rows.slice(0, query.limit);
    const current = await this.#withNewest(shown, now);
    const last = shown.at(-1);
    return {
      at: now.toISOString(),
      complete: isComplete,
      partners: current.map((row) => this.#summaryOf(row, now)),
      next: rows.length > query.limit && last !== undefined ? cursorOf([last.place, last.partner]) : null,
    };
  }

  async #page({ after, limit, order, q, sort, state, within }: ListQuery, now: Date): Promise<Row[]> {
    const [key, type] = KEYS[sort];
    const values: unknown[] = [now];
    const param = (value: unknown) => `$${values.push(value)}`;
    const conditions: string[] = [];
    if (q !== '') {
      const text = `lower(concat_ws(' ', partner, url, cause))`;
      conditions.push(`strpos(${text}, lower(${param(q)})) > 0`);
    }
    if (state !== undefined && state.length > 0) conditions.push(`current = ANY(${param(state)})`);
    if (within !== undefined) {
      const limitTime = new Date(now.getTime() + within * 86_400_000);
      conditions.push(`current IN ('certified', 'allowed') AND until <= ${param(limitTime)}::timestamptz`);
    }
    if (after !== undefined) {
      const [place, partner] = readCursor(after, 2);
      const sign = order === 'asc' ? '>' : '<';
      conditions.push(`(${key}, partner) ${sign} (${param(place)}::${type}, ${param(partner)})`);
    }
    const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
    const { rows } = await this.#options.pool.query<Row>(
      `SELECT page.*, ${IS_NEWEST} FROM (
        SELECT ${COLUMNS}, (${key})::text AS place
        FROM (SELECT *, ${CURRENT} AS current FROM hookproof_standing) AS standing
        ${where} ORDER BY ${key} ${order}, partner ${order} LIMIT ${param(limit + 1)}
      ) AS page ORDER BY page.place::${type} ${order}, page.partner ${order}`,
      values,
    );
    return rows;
  }

  /** Updates the rows that do not include their partner's newest record, or were derived with other keys. */
  async #withNewest(rows: readonly Row[], now: Date): Promise<readonly Row[]> {
    const { currentRevision, keys, pool } = this.#options;
    const basis = basisOf(keys, { currentRevision, now });
    const stale = rows.filter((row) => !row.is_newest || row.basis !== basis).map(({ partner }) => partner);
    if (stale.length === 0) return rows;
    await refreshStandings(pool, keys, this.#refreshOptions(), stale);
    const found = await pool.query<Row>(
      `SELECT ${COLUMNS}, true AS is_newest, '' AS place FROM hookproof_standing WHERE partner = ANY($1)`,
      [stale],
    );
    const byName = new Map(found.rows.map((row) => [row.partner, row]));
    return rows.map((row) => byName.get(row.partner) ?? row);
  }

  #summaryOf(row: Row, now: Date): PartnerSummary {
    const { expiresAt, disbelieved } = isAllowing(row.state) ? this.#verify(row, digestOf(row)) : NOT_ALLOWING;
    const isAllowed = expiresAt !== null && Date.parse(expiresAt) > now.getTime();
    const hasExpired = expiresAt !== null && !isAllowed;
    return {
      partner: row.partner,
      mayGetTraffic: isAllowed,
      state: disbelieved !== null ? 'uncertified' : hasExpired ? 'expired' : row.state,
      since: hasExpired ? expiresAt : (row.since?.toISOString() ?? null),
      until: isAllowed ? expiresAt : null,
      url: row.url,
      cause: row.cause,
      reason: hasExpired ? 'the certificate has expired' : row.reason,
      warnings: disbelieved === null ? [...row.warnings] : [disbelieved, ...row.warnings],
      profile: row.profile,
      revision: row.revision,
      lastEvent: row.last_event,
      lastAt: row.last_at?.toISOString() ?? null,
      certifiedAt: row.certified_at?.toISOString() ?? null,
    };
  }

  /** Counts the partners in each state. A partner counts as certified or allowed only with a valid grant. */
  totals(): Promise<Totals> {
    if (this.#totals === null || Date.now() - this.#totals.at > TOTALS_MS) {
      const totals = this.#count();
      this.#totals = { at: Date.now(), totals };
      totals.catch(() => {
        this.#totals = null;
      });
    }
    return this.#totals.totals;
  }

  /** Counts the partners whose permission ends within the next `days` days, without verifying their grants. */
  async countExpiring(days: number): Promise<number> {
    const { rows } = await this.#options.pool.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM hookproof_standing WHERE state IN ('certified', 'allowed')
        AND until > now() AND until <= now() + make_interval(days => $1)`,
      [days],
    );
    return rows[0]?.count ?? 0;
  }

  async #count(): Promise<Totals> {
    const now = new Date();
    const { rows } = await this.#options.pool.query<{ partner: string; state: State; digest: string | null }>(
      `SELECT partner, state, CASE WHEN state IN ('certified', 'allowed')
        THEN encode(sha256(convert_to(coalesce("grant", ''), 'UTF8')), 'hex') END AS digest
      FROM hookproof_standing`,
    );
    const allowing = rows.filter(({ digest }) => digest !== null);
    await this.#verifyAll(allowing.filter((row) => !this.#verified.has(keyOf(row, row.digest))));
    const known = new Set(allowing.map((row) => keyOf(row, row.digest)));
    for (const key of this.#verified.keys()) if (!known.has(key)) this.#verified.delete(key);
    const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Totals;
    for (const row of rows) {
      const expiresAt = this.#verified.get(keyOf(row, row.digest))?.expiresAt ?? null;
      const allowed =
        expiresAt === null ? 'uncertified' : Date.parse(expiresAt) <= now.getTime() ? 'expired' : row.state;
      counts[row.digest === null ? row.state : allowed] += 1;
    }
    return counts;
  }

  async #verifyAll(unknown: readonly { readonly partner: string }[]): Promise<void> {
    for (let at = 0; at < unknown.length; at += PER_TURN) {
      const { rows } = await this.#options.pool.query<StandingRow>(
        'SELECT partner, state, until, "grant" FROM hookproof_standing WHERE partner = ANY($1)',
        [unknown.slice(at, at + PER_TURN).map(({ partner }) => partner)],
      );
      for (const row of rows) if (isAllowing(row.state)) this.#verify(row, digestOf(row));
      await setImmediate();
    }
  }

  #verify(row: StandingRow, digest: string): Verified {
    const key = keyOf(row, digest);
    const known = this.#verified.get(key);
    if (known !== undefined) return known;
    const { disbelieved, grant } = readStandingRow(row, this.#options.keys, LONG_AGO);
    const verified = { expiresAt: grant?.expiresAt ?? null, disbelieved };
    this.#verified.set(key, verified);
    return verified;
  }

  #refreshOptions(): RefreshOptions {
    return { currentRevision: this.#options.currentRevision, now: new Date() };
  }
}

/** Grants are verified as of this time, so that even expired ones are valid; expiry is checked at each use. */
const LONG_AGO = new Date(0);
const NOT_ALLOWING: Verified = { expiresAt: null, disbelieved: null };
const isAllowing = (state: State) => state === 'certified' || state === 'allowed';
const digestOf = ({ grant }: StandingRow) => sha256(grant ?? '');
const keyOf = ({ partner, state }: Pick<StandingRow, 'partner' | 'state'>, digest: string | null) =>
  `${partner} ${state} ${digest}`;
