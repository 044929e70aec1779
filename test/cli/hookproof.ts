import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The compiled program. */
export const MAIN = new URL('../../dist/bin/hookproof.js', import.meta.url).pathname;

/** Runs the compiled program in a separate process, without the configuration of this one. */
export function hookproof(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string } = {},
): Promise<Finished> {
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [MAIN, ...args],
      { env: { PATH, HOME, ...options.env }, cwd: options.cwd ?? tmpdir(), maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : (child.exitCode ?? -1), stdout, stderr }),
    );
    if (options.input !== undefined) child.stdin?.end(options.input);
  });
}
