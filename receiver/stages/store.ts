/** The last stages: store the notification durably, answer, and wake the handlers. */
import type { Handling } from '../handling/handling.ts';
import type { Inbox, InboxMeter } from '../inbox/inbox.ts';
import { answer, refuse, required, type Stage } from './stage.ts';

/**
 * Stage 9: puts the notification into the inbox, which detects duplicates by id. It runs after every check, so that a
 * forged or malformed delivery cannot use up the id of a valid one.
 *
 * A delivery that cannot be stored is answered 503: the sender has to deliver it again.
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
        reason: 'inbox-failed',
        reasonDetail: error instanceof Error ? error.message : typeof error,
      });
    }
    next();
  };
}

/**
 * Stage 10: answers 200, and then starts the handlers. Specification: Delivery endpoint (response). The sender does not
 * wait for them: they may take longer than its time limit. A duplicate is answered 200 too, and not handled again.
 */
export function reply(handling: Handling): Stage {
  return (_req, res) => {
    const stored = required(res, 'stored');
    answer(res, 200, { status: stored === 'stored' ? 'accepted' : 'duplicate' });
    if (stored === 'stored') handling.wake();
  };
}
