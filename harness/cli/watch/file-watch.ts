/** Sees which files change, without those that tools and the endpoint itself write. */
import { stat } from 'node:fs/promises';
import { basename, relative, resolve, sep } from 'node:path';
import { watch } from 'chokidar';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { errorCode } from '../terminal.ts';

/** Folders below a watched one that hold what tools write: dependencies, history, output, caches. */
const IGNORED_FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  '.gradle',
  '.hg',
  '.idea',
  '.mypy_cache',
  '.next',
  '.nyc_output',
  '.pytest_cache',
  '.ruff_cache',
  '.svn',
  '.tox',
  '.venv',
  '.vscode',
  '__pycache__',
  'build',
  'coverage',
  'dist',
  'hookproof-run',
  'log',
  'logs',
  'node_modules',
  'obj',
  'out',
  'target',
  'tmp',
  'venv',
]);

/** What programs write while they run, and editors while they save; `journal.ndjson` is the recipes' own. */
const IGNORED_FILES =
  /(?:\.(?:log|ndjson|jsonl|pid|tmp|sw[px]|pyc|db|sqlite3?)(?:-(?:journal|wal|shm))?|~)$|^\.#|^4913$|^\.DS_Store$/i;

/** Whether a change of this path is none of the endpoint's code. `path` is relative to the watched folder. */
export function isIgnored(path: string): boolean {
  return path.split(sep).some((part) => IGNORED_FOLDERS.has(part)) || IGNORED_FILES.test(basename(path));
}

export interface FileWatch {
  close(): Promise<void>;
}

/**
 * Watches files and folders; `written` are the files that hookproof writes. `onChange` gets absolute paths.
 *
 * @throws HookproofError for a path that does not exist, and when the system cannot watch
 */
export async function watchFiles(
  paths: readonly string[],
  written: readonly string[],
  onChange: (path: string) => void,
): Promise<FileWatch> {
  const roots = paths.map((path) => resolve(path));
  await Promise.all(
    roots.map((root, at) =>
      stat(root).catch(() => {
        throw new HookproofError('WATCH_PATH', `\`--watch ${paths[at]}\`: there is no such file or folder`, {
          hint: 'Name files or folders of the endpoint; without a name, the current folder is watched.',
        });
      }),
    ),
  );
  const files = new Set(written);
  const inRoot = (path: string) => {
    const inside = roots.map((root) => relative(root, path)).filter((short) => short.split(sep)[0] !== '..');
    // Below several of them, the nearest one counts: a folder that is named is never ignored.
    return inside.toSorted((one, other) => one.length - other.length)[0] ?? '';
  };
  const watcher = watch(roots, {
    ignoreInitial: true,
    ignored: (path) => files.has(resolve(path)) || isIgnored(inRoot(path)),
  });
  watcher.on('all', (event, path) => {
    if (event === 'add' || event === 'change' || event === 'unlink') onChange(resolve(path));
  });
  await new Promise<void>((ready, failed) => {
    watcher.once('ready', () => ready());
    watcher.on('error', (error) => failed(cannotWatch(error)));
  }).catch(async (error: unknown) => {
    await watcher.close();
    throw error;
  });
  return { close: () => watcher.close() };
}

function cannotWatch(error: unknown): HookproofError {
  return new HookproofError('WATCH_SYSTEM', `the files cannot be watched (${errorCode(error)})`, {
    hint: 'Name fewer folders after `--watch`. On Linux, `fs.inotify.max_user_watches` limits their number.',
    cause: error,
  });
}

/** The endpoint writes a file that changes this often while the checks run once, or in this many runs in a row. */
const MAX_WRITES = 4;
const MAX_RUNS = 3;
/** How long after a change the endpoint's process may still be replaced because of it. */
const RECENT_MS = 60_000;

/** The changes that were not judged yet. */
export class Changes {
  readonly #pending = new Set<string>();
  readonly #ignored = new Set<string>();
  /** How often each file changed in this run, and in how many runs in a row it did. */
  readonly #writes = new Map<string, number>();
  readonly #runs = new Map<string, number>();
  #lastMs = Number.NEGATIVE_INFINITY;

  /** When the last file changed, by `performance.now()`. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Notes a change. False when the endpoint itself writes the file. */
  add(path: string, isRunning: boolean): boolean {
    if (this.#ignored.has(path)) return false;
    if (isRunning) this.#writes.set(path, (this.#writes.get(path) ?? 0) + 1);
    this.#pending.add(path);
    this.#lastMs = performance.now();
    return true;
  }

  /** The absolute paths of the changed files. */
  names(): readonly string[] {
    return [...this.#pending];
  }

  areRecent(): boolean {
    return performance.now() - this.#lastMs < RECENT_MS;
  }

  /** Begins a run, which judges all changes so far. */
  begin(): void {
    this.#pending.clear();
    this.#writes.clear();
  }

  /** Ends a run. Returns files that turn out to be written by the endpoint: they are ignored from now on. */
  end(): readonly string[] {
    for (const path of this.#runs.keys()) if (!this.#writes.has(path)) this.#runs.delete(path);
    for (const path of this.#writes.keys()) this.#runs.set(path, (this.#runs.get(path) ?? 0) + 1);
    const isWritten = ([path, count]: [string, number]) =>
      count >= MAX_WRITES || (this.#runs.get(path) ?? 0) >= MAX_RUNS;
    const found = [...this.#writes].filter(isWritten).map(([path]) => path);
    for (const path of found) {
      this.#ignored.add(path);
      this.#pending.delete(path);
    }
    return found;
  }
}
