/** Receivers against receivers: what a delivery costs each of them. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../setup/postgres.ts';
import type { LoadSettings } from './load/load.ts';
import type { Phase, PhaseResult } from './load/phase.ts';
import { ask, compile, message, PINNED, start, stop } from './programs.ts';
import {
  CREDENTIALS,
  EVERYTHING,
  EXPRESS,
  FASTIFY,
  OURS,
  onPostgres,
  onSqlite,
  REPLY,
  type ReceiverVariant,
} from './receivers.ts';
import { interleaved, type Sample, type Series, type Slice, sampleOf } from './rounds.ts';
import type { Usage } from './servers/serve-variant.ts';
import { median } from './statistics.ts';

const CONNECTIONS = 64;
const ROUNDS = 9;
const WARM_UP_MS = 1000;
const SLICES = 5;
const SLICE_MS = 250;
/** More than any receiver that remembers ids takes in one life: an id that is known takes a shorter way. */
const REQUESTS = 160_000;

export interface ReceiverSample extends Sample {
  /** Milliseconds from a request to its answer. */
  readonly p50: number;
  readonly p99: number;
  /** Transactions committed to disk for each acknowledged notification. */
  readonly commits: number;
}

export interface ReceiverResults {
  readonly series: Series<ReceiverVariant, ReceiverSample>;
  readonly sqlite: { readonly ours: ReceiverVariant; readonly express: ReceiverVariant };
  /** Undefined where PostgreSQL is not installed. */
  readonly postgres: ReceiverVariant | undefined;
}

export async function measureReceivers(): Promise<ReceiverResults> {
  const credentials = { secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64url') };
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
  const server = await startPostgres();
  const sqlite = onSqlite(folder);
  const postgres = server === null ? undefined : onPostgres(server.url);
  const variants = [REPLY, CREDENTIALS, EVERYTHING, OURS, FASTIFY, EXPRESS, sqlite.ours, sqlite.express];
  if (postgres !== undefined) variants.push(postgres);
  await compile(['load/load.ts', ...new Set(variants.map(({ program }) => program))]);
  const settings: LoadSettings = { requests: REQUESTS, credentials };
  const load = start('load/load.ts', 1, { BENCH_LOAD: JSON.stringify(settings) });
  try {
    await message(load);
    const env = { BENCH_SECRET: credentials.secret, BENCH_API_KEY: credentials.apiKey };
    const series = await interleaved(variants, ROUNDS, (variant) => measure(variant, load, env));
    return { series, sqlite, postgres };
  } finally {
    await stop(load);
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  variant: ReceiverVariant,
  load: ChildProcess,
  credentials: NodeJS.ProcessEnv,
): Promise<ReceiverSample> {
  const inbox = variant.inbox === undefined ? {} : { BENCH_INBOX: await variant.inbox() };
  const server = start(variant.program, 0, { ...credentials, ...variant.env, ...inbox });
  try {
    const { port } = await message<{ port: number }>(server);
    const awake = PINNED && variant.hasServer === undefined;
    let from = 0;
    const phase = async (durationMs: number) => {
      const wanted: Phase = { port, connections: CONNECTIONS, durationMs, from, awake };
      const result = await ask<PhaseResult>(load, wanted);
      from += result.count + CONNECTIONS;
      return result;
    };
    await phase(WARM_UP_MS);
    const slices: (Slice & PhaseResult)[] = [];
    const first = await ask<Usage>(server, 'usage');
    let before = first;
    for (let slice = 0; slice < SLICES; slice++) {
      const result = await phase(SLICE_MS);
      const after = await ask<Usage>(server, 'usage');
      slices.push({ ...result, cpuUs: after.cpuUs - before.cpuUs });
      before = after;
    }
    const answered = slices.reduce((sum, { count }) => sum + count, 0);
    return {
      ...sampleOf(slices),
      p50: median(slices.map(({ p50 }) => p50)),
      p99: median(slices.map(({ p99 }) => p99)),
      commits: (before.commits - first.commits) / answered,
    };
  } finally {
    await stop(server);
  }
}
