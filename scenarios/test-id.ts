import { randomUUID } from 'node:crypto';

/** Every id of a test notification starts with this, so that a partner can find and purge them. */
export const TEST_ID_PREFIX = '7e57ca5e';

/** A new notification id (UUID) that can be told from real ones. */
export function newTestId(): string {
  return `${TEST_ID_PREFIX}${randomUUID().slice(8)}`;
}
