/** The last stages: they store the notification durably, answer, and wake the handlers. */
import type { Handling } from '../handling/handling.ts';
import type { AcceptedDelivery, Inbox, InboxMeter } from '../inbox/inbox.ts';
import { type NotificationSink, SINK_RESULTS, sinkKey } from '../inbox/notification-sink.ts';
import { withTimeout } from '../with-timeout.ts';
import { answer, type DeliveryState, refuse, required, type Stage } from './stage.ts';

/**
 * Stage 9: puts the notification into the inbox, which detects duplicates by id. This stage runs after all checks, so
 * that a forged or malformed delivery cannot use up the id of a valid one.
 *
 * A delivery that cannot be stored is answered 503, so that the sender delivers it again.
 */
export function store(inbox: Inbox, handling: Handling, meter: InboxMeter): Stage {
  const put = (delivery: Verified) => inbox.put({ ...delivery, ...handling.plan(delivery.notification) });
  return storeWith(put, 'inbox-failed', meter);
}

/** Stage 9 with a sink instead of an inbox. Waits at most `timeLimitMs` milliseconds for the acknowledgement. */
export function storeInSink(sink: NotificationSink, timeLimitMs: number, meter: InboxMeter): Stage {
  const onTimeout = () => {
    throw new Error(`no acknowledgement within ${timeLimitMs} ms`);
  };
  const put = async (delivery: Verified) => {
    const idempotencyKey = sinkKey(delivery.notification.id);
    const result = await withTimeout(() => sink.put({ ...delivery, idempotencyKey }), timeLimitMs, onTimeout);
    // A sink that returns nothing has probably not waited for its broker.
    if (!SINK_RESULTS.includes(result)) throw new Error(`put resolved with none of ${SINK_RESULTS.join(', ')}`);
    return result;
  };
  return storeWith(put, 'sink-failed', meter);
}

type Verified = Pick<AcceptedDelivery, 'notification' | 'rawBody' | 'receivedAt'>;

function storeWith(
  put: (delivery: Verified) => Promise<DeliveryState['stored'] & string>,
  failure: 'inbox-failed' | 'sink-failed',
  meter: InboxMeter,
): Stage {
  return async (_req, res, next) => {
    const notification = required(res, 'notification');
    const startedAt = performance.now();
    try {
      res.locals.stored = await put({ notification, rawBody: required(res, 'rawBody'), receivedAt: new Date() });
      meter.stored((performance.now() - startedAt) / 1000);
    } catch (error) {
      return refuse(res, 503, 'not-stored', {
        reason: failure,
        reasonDetail: error instanceof Error ? error.message : typeof error,
      });
    }
    next();
  };
}

/**
 * Stage 10: answers 200, and then starts the handlers. Specification: Delivery endpoint (response). The sender does not
 * wait for handlers, because they may take longer than its time limit. A duplicate is also answered 200, but not
 * handled again.
 */
export function reply(handling: Handling): Stage {
  return (_req, res) => {
    const stored = required(res, 'stored');
    answer(res, 200, { status: stored === 'duplicate' ? 'duplicate' : 'accepted' });
    if (stored === 'stored') handling.wake();
  };
}
