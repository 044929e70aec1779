/** What a receiver has after reading a notification. */
import * as z from 'zod';
import { notificationId } from './envelope-fields.ts';
import type { JsonObject } from './json.ts';
import type { NotificationKind } from './notification-kinds.ts';
import type { SHAPES } from './shapes.ts';

/** The kinds, and UNKNOWN for a `type` (or a `data.type` of CAAS) that is not listed: the service may add some. */
export type ReceivedKind = NotificationKind | 'UNKNOWN';

/**
 * What a known kind reads as: `id`, `type`, `at` as a Date, and `data` in which absent, null and empty are all null.
 */
type Envelope<K extends NotificationKind> = z.output<(typeof SHAPES)[K]['received']>;

interface Received<K extends NotificationKind> {
  readonly kind: K;
  readonly id: string;
  readonly type: Envelope<K>['type'];
  readonly at: Date;
  /** The fields of the kind. Fields that are not listed are kept, though the type does not name them. */
  readonly data: Envelope<K>['data'];
  /** The notification as it came, nothing added or taken away. */
  readonly raw: JsonObject;
}

interface ReceivedUnknown {
  readonly kind: 'UNKNOWN';
  readonly id: string;
  readonly type: string;
  /** The time, when there is one that can be read. */
  readonly at: Date | null;
  readonly data: JsonObject;
  readonly raw: JsonObject;
}

/** A notification as a receiver handles it. `kind` tells which one it is and what `data` holds. */
export type ReceivedNotification = { [K in NotificationKind]: Received<K> }[NotificationKind] | ReceivedUnknown;

/** The notification of one kind. */
export type ReceivedOf<K extends ReceivedKind> = Extract<ReceivedNotification, { kind: K }>;

/** The envelope alone: all that can be asked of a notification of an unknown kind. */
export const envelope = z.looseObject({
  id: notificationId.received,
  type: z.string().min(1),
  data: z.looseObject({}),
});
