/** From what happens in the service to what partners are told. Specification: States and transitions; Events. */
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

/** Where ids and the time come from. */
export interface NotificationSource {
  /** A new UUID; random by default. */
  readonly newId?: () => string;
  readonly now?: () => Date;
}

/** Types whose `at` is ISO 8601 text; for the others it is whole epoch seconds. */
const ISO_TIME: ReadonlySet<NotificationType> = new Set(['WALLET', 'CAAS_BLOCKCHAIN']);

/**
 * The notifications that an event leads to, in the order in which they have to be delivered. None is an answer, too: most statuses of a
 * payment method, tracking by a provider without a physical site, and wallets of a partner without the feature are not notified.
 *
 * - A sell from an external wallet that fails after the crypto came in, with a refund wallet given: the failure, then the refund.
 * - An order that the blockchain has accepted: the acceptance without a hash, then the same status with the hash.
 * - A customer's onboarding: one for each wallet.
 *
 * @throws HookproofError EVENT_INVALID when the event contradicts itself, or lacks what a notification needs
 */
export function notificationsFor(event: ServiceEvent, source: NotificationSource = {}): Notification[] {
  const { newId = randomUUID, now = () => new Date() } = source;
  const time = now();
  const envelope = (type: NotificationType) => ({
    id: newId(),
    type,
    at: ISO_TIME.has(type) ? time.toISOString() : Math.floor(time.getTime() / 1000),
  });
  return compose(event, envelope as EnvelopeFor).map((notification) => checked(notification, event));
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
  throw new HookproofError('EVENT_INVALID', 'The event is of a kind that does not exist.', {
    hint: 'The member "event" names its kind: see ServiceEvent.',
  });
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
    throw new HookproofError('EVENT_INVALID', 'The event deposit-confirmed is on a blockchain and has no hash.', {
      hint: 'Give via.blockchainTransactionId, or say that the deposit was made inside the custodial ledger.',
    });
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

/** The last guard: nothing leaves that the contract would not call a notification. */
function checked(notification: Notification, { event }: ServiceEvent): Notification {
  const result = emittedNotification.safeParse(notification);
  if (result.success) return notification;
  const [issue] = result.error.issues;
  const where = issue?.path.join('.') || 'the notification';
  throw new HookproofError(
    'EVENT_INVALID',
    `The event ${event} makes no valid notification: ${where}: ${issue?.message}.`,
    {
      hint: 'Correct the member of the event that this field is taken from.',
    },
  );
}

/** Notifications about buy and sell orders, and the refund that may follow. Specification: type = CAAS; type = REFUND. */

/** Makes the envelope of a notification: a fresh id, the type, and the time in the form of the type. */
type EnvelopeFor = <T extends NotificationType>(
  type: T,
) => { id: string; type: T; at: Extract<Notification, { type: T }>['at'] };

type AnyOrderEvent = OrderStatusChanged | OrderAcceptedByBlockchain | OrderFailed;

/** The types keep the two other statuses out; an event that was read from JSON may hold them all the same. */
const WITH_EVENTS_OF_THEIR_OWN: ReadonlySet<OrderStatus> = new Set(['BLOCKCHAIN_ACCEPTED', 'FAILED']);

function orderStatusChanged(event: OrderStatusChanged, envelope: EnvelopeFor): Notification[] {
  if (WITH_EVENTS_OF_THEIR_OWN.has(event.status)) {
    throw refusal(
      `The event order-status-changed has the status ${event.status}.`,
      'BLOCKCHAIN_ACCEPTED comes with order-accepted-by-blockchain, and FAILED with order-failed.',
    );
  }
  return [orderNotification(event, event.status, event.blockchainData, null, envelope)];
}

function orderAccepted(event: OrderAcceptedByBlockchain, envelope: EnvelopeFor): Notification[] {
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

function orderFailed(event: OrderFailed, envelope: EnvelopeFor): Notification[] {
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
