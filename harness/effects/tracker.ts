/**
 * What the run delivered, and what the effects window says became of it. Effects are asynchronous: the window is polled
 * until everything that was accepted has been handled, at the latest until a deadline, and once more after a pause in
 * which a second handling would have shown.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { EffectsAnswer, Handled } from '../../contract/effects.ts';
import type { EffectsAudit } from '../../scenarios/index.ts';
import { askForAll, type EffectsWindow, WindowProblem } from './window.ts';

/** A delivery as the run saw it. */
export interface TrackedDelivery {
  readonly scenario: string;
  /** The bytes that were sent as the body. */
  readonly body: Uint8Array;
  /** The credentials are valid, and the request is well-formed. */
  readonly isValid: boolean;
  /** The plain valid delivery. */
  readonly isControl: boolean;
  /** `unknown`: no answer, or neither of the two. */
  readonly outcome: 'accepted' | 'rejected' | 'unknown';
  /** Bytes that no client would send, which may be read in several ways. */
  readonly isRaw?: boolean;
  /** The connection was closed before the end of the body. */
  readonly isCutOff?: boolean;
}

/** What the window says of one notification. */
interface SeenEffects {
  readonly handled: readonly Handled[];
  /** From the answer to the delivery until the window showed it, at most, in milliseconds; null when it did not. */
  readonly tookMs: number | null;
}

export interface EffectsTracker {
  /** The run sent this. */
  record(delivery: TrackedDelivery): void;
  /** The effect of this notification is judged. */
  expect(id: string): void;
  /**
   * Waits until all expected and accepted notifications are handled, at the latest until the deadline, and then for as
   * long again as the slowest took. After a restart it waits until the deadline: a receiver handles what a kill has
   * interrupted again when a lease ends.
   *
   * @returns why the window gave no answer; null when it did
   */
  settle(options?: { readonly isAfterRestart?: boolean }): Promise<WindowProblem | null>;
  /** After {@link settle}. */
  effectsOf(id: string): SeenEffects;
  currentOf(transaction: string): Promise<EffectsAnswer['current']>;
  audit(): EffectsAudit;
  close(): void;
}

interface Notification {
  readonly scenarios: Set<string>;
  outcomes: Set<'accepted' | 'rejected' | 'unknown'>;
  isControl: boolean;
  /** It was rejected or not complete each time, and cannot have been handled under another id. */
  isRejected: boolean;
  answeredAt: number;
  seenAt: number | null;
  handled: readonly Handled[];
}

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 500;
/** A second handling gets at least this long to show. In milliseconds. */
const MIN_QUIET_MS = 100;
/** Queries that fail, one after another, before the window counts as gone. */
const MAX_FAILURES = 3;
/** For a query about the total alone. */
const NOT_SENT_ID = '00000000-0000-4000-8000-000000000000';

