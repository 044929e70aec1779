/** One pass over a queue of checks, on several concurrent lanes. */
import type { Expectation } from '../../scenarios/index.ts';
import { isAccepted } from '../judge/index.ts';
import type { Attempt } from '../transport/index.ts';
import { isOver, type RunContext } from './context.ts';
import type { LanePool } from './lane.ts';
import { failureGroupOf, MAX_OPEN } from './pace.ts';
import type { SendingPlan } from './plan.ts';
import { GATEWAY_ERRORS, type SentDelivery } from './send.ts';
import {
  closeTrials,
  isLast,
  isRestarting,
  mayShareControl,
  mayStayOpen,
  reusableControl,
  type Trial,
  TrialRun,
} from './trial.ts';

export interface Handlers {
  readonly onSettled: (trial: Trial) => void;
  /** Called for a check that is not sent or not repeated, because its group is already decided. */
  readonly onDecided: (planned: SendingPlan, reason: string) => void;
}

/** The trials for which a pass has no result. */
export interface Pass {
  /** Trials whose failure may be caused by another delivery in flight. They must be repeated alone. */
  readonly doubtful: readonly Trial[];
  /** Trials without an answer, whose wait was cut short. */
  readonly unproven: readonly Trial[];
  /** Trials in flight when the receiver stopped answering. */
  readonly suspects: readonly Trial[];
  /** Settled trials whose work may still have been in progress when the receiver stopped answering. */
  readonly recent: readonly Trial[];
}

/** Maximum time in milliseconds between the answer to a delivery and a crash that its late work causes. */
export const LATE_WORK_MS = 1000;

/** Start and end of a trial. */
type Span = Pick<Trial, 'startMs' | 'endMs'>;

/**
 * Number of consecutive exclusive checks that share controls if the endpoint is slow or distant. Each of their
 * deliveries waits for the previous one, so separate controls would make them take longer than all other checks
 * together. Otherwise, each exclusive check has its own controls.
 */
const MAX_OPEN_ALONE = 16;

/**
 * How often to check whether more lanes should start. Checks with many deliveries to a slow endpoint take minutes, and
 * new lanes should not wait for the first check to end.
 */
const START_LANES_EVERY_MS = 500;

export class LanePass {
  readonly #context: RunContext;
  readonly #lanes: LanePool;
  readonly #handlers: Handlers;
  /** The checks to try. A check is removed when its trial starts. */
  readonly #queue: SendingPlan[];
  readonly #isAlone: boolean;
  readonly #waitedBeforeMs: number;
  /** One promise for each working lane, by lane number. */
  readonly #working: Promise<void>[] = [];
  /**
   * Start and end of the settled trials. The trials themselves are not kept, because their answers would fill the
   * memory.
   */
  readonly #settled: Span[] = [];
  /** The trials that settled last. */
  #recent: Trial[] = [];
  readonly #suspects: Trial[] = [];
  readonly #ambiguous: Trial[] = [];
  readonly #unproven: Trial[] = [];
  /** Whether the receiver has stopped answering. */
  #isHalted = false;

  constructor(
    context: RunContext,
    lanes: LanePool,
    handlers: Handlers,
    { queue, isAlone }: { readonly queue: SendingPlan[]; readonly isAlone: boolean },
  ) {
    this.#context = context;
    this.#lanes = lanes;
    this.#handlers = handlers;
    this.#queue = queue;
    this.#isAlone = isAlone;
    this.#waitedBeforeMs = context.pacing.waitedMs;
  }

