/**
 * Decides which partners `hookproof operate` runs, and when. Pure: a slot depends on the name of the partner and the
 * schedule, never on when the planner happens to run, so that the same slot is planned once.
 */
import { createHash } from 'node:crypto';
import type { Schedule } from '../config/index.ts';
import type { State } from '../register/index.ts';

export type RunKind = 'certify' | 'recheck';

/** What the register says about a partner. */
export interface PlannedPartner {
  readonly partner: string;
  /** Null for a partner without records. */
  readonly state: State | null;
  readonly until: Date | null;
  /** The revision of the partner's certificate. */
  readonly revision: number | null;
  /** The change that the last drift reported. */
  readonly drift: string | null;
  /** The latest slot that has a record. */
  readonly lastDue: Date | null;
}

export interface Slot {
  readonly partner: string;
  readonly due: Date;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const MINUTES_A_DAY = 1440;

/** Drifts after which the operator must decide. After any other drift, the partner is certified again. */
const WAITS_FOR_OPERATOR: ReadonlySet<string | null> = new Set(['endpoint-key-changed', 'not-publicly-trusted']);

/** Returns the slots that are due and have no record, at most one for each partner; none in the quiet hours. */
export function dueSlots(
  partners: readonly PlannedPartner[],
  schedule: Schedule,
  { now, currentRevision }: { readonly now: Date; readonly currentRevision: number },
): Slot[] {
  if (quietUntil(schedule, now) !== null) return [];
  return partners.flatMap((one) => {
    if (kindOf(one, schedule, { now, currentRevision }) === null) return [];
    const due = slotAt(one.partner, schedule, now);
    return one.lastDue !== null && one.lastDue >= due ? [] : [{ partner: one.partner, due }];
  });
}

/**
 * Returns what to do with a partner at its next slot. Null if only the operator may decide: after a revocation, and
 * after the endpoint presented another key or an untrusted chain, which may be from a man in the middle.
 */
export function kindOf(
  { drift, revision, state, until }: Omit<PlannedPartner, 'lastDue' | 'partner'>,
  { certifyBeforeMs, revision: wanted }: Schedule,
  { now, currentRevision }: { readonly now: Date; readonly currentRevision: number },
): RunKind | null {
  if (state === 'revoked') return null;
  if (state === 'drifted') return WAITS_FOR_OPERATOR.has(drift) ? null : 'certify';
  if (state !== 'certified' || until === null) return 'certify';
  const isExpiring = until.getTime() - now.getTime() <= certifyBeforeMs;
  return isExpiring || (revision ?? 0) < (wanted ?? currentRevision) ? 'certify' : 'recheck';
}

/** Returns the last slot of a partner up to a time. The slots of all partners are spread over the active hours. */
export function slotAt(partner: string, schedule: Schedule, now: Date): Date {
  const { everyMs } = schedule;
  // Whole milliseconds, so that at the time of a slot, that slot is returned.
  const offset = Math.floor(fractionOf(partner, 'slot') * everyMs);
  const newest = Math.floor((now.getTime() - offset) / everyMs);
  // The quiet hours delay a slot by less than a day, so one of these is the last.
  const earlier = 1 + Math.ceil(DAY_MS / everyMs);
  for (let at = newest; at > newest - earlier; at--) {
    const due = outsideQuiet(partner, schedule, new Date(at * everyMs + offset));
    if (due <= now) return due;
  }
  return outsideQuiet(partner, schedule, new Date((newest - earlier) * everyMs + offset));
}

/** Moves a time in the quiet hours to a time in the active hours that follow. */
function outsideQuiet(partner: string, schedule: Schedule, time: Date): Date {
  const end = quietUntil(schedule, time);
  if (end === null || schedule.quiet === null) return time;
  const { from, to } = schedule.quiet;
  const work = ((from - to + MINUTES_A_DAY) % MINUTES_A_DAY) * MINUTE_MS;
  const within = fractionOf(partner, 'after quiet hours') * Math.min(work, schedule.everyMs);
  return new Date(Math.floor(end.getTime() + within));
}

/** Returns the end of the quiet hours if the time is in them; otherwise null. */
export function quietUntil({ quiet, timeZone }: Schedule, time: Date): Date | null {
  if (quiet === null) return null;
  const minutes = minutesOfDay(timeZone, time);
  const since = (minutes - quiet.from + MINUTES_A_DAY) % MINUTES_A_DAY;
  const length = (quiet.to - quiet.from + MINUTES_A_DAY) % MINUTES_A_DAY;
  if (since >= length) return null;
  const end = new Date(Math.floor(time.getTime() / MINUTE_MS) * MINUTE_MS + (length - since) * MINUTE_MS);
  // If the clocks change in between, the end is off by an hour.
  const off = (minutesOfDay(timeZone, end) - quiet.to + MINUTES_A_DAY) % MINUTES_A_DAY;
  return new Date(end.getTime() - (off > MINUTES_A_DAY / 2 ? off - MINUTES_A_DAY : off) * MINUTE_MS);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

function minutesOfDay(timeZone: string, time: Date): number {
  let clock = clocks.get(timeZone);
  if (clock === undefined) {
    clock = new Intl.DateTimeFormat('en', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    clocks.set(timeZone, clock);
  }
  const parts = clock.formatToParts(time);
  const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
  return of('hour') * 60 + of('minute');
}

/** Returns a number in [0, 1) that is the same for a partner and a purpose on every machine. */
function fractionOf(partner: string, purpose: string): number {
  return createHash('sha256').update(`${purpose} ${partner}`).digest().readUInt32BE(0) / 2 ** 32;
}

/**
 * Returns the name of the queue in which a partner waits. The jobs of a queue run one at a time, so a host has as many
 * queues as partners that may run on it concurrently.
 */
export function queueOf(partner: string, host: string, perHost: number): string {
  return `${host} ${Math.floor(fractionOf(partner, 'queue') * perHost)}`;
}
