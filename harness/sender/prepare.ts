import type { JsonValue, Notification } from '../../contract/index.ts';
import { address } from './address.ts';
import type { Prepared } from './attempt.ts';
import type { Partner } from './partner.ts';
import { serialise } from './serialise.ts';
import { sign } from './sign.ts';

/**
 * Makes a notification ready to go: serialises it once, signs exactly those bytes, and lists the headers in order. Pure and quick: it
 * does not validate, because `notificationsFor` and `emittedNotification` do that where notifications are made.
 */
export function prepare(notification: Notification, partner: Partner): Prepared {
  const body = serialise(notification as unknown as JsonValue);
  const signature = partner.signing === undefined ? undefined : sign(body, partner.signing.secret);
  const addressed = address({ partner, body, ...(signature === undefined ? {} : { signature }) });
  return { url: partner.url, ...addressed, body };
}
