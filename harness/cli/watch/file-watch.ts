/** Detects file changes, ignoring files that tools and the endpoint itself write. */
import { stat } from 'node:fs/promises';
import { basename, relative, resolve, sep } from 'node:path';
import { watch } from 'chokidar';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { errorCode } from '../terminal.ts';

/** Folders that are ignored below a watched one, because tools write to them: dependencies, history, output, caches. */
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

/**
 * Ignored files, which programs write while they run and editors while they save. The recipes write `journal.ndjson`.
 */
const IGNORED_FILES =
  /(?:\.(?:log|ndjson|jsonl|pid|tmp|sw[px]|pyc|db|sqlite3?)(?:-(?:journal|wal|shm))?|~)$|^\.#|^4913$|^\.DS_Store$/i;

/** Whether changes of this path are ignored. `path` is relative to the watched folder. */
export function isIgnored(path: string): boolean {
  return path.split(sep).some((part) => IGNORED_FOLDERS.has(part)) || IGNORED_FILES.test(basename(path));
}

export interface FileWatch {
  close(): Promise<void>;
}

/**
 * Watches files and folders, without the files in `written`, which hookproof writes. `onChange` receives absolute
 * paths.
 *
 * @throws HookproofError for a path that does not exist, or if the system cannot watch the files
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
    // If several watched folders contain the path, the nearest one applies: a folder that the user names is never
    // ignored.
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

/**
 * A file is considered written by the endpoint if it changes this often during one run, or in {@link MAX_RUNS}
 * consecutive runs.
 */
const MAX_WRITES = 4;
const MAX_RUNS = 3;
/** How long a replacement of the endpoint's process may still result from a change. */
const RECENT_MS = 60_000;

/** The file changes that no run has judged yet. */
export class Changes {
  readonly #pending = new Set<string>();
  readonly #ignored = new Set<string>();
  /** How many times each file changed in the current run; `#runs` counts consecutive runs in which it changed. */
  readonly #writes = new Map<string, number>();
  readonly #runs = new Map<string, number>();
  #lastMs = Number.NEGATIVE_INFINITY;

  /** When the last file changed, by `performance.now()`. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Adds a change. Returns false if the file is ignored because the endpoint writes it. */
  add(path: string, isRunning: boolean): boolean {
    if (this.#ignored.has(path)) return false;
    if (isRunning) this.#writes.set(path, (this.#writes.get(path) ?? 0) + 1);
    this.#pending.add(path);
    this.#lastMs = performance.now();
    return true;
  }

  /** Returns the absolute paths of the changed files. */
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

  /** Ends a run. Returns the files that the endpoint writes, as this run has shown; they are ignored from now on. */
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
