import { execSync } from 'node:child_process';
import { rmSync } from 'node:fs';

/** The tests of the command line run the compiled program, so it is built once before the first test and is never stale. */
export function setup(): void {
  // Chunk names hold digests: old ones would pile up.
  rmSync('dist', { recursive: true, force: true });
  execSync('npm run --silent build', { stdio: 'inherit' });
}
