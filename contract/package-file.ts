/**
 * Reads files of this package at run time. In the bundle, `bundle.ts` replaces this module with one that contains the
 * files.
 */
import { readFileSync } from 'node:fs';

/**
 * Relative paths to the package root: source files are one folder below package.json, compiled files are two below it,
 * and bundled tests three.
 */
const ROOTS = ['../', '../../', '../../../'];

/** Returns the content of a file, given its path relative to package.json. Returns null when it is missing. */
export function readPackageFile(path: string): Buffer | null {
  for (const root of ROOTS) {
    try {
      return readFileSync(new URL(root + path, import.meta.url));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return null;
}
