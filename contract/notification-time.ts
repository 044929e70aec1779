/** Reading the time of a notification, in whichever sensible form it comes. Specification: Notification envelope. */

/** The largest number of seconds that a Date can hold. */
export const LATEST_SECONDS = 8.64e12;

/** Epoch seconds as text, or an ISO 8601 date, with or without time, fraction and offset. */
export const READABLE_TIME =
  /^(?:[0-9]{1,13}(?:\.[0-9]+)?|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?)$/;

const DATE_AND_TIME = /^(.{10}).([0-9:]+)(?:[.,]([0-9]+))?(?:[Zz]|([+-][0-9]{2}):?([0-9]{2}))?$/;

/**
 * The time as a Date, or null when it is none. A number is in seconds and may have a fraction. A text without an offset
 * is in UTC: the service sends UTC, and `Date.parse` alone would take it for local time.
 */
export function readTime(at: unknown): Date | null {
  if (typeof at === 'number') return dateOf(at * 1000);
  if (typeof at !== 'string' || !READABLE_TIME.test(at)) return null;
  if (!at.includes('-')) return dateOf(Number(at) * 1000);
  const [, date, time, fraction = '', hours = '+00', minutes = '00'] = DATE_AND_TIME.exec(at) ?? [];
  if (date === undefined) return dateOf(Date.parse(at));
  return dateOf(Date.parse(`${date}T${time}${fraction && `.${fraction}`}${hours}:${minutes}`));
}

/** No date before 1970 or beyond what a Date can hold is the time of a notification. */
function dateOf(milliseconds: number): Date | null {
  return milliseconds >= 0 && milliseconds <= LATEST_SECONDS * 1000 ? new Date(milliseconds) : null;
}
