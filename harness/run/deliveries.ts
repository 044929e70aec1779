/** Sends the checks of a run, on all lanes or alone, and repeats those whose result is in doubt. */
import { limitsDeliveries } from '../diagnose/index.ts';
import type { Attempt } from '../transport/index.ts';
import { isOver, type RunContext } from './context.ts';
import { createKit } from './kit.ts';
import type { LanePool } from './lane.ts';
import { type Handlers, LanePass, lacksAnswer, type Pass } from './lane-pass.ts';
import { isRefusedForGood, recordRefusal, resolveOutage } from './outage.ts';
import { failureGroupOf } from './pace.ts';
import { isExclusive, type SendingPlan } from './plan.ts';
import type { SentDelivery } from './send.ts';
import { isLast, recordRetry, type Trial, tryScenario } from './trial.ts';

/** The run stops when the controls of this many consecutive scenarios get 429. */
const MAX_RATE_LIMITED = 3;

export class Deliveries {
  readonly #context: RunContext;
  readonly #lanes: LanePool;
  readonly #handlers: Handlers;
  readonly #report: Handlers['onSettled'];
  /** Number of consecutive scenarios whose controls got 429, and the last such control. */
  #rateLimitedInARow = 0;
  #lastLimited: Attempt | null = null;

  constructor(context: RunContext, lanes: LanePool, handlers: Handlers) {
    this.#context = context;
    this.#lanes = lanes;
    this.#handlers = { ...handlers, onSettled: (trial) => this.#settle(trial) };
    this.#report = handlers.onSettled;
  }

