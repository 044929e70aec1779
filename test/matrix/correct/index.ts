/** The receivers that are right and different. None of them may raise an alarm. */
import { answers } from './answers.ts';
import { bareNode } from './bare-node.ts';
import { behindNginx } from './behind-nginx.ts';
import { connections } from './connections.ts';
import type { CorrectReceiver } from './correct-receiver.ts';
import { frameworks } from './frameworks.ts';
import { orders } from './orders.ts';
import { otherLanguages } from './other-languages.ts';
import { overTls } from './over-tls.ts';
import { processes } from './processes.ts';

export type { CorrectReceiver, StartedReceiver } from './correct-receiver.ts';

export const CORRECT_RECEIVERS: readonly CorrectReceiver[] = [
  ...bareNode,
  ...answers,
  ...connections,
  ...orders,
  ...frameworks,
  ...overTls,
  ...processes,
  ...behindNginx,
  ...otherLanguages,
];
