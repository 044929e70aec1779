/** `hookproof receiver` or `hookproof proxy` in a separate process, for as long as a test needs it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { MAIN } from './hookproof.ts';

const children: ChildProcess[] = [];

/** Ends those that a failed test left behind. For `afterAll`. */
export function endReceivers(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Starts one on a free port. `says` waits until standard error matches, after what matched before. */
export async function startedReceiver(
  args: readonly string[],
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
  command: 'receiver' | 'proxy' = 'receiver',
) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [MAIN, command, '--port', '0', ...args], {
    env: { PATH, HOME, ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let stdout = '';
  let stderr = '';
  let from = 0;
  let wake = () => {};
  child.stdout.on('data', (data) => (stdout += data));
  child.stderr.on('data', (data) => {
    stderr += data;
    wake();
  });
  child.once('exit', () => wake());
  const says = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(stderr.slice(from));
      if (found !== null) {
        from += found.index + found[0].length;
        return found[1] ?? found[0];
      }
      if (child.exitCode !== null) throw new Error(`exit ${child.exitCode}: ${stderr}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const url = await says(/listening at (\S+)/);
  /** Ends it, and expects exit code 0. All its output has been read then. */
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const exited = once(child, 'close');
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
  };
  return { child, url, port: Number(new URL(url).port), says, stop, output: () => ({ stdout, stderr }) };
}
