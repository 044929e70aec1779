/** Assembles a request from a change: runs the sender's pipeline with the changed stages replaced. */
import { type HeaderLine, type JsonValue, sameHeaderName } from '../../contract/index.ts';
import { headersOfScheme } from '../../contract/signing/index.ts';
import {
  type Change,
  changedStages,
  type Kit,
  type KitScheme,
  type RequestHead,
  type SendingStage,
  type SignChange,
  type Transmission,
} from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { requestBytes } from '../probe/index.ts';
import { address, serialise } from '../sender/index.ts';
import type { Prepared } from '../transport/index.ts';
import { kitOfDelivery, olderKitsOf } from './scheme-kit.ts';

/**
 * A request, together with the values it was made from. Some of them, such as the valid signature, must not be shown.
 */
export interface Assembled {
  readonly prepared: Prepared;
  readonly transmission: Transmission | null;
  /**
   * The bytes of a raw transmission, null for any other. Created once, because a repeated request must be identical.
   */
  readonly raw: Buffer | null;
  readonly value: JsonValue;
  /** The valid signature of the body; null when HMAC is off. Never show it. */
  readonly rightSignature: string | null;
  /** The kits of the older signatures that the scheme adds. Each makes its own. */
  readonly olderKits: readonly Kit[];
  /** The bytes that a changed sign stage has signed. Null if they are not known, or if the stage is not changed. */
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
 * Maximum number of notifications to try until one has a suitable signature. At least one in ten does, so this limit is
 * never reached in practice.
 */
const MAX_TRIES = 1000;

interface Composed {
  readonly value: JsonValue;
  readonly body: Uint8Array;
  readonly kit: Kit;
}

function composeAndSerialise(change: Change, constant: Kit): Composed {
  for (let tries = 0; ; tries++) {
    const kit = kitOfDelivery(constant, change.sign?.message);
    const value = change.compose === undefined ? kit.notification() : change.compose(kit);
    const body = change.serialise === undefined ? serialise(value) : change.serialise(value, kit);
    const suits = change.sign?.suits;
    if (suits === undefined || tries === MAX_TRIES || suits(kit.sign(body))) return { value, body, kit };
  }
}

/**
 * Returns the plain notification with an id that gives a suitable signature. Only the id varies between tries, so the
 * number of tries does not affect the other values.
 */
function plainWithSuitableId(kit: Kit, suits: Suits): Composed {
  const notification = kit.notification();
  for (let tries = 0; ; tries++) {
    const value = { ...notification, id: kit.newId() };
    const body = serialise(value);
    if (tries === MAX_TRIES || suits(kit.sign(body))) return { value, body, kit };
  }
}

/** Runs a changed sign stage. Returns the signature and the bytes that were signed, null if they are not known. */
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

/** Returns the headers that carry a signature. Without one, its header is missing. */
function linesOf(signature: string | undefined, { scheme, signatureHeader }: Kit): readonly HeaderLine[] {
  if (scheme === undefined) return signature === undefined ? [] : [[signatureHeader, signature]];
  const lines = headersOfScheme(scheme.literal, scheme, signature === undefined ? [] : [signature]);
  return signature === undefined ? lines.filter(([name]) => !sameHeaderName(name, signatureHeader)) : lines;
}

/** Runs the stages sign and address. */
function signAndAddress(change: Change, { body, kit }: Composed, partner: Partner) {
  const rightSignature = partner.signing === undefined ? null : kit.sign(body);
  const { signature, signedBytes } =
    change.sign === undefined
      ? { signature: rightSignature ?? undefined, signedBytes: null }
      : signChanged(change.sign, body, kit);
  const signed = change.sign?.headers?.(body, kit, kit.scheme as KitScheme) ?? linesOf(signature, kit);
  const plain: RequestHead = address({ partner, body, signed });
  const head = change.address === undefined ? plain : change.address.make(plain, kit, body);
  return { head, rightSignature, signedBytes };
}

/**
 * Returns the lines of an older signature: the stages are run again as if it were the signature of the scheme. Where
 * this leaves it valid and the other one invalid, it is that of another body, unless the change keeps it.
 */
function olderLines(change: Change, composed: Composed, partner: Partner, isSigned: boolean): HeaderLine[] {
  const { body, kit } = composed;
  const valueOver = (bytes: Uint8Array) => kit.scheme?.header(kit.sign(bytes)) ?? '';
  const right = valueOver(body);
  if (change.sign?.keepsOlder) return [[kit.signatureHeader, right]];
  return signAndAddress(change, composed, partner)
    .head.headers.filter(([name]) => sameHeaderName(name, kit.signatureHeader))
    .map(([name, value]) => [name, value === right && !isSigned ? valueOver(Buffer.concat([body, OTHER])) : value]);
}

const OTHER = Buffer.from('other');

/**
 * Assembles one delivery. The ids are new in every call; everything else depends only on the arguments. `suits` decides
 * whether the signature of a plain delivery may be used; it has no effect when HMAC is off, or in a scheme.
 */
export function assemble(change: Change, constant: Kit, partner: Partner, suits?: Suits): Assembled {
  const isChosen = suits !== undefined && partner.signing !== undefined && constant.scheme === undefined;
  const { value, body, kit } = isChosen ? plainWithSuitableId(constant, suits) : composeAndSerialise(change, constant);
  const composed = { value, body, kit };
  const { head: newest, rightSignature, signedBytes } = signAndAddress(change, composed, partner);
  const right = kit.scheme?.header(rightSignature ?? '');
  const isSigned = newest.headers.some(([, sent]) => sent === right);
  const olderKits = olderKitsOf(kit);
  const older = olderKits.flatMap((own) => olderLines(change, { ...composed, kit: own }, partner, isSigned));
  const head = older.length === 0 ? newest : { ...newest, headers: [...newest.headers, ...older] };
  const prepared = { url: partner.url, ...head, body };
  const { transmit = null } = change;
  return {
    prepared,
    transmission: transmit,
    raw: transmit?.kind === 'raw' ? transmit.make(requestBytes(prepared), kit) : null,
    value,
    rightSignature,
    olderKits,
    signedBytes,
    changes: changedStages(change).map((stage) => ({ stage, label: labelOf(change, stage) })),
    change,
    kit,
  };
}
