import { exec } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { promisify } from 'node:util';

/** The sources of the compiled program. */
const SOURCES = ['certs', 'contract', 'harness', 'mutants', 'receiver', 'scenarios'];
const RULES = ['build.ts', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
/** The file that the build writes last. */
const BUILT = 'dist/bin/hookproof.js';

/** Builds the program unless no source has changed since the last build. */
export async function buildWhenStale(): Promise<void> {
  if (!isStale()) return;
  await promisify(exec)('npm run --silent build');
}

function isStale(): boolean {
  const built = changedAt(BUILT);
  // The time of a folder changes when a file is deleted or renamed.
  const inside = SOURCES.flatMap((folder) => [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  ]);
  return [...RULES, ...inside].some((path) => changedAt(path) >= built);
}

/** Returns the modification time in milliseconds. 0 if the file does not exist. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
