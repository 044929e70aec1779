/** Reads the limits of `hookproof receiver` from its flags. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { durationOfFlag, numberOfFlag } from '../../config/index.ts';
import type { ServerLimits, ServerTimeouts } from '../receiver-entry.ts';

/** The code and hint of the error for an invalid number. */
const BAD_NUMBER = { code: 'RECEIVER_BAD_NUMBER', hint: 'Write digits only.' };

export interface LimitFlags {
  readonly maxConnections?: string;
  readonly maxHeaderBytes?: string;
  readonly maxHeaders?: string;
  readonly maxRequests?: string;
  readonly maxPipelined?: string;
  readonly maxUploadBytes?: string;
  readonly maxSmallChunks?: string;
  readonly headerTimeout?: string;
  readonly requestTimeout?: string;
  readonly writeTimeout?: string;
  readonly drainTimeout?: string;
}

/** An upper bound that is not a limit in practice. */
const MAX = 2 ** 31 - 1;
const DURATION_BOUNDS = [100, 3_600_000] as const;

/** Reads a port from a flag. Throws a {@link HookproofError}. */
export function portOf(flag: string, text: string, bad = BAD_NUMBER): number {
  return numberOfFlag(flag, text, [0, 65_535], bad);
}

/** Reads the limits. Without a flag, the default applies. Throws a {@link HookproofError} that names the flag. */
export function limitSettings(flags: LimitFlags): { limits: ServerLimits; timeouts: ServerTimeouts } {
  const limits = given<ServerLimits>({
    maxConnections: count(flags.maxConnections, '--max-connections', [1, 1_000_000]),
    maxHeaderBytes: count(flags.maxHeaderBytes, '--max-header-bytes', [1024, 1024 * 1024]),
    maxHeaders: count(flags.maxHeaders, '--max-headers', [10, 10_000]),
    maxRequests: count(flags.maxRequests, '--max-requests', [1, MAX]),
    maxPipelined: count(flags.maxPipelined, '--max-pipelined', [1, MAX]),
    maxUploadBytes: count(flags.maxUploadBytes, '--max-upload-bytes', [1024, MAX]),
    maxSmallChunks: count(flags.maxSmallChunks, '--max-small-chunks', [1, MAX]),
  });
  const timeouts = given<ServerTimeouts>({
    headersMs: duration(flags.headerTimeout, '--header-timeout'),
    requestMs: duration(flags.requestTimeout, '--request-timeout'),
    writeMs: duration(flags.writeTimeout, '--write-timeout'),
    closeMs: duration(flags.drainTimeout, '--drain-timeout'),
  });
  if ((timeouts.headersMs ?? 0) > (timeouts.requestMs ?? 30_000)) {
    throw new HookproofError('RECEIVER_BAD_TIMEOUT', '`--header-timeout` is longer than `--request-timeout`', {
      hint: 'The headers are part of the request: allow them at most the time of the request, which is 30s by default.',
    });
  }
  return { limits, timeouts };
}

function duration(text: string | undefined, flag: string): number | undefined {
  return text === undefined ? undefined : durationOfFlag(flag, text, DURATION_BOUNDS);
}

export function count(text: string | undefined, flag: string, bounds: readonly [number, number]): number | undefined {
  return text === undefined ? undefined : numberOfFlag(flag, text, bounds, BAD_NUMBER);
}

/** Removes the properties whose value is undefined. */
export function given<T extends object>(values: { [K in keyof T]?: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
