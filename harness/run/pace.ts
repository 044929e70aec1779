/**
 * The pace of a run: how long it waits for answers, and how many deliveries it keeps in flight. Without
 * this, endpoints that leave deliveries unanswered would take hours. No verdict is based on a wait that was cut short.
 */
import { performance } from 'node:perf_hooks';
import type { Scenario } from '../../scenarios/index.ts';

/** Number of waits of the full time limit without an answer after which other waits are cut short. */
const MIN_SILENCES = 3;
/** Number of answers after which the endpoint's usual time is known. */
const MIN_ANSWERS = 5;
/** A shortened wait is this many times the time within which nearly all answers came, and at least `MIN_WAIT_MS`. */
const FACTOR = 10;
const MIN_WAIT_MS = 300;
const NEARLY_ALL = 0.9;

/** After this many plain valid deliveries without an answer, silence says nothing about a probe. */
const MIN_SILENT_CONTROLS = 3;

/** The number of waits of the full time limit without an answer that decides a group of checks. */
const DECISIVE_SILENCES = 3;
/** The time for which checks of a group may stop the receiver: within one suite, and of the whole run. */
const OUTAGE_MS = 5000;
export const OUTAGE_MS_EVERYWHERE = 20_000;

/**
 * If a delivery alone takes this long, the endpoint is far away or slow, and most of the time would be spent waiting.
 * Up to so many times as many deliveries are then kept in flight.
 */
const WIDENING = [
  { fromMs: 500, times: 8 },
  { fromMs: 20, times: 2 },
] as const;
/** The number of answers at the current width before the width is doubled. */
const ANSWERS_PER_STEP = 16;
/** Number of recent answers from which the current answer time is computed. */
const LATEST = 64;
/** Concurrency does not slow the endpoint down as long as answers take at most so many times as long as alone. */
const STEADY = 1.5;

interface PaceLimits {
  readonly timeoutMs: number;
  readonly concurrency: number;
}

export class Pace {
  readonly #limits: PaceLimits;
  readonly #timesMs: number[] = [];
  /** The times of rejections before deliveries are sent concurrently. */
  readonly #rejectionsMs: number[] = [];
  readonly #silences = { control: 0, probe: 0 };
  /** The time within which nearly all answers came, and after how many answers it was computed. */
  #usual: { readonly of: number; readonly ms: number } = { of: 0, ms: 0 };
  /** How long a delivery takes alone; null before concurrency starts. */
  #aloneMs: number | null = null;
  #meanAloneMs: number | null = null;
  #width: number;
  #isLoaded = false;
  /** The number of answers before those at the current width. */
  #stepStart = 0;

  constructor({ timeoutMs, concurrency }: PaceLimits) {
    this.#limits = { timeoutMs, concurrency };
    this.#width = concurrency;
  }

