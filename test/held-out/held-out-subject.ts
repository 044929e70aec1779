/** What is played: a bare receiver in a style, with one fault or two. Its name says all: `trims-body@2`, `trims-body+refuses-sells@0`. */
import { BareReceiver, type Credentials } from './bare-receiver.ts';
import { HELD_OUT } from './faults/index.ts';
import { STYLES } from './style.ts';

export interface HeldOutSubject {
  readonly faults: readonly string[];
  readonly style: number;
}

export const nameOf = ({ faults, style }: HeldOutSubject) => `${faults.join('+')}@${style}`;

export function subjectOf(name: string): HeldOutSubject {
  const [faults = '', style = '0'] = name.split('@');
  return { faults: faults.split('+').filter((one) => one !== ''), style: Number(style) };
}

/** Throws when there is no such fault or style. */
export function receiverOf({ faults, style: index }: HeldOutSubject, credentials: Credentials): BareReceiver {
  const style = STYLES[index];
  if (style === undefined) throw new RangeError(`there is no style ${index}`);
  const Twisted = faults.reduce((Base, fault) => {
    const twist = HELD_OUT[fault];
    if (twist === undefined) throw new RangeError(`no bare receiver has the fault ${fault}`);
    return twist(Base);
  }, BareReceiver);
  return new Twisted(credentials, style);
}
