import { execSync } from 'node:child_process';

/** The tests of the command line run the compiled program, so it is built once before the first test and is never stale. */
export function setup(): void {
  execSync('npm run --silent build', { stdio: 'inherit' });
}
