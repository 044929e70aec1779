/**
 * Runs the operator's commands that change the receiver. After a restart, waits until the receiver accepts deliveries
 * again.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { isAccepted } from '../judge/index.ts';
import { createHold } from '../probe/index.ts';
import { killCommand, type OperatorCommand, startCommand } from '../start-command.ts';
import type { Attempt } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import type { Lane } from './lane.ts';
import { isUnreached, sendControl } from './send.ts';

/** A command that failed. The message names the flag, and says why the command failed and what to do. */
export class CommandProblem extends Error {}

/** Time limit for a command, as a multiple of the time limit for one delivery. */
export const COMMAND_TIMEOUTS = 6;

/** The flag of each command, and what must be true when the command has ended. */
const COMMANDS = {
  '--restart-command': 'the receiver is up',
  '--rotate-command': 'the receiver accepts the secrets of HOOKPROOF_ROTATION_STEP',
} as const;
type CommandFlag = keyof typeof COMMANDS;

/**
 * Runs a shell command that changes the receiver. A command that does not end in time is killed, together with every
 * process that it started. Resolves without an error if the run is interrupted.
 *
 * @throws CommandProblem if the command does not end in time with exit code 0
 */
export function runReceiverCommand(
  flag: CommandFlag,
  command: OperatorCommand,
  { timeoutMs }: { readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // The output is ignored, because a receiver that keeps running in the background would keep a pipe open.
    const child = startCommand(command, 'ignore');
    let isLate = false;
    const kill = () => killCommand(child);
    const limitMs = COMMAND_TIMEOUTS * timeoutMs;
    const timer = setTimeout(() => {
      isLate = true;
      kill();
    }, limitMs);
    const done = (problem: CommandProblem | null) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
      if (problem === null || signal.aborted) resolve();
      else reject(problem);
    };
    child.once('error', ({ message }) => done(new CommandProblem(`\`${flag}\` could not be started: ${message}`)));
    child.once('exit', (code, killedBy) => done(isLate ? late(flag, limitMs) : problemOf(flag, code, killedBy)));
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill, { once: true });
  });
}

function late(flag: CommandFlag, limitMs: number): CommandProblem {
  return new CommandProblem(
    `\`${flag}\` did not end within ${limitMs / 1000} s: it must start the receiver in the background ` +
      '(`&`), and end with exit code 0',
  );
}

/** The reason that a shell reports with an exit code. */
const SHELL_CODES: Readonly<Record<number, string>> = { 126: ' (not executable)', 127: ' (command not found)' };

function problemOf(flag: CommandFlag, code: number | null, killedBy: string | null): CommandProblem | null {
  if (code === 0) return null;
  const how = code === null ? `was killed by ${killedBy}` : `ended with exit code ${code}${SHELL_CODES[code] ?? ''}`;
  return new CommandProblem(
    `\`${flag}\` ${how}, expected 0: run it yourself in this folder, and check that ${COMMANDS[flag]} when it ends`,
  );
}

/** Pauses between deliveries while the receiver restarts, in milliseconds. */
const PAUSE_MS = 100;
const MAX_PAUSE_MS = 1000;

/**
 * Restarts the receiver with the operator's command. Waits until it accepts deliveries again, for at most the recovery
 * time.
 *
 * @returns why the checks across the restart allow no conclusion; null if the receiver has ended and is back, or if the
 * run was interrupted
 */
export async function restartReceiver(context: RunContext, lane: Lane): Promise<string | null> {
  const problem = await restartOnce(context, lane);
  // Patience is the exception: while the restart waits for the half-sent delivery, the receiver can finish its work.
  return problem === NOT_ENDED ? restartOnce(context, lane, { isPatient: true }) : problem;
}

