/** The correct receivers in other styles. None of them may raise an alarm. */
import { connections } from './connections.ts';
import type { CorrectReceiver } from './correct-receiver.ts';
import { withEffects } from './effects.ts';
import { frameworks } from './frameworks.ts';
import { answers, bareNode } from './node.ts';
import { orders } from './orders.ts';
import { overTls } from './over-tls.ts';
import { behindNginx, otherLanguages, processes } from './programs.ts';
import { urlsAndLimits } from './urls-and-limits.ts';

export type { CorrectReceiver, StartedReceiver } from './correct-receiver.ts';

export const CORRECT_RECEIVERS: readonly CorrectReceiver[] = [
  ...bareNode,
  ...answers,
  ...connections,
  ...orders,
  ...urlsAndLimits,
  ...frameworks,
  ...overTls,
  ...processes,
  ...behindNginx,
  ...otherLanguages,
  ...withEffects,
];
