/** The version of this package, from its package.json. */
import { readPackageFile } from '../contract/package-file.ts';

function readVersion(): string {
  const file = readPackageFile('package.json');
  return file === null ? '0.0.0' : String(JSON.parse(file.toString()).version);
}

export const version: string = readVersion();
