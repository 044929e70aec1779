/** The ways in which an inbox fails: disk, locks, server, network. */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import pg from 'pg';
import { loadSqlite, type SqliteDatabase } from '../../../receiver/inbox/sqlite-database.ts';
import type { PostgresServer } from '../../setup/postgres.ts';
import type { Failure } from './outage.ts';
import type { Store } from './receiver-process.ts';
import type { TcpProxy } from './tcp-proxy.ts';

export function diskFull(disk: SmallDisk): Failure {
  return {
    what: `disk full: ${disk.kind}`,
    begin: ({ pid }) => disk.fill(pid),
    end: ({ pid }) => disk.empty(pid),
  };
}

/** Returns a store whose file is on this disk. */
export function storeOn(store: Store, disk: SmallDisk): Store {
  return { ...store, url: pathToFileURL(join(disk.path, 'inbox.db')).href };
}

/** Locks the file, like a backup or an uncommitted statement in another session. */
export async function fileLocked({ url }: Store): Promise<Failure> {
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

/** Moves the file while the receiver is running, like a restore or a clean-up script. */
export function fileMoved({ url }: Store, replacement: 'nothing' | 'a copy'): Failure {
  const file = fileURLToPath(url);
  const aside = `${file}.aside`;
  return {
    what: `the file is moved away, ${replacement} takes its place, and it comes back`,
    begin() {
      renameSync(file, aside);
      if (replacement === 'a copy') copyFileSync(aside, file);
    },
    end: () => renameSync(aside, file),
  };
}

export function serverKilled(server: PostgresServer): Failure {
  return {
    what: 'the database server ends at once (SIGQUIT) and is started again',
    begin: () => server.kill(),
    end: () => server.start(),
  };
}

export function serverStopped(server: PostgresServer): Failure {
  let stopped: number[] = [];
  return {
    what: 'the database server and all its processes are stopped (SIGSTOP), then continued (SIGCONT)',
    begin() {
      stopped = [server.pid(), ...childrenOf(server.pid())];
      for (const pid of stopped) process.kill(pid, 'SIGSTOP');
    },
    end() {
      // runuser, its parent process, stops itself when its child is stopped.
      for (const pid of [...stopped, parentOf(server.pid())]) process.kill(pid, 'SIGCONT');
    },
  };
}

export function networkStalled(proxy: TcpProxy): Failure {
  return {
    what: 'the network to the database forwards nothing, and no connection ends',
    begin: () => proxy.mode('stalled'),
    end: () => proxy.mode('through'),
  };
}

export function answersCut(proxy: TcpProxy): Failure {
  return {
    what: 'every connection is cut when the database answers',
    begin: () => proxy.mode('cut-answers'),
    end: () => proxy.mode('through'),
  };
}

export function tableLocked({ url }: Store): Failure {
  let client: pg.Client | undefined;
  return {
    what: 'another session holds an exclusive lock on the table',
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

/** Returns the id of the parent process. 0 if the process has ended. */
function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

/**
 * A small disk: a file system in memory if mounting is permitted, otherwise a limit on the size of a process's files.
 */
interface SmallDisk {
  /** The kind of disk, for the document. */
  readonly kind: string;
  /** The folder for the files. */
  readonly path: string;
  /** A command prefix for the process that writes to the disk. */
  readonly commandPrefix: readonly string[];
  fill(pid: number): void;
  empty(pid: number): void;
  remove(): void;
}

const SIZE_MIB = 24;

export function openSmallDisk(folder: string): SmallDisk {
  const path = join(folder, 'disk');
  mkdirSync(path);
  const options = ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m`, 'tmpfs', path];
  const mounted = process.getuid?.() === 0 && spawnSync('mount', options).status === 0;
  return mounted ? smallFileSystem(path) : limitedFiles(path);
}

function smallFileSystem(path: string): SmallDisk {
  const ballast = join(path, 'ballast');
  return {
    kind: `a tmpfs of ${SIZE_MIB} MiB, filled to its last byte (ENOSPC)`,
    path,
    commandPrefix: [],
    fill() {
      const file = openSync(ballast, 'w');
      for (const size of [65_536, 4096, 1]) {
        try {
          while (true) writeSync(file, Buffer.alloc(size));
        } catch {
          // The disk is full for writes of this size.
        }
      }
      closeSync(file);
    },
    empty: () => rmSync(ballast),
    remove: () => execFileSync('umount', ['--lazy', path]),
  };
}

/** Ignores the signal of the limit, because it would end the process, and a full disk sends no signal. */
const WITHOUT_SIGNAL = ['sh', '-c', 'trap "" XFSZ; exec "$@"', 'sh'];

function limitedFiles(path: string): SmallDisk {
  const limit = (pid: number, bytes: string) => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
  return {
    kind: 'a limit on the size of files, because nothing can be mounted here (EFBIG)',
    path,
    commandPrefix: WITHOUT_SIGNAL,
    fill: (pid) => limit(pid, String(statSync(join(path, 'inbox.db')).size)),
    empty: (pid) => limit(pid, 'unlimited'),
    remove() {},
  };
}
