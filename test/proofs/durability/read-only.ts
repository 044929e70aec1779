/**
 * The start on a file, or in a folder, that the receiver may not write: an error that says so, and no receiver that
 * answers 503 for ever.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Folder } from './receiver-process.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/hookproof.js', import.meta.url));
/** Root may write everything: for it, somebody else tries. */
const NOBODY = 65_534;

export interface ReadOnlyResult {
  readonly what: string;
  readonly code: number | null;
  readonly words: string;
}

export function startReadOnly(folder: Folder): ReadOnlyResult[] {
  const place = join(folder.path, 'read-only');
  mkdirSync(place);
  const file = join(place, 'inbox.db');
  const asRoot = process.getuid?.() === 0;
  const start = (what: string): ReadOnlyResult => {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'receiver', '--port', '0', '--open'], {
      env: { PATH: process.env.PATH, HOOKPROOF_INBOX: pathToFileURL(file).href },
      encoding: 'utf8',
      timeout: 20_000,
      ...(asRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    });
    return { what, code: status, words: stderr };
  };
  chmodSync(folder.path, 0o755);
  chmodSync(place, 0o555);
  const inFolder = start('a folder that may not be written');
  writeFileSync(file, '');
  chmodSync(file, 0o444);
  if (asRoot) chownSync(file, 0, 0);
  const onFile = start('a file that may not be written');
  chmodSync(place, 0o755);
  return [inFolder, onFile];
}
