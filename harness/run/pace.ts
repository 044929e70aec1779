/**
 * The pace of a run: how long it waits for answers, and how many deliveries it keeps in flight. Without it, an endpoint
 * that leaves deliveries unanswered would keep a run busy for hours. No verdict is based on a wait that was cut short.
 */
import { performance } from 'node:perf_hooks';
import type { Scenario } from '../../scenarios/index.ts';

/** Waits are cut short after this many deliveries without an answer within the full time limit. */
const MIN_SILENCES = 3;
/** Minimum number of answers from which the endpoint's usual answer time is computed. */
const MIN_ANSWERS = 5;
/**
 * A shortened wait lasts this many times the usual answer time, and at least `MIN_WAIT_MS`. The usual answer time is
 * the one that the share `NEARLY_ALL` of the answers did not exceed.
 */
const FACTOR = 10;
const MIN_WAIT_MS = 300;
const NEARLY_ALL = 0.9;

/** After this many plain valid deliveries without an answer, a missing answer to a probe allows no conclusion. */
const MIN_SILENT_CONTROLS = 3;

/** A group of checks is decided after this many of them got no answer within the full time limit. */
const DECISIVE_SILENCES = 3;
/**
 * Total time for which checks of one group may stop the receiver: the first for one suite, the second for the whole
 * run.
 */
const OUTAGE_MS = 5000;
export const OUTAGE_MS_EVERYWHERE = 20_000;

/**
 * Factors by which to raise the number of deliveries in flight. If a single delivery takes at least `fromMs`, the
 * endpoint is slow or distant, and a run would spend most of its time waiting.
 */
const WIDENING = [
  { fromMs: 500, times: 8 },
  { fromMs: 20, times: 2 },
] as const;
/** Minimum number of answers before the number of deliveries in flight changes again. */
const ANSWERS_PER_STEP = 16;
/** Number of latest answers from which the current answer time is computed. */
const LATEST = 64;
/** If answers take more than this many times as long as without concurrency, the endpoint is overloaded. */
const STEADY = 1.5;

interface PaceLimits {
  readonly timeoutMs: number;
  readonly concurrency: number;
}

export class Pace {
  readonly #limits: PaceLimits;
  readonly #timesMs: number[] = [];
  /** Answer times of rejections before deliveries are sent concurrently. */
  readonly #rejectionsMs: number[] = [];
  readonly #silences = { control: 0, probe: 0 };
  /** The usual answer time in milliseconds, and the number of answers from which it was computed. */
  #usual: { readonly of: number; readonly ms: number } = { of: 0, ms: 0 };
  /** Answer time without concurrency. Null until concurrency starts. */
  #aloneMs: number | null = null;
  #meanAloneMs: number | null = null;
  #width: number;
  #isLoaded = false;
  /** Number of answers received before the current width was set. */
  #stepStart = 0;

  constructor({ timeoutMs, concurrency }: PaceLimits) {
    this.#limits = { timeoutMs, concurrency };
    this.#width = concurrency;
  }

