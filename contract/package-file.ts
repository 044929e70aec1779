/** Locates files of this package that the program reads at run time. */
import { existsSync } from 'node:fs';

/**
 * Relative paths to the package root: source files are one folder below package.json, compiled files two, bundled tests
 * three.
 */
const ROOTS = ['../', '../../', '../../../'];

/** Returns the URL of a file or folder, given its path relative to package.json. Returns null when it is missing. */
export function packageFile(path: string): URL | null {
  return ROOTS.map((root) => new URL(root + path, import.meta.url)).find((file) => existsSync(file)) ?? null;
}
