import { exec } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { promisify } from 'node:util';

/** What the compiled program is made of. */
const SOURCES = ['certs', 'contract', 'harness', 'mutants', 'receiver', 'scenarios'];
const RULES = ['build.ts', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
/** Written last. */
const BUILT = 'dist/bin/hookproof.js';

/** Builds what is tested, unless nothing has changed since it was built. */
export async function buildWhenStale(): Promise<void> {
  if (!isStale()) return;
  await promisify(exec)('npm run --silent build');
}

function isStale(): boolean {
  const built = changedAt(BUILT);
  // A folder changes when a file goes away or gets another name.
  const inside = SOURCES.flatMap((folder) => [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  ]);
  return [...RULES, ...inside].some((path) => changedAt(path) >= built);
}

/** Milliseconds; 0 when it is not there. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
