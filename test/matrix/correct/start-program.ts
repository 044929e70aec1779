/** Receivers that are programs of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { CorrectOptions, StartedReceiver } from './correct-receiver.ts';

/**
 * Starts a program that takes its credentials from the environment and prints the port that it listens on. It gets a process group of its
 * own, which is ended as a whole: some of these programs start others. Rejects when it ends before.
 */
export async function startProgram(
  [program, ...args]: readonly [string, ...string[]],
  { secret, apiKey }: CorrectOptions,
): Promise<StartedReceiver> {
  const { PATH, HOME } = process.env;
  const child = spawn(program, args, {
    env: { PATH, HOME, HOOKPROOF_SECRET: secret, HOOKPROOF_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-2000);
  });
  const exited = once(child, 'exit');
  const ended = exited.then(() => Promise.reject(new Error(`${program} ended: ${said}`)));
  ended.catch(() => {});
  const end = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  // A test that is interrupted leaves nothing behind.
  process.once('exit', end);
  const lines = createInterface({ input: child.stdout });
  const [port] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  // Nobody needs what comes after it, and a full pipe would stop the program.
  lines.on('line', () => {});
  return {
    url: `http://127.0.0.1:${Number(port)}/hooks`,
    close: async () => {
      process.off('exit', end);
      end();
      await exited;
    },
  };
}
