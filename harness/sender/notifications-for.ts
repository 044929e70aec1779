/**
 * Turns an event of the service into the notifications for a partner. Specification: States and transitions; Events.
 */

import { randomUUID } from 'node:crypto';
import {
  emittedNotification,
  HookproofError,
  NOTIFIED_PAYMENT_METHOD_STATUSES,
  type Notification,
  type NotificationType,
  type OrderStatus,
} from '../../contract/index.ts';
import type {
  CustomerOnboarded,
  DepositConfirmed,
  ErrorDetails,
  OrderAcceptedByBlockchain,
  OrderFailed,
  OrderStatusChanged,
  OrderTrackingReported,
  PaymentMethodStatusChanged,
  RefundOutcome,
  ServiceEvent,
} from './service-event.ts';

/** The source of ids and times. */
export interface NotificationSource {
  /** Returns a new UUID. Default: random. */
  readonly newId?: () => string;
  readonly now?: () => Date;
}

/** Types whose `at` is ISO 8601 text; for the others it is whole epoch seconds. */
const ISO_TIME: ReadonlySet<NotificationType> = new Set(['WALLET', 'CAAS_BLOCKCHAIN']);

/** Creates the envelope of a notification: a new id, the type, and the time in the format of the type. */
type EnvelopeFor = <T extends NotificationType>(
  type: T,
) => { id: string; type: T; at: Extract<Notification, { type: T }>['at'] };

type AnyOrderEvent = OrderStatusChanged | OrderAcceptedByBlockchain | OrderFailed;

/** Statuses that have separate events. The type excludes them, but an event read from JSON may contain them. */
const STATUSES_OF_OTHER_EVENTS: ReadonlySet<OrderStatus> = new Set(['BLOCKCHAIN_ACCEPTED', 'FAILED']);

/**
 * Returns the notifications that an event leads to, in delivery order. The list is empty for most statuses of a payment
 * method, for tracking by a provider without a physical site, and for wallets of a partner without the wallet feature.
 *
 * - A sell from an external wallet that fails after the crypto was received, with a refund wallet given: the failure,
 *   then the refund.
 * - An order accepted by the blockchain: the acceptance without a hash, then the same status with the hash.
 * - An onboarded customer: one notification per wallet.
 *
 * @throws HookproofError EVENT_INVALID if the event contradicts itself or lacks data that a notification needs
 */
export function notificationsFor(event: ServiceEvent, source: NotificationSource = {}): Notification[] {
  const { newId = randomUUID, now = () => new Date() } = source;
  const time = now();
  const envelope = (type: NotificationType) => ({
    id: newId(),
    type,
    at: ISO_TIME.has(type) ? time.toISOString() : Math.floor(time.getTime() / 1000),
  });
  return compose(event, envelope as EnvelopeFor).map((notification) => validated(notification, event));
}

function compose(event: ServiceEvent, envelope: EnvelopeFor): Notification[] {
  switch (event.event) {
    case 'order-status-changed':
      return orderStatusChanged(event, envelope);
    case 'order-accepted-by-blockchain':
      return orderAccepted(event, envelope);
    case 'order-failed':
      return orderFailed(event, envelope);
    case 'order-tracking-reported':
      return event.physicalSite ? [orderTracking(event, envelope)] : [];
    case 'payment-method-status-changed':
      return paymentMethod(event, envelope);
    case 'customer-onboarded':
      return event.walletFeature ? wallets(event, envelope) : [];
    case 'deposit-confirmed':
      return [deposit(event, envelope)];
    default:
      return unknownEvent(event);
  }
}

function unknownEvent(_event: never): never {
  throw invalidEvent('The event has an unknown kind.', 'Set the field `event` to one of the kinds in ServiceEvent.');
}

function orderTracking(event: OrderTrackingReported, envelope: EnvelopeFor): Notification {
  return {
    ...envelope('CAAS'),
    data: {
      type: 'ORDER_TRACKING',
      providerId: event.providerId,
      transactionId: event.transactionId,
      metadata: {
        orderType: event.orderType,
        providerTransactionId: event.providerTransactionId,
        providerTransactionRef: event.providerTransactionRef,
        providerTransactionStatus: event.status,
        trackingStateDescription: event.description,
      },
      errorData: null,
    },
  };
}

