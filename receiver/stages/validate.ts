import { readNotification } from '../../contract/index.ts';
import { refuse, required, type Stage } from './stage.ts';

/** How many issues an answer lists. They name fields of ours and quote no value, so each of them is short. */
const MAX_ISSUES = 10;

/**
 * Stage 8: reads the JSON value as a notification. Specification: Resources and their fields. What the receiver does not
 * know (a type, a status, a field, an error code) is accepted: only what cannot be understood is refused with 400.
 */
export const validate: Stage = (_req, res, next) => {
  const reading = readNotification(required(res, 'payload'));
  if (!reading.ok) {
    return refuse(res, 400, 'not-a-notification', { detail: { issues: reading.issues.slice(0, MAX_ISSUES) } });
  }
  res.locals.notification = reading.notification;
  next();
};
