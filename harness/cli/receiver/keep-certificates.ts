/** Takes changed certificates into use while the receiver runs: when their files change, and at SIGHUP. */

import { type FSWatcher, lstatSync, readlinkSync, watch } from 'node:fs';
import { dirname, parse, resolve, sep } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { ReceiverLogger, ServerTls } from '../receiver-entry.ts';
import type { TlsReading } from './receiver-tls.ts';

export interface KeptCertificates {
  /** What the receiver was started with. */
  readonly current: ServerTls;
  readonly read: () => Promise<TlsReading>;
  readonly files: readonly string[];
  readonly reload: (tls: ServerTls) => void;
  readonly logger: ReceiverLogger;
}

/** Starts it, and returns the function that ends it. What cannot be used is reported, and the old certificates stay in use. */
export function keepCertificates(kept: KeptCertificates): () => void {
  const { read, files, reload, logger } = kept;
  let inUse = JSON.stringify(kept.current);
  let last = Promise.resolve();

  const take = async (evenIfSame: boolean) => {
    try {
      const { tls, advice } = await read();
      const text = JSON.stringify(tls);
      if (text === inUse && !evenIfSame) return;
      reload(tls);
      inUse = text;
      for (const sentence of advice) process.stderr.write(`advice: ${sentence}\n`);
      process.stderr.write('certificates reloaded\n');
    } catch (error) {
      const reason =
        error instanceof HookproofError ? `${error.message.replace(/\.$/, '')}. ${error.hint}` : String(error);
      process.stderr.write(`certificates not reloaded, the old ones stay in use: ${reason}\n`);
      logger.error({ event: 'tls-reload-failed', reason }, 'certificates not reloaded');
    }
  };
  // One after the other: a slow reading of old files must not end after a quick reading of new ones.
  const takeNext = (evenIfSame: boolean) => {
    last = last.then(() => take(evenIfSame));
  };

  const onSignal = () => takeNext(true);
  process.on('SIGHUP', onSignal);
  const unwatch = watchFiles(
    files,
    () => takeNext(false),
    (error) => {
      process.stderr.write(
        `the files of the certificates are not watched (${String(error)}): send SIGHUP when they change\n`,
      );
    },
  );
  // They may have changed between the first reading and the watching.
  takeNext(false);
  return () => {
    process.off('SIGHUP', onSignal);
    unwatch();
  };
}

/** Tells when files change, however they are replaced: written over, renamed into place, or behind a symbolic link that is swapped. */

/** Those who write a certificate write several files, one after the other. */
const DEBOUNCE_MS = 200;
/** The same limit as the kernel's, so that links in a circle come to an end. */
const MAX_LINKS = 40;

/**
 * Calls `onChange` a moment after something has happened in a folder on the way to one of the files; whether the files' contents are others is
 * for the caller to find out. `onError` hears once when a folder cannot be watched. Returns the function that stops it.
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
    // The links may lead elsewhere now, and a folder may be another one with the same name.
    stop();
    start();
    onChange();
  };
  start();
  return stop;
}

/**
 * The folders in which a change can make the path mean another file: the one that the file is in, and each that holds a symbolic link on the
 * way there. Where the path breaks off, the last folder that is there.
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

/** Follows a path up to its first symbolic link, its end, or where nothing is. */
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
  // A folder where a file was expected.
  return { folder: dirname(path) };
}