function paymentMethod(event: PaymentMethodStatusChanged, envelope: EnvelopeFor): Notification[] {
  const status = NOTIFIED_PAYMENT_METHOD_STATUSES.find((notified) => notified === event.status);
  if (status === undefined) return [];
  const { paymentMethodId, accountId, errorCode } = event;
  const data = { status, paymentMethodId, accountId };
  return [
    {
      ...envelope('PAYMENT_METHOD'),
      data: status === 'DECLINED' && errorCode !== undefined ? { ...data, errorCode } : data,
    },
  ];
}

function wallets({ customerId, wallets }: CustomerOnboarded, envelope: EnvelopeFor): Notification[] {
  return wallets.map(({ walletAddress, assetId, chain }) => ({
    ...envelope('WALLET'),
    data: { operation: 'WALLET_CREATED', customerId, walletAddress, assetId, chain },
  }));
}

function deposit(event: DepositConfirmed, envelope: EnvelopeFor): Notification {
  const { status, partnerTransactionId, customerId, sourceAddress, destinationAddress, asset, via } = event;
  if (via.ledger === 'blockchain' && !via.blockchainTransactionId) {
    const hint = 'Set via.blockchainTransactionId, or set via.ledger to custodial.';
    throw invalidEvent('The event deposit-confirmed is on a blockchain but has no hash.', hint);
  }
  const hash = via.blockchainTransactionId;
  return {
    ...envelope('CAAS_BLOCKCHAIN'),
    data: {
      type: 'RECEIVE',
      status,
      partnerTransactionId,
      customerId,
      metadata: {
        sourceAddress,
        destinationAddress,
        asset: { amount: asset.amount, currency: asset.currency },
        ...(hash !== undefined && { blockchainTransactionId: hash }),
      },
    },
  };
}

/** Ensures that every notification conforms to the contract. */
function validated(notification: Notification, { event }: ServiceEvent): Notification {
  const result = emittedNotification.safeParse(notification);
  if (result.success) return notification;
  const problems = result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const message = `The event ${event} does not yield a valid notification: ${problems.join('; ')}.`;
  throw invalidEvent(message, 'Correct the fields of the event that these values are taken from.');
}

function orderStatusChanged(event: OrderStatusChanged, envelope: EnvelopeFor): Notification[] {
  if (STATUSES_OF_OTHER_EVENTS.has(event.status)) {
    const hint = 'Use order-accepted-by-blockchain for BLOCKCHAIN_ACCEPTED, and order-failed for FAILED.';
    throw invalidEvent(`The event order-status-changed has the status ${event.status}.`, hint);
  }
  return [orderNotification(event, event.status, event.blockchainData, null, envelope)];
}

function orderAccepted(event: OrderAcceptedByBlockchain, envelope: EnvelopeFor): Notification[] {
  const { blockchainTransactionId, blockchainData } = event;
  if (!blockchainTransactionId) {
    const hint = 'Raise the event once the hash is known, and set blockchainTransactionId.';
    throw invalidEvent('The event order-accepted-by-blockchain has no hash.', hint);
  }
  const { blockchainTransactionId: _removed, ...before } = blockchainData;
  return [
    orderNotification(event, 'BLOCKCHAIN_ACCEPTED', before, null, envelope),
    orderNotification(event, 'BLOCKCHAIN_ACCEPTED', { ...before, blockchainTransactionId }, null, envelope),
  ];
}

function orderFailed(event: OrderFailed, envelope: EnvelopeFor): Notification[] {
  const { orderType, error, externalSell } = event;
  if (externalSell === undefined) return [orderNotification(event, 'FAILED', event.blockchainData, error, envelope)];
  if (orderType !== 'SELL') {
    throw invalidEvent('The event order-failed has externalSell on a buy order.', 'Remove externalSell.');
  }
  const { cryptoReceived, refundWalletAddress, refund } = externalSell;
  const refundExpected = cryptoReceived && Boolean(refundWalletAddress);
  if (refundExpected && refund === undefined) {
    const hint = 'Raise the event once the refund has succeeded or failed, and set externalSell.refund.';
    throw invalidEvent('The event order-failed requires a refund but does not contain its outcome.', hint);
  }
  if (!refundExpected && refund !== undefined) {
    const hint = 'Remove externalSell.refund, or set cryptoReceived and refundWalletAddress.';
    throw invalidEvent('The event order-failed has a refund without a reason for one.', hint);
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

function invalidEvent(message: string, hint: string): HookproofError {
  return new HookproofError('EVENT_INVALID', message, { hint });
}
