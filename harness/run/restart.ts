/** Restarts the receiver with the operator's command, and waits until it accepts deliveries again. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { isAccepted } from '../judge/index.ts';
import { killCommand, type OperatorCommand, startCommand } from '../start-command.ts';
import type { Attempt } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import type { Lane } from './lane.ts';
import { sendControl } from './send.ts';

/** Why a restart failed, as a sentence that names the flag, with what to do. */
class RestartProblem extends Error {}

/** How many times the time limit of a delivery a restart may take. */
const TIMEOUTS = 6;

/**
 * Runs a shell command that kills the receiver and starts it again. A command that does not end is killed, with
 * everything that it started.
 *
 * @throws RestartProblem when it does not end with exit code 0
 */
export function runRestartCommand(
  command: OperatorCommand,
  { timeoutMs }: { readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Not its output: a receiver that goes on in the background would keep it open.
    const child = startCommand(command, 'ignore');
    let isLate = false;
    const kill = () => killCommand(child);
    const limitMs = TIMEOUTS * timeoutMs;
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, limitMs);
    const done = (problem: RestartProblem | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      if (problem === null || signal.aborted) resolve();
      else reject(problem);
    };
    child.once('error', ({ message }) =>
      done(new RestartProblem(`\`--restart-command\` could not be started: ${message}`)),
    );
    child.once('exit', (code, killedBy) => done(isLate ? late(limitMs) : problemOf(code, killedBy)));
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill, { once: true });
  });
}

function late(limitMs: number): RestartProblem {
  return new RestartProblem(
    `\`--restart-command\` did not end within ${limitMs / 1000} s: it must start the receiver in the background ` +
      '(`&`), and end with exit code 0',
  );
}

/** What a shell reports with its exit code. */
const SHELL_CODES: Readonly<Record<number, string>> = { 126: ' (not executable)', 127: ' (command not found)' };

function problemOf(code: number | null, killedBy: string | null): RestartProblem | null {
  if (code === 0) return null;
  const how = code === null ? `was ended by ${killedBy}` : `ended with exit code ${code}${SHELL_CODES[code] ?? ''}`;
  return new RestartProblem(
    `\`--restart-command\` ${how}, expected 0: run it yourself in this folder, and check that the receiver is up ` +
      'when it ends',
  );
}

/** Pauses between the deliveries to a receiver that restarts, in milliseconds. */
const PAUSE_MS = 100;

/**
 * Runs the operator's command, and waits until the receiver accepts deliveries again, as long as for an outage.
 *
 * @returns why the checks across restarts allow no conclusion; null when the receiver is back, or the run interrupted
 */
export async function restartReceiver(context: RunContext, lane: Lane): Promise<string | null> {
  const { limits, restart, signal } = context;
  try {
    await restart?.();
  } catch (error) {
    const { message } = error as Error;
    return error instanceof RestartProblem ? message : `the restart of the receiver failed: ${message}`;
  }
  const until = performance.now() + limits.recoveryMs;
  for (;;) {
    const { attempt } = await sendControl(context, lane, 'control after the restart', { fresh: true });
    if (signal.aborted || isAccepted(attempt)) return null;
    if (performance.now() >= until) return notBack(limits.recoveryMs, attempt);
    await delay(PAUSE_MS);
  }
}

function notBack(recoveryMs: number, { answer, error }: Attempt): string {
  const last = answer === null ? (error?.message ?? 'No answer.') : `It answered ${answer.status}.`;
  return (
    `after \`--restart-command\`, the receiver did not accept a valid delivery within ${recoveryMs / 1000} s. ` +
    `${last} Let the command wait until the receiver is up, give it the variables that the receiver needs with ` +
    '`--command-env NAME`, or raise `--recovery`'
  );
}
