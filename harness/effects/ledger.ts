/** Records what a run delivered, and what the effects window reports about each notification, by its id. */
import type { EffectsAnswer, Handled } from '../../contract/effects.ts';
import { leavesOf } from '../../contract/index.ts';
import type { EffectsAudit } from '../../scenarios/index.ts';
import { WindowProblem } from './window.ts';

/** A delivery, as the run sees it. */
export interface TrackedDelivery {
  readonly scenario: string;
  /** The bytes that were sent as the body. */
  readonly body: Uint8Array;
  /** Whether the credentials are valid and the request is well-formed. */
  readonly isValid: boolean;
  /** Whether the delivery is the plain valid one. */
  readonly isControl: boolean;
  /** `unknown`: there was no answer, or it neither accepts nor rejects the delivery. */
  readonly outcome: 'accepted' | 'rejected' | 'unknown';
  /** Whether the request consists of raw bytes that no client would send. Receivers may read them in different ways. */
  readonly isRaw?: boolean;
  /** Whether the connection was closed before the end of the body. */
  readonly isCutOff?: boolean;
}

/** The effects of one notification that the window has shown. */
export interface SeenEffects {
  readonly handled: readonly Handled[];
  /** Maximum time from the answer until the window showed the effect, in milliseconds. Null if it has not shown it. */
  readonly tookMs: number | null;
}

/** An id that is never sent. */
export const NOT_SENT_ID = '00000000-0000-4000-8000-000000000000';

interface SentNotification {
  readonly scenarios: Set<string>;
  readonly outcomes: Set<TrackedDelivery['outcome']>;
  isControl: boolean;
  deliveries: number;
  /** The body of the first delivery of this notification. */
  readonly body: Uint8Array;
  /** Whether every delivery was rejected or incomplete, so the receiver cannot have handled it under another id. */
  isRejected: boolean;
  answeredAt: number;
  /** When the window first showed a handling of this notification. Set only if it must be handled. */
  seenAt: number | null;
  handled: readonly Handled[];
}

export class EffectsLedger {
  readonly #notifications = new Map<string, SentNotification>();
  /**
   * The spellings of each id, by the id in lower case. Databases may change the case of ids. Ids that were sent in two
   * cases are kept apart.
   */
  readonly #spellings = new Map<string, Set<string>>();
  /** Ids of the notifications that must be handled. */
  readonly #awaited = new Set<string>();
  /** Number of deliveries whose effect cannot be found by an id. */
  #untraceable = 0;
  readonly #totalBefore: number;
  #total: number;
  readonly #now: () => number;

  /** `total` is the number of handlings before the run. `now` is a clock in milliseconds. */
  constructor(total: number, now: () => number) {
    this.#totalBefore = total;
    this.#total = total;
    this.#now = now;
  }

  /** Number of handlings that the window has shown, including those before the run. */
  get total(): number {
    return this.#total;
  }

  /** Ids of all notifications. If there are none, contains one id that is never sent, to query only the total. */
  get idsToQuery(): string[] {
    return this.#notifications.size === 0 ? [NOT_SENT_ID] : [...this.#notifications.keys()];
  }

  /** Ids of the notifications that must be handled and that the window has not shown yet. */
  get open(): string[] {
    return [...this.#awaited].filter((id) => this.isOpen(id));
  }

  /** Returns whether a notification was delivered and the window has not shown it yet. */
  isOpen(id: string): boolean {
    return this.#notifications.get(id)?.seenAt === null;
  }

  /** Declares that a notification must be handled. */
  await(id: string): void {
    this.#awaited.add(id);
  }

  record({ scenario, body, isValid, isControl, outcome, isRaw, isCutOff }: TrackedDelivery): void {
    const ids = idsIn(body);
    if (outcome !== 'rejected' && ids.length !== 1) this.#untraceable += 1;
    // It is unknown which of several ids a receiver uses. An accepted forgery is already reported for its answer.
    const isUnclear = isRaw === true || ids.length > 1 || (outcome === 'accepted' && !isValid);
    for (const id of ids) {
      const one = this.#notifications.get(id) ?? this.#add(id, body);
      one.deliveries += 1;
      one.scenarios.add(scenario);
      one.outcomes.add(isUnclear ? 'unknown' : outcome);
      one.isRejected &&= outcome === 'rejected' || isCutOff === true;
      one.isControl ||= isControl;
      one.answeredAt = this.#now();
      if (isControl && outcome === 'accepted') this.await(id);
    }
  }

  #add(id: string, body: Uint8Array): SentNotification {
    const common = { isControl: false, deliveries: 0, isRejected: true, answeredAt: 0, seenAt: null, handled: [] };
    const one: SentNotification = { ...common, body, scenarios: new Set(), outcomes: new Set() };
    this.#notifications.set(id, one);
    const folded = id.toLowerCase();
    this.#spellings.set(folded, (this.#spellings.get(folded) ?? new Set()).add(id));
    return one;
  }

