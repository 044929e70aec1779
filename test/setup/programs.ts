/**
 * Programs that some tests use: other implementations for comparison, other servers and clients. Tests that need a
 * missing program are skipped, and the end of `npm test` lists the missing programs. Node, git, a POSIX shell and
 * coreutils are always there.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

interface Lookup {
  /** Folders to search after those in PATH. */
  readonly folders?: readonly string[];
  /** Other names of the same program. */
  readonly names?: readonly string[];
  /** What the program must print to be the intended one. */
  readonly prints?: { readonly args: readonly string[]; readonly pattern: RegExp };
}

/** Debian installs servers here, outside the PATH of ordinary users. */
const SBIN = ['/usr/sbin'];

const PROGRAMS = {
  bash: {},
  chromium: { folders: ['/usr/bin'], names: ['chromium-browser'] },
  curl: {},
  fish: {},
  gcc: {},
  go: {},
  grep: {},
  iconv: {},
  java: {},
  jq: {},
  'nats-server': { folders: SBIN },
  nginx: { folders: SBIN },
  openssl: { prints: { args: ['version'], pattern: /^OpenSSL 3/ } },
  perl: {},
  php: {},
  postgres: { folders: debianPostgres() },
  prlimit: {},
  psql: {},
  python3: {},
  'rabbitmq-server': { folders: SBIN },
  ruby: {},
  sed: {},
  setpriv: {},
  taskset: {},
  xxd: {},
  zsh: {},
} as const satisfies Readonly<Record<string, Lookup>>;

export type Program = keyof typeof PROGRAMS;

/** Returns the path of the program. Null if it is missing. */
export function pathOf(program: Program): string | null {
  const { folders = [], names = [], prints }: Lookup = PROGRAMS[program];
  const places = [...(process.env.PATH ?? '').split(delimiter), ...folders];
  const found = [program, ...names].flatMap((name) => places.map((place) => join(place, name))).find(isExecutable);
  if (found === undefined) return null;
  if (prints === undefined) return found;
  return prints.pattern.test(spawnSync(found, prints.args, { encoding: 'utf8' }).stdout ?? '') ? found : null;
}

/** Returns whether one of these programs is missing: `describe.skipIf(lacks('nginx'))`. */
export function lacks(...programs: readonly Program[]): boolean {
  return programs.some((program) => pathOf(program) === null);
}

/** Returns the programs in the table that are missing here. */
export function missingPrograms(): Program[] {
  return (Object.keys(PROGRAMS) as Program[]).filter((program) => pathOf(program) === null);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the folders of PostgreSQL's server programs, with the newest version first. Debian has one folder per
 * version.
 */
function debianPostgres(): string[] {
  const versions = '/usr/lib/postgresql';
  if (!existsSync(versions)) return [];
  return readdirSync(versions)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(versions, version, 'bin'));
}
