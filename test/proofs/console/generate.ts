/** Generates a register of many partners with a year of records in the database. Certificates have real signatures. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Pool } from 'pg';
import { keyIdOf } from '../../../harness/certify/keys.ts';
import { type Grant, makeRecord, type RegisterRecord, type State, signGrant } from '../../../harness/register/index.ts';

export interface Generated {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly names: readonly string[];
}

interface Size {
  readonly partners: number;
  /** Number of days. Each partner has one record per day. */
  readonly days: number;
}

const DAY = 86_400_000;
const PER_BATCH = 500;
const ABOUT = { catalogue: `sha256:${'ab'.repeat(32)}`, version: '0.1.0' };

/** Number of partners in each state, out of a hundred. The others are certified. */
const SHARES: readonly (readonly [State, number])[] = [
  ['allowed', 2],
  ['failing', 6],
  ['drifted', 3],
  ['revoked', 2],
  ['expired', 2],
  ['uncertified', 2],
];

const CAUSES = [
  'The signature is not verified for empty bodies',
  'The body is parsed and serialised again before the signature is verified',
  'Repeated deliveries are handled twice',
  'The API key is compared without regard to letter case',
  'A delivery is answered only after it has been handled',
  'The server certificate does not name the host',
  'The client certificate is requested but not verified',
  'The endpoint accepts TLS 1.0',
  'An unknown type is answered with 400',
  'The endpoint redirects to another host',
  'A revoked secret is still accepted',
  'The signature is compared with ==',
];

function stateOf(at: number): State {
  let place = (at * 37) % 100;
  for (const [state, share] of SHARES) {
    if (place < share) return state;
    place -= share;
  }
  return 'certified';
}

/** Returns how many days ago a partner got its certificate. */
const ageOf = (at: number, state: State) => (state === 'expired' ? 95 : 2 + ((at * 13) % 86));
const nameOf = (at: number) => `partner-${String(at).padStart(5, '0')}`;
const urlOf = (at: number) => `https://hooks-${at % 997}.example/partners/${at}`;

/** Inserts the records into existing tables. */
export async function generateRegister(pool: Pool, { days, partners }: Size): Promise<Generated> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const names = Array.from({ length: partners }, (_, at) => nameOf(at));
  for (let from = 0; from < partners; from += PER_BATCH) {
    const places = Array.from({ length: Math.min(PER_BATCH, partners - from) }, (_, at) => from + at);
    await insertDays(pool, places, days);
    await insertDecisions(pool, places, privateKey);
  }
  return { publicKey, privateKey, names };
}

/** Inserts one record per day: rechecks, some of them without an answer, and failing runs before the certificate. */
async function insertDays(pool: Pool, places: readonly number[], days: number): Promise<void> {
  const given = places.map((at) => ({
    partner: nameOf(at),
    url: urlOf(at),
    age: stateOf(at) === 'uncertified' ? 0 : ageOf(at, stateOf(at)),
  }));
  await pool.query(
    `INSERT INTO hookproof_register (id, partner, event, at, due, record)
    SELECT id, partner, event, at, due, jsonb_build_object(
      'schemaVersion', 1, 'id', id, 'partner', partner, 'event', event, 'at', at_text, 'due', due_text, 'url', url,
      'run', CASE WHEN event = 'failed' THEN jsonb_build_object('startedAt', due_text) END,
      'catalogue', $3::text, 'version', $4::text,
      'suites', CASE WHEN event = 'failed' THEN $5::jsonb ELSE '{}' END,
      'cause', CASE WHEN event = 'failed'
        THEN jsonb_build_object('fault', 'fault-' || cause, 'title', ($6::text[])[cause])
        END,
      'reason', CASE event WHEN 'unreachable' THEN 'connection refused' WHEN 'failed' THEN ($6::text[])[cause] END,
      'grant', NULL)
    FROM (
      SELECT *, gen_random_uuid() AS id, due + interval '41 seconds' AS at,
        to_char(due AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS due_text,
        to_char((due + interval '41 seconds') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at_text,
        CASE WHEN age >= day AND dice < 30 THEN 'unreachable' WHEN age < day AND dice < 40 THEN 'failed'
          WHEN dice < 60 THEN 'unreachable' ELSE 'unchanged' END AS event,
        1 + (hashtext(partner) & 1023) % 12 AS cause
      FROM (
        SELECT partner, url, age, day, date_trunc('hour', now()) - make_interval(days => day) AS due,
          (hashtext(partner || day) & 1023) * 1000 / 1024 AS dice
        FROM jsonb_to_recordset($1::jsonb) AS given (partner text, url text, age integer),
          generate_series($2::integer, 1, -1) AS day
      ) AS rolled
    ) AS made`,
    [JSON.stringify(given), days, ABOUT.catalogue, ABOUT.version, JSON.stringify(suites(3)), CAUSES],
  );
}

