/** Every proof in full, one after the other: the machine should have nothing else to do. */
import { type PostgresServer, startPostgres } from '../../setup/postgres.ts';
import { lacks } from '../../setup/programs.ts';
import { type KillResult, killRounds } from './kill-rounds.ts';
import { describeMachine } from './machine.ts';
import { type OutageOptions, type OutageResult, outage, type Trouble } from './outage.ts';
import { type ReplicaOptions, type ReplicaResult, replicas } from './replicas.ts';
import { type SerialResult, serialFsyncs } from './serial-fsyncs.ts';
import { openSmallDisk } from './small-disk.ts';
import { type SoakResult, soak } from './soak.ts';
import { postgresStore, type Store, sqliteStore } from './stores.ts';
import { addressOf, startProxy, type TcpProxy, throughProxy } from './tcp-proxy.ts';
import * as troubles from './troubles.ts';
import type { WrongWay } from './wrong-receivers.ts';

const ROUNDS = 20;
const ROUNDS_OF_THE_WRONG = 3;
const SOAK = 300_000;
/** Short enough to see an entry taken over; on a busy machine a receiver may not come to extend one for a second. */
const HANDLING = { leaseMs: 4000, pollMs: 200 };

interface Named<Result> {
  readonly store: string;
  /** Null for the right receiver. */
  readonly wrong: WrongWay | null;
  readonly result: Result;
}

export interface Proofs {
  readonly machine: readonly string[];
  readonly kills: readonly Named<KillResult>[];
  readonly flushes: readonly Named<SerialResult>[];
  readonly outages: readonly OutageResult[];
  readonly replicas: readonly (Named<ReplicaResult> & { readonly what: string })[];
  readonly soaks: readonly (SoakResult & { readonly what: string })[];
}

type StoreName = Store['name'];

/** `told` hears of each that is over. With `parts`, only those. */
export async function runProofs(
  parts: readonly string[],
  told: (what: string, result: object) => void,
): Promise<Proofs> {
  const server = await startPostgres();
  if (server === null) throw new Error('The proofs need PostgreSQL (apt-get install postgresql).');
  const open = (name: StoreName) => (name === 'SQLite' ? sqliteStore() : postgresStore(server.url));
  const withStore = async <T extends object>(what: string, name: StoreName, run: (store: Store) => Promise<T>) => {
    const store = await open(name);
    const result = await run(store).finally(() => store.folder.remove());
    told(`${what}, ${name}`, result);
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

async function allKills(withStore: WithStore): Promise<Named<KillResult>[]> {
  const all: Named<KillResult>[] = [];
  for (const name of ['SQLite', 'PostgreSQL'] as const) {
    for (const wrong of [null, 'acknowledges first', 'handles first', 'settles first'] as const) {
      // The right one as a partner runs it, the wrong ones as a script.
      const right = { setup: { how: 'program', handlerMs: 2 }, rounds: ROUNDS } as const;
      // With handlers that take long, so that a kill finds some of them at work: three rounds have to be enough.
      const setup = { how: 'script', handlerMs: 20, handling: HANDLING, ...(wrong === null ? {} : { wrong }) } as const;
      const options = { seed: 5, betweenMs: [150, 850] as const, setup, rounds: ROUNDS_OF_THE_WRONG };
      const run = (store: Store) => killRounds({ store, ...options, ...(wrong === null ? right : {}) });
      all.push({ store: name, wrong, result: await withStore(`kills, ${wrong ?? 'right'}`, name, run) });
    }
  }
  return all;
}

async function allFlushes(withStore: WithStore): Promise<Named<SerialResult>[]> {
  const all: Named<SerialResult>[] = [];
  const loose = 'does not wait for the disk';
  for (const [name, wrong] of [
    ['SQLite', null],
    ['SQLite', loose],
    ['PostgreSQL', null],
  ] as const) {
    const run = (store: Store) => serialFsyncs(store, 1000, wrong ?? undefined);
    all.push({ store: name, wrong, result: await withStore(`flushes, ${wrong ?? 'right'}`, name, run) });
  }
  return all;
}

async function allOutages(server: PostgresServer, withStore: WithStore): Promise<OutageResult[]> {
  const setup = { how: 'script', handling: HANDLING } as const;
  const full = (store: Store) => {
    const disk = openSmallDisk(store.folder.path);
    const inside = { ...setup, under: disk.under };
    const options = {
      store: troubles.storeOn(store, disk),
      setup: inside,
      trouble: troubles.diskFull(disk),
      refusals: 500,
    };
    return outage(options).finally(() => disk.remove());
  };
  const long = { setup, refusals: 20, lastsMs: 12_000 };
  const proxied = async (
    store: Store,
    rest: Omit<OutageOptions, 'store' | 'trouble'>,
    make: (proxy: TcpProxy) => Trouble,
  ) => {
    const proxy = await startProxy([addressOf(store.url)]);
    const options = { store, inbox: throughProxy(store.url, proxy), trouble: make(proxy), ...rest };
    return outage(options).finally(() => proxy.close());
  };
  return [
    await withStore('disk full', 'SQLite', full),
    await withStore('file locked', 'SQLite', async (store) =>
      outage({ store, ...long, trouble: await troubles.fileLocked(store) }),
    ),
    await withStore('server killed', 'PostgreSQL', (store) =>
      outage({ store, setup, refusals: 500, trouble: troubles.serverKilled(server) }),
    ),
    await withStore('server stands still', 'PostgreSQL', (store) =>
      outage({ store, ...long, trouble: troubles.serverStopped(server) }),
    ),
    await withStore('network stalled', 'PostgreSQL', (store) => proxied(store, long, troubles.networkStalled)),
    await withStore('answers cut', 'PostgreSQL', (store) =>
      proxied(store, { setup, refusals: 200 }, troubles.answersCut),
    ),
    await withStore('table locked', 'PostgreSQL', (store) =>
      outage({ store, ...long, trouble: troubles.tableLocked(store) }),
    ),
  ];
}

async function allReplicas(withStore: WithStore): Promise<Proofs['replicas']> {
  const runs: readonly [what: string, WrongWay | null, Partial<ReplicaOptions>][] = [
    ['both live', null, { notifications: 5000 }],
    ['both live, 100 notifications a transaction', null, { notifications: 2000, inTransaction: 100 }],
    ['one is killed in the middle', null, { notifications: 5000, killAfter: 3500 }],
    ['both live', 'handles first', { notifications: 500 }],
  ];
  const all: (Named<ReplicaResult> & { what: string })[] = [];
  for (const [what, wrong, options] of runs) {
    const setup = { how: 'script', handlerMs: 3, handling: HANDLING, ...(wrong === null ? {} : { wrong }) } as const;
    const run = (store: Store) => replicas({ store, setup, notifications: 0, ...options });
    all.push({ store: 'PostgreSQL', what, wrong, result: await withStore(`replicas, ${what}`, 'PostgreSQL', run) });
  }
  return all;
}

async function allSoaks(withStore: WithStore): Promise<Proofs['soaks']> {
  const pinned = !lacks('taskset') ? { under: ['taskset', '-c', '0'] } : {};
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
