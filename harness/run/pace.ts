/**
 * The pace of a run: how long it waits for answers, and how many deliveries it keeps in flight. Without
 * this, endpoints that leave deliveries unanswered would take hours. No verdict is based on a wait that was cut short.
 */
import type { Scenario } from '../../scenarios/index.ts';

/** After this many waits of the full time limit without an answer, other waits are cut short. */
const MIN_SILENCES = 3;
/** Answers after which the endpoint's usual time is known. */
const MIN_ANSWERS = 5;
/** A shortened wait is this many times the time within which nearly all answers came, and at least `MIN_WAIT_MS`. */
const FACTOR = 10;
const MIN_WAIT_MS = 300;
const NEARLY_ALL = 0.9;

/** After this many plain valid deliveries without an answer, silence says nothing about a probe. */
const MIN_SILENT_CONTROLS = 3;

/** The number of waits of the full time limit without an answer that decides a family of checks. */
const DECISIVE_SILENCES = 3;
/** The time for which checks of a family may stop the receiver: within one suite, and of the whole run. */
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
/** Concurrency does not slow the endpoint down as long as answers take at most so many times as long as alone. */
const STEADY = 1.5;

export interface Pace {
  /** Records the time of an answer, and whether it accepts the delivery. */
  answered(ms: number, accepts: boolean): void;
  /** Records a delivery that got no answer within the full time limit. */
  silent(role: 'control' | 'probe'): void;
  /** How long to wait for an answer. The wait of a control after a silence is shortened as soon as possible. */
  waitMs(after?: 'silence'): number;
  /** Whether the endpoint has left a delivery unanswered for the full time limit. */
  wasSilent(): boolean;
  /** Whether the endpoint leaves some plain valid deliveries unanswered but answers other deliveries. */
  isUnreliable(): boolean;
  /** Called after the deliveries that are sent alone; their times show how fast the endpoint is without load. */
  startConcurrency(): void;
  /** Whether the endpoint takes long for a delivery that is sent alone, because it is slow or far away. */
  isSlow(): boolean;
  /** How many deliveries to keep in flight. */
  width(): number;
}

interface PaceLimits {
  readonly timeoutMs: number;
  readonly concurrency: number;
}

export function createPace({ timeoutMs, concurrency }: PaceLimits): Pace {
  const times: number[] = [];
  const rejections: number[] = [];
  const silences = { control: 0, probe: 0 };
  let usual: { readonly of: number; readonly ms: number } = { of: 0, ms: 0 };
  let aloneMs: number | null = null;
  let width = concurrency;
  let stepStart = 0;

  /** The time within which nearly all answers came, computed again every few answers. */
  function usualMs(): number {
    if (times.length >= usual.of + MIN_ANSWERS) {
      const ms = times.toSorted((a, b) => a - b)[Math.floor(times.length * NEARLY_ALL)] ?? 0;
      usual = { of: times.length, ms };
    }
    return usual.ms;
  }

  /** How many times as many deliveries as usual the endpoint may get at the same time. */
  function widening(): number {
    return WIDENING.find(({ fromMs }) => (aloneMs ?? 0) >= fromMs)?.times ?? 1;
  }

  /** A number below the default protects the endpoint. */
  function mayWiden(): boolean {
    return widening() > 1 && concurrency >= DEFAULT_CONCURRENCY;
  }

  return {
    answered(ms, accepts) {
      times.push(ms);
      if (aloneMs === null && !accepts) rejections.push(ms);
    },
    silent: (role) => void silences[role]++,
    waitMs(after) {
      const isKnown = times.length >= MIN_ANSWERS;
      if (!isKnown || (after !== 'silence' && silences.control + silences.probe < MIN_SILENCES)) return timeoutMs;
      return Math.min(timeoutMs, Math.max(MIN_WAIT_MS, FACTOR * usualMs()));
    },
    wasSilent: () => silences.control + silences.probe > 0,
    isUnreliable: () => silences.control >= MIN_SILENT_CONTROLS && times.length > silences.control,
    startConcurrency() {
      // Some endpoints delay rejections only, and most deliveries of a run are rejected.
      aloneMs = times.length === 0 ? null : Math.max(median(times) ?? 0, median(rejections) ?? 0);
      stepStart = times.length;
      if (mayWiden()) width = 2 * concurrency;
    },
    isSlow: () => widening() > 1,
    width() {
      if (aloneMs === null || !mayWiden()) return concurrency;
      const recent = times.slice(stepStart);
      if (recent.length < Math.max(ANSWERS_PER_STEP, width)) return width;
      stepStart = times.length;
      if ((median(recent) ?? 0) > STEADY * aloneMs) width = Math.max(concurrency, Math.floor(width / 2));
      else width = Math.min(widening() * concurrency, 2 * width);
      return width;
    },
  };
}

