/** Runs every proof in full, one after another, on a machine that should be otherwise idle. */

import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';
import { type PostgresServer, startPostgres } from '../../setup/postgres.ts';
import { lacks } from '../../setup/programs.ts';
import * as failures from './failures.ts';
import { openSmallDisk } from './failures.ts';
import type { Fault } from './faulty-receivers.ts';
import { type SerialResult, serialFsyncs } from './fsyncs.ts';
import { type KillResult, killRounds } from './kill-rounds.ts';
import { type Failure, type OutageOptions, type OutageResult, outage } from './outage.ts';
import { postgresStore, type Store, sqliteStore } from './receiver-process.ts';
import { type ReplicaOptions, type ReplicaResult, replicas } from './replicas.ts';
import { type SoakResult, soak } from './soak.ts';
import { query } from './stored-state.ts';
import { addressOf, startProxy, type TcpProxy, throughProxy } from './tcp-proxy.ts';

const ROUNDS = 20;
const ROUNDS_OF_FAULTY = 3;
const SOAK = 300_000;
/**
 * A lease that is short enough to observe a takeover, although a receiver on a busy machine may renew it a second late.
 */
const HANDLING = { leaseMs: 4000, pollMs: 200 };

interface Named<Result> {
  readonly store: string;
  /** The fault of the receiver. Null for the correct one. */
  readonly fault: Fault | null;
  readonly result: Result;
}

export interface Proofs {
  readonly machine: readonly string[];
  readonly kills: readonly (Named<KillResult> & { readonly clockBackMs: number })[];
  readonly flushes: readonly Named<SerialResult>[];
  readonly outages: readonly OutageResult[];
  readonly replicas: readonly (Named<ReplicaResult> & { readonly what: string })[];
  readonly soaks: readonly (SoakResult & { readonly what: string })[];
}

type StoreName = Store['name'];

/** `report` gets each result as soon as it is known. An empty `parts` runs all of them. */
export async function runProofs(
  parts: readonly string[],
  report: (what: string, result: object) => void,
): Promise<Proofs> {
  const server = await startPostgres();
  if (server === null) throw new Error('the proofs need PostgreSQL (apt-get install postgresql)');
  const open = (name: StoreName) => (name === 'SQLite' ? sqliteStore() : postgresStore(server.url));
  const withStore = async <T extends object>(what: string, name: StoreName, run: (store: Store) => Promise<T>) => {
    const store = await open(name);
    const result = await run(store).finally(() => store.folder.remove());
    report(`${what}, ${name}`, result);
    return result;
  };
  const wanted = (part: string) => parts.length === 0 || parts.includes(part);
  try {
    return {
      machine: await describeMachine(server.url),
      kills: wanted('kill') ? await allKills(withStore) : [],
      flushes: wanted('flushes') ? await allFlushes(withStore) : [],
      outages: wanted('outages') ? await allOutages(server, withStore) : [],
      replicas: wanted('replicas') ? await allReplicas(withStore) : [],
      soaks: wanted('soak') ? await allSoaks(withStore) : [],
    };
  } finally {
    await server.remove();
  }
}

type WithStore = <T extends object>(what: string, name: StoreName, run: (store: Store) => Promise<T>) => Promise<T>;

async function allKills(withStore: WithStore): Promise<Proofs['kills']> {
  const all: Proofs['kills'][number][] = [];
  for (const name of ['SQLite', 'PostgreSQL'] as const) {
    for (const fault of [null, 'acknowledges first', 'handles first', 'settles first'] as const) {
      // The correct receiver runs as the program, as with a partner, and the faulty ones as a script.
      const correct = { setup: { how: 'program', handlerMs: 2 }, rounds: ROUNDS } as const;
      // Slow handlers, so that a kill interrupts some of them within three rounds.
      const setup = { how: 'script', handlerMs: 20, handling: HANDLING, ...(fault === null ? {} : { fault }) } as const;
      const options = { seed: 5, betweenMs: [150, 850] as const, setup, rounds: ROUNDS_OF_FAULTY };
      const run = (store: Store) => killRounds({ store, ...options, ...(fault === null ? correct : {}) });
      const result = await withStore(`kills, ${fault ?? 'correct'}`, name, run);
      all.push({ store: name, fault, clockBackMs: 0, result });
    }
  }
  const clockBackMs = 3_600_000;
  const result = await withStore('kills, clock set back', 'SQLite', (store) =>
    killRounds({
      ...{ store, seed: 6, betweenMs: [150, 850], rounds: ROUNDS, clockBackMs },
      setup: { how: 'program', handlerMs: 20 },
    }),
  );
  all.push({ store: 'SQLite', fault: null, clockBackMs, result });
  return all;
}

