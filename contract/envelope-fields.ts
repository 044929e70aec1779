/** The fields of the envelope that both sides share. Specification: Notification envelope. */
import * as z from 'zod';
import { LATEST_SECONDS, READABLE_TIME, readTime } from './notification-time.ts';

const ID = 'Unique identifier of the notification.';
const EPOCH = 'Time of the notification, in seconds since 1970-01-01T00:00:00Z.';
const ISO = 'Time of the notification, as an ISO 8601 timestamp in UTC.';

/** Characters that have no place in an identifier and would do harm in logs and stores. */
const NO_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** The sender makes UUIDs; a receiver takes any identifier that can be kept. */
export const notificationId = {
  emitted: z.uuid().describe(ID),
  received: z.string().min(1).max(200).regex(NO_CONTROL_CHARACTERS, 'must not have control characters').describe(ID),
};

/** Whatever of the two forms it comes in, a receiver reads the time as a Date. */
const receivedTime = z
  .union([
    z.number().min(0).max(LATEST_SECONDS),
    z.string().regex(READABLE_TIME, 'must be epoch seconds or an ISO 8601 timestamp'),
  ])
  .transform((value, context) => {
    const time = readTime(value);
    if (time !== null) return time;
    context.addIssue({ code: 'custom', message: 'must be a time that exists' });
    return z.NEVER;
  });

/** `at` of CAAS, REFUND and PAYMENT_METHOD. The upper bound keeps milliseconds out. */
export const epochSeconds = {
  emitted: z.int().positive().max(99_999_999_999).describe(EPOCH),
  received: receivedTime.describe(EPOCH),
};

/** `at` of WALLET and CAAS_BLOCKCHAIN. */
export const timestamp = { emitted: z.iso.datetime().describe(ISO), received: receivedTime.describe(ISO) };
