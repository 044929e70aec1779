/** What several shapes share. Specification: Notification envelope; Error objects in notifications. */
import * as z from 'zod';
import { notificationId } from './envelope-fields.ts';
import { ERROR_CODE_FORM } from './error-codes.ts';
import { discriminator, type Field, group, optionalInReading, requiredText, text } from './fields.ts';
import type { NotificationType } from './notification-kinds.ts';

/** The envelope around `data`. */
export function notification<T extends NotificationType, A extends Field, D extends Field>(type: T, at: A, data: D) {
  return group(
    { id: notificationId, type: discriminator(type, 'What the notification is about.'), at, data },
    'A notification.',
  );
}

export const providerId = text('The payment provider, by the identifier that the operator gives out.');
export const transactionId = requiredText(
  "The transaction, by the partner's own identifier from the request that created it.",
);

/** What went wrong. The sender fills it only on a failure; a receiver can do without any part of it. */
export function errorData(description: string) {
  const { emitted, received } = optionalInReading(
    group(
      {
        code: text(
          'The error code. The listed codes are examples: others may follow.',
          z.string().regex(ERROR_CODE_FORM),
        ),
        message: text('The error in words.'),
      },
      description,
    ),
  );
  return { emitted: emitted.nullable(), received };
}
