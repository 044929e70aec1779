/** How long a run can take at most, whatever the endpoint does, and when it gives up earlier. */
import type { RunLimits } from './context.ts';

/** Time limits for what comes before and after the checks: the handshakes, the first delivery and a second look at it, second tries. */
const AROUND_THE_CHECKS = 12;

/**
 * Milliseconds after which a run ends, unless it is told another limit: a check is two deliveries, the probe and the control after it, and
 * each may take its whole time limit on one of the lanes. No endpoint that answers in time comes near it.
 */
export function runBoundMs(
  { timeoutMs, recoveryMs, concurrency, maxMs }: Pick<RunLimits, 'timeoutMs' | 'recoveryMs' | 'concurrency' | 'maxMs'>,
  checks: number,
): number {
  return maxMs ?? timeoutMs * (AROUND_THE_CHECKS + Math.ceil((2 * checks) / concurrency)) + 2 * recoveryMs;
}

/**
 * Deliveries without an answer, in time limits, after which the lanes stop to try the doubtful ones alone, and after which the run gives up.
 * An endpoint that is silent to every forged delivery shows it in a dozen checks; to wait for all the others would take an hour.
 */
const SILENCES_OF_A_PASS = 12;
const MOST_SILENCES = 30;

/** What has been waited for in vain, in milliseconds of all lanes together, and the time limit of a delivery. */
interface Waiting {
  readonly waitedMs: number;
  readonly limits: Pick<RunLimits, 'timeoutMs'>;
}

export function passIsOver({ waitedMs, limits }: Waiting, waitedBeforeMs: number): boolean {
  return waitedMs - waitedBeforeMs >= SILENCES_OF_A_PASS * limits.timeoutMs;
}

/** Why the run gives up, or null while it need not. */
export function outOfPatience({ waitedMs, limits }: Waiting): string | null {
  if (waitedMs < MOST_SILENCES * limits.timeoutMs) return null;
  return `deliveries waited ${Math.round(waitedMs / 1000)} s in all for answers that did not come, so the rest was not sent`;
}
