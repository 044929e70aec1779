/** The context of a run: constants, facts that the run has learnt, and its pacing. */

import type { JsonObject } from '../../contract/index.ts';
import type { ControlKind, Kit, RotatedSecret, RotationStep } from '../../scenarios/index.ts';
import type { EffectsTracker } from '../effects/index.ts';
import type { LogWatch } from '../log/index.ts';
import type { Partner } from '../partner.ts';
import type { RunListener } from '../report/result-document.ts';
import { RunFacts } from './facts.ts';
import { createKit } from './kit.ts';
import { DEFAULT_CONCURRENCY } from './pace.ts';
import { RunPacing } from './pacing.ts';

/** Limits of a run. All times are in milliseconds. */
export interface RunLimits {
  /** Time limit for one delivery, from its start to the end of the answer. */
  readonly timeoutMs: number;
  /** How long the run waits for a receiver that has gone down. */
  readonly recoveryMs: number;
  /** Number of concurrent deliveries. The run increases it for a slow endpoint, unless it is below the default. */
  readonly concurrency: number;
  /** The first pause after a 429 without Retry-After. It doubles after each further 429. */
  readonly backoffMs: number;
  /** Time limit for the whole run. If null, {@link runBoundMs} derives it from the other limits. */
  readonly maxMs: number | null;
  /** Minimum average time between two deliveries, across all lanes. If null, deliveries are not spaced. */
  readonly intervalMs: number | null;
  /** How long the run waits at first for an endpoint that is still starting. 0 disables the wait. */
  readonly waitMs: number;
}

export const DEFAULT_LIMITS: RunLimits = {
  timeoutMs: 10_000,
  recoveryMs: 10_000,
  concurrency: DEFAULT_CONCURRENCY,
  backoffMs: 250,
  maxMs: null,
  intervalMs: null,
  waitMs: 0,
};

/**
 * Time reserved for handshakes, for the two deliveries of the preflight and for repeated deliveries, as a multiple of
 * the time limit for one delivery.
 */
const TIMEOUTS_OUTSIDE_CHECKS = 12;

/**
 * Returns the milliseconds after which a run ends, which is `maxMs` if configured. Otherwise the bound allows for each
 * check two deliveries that use their whole time limit: the probe and the control after it. A run against an endpoint
 * that answers in time stays far below this bound. With a maximum rate, the run may also take twice as long as sending
 * the `requests` at this rate.
 */
export function runBoundMs(
  { timeoutMs, recoveryMs, concurrency, maxMs, intervalMs = null, waitMs = 0 }: BoundLimits,
  checks: number,
  requests = 0,
): number {
  const waits = timeoutMs * (TIMEOUTS_OUTSIDE_CHECKS + Math.ceil((2 * checks) / concurrency)) + 2 * recoveryMs;
  return maxMs ?? waits + waitMs + 2 * requests * (intervalMs ?? 0);
}

type BoundLimits = Pick<RunLimits, 'timeoutMs' | 'recoveryMs' | 'concurrency' | 'maxMs'> &
  Partial<Pick<RunLimits, 'intervalMs' | 'waitMs'>>;

/** The part of the context that does not change during a run. */
export interface RunConstants {
  /** The partner as configured, or as {@link withControl} and {@link withStep} derive it for a phase. */
  readonly partner: Partner;
  readonly seed: string;
  /** The flags to repeat in the commands that the report prints. */
  readonly flags: string;
  readonly now: Date;
  readonly limits: RunLimits;
  readonly emit: RunListener;
  readonly signal: AbortSignal;
  /** When the run reaches its time limit, in milliseconds of `performance.now()`. */
  readonly endsAtMs: number;
  /** Called with each signature that no report may show. */
  readonly onSignature: (signature: string) => void;
}

/** The open sources of evidence. A source that is not available is null. */
export interface OpenSources {
  readonly effects: EffectsTracker | null;
  /** Calling `finish` more than once is allowed. */
  readonly log: Pick<LogWatch, 'registerRequest' | 'finish'> | null;
  /** Restarts the receiver. Resolves when the command has ended. */
  readonly restart: (() => Promise<void>) | null;
}

/**
 * The context that every part of a run receives. A phase does not change the context itself: it returns a value,
 * derives another context, or calls the methods of `facts` and `pacing`.
 */
export interface RunContext extends RunConstants {
  /** The kit of the controls. Each control takes the next seeded values. */
  readonly controlKit: Kit;
  readonly sources: OpenSources;
  /** Other host names that the endpoint's server may answer for. */
  readonly otherServerNames: readonly string[];
  /** A notification that was accepted while the old secret of a rotation was the valid one. */
  readonly delivered: JsonObject | null;
  readonly facts: RunFacts;
  readonly pacing: RunPacing;
}

export function createContext(constants: RunConstants): RunContext {
  return {
    ...constants,
    controlKit: controlKitFor(constants),
    sources: { effects: null, log: null, restart: null },
    otherServerNames: [],
    delivered: null,
    facts: new RunFacts(),
    pacing: new RunPacing(constants.limits),
  };
}

/** Returns whether the run sends nothing more. */
export function isOver({ facts, signal }: RunContext): boolean {
  return facts.stopped !== null || signal.aborted;
}

function controlKitFor({ partner, seed, now, onSignature }: RunConstants): Kit {
  const kit = createKit(partner, seed, 'controls', now, onSignature);
  // Some probes send no body on the wire. If the endpoint then reveals a valid signature, it is that of an empty body.
  if (partner.signing !== undefined) kit.sign(Buffer.alloc(0));
  return kit;
}

function withPartner(context: RunContext, partner: Partner): RunContext {
  return { ...context, partner, controlKit: controlKitFor({ ...context, partner }) };
}

/** Derives a context whose controls, and whose other deliveries with an unchanged notification, are of this kind. */
export function withControl(context: RunContext, control: ControlKind): RunContext {
  return withPartner(context, { ...context.partner, control });
}

/** Derives a context for a step of the rotation. Plain deliveries are signed with the given secret. */
export function withStep(context: RunContext, step: RotationStep, secret: RotatedSecret): RunContext {
  const { partner } = context;
  const { rotation, signing } = partner;
  if (rotation === undefined || signing === undefined) return context;
  return withPartner(context, {
    ...partner,
    signing: { ...signing, secret: rotation[secret] },
    rotation: { ...rotation, step },
  });
}
