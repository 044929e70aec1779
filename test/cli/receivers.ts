/** Starts commands that run until they are stopped, each in a separate process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import { MAIN } from './hookproof.ts';

const children: ChildProcess[] = [];

/** Ends the processes that a failed test has left running. Call it in `afterAll`. */
export function endReceivers(): void {
  for (const child of children) child.kill('SIGKILL');
}

interface Surroundings {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Starts a receiver or a proxy on a free port. */
export async function startedReceiver(
  args: readonly string[],
  surroundings: Surroundings,
  command: 'receiver' | 'proxy' = 'receiver',
) {
  const started = startedCommand([command, '--port', '0', ...args], surroundings);
  const url = await started.says(/listening at (\S+)/);
  return { ...started, url, port: Number(new URL(url).port) };
}

/** Starts a command. `says` waits until standard error matches, after the previous match. */
export function startedCommand(args: readonly string[], { env, cwd }: Surroundings) {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
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
  /** Ends the process, and expects exit code 0. Resolves when all its output has been read. */
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const exited = once(child, 'close');
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
  };
  return { child, says, stop, output: () => ({ stdout, stderr }) };
}