  /**
   * Records an answer of the window to a query for these ids. `reported` is the {@link total} before the query.
   *
   * @throws WindowProblem if the window shows less than before
   */
  update(ids: readonly string[], { handled, total }: EffectsAnswer, reported: number): void {
    if (total < reported) throw forgotten(`${total} in total, previously ${reported}`);
    this.#total = Math.max(this.#total, total);
    const byId = new Map<string, Handled[]>(ids.map((id) => [id, []]));
    for (const one of handled) byId.get(this.#asSent(one.notification))?.push(one);
    for (const [id, found] of byId) {
      const one = this.#notifications.get(id);
      if (one === undefined) continue;
      // This is an error even if the total has grown since. It also discards the older of two answers that arrive in
      // the wrong order.
      if (found.length < one.handled.length) {
        throw forgotten(`${found.length} of ${id}, previously ${one.handled.length}`);
      }
      if (found.length === 0) continue;
      if (this.#awaited.has(id)) one.seenAt ??= this.#now();
      one.handled = found;
    }
  }

  /** Returns an id in the letter case in which it was sent. */
  #asSent(id: string): string {
    const [spelling = id, ...others] = this.#spellings.get(id.toLowerCase()) ?? [];
    return this.#notifications.has(id) || others.length > 0 ? id : spelling;
  }

  /**
   * Returns what the window has shown about a notification. `tookMs` counts from the answer, or from `since` if that
   * is later.
   */
  effectsOf(id: string, since = 0): SeenEffects {
    const { handled = [], answeredAt = 0, seenAt = null } = this.#notifications.get(id) ?? {};
    return { handled, tookMs: seenAt === null ? null : Math.max(0, seenAt - Math.max(answeredAt, since)) };
  }

  audit(problem: WindowProblem | null): EffectsAudit {
    const all = [...this.#notifications];
    const explained = all.reduce((sum, [, { handled }]) => sum + handled.length, 0);
    // A receiver may store an id in another spelling, or handle an accepted notification without an id.
    const elsewhere = all.filter(([, { isRejected, handled }]) => !isRejected && handled.length === 0);
    const unexplained = this.#total - this.#totalBefore - explained - elsewhere.length - this.#untraceable;
    return {
      notifications: all.map(([id, { scenarios, outcomes, isControl, deliveries, handled, body }]) => ({
        id,
        scenarios: [...scenarios],
        isControl,
        deliveries,
        outcome: outcomes.has('unknown') ? 'unknown' : outcomes.has('accepted') ? 'accepted' : 'rejected',
        times: handled.length,
        fields: fieldsIn(body),
      })),
      unexplained: Math.max(0, unexplained),
      problem: problem?.message ?? null,
    };
  }
}

function forgotten(what: string): WindowProblem {
  const hint = 'Its record must survive restarts, as the receiver does: keep it in a file or a database.';
  return new WindowProblem(`the effects window forgot handlings: ${what}`, hint);
}

/** Limits that no body from the sender exceeds. */
const MAX_BODY_BYTES = 16_384;
const MAX_DEPTH = 8;

/** Returns the values of a notification as JSON, by path. Objects are not values. */
function fieldsIn(body: Uint8Array): Record<string, string> {
  if (body.length > MAX_BODY_BYTES) return {};
  try {
    const leaves = leavesOf(JSON.parse(Buffer.from(body).toString()), MAX_DEPTH);
    const values = leaves.filter(([, leaf]) => leaf === null || typeof leaf !== 'object');
    return Object.fromEntries(values.map(([path, leaf]) => [path, JSON.stringify(leaf)]));
  } catch {
    return {};
  }
}

/** Returns the values of all members named `id` in a body, even if it is not JSON or contains several. */
function idsIn(body: Uint8Array): string[] {
  const text = Buffer.from(body).toString('utf8');
  const ids = [...text.matchAll(/"id"\s*:\s*"([^"\\]{1,200})"/g)].map(([, id = '']) => id);
  return [...new Set(ids)].filter((id) => !/[\p{Cc}\uFFFD]/u.test(id));
}
