/** What a run has learnt about the endpoint. Facts change only through the methods of {@link RunFacts}. */

import type { RunObservations } from '../../scenarios/index.ts';
import type { Finding } from '../diagnose/index.ts';
import { type Dialect, STANDARD } from '../judge/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { Throttling } from './throttling.ts';

/** Why a run stopped sending. */
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

/** A finding, and the checks that it explains if they fail. */
export interface FindingWithChecks {
  readonly finding: Finding;
  readonly checks: readonly string[];
}

/** The outcome of a rotation of the secret. */
export interface RotationOutcome {
  /** The steps of the rotation that were carried out. Null if nothing was switched. */
  readonly rotation: NonNullable<ResultDocument['rotation']> | null;
  readonly switches: RunObservations['switches'];
  /** What the operator should do after the run. */
  readonly advice: readonly string[];
}

type Observed<Name extends 'leaks' | 'outages' | 'failedControls' | 'rejections'> = NonNullable<
  RunObservations[Name]
>[number];
/** What the effects window and the log have shown. */
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

  /** Why the run stopped sending. Null while the run continues. */
  get stopped(): Stop | null {
    return this.#stopped;
  }

  /** The dialect of the endpoint. Until it is learnt, this is the standard dialect. */
  get dialect(): Dialect {
    return this.#dialect;
  }

  get requests(): number {
    return this.#requests;
  }

  /** The outcome of the rotation. Null if there was none. */
  get rotation(): RotationOutcome | null {
    return this.#rotation;
  }

  /** Findings about valid deliveries that do not stop the run. */
  get causes(): readonly FindingWithChecks[] {
    return this.#causes;
  }

  /** Ids of the scenarios that were repeated because their first trial would not have passed. */
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

  /** Whether some valid deliveries of this run were accepted only at a second attempt. */
  get isUnsteady(): boolean {
    return this.#failedControls.some(({ recovered }) => recovered);
  }

  /** Stops the run. If the run has stopped already, the first reason is kept. */
  recordStop(stop: Stop | null): void {
    this.#stopped ??= stop;
  }

  /** Records an outage. With `stop`, the run ends with this reason, even if it has stopped for another one. */
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

  /** Counts one more rejection with this credential, status and `isMissing`. */
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
