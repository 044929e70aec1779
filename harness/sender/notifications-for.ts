/** From what happens in the service to what partners are told. Specification: States and transitions; Events. */
import { randomUUID } from 'node:crypto';
import {
  emittedNotification,
  HookproofError,
  NOTIFIED_PAYMENT_METHOD_STATUSES,
  type Notification,
  type NotificationType,
} from '../../contract/index.ts';
import { type EnvelopeFor, orderAccepted, orderFailed, orderStatusChanged } from './order-notifications.ts';
import type {
  CustomerOnboarded,
  DepositConfirmed,
  OrderTrackingReported,
  PaymentMethodStatusChanged,
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
