/** What every part of a run shares: the partner, the limits, and what has been seen so far. */
import type { Kit, RunObservations } from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { createIdentities, type Identities } from '../probe/index.ts';
import type { RunListener } from '../report/result-document.ts';
import { createKit } from './kit.ts';

/** How a run sends. All times in milliseconds. */
export interface RunLimits {
  /** For one delivery, from its start to the end of the answer. */
  readonly timeoutMs: number;
  /** How long a receiver that went down is waited for. */
  readonly recoveryMs: number;
  /** Deliveries in flight at the same time. */
  readonly concurrency: number;
  /** The first pause after a 429 without Retry-After; it doubles. */
  readonly backoffMs: number;
  /** For the whole run; null: what {@link runBoundMs} makes of the other limits. */
  readonly maxMs: number | null;
}

export const DEFAULT_LIMITS: RunLimits = {
  timeoutMs: 10_000,
  recoveryMs: 10_000,
  concurrency: 8,
  backoffMs: 250,
  maxMs: null,
};

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };

export interface RunContext {
  readonly partner: Partner;
  readonly seed: string;
  readonly now: Date;
  readonly limits: RunLimits;
  readonly emit: RunListener;
  readonly signal: AbortSignal;
  /** Tells the reporters' redaction about a signature that must never be shown. */
  readonly onSignature: (signature: string) => void;
  /** Requests sent so far. */
  requests: number;
  /** Milliseconds that deliveries have waited for answers that did not come, all lanes together. */
  waitedMs: number;
  /** The kit of the controls: their values go on from one to the next. */
  readonly controlKit: Kit;
  /** One delivery at a time: after an outage, so that the next one has one suspect, and after a 429, to be gentle. */
  serial: boolean;
  /** What is presented as client certificate where a scenario changes it. */
  identities: Identities;
  /** Scenarios that were tried again after a first trial that was no pass. */
  readonly retried: Set<string>;
  /** Why nothing more is sent, or null. */
  stopped: string | null;
  readonly seen: Writable<RunObservations>;
}

export function createContext(
  given: Pick<RunContext, 'partner' | 'seed' | 'now' | 'limits' | 'emit' | 'signal' | 'onSignature'>,
): RunContext {
  return {
    ...given,
    requests: 0,
    waitedMs: 0,
    controlKit: createKit(given.partner, given.seed, 'controls', given.now, given.onSignature),
    serial: given.limits.concurrency === 1,
    identities: createIdentities(given.partner, {}, false),
    retried: new Set(),
    stopped: null,
    seen: { answerTimesMs: [], leaks: [], outages: [], failedControls: [] },
  };
}

/** How long a run can take at most, whatever the endpoint does, and when it gives up earlier. */

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
