/** Notifications about buy and sell orders, and the refund that may follow. Specification: type = CAAS; type = REFUND. */
import { HookproofError, type Notification, type NotificationType, type OrderStatus } from '../../contract/index.ts';
import type {
  ErrorDetails,
  OrderAcceptedByBlockchain,
  OrderFailed,
  OrderStatusChanged,
  RefundOutcome,
} from './service-event.ts';

/** Makes the envelope of a notification: a fresh id, the type, and the time in the form of the type. */
export type EnvelopeFor = <T extends NotificationType>(
  type: T,
) => { id: string; type: T; at: Extract<Notification, { type: T }>['at'] };

type AnyOrderEvent = OrderStatusChanged | OrderAcceptedByBlockchain | OrderFailed;

/** The types keep the two other statuses out; an event that was read from JSON may hold them all the same. */
const WITH_EVENTS_OF_THEIR_OWN: ReadonlySet<OrderStatus> = new Set(['BLOCKCHAIN_ACCEPTED', 'FAILED']);

export function orderStatusChanged(event: OrderStatusChanged, envelope: EnvelopeFor): Notification[] {
  if (WITH_EVENTS_OF_THEIR_OWN.has(event.status)) {
    throw refusal(
      `The event order-status-changed has the status ${event.status}.`,
      'BLOCKCHAIN_ACCEPTED comes with order-accepted-by-blockchain, and FAILED with order-failed.',
    );
  }
  return [orderNotification(event, event.status, event.blockchainData, null, envelope)];
}

export function orderAccepted(event: OrderAcceptedByBlockchain, envelope: EnvelopeFor): Notification[] {
  const { blockchainTransactionId, blockchainData } = event;
  if (!blockchainTransactionId) {
    throw refusal(
      'The event order-accepted-by-blockchain has no hash.',
      'Raise it once the hash is known, and give it.',
    );
  }
  const { blockchainTransactionId: _early, ...before } = blockchainData;
  return [
    orderNotification(event, 'BLOCKCHAIN_ACCEPTED', before, null, envelope),
    orderNotification(event, 'BLOCKCHAIN_ACCEPTED', { ...before, blockchainTransactionId }, null, envelope),
  ];
}

export function orderFailed(event: OrderFailed, envelope: EnvelopeFor): Notification[] {
  const { orderType, error, externalSell } = event;
  if (externalSell === undefined) return [orderNotification(event, 'FAILED', event.blockchainData, error, envelope)];
  if (orderType !== 'SELL') {
    throw refusal('The event order-failed has external sell details on a buy.', 'Leave externalSell out.');
  }
  const { cryptoReceived, refundWalletAddress, refund } = externalSell;
  const due = cryptoReceived && Boolean(refundWalletAddress);
  if (due && refund === undefined) {
    throw refusal(
      'The event order-failed calls for a refund and does not say what became of it.',
      'Raise it once the refund has worked or failed, and give externalSell.refund.',
    );
  }
  if (!due && refund !== undefined) {
    throw refusal(
      'The event order-failed has a refund that there can be no reason for.',
      'A refund needs crypto that was received and a refund wallet that was given.',
    );
  }
  const blockchainData = refundWalletAddress ? { ...event.blockchainData, refundWalletAddress } : event.blockchainData;
  const failure = orderNotification(event, 'FAILED', blockchainData, error, envelope);
  if (refund === undefined || !refundWalletAddress) return [failure];
  return [failure, refundNotification(event, refund, refundWalletAddress, envelope)];
}

function orderNotification(
  { orderType, providerId, transactionId }: AnyOrderEvent,
  orderStatus: OrderStatus,
  blockchainData: AnyOrderEvent['blockchainData'],
  error: ErrorDetails | null,
  envelope: EnvelopeFor,
): Notification {
  const notification = {
    ...envelope('CAAS'),
    data: {
      type: orderType,
      providerId,
      transactionId,
      metadata: { orderStatus, blockchainData },
      errorData: error === null ? null : { code: error.code, message: error.message },
    },
  };
  // The compiler does not carry the union of order types over to the union of notifications.
  return notification as Notification;
}

function refundNotification(
  { providerId, transactionId }: OrderFailed,
  refund: RefundOutcome,
  walletAddress: string,
  envelope: EnvelopeFor,
): Notification {
  const { status, amount, currency } = refund;
  const common = { providerId, transactionId, status };
  if (refund.status === 'SUCCESS') {
    const { blockchainTransactionId } = refund;
    const metadata = { blockchainTransactionId, amount, currency, walletAddress };
    return { ...envelope('REFUND'), data: { ...common, metadata, errorData: null } };
  }
  const { code, message } = refund.error;
  const metadata = { amount, currency, walletAddress };
  return { ...envelope('REFUND'), data: { ...common, metadata, errorData: { code, message } } };
}

function refusal(message: string, hint: string): HookproofError {
  return new HookproofError('EVENT_INVALID', message, { hint });
}
