/**
 * Sends further deliveries after the answer to a probe: repeats the probe if its 5xx may be due to chance, or sends its
 * follow-ups.
 */

import type { JsonObject, JsonValue } from '../../contract/index.ts';
import type { Delivery, Kit } from '../../scenarios/index.ts';
import { describeAttempt, is2xx, isAccepted, isCompared, isNamed, outcomeOfAttempt } from '../judge/index.ts';
import type { Attempt } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import type { Lane } from './lane.ts';
import { GATEWAY_ERRORS, type SentDelivery, sendProbe } from './send.ts';

/** The deliveries after a probe. `evidence` is what the judge receives for the probe and for them. */
interface Followed {
  readonly sent: readonly SentDelivery[];
  readonly evidence: readonly SentDelivery[];
}

/**
 * Returns whether a 5xx may be due to chance: the delivery is valid or, at an unsteady endpoint, at least correctly
 * signed.
 */
export function mayBeChance(
  { facts }: RunContext,
  { attempt: { answer } }: SentDelivery,
  { expect, effect }: Delivery,
): boolean {
  if (answer === null || answer.status < 500 || GATEWAY_ERRORS.has(answer.status)) return false;
  if (!expect.authentic || effect !== undefined || isNamed(answer.status, expect)) return false;
  return (expect.pass.includes(200) && expect.malformed !== true) || facts.isUnsteady;
}

/**
 * Number of further attempts at an unsteady endpoint. If it fails because of other deliveries in flight, the second
 * attempt may fail as well.
 */
const MORE_TRIES_IF_UNSTEADY = 3;

/** Ids that no partner knows, in the form in which `reference` of the samples generates them. */
const MADE_UP_ID = /^(test-(?:transaction|customer|card)-)[a-z0-9]{12}$/;

/** Replaces ids that no partner knows. Every occurrence of an id gets the same replacement. */
function withNewIds(value: JsonValue, kit: Kit, known = new Map<string, string>()): JsonValue {
  if (Array.isArray(value)) return value.map((item) => withNewIds(item, kit, known));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withNewIds(inner, kit, known)]));
  }
  if (typeof value !== 'string' || !MADE_UP_ID.test(value)) return value;
  const renewed = known.get(value) ?? value.replace(MADE_UP_ID, `$1${kit.nonce()}`);
  known.set(value, renewed);
  return renewed;
}

/**
 * Repeats a delivery that got a 5xx, alone and with new ids. A receiver that had stored the id before it failed would
 * treat a repeated id as a duplicate. In a sequence of deliveries, only the id of the notification is replaced. If the
 * answer is now an expected one, the content did not cause the 5xx.
 */
export async function sendAgain(
  context: RunContext,
  lane: Lane,
  { label, change, expect }: Delivery,
  probe: SentDelivery,
  kit: Kit,
  isSingle: boolean,
): Promise<Followed> {
  const { value } = probe.assembled;
  const compose = () => {
    const renewed = isSingle && value !== undefined ? withNewIds(value, kit) : value;
    return isObject(renewed) ? { ...renewed, id: kit.newId() } : renewed;
  };
  const tries = context.facts.isUnsteady ? MORE_TRIES_IF_UNSTEADY : 1;
  const sent: SentDelivery[] = [];
  while (sent.length < tries) {
    const again = await sendProbe(context, lane, { label, change: { ...change, compose }, expect }, kit, {
      fresh: true,
    });
    sent.push(again);
    const { answer } = again.attempt;
    if (answer === null || !(is2xx(answer.status) || isNamed(answer.status, expect))) continue;
    const { attempt } = probe;
    context.facts.recordFailedControl({
      scenario: kit.scenario ?? '',
      observed: describeAttempt(attempt),
      recovered: true,
      outcome: outcomeOfAttempt(attempt),
      isProbe: true,
    });
    return { sent, evidence: [{ ...again, intermittent: attempt }] };
  }
  return { sent, evidence: [probe] };
}

/**
 * Sends the follow-ups of a delivery if they explain its answer. The parts come first in the evidence, because an
 * accepted part is reported instead of the whole delivery.
 */
export async function sendFollowUps(
  context: RunContext,
  lane: Lane,
  delivery: Delivery,
  probe: SentDelivery,
  kit: Kit,
): Promise<Followed> {
  const { expect, followUps = [] } = delivery;
  const { answer } = probe.attempt;
  if (answer === null || !isCompared(answer, expect)) return { sent: [], evidence: [probe] };
  const sent: SentDelivery[] = [];
  const parts: SentDelivery[] = [];
  const comparisons: Attempt[] = [];
  for (const { role, label, change } of followUps) {
    if (role === 'narrows' && parts.some(({ attempt }) => isAccepted(attempt))) continue;
    const one = await sendProbe(context, lane, { label, change, expect }, kit);
    sent.push(one);
    if (role === 'compares') comparisons.push(one.attempt);
    else parts.push(one);
  }
  return { sent, evidence: [...parts, probe].map((one) => ({ ...one, comparisons })) };
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
