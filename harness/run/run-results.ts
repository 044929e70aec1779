/** Collects the results of a run. */

import { findScenario } from '../../scenarios/index.ts';
import { knownIn } from '../judge/index.ts';
import type { ScenarioResult } from '../report/result-document.ts';
import type { RunContext } from './context.ts';
import type { Stop } from './facts.ts';
import { recordRejections } from './learn-dialect.ts';
import { isSending, type PlannedScenario, type SendingPlan } from './plan.ts';
import { notApplicable, resultOfTrial, withoutVerdict } from './results.ts';
import type { RunOptions } from './run-options.ts';
import type { Trial } from './trial.ts';

/** The options that determine how results are judged and kept. */
type ResultOptions = Pick<RunOptions, 'baseline' | 'revision' | 'bail' | 'evidence' | 'selection'>;

export class RunResults {
  readonly #context: RunContext;
  /**
   * The plan. A check is added if the run finds a failure that concerns every delivery and no selected check reports
   * it.
   */
  readonly #plan: PlannedScenario[];
  readonly #options: ResultOptions;
  readonly #byId = new Map<string, ScenarioResult>();

  /** Immediately reports the scenarios that do not apply. */
  constructor(context: RunContext, plan: readonly PlannedScenario[], options: ResultOptions) {
    this.#context = context;
    this.#plan = [...plan];
    this.#options = options;
    for (const planned of plan) if (planned.obstacle !== null) this.report(notApplicable(planned));
  }

  get plan(): readonly PlannedScenario[] {
    return this.#plan;
  }

  /** Whether to keep the exchanges of passed checks, too. */
  get keepsEvidence(): boolean {
    return this.#options.evidence === true;
  }

  /** The results so far, in the order of the plan. */
  inOrder(): ScenarioResult[] {
    return this.#plan.flatMap(({ scenario }) => this.#byId.get(scenario.id) ?? []);
  }

  /** The results so far, in the order in which they were reported. */
  reported(): ScenarioResult[] {
    return [...this.#byId.values()];
  }

  /** The planned scenarios that have no result yet. */
  open(): PlannedScenario[] {
    return this.#plan.filter(({ scenario }) => !this.#byId.has(scenario.id));
  }

  report(given: ScenarioResult): void {
    const { facts, pacing, emit, now } = this.#context;
    const { baseline = null, revision = null, bail } = this.#options;
    pacing.timeLeft.recordEnd(given.id);
    const result = { ...given, known: knownIn(baseline, given, now) };
    this.#byId.set(result.id, result);
    emit({ type: 'scenario-finished', finished: this.#byId.size, planned: this.#plan.length, result });
    const isFailure = result.verdict === 'fail' && result.known === null && revision?.scored.has(result.id) !== false;
    if (bail !== true || !isFailure) return;
    facts.recordStop({ code: 'bail', reason: `stopped after the first failure (${result.id})` });
  }

  /** Judges a trial and reports its result. */
  reportTrial(context: RunContext, trial: Trial): void {
    recordRejections(context, trial);
    const result = resultOfTrial(context, trial, this.keepsEvidence);
    const { stopped } = context.facts;
    // Trials that were in flight when the receiver went down for good get the same reason as checks that were not sent.
    const isLost = stopped?.code === 'receiver-down' && result.decidedBy === 'control-rejected';
    this.report(isLost ? { ...result, decidedBy: stopped.code, reason: stopped.reason } : result);
  }

  /** Reports the failure of one delivery, whether or not its check was planned. */
  reportFailure(context: RunContext, id: string, trialOfIt: (planned: SendingPlan) => Trial): void {
    const planned = this.open().find(({ scenario }) => scenario.id === id);
    if (planned !== undefined && isSending(planned)) this.reportTrial(context, trialOfIt(planned));
    this.addFailure(id, (added) =>
      isSending(added) ? resultOfTrial(context, trialOfIt(added), this.keepsEvidence) : notApplicable(added),
    );
  }

  /** Reports a failure whose check was not selected, because the failure concerns every delivery of the run. */
  addFailure(id: string, judge: (planned: PlannedScenario) => ScenarioResult): void {
    const scenario = findScenario(id);
    if (this.#options.selection?.shard != null || scenario === undefined) return;
    if (this.#plan.some((planned) => planned.scenario.id === id)) return;
    const planned = { suite: id.split('/')[0] ?? '', scenario, obstacle: null };
    const result = judge(planned);
    if (result.verdict !== 'fail') return;
    this.#plan.push(planned);
    this.report(result);
  }

  /** Reports the checks that the run did not reach. */
  reportUndecided({ code, reason }: Undecided): void {
    for (const planned of this.open()) this.report(withoutVerdict(planned, code, reason));
  }

  /** Emits the number of finished checks and the remaining time. */
  emitProgress(): void {
    const { emit, pacing } = this.#context;
    const leftMs = pacing.timeLeft.leftMs(pacing.isSerial);
    emit({ type: 'progress', finished: this.#byId.size, planned: this.#plan.length, leftMs });
  }
}

/** Why the run did not reach a check. */
export interface Undecided {
  readonly code: Stop['code'] | 'interrupted' | 'time-limit' | 'not-run';
  readonly reason: string;
}
