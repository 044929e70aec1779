/**
 * Determines what the endpoint accepts instead of the plain valid delivery: the same notification in another form,
 * which shows what the endpoint rejects, or another kind of notification. The run continues with the other kind as its
 * control, and omits the checks that send the rejected kind.
 */

import {
  CONTENT_TYPE,
  type HeaderLine,
  type JsonObject,
  type JsonValue,
  leavesOf,
  sameHeaderName,
} from '../../contract/index.ts';
import type { MistakeId } from '../../contract/mistakes/index.ts';
import {
  type Change,
  type ControlKind,
  type Delivery,
  ID_FIELDS,
  type Kit,
  type RequestHead,
  samples,
} from '../../scenarios/index.ts';
import { type Finding, type RejectedKind, rejectsForm, rejectsKind } from '../diagnose/index.ts';
import { isAccepted } from '../judge/index.ts';
import type { Attempt } from '../transport/index.ts';
import { assemble } from './assemble.ts';
import { type RunContext, withControl } from './context.ts';
import { createKit } from './kit.ts';
import type { Lane } from './lane.ts';
import { faultOfProbe } from './oracle.ts';
import type { SendingPlan } from './plan.ts';
import { type SentDelivery, sendControl, sendProbe } from './send.ts';
import { groupsOf } from './trial.ts';

export interface OtherControl {
  /** The context whose controls are of the accepted kind. */
  readonly context: RunContext;
  /** The accepted delivery, which is the first control. */
  readonly delivery: SentDelivery;
  readonly finding: Finding;
  readonly rejected: RejectedKind;
}

const KINDS = Object.keys(samples.CONTROLS) as readonly ControlKind[];
/** Number of times to repeat the accepted and the rejected notification: a single answer may be due to chance. */
const REPEATS = 2;

interface Form {
  readonly header?: HeaderLine;
  /** Returns the value to send instead. Undefined omits the field. */
  readonly value?: (value: JsonValue, name: string, kit: Kit) => JsonValue | undefined;
  /** The mistake of an endpoint that accepts the notification only in this form. */
  readonly mistake: MistakeId;
}

/** Other forms of the plain notification. All of them are valid. */
const FORMS: Readonly<Record<string, Form>> = {
  'with a User-Agent header': { header: ['User-Agent', 'Mozilla/5.0'], mistake: 'rejected-before-verification' },
  'with an Accept header': { header: ['Accept', '*/*'], mistake: 'rejected-before-verification' },
  'with a charset in Content-Type': {
    header: ['Content-Type', `${CONTENT_TYPE}; charset=utf-8`],
    mistake: 'content-type-as-string',
  },
  'without the fields that are null': { value: (value) => value ?? undefined, mistake: 'optional-data-required' },
  'with `at` as ISO 8601 text': {
    value: (value, name, kit) => (name === 'at' ? samples.isoTime(kit) : value),
    mistake: 'fixed-time-format',
  },
  'with UUIDs as ids': {
    value: (value, name, kit) => (name in ID_FIELDS ? kit.newId() : value),
    mistake: 'id-form-assumed',
  },
};

/** Returns the change that sends the plain notification in all of these forms at once. */
function inForms(label: string, forms: readonly Form[]): Change {
  const lines = forms.flatMap(({ header }) => (header === undefined ? [] : [header]));
  const isReplaced = ([name]: HeaderLine) => lines.some(([wanted]) => sameHeaderName(name, wanted));
  const make = (head: RequestHead) => ({
    ...head,
    headers: [...head.headers.filter((line) => !isReplaced(line)), ...lines],
  });
  const compose = (kit: Kit) => {
    const inForm = (name: string, given: JsonValue) =>
      forms.reduce<JsonValue | undefined>(
        (value, form) => (value === undefined || form.value === undefined ? value : form.value(value, name, kit)),
        given,
      );
    return JSON.parse(JSON.stringify(kit.notification(), inForm)) as JsonObject;
  };
  return { compose, address: { label, make } };
}

/**
 * Finds a form that the endpoint always accepts although it always rejects the plain notification. Null if there is
 * none.
 */
export async function findOtherForm(
  send: (change: Change) => Promise<Attempt>,
  rejected: string,
  isOver: () => boolean,
): Promise<Finding | null> {
  const accepts = async (change: Change) => isAccepted(await send(change));
  if (!(await accepts(inForms('in other forms', Object.values(FORMS))))) return null;
  for (const [what, form] of Object.entries(FORMS)) {
    const change = inForms(what, [form]);
    for (let turn = 0; !isOver() && (await accepts(change)) && !(await accepts({})); turn++) {
      if (turn === REPEATS - 1) return rejectsForm(what, form.mistake, rejected);
    }
  }
  return null;
}

/**
 * Finds a kind of notification that the endpoint always accepts although it always rejects the plain one. Null if there
 * is none.
 */
