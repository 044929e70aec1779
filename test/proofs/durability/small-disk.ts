/**
 * A disk that is nearly full: a small file system in memory where we may mount one, else a limit on the size of the
 * files of one process.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface SmallDisk {
  /** What was used, for the document. */
  readonly kind: string;
  /** Where to keep files. */
  readonly path: string;
  /** Words in front of the command of whoever writes there. */
  readonly under: readonly string[];
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
    under: [],
    fill() {
      const file = openSync(ballast, 'w');
      for (const size of [65_536, 4096, 1]) {
        try {
          while (true) writeSync(file, Buffer.alloc(size));
        } catch {
          // Full, for pieces of this size.
        }
      }
      closeSync(file);
    },
    empty: () => rmSync(ballast),
    remove: () => execFileSync('umount', ['--lazy', path]),
  };
}

/** The signal that comes with it would end the process; a full disk sends none. */
const WITHOUT_SIGNAL = ['sh', '-c', 'trap "" XFSZ; exec "$@"', 'sh'];

function limitedFiles(path: string): SmallDisk {
  const limit = (pid: number, bytes: string) => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
  return {
    kind: 'a limit on the size of files, because nothing can be mounted here (EFBIG)',
    path,
    under: WITHOUT_SIGNAL,
    fill: (pid) => limit(pid, String(statSync(join(path, 'inbox.db')).size)),
    empty: (pid) => limit(pid, 'unlimited'),
    remove() {},
  };
}
