/** The envelope around every notification. Specification: Notification envelope. */
import * as z from 'zod';
import { discriminator, type Field, group } from './fields.ts';
import type { NotificationType } from './kinds.ts';

/** Builds the schema of the envelope around a `data` schema. */
export function notification<T extends NotificationType, A extends Field, D extends Field>(type: T, at: A, data: D) {
  return group(
    { id: notificationId, type: discriminator(type, 'What the notification is about.'), at, data },
    'A notification.',
  );
}

const ID = 'Unique identifier of the notification.';
const EPOCH = 'Time of the notification, in seconds since 1970-01-01T00:00:00Z.';
const ISO = 'Time of the notification, as an ISO 8601 timestamp in UTC.';

/** Control characters are rejected because they corrupt logs and stores. */
const NO_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** The sender generates UUIDs; a receiver accepts any identifier of 1 to 200 characters without control characters. */
const notificationId = {
  emitted: z.uuid().describe(ID),
  received: z.string().min(1).max(200).regex(NO_CONTROL_CHARACTERS, 'must not have control characters').describe(ID),
};

/** The only fields that are checked in a notification of an unknown kind. */
export const receivedEnvelope = z.looseObject({
  id: notificationId.received,
  type: z.string().min(1),
  data: z.looseObject({}),
});

/** Largest number of seconds that a Date can hold. */
const MAX_SECONDS = 8.64e12;

const DATE = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const TIME = '[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?';
const OFFSET = '(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?';

/** Epoch seconds as text, or an ISO 8601 date, with or without time, fraction and offset. */
const READABLE_TIME = new RegExp(`^(?:[0-9]{1,13}(?:\\.[0-9]+)?|${DATE}(?:[Tt ]${TIME}${OFFSET})?)$`);

const DATE_AND_TIME = /^(.{10}).([0-9:]+)(?:[.,]([0-9]+))?(?:[Zz]|([+-][0-9]{2}):?([0-9]{2}))?$/;

/** A receiver accepts both forms of the time and reads them as a Date. */
const receivedTime = z
  .union([
    z.number().min(0).max(MAX_SECONDS),
    z.string().regex(READABLE_TIME, 'must be epoch seconds or an ISO 8601 timestamp'),
  ])
  .transform((value, context) => {
    const time = readTime(value);
    if (time !== null) return time;
    context.addIssue({ code: 'custom', message: 'must be an existing date and time' });
    return z.NEVER;
  });

/** `at` of CAAS, REFUND and PAYMENT_METHOD, in epoch seconds. The upper bound rejects milliseconds. */
export const epochSeconds = {
  emitted: z.int().positive().max(99_999_999_999).describe(EPOCH),
  received: receivedTime.describe(EPOCH),
};

/** `at` of WALLET and CAAS_BLOCKCHAIN, an ISO 8601 timestamp. */
export const timestamp = { emitted: z.iso.datetime().describe(ISO), received: receivedTime.describe(ISO) };

/**
 * Reads the time of a notification. Returns null when the value is not a time. A number is in seconds and may have a
 * fraction. Text without an offset is UTC, because the service sends UTC; `Date.parse` alone would read it as local
 * time.
 */
export function readTime(at: unknown): Date | null {
  if (typeof at === 'number') return dateOf(at * 1000);
  if (typeof at !== 'string' || !READABLE_TIME.test(at)) return null;
  if (!at.includes('-')) return dateOf(Number(at) * 1000);
  const [, date, time, fraction = '', hours = '+00', minutes = '00'] = DATE_AND_TIME.exec(at) ?? [];
  if (date === undefined) return dateOf(Date.parse(at));
  return dateOf(Date.parse(`${date}T${time}${fraction && `.${fraction}`}${hours}:${minutes}`));
}

/** Returns null for a time before 1970 or outside the range of a Date. */
function dateOf(milliseconds: number): Date | null {
  return milliseconds >= 0 && milliseconds <= MAX_SECONDS * 1000 ? new Date(milliseconds) : null;
}
