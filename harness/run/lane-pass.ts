/** One pass over a queue of checks, on several lanes at the same time. */
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
  /** Called for a check that was not sent or not repeated because its group is decided. */
  readonly onDecided: (planned: SendingPlan, reason: string) => void;
}

/** What a pass leaves without a result. */
export interface Pass {
  /** Trials whose failure another delivery in flight may have caused: to be repeated alone. */
  readonly doubtful: readonly Trial[];
  /** Trials without an answer whose wait was cut short. */
  readonly unproven: readonly Trial[];
  /** Trials in flight when the receiver stopped answering. */
  readonly suspects: readonly Trial[];
}

/** The time that a trial took. */
type Span = Pick<Trial, 'startMs' | 'endMs'>;

/**
 * How many checks that run alone share controls, at an endpoint that is slow or far away: each of their deliveries
 * waits for the one before, so without this they would take longer than all others together. Otherwise each has
 * separate controls.
 */
const MAX_OPEN_ALONE = 16;

/** Checks of many deliveries at a slow endpoint take minutes, and more lanes should not wait for the first to end. */
const START_LANES_EVERY_MS = 500;

export class LanePass {
  readonly #context: RunContext;
  readonly #lanes: LanePool;
  readonly #handlers: Handlers;
  /** The checks to try. They are removed as they are tried. */
  readonly #queue: SendingPlan[];
  readonly #isAlone: boolean;
  readonly #waitedBeforeMs: number;
  /** The lanes at work, by their numbers. */
  readonly #working: Promise<void>[] = [];
  /** The spans of the settled trials only: their answers would add up to the memory of the whole run. */
  readonly #settled: Span[] = [];
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
   * control on the first lane.
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
    return { doubtful, unproven: this.#unproven, suspects: this.#suspects };
  }

  #startLanes(before: SentDelivery | null = null): void {
    const { pacing } = this.#context;
    const width = this.#isAlone || pacing.isSerial ? 1 : pacing.pace.width();
    while (this.#working.length < width && this.#queue.length > 0 && !this.#isHalted) {
      const index = this.#working.length;
      this.#working.push(this.#workOn(index, index === 0 ? before : null));
    }
  }

  /** Tries one check after another on a lane. Checks that share controls are open until the next control. */
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
      // The run is stopped, which is the reason of every check that is left.
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

  /** The next check of a group that is not decided. */
  #takeNextCheck(): SendingPlan | undefined {
    for (;;) {
      const planned = this.#queue.shift();
      if (planned === undefined) return undefined;
      const reason = this.#context.pacing.failureGroups.reasonToSkip(planned.suite, failureGroupOf(planned.scenario));
      if (reason === null) return planned;
      this.#handlers.onDecided(planned, reason);
    }
  }

  /** Whether an open trial and the next check may share controls. A restart may fail, and never shares any. */
  #mayFollow(last: Trial | undefined, next: SendingPlan): boolean {
    if (last === undefined) return true;
    if (isLast(next) || isRestarting(next)) return false;
    return this.#isAlone || mayShareControl(this.#context, last, next);
  }

  /** How many checks may share controls now. */
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
    // The interruption ended its deliveries, not the endpoint, so it allows no conclusion.
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
      this.#handlers.onSettled(trial);
    }
  }

  /**
   * The ambiguous trials that another delivery may have affected. A failure with no other trial at the time is the
   * scenario's own. A timeout is shared only when another lane failed at the time.
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

/** Whether a probe that expects an answer got none. */
export function lacksAnswer({ probes }: Trial): boolean {
  return probes.some(
    ({ attempt, expect }) =>
      attempt.error?.kind === 'timeout' && !expect.pass.includes('none') && expect.isBrief !== true,
  );
}

/** The control before a trial, for the next one that shares it. */
function firstControlOf({ deliveries: [control] }: Trial): SentDelivery | null {
  return control === undefined ? null : { ...control, label: 'control before' };
}

/**
 * Whether a valid delivery was accepted only when it was sent again after its kept connection was reset. A receiver
 * that had stored its id before it failed accepts the second one as a copy, so the check is repeated with a new id.
 */
function wasRepeated(attempt: Attempt, { authentic }: Expectation): boolean {
  return authentic && attempt.resetInUse === true && isAccepted(attempt);
}

function overlaps(a: Span, b: Span): boolean {
  return a !== b && a.startMs < b.endMs && b.startMs < a.endMs;
}

/** Whether another delivery in flight may have caused the answer to a probe. */
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
 * Whether nothing was listening when a probe was sent, although the control before it was accepted. Another delivery,
 * or the probe itself when it was sent a second time after its kept connection was cut off, has stopped the receiver.
 * Alone, on new connections, it shows.
 */
function foundNoListener({ before, probes }: Trial): boolean {
  return isAccepted(before) && probes.some(({ attempt }) => attempt.error?.kind === 'refused');
}

/**
 * Whether the only failures are closed connections, as expected, and each was made twice, as probes that change the
 * connect stage are. A delivery that broke the receiver would fail in another way itself, so without such a failure
 * there is no doubt.
 */
function wasClosedAsExpected({ deliveries, probes }: Trial): boolean {
  const sent = deliveries.filter(({ role }) => role === 'probe');
  if (sent.some(({ assembled }) => assembled.change.connect === undefined)) return false;
  return probes.every(
    ({ attempt, expect }) =>
      attempt.answer !== null || (attempt.error?.kind === 'reset' && expect.pass.includes('closed')),
  );
}
