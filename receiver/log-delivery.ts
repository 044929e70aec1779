import type { DeliveryObserver } from './delivery-report.ts';
import type { ReceiverLogger } from './logger.ts';

/** Characters of an id that go into a log line. */
const MAX_ID_LENGTH = 100;

/**
 * Writes one line for each delivery when it is over: what came of it, why, which notification, how long it took (milliseconds).
 * No header and no body, and an id only once the credentials were right and the payload was understood.
 */
export function logDelivery(logger: ReceiverLogger): DeliveryObserver {
  return ({ outcome, status, reason, duplicate, notification, secretIndex, keyIndex, durationMs }) => {
    const fields = {
      event: 'delivery',
      outcome,
      status,
      reason,
      duplicate: duplicate ? true : undefined,
      id: notification?.id.slice(0, MAX_ID_LENGTH),
      kind: notification?.kind,
      // Only while a rotation is under way: the position in the list, never the secret or the key.
      secretIndex: secretIndex === 0 ? undefined : secretIndex,
      keyIndex: keyIndex === 0 ? undefined : keyIndex,
      durationMs: Math.round(durationMs * 1000) / 1000,
    };
    if (status !== undefined && status >= 500) logger.error(fields, 'delivery failed');
    else logger.info(fields, `delivery ${outcome}`);
  };
}
