/** Defines how a notification is stored: its keys, and its position in its transaction. */
import { createHash } from 'node:crypto';
import type { ReceivedNotification } from '../../contract/index.ts';
import type { AcceptedDelivery, OrderStep } from './inbox.ts';

/** Columns of a new entry. Times are in milliseconds since 1970. */
export interface InboxRow {
  readonly id: string;
  readonly kind: string;
  readonly type: string;
  readonly transactionId: string | null;
  readonly status: string | null;
  readonly at: number | null;
  readonly receivedAt: number;
  /** Position among the notifications of a transaction. Lower positions are handled first. */
  readonly position: number;
  readonly state: 'pending' | 'done';
  readonly waitMs: number;
  readonly rawBody: Buffer;
}

/** Rank of the statuses that are final: the order no longer changes. */
export const FINAL_RANK = 4;

/** Ranks of the statuses of an order, in the order in which they occur. Specification: Order status. */
const RANKS: ReadonlyMap<string, number> = new Map([
  ['CREATED', 1],
  ['PENDING', 2],
  ['BLOCKCHAIN_ACCEPTED', 3],
  ['CONFIRMED', FINAL_RANK],
  ['COMPLETED', FINAL_RANK],
  ['FAILED', FINAL_RANK],
]);

/** Added to the position of a REFUND, which follows everything else in its transaction, whatever its time. */
const REFUND_OFFSET = 8e15;
const RANKS_PER_MS = 8;
/**
 * Maximum position without the offset. Times from the year 5138 on share it, so that the position of a REFUND remains a
 * safe integer.
 */
const MAX_POSITION = 8e14;
const MAX_KEY_LENGTH = 200;

export function toInboxRow({ notification, rawBody, receivedAt, handle, waitMs = 0 }: AcceptedDelivery): InboxRow {
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
    position: (kind === 'REFUND' ? REFUND_OFFSET : 0) + Math.min(time * RANKS_PER_MS + rank, MAX_POSITION),
    state: handle ? 'pending' : 'done',
    waitMs,
    rawBody,
  };
}

/** Returns the progress of an order that a notification reports, or null when it reports none. */
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

/**
 * Returns the key of an order. A buy and a sell are two orders, even when a partner uses the same id for both.
 * `transactionId` is the id as stored.
 */
function orderKey(kind: 'CAAS_BUY' | 'CAAS_SELL', transactionId: string): string {
  return `${kind} ${transactionId}`;
}

/**
 * Converts a text to a key that every database can index: PostgreSQL accepts neither NUL nor lone surrogates nor long
 * keys. Different texts have different keys. The original is in the stored body.
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
