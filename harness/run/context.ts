/** The three parts of a run: what is constant, what was learnt, and what paces it. */

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

/** How a run sends. All times in milliseconds. */
export interface RunLimits {
  /** Time limit of one delivery, from its start to the end of the answer. */
  readonly timeoutMs: number;
  /** How long the run waits for a receiver that went down. */
  readonly recoveryMs: number;
  /** Deliveries in flight at the same time. */
  readonly concurrency: number;
  /** The first pause after a 429 without Retry-After; it doubles. */
  readonly backoffMs: number;
  /** Time limit of the whole run; null: {@link runBoundMs} derives it from the other limits. */
  readonly maxMs: number | null;
  /** Average time between two deliveries on all lanes together; null: as fast as the endpoint answers. */
  readonly intervalMs: number | null;
  /** How long the run waits, before it starts, for an endpoint that is starting; 0: not at all. */
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
 * How many full time limits everything except the checks may use: handshakes, the preflight and its second delivery,
 * repeated deliveries.
 */
const TIMEOUTS_OUTSIDE_CHECKS = 12;

/**
 * Milliseconds after which a run ends, unless a limit is configured. A check is two deliveries, the probe and the
 * control after it, and each may use its whole time limit on one of the lanes. An endpoint that answers in time stays
 * far below this. With a maximum rate, the run may take twice as long as its `requests` need.
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

/** What does not change during a run. */
export interface RunConstants {
  /** The configured partner; {@link withControl} and {@link withStep} derive that of a phase. */
  readonly partner: Partner;
  readonly seed: string;
  /** The flags that commands of the report repeat. */
  readonly flags: string;
  readonly now: Date;
  readonly limits: RunLimits;
  readonly emit: RunListener;
  readonly signal: AbortSignal;
  /** When the run reaches its time limit, on the clock of `performance.now()`. */
  readonly endsAtMs: number;
  /** Registers a signature that no report may show. */
  readonly onSignature: (signature: string) => void;
}

/** The open sources of evidence in addition to the answers; null where there is none. */
export interface OpenSources {
  readonly effects: EffectsTracker | null;
  /** `finish` may be called again. */
  readonly log: Pick<LogWatch, 'registerRequest' | 'finish'> | null;
  /** Restarts the receiver, and resolves when the command has ended. */
  readonly restart: (() => Promise<void>) | null;
}

/**
 * What every part of a run receives. A phase changes nothing here: it returns a value, derives another context, or
 * records in `facts` and `pacing`, whose methods are the only way to change them.
 */
export interface RunContext extends RunConstants {
  /** The kit of the controls, whose values continue from one control to the next. */
  readonly controlKit: Kit;
  readonly sources: OpenSources;
  /** Other names that the machine of the endpoint may serve. */
  readonly otherServerNames: readonly string[];
  /** A notification that was accepted while the old secret of a rotation was valid. */
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

/** Whether the run sends nothing more. */
export function isOver({ facts, signal }: RunContext): boolean {
  return facts.stopped !== null || signal.aborted;
}

function controlKitFor({ partner, seed, now, onSignature }: RunConstants): Kit {
  const kit = createKit(partner, seed, 'controls', now, onSignature);
  // Some requests have no body on the wire. An endpoint that reveals the valid signature then reveals this one.
  if (partner.signing !== undefined) kit.sign(Buffer.alloc(0));
  return kit;
}

function withPartner(context: RunContext, partner: Partner): RunContext {
  return { ...context, partner, controlKit: controlKitFor({ ...context, partner }) };
}

/** A context in which the controls, and the deliveries that change nothing in the notification, are of this kind. */
export function withControl(context: RunContext, control: ControlKind): RunContext {
  return withPartner(context, { ...context.partner, control });
}

/** A context in which the receiver is in this step of the rotation, and plain deliveries are signed with the secret. */
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
