/** Every hostile endpoint. */
import type { Behaviour } from '../behaviour.ts';
import { BODIES } from './bodies.ts';
import { CONNECTIONS, PACE } from './connections.ts';
import { FORGERIES } from './forgeries.ts';
import { HEADS } from './heads.ts';
import { TEXTS } from './texts.ts';
import { TLS } from './tls.ts';

export const BEHAVIOURS: readonly Behaviour[] = [
  ...CONNECTIONS,
  ...PACE,
  ...FORGERIES,
  ...HEADS,
  ...BODIES,
  ...TEXTS,
  ...TLS,
];

export function behaviourNamed(name: string): Behaviour {
  const found = BEHAVIOURS.find((behaviour) => behaviour.name === name);
  if (found === undefined) throw new Error(`there is no behaviour ${name}`);
  return found;
}
