/** Assembles a request from a change: the sender's pipeline with the changed stages replaced. */
import type { JsonValue } from '../../contract/index.ts';
import {
  type Change,
  changedStages,
  type Kit,
  type RequestHead,
  type SendingStage,
  type SignChange,
  type Transmission,
} from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { requestBytes } from '../probe/index.ts';
import { address, serialise } from '../sender/index.ts';
import type { Prepared } from '../transport/index.ts';

/** A request, with what only the harness knows about it. */
export interface Assembled {
  readonly prepared: Prepared;
  readonly transmission: Transmission | null;
  /** The bytes of a raw transmission, made once, so that a repeated request is identical; null for any other. */
  readonly raw: Buffer | null;
  readonly value: JsonValue;
  /** The valid signature of the body; null when HMAC is off. Never show it. */
  readonly rightSignature: string | null;
  /** The bytes that the sent signature was made from, where a changed sign stage made one. */
  readonly signedBytes: Uint8Array | null;
  readonly changes: readonly { readonly stage: SendingStage; readonly label: string }[];
  readonly change: Change;
  readonly kit: Kit;
}

const LABELS: Readonly<Record<'compose' | 'serialise', string>> = {
  compose: 'another notification',
  serialise: 'other bytes for the body',
};

function labelOf(change: Change, stage: SendingStage): string {
  switch (stage) {
    case 'sign':
      return change.sign?.label ?? '';
    case 'address':
      return change.address?.label ?? '';
    case 'transmit':
      return change.transmit === undefined
        ? ''
        : 'label' in change.transmit
          ? change.transmit.label
          : change.transmit.kind;
    case 'connect':
      return change.connect?.label ?? '';
    default:
      return LABELS[stage];
  }
}

type Suits = NonNullable<SignChange['suits']>;

/**
 * Notifications to try until the signature suits the change. At least one in ten does, so this limit is never reached.
 */
const MAX_TRIES = 1000;

function composeAndSerialise(change: Change, kit: Kit): { value: JsonValue; body: Uint8Array } {
  for (let tries = 0; ; tries++) {
    const value = change.compose === undefined ? kit.notification() : change.compose(kit);
    const body = change.serialise === undefined ? serialise(value) : change.serialise(value, kit);
    const suits = change.sign?.suits;
    if (suits === undefined || tries === MAX_TRIES || suits(kit.sign(body))) return { value, body };
  }
}

/** The plain notification with another id each time, so that its other values do not depend on chance. */
function plainWithSuitableId(kit: Kit, suits: Suits): { value: JsonValue; body: Uint8Array } {
  const notification = kit.notification();
  for (let tries = 0; ; tries++) {
    const value = { ...notification, id: kit.newId() };
    const body = serialise(value);
    if (tries === MAX_TRIES || suits(kit.sign(body))) return { value, body };
  }
}

/** What a changed sign stage makes, and the bytes it was made from. */
function signChanged(change: SignChange, body: Uint8Array, kit: Kit) {
  const signed = new Map<string, Uint8Array>();
  const sign: Kit['sign'] = (bytes) => {
    const made = kit.sign(bytes);
    signed.set(made, bytes);
    return made;
  };
  const recordingKit: Kit = Object.create(kit, { sign: { value: sign } });
  const signature = change.make(body, recordingKit);
  return { signature, signedBytes: signature === undefined ? null : (signed.get(signature) ?? null) };
}

/**
 * Assembles one delivery. Pure except for the fresh id. `suits` selects the signature of a plain delivery; it has no
 * effect when HMAC is off.
 */
export function assemble(change: Change, kit: Kit, partner: Partner, suits?: Suits): Assembled {
  const isChosen = suits !== undefined && partner.signing !== undefined;
  const { value, body } = isChosen ? plainWithSuitableId(kit, suits) : composeAndSerialise(change, kit);
  const rightSignature = partner.signing === undefined ? null : kit.sign(body);
  const { signature, signedBytes } =
    change.sign === undefined
      ? { signature: rightSignature ?? undefined, signedBytes: null }
      : signChanged(change.sign, body, kit);
  const plain: RequestHead = address({ partner, body, ...(signature === undefined ? {} : { signature }) });
  const head = change.address === undefined ? plain : change.address.make(plain, kit, body);
  const prepared = { url: partner.url, ...head, body };
  const { transmit = null } = change;
  return {
    prepared,
    transmission: transmit,
    raw: transmit?.kind === 'raw' ? transmit.make(requestBytes(prepared), kit) : null,
    value,
    rightSignature,
    signedBytes,
    changes: changedStages(change).map((stage) => ({ stage, label: labelOf(change, stage) })),
    change,
    kit,
  };
}
