/** The files of this package that the program reads when it runs. */
import { existsSync } from 'node:fs';

/** The sources are one folder below package.json, the compiled code two, and bundles of tests three. */
const ROOTS = ['../', '../../', '../../../'];

/** The URL of a file or folder of this package, given its path from package.json; null when it is missing. */
export function packageFile(path: string): URL | null {
  return ROOTS.map((root) => new URL(root + path, import.meta.url)).find((file) => existsSync(file)) ?? null;
}
