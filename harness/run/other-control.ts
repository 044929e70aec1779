/**
 * Another control. When the endpoint rejects the plain valid delivery and accepts a valid notification of another kind,
 * the run goes on with that one, and leaves out the checks that send the rejected kind.
 */

import type { JsonObject, JsonValue } from '../../contract/index.ts';
import { type ControlKind, type Delivery, ID_FIELDS, type Kit, samples } from '../../scenarios/index.ts';
import { type Finding, type RejectedKind, rejectsKind } from '../diagnose/index.ts';
import { isAccepted } from '../judge/index.ts';
import { assemble } from './assemble.ts';
import { type RunContext, useControl } from './context.ts';
import { createKit } from './kit.ts';
import type { Lane } from './lane.ts';
import { faultOfProbe } from './oracle.ts';
import type { SendingPlan } from './plan.ts';
import { type SentDelivery, sendControl, sendProbe } from './send.ts';
import { groupsOf } from './trial.ts';

export interface OtherControl {
  /** The accepted one. */
  readonly delivery: SentDelivery;
  readonly finding: Finding;
  readonly rejected: RejectedKind;
}

const KINDS = Object.keys(samples.CONTROLS) as readonly ControlKind[];
/** How often the accepted and the rejected notification are repeated: one answer may be chance. */
const REPEATS = 2;

/** A kind that the endpoint accepts every time, while it rejects the plain one every time. Null when there is none. */
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
    // An endpoint that does not check this kind says nothing about the secret.
    if (partner.signing !== undefined && (await accepts(compose, false))) return null;
    const differences = differencesBetween(plain.compose(kit), compose(kit));
    const isSameType = kind.startsWith('BUY');
    const guilty = isSameType ? await findGuilty(differences, compose, accepts) : [];
    useControl(context, kind);
    const delivery = await sendControl(context, lane, 'the first delivery, of another kind', { fresh: true });
    if (!isAccepted(delivery.attempt)) return null;
    const found = { accepted: kind, tried: KINDS.slice(0, KINDS.indexOf(kind)), fields: guilty };
    return { delivery, rejected: found, finding: rejectsKind(found, rejected, isLikeInvalid) };
  }
  return null;
}

/** Finds the differing fields that suffice for the rejection. Returns all of them if no single one does. */
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

/** The values of a notification by their paths, without ids, which differ in all of them. */
function valuesOf(value: JsonValue, path = ''): (readonly [path: string, value: JsonValue])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[path, value]];
  return Object.entries(value)
    .filter(([name]) => name !== 'id' && !(name in ID_FIELDS))
    .flatMap(([name, inner]) => valuesOf(inner, path === '' ? name : `${path}.${name}`));
}

/** Generated addresses and hashes are alike. */
const alike = (value: JsonValue | undefined) =>
  typeof value === 'string' && value.startsWith('0x') ? '0x' : JSON.stringify(value);

function differencesBetween(rejected: JsonValue, accepted: JsonValue): RejectedKind['fields'] {
  const others = new Map(valuesOf(accepted));
  return valuesOf(rejected)
    .filter(([path, value]) => alike(others.get(path)) !== alike(value))
    .map(([path, value]) => ({ path, value }));
}

/** Whether a check sends a SELL with the field for which a BUY is rejected: it may fail for the same reason. */
export function sendsRejectedField(context: RunContext, { scenario }: SendingPlan, rejected: RejectedKind): boolean {
  if (!('change' in scenario) || rejected.fields.length === 0) return false;
  const { partner, seed, now } = context;
  const value = scenario.change.compose?.(createKit(partner, seed, scenario.id, now)) ?? null;
  return valueAt(value, 'data.type') === 'SELL' && hasFields(value, rejected);
}

/**
 * Whether a check sends a notification of the rejected kind, or one that cannot be made from the accepted one. Its
 * answers would say nothing.
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
    // A change of the data is meant for an order.
    const isDerived = plain.some((one) => valueAt(one, 'id') === valueAt(value, 'id'));
    const isMisfit = isDerived && !plain.some((one) => dataOf(one) === dataOf(value));
    return (!isOrder && isMisfit) || faultOfProbe(assembled, partner, expect.authentic) !== null;
  };
  try {
    return groupsOf(scenario, kit).flat().some(isUnfit);
  } catch (error) {
    // A change that is meant for an order finds nothing to change in another notification.
    if (!isOrder) return true;
    throw error;
  }
}

function hasFields(value: JsonValue, { fields }: RejectedKind): boolean {
  return fields.every((field) => alike(valueAt(value, field.path)) === alike(field.value));
}

const valueAt = (value: JsonValue, path: string) => samples.valueAt(value, path.split('.'));

const dataOf = (value: JsonValue) => JSON.stringify(valueAt(value, 'data'));
