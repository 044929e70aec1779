/** The version of this package, from its package.json: one above the sources, two above the compiled code. */
import { existsSync, readFileSync } from 'node:fs';

function readVersion(): string {
  for (const relative of ['../package.json', '../../package.json']) {
    const file = new URL(relative, import.meta.url);
    if (existsSync(file)) return String(JSON.parse(readFileSync(file, 'utf8')).version);
  }
  return '0.0.0';
}

export const version: string = readVersion();
