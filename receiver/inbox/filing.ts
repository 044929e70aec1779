/** How a notification is filed: the keys by which it is found, and its place among those of the same transaction. */
import { createHash } from 'node:crypto';
import type { ReceivedNotification } from '../../contract/index.ts';
import type { AcceptedDelivery, OrderStep } from './inbox.ts';

/** The columns of a new entry. Times in milliseconds since 1970. */
export interface Filing {
  readonly id: string;
  readonly kind: string;
  readonly type: string;
  readonly transactionId: string | null;
  readonly status: string | null;
  readonly at: number | null;
  readonly receivedAt: number;
  /** The place among the notifications of a transaction: smaller is handled first. */
  readonly position: number;
  readonly state: 'pending' | 'done';
  readonly waitMs: number;
  readonly rawBody: Buffer;
}

/** The order in which the statuses of an order follow one another. The last three are final. Specification: Order status. */
const RANKS: ReadonlyMap<string, number> = new Map([
  ['CREATED', 1],
  ['PENDING', 2],
  ['BLOCKCHAIN_ACCEPTED', 3],
  ['CONFIRMED', 4],
  ['COMPLETED', 4],
  ['FAILED', 4],
]);

/** A REFUND comes after everything else of its transaction, whatever its time says. */
const AFTER_ALL = 8e15;
const RANKS_A_MILLISECOND = 8;
/** Later times, from the year 5138 on, share one place: with more, the place of a REFUND would be no whole number that JavaScript can hold. */
const LATEST_PLACE = 8e14;
const MAX_KEY_LENGTH = 200;

export function fileDelivery({ notification, rawBody, receivedAt, handle, waitMs = 0 }: AcceptedDelivery): Filing {
  const { id, kind, type, at } = notification;
  const status = statusOf(notification);
  const transactionId = transactionOf(notification);
  const time = at?.getTime() ?? receivedAt.getTime();
  const rank = (status !== null && RANKS.get(status)) || 0;
  return {
    id: storableKey(id),
    kind,
    type: storableKey(type),
    transactionId: transactionId === null ? null : storableKey(transactionId),
    status: status === null ? null : storableKey(status),
    at: at?.getTime() ?? null,
    receivedAt: receivedAt.getTime(),
    position: (kind === 'REFUND' ? AFTER_ALL : 0) + Math.min(time * RANKS_A_MILLISECOND + rank, LATEST_PLACE),
    state: handle ? 'pending' : 'done',
    waitMs,
    rawBody,
  };
}

/** Where an order stands after this notification, by the key of the order. Null when it says nothing about that. */
export function orderStep(notification: ReceivedNotification): OrderStep | null {
  if (notification.kind !== 'CAAS_BUY' && notification.kind !== 'CAAS_SELL') return null;
  const { transactionId, metadata, errorData } = notification.data;
  const rank = RANKS.get(metadata.orderStatus ?? '');
  const failed = metadata.orderStatus === 'FAILED' || errorData !== null;
  if (transactionId === null || (rank === undefined && !failed)) return null;
  return {
    key: orderKey(notification.kind, storableKey(transactionId)),
    rank: rank ?? 0,
    at: notification.at.getTime(),
    failed,
  };
}

/** A buy and a sell are two orders, even when a partner gives both the same id. `transactionId` is the stored one. */
function orderKey(kind: 'CAAS_BUY' | 'CAAS_SELL', transactionId: string): string {
  return `${kind} ${transactionId}`;
}

/**
 * A text as every database can keep it in an index: PostgreSQL takes no NUL and no lone surrogate, and nothing long. Different texts stay different. The body
 * has the original.
 */
export function storableKey(text: string): string {
  const plain = text.length <= MAX_KEY_LENGTH && !/[\0\p{Surrogate}]/u.test(text);
  if (plain && !text.startsWith('"') && !text.startsWith('sha256:')) return text;
  const quoted = JSON.stringify(text);
  if (quoted.length <= MAX_KEY_LENGTH) return quoted;
  return `sha256:${createHash('sha256').update(quoted).digest('hex')}`;
}

function transactionOf(notification: ReceivedNotification): string | null {
  switch (notification.kind) {
    case 'CAAS_BUY':
    case 'CAAS_SELL':
    case 'CAAS_ORDER_TRACKING':
    case 'REFUND':
      return notification.data.transactionId;
    case 'CAAS_BLOCKCHAIN':
      return notification.data.partnerTransactionId;
    case 'PAYMENT_METHOD':
      return notification.data.paymentMethodId;
    default:
      return null;
  }
}

function statusOf(notification: ReceivedNotification): string | null {
  switch (notification.kind) {
    case 'CAAS_BUY':
    case 'CAAS_SELL':
      return notification.data.metadata.orderStatus;
    case 'CAAS_ORDER_TRACKING':
      return notification.data.metadata.providerTransactionStatus;
    case 'REFUND':
    case 'PAYMENT_METHOD':
    case 'CAAS_BLOCKCHAIN':
      return notification.data.status;
    default:
      return null;
  }
}
