import type { Handling } from '../handling/handling.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { InboxMeter } from '../inbox/meter.ts';
import { refuse, required, type Stage } from './stage.ts';

/**
 * Stage 9: puts the notification into the inbox, which says whether its id is new. It comes after every check, so that a
 * forged or malformed delivery cannot use up the id of a right one.
 *
 * A delivery that cannot be stored is answered 503: it was not accepted, and 200 would say that it was.
 */
export function store(inbox: Inbox, handling: Handling, meter: InboxMeter): Stage {
  return async (_req, res, next) => {
    const notification = required(res, 'notification');
    const startedAt = performance.now();
    try {
      res.locals.stored = await inbox.put({
        notification,
        rawBody: required(res, 'rawBody'),
        receivedAt: new Date(),
        ...handling.plan(notification),
      });
      meter.stored((performance.now() - startedAt) / 1000);
    } catch (error) {
      return refuse(res, 503, 'not-stored', {
        reason: `inbox failed: ${error instanceof Error ? error.message : typeof error}`,
      });
    }
    next();
  };
}