async function allFlushes(withStore: WithStore): Promise<Named<SerialResult>[]> {
  const all: Named<SerialResult>[] = [];
  const unflushed = 'does not wait for the disk';
  for (const [name, fault] of [
    ['SQLite', null],
    ['SQLite', unflushed],
    ['PostgreSQL', null],
  ] as const) {
    const run = (store: Store) => serialFsyncs(store, 1000, fault ?? undefined);
    all.push({ store: name, fault, result: await withStore(`flushes, ${fault ?? 'correct'}`, name, run) });
  }
  return all;
}

async function allOutages(server: PostgresServer, withStore: WithStore): Promise<OutageResult[]> {
  const setup = { how: 'script', handling: HANDLING } as const;
  const full = (store: Store) => {
    const disk = openSmallDisk(store.folder.path);
    const inside = { ...setup, commandPrefix: disk.commandPrefix };
    const options = {
      store: failures.storeOn(store, disk),
      setup: inside,
      failure: failures.diskFull(disk),
      refusals: 500,
    };
    return outage(options).finally(() => disk.remove());
  };
  const long = { setup, refusals: 20, lastsMs: 12_000 };
  const proxied = async (
    store: Store,
    rest: Omit<OutageOptions, 'store' | 'failure'>,
    make: (proxy: TcpProxy) => Failure,
  ) => {
    const proxy = await startProxy([addressOf(store.url)]);
    const options = { store, inbox: throughProxy(store.url, proxy), failure: make(proxy), ...rest };
    return outage(options).finally(() => proxy.close());
  };
  return [
    await withStore('disk full', 'SQLite', full),
    await withStore('file locked', 'SQLite', async (store) =>
      outage({ store, ...long, failure: await failures.fileLocked(store) }),
    ),
    await withStore('file moved', 'SQLite', (store) =>
      outage({ store, setup, refusals: 500, failure: failures.fileMoved(store, 'nothing') }),
    ),
    await withStore('file replaced', 'SQLite', (store) =>
      outage({ store, setup, refusals: 500, failure: failures.fileMoved(store, 'a copy') }),
    ),
    await withStore('server killed', 'PostgreSQL', (store) =>
      outage({ store, setup, refusals: 500, failure: failures.serverKilled(server) }),
    ),
    await withStore('server stands still', 'PostgreSQL', (store) =>
      outage({ store, ...long, failure: failures.serverStopped(server) }),
    ),
    await withStore('network stalled', 'PostgreSQL', (store) => proxied(store, long, failures.networkStalled)),
    await withStore('answers cut', 'PostgreSQL', (store) =>
      proxied(store, { setup, refusals: 200 }, failures.answersCut),
    ),
    await withStore('table locked', 'PostgreSQL', (store) =>
      outage({ store, ...long, failure: failures.tableLocked(store) }),
    ),
  ];
}

async function allReplicas(withStore: WithStore): Promise<Proofs['replicas']> {
  const runs: readonly [what: string, Fault | null, Partial<ReplicaOptions>][] = [
    ['both live', null, { notifications: 5000 }],
    ['both live, 100 notifications a transaction', null, { notifications: 2000, inTransaction: 100 }],
    ['one is killed in the middle', null, { notifications: 5000, killAfter: 3500 }],
    ['both live', 'handles first', { notifications: 500 }],
  ];
  const all: (Named<ReplicaResult> & { what: string })[] = [];
  for (const [what, fault, options] of runs) {
    const setup = { how: 'script', handlerMs: 3, handling: HANDLING, ...(fault === null ? {} : { fault }) } as const;
    const run = (store: Store) => replicas({ store, setup, notifications: 0, ...options });
    all.push({ store: 'PostgreSQL', what, fault, result: await withStore(`replicas, ${what}`, 'PostgreSQL', run) });
  }
  return all;
}

