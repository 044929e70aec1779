/** A console for a small register with texts that an attacker might store. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { keyIdOf } from '../../../harness/certify/keys.ts';
import { readSavedRun } from '../../../harness/cli/saved-run.ts';
import { type ConsoleOptions, openConsole, Tokens } from '../../../harness/console/index.ts';
import { WORKER_TABLE } from '../../../harness/operate/lease.ts';
import { addJobs, migrateQueue } from '../../../harness/operate/queue.ts';
import {
  type Grant,
  insertRecords,
  makeRecord,
  openDatabase,
  type RegisterRecord,
  signGrant,
} from '../../../harness/register/index.ts';
import { renderHtml } from '../../../harness/report/index.ts';
import { newDatabase } from '../../setup/postgres.ts';
import { diagnosedRun, shortRun } from '../report/html/page-documents.ts';

export const TOKENS = { alice: 'a'.repeat(24), bob: 'b'.repeat(24) };
export const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>`;
const DAY = 86_400_000;
const iso = (days: number) => new Date(Date.now() + days * DAY).toISOString();
const operator = generateKeyPairSync('ed25519');

export function certified(partner: string, days: number, parts: Partial<Grant> = {}): RegisterRecord {
  const url = `https://${partner}.example/hooks`;
  const grant: Grant = {
    ...{ kind: 'certificate', partner, url, certificate: 'c'.repeat(64), keyId: keyIdOf(operator.privateKey) },
    ...{ issuedAt: iso(days), expiresAt: iso(days + 90), profile: 'production', revision: 1, evidenceLevel: 1 },
    ...parts,
  };
  const about = { catalogue: `sha256:${'ab'.repeat(32)}`, version: '0.1.0', url, at: iso(days) };
  return makeRecord({ ...about, partner, event: 'certified', grant: signGrant(grant, operator.privateKey) });
}

export function ended(
  partner: string,
  days: number,
  event: RegisterRecord['event'],
  parts: Partial<RegisterRecord> = {},
): RegisterRecord {
  return { ...certified(partner, days), event, grant: null, ...parts };
}

const startOf = { acme: diagnosedRun().startedAt, before: shortRun().startedAt };

const SUITES = { signature: { pass: 3, fail: 2, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 } };

/** One partner in each state, and one whose record has markup in every text. */
const RECORDS: readonly RegisterRecord[] = [
  certified('acme', -10),
  ended('acme', -9, 'failed', {
    cause: { fault: 'ignores-signature', title: 'Accepts unsigned requests' },
    reason: 'Accepts unsigned requests',
    run: { startedAt: startOf.acme },
    suites: SUITES,
  }),
  certified('acme', -8),
  certified('soon', -85),
  certified('bad', -10),
  ended('bad', -2, 'failed', { suites: SUITES, cause: { fault: 'x', title: 'Accepts unsigned requests' } }),
  certified('moved', -10),
  ended('moved', -2, 'drifted', { reason: 'the server certificate has another key' }),
  certified('leaked', -10),
  ended('leaked', -1, 'revoked', { reason: 'leaked key, ticket 4711' }),
  certified('old', -95),
  ended('none', -1, 'unreachable', { reason: 'connection refused' }),
  ended('hostile', -1, 'failed', {
    url: `https://hostile.example/${encodeURIComponent(HOSTILE)}`,
    suites: { [HOSTILE]: SUITES.signature },
    cause: { fault: HOSTILE, title: HOSTILE },
    reason: HOSTILE,
    version: HOSTILE,
    catalogue: HOSTILE,
  }),
  ...Array.from({ length: 60 }, (_, at) => certified(`many-${String(at).padStart(2, '0')}`, -20 - (at % 40))),
];

export interface Registered {
  readonly url: string;
  readonly pool: Pool;
  readonly folder: string;
  readonly errors: unknown[];
  close(): Promise<void>;
}

export async function openRegistered(server: string, options: Partial<ConsoleOptions> = {}): Promise<Registered> {
  const database = await newDatabase(server);
  const pool = await openDatabase(database, { max: 2, name: 'test' });
  await insertRecords(pool, RECORDS);
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-console-'));
  await writeRuns(folder);
  const errors: unknown[] = [];
  const running = await openConsole({
    ...{ database, currentRevision: 1, keys: [operator.publicKey], host: '127.0.0.1', port: 0 },
    ...{
      tokens: Tokens.read(
        Object.entries(TOKENS)
          .map((one) => one.join(' '))
          .join('\n'),
      ),
    },
    ...{ signingKey: operator.privateKey, outputDir: folder, readRun: readSavedRun },
    onError: (error) => errors.push(error),
    ...options,
  });
  return {
    ...{ url: running.url, pool, folder, errors },
    async close() {
      await running.close();
      await pool.end();
      await rm(folder, { recursive: true });
    },
  };
}

/** Writes two runs of one partner, a secret next to them, and a link to the secret. */
async function writeRuns(folder: string): Promise<void> {
  const earlier = join(folder, '_earlier', 'before-2026-11-20T00-00-00-000Z', 'acme');
  const current = join(folder, 'acme');
  for (const [place, run] of [
    [current, diagnosedRun()],
    [earlier, shortRun()],
  ] as const) {
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'run.json'), JSON.stringify(run));
    await writeFile(join(place, 'report.html'), await renderHtml(run));
  }
  await writeFile(join(folder, 'secret.txt'), 'top secret');
  await writeFile(join(current, 'secret.txt'), 'top secret');
  await mkdir(join(folder, 'soon'));
  await writeFile(join(folder, 'soon', 'run.json'), 'not a run');
  await mkdir(join(folder, 'bad'));
  await symlink('/etc/hostname', join(folder, 'bad', 'run.json'));
}

/** Fills the tables of `hookproof operate` with two workers and a job in each state. */
export async function addOperation({ pool }: Registered): Promise<void> {
  await migrateQueue(pool);
  await pool.query(WORKER_TABLE);
  await pool.query(`INSERT INTO hookproof_worker VALUES
    (gen_random_uuid(), 'node-1', '0.1.0', now(), now(), '{}', '[{"task":"partner","key":"run of acme"}]'),
    (gen_random_uuid(), 'node-2', '0.1.0', now(), now() - interval '1 hour', '{}', '[]')`);
  const job = (key: string, runAt: Date) => ({ task: 'partner', key, payload: {}, runAt });
  await addJobs(pool, [
    job('running', new Date()),
    job('later', new Date(Date.now() + DAY)),
    job('failed', new Date()),
  ]);
  await pool.query(`
    UPDATE hookproof_queue._private_jobs SET locked_at = now(), locked_by = 'x' WHERE key = 'running';
    UPDATE hookproof_queue._private_jobs SET attempts = max_attempts, last_error = 'refused' WHERE key = 'failed'`);
}