export async function findOtherControl(
  context: RunContext,
  lane: Lane,
  rejected: string,
  isLikeInvalid: boolean,
): Promise<OtherControl | null> {
  const { partner, seed, now, onSignature, signal } = context;
  const kit = createKit(partner, seed, 'another control', now, onSignature);
  const accepts = async (compose: (kit: Kit) => JsonObject, isSigned = true) => {
    const sign = { label: 'another secret', make: () => kit.bytes(32).toString('base64') };
    const change = { compose, ...(!isSigned && { sign }) };
    const expect = { text: 'any', authentic: isSigned, pass: [] };
    return isAccepted((await sendProbe(context, lane, { label: 'another notification', change, expect }, kit)).attempt);
  };
  const [plain, ...others] = KINDS.map((kind) => ({ kind, compose: samples.CONTROLS[kind] }));
  if (plain === undefined) return null;
  for (const { kind, compose } of others) {
    if (signal.aborted) return null;
    if (!(await accepts(compose))) continue;
    for (let turn = 0; turn < REPEATS; turn++) {
      if ((await accepts(plain.compose)) || !(await accepts(compose))) return null;
    }
    // If the endpoint does not check the signature of this kind, the accepted delivery shows nothing about the secret.
    if (partner.signing !== undefined && (await accepts(compose, false))) return null;
    const differences = differencesBetween(plain.compose(kit), compose(kit));
    const isSameType = kind.startsWith('BUY');
    const guilty = isSameType ? await findGuilty(differences, compose, accepts) : [];
    const other = withControl(context, kind);
    const delivery = await sendControl(other, lane, 'the first delivery, of another kind', { fresh: true });
    if (!isAccepted(delivery.attempt)) return null;
    const found = { accepted: kind, tried: KINDS.slice(0, KINDS.indexOf(kind)), fields: guilty };
    return { context: other, delivery, rejected: found, finding: rejectsKind(found, rejected, isLikeInvalid) };
  }
  return null;
}

/** Returns the differing fields that are each enough to cause the rejection, or all fields if none is. */
async function findGuilty(
  differences: RejectedKind['fields'],
  compose: (kit: Kit) => JsonObject,
  accepts: (compose: (kit: Kit) => JsonObject) => Promise<boolean>,
): Promise<RejectedKind['fields']> {
  if (differences.length < 2) return differences;
  const guilty: RejectedKind['fields'][number][] = [];
  for (const field of differences) {
    const changed = (kit: Kit) => samples.withValueAt(compose(kit), field.path.split('.'), field.value);
    if (!(await accepts(changed))) guilty.push(field);
  }
  return guilty.length === 0 ? differences : guilty;
}

/** Returns the values of a notification by path. Ids are omitted, because they differ in all notifications. */
function valuesOf(value: JsonValue): (readonly [path: string, value: JsonValue])[] {
  const isId = (name: string) => name === 'id' || name in ID_FIELDS;
  return leavesOf(value, MAX_DEPTH).filter(([path]) => !path.split('.').some(isId));
}

/** Greater than the depth of any notification that the sender sends. */
const MAX_DEPTH = 16;

/** Makes values comparable. Generated addresses and hashes count as equal. */
const alike = (value: JsonValue | undefined) =>
  typeof value === 'string' && value.startsWith('0x') ? '0x' : JSON.stringify(value);

function differencesBetween(rejected: JsonValue, accepted: JsonValue): RejectedKind['fields'] {
  const others = new Map(valuesOf(accepted));
  return valuesOf(rejected)
    .filter(([path, value]) => alike(others.get(path)) !== alike(value))
    .map(([path, value]) => ({ path, value }));
}

/**
 * Returns whether a check sends a SELL that contains the fields for which a BUY is rejected. It may fail for the same
 * reason.
 */
export function sendsRejectedField(context: RunContext, { scenario }: SendingPlan, rejected: RejectedKind): boolean {
  if (!('change' in scenario) || rejected.fields.length === 0) return false;
  const { partner, seed, now } = context;
  const value = scenario.change.compose?.(createKit(partner, seed, scenario.id, now)) ?? null;
  return valueAt(value, 'data.type') === 'SELL' && hasFields(value, rejected);
}

/**
 * Returns whether a check sends a notification of the rejected kind, or one that cannot be derived from the accepted
 * kind. The answers to such a check would allow no conclusion.
 */
export function sendsRejectedKind(context: RunContext, { scenario }: SendingPlan, rejected: RejectedKind): boolean {
  const { partner, seed, now } = context;
  const own = createKit(partner, seed, scenario.id, now);
  const plain: JsonValue[] = [];
  const notification = () => {
    const made = own.notification();
    plain.push(made);
    return made;
  };
  const kit: Kit = Object.create(own, { notification: { value: notification } });
  const isOrder = partner.control?.startsWith('BUY') === true;
  const isUnfit = ({ change, expect }: Delivery) => {
    const assembled = assemble(change, kit, partner);
    const { value } = assembled;
    const isBuy = valueAt(value, 'type') === 'CAAS' && valueAt(value, 'data.type') === 'BUY';
    if (isBuy && hasFields(value, rejected)) return true;
    // A check that changes the data of a notification is meant for an order.
    const isDerived = plain.some((one) => valueAt(one, 'id') === valueAt(value, 'id'));
    const isMisfit = isDerived && !plain.some((one) => dataOf(one) === dataOf(value));
    return (!isOrder && isMisfit) || faultOfProbe(assembled, partner, expect.authentic) !== null;
  };
  try {
    return groupsOf(scenario, kit).flat().some(isUnfit);
  } catch (error) {
    // A change that is meant for an order throws if it finds nothing to change in another kind of notification.
    if (!isOrder) return true;
    throw error;
  }
}

function hasFields(value: JsonValue, { fields }: RejectedKind): boolean {
  return fields.every((field) => alike(valueAt(value, field.path)) === alike(field.value));
}

const valueAt = (value: JsonValue, path: string) => samples.valueAt(value, path.split('.'));

const dataOf = (value: JsonValue) => JSON.stringify(valueAt(value, 'data'));
