/**
 * A subject is a bare receiver in a style, with one or two faults, such as `trims-body@2` or
 * `trims-body+refuses-sells@0`.
 */

import type { DictionaryFault, FaultDictionary } from '../../../harness/diagnose/index.ts';
import { seededRandom } from '../../setup/seeded-random.ts';
import { apiKeyFaults } from './api-key.ts';
import { BareReceiver, type Credentials } from './bare-receiver.ts';
import { deliveryFaults } from './delivery.ts';
import type { FaultMixins } from './fault-mixins.ts';
import { httpFaults } from './http.ts';
import { payloadFaults } from './payload.ts';
import { rawBodyFaults } from './raw-body.ts';
import { signatureFaults } from './signature.ts';

interface HeldOutSubject {
  readonly faults: readonly string[];
  readonly style: number;
}

export const nameOf = ({ faults, style }: HeldOutSubject) => `${faults.join('+')}@${style}`;

export function subjectOf(name: string): HeldOutSubject {
  const [faults = '', style = '0'] = name.split('@');
  return { faults: faults.split('+').filter((one) => one !== ''), style: Number(style) };
}

/** Creates the receiver of a subject. Throws if there is no such fault or style. */
export function receiverOf({ faults, style: index }: HeldOutSubject, credentials: Credentials): BareReceiver {
  const style = STYLES[index];
  if (style === undefined) throw new RangeError(`there is no style ${index}`);
  const FaultyReceiver = faults.reduce((Base, fault) => {
    const mixin = HELD_OUT[fault];
    if (mixin === undefined) throw new RangeError(`no bare receiver has the fault ${fault}`);
    return mixin(Base);
  }, BareReceiver);
  return new FaultyReceiver(credentials, style);
}

/** How the bare receivers differ apart from their faults. */
export interface Style {
  readonly name: string;
  readonly keyBeforeBody: boolean;
  readonly signatureFirst: boolean;
  /** The status for a body that is not a notification. */
  readonly malformed: 400 | 422;
  readonly closes: boolean;
  readonly answer: (status: number) => { readonly body: string; readonly type: string };
}

const empty = () => ({ body: '', type: '' });
const plain = (status: number) => ({
  body: status === 200 ? 'OK' : `error ${status}`,
  type: 'text/plain; charset=utf-8',
});
const json = (status: number) => ({ body: JSON.stringify({ success: status === 200 }), type: 'application/json' });
const html = (status: number) => ({ body: `<!doctype html><title>${status}</title>`, type: 'text/html' });

export const STYLES: readonly Style[] = [
  {
    name: 'key before the body',
    keyBeforeBody: true,
    signatureFirst: true,
    malformed: 400,
    closes: false,
    answer: empty,
  },
  { name: 'signature first', keyBeforeBody: false, signatureFirst: true, malformed: 400, closes: false, answer: json },
  { name: 'key first, 422', keyBeforeBody: false, signatureFirst: false, malformed: 422, closes: false, answer: plain },
  { name: 'closing, HTML', keyBeforeBody: false, signatureFirst: true, malformed: 422, closes: true, answer: html },
];

/** Creates a generator of integers in [0, below). */
export function randomOf(seed: number): (below: number) => number {
  const random = seededRandom(seed);
  return (below) => Math.floor(random() * below);
}

/** Returns false if the first delivery is rejected, because a second fault is then not visible. */
const acceptsFirstDelivery = ({ outcomes }: DictionaryFault) => outcomes['valid/plain'] === undefined;

/**
 * Returns pairs of faults that are both visible. Two faults that accept too much in the same check are excluded,
 * because the wider one hides the other.
 */
export function pairsOf(
  { faults }: FaultDictionary,
  names: readonly string[],
  count: number,
  random: (below: number) => number,
): (readonly [string, string])[] {
  const usable = faults.filter((fault) => names.includes(fault.name) && acceptsFirstDelivery(fault));
  const pairs: (readonly [string, string])[] = [];
  while (pairs.length < count) {
    const [one, other] = [usable[random(usable.length)], usable[random(usable.length)]];
    if (one === undefined || other === undefined || one === other || one.area === other.area) continue;
    pairs.push([one.name, other.name]);
  }
  return pairs;
}

/** Every fault of the bare receivers, by the name of its mutant. */
export const HELD_OUT: FaultMixins = {
  ...rawBodyFaults,
  ...signatureFaults,
  ...apiKeyFaults,
  ...payloadFaults,
  ...httpFaults,
  ...deliveryFaults,
};