function suites(fail: number): RegisterRecord['suites'] {
  const counts = (failed: number) => ({
    ...{ pass: 24 - failed, fail: failed, warn: 0, inconclusive: 0, notApplicable: 2, harnessError: 0 },
  });
  const others = ['delivery', 'endpoint', 'http', 'malformed', 'mtls', 'tls', 'rotation'].map((suite) => [
    suite,
    counts(0),
  ]);
  return { signature: counts(fail), ...Object.fromEntries(others) };
}

/** Inserts the certificates, and the records that ended them. */
async function insertDecisions(pool: Pool, places: readonly number[], privateKey: KeyObject): Promise<void> {
  const records = places.flatMap((at) => {
    const state = stateOf(at);
    const partner = nameOf(at);
    const about = { ...ABOUT, partner, url: urlOf(at) };
    if (state === 'uncertified') return [];
    const age = ageOf(at, state);
    const issued = Date.now() - age * DAY;
    const iso = (time: number) => new Date(time).toISOString();
    const grant: Omit<Grant, 'kind'> = {
      ...{ partner, url: about.url, issuedAt: iso(issued), expiresAt: iso(issued + 90 * DAY) },
      ...{ certificate: (at % 65_536).toString(16).padStart(64, 'c'), profile: 'production', revision: 1 },
      ...{ evidenceLevel: 1, keyId: keyIdOf(privateKey) },
    };
    const certified = makeRecord({
      ...{ ...about, event: 'certified', at: iso(issued), suites: suites(0), run: { startedAt: iso(issued - 60_000) } },
      grant: signGrant({ ...grant, kind: 'certificate' }, privateKey),
    });
    const end = (event: RegisterRecord['event'], more: Partial<RegisterRecord> = {}) =>
      makeRecord({ ...about, event, at: iso(Date.now() - DAY / 2), ...more });
    const cause = { fault: `fault-${1 + (at % 12)}`, title: CAUSES[at % CAUSES.length] ?? '' };
    const failed = end('failed', { suites: suites(3), cause, reason: cause.title });
    if (state === 'failing') return [certified, failed];
    if (state === 'drifted') return [certified, end('drifted', { reason: 'the server certificate has another key' })];
    if (state === 'revoked') return [certified, end('revoked', { url: null, reason: 'leaked key, ticket 4711' })];
    if (state !== 'allowed') return [certified];
    const override = makeRecord({
      ...{ ...ABOUT, partner, event: 'override', at: iso(Date.now() - DAY / 4), reason: 'known, fixed on Monday' },
      grant: signGrant({ ...grant, kind: 'override' }, privateKey),
    });
    return [certified, failed, override];
  });
  await pool.query(
    `INSERT INTO hookproof_register (id, partner, event, at, due, record)
    SELECT id, partner, event, at, due, record FROM jsonb_array_elements($1::jsonb) AS given (record),
      jsonb_to_record(record) AS (id uuid, partner text, event text, at timestamptz, due timestamptz)`,
    [JSON.stringify(records)],
  );
}
