/** Starts a receiver on a file, and in a folder, that it cannot write: it must fail with an error. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Folder } from '../../proofs/durability/receiver-process.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/hookproof.js', import.meta.url));
/** Root may write everything, so root starts the receiver as another user. */
const UNPRIVILEGED = 65_534;

interface ReadOnlyResult {
  readonly what: string;
  readonly code: number | null;
  readonly stderr: string;
}

export function startReadOnly(folder: Folder): ReadOnlyResult[] {
  const folderPath = join(folder.path, 'read-only');
  mkdirSync(folderPath);
  const file = join(folderPath, 'inbox.db');
  const asRoot = process.getuid?.() === 0;
  const start = (what: string): ReadOnlyResult => {
    const { status, stderr } = spawnSync(process.execPath, [PROGRAM, 'receiver', '--port', '0', '--open'], {
      env: { PATH: process.env.PATH, HOOKPROOF_INBOX: pathToFileURL(file).href },
      encoding: 'utf8',
      timeout: 20_000,
      ...(asRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}),
    });
    return { what, code: status, stderr: stderr };
  };
  chmodSync(folder.path, 0o755);
  chmodSync(folderPath, 0o555);
  const inFolder = start('a folder that cannot be written');
  writeFileSync(file, '');
  chmodSync(file, 0o444);
  if (asRoot) chownSync(file, 0, 0);
  const onFile = start('a file that cannot be written');
  chmodSync(folderPath, 0o755);
  return [inFolder, onFile];
}