  /** Records the time of an answer, and whether it accepts the delivery. */
  recordAnswer(ms: number, accepts: boolean): void {
    this.#timesMs.push(ms);
    if (this.#aloneMs === null && !accepts) this.#rejectionsMs.push(ms);
  }

  /** Records a delivery that got no answer within the full time limit. */
  recordSilence(role: 'control' | 'probe'): void {
    this.#silences[role] += 1;
  }

  /** How long to wait for an answer. The wait of a control after a silence is shortened as soon as possible. */
  waitMs(after?: 'silence'): number {
    const { timeoutMs } = this.#limits;
    const isKnown = this.#timesMs.length >= MIN_ANSWERS;
    if (!isKnown || (after !== 'silence' && this.#silenceCount() < MIN_SILENCES)) return timeoutMs;
    return Math.min(timeoutMs, Math.max(MIN_WAIT_MS, FACTOR * this.#usualMs()));
  }

  /** Whether the endpoint has left a delivery unanswered for the full time limit. */
  wasSilent(): boolean {
    return this.#silenceCount() > 0;
  }

  /** Whether the endpoint leaves some plain valid deliveries unanswered but answers other deliveries. */
  isUnreliable(): boolean {
    const { control } = this.#silences;
    return control >= MIN_SILENT_CONTROLS && this.#timesMs.length > control;
  }

  /** Called after the deliveries that are sent alone; their times show how fast the endpoint is without load. */
  startConcurrency(): void {
    const times = this.#timesMs;
    // Some endpoints delay rejections only, and most deliveries of a run are rejected.
    this.#aloneMs = times.length === 0 ? null : Math.max(median(times) ?? 0, median(this.#rejectionsMs) ?? 0);
    this.#meanAloneMs = mean(times);
    this.#stepStart = times.length;
    if (this.#mayWiden()) this.#width = 2 * this.#limits.concurrency;
  }

  /** Whether the endpoint takes long for a delivery that is sent alone, because it is slow or far away. */
  isSlow(): boolean {
    return wideningOf(this.#aloneMs ?? 0) > 1;
  }

  /** How many deliveries to keep in flight. */
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
   * How long an answer takes lately, how long it takes for a delivery sent alone, and how many deliveries are likely
   * to be in flight; null before the first answer.
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

  /** The time within which nearly all answers came, computed again every few answers. */
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

  /** A configured concurrency below the default protects the endpoint. */
  #mayWiden(aloneMs = this.#aloneMs ?? 0): boolean {
    return wideningOf(aloneMs) > 1 && this.#limits.concurrency >= DEFAULT_CONCURRENCY;
  }
}

/** How many times as many deliveries as usual an endpoint may get at the same time. */
function wideningOf(aloneMs: number): number {
  return WIDENING.find(({ fromMs }) => aloneMs >= fromMs)?.times ?? 1;
}

/**
 * Number of checks in a row on one lane that share the controls around them, as long as the endpoint answers. Others
 * send at the same time, so a control after each check would not say more about it than one after a few.
 */
export const MAX_OPEN = 6;

/** Deliveries in flight at the same time, unless the user sets another number. */
export const DEFAULT_CONCURRENCY = 8;

/** Keeps deliveries apart, for endpoints that limit the rate: at most one in `intervalMs` on average. */
export class Spacing {
  readonly #intervalMs: number | null;
  readonly #now: () => number;
  #nextMs = 0;

  /** `intervalMs` null: no limit. `now`: milliseconds since any moment. */
  constructor(intervalMs: number | null, now = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#now = now;
  }

  /** Takes the next place, and returns the milliseconds until then. */
  takeMs(): number {
    const waitMs = this.freeInMs();
    this.#nextMs = this.#now() + waitMs + (this.#intervalMs ?? 0);
    return waitMs;
  }

  /** Milliseconds until the next place is free. */
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

/** The group of a check: checks that are likely to fail in the same way. */
export function failureGroupOf({ needs = [], ...scenario }: Scenario): string {
  const expect = 'expect' in scenario && 'change' in scenario ? scenario.expect : null;
  if (expect === null) return 'several deliveries';
  if (!expect.authentic) return `forged deliveries (${needs.join(' and ')})`;
  const isUsual = expect.pass.includes(200) && !expect.pass.includes('4xx') && expect.malformed !== true;
  return isUsual ? 'valid deliveries' : 'malformed payloads and unusual requests';
}

/** Checks that stopped the receiver, and for how long. */
interface Stopping {
  readonly ids: readonly string[];
  readonly ms: number;
}

/** The failure groups of checks, and what decides one, so that no more of its checks are sent. */
export class FailureGroups {
  readonly #silences = new Map<string, readonly string[]>();
  readonly #late = new Set<string>();
  readonly #stoppings = new Map<string, Stopping>();
  #stoppedMs = 0;

  /** How long checks have stopped the receiver so far, in milliseconds. */
  get stoppedMs(): number {
    return this.#stoppedMs;
  }

  /** Records a check that got no answer within the full time limit, with nothing else to explain it. */
  recordSilence(id: string, group: string): void {
    this.#silences.set(group, [...(this.#silences.get(group) ?? []), id]);
  }

  /** Records a check that stopped the receiver for `ms` milliseconds. */
  recordStop(id: string, suite: string, group: string, ms: number): void {
    this.#stoppedMs += ms;
    for (const key of [group, `${suite}: ${group}`]) {
      const known = this.#stoppings.get(key) ?? { ids: [], ms: 0 };
      this.#stoppings.set(key, { ids: [...known.ids, id], ms: known.ms + ms });
    }
  }

  /** Records an answer after more than a short wait: checks of this group get the full time from now on. */
  recordLateAnswer(group: string): void {
    this.#late.add(group);
  }

  /** How many more silences of the full time limit decide the group; 0 when it is decided. */
  missingSilences(group: string): number {
    if (this.#late.has(group)) return Number.POSITIVE_INFINITY;
    return Math.max(0, DECISIVE_SILENCES - (this.#silences.get(group)?.length ?? 0));
  }

  /** Why no more checks of a group are sent, or null. */
  reasonToSkip(suite: string, group: string): string | null {
    const atLeast = (key: string, ms: number) => [this.#stoppings.get(key)].find((one) => (one?.ms ?? 0) >= ms);
    const known = atLeast(group, OUTAGE_MS_EVERYWHERE) ?? atLeast(`${suite}: ${group}`, OUTAGE_MS);
    if (known === undefined) return null;
    const seconds = Math.round(known.ms / 1000);
    const stopped = `${listed(known.ids)} stopped the receiver, for ${seconds} s in total`;
    return `not run: ${stopped}, and this check is of the same kind (${group})`;
  }

  /** Why a check without an answer in a short wait is not repeated. */
  reasonNotToRepeat(group: string): string {
    return (
      `not repeated: no answer in a short wait, like ${listed(this.#silences.get(group) ?? [])}, ` +
      `which got none within the full time limit and are of the same kind (${group})`
    );
  }
}

function listed(ids: readonly string[]): string {
  return ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more`;
}