  /**
   * Works through the queue until it is empty, the receiver stops answering, or the run stops. `before` is an accepted
   * control, sent on the first lane.
   */
  async run(before: SentDelivery | null): Promise<Pass> {
    this.#startLanes(before);
    const timer = setInterval(() => this.#startLanes(), START_LANES_EVERY_MS);
    try {
      for (let joined = 0; joined < this.#working.length; ) {
        joined = this.#working.length;
        await Promise.all(this.#working);
      }
    } finally {
      clearInterval(timer);
    }
    const doubtful = this.#findDoubtful();
    for (const trial of this.#ambiguous) if (!doubtful.includes(trial)) this.#handlers.onSettled(trial);
    const outageMs = Math.min(...this.#suspects.map(({ startMs }) => startMs));
    const recent = this.#recent.filter(({ endMs }) => endMs >= outageMs - LATE_WORK_MS);
    return { doubtful, unproven: this.#unproven, suspects: this.#suspects, recent };
  }

  #startLanes(before: SentDelivery | null = null): void {
    const { pacing } = this.#context;
    const width = this.#isAlone || pacing.isSerial ? 1 : pacing.pace.width();
    while (this.#working.length < width && this.#queue.length > 0 && !this.#isHalted) {
      const index = this.#working.length;
      this.#working.push(this.#workOn(index, index === 0 ? before : null));
    }
  }

  /** Tries one check after another on a lane. Trials that share controls stay open until the next control. */
  async #workOn(index: number, given: SentDelivery | null): Promise<void> {
    const lane = this.#lanes.at(index);
    let before = given;
    let open: Trial[] = [];
    const closeOpen = async () => {
      before = await this.#close(index, open);
      open = [];
    };
    while (this.#mayContinue(index)) {
      const planned = this.#takeNextCheck();
      if (planned === undefined) break;
      if (!this.#mayFollow(open.at(-1), planned)) await closeOpen();
      const trial = await new TrialRun(this.#context, lane, planned).open(before);
      // The run has stopped, and every remaining check is reported with its reason.
      if (trial.restartFailed) break;
      open.push(trial);
      if (open.length < this.#maxOpenTrials() && mayStayOpen(trial)) before = firstControlOf(trial);
      else await closeOpen();
      this.#startLanes();
    }
    if (open.length > 0) await closeOpen();
  }

  #mayContinue(index: number): boolean {
    const { pacing } = this.#context;
    if (this.#isHalted || isOver(this.#context) || (index > 0 && pacing.isSerial)) return false;
    return !pacing.isPassExhausted(this.#waitedBeforeMs);
  }

  /** Removes and returns the next check of a group that is not decided yet. */
  #takeNextCheck(): SendingPlan | undefined {
    for (;;) {
      const planned = this.#queue.shift();
      if (planned === undefined) return undefined;
      const reason = this.#context.pacing.failureGroups.reasonToSkip(planned.suite, failureGroupOf(planned.scenario));
      if (reason === null) return planned;
      this.#handlers.onDecided(planned, reason);
    }
  }

  /**
   * Returns whether the next check may share controls with an open trial. Checks across a restart never do, because the
   * restart may fail.
   */
  #mayFollow(last: Trial | undefined, next: SendingPlan): boolean {
    if (last === undefined) return true;
    if (isLast(next) || isRestarting(next)) return false;
    return this.#isAlone || mayShareControl(this.#context, last, next);
  }

  /** Returns how many checks may currently share controls. */
  #maxOpenTrials(): number {
    const { pacing } = this.#context;
    if (pacing.isSerial) return 1;
    if (this.#isAlone) return pacing.pace.isSlow() ? MAX_OPEN_ALONE : 1;
    return pacing.sharesControls && !pacing.pace.wasSilent() ? MAX_OPEN : 1;
  }

  /** Sends the control after these trials, and classifies them. Returns the control if the next check can use it. */
  async #close(index: number, open: readonly Trial[]): Promise<SentDelivery | null> {
    const closed = await closeTrials(this.#context, this.#lanes.at(index), open);
    const last = closed.at(-1);
    const control = last === undefined ? null : reusableControl(last);
    // A control that the interruption ended shows nothing about the endpoint, so the trials allow no conclusion.
    if (!this.#context.signal.aborted || control !== null) for (const trial of closed) this.#classify(trial);
    return control;
  }

  #classify(trial: Trial): void {
    if (trial.outage !== null) {
      this.#isHalted = true;
      this.#suspects.push(trial);
    } else if (trial.cutShort && lacksAnswer(trial) && !this.#context.pacing.pace.isUnreliable()) {
      this.#unproven.push(trial);
    } else if (mayBeCausedByOthers(trial)) {
      this.#ambiguous.push(trial);
    } else {
      this.#settled.push({ startMs: trial.startMs, endMs: trial.endMs });
      this.#recent = [...this.#recent.filter(({ endMs }) => endMs >= trial.endMs - 2 * LATE_WORK_MS), trial];
      this.#handlers.onSettled(trial);
    }
  }

  /**
   * Returns the ambiguous trials that another delivery may have affected. If no other trial ran at the time, the
   * scenario itself caused the failure. A timeout is in doubt only if a trial on another lane failed at the time.
   */
  #findDoubtful(): Trial[] {
    const failures: Span[] = [...this.#ambiguous, ...this.#unproven, ...this.#suspects];
    const all: Span[] = [...this.#settled, ...failures];
    const unexplained: Span[] = [...this.#ambiguous.filter((trial) => !wasClosedAsExpected(trial)), ...this.#suspects];
    return this.#ambiguous.filter((trial) => {
      if (foundNoListener(trial)) return true;
      if (trial.probes.some(({ attempt, expect }) => wasRepeated(attempt, expect))) return true;
      if (wasClosedAsExpected(trial)) return unexplained.some((other) => overlaps(trial, other));
      const timedOut = trial.probes.some(({ attempt }) => attempt.error?.kind === 'timeout');
      return (timedOut ? failures : all).some((other) => overlaps(trial, other));
    });
  }
}

/** Returns whether a probe that expects an answer got none. */
export function lacksAnswer({ probes }: Trial): boolean {
  return probes.some(
    ({ attempt, expect }) =>
      attempt.error?.kind === 'timeout' && !expect.pass.includes('none') && expect.isBrief !== true,
  );
}

/** Returns the control before a trial, for the next trial that shares it. */
function firstControlOf({ deliveries: [control] }: Trial): SentDelivery | null {
  return control === undefined ? null : { ...control, label: 'control before' };
}

/**
 * Returns whether a valid delivery was accepted only at the second attempt, after its kept connection was reset. If the
 * receiver had stored the id before it failed, it accepted the second attempt as a duplicate. The check is therefore
 * repeated with a new id.
 */
function wasRepeated(attempt: Attempt, { authentic }: Expectation): boolean {
  return authentic && attempt.resetInUse === true && isAccepted(attempt);
}

function overlaps(a: Span, b: Span): boolean {
  return a !== b && a.startMs < b.endMs && b.startMs < a.endMs;
}

/** Returns whether another delivery in flight may have caused the answer to a probe. */
function mayBeCausedByOthers(trial: Trial): boolean {
  return trial.probes.some(({ attempt, expect }) => {
    if (wasRepeated(attempt, expect)) return true;
    if (attempt.answer !== null) return GATEWAY_ERRORS.has(attempt.answer.status);
    const kind = attempt.error?.kind;
    if (expect.pass.includes('none')) return false;
    return kind === 'reset' || kind === 'refused' || kind === 'unreachable' || kind === 'timeout';
  });
}

/**
 * Returns whether nothing was listening when a probe was sent, although the control before it was accepted. Either
 * another delivery has stopped the receiver, or the probe itself has: after its kept connection was cut off, it was
 * sent a second time. Repeating the check alone, on new connections, shows which.
 */
function foundNoListener({ before, probes }: Trial): boolean {
  return isAccepted(before) && probes.some(({ attempt }) => attempt.error?.kind === 'refused');
}

/**
 * Returns whether all failures are closed connections that the check allows, each confirmed by a second attempt, as for
 * all probes that change the connect stage. A delivery that stopped the receiver would fail in another way, so without
 * such a failure the result is not in doubt.
 */
function wasClosedAsExpected({ deliveries, probes }: Trial): boolean {
  const sent = deliveries.filter(({ role }) => role === 'probe');
  if (sent.some(({ assembled }) => assembled.change.connect === undefined)) return false;
  return probes.every(
    ({ attempt, expect }) =>
      attempt.answer !== null || (attempt.error?.kind === 'reset' && expect.pass.includes('closed')),
  );
}