  /** Records the time of an answer, and whether the answer accepts the delivery. */
  recordAnswer(ms: number, accepts: boolean): void {
    this.#timesMs.push(ms);
    if (this.#aloneMs === null && !accepts) this.#rejectionsMs.push(ms);
  }

  /** Records that a delivery got no answer within the full time limit. */
  recordSilence(role: 'control' | 'probe'): void {
    this.#silences[role] += 1;
  }

  /**
   * Returns how long to wait for an answer, in milliseconds. With `silence`, for a control after an unanswered probe,
   * the wait is cut short as soon as the usual answer time is known.
   */
  waitMs(after?: 'silence'): number {
    const { timeoutMs } = this.#limits;
    const isKnown = this.#timesMs.length >= MIN_ANSWERS;
    if (!isKnown || (after !== 'silence' && this.#silenceCount() < MIN_SILENCES)) return timeoutMs;
    return Math.min(timeoutMs, Math.max(MIN_WAIT_MS, FACTOR * this.#usualMs()));
  }

  /** Returns whether a delivery got no answer within the full time limit. */
  wasSilent(): boolean {
    return this.#silenceCount() > 0;
  }

  /** Returns whether the endpoint leaves some plain valid deliveries unanswered although it answers others. */
  isUnreliable(): boolean {
    const { control } = this.#silences;
    return control >= MIN_SILENT_CONTROLS && this.#timesMs.length > control;
  }

  /**
   * Called after the deliveries that are sent one at a time. Their answer times show how fast the endpoint is without
   * load.
   */
  startConcurrency(): void {
    const times = this.#timesMs;
    // Some endpoints delay only rejections, and most deliveries of a run are rejected.
    this.#aloneMs = times.length === 0 ? null : Math.max(median(times) ?? 0, median(this.#rejectionsMs) ?? 0);
    this.#meanAloneMs = mean(times);
    this.#stepStart = times.length;
    if (this.#mayWiden()) this.#width = 2 * this.#limits.concurrency;
  }

  /** Returns whether the endpoint is slow or distant: it takes a long time to answer even a single delivery. */
  isSlow(): boolean {
    return wideningOf(this.#aloneMs ?? 0) > 1;
  }

  /** Returns how many deliveries to keep in flight. */
  width(): number {
    const { concurrency } = this.#limits;
    if (this.#aloneMs === null || !this.#mayWiden()) return concurrency;
    const recent = this.#timesMs.slice(this.#stepStart);
    if (recent.length < Math.max(ANSWERS_PER_STEP, this.#width)) return this.#width;
    this.#stepStart = this.#timesMs.length;
    this.#isLoaded = (median(recent) ?? 0) > STEADY * this.#aloneMs;
    this.#width = this.#isLoaded
      ? Math.max(concurrency, Math.floor(this.#width / 2))
      : Math.min(wideningOf(this.#aloneMs) * concurrency, 2 * this.#width);
    return this.#width;
  }

  /**
   * Estimates the current answer time, the answer time without concurrency, and the number of deliveries in flight.
   * Times are in milliseconds. Null before the first answer.
   */
  estimateAnswers(): { readonly ms: number; readonly aloneMs: number; readonly width: number } | null {
    const ms = mean(this.#timesMs.slice(-LATEST));
    if (ms === null) return null;
    const aloneMs = this.#aloneMs ?? ms;
    const isWide = this.#mayWiden(aloneMs) && !this.#isLoaded;
    return {
      ms,
      aloneMs: isWide ? ms : (this.#meanAloneMs ?? ms),
      width: isWide ? wideningOf(aloneMs) * this.#limits.concurrency : this.#width,
    };
  }

  /** Returns the usual answer time in milliseconds. It is recomputed after every few answers. */
  #usualMs(): number {
    const times = this.#timesMs;
    if (times.length >= this.#usual.of + MIN_ANSWERS) {
      const ms = times.toSorted((a, b) => a - b)[Math.floor(times.length * NEARLY_ALL)] ?? 0;
      this.#usual = { of: times.length, ms };
    }
    return this.#usual.ms;
  }

  #silenceCount(): number {
    return this.#silences.control + this.#silences.probe;
  }

  /** A configured concurrency below the default is not raised, because it protects the endpoint. */
  #mayWiden(aloneMs = this.#aloneMs ?? 0): boolean {
    return wideningOf(aloneMs) > 1 && this.#limits.concurrency >= DEFAULT_CONCURRENCY;
  }
}

/** Returns the factor by which the number of deliveries in flight may be raised. */
function wideningOf(aloneMs: number): number {
  return WIDENING.find(({ fromMs }) => aloneMs >= fromMs)?.times ?? 1;
}

/**
 * Number of consecutive checks on one lane that share the controls around them, as long as the endpoint answers.
 * Because other lanes send at the same time, a control after every check would show little more.
 */
export const MAX_OPEN = 6;

/** Default number of deliveries in flight. */
export const DEFAULT_CONCURRENCY = 8;

/** Spaces deliveries for endpoints that limit their rate: at most one per `intervalMs` on average. */
export class Spacing {
  readonly #intervalMs: number | null;
  readonly #now: () => number;
  #nextMs = 0;

  /** With `intervalMs` null, deliveries are not spaced. `now` returns milliseconds since a fixed moment. */
  constructor(intervalMs: number | null, now = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Reserves the next slot for a delivery. Returns the milliseconds until then. */
  takeMs(): number {
    const waitMs = this.freeInMs();
    this.#nextMs = this.#now() + waitMs + (this.#intervalMs ?? 0);
    return waitMs;
  }

  /** Returns the milliseconds until the next slot is free. */
  freeInMs(): number {
    return this.#intervalMs === null ? 0 : Math.max(0, this.#nextMs - this.#now());
  }
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

/** Returns the failure group of a check. The checks of a group are likely to fail in the same way. */
export function failureGroupOf({ needs = [], ...scenario }: Scenario): string {
  const expect = 'expect' in scenario && 'change' in scenario ? scenario.expect : null;
  if (expect === null) return 'several deliveries';
  if (!expect.authentic) return `forged deliveries (${needs.join(' and ')})`;
  const isUsual = expect.pass.includes(200) && !expect.pass.includes('4xx') && expect.malformed !== true;
  return isUsual ? 'valid deliveries' : 'malformed payloads and unusual requests';
}

/** The checks of a group that stopped the receiver, and the total time for which it was stopped. */
interface Stopping {
  readonly ids: readonly string[];
  readonly ms: number;
}

/** Collects failures by group. Once a group is decided, no more of its checks are sent. */
export class FailureGroups {
  readonly #silences = new Map<string, readonly string[]>();
  readonly #late = new Set<string>();
  readonly #stoppings = new Map<string, Stopping>();
  #stoppedMs = 0;

  /** Total time for which checks have stopped the receiver so far, in milliseconds. */
  get stoppedMs(): number {
    return this.#stoppedMs;
  }

  /** Records that a check got no answer within the full time limit, for no other apparent reason. */
  recordSilence(id: string, group: string): void {
    this.#silences.set(group, [...(this.#silences.get(group) ?? []), id]);
  }

  /** Records that a check stopped the receiver for `ms` milliseconds. */
  recordStop(id: string, suite: string, group: string, ms: number): void {
    this.#stoppedMs += ms;
    for (const key of [group, `${suite}: ${group}`]) {
      const known = this.#stoppings.get(key) ?? { ids: [], ms: 0 };
      this.#stoppings.set(key, { ids: [...known.ids, id], ms: known.ms + ms });
    }
  }

  /** Records an answer that came only after a shortened wait. From now on, no missing answer decides this group. */
  recordLateAnswer(group: string): void {
    this.#late.add(group);
  }

  /** Returns how many more checks without an answer within the full time limit decide the group. 0 if it is decided. */
  missingSilences(group: string): number {
    if (this.#late.has(group)) return Number.POSITIVE_INFINITY;
    return Math.max(0, DECISIVE_SILENCES - (this.#silences.get(group)?.length ?? 0));
  }

  /** Returns why no more checks of a group are sent, or null. */
  reasonToSkip(suite: string, group: string): string | null {
    const atLeast = (key: string, ms: number) => [this.#stoppings.get(key)].find((one) => (one?.ms ?? 0) >= ms);
    const known = atLeast(group, OUTAGE_MS_EVERYWHERE) ?? atLeast(`${suite}: ${group}`, OUTAGE_MS);
    if (known === undefined) return null;
    const seconds = Math.round(known.ms / 1000);
    const stopped = `${listed(known.ids)} stopped the receiver, for ${seconds} s in total`;
    return `not run: ${stopped}, and this check is of the same kind (${group})`;
  }

  /** Returns why a check that got no answer within a shortened wait is not repeated. */
  reasonNotToRepeat(group: string): string {
    return (
      `not repeated: no answer within a short wait, like ${listed(this.#silences.get(group) ?? [])}, ` +
      `which got none within the full time limit and are of the same kind (${group})`
    );
  }
}

function listed(ids: readonly string[]): string {
  return ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more`;
}
