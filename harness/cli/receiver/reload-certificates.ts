/** Reloads certificates while the receiver runs: when their files change, and on SIGHUP. */
import { type FSWatcher, lstatSync, readlinkSync, watch } from 'node:fs';
import { dirname, parse, resolve, sep } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { ReceiverLogger, ServerTls } from '../receiver-entry.ts';
import { printAdvice } from '../terminal.ts';
import type { TlsReading } from './receiver-tls.ts';

export interface ReloadOptions {
  /** What the receiver was started with. */
  readonly current: ServerTls;
  readonly read: () => Promise<TlsReading>;
  readonly files: readonly string[];
  readonly reload: (tls: ServerTls) => void;
  readonly logger: ReceiverLogger;
}

/** Starts it, and returns the function that stops it. Invalid files are reported; the old certificates stay in use. */
export function reloadCertificates({ current, read, files, reload, logger }: ReloadOptions): () => void {
  let inUse = JSON.stringify(current);
  let last = Promise.resolve();

  const attempt = async (evenIfSame: boolean) => {
    try {
      const { tls, advice } = await read();
      const text = JSON.stringify(tls);
      if (text === inUse && !evenIfSame) return;
      reload(tls);
      inUse = text;
      printAdvice(advice);
      process.stderr.write('certificates reloaded\n');
    } catch (error) {
      const reason =
        error instanceof HookproofError ? `${error.message.replace(/\.$/, '')}. ${error.hint}` : String(error);
      process.stderr.write(`certificates not reloaded, the old ones stay in use: ${reason}\n`);
      logger.error({ event: 'tls-reload-failed', reason }, 'certificates not reloaded');
    }
  };
  // One at a time: a slow read of old files must not finish after a quick read of new ones.
  const enqueue = (evenIfSame: boolean) => {
    last = last.then(() => attempt(evenIfSame));
  };

  const onSignal = () => enqueue(true);
  process.on('SIGHUP', onSignal);
  const unwatch = watchFiles(
    files,
    () => enqueue(false),
    (error) => {
      process.stderr.write(`certificate files are not watched (${String(error)}): send SIGHUP after a change\n`);
    },
  );
  // The files may have changed between the first read and the start of the watcher.
  enqueue(false);
  return () => {
    process.off('SIGHUP', onSignal);
    unwatch();
  };
}

/** A certificate and its key are written one after the other. */
const DEBOUNCE_MS = 200;
/** The limit of the Linux kernel, so that circular links end. */
const MAX_LINKS = 40;

/**
 * Calls `onChange` shortly after a change in any folder on the way to one of the files: however a file is replaced
 * (overwritten, renamed into place, behind a symbolic link that is swapped), its content may then be new. Calls
 * `onError` once if a folder cannot be watched. Returns the function that stops it.
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
 * The folders in which a change can make the path refer to another file: the folder of the file, and each folder that
 * holds a symbolic link on the way there. For a path that does not exist, the last folder that does.
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

/** Follows a path to its first symbolic link, to its end, or to where it stops existing. */
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
  // The path is a folder where a file was expected.
  return { folder: dirname(path) };
}
