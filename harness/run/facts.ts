/** What a run has learnt about the endpoint. Only these methods change it. */

import type { RunObservations } from '../../scenarios/index.ts';
import type { Finding } from '../diagnose/index.ts';
import { type Dialect, STANDARD } from '../judge/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { Throttling } from './throttling.ts';

/** Why a run sends nothing more. */
export interface Stop {
  readonly code:
    | 'bail'
    | 'not-up'
    | 'preflight-failed'
    | 'receiver-down'
    | 'rate-limited'
    | 'silence'
    | 'restart-failed';
  readonly reason: string;
}

/** A finding, and the checks that fail for the same reason if they fail. */
export interface FindingWithChecks {
  readonly finding: Finding;
  readonly checks: readonly string[];
}

/** What a rotation of the secret has come to. */
export interface RotationOutcome {
  /** The steps that were played; null where nothing was switched. */
  readonly rotation: NonNullable<ResultDocument['rotation']> | null;
  readonly switches: RunObservations['switches'];
  /** What the operator should do after the run. */
  readonly advice: readonly string[];
}

type Observed<Name extends 'leaks' | 'outages' | 'failedControls' | 'rejections'> = NonNullable<
  RunObservations[Name]
>[number];
/** What sources of evidence other than the answers show. */
type FromSources = Pick<RunObservations, 'effects' | 'log' | 'logFiles' | 'logSought'>;

export class RunFacts {
  readonly throttling = new Throttling();
  #stopped: Stop | null = null;
  #dialect = STANDARD;
  #requests = 0;
  #rotation: RotationOutcome | null = null;
  #fromSources: FromSources = {};
  readonly #causes: FindingWithChecks[] = [];
  readonly #retried = new Set<string>();
  readonly #answerTimesMs: number[] = [];
  readonly #leaks: Observed<'leaks'>[] = [];
  readonly #outages: Observed<'outages'>[] = [];
  readonly #failedControls: Observed<'failedControls'>[] = [];
  readonly #rejections: Observed<'rejections'>[] = [];

  /** Why the run sends nothing more; null while it goes on. */
  get stopped(): Stop | null {
    return this.#stopped;
  }

  /** How the endpoint accepts and rejects. */
  get dialect(): Dialect {
    return this.#dialect;
  }

  get requests(): number {
    return this.#requests;
  }

  /** The rotation that was played; null without any. */
  get rotation(): RotationOutcome | null {
    return this.#rotation;
  }

  /** Faults of valid deliveries that do not end the run. */
  get causes(): readonly FindingWithChecks[] {
    return this.#causes;
  }

  /** Scenarios that were tried again after a first trial that did not pass. */
  get retried(): ReadonlySet<string> {
    return this.#retried;
  }

  get seen() {
    return {
      answerTimesMs: this.#answerTimesMs,
      leaks: this.#leaks,
      outages: this.#outages,
      failedControls: this.#failedControls,
      rejections: this.#rejections,
      switches: this.#rotation?.switches,
      ...this.#fromSources,
    } satisfies RunObservations;
  }

  /** Whether valid deliveries of this run were accepted only at the second attempt. */
  get isUnsteady(): boolean {
    return this.#failedControls.some(({ recovered }) => recovered);
  }

  /** Stops the run. The first reason counts. */
  recordStop(stop: Stop | null): void {
    this.#stopped ??= stop;
  }

  /** Records an outage. A run that ends with it has this reason, whatever stopped it before. */
  recordOutage(outage: Observed<'outages'>, stop: Stop | null = null): void {
    this.#outages.push(outage);
    this.#stopped = stop ?? this.#stopped;
  }

  recordDialect(dialect: Dialect): void {
    this.#dialect = dialect;
  }

  recordRequest(): void {
    this.#requests += 1;
  }

  recordCause(cause: FindingWithChecks): void {
    this.#causes.push(cause);
  }

  recordRetry(scenario: string): void {
    this.#retried.add(scenario);
  }

  recordAnswerTime(ms: number): void {
    this.#answerTimesMs.push(ms);
  }

  recordLeaks(scenario: string, leaks: readonly Observed<'leaks'>['leak'][]): void {
    this.#leaks.push(...leaks.map((leak) => ({ leak, scenario })));
  }

  recordFailedControl(failed: Observed<'failedControls'>): void {
    this.#failedControls.push(failed);
  }

  /** Counts one more rejection of this kind. */
  recordRejection({ credential, status, isUsual, isMissing }: Omit<Observed<'rejections'>, 'deliveries'>): void {
    const at = this.#rejections.findIndex(
      (one) => one.credential === credential && one.status === status && one.isMissing === isMissing,
    );
    const deliveries = (this.#rejections[at]?.deliveries ?? 0) + 1;
    const entry = { credential, status, isUsual, deliveries, isMissing };
    this.#rejections.splice(at === -1 ? this.#rejections.length : at, 1, entry);
  }

  recordRotation(rotation: RotationOutcome): void {
    this.#rotation = rotation;
  }

  recordFromSources(shown: FromSources): void {
    this.#fromSources = { ...this.#fromSources, ...shown };
  }
}