  /**
   * Sends these checks. `before` is an accepted control, the last delivery on the first lane. The first check uses it
   * instead of a new control.
   */
  async send(sending: readonly SendingPlan[], before: SentDelivery | null = null): Promise<void> {
    const { facts, pacing } = this.#context;
    const stoppedBefore = facts.stopped;
    const exclusive = sending.filter(({ scenario }) => isExclusive(scenario)).toSorted(lastAfterOthers);
    const concurrent = sending.filter((planned) => !exclusive.includes(planned));
    if (pacing.pace.isSlow()) sortLongestFirst(this.#context, concurrent);
    let control = before;
    for (const [queue, isAlone] of [
      [concurrent, sending.length === 1],
      [exclusive, true],
    ] as const) {
      while (queue.length > 0 && !isOver(this.#context)) {
        const wasAlone = isAlone || pacing.isSerial;
        const pass = new LanePass(this.#context, this.#lanes, this.#handlers, { queue, isAlone: wasAlone });
        await this.#repeatTrials(await pass.run(control), wasAlone);
        control = null;
      }
    }
    if (stoppedBefore === null && facts.stopped?.code === 'rate-limited') await this.#examineLimit();
  }

  /** Reports a trial. Stops the run if the endpoint keeps answering 429 to plain valid deliveries. */
  #settle(trial: Trial): void {
    const { facts, pacing } = this.#context;
    const { id } = trial.planned.scenario;
    if (lacksAnswer(trial) && !pacing.pace.isUnreliable()) pacing.failureGroups.recordSilence(id, groupOfTrial(trial));
    this.#report(trial);
    const limited = [trial.before, trial.after].find((attempt) => attempt?.answer?.status === 429) ?? null;
    // Checks that share a control also share its 429, which is counted once.
    if (limited === null) this.#rateLimitedInARow = 0;
    else if (limited !== this.#lastLimited) this.#rateLimitedInARow++;
    this.#lastLimited = limited;
    const isFinal = limited !== null && facts.throttling.limit?.isFinal === true;
    if (this.#rateLimitedInARow < MAX_RATE_LIMITED && !isFinal) return;
    const reason = 'rate-limited: the endpoint answers 429 to plain valid deliveries';
    facts.recordStop({ code: 'rate-limited', reason });
  }

  /** Repeats the trials for which a pass has no result. */
  async #repeatTrials({ suspects, doubtful, unproven, recent }: Pass, wasAlone: boolean): Promise<void> {
    const { facts, pacing, signal } = this.#context;
    if (signal.aborted) return;
    if (suspects.length > 0) await this.#resolveOutage(suspects, wasAlone, recent);
    for (const trial of doubtful) {
      facts.recordStop(pacing.silenceStop());
      if (isOver(this.#context)) return;
      const group = groupOfTrial(trial);
      if (lacksAnswer(trial) && pacing.failureGroups.missingSilences(group) === 0) {
        this.#handlers.onDecided(trial.planned, pacing.failureGroups.reasonNotToRepeat(group));
        continue;
      }
      const again = await this.#repeat(trial, 0);
      if (signal.aborted) return;
      if (timedOut(trial, true) && !timedOut(again)) pacing.recordSilenceWhenKept();
      if (again.outage === null) this.#settle(again);
      else await this.#resolveOutage([again], true);
    }
    await this.#proveSilences(unproven);
    facts.recordStop(pacing.silenceStop());
  }

  #repeat(trial: Trial, lane: number): Promise<Trial> {
    recordRetry(this.#context, trial);
    return tryScenario(this.#context, this.#lanes.at(lane), trial.planned, null, true);
  }

  async #resolveOutage(suspects: readonly Trial[], wasAlone: boolean, recent: readonly Trial[] = []): Promise<void> {
    const resolved = await resolveOutage(this.#context, this.#lanes.at(0), { suspects, wasAlone, recent });
    for (const trial of resolved) this.#report(trial);
  }

  /**
   * Repeats, with the full time limit, the checks whose wait was cut short. The checks of a group are repeated
   * concurrently until the group is decided; the rest of the group is not repeated. If one answer arrives late, the
   * whole group is repeated, because the group may just be slow.
   */
  async #proveSilences(unproven: readonly Trial[]): Promise<void> {
    const { pacing, signal } = this.#context;
    const { failureGroups } = pacing;
    for (const group of new Set(unproven.map(groupOfTrial))) {
      const queue = unproven.filter((trial) => groupOfTrial(trial) === group);
      while (queue.length > 0 && !isOver(this.#context)) {
        const missing = failureGroups.missingSilences(group);
        if (missing === 0) {
          for (const { planned } of queue) this.#handlers.onDecided(planned, failureGroups.reasonNotToRepeat(group));
          break;
        }
        const batch = queue.splice(0, Math.min(missing, pacing.isSerial ? 1 : pacing.pace.width()));
        const repeated = await Promise.all(batch.map((trial, at) => this.#repeat(trial, at)));
        for (const again of repeated) {
          if (signal.aborted) return;
          if (!lacksAnswer(again)) failureGroups.recordLateAnswer(group);
          if (again.outage === null) this.#settle(again);
          else await this.#resolveOutage([again], batch.length === 1);
        }
      }
    }
  }

  /** Determines whether an endpoint that answers 429 only limits the rate of deliveries, or no longer accepts any. */
  async #examineLimit(): Promise<void> {
    const { facts } = this.#context;
    const { limit } = facts.throttling;
    if (limit === null) return;
    if (await isRefusedForGood(this.#context, this.#lanes.at(0), limit)) recordRefusal(this.#context, 429, []);
    else facts.recordCause({ finding: limitsDeliveries(limit), checks: [] });
  }
}

const groupOfTrial = ({ planned }: Trial) => failureGroupOf(planned.scenario);

const lastAfterOthers = (one: SendingPlan, other: SendingPlan) => Number(isLast(one)) - Number(isLast(other));

/**
 * Sorts long checks first. If a long check started last, one lane would still be busy when the others have finished.
 */
function sortLongestFirst({ partner, seed, now }: RunContext, queue: SendingPlan[]): void {
  const stepsOf = ({ scenario }: SendingPlan) =>
    'flow' in scenario ? scenario.flow(createKit(partner, seed, scenario.id, now)).length : 1;
  const steps = new Map(queue.map((planned) => [planned, stepsOf(planned)]));
  queue.sort((one, other) => (steps.get(other) ?? 0) - (steps.get(one) ?? 0));
}

/** Returns whether a probe got no answer in time. With `onKept`, only probes on a kept connection count. */
function timedOut({ probes }: Trial, onKept = false): boolean {
  return probes.some(({ attempt }) => attempt.error?.kind === 'timeout' && (!onKept || attempt.timings.reused));
}
