/** What all parts of a run share: the partner, the limits, and what was observed so far. */

import type { ControlKind, Kit, RunObservations } from '../../scenarios/index.ts';
import type { Finding } from '../diagnose/index.ts';
import type { EffectsTracker } from '../effects/index.ts';
import { type Dialect, STANDARD } from '../judge/index.ts';
import type { LogWatch } from '../log/index.ts';
import type { Partner } from '../partner.ts';
import { createIdentities, type Identities } from '../probe/index.ts';
import type { RunListener } from '../report/result-document.ts';
import { createKit } from './kit.ts';
import { createFamilies, createPace, DEFAULT_CONCURRENCY, type Families, type Pace } from './pace.ts';

/** How a run sends. All times in milliseconds. */
export interface RunLimits {
  /** For one delivery, from its start to the end of the answer. */
  readonly timeoutMs: number;
  /** How long the run waits for a receiver that went down. */
  readonly recoveryMs: number;
  /** Deliveries in flight at the same time. */
  readonly concurrency: number;
  /** The first pause after a 429 without Retry-After; it doubles. */
  readonly backoffMs: number;
  /** For the whole run; null: {@link runBoundMs} derives it from the other limits. */
  readonly maxMs: number | null;
}

export const DEFAULT_LIMITS: RunLimits = {
  timeoutMs: 10_000,
  recoveryMs: 10_000,
  concurrency: DEFAULT_CONCURRENCY,
  backoffMs: 250,
  maxMs: null,
};

/**
 * Time limits for everything except the checks: handshakes, the preflight and its second delivery, repeated deliveries.
 */
const TIMEOUTS_OUTSIDE_CHECKS = 12;

/**
 * Milliseconds after which a run ends, unless a limit is configured. A check is two deliveries, the probe and the
 * control after it, and each may use its whole time limit on one of the lanes. An endpoint that answers in time stays
 * far below this.
 */
export function runBoundMs(
  { timeoutMs, recoveryMs, concurrency, maxMs }: Pick<RunLimits, 'timeoutMs' | 'recoveryMs' | 'concurrency' | 'maxMs'>,
  checks: number,
): number {
  return maxMs ?? timeoutMs * (TIMEOUTS_OUTSIDE_CHECKS + Math.ceil((2 * checks) / concurrency)) + 2 * recoveryMs;
}

/** Why a run sends nothing more. */
export interface Stop {
  readonly code: 'bail' | 'preflight-failed' | 'receiver-down' | 'rate-limited' | 'silence' | 'restart-failed';
  readonly reason: string;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer Item)[] ? Item[] : T[K] };

/** Known only where the partner configures a source of evidence. */
type FromSources = 'effects' | 'log' | 'logFiles';

/** A finding, and the checks that fail for the same reason if they fail. */
export interface Cause {
  readonly finding: Finding;
  readonly checks: readonly string[];
}

