/** Starts a receiver with a file, a folder and a disk that it cannot write to. It must fail with an error. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Folder } from '../../proofs/durability/receiver-process.ts';
import { lacks } from '../../setup/programs.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/hookproof.js', import.meta.url));
const IS_ROOT = process.getuid?.() === 0;
/**
 * root may write everything, so root starts the receiver without this privilege. Another user might not be able to read
 * this checkout.
 */
const WITHOUT_PRIVILEGE = IS_ROOT ? ['setpriv', '--bounding-set=-dac_override', '--inh-caps=-dac_override'] : [];
/** True for root without a program that gives up privileges. */
export const CANNOT_START_READ_ONLY = IS_ROOT && lacks('setpriv');

interface ReadOnlyResult {
  readonly what: string;
  readonly path: string;
  readonly code: number | null;
  readonly stderr: string;
}

export function startReadOnly(folder: Folder): ReadOnlyResult[] {
  const folderPath = join(folder.path, 'read-only');
  mkdirSync(folderPath);
  const file = join(folderPath, 'inbox.db');
  const start = (what: string, file: string): ReadOnlyResult => {
    const [program = '', ...args] = [...WITHOUT_PRIVILEGE, process.execPath, PROGRAM, 'receiver', '--port', '0'];
    const { status, stderr } = spawnSync(program, [...args, '--open'], {
      env: { PATH: process.env.PATH, HOOKPROOF_INBOX: pathToFileURL(file).href },
      encoding: 'utf8',
      timeout: 20_000,
    });
    return { what, path: file, code: status, stderr };
  };
  chmodSync(folderPath, 0o555);
  const inFolder = start('a folder that cannot be written', file);
  writeFileSync(file, '');
  chmodSync(file, 0o444);
  const onFile = start('a file that cannot be written', file);
  // The file can now be written, but no log can be created next to it.
  chmodSync(file, 0o666);
  const withoutLog = start('a file in a folder that cannot be written', file);
  chmodSync(folderPath, 0o755);
  return [inFolder, onFile, withoutLog, ...onDisk(folder, start)];
}

function onDisk(folder: Folder, start: (what: string, file: string) => ReadOnlyResult): ReadOnlyResult[] {
  const disk = join(folder.path, 'disk');
  mkdirSync(disk);
  const args = ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', disk];
  const { status, stderr, error } = spawnSync('mount', args, { encoding: 'utf8' });
  if (status !== 0) {
    const reason = error?.message ?? stderr.trim();
    process.stdout.write(`not tested: a read-only disk, because nothing can be mounted here (${reason})\n`);
    return [];
  }
  try {
    return [start('a disk that is read-only', join(disk, 'inbox.db'))];
  } finally {
    spawnSync('umount', ['--lazy', disk]);
  }
}
