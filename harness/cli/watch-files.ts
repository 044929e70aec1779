/** Tells when files change, however they are replaced: written over, renamed into place, or behind a symbolic link that is swapped. */
import { type FSWatcher, lstatSync, readlinkSync, watch } from 'node:fs';
import { dirname, parse, resolve, sep } from 'node:path';

/** Those who write a certificate write several files, one after the other. */
const DEBOUNCE_MS = 200;
/** The same limit as the kernel's, so that links in a circle come to an end. */
const MAX_LINKS = 40;

/**
 * Calls `onChange` a moment after something has happened in a folder on the way to one of the files; whether the files' contents are others is
 * for the caller to find out. `onError` hears once when a folder cannot be watched. Returns the function that stops it.
 */
export function watchFiles(
  files: readonly string[],
  onChange: () => void,
  onError: (error: unknown) => void,
): () => void {
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