export interface RunContext {
  /** Its `control` is set when the endpoint rejects the usual one: {@link useControl}. */
  partner: Partner;
  readonly seed: string;
  /** The flags that commands of the report repeat. */
  readonly flags: string;
  readonly now: Date;
  readonly limits: RunLimits;
  readonly emit: RunListener;
  readonly signal: AbortSignal;
  /** Registers a signature that no report may show. */
  readonly onSignature: (signature: string) => void;
  /** Requests sent so far. */
  requests: number;
  /** Milliseconds that deliveries waited for answers that did not arrive, on all lanes together. */
  waitedMs: number;
  /** The kit of the controls, whose values continue from one control to the next. */
  controlKit: Kit;
  /** One delivery at a time: after an outage, so that the next one has a single suspect, and after a 429. */
  serial: boolean;
  /** Forgeries sent since the last plain valid delivery, on all lanes together. */
  forgedInARow: number;
  /** Whether several checks may share the controls around them. */
  sharesControls: boolean;
  /** How often a delivery got no answer on a kept connection, but did on a new one. */
  silentWhenKept: number;
  /** The client certificates that scenarios present instead of the partner's. */
  identities: Identities;
  /** Scenarios that were tried again after a first trial that did not pass. */
  readonly retried: Set<string>;
  stopped: Stop | null;
  /** What the run itself has found out about valid deliveries, although it goes on. */
  readonly causes: Cause[];
  /** Requests that got an answer other than 429. */
  answered: number;
  /** Since when the endpoint answers 429 to everything: how many it answered before, and its limit; or null. */
  limited: { readonly answered: number; readonly limit: string } | null;
  /** What a 503 means here: whether a repeated request ever got another status, and how many never did. */
  readonly busy: { limits: boolean; constant: number };
  /** What became of the deliveries; null without an effects window. */
  effects: EffectsTracker | null;
  /** Reads the logs of the receiver; null without any. */
  log: LogWatch | null;
  /** Restarts the receiver, and resolves when the command has ended; null without one. */
  restart: (() => Promise<void>) | null;
  readonly pace: Pace;
  readonly families: Families;
  /** How the endpoint accepts and rejects, as its first deliveries have shown. */
  dialect: Dialect;
  readonly seen: Writable<Required<Omit<RunObservations, FromSources>>> & Writable<Pick<RunObservations, FromSources>>;
}

export function createContext(
  given: Pick<RunContext, 'partner' | 'seed' | 'flags' | 'now' | 'limits' | 'emit' | 'signal' | 'onSignature'>,
): RunContext {
  return {
    ...given,
    requests: 0,
    waitedMs: 0,
    controlKit: controlKitFor(given),
    serial: given.limits.concurrency === 1,
    forgedInARow: 0,
    sharesControls: false,
    silentWhenKept: 0,
    identities: createIdentities(given.partner, {}, false),
    retried: new Set(),
    stopped: null,
    causes: [],
    answered: 0,
    limited: null,
    busy: { limits: false, constant: 0 },
    effects: null,
    log: null,
    restart: null,
    pace: createPace(given.limits),
    families: createFamilies(),
    dialect: STANDARD,
    seen: { answerTimesMs: [], leaks: [], outages: [], failedControls: [], rejections: [] },
  };
}

type ForControls = Pick<RunContext, 'partner' | 'seed' | 'now' | 'onSignature'>;

function controlKitFor({ partner, seed, now, onSignature }: ForControls): Kit {
  const kit = createKit(partner, seed, 'controls', now, onSignature);
  // Some requests have no body on the wire. An endpoint that reveals the valid signature then reveals this one.
  if (partner.signing !== undefined) kit.sign(Buffer.alloc(0));
  return kit;
}

/** From now on, controls are of this kind, and so are the deliveries that change nothing in the notification. */
export function useControl(context: RunContext, control: ControlKind): void {
  context.partner = { ...context.partner, control };
  context.controlKit = controlKitFor(context);
}

/**
 * Deliveries without an answer, counted in time limits, after which the lanes pause to try the doubtful checks alone,
 * and after which the run stops. An endpoint that never answers a forged delivery shows it in a dozen checks; waiting
 * for all of them would take an hour.
 */
const MAX_SILENCES_IN_PASS = 12;
const MAX_SILENCES = 30;

type Waiting = Pick<RunContext, 'waitedMs'> & { readonly limits: Pick<RunLimits, 'timeoutMs'> };

/** Whether a pass over the queue has waited long enough for answers. */
export function isPassExhausted({ waitedMs, limits }: Waiting, waitedBeforeMs: number): boolean {
  return waitedMs - waitedBeforeMs >= MAX_SILENCES_IN_PASS * limits.timeoutMs;
}

/** The reason to stop when the run has waited too long for answers, else null. */
export function silenceStop({ waitedMs, limits }: Waiting): Stop | null {
  if (waitedMs < MAX_SILENCES * limits.timeoutMs) return null;
  const seconds = Math.round(waitedMs / 1000);
  return {
    code: 'silence',
    reason: `deliveries waited ${seconds} s in total for answers that did not arrive, so the rest was not sent`,
  };
}