/** Deliveries in flight at the same time, unless the user sets another number. */
export const DEFAULT_CONCURRENCY = 8;

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? null;
}

/** The family of a check: checks that are likely to fail in the same way. */
export function familyOf({ needs = [], ...scenario }: Scenario): string {
  const expect = 'expect' in scenario && 'change' in scenario ? scenario.expect : null;
  if (expect === null) return 'several deliveries';
  if (!expect.authentic) return `forged deliveries (${needs.join(' and ')})`;
  const isUsual = expect.pass.includes(200) && !expect.pass.includes('4xx') && expect.malformed !== true;
  return isUsual ? 'valid deliveries' : 'malformed payloads and unusual requests';
}

/** The families of which enough is known, and why. */
export interface Families {
  /** Records a check that got no answer within the full time limit, with nothing else to explain it. */
  silent(id: string, family: string): void;
  /** Records a check that stopped the receiver for this time. */
  stopped(id: string, suite: string, family: string, ms: number): void;
  /** Records an answer after more than a short wait: checks of this family get the full time from now on. */
  late(family: string): void;
  /** How many more silences of the full time limit decide the family; 0 when it is decided. */
  missing(family: string): number;
  /** Why no more checks of a family are sent, or null. */
  decided(suite: string, family: string): string | null;
  /** How long checks have stopped the receiver so far, in milliseconds. */
  stoppedMs(): number;
  /** Why a check without an answer in a short wait is not repeated. */
  sameSilence(family: string): string;
}

export function createFamilies(): Families {
  const silences = new Map<string, string[]>();
  const slow = new Set<string>();
  let stoppedMs = 0;
  const outages = new Map<string, { ids: string[]; ms: number }>();
  const recordOutage = (key: string, id: string, ms: number) => {
    const entry = outages.get(key) ?? { ids: [], ms: 0 };
    outages.set(key, { ids: [...entry.ids, id], ms: entry.ms + ms });
  };
  return {
    silent: (id, family) => void silences.set(family, [...(silences.get(family) ?? []), id]),
    stopped(id, suite, family, ms) {
      stoppedMs += ms;
      recordOutage(family, id, ms);
      recordOutage(`${suite}: ${family}`, id, ms);
    },
    late: (family) => void slow.add(family),
    missing(family) {
      if (slow.has(family)) return Number.POSITIVE_INFINITY;
      return Math.max(0, DECISIVE_SILENCES - (silences.get(family)?.length ?? 0));
    },
    decided(suite, family) {
      const everywhere = outages.get(family);
      const inSuite = outages.get(`${suite}: ${family}`);
      const known =
        everywhere !== undefined && everywhere.ms >= OUTAGE_MS_EVERYWHERE
          ? everywhere
          : inSuite !== undefined && inSuite.ms >= OUTAGE_MS
            ? inSuite
            : null;
      if (known === null) return null;
      const seconds = Math.round(known.ms / 1000);
      const stopped = `${listed(known.ids)} stopped the receiver, for ${seconds} s in total`;
      return `not run: ${stopped}, and this check is of the same kind (${family})`;
    },
    stoppedMs: () => stoppedMs,
    sameSilence: (family) =>
      `not repeated: no answer in a short wait, like ${listed(silences.get(family) ?? [])}, ` +
      `which got none within the full time limit and are of the same kind (${family})`,
  };
}

function listed(ids: readonly string[]): string {
  return ids.length <= 3 ? ids.join(', ') : `${ids.slice(0, 3).join(', ')} and ${ids.length - 3} more`;
}
