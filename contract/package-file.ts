/** Locates files of this package that the program reads at run time. */
import { existsSync } from 'node:fs';

/** Paths to the package root: sources are one folder below package.json, compiled code two, bundled tests three. */
const ROOTS = ['../', '../../', '../../../'];

/** Returns the URL of a file or folder, given its path relative to package.json; null when it is missing. */
export function packageFile(path: string): URL | null {
  return ROOTS.map((root) => new URL(root + path, import.meta.url)).find((file) => existsSync(file)) ?? null;
}
