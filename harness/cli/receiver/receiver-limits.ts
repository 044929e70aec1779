/** What the flags of `hookproof receiver` say about limits. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { durationOfFlag, numberOfFlag } from '../../config/index.ts';
import type { ServerLimits, ServerTimeouts } from '../receiver-entry.ts';

/** How `hookproof receiver` refuses a number. */
export const BAD_NUMBER = { code: 'RECEIVER_BAD_NUMBER', hint: 'Write digits only.' };

export interface LimitFlags {
  readonly maxConnections?: string;
  readonly maxHeaderBytes?: string;
  readonly maxHeaders?: string;
  readonly headerTimeout?: string;
  readonly requestTimeout?: string;
  readonly drainTimeout?: string;
}

const TIME_BOUNDS = [100, 3_600_000] as const;

function time(text: string | undefined, flag: string): number | undefined {
  return text === undefined ? undefined : durationOfFlag(flag, text, TIME_BOUNDS);
}

function count(text: string | undefined, flag: string, least: number, most: number): number | undefined {
  return text === undefined ? undefined : numberOfFlag(flag, text, [least, most], BAD_NUMBER);
}

function named<T extends object>(values: { [K in keyof T]?: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

/** Throws a {@link HookproofError} that names the flag. What is not given is left to the receiver's defaults. */
export function limitSettings(flags: LimitFlags): { limits: ServerLimits; timeouts: ServerTimeouts } {
  const limits = named<ServerLimits>({
    maxConnections: count(flags.maxConnections, '--max-connections', 1, 1_000_000),
    maxHeaderBytes: count(flags.maxHeaderBytes, '--max-header-bytes', 1024, 1024 * 1024),
    maxHeaders: count(flags.maxHeaders, '--max-headers', 10, 10_000),
  });
  const timeouts = named<ServerTimeouts>({
    headersMs: time(flags.headerTimeout, '--header-timeout'),
    requestMs: time(flags.requestTimeout, '--request-timeout'),
    closeMs: time(flags.drainTimeout, '--drain-timeout'),
  });
  if ((timeouts.headersMs ?? 0) > (timeouts.requestMs ?? 30_000)) {
    throw new HookproofError('RECEIVER_BAD_TIMEOUT', '--header-timeout is longer than --request-timeout', {
      hint: 'The headers are a part of the request: give them at most the time of the whole, which is 30s unless you say otherwise.',
    });
  }
  return { limits, timeouts };
}
