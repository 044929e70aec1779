/** Reloads certificates and secrets while the receiver runs: when their files change or on SIGHUP. */
import { type FSWatcher, lstatSync, readlinkSync, watch } from 'node:fs';
import { dirname, parse, resolve, sep } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { ReceiverLogger } from '../receiver-entry.ts';
import { printAdvice } from '../terminal.ts';

export interface ReloadOptions<Content> {
  /** A plural noun for the content of the files, used in messages. */
  readonly noun: string;
  /** The event to log if the files cannot be used. */
  readonly failure: string;
  /** The content with which the receiver was started. */
  readonly current: Content;
  readonly read: () => Promise<{ readonly content: Content; readonly advice?: readonly string[] }>;
  readonly files: readonly string[];
  readonly reload: (content: Content) => void;
  readonly logger: ReceiverLogger;
}

/**
 * Starts reloading, and returns a function that stops it. Invalid files are reported, and the old content remains in
 * use.
 */
export function reloadFiles<Content>(options: ReloadOptions<Content>): () => void {
  const { noun, failure, current, read, files, reload, logger } = options;
  let inUse = JSON.stringify(current);
  let last = Promise.resolve();

  const attempt = async (evenIfSame: boolean) => {
    try {
      const { content, advice = [] } = await read();
      const text = JSON.stringify(content);
      if (text === inUse && !evenIfSame) return;
      reload(content);
      inUse = text;
      printAdvice(advice);
      process.stderr.write(`${noun} reloaded\n`);
    } catch (error) {
      const reason =
        error instanceof HookproofError ? `${error.message.replace(/\.$/, '')}. ${error.hint}` : String(error);
      process.stderr.write(`${noun} not reloaded, the old ones remain in use: ${reason}\n`);
      logger.error({ event: failure, reason }, `${noun} not reloaded`);
    }
  };
  // Only one reload runs at a time: a slow read of old files must not finish after a quick read of new ones.
  const enqueue = (evenIfSame: boolean) => {
    last = last.then(() => attempt(evenIfSame));
  };

  const onSignal = () => enqueue(true);
  process.on('SIGHUP', onSignal);
  const unwatch = watchFiles(
    files,
    () => enqueue(false),
    (error) => {
      process.stderr.write(`files of ${noun} are not watched (${String(error)}): send SIGHUP after a change\n`);
    },
  );
  // The files may have changed between the first read and the start of the watcher.
  enqueue(false);
  return () => {
    process.off('SIGHUP', onSignal);
    unwatch();
  };
}

/**
 * On SIGHUP, which would otherwise end the process, prints that nothing is reloaded. Returns a function that removes
 * this handler.
 */
export function refuseToReload(noun: string, reason: string): () => void {
  const onSignal = () => void process.stderr.write(`${noun} are not reloaded: ${reason}; restart the receiver\n`);
  process.on('SIGHUP', onSignal);
  return () => process.off('SIGHUP', onSignal);
}

/** Pause after a change, because a certificate and its key are written one after the other. */
const DEBOUNCE_MS = 200;
/**
 * Maximum number of symbolic links to follow, as in the Linux kernel, so that a loop of links is not followed forever.
 */
const MAX_LINKS = 40;

/**
 * Calls `onChange` shortly after a change in any folder on the path of a file. This covers files that are overwritten,
 * renamed into place, or replaced by changing a symbolic link. Calls `onError` once if a folder cannot be watched.
 * Returns a function that stops watching.
 */
function watchFiles(files: readonly string[], onChange: () => void, onError: (error: unknown) => void): () => void {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let failed = false;

  const fail = (error: unknown) => {
    if (failed) return;
    failed = true;
    onError(error);
  };
  const stop = () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const start = () => {
    try {
      for (const folder of new Set(files.flatMap(foldersOnTheWay))) {
        const watcher = watch(folder, { persistent: false }, () => {
          clearTimeout(timer);
          timer = setTimeout(settled, DEBOUNCE_MS);
        });
        watchers.push(watcher.on('error', fail));
      }
    } catch (error) {
      fail(error);
    }
  };
  const settled = () => {
    // Links may point elsewhere now, and a folder may have been replaced by another with the same name.
    stop();
    start();
    onChange();
  };
  start();
  return stop;
}

/**
 * Returns the folders in which a change can make the path refer to another file: the file's folder, and each folder
 * that contains a symbolic link on the path. If the path does not exist, includes the last folder on it that does.
 */
function foldersOnTheWay(file: string): string[] {
  const folders: string[] = [];
  let path = resolve(file);
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const next = firstLink(path);
    folders.push(next.folder);
    if (next.target === undefined) break;
    path = next.target;
  }
  return folders;
}

/** Follows a path to its first symbolic link, its end, or its first missing component. */
function firstLink(path: string): { readonly folder: string; readonly target?: string } {
  const { root } = parse(path);
  let at = root;
  const names = path.slice(root.length).split(sep);
  for (const [index, name] of names.entries()) {
    const here = resolve(at, name);
    const found = lstatSync(here, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) {
      return { folder: at, target: resolve(at, readlinkSync(here), ...names.slice(index + 1)) };
    }
    if (found?.isDirectory() !== true) return { folder: at };
    at = here;
  }
  // The path leads to a folder instead of a file.
  return { folder: dirname(path) };
}
