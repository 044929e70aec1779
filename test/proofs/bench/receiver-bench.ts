/** Compares receivers by the cost of a delivery. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDatabase, startPostgres } from '../../setup/postgres.ts';
import type { LoadSettings, Phase, PhaseResult } from './load.ts';
import type { Table, Target } from './page.ts';
import { ask, atOld, compile, message, OLD, PINNED, start, stop } from './processes.ts';
import {
  compare,
  interleaved,
  median,
  ratioInWords,
  type Sample,
  type Series,
  type Slice,
  sampleOf,
} from './rounds.ts';
import type { Usage } from './servers/server-process.ts';

const CONNECTIONS = 64;
const ROUNDS = 9;
const WARM_UP_MS = 1000;
const SLICES = 5;
const SLICE_MS = 250;
/**
 * Number of requests. It is more than a receiver handles in one measurement, because a known id is cheaper than a new
 * one.
 */
const REQUESTS = 160_000;

interface ReceiverSample extends Sample {
  /** Median time from a request to its answer, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Transactions committed to disk for each acknowledged notification. */
  readonly commits: number;
}

export interface ReceiverResults {
  readonly series: Series<ReceiverVariant, ReceiverSample>;
  readonly sqlite: { readonly ours: ReceiverVariant; readonly express: ReceiverVariant };
  /** Undefined if PostgreSQL is not installed. */
  readonly postgres: ReceiverVariant | undefined;
}

export async function measureReceivers(): Promise<ReceiverResults> {
  const credentials = { secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64url') };
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-bench-'));
  const server = await startPostgres();
  const sqlite = onSqlite(folder);
  const postgres = server === null ? undefined : onPostgres(server.url);
  const variants = [REPLY, CREDENTIALS, EVERYTHING, OURS, FASTIFY, EXPRESS, sqlite.ours, sqlite.random, sqlite.express];
  if (postgres !== undefined) variants.push(postgres);
  if (OLD !== undefined) {
    const root = OLD;
    variants.push(...[OURS, sqlite.ours].map((ours) => ({ ...ours, name: atOld(ours.name), root })));
    await compile([OURS.program], undefined, root);
  }
  await compile(['load.ts', ...new Set(variants.map(({ program }) => program))]);
  const settings: LoadSettings = { requests: REQUESTS, credentials };
  const load = start('load.ts', 1, { BENCH_LOAD: JSON.stringify(settings) });
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
  const server = start(variant.program, 0, { ...credentials, ...variant.env, ...inbox }, variant.root);
  try {
    const { port } = await message<{ port: number }>(server);
    const awake = PINNED && variant.hasDatabaseServer === undefined;
    let from = 0;
    const phase = async (durationMs: number) => {
      const ascending = variant.hasRandomIds === undefined;
      const wanted: Phase = { port, connections: CONNECTIONS, durationMs, from, awake, ascending };
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

const MAX_CPU = 1.3;
const MIN_DURABLE_RATE = 0.45;
const MAX_COMMITS = 0.03;

export function receiverTable({ series }: ReceiverResults): Table {
  const base = series.get(EVERYTHING) ?? [];
  const hmac = series.get(CREDENTIALS) ?? [];
  const rows = [...series].map(([{ name }, samples]) => {
    const of = (field: keyof ReceiverSample) => median(samples.map((sample) => sample[field]));
    const against = compare(samples, base);
    return [
      name,
      of('cpuUs').toFixed(1),
      ratioInWords(against.cpu),
      against.minCpu.toFixed(2),
      Math.round(of('rate')).toLocaleString('en'),
      compare(samples, hmac).rate.median.toFixed(2),
      `${of('p50').toFixed(1)} / ${of('p99').toFixed(1)}`,
    ];
  });
  return {
    title: 'Receivers',
    columns: [
      'receiver, 64 connections',
      'CPU us a request',
      'CPU against node:http with everything',
      'the same, min/min',
      'requests/s',
      'against node:http + HMAC',
      'p50 / p99 ms',
    ],
    rows,
  };
}

export function receiverTargets(results: ReceiverResults): Target[] {
  const { series, sqlite } = results;
  const of = (variant: ReceiverVariant) => series.get(variant) ?? [];
  const router = compare(of(OURS), of(EVERYTHING));
  const durable = compare(of(sqlite.ours), of(CREDENTIALS)).rate;
  const common = compare(of(sqlite.ours), of(sqlite.express)).rate;
  const commits = median(of(sqlite.ours).map((sample) => sample.commits));
  return [
    {
      what: 'receiver through the Express router, CPU per request against bare node:http with the same checks',
      target: `at most ${MAX_CPU}`,
      measured: `${ratioInWords(router.cpu)}; min/min ${router.minCpu.toFixed(2)}`,
      met: router.cpu.median <= MAX_CPU,
    },
    {
      what: 'durable receiver, SQLite, throughput against node:http + HMAC without storage',
      target: `at least ${MIN_DURABLE_RATE}`,
      measured: ratioInWords(durable),
      met: durable.median >= MIN_DURABLE_RATE,
    },
    {
      what: 'commits to disk for each acknowledged notification, SQLite',
      target: `at most ${MAX_COMMITS}`,
      measured: commits.toFixed(3),
      met: commits <= MAX_COMMITS,
    },
    {
      what: 'durable receiver, SQLite, throughput against Express with one commit a request',
      target: 'at least 4',
      measured: ratioInWords(common),
      met: common.median >= 4,
    },
  ];
}

/** The receivers that are measured, from bare node:http to ours with a durable inbox. */

interface ReceiverVariant {
  readonly name: string;
  readonly program: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Creates an empty inbox and returns its URL. */
  readonly inbox?: () => Promise<string> | string;
  /** The checkout of the program. */
  readonly root?: string;
  /** Set if the ids are in random order, so that each changes another page of an index. */
  readonly hasRandomIds?: true;
  /** Set if there is a database server, which also needs CPU time. The load then sleeps between answers. */
  readonly hasDatabaseServer?: true;
}

const bare = (work: string) => ({ program: 'servers/bare-node.ts', env: { BENCH_WORK: work } });

const REPLY: ReceiverVariant = { name: 'node:http, reply only', ...bare('reply') };
const CREDENTIALS: ReceiverVariant = { name: 'node:http + API key + HMAC', ...bare('credentials') };
const EVERYTHING: ReceiverVariant = { name: 'node:http + API key + HMAC + parse + zod', ...bare('everything') };
const OURS: ReceiverVariant = { name: 'ours, without storage', program: 'servers/ours.ts' };
const FASTIFY: ReceiverVariant = { name: 'Fastify, the same checks', program: 'servers/fastify.ts' };
const EXPRESS: ReceiverVariant = {
  name: 'Express as most people write it',
  program: 'servers/express-as-usual.ts',
};

/** Returns our receiver and the usual Express receiver, each with a SQLite file. */
function onSqlite(folder: string): Record<'ours' | 'random' | 'express', ReceiverVariant> {
  const inbox = () => `file:${join(folder, `${randomUUID()}.db`)}`;
  return {
    ours: { ...OURS, name: 'ours, SQLite', inbox },
    random: { ...OURS, name: 'ours, SQLite, ids in random order', inbox, hasRandomIds: true },
    express: { ...EXPRESS, name: 'Express as most people write it, SQLite, one commit a request', inbox },
  };
}

function onPostgres(serverUrl: string): ReceiverVariant {
  return { ...OURS, name: 'ours, PostgreSQL', inbox: () => newDatabase(serverUrl), hasDatabaseServer: true };
}
