/** Opens and reads the sources of evidence: the effects window, the log and the restart command. */

import { HookproofError } from '../../contract/index.ts';
import { type EffectsTracker, openWindow, trackEffects, WindowProblem } from '../effects/index.ts';
import { type LogWatch, watchLogs } from '../log/index.ts';
import { LOCAL_TOO } from '../transport/index.ts';
import type { OpenSources, RunContext } from './context.ts';
import { headerNamesOf } from './kit.ts';
import type { PlannedScenario } from './plan.ts';
import { runReceiverCommand } from './restart.ts';
import type { RunOptions } from './run-options.ts';
import { pauseFor } from './send.ts';

/**
 * Opens the sources of evidence that the planned checks need.
 *
 * @throws HookproofError EFFECTS_WINDOW if the effects window does not answer
 */
export async function openSources(
  context: RunContext,
  options: RunOptions,
  applicable: readonly PlannedScenario[],
): Promise<OpenSources> {
  const { restartCommand, commandVariables: variables, restart = null } = options.evidenceSources ?? {};
  const isNeeded = (source: 'effects' | 'log') => applicable.some(({ scenario }) => scenario.needs?.includes(source));
  const effects = isNeeded('effects') ? await openEffects(context, options) : null;
  try {
    const log = isNeeded('log') ? await openLog(context, options) : null;
    if (restartCommand === undefined) return { effects, log, restart };
    const command = { command: restartCommand, variables };
    const { limits, signal } = context;
    return { effects, log, restart: () => runReceiverCommand('--restart-command', command, limits, signal) };
  } catch (error) {
    effects?.close();
    throw error;
  }
}

async function openEffects(
  { limits, signal }: RunContext,
  { addresses: policy = LOCAL_TOO, resolve, evidenceSources = {} }: RunOptions,
): Promise<EffectsTracker | null> {
  const { effects, commandVariables: variables } = evidenceSources;
  if (effects === undefined) return null;
  const window = await openWindow({ ...effects, variables }, { policy, resolve, timeoutMs: limits.timeoutMs, signal });
  return trackEffects(window, { deadlineMs: effects.deadlineMs, signal }).catch((cause: unknown) => {
    window.close();
    if (!(cause instanceof WindowProblem)) throw cause;
    throw new HookproofError('EFFECTS_WINDOW', `${cause.message}; nothing was sent`, { hint: cause.hint, cause });
  });
}

async function openLog(
  { partner, signal }: RunContext,
  { evidenceSources: { logs = [] } = {} }: RunOptions,
): Promise<OpenSources['log']> {
  if (logs.length === 0) return null;
  const { signing, rotation, apiKey, tls } = partner;
  const names = headerNamesOf(partner);
  const credentials = {
    secret: signing?.secret,
    nextSecret: rotation?.next,
    apiKey: apiKey?.value,
    clientKey: tls?.clientKey,
    signatureHeader: names.signature,
    apiKeyHeader: names.apiKey,
  };
  const watch = await watchLogs(logs, credentials, { signal });
  let finished: ReturnType<LogWatch['finish']> | undefined;
  return {
    registerRequest: (request) => watch.registerRequest(request),
    finish() {
      finished ??= watch.finish();
      return finished;
    },
  };
}

export async function closeSources({ effects, log }: OpenSources): Promise<void> {
  effects?.close();
  await log?.finish();
}

/** Wait after the last answer, in milliseconds, for a receiver that writes its log in batches. */
const LOG_PAUSE_MS = 300;

/** Reads the rest of the log, and records what was found in it. */
export async function readLog(context: RunContext): Promise<void> {
  const { effects, log } = context.sources;
  if (log === null) return;
  // With an effects window, the run has already waited for the receiver.
  if (effects === null) await pauseFor(context, LOG_PAUSE_MS);
  const { findings, files, sought } = await log.finish();
  context.facts.recordFromSources({ log: findings, logFiles: files, logSought: sought });
}
