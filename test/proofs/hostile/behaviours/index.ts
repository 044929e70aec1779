/** Every hostile endpoint, by group. */
import type { Behaviour } from '../behaviour.ts';
import { BODIES } from './bodies.ts';
import { CONNECTIONS, PACE } from './connections.ts';
import { FORGERIES } from './forgeries.ts';
import { HEADS } from './heads.ts';
import { TEXTS } from './texts.ts';
import { TLS } from './tls.ts';

export const GROUPS: readonly (readonly [title: string, behaviours: readonly Behaviour[]])[] = [
  ['Connections', CONNECTIONS],
  ['Pace', PACE],
  ['Forged deliveries', FORGERIES],
  ['Heads of answers', HEADS],
  ['Bodies', BODIES],
  ['Texts', TEXTS],
  ['TLS', TLS],
];

export const BEHAVIOURS: readonly Behaviour[] = GROUPS.flatMap(([, behaviours]) => behaviours);

export function behaviourNamed(name: string): Behaviour {
  const found = BEHAVIOURS.find((behaviour) => behaviour.name === name);
  if (found === undefined) throw new Error(`unknown endpoint: ${name}`);
  return found;
}