/** @throws WindowProblem when the window does not answer: nothing should be sent then */
export async function trackEffects(
  window: EffectsWindow,
  { deadlineMs, signal, now = performance.now.bind(performance) }: TrackerOptions,
): Promise<EffectsTracker> {
  const { total: totalBefore } = await window.ask({ notifications: [NOT_SENT_ID] });
  const known = new Map<string, Notification>();
  /** A column of a database may turn ids into upper or lower case. Those that differ only in it stay apart. */
  const spellings = new Map<string, Set<string>>();
  /** Those that must be handled; of them, those whose effect is judged. */
  const awaited = new Set<string>();
  const expected = new Set<string>();
  let isPolling = false;
  let isSettling = false;
  let isClosed = false;
  let pollPause = FIRST_PAUSE_MS;
  /** Deliveries whose effect cannot be found by an id. */
  let untraceable = 0;
  let totalAfter = totalBefore;
  let problem: WindowProblem | null = null;

  /** @throws WindowProblem */
  async function look(ids: readonly string[]): Promise<void> {
    const reported = totalAfter;
    const { handled, total } = await askForAll(window, ids);
    if (total < reported) throw forgotten(`${total} in all, after ${reported}`);
    totalAfter = Math.max(totalAfter, total);
    const byId = new Map<string, Handled[]>();
    for (const one of handled) {
      const id = asSent(one.notification);
      const others = byId.get(id);
      if (others === undefined) byId.set(id, [one]);
      else others.push(one);
    }
    for (const id of ids) {
      const one = known.get(id);
      const found = byId.get(id) ?? [];
      // Also when the total has grown since. Of two answers that overtake each other, the older one is not used.
      if (found.length < (one?.handled.length ?? 0))
        throw forgotten(`${found.length} of ${id}, after ${one?.handled.length}`);
      if (one === undefined || found.length === 0) continue;
      if (awaited.has(id)) one.seenAt ??= now();
      one.handled = found;
    }
  }

  /** While the run goes on, so that it is known how long each took. A window that fails is asked again. */
  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    while (!isSettling && !isClosed && !signal.aborted) {
      const open = [...expected].filter(isOpen);
      if (open.length === 0) break;
      await look(open).catch(() => {});
      await delay(pollPause, undefined, { signal, ref: false }).catch(() => {});
      pollPause = Math.min(pollPause * 1.5, MAX_PAUSE_MS);
    }
    isPolling = false;
  }

  function asSent(id: string): string {
    const [spelling = id, ...others] = spellings.get(id.toLowerCase()) ?? [];
    return known.has(id) || others.length > 0 ? id : spelling;
  }

  const isOpen = (id: string) => known.get(id)?.seenAt === null;

  async function settled(isAfterRestart: boolean): Promise<WindowProblem | null> {
    const startedAt = now();
    const until = startedAt + deadlineMs;
    const problem = await repeat(async () => {
      const open = [...awaited].filter(isOpen);
      if (open.length > 0) await look(open);
      return !open.some(isOpen) || now() >= until;
    });
    if (problem !== null) return problem;
    // What was not polled during the run may have been handled long before it was seen.
    const slowest = Math.max(0, ...[...known].map(([id, one]) => tookMs(one, expected.has(id) ? 0 : startedAt) ?? 0));
    const quietMs = Math.min(deadlineMs, Math.max(MIN_QUIET_MS, slowest));
    const leftMs = isAfterRestart ? until - now() : 0;
    await delay(Math.max(quietMs, leftMs), undefined, { signal }).catch(() => {});
    return repeat(async () => {
      await look(known.size === 0 ? [NOT_SENT_ID] : [...known.keys()]);
      return true;
    });
  }

  /** Until it is done, or has failed several times in a row, or the run is interrupted. */
  async function repeat(isDone: () => Promise<boolean>): Promise<WindowProblem | null> {
    let failures = 0;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, MAX_PAUSE_MS)) {
      if (signal.aborted) return new WindowProblem('the run was interrupted', '');
      try {
        if (await isDone()) return null;
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === MAX_FAILURES)
          return error instanceof WindowProblem ? error : new WindowProblem(`${error}`, '');
      }
      await delay(pause, undefined, { signal }).catch(() => {});
    }
  }

  return {
    record({ scenario, body, isValid, isControl, outcome, isRaw = false, isCutOff = false }) {
      const ids = idsIn(body);
      if (outcome !== 'rejected' && ids.length !== 1) untraceable += 1;
      for (const id of ids) {
        const one = known.get(id) ?? { ...NEW_NOTIFICATION, scenarios: new Set(), outcomes: new Set() };
        known.set(id, one);
        const spelling = id.toLowerCase();
        spellings.set(spelling, (spellings.get(spelling) ?? new Set()).add(id));
        one.scenarios.add(scenario);
        // Which of several ids a receiver takes is not known, and an accepted forgery is reported by its answer.
        const isUnclear = isRaw || ids.length > 1 || (outcome === 'accepted' && !isValid);
        one.outcomes.add(isUnclear ? 'unknown' : outcome);
        one.isRejected &&= outcome === 'rejected' || isCutOff;
        one.isControl ||= isControl;
        one.answeredAt = now();
        if (isControl && outcome === 'accepted') awaited.add(id);
      }
    },
    expect(id) {
      awaited.add(id);
      expected.add(id);
      pollPause = FIRST_PAUSE_MS;
      void poll();
    },
    async settle({ isAfterRestart = false } = {}) {
      isSettling = true;
      const found = await settled(isAfterRestart);
      isSettling = false;
      problem = found;
      return found;
    },
    effectsOf(id) {
      const one = known.get(id);
      return { handled: one?.handled ?? [], tookMs: one === undefined ? null : tookMs(one) };
    },
    async currentOf(transaction) {
      return (await window.ask({ transaction })).current;
    },
    audit() {
      const all = [...known].map(([id, { scenarios, outcomes, isControl, handled }]) => ({
        id,
        scenarios: [...scenarios],
        isControl,
        outcome: outcomes.has('unknown') ? 'unknown' : outcomes.has('accepted') ? 'accepted' : 'rejected',
        times: handled.length,
      }));
      const explained = all.reduce((sum, { times }) => sum + times, 0);
      // A receiver may keep an id in another spelling, and handle what it accepts without one.
      const elsewhere = [...known.values()].filter(({ isRejected, handled }) => !isRejected && handled.length === 0);
      return {
        notifications: all.flatMap((one) => (one.outcome === 'unknown' ? [] : [one as AuditedNotification])),
        unexplained: Math.max(0, totalAfter - totalBefore - explained - elsewhere.length - untraceable),
        problem: problem?.message ?? null,
      };
    },
    close() {
      isClosed = true;
      window.close();
    },
  };
}

interface TrackerOptions {
  /** How long accepted notifications may take to be handled, in milliseconds. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

type AuditedNotification = EffectsAudit['notifications'][number];

const NEW_NOTIFICATION = { isControl: false, isRejected: true, answeredAt: 0, seenAt: null, handled: [] };

function tookMs({ answeredAt, seenAt }: Notification, since = 0): number | null {
  return seenAt === null ? null : Math.max(0, seenAt - Math.max(answeredAt, since));
}

function forgotten(what: string): WindowProblem {
  const hint = 'Its record must survive what the receiver survives: keep it in a file or a database.';
  return new WindowProblem(`the effects window forgot handlings: ${what}`, hint);
}

/** Every member `id` in the body that is a text: also where the body is not JSON, or has two. */
function idsIn(body: Uint8Array): string[] {
  const text = Buffer.from(body).toString('utf8');
  const ids = [...text.matchAll(/"id"\s*:\s*"([^"\\]{1,200})"/g)].map(([, id = '']) => id);
  return [...new Set(ids)].filter((id) => !/[\p{Cc}\uFFFD]/u.test(id));
}
