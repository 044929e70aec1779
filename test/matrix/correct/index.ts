/** The receivers that are right and different. None of them may raise an alarm. */
import { bareNode } from './bare-node.ts';
import type { CorrectReceiver } from './correct-receiver.ts';

export type { CorrectReceiver, StartedReceiver } from './correct-receiver.ts';

export const CORRECT_RECEIVERS: readonly CorrectReceiver[] = [...bareNode];