async function allSoaks(withStore: WithStore): Promise<Proofs['soaks']> {
  const pinned = !lacks('taskset') ? { commandPrefix: ['taskset', '-c', '0'] } : {};
  const all: Proofs['soaks'][number][] = [];
  for (const [name, what, withHandlers, deliveries] of [
    ['SQLite', 'with handlers', true, SOAK],
    ['SQLite', 'without handlers', false, SOAK / 5],
    ['PostgreSQL', 'with handlers', true, SOAK],
  ] as const) {
    const setup = { how: 'script', withHandlers, ...(name === 'SQLite' ? pinned : {}) } as const;
    const run = (store: Store) => soak({ store, setup, deliveries, warmUp: 20_000 });
    all.push({ what, ...(await withStore(`soak, ${what}`, name, run)) });
  }
  return all;
}

const MAX_GROWTH_MB = 15;
const MAX_ANSWER_MS = 8000;

/** Returns the claims that do not hold. A faulty receiver must fail the proof that is meant to detect it. */
export function brokenClaims(proofs: Proofs): string[] {
  const claims: [what: string, holds: boolean][] = [];
  for (const { store, fault, result: r } of proofs.kills) {
    const seen: Partial<Record<Fault, number>> = {
      'acknowledges first': r.missing,
      'handles first': r.handledUnstored,
      'settles first': r.unhandled,
    };
    const sum = r.missing + r.duplicates + r.unhandled + r.handledUnstored + r.dead;
    claims.push([`kills, ${store}, ${fault ?? 'correct'}`, fault === null ? sum === 0 : (seen[fault] ?? 0) > 0]);
  }
  for (const { store, fault, result: r } of proofs.flushes) {
    const enough = r.fsyncs === null || r.fsyncs >= r.acknowledged;
    claims.push([
      `flushes, ${store}, ${fault ?? 'correct'}`,
      r.acknowledged === r.deliveries && enough === (fault === null),
    ]);
  }
  for (const r of proofs.outages) {
    const lost = r.acknowledgedWithoutRow + r.unhandled + r.duplicates + r.otherwise;
    const recovered = r.sameProcess && !r.secretInLog && r.slowestMs < MAX_ANSWER_MS && r.refused > 0;
    claims.push([`outage, ${r.store}: ${r.what}`, lost === 0 && recovered]);
  }
  for (const { what, fault, result: r } of proofs.replicas) {
    const stored = r.rows === r.notifications && r.accepted === r.rows && r.handled === r.rows;
    const once = r.runs === r.rows && r.ok === 3 * r.rows;
    const inOrder = r.overlaps + r.outOfOrder === 0 && r.pairs > 0;
    const holds = stored && inOrder && (what.includes('killed') || once) && r.shares.every((share) => share > 0);
    claims.push([`replicas, ${what}, ${fault ?? 'correct'}`, holds === (fault === null)]);
  }
  for (const r of proofs.soaks) {
    const all = r.acknowledged === r.deliveries && r.rows === r.deliveries && r.handled >= r.rows;
    const growth = (r.memory.at(-1) ?? 0) - (r.memory[0] ?? 0);
    claims.push([`soak, ${r.store}, ${r.what}: every row`, all]);
    claims.push([`soak, ${r.store}, ${r.what}: memory grows by ${growth.toFixed(1)} MB`, growth < MAX_GROWTH_MB]);
  }
  return claims.filter(([, holds]) => !holds).map(([what]) => what);
}

/**
 * Returns the hardware and the versions of the software, without the name of the machine. `postgres` is the URL of the
 * server.
 */
async function describeMachine(postgres: string | null): Promise<string[]> {
  const { loadSqlite } = await import('../../../receiver/inbox/sqlite-database.ts');
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(':memory:');
  const [sqlite] = database.prepare('SELECT sqlite_version() AS version').all() as { version: string }[];
  database.close();
  const server = postgres === null ? [] : await query<{ server_version: string }>(postgres, 'SHOW server_version');
  const { stdout } = spawnSync('df', ['--output=fstype', '/tmp'], { encoding: 'utf8' });
  return [
    `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB of memory`,
    `Linux ${release()}, file system ${stdout.split('\n')[1]?.trim() ?? 'unknown'}`,
    `Node ${process.versions.node}`,
    `SQLite ${sqlite?.version}`,
    server[0] === undefined ? 'no PostgreSQL' : `PostgreSQL ${server[0].server_version}`,
  ];
}
