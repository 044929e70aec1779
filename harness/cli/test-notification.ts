import { HookproofError, type Notification } from '../../contract/index.ts';
import { newTestId } from '../../scenarios/index.ts';
import { notificationsFor } from '../sender/index.ts';
import { SAMPLE_EVENTS } from './sample-events.ts';

/** One valid notification with an id of its own, which a partner can tell from real ones. */
export function testNotification(): Notification {
  const event = SAMPLE_EVENTS.wallet?.make();
  const [notification] = event === undefined ? [] : notificationsFor(event, { newId: newTestId });
  if (notification !== undefined) return notification;
  throw new HookproofError('SAMPLE_EMPTY', 'the sample event makes no notification', {
    hint: 'This is a fault of hookproof; please report it.',
    kind: 'internal',
  });
}
