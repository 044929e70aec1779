/** The version of this package, from its package.json. */
import { readFileSync } from 'node:fs';
import { packageFile } from '../contract/package-file.ts';

function readVersion(): string {
  const file = packageFile('package.json');
  return file === null ? '0.0.0' : String(JSON.parse(readFileSync(file, 'utf8')).version);
}

export const version: string = readVersion();
