/** The ways in which an inbox fails. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { loadSqlite, type SqliteDatabase } from '../../../receiver/inbox/sqlite-database.ts';
import type { PostgresServer } from '../../setup/postgres.ts';
import type { Trouble } from './outage.ts';
import type { SmallDisk } from './small-disk.ts';
import type { Store } from './stores.ts';
import type { TcpProxy } from './tcp-proxy.ts';

export function diskFull(disk: SmallDisk): Trouble {
  return {
    what: `disk full: ${disk.kind}`,
    begin: ({ pid }) => disk.fill(pid),
    end: ({ pid }) => disk.empty(pid),
  };
}

/** A store whose file lies there. */
export function storeOn(store: Store, disk: SmallDisk): Store {
  return { ...store, url: pathToFileURL(join(disk.path, 'inbox.db')).href };
}

/** A backup, or a statement that somebody has typed and not committed. */
export async function fileLocked({ url }: Store): Promise<Trouble> {
  const { DatabaseSync } = await loadSqlite();
  const file = fileURLToPath(url);
  let other: SqliteDatabase | undefined;
  return {
    what: 'another process holds the write lock of the file',
    begin() {
      other = new DatabaseSync(file);
      other.exec('PRAGMA busy_timeout = 5000');
      other.exec('BEGIN IMMEDIATE');
    },
    end() {
      other?.exec('ROLLBACK');
      other?.close();
    },
  };
}

export function serverKilled(server: PostgresServer): Trouble {
  return {
    what: 'the database server ends at once (SIGQUIT) and is started again',
    begin: () => server.kill(),
    end: () => server.start(),
  };
}

export function serverStopped(server: PostgresServer): Trouble {
  let stopped: number[] = [];
  return {
    what: 'the database server and all its processes stand still (SIGSTOP), then go on (SIGCONT)',
    begin() {
      stopped = [server.pid(), ...childrenOf(server.pid())];
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    },
    end() {
      // runuser, from which it was started, stands still by itself when it sees that.
      for (const pid of [...stopped, parentOf(server.pid())]) process.kill(pid, 'SIGCONT');
    },
  };
}

export function networkStalled(proxy: TcpProxy): Trouble {
  return {
    what: 'nothing goes through the network to the database any more, and no connection ends',
    begin: () => proxy.mode('stalled'),
    end: () => proxy.mode('through'),
  };
}

export function answersCut(proxy: TcpProxy): Trouble {
  return {
    what: 'every connection is cut when the database has done its work and answers',
    begin: () => proxy.mode('cut-answers'),
    end: () => proxy.mode('through'),
  };
}

export function tableLocked({ url }: Store): Trouble {
  let client: pg.Client | undefined;
  return {
    what: 'somebody holds an exclusive lock on the table',
    async begin() {
      client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('BEGIN; LOCK TABLE hookproof_inbox IN ACCESS EXCLUSIVE MODE');
    },
    async end() {
      await client?.end();
    },
  };
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => parentOf(pid) === parent);
}

/** 0 when it has ended. */
function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}