async function restartOnce(
  context: RunContext,
  lane: Lane,
  { isPatient = false }: { readonly isPatient?: boolean } = {},
): Promise<string | null> {
  const { limits, sources, signal } = context;
  const patient = isPatient ? beginDelivery(context, lane) : null;
  await patient?.begun;
  const command = new AbortController();
  const restarting = sources.restart?.();
  const witness = patient ?? beginDelivery(context, lane);
  const wasAway = seesOutage(context, lane, command.signal);
  try {
    // A receiver that shuts down gracefully waits for the half-sent delivery, and the command waits for the receiver.
    const heldMs = limits.timeoutMs * (isPatient ? COMMAND_TIMEOUTS / 2 : 1);
    await Promise.race([restarting, delay(heldMs, undefined, { signal: command.signal }).catch(() => {})]);
    witness.release();
    await restarting;
  } catch (error) {
    const { message } = error as Error;
    return error instanceof CommandProblem ? message : `the restart of the receiver failed: ${message}`;
  } finally {
    command.abort();
    witness.release();
  }
  let hasEnded = (await wasAway) || (await witness.hasEnded());
  const until = performance.now() + limits.recoveryMs;
  for (;;) {
    const { attempt } = await sendControl(context, lane, 'control after the restart', { fresh: true });
    if (signal.aborted) return null;
    if (isAccepted(attempt)) return hasEnded ? null : NOT_ENDED;
    hasEnded ||= isAway(attempt);
    if (performance.now() >= until) return notBack(limits.recoveryMs, attempt);
    await delay(PAUSE_MS);
  }
}

const NOT_ENDED =
  'nothing shows that `--restart-command` ended the receiver: a delivery whose first half was sent before the ' +
  'command got its answer after it, and no other delivery failed meanwhile. Make the command kill the process with ' +
  '`kill -9` before it starts a new one. If it already does, something in front of the receiver keeps connections ' +
  'open: give `run` the address of the receiver itself';

/**
 * Sends half of a delivery. If the rest is answered, the process that received the first half is still running, or
 * something in front of the receiver keeps the connection.
 */
function beginDelivery(context: RunContext, lane: Lane) {
  const { timeoutMs } = context.limits;
  const hold = createHold();
  const options = { hold, once: true, inBurst: true, timeoutMs: (COMMAND_TIMEOUTS + 2) * timeoutMs };
  const sent = sendControl(context, lane, 'delivery that is half sent during the restart', options);
  let isBegun = false;
  const begun = hold.allBegun.then(() => {
    isBegun = true;
  });
  const hasEnded = async () => {
    const answered = await Promise.race([sent, delay(timeoutMs, null)]);
    if (answered !== null && isAway(answered.attempt)) return true;
    // A delivery that never began has no answer, which is no evidence.
    return isBegun && (answered?.attempt.answer ?? null) === null;
  };
  return { begun: Promise.race([begun, sent]), release: hold.release, hasEnded };
}

/** Resolves with whether a delivery failed to reach the receiver before the command ended. */
async function seesOutage(context: RunContext, lane: Lane, command: AbortSignal): Promise<boolean> {
  const { timeoutMs } = context.limits;
  const options = { fresh: true, inBurst: true, once: true, timeoutMs };
  for (let pause = PAUSE_MS; ; pause = Math.min(pause * 1.5, MAX_PAUSE_MS)) {
    // The first delivery is delayed, so that the command finds the receiver at work.
    await delay(pause, undefined, { signal: command }).catch(() => {});
    if (command.aborted) return false;
    const { attempt } = await sendControl(context, lane, 'control during the restart', options);
    if (isAway(attempt)) return true;
  }
}

/** Returns whether an attempt did not reach the receiver, for a reason other than the network. */
function isAway(attempt: Attempt): boolean {
  return attempt.error?.kind !== 'unreachable' && isUnreached(attempt);
}

function notBack(recoveryMs: number, { answer, error }: Attempt): string {
  const last = answer === null ? (error?.message ?? 'No answer.') : `It answered ${answer.status}.`;
  return (
    `after \`--restart-command\`, the receiver did not accept a valid delivery within ${recoveryMs / 1000} s. ` +
    `${last} Make the command wait until the receiver is up, give it the variables that the receiver needs with ` +
    '`--command-env NAME`, or raise `--recovery`'
  );
}
