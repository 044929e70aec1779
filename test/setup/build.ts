import { execFileSync } from 'node:child_process';

/** The CLI tests run the compiled program, so it is compiled once before the first test and is never stale. */
export function setup(): void {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  });
}
