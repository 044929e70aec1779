/**
 * Types, kinds and statuses of notifications. Specification: Notification envelope; Events; States and transitions.
 *
 * `type` is a field of the envelope. A *kind* is the `type`, combined with `data.type` for CAAS, so each kind has one
 * fixed shape of `data`.
 */

/** Every value of `type`. */
export const NOTIFICATION_TYPES = ['CAAS', 'PAYMENT_METHOD', 'REFUND', 'CAAS_BLOCKCHAIN', 'WALLET'] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

export const NOTIFICATION_KINDS = [
  'CAAS_BUY',
  'CAAS_SELL',
  'CAAS_ORDER_TRACKING',
  'REFUND',
  'PAYMENT_METHOD',
  'WALLET',
  'CAAS_BLOCKCHAIN',
] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

const KIND_BY_TYPE: ReadonlyMap<string, NotificationKind> = new Map([
  ['REFUND', 'REFUND'],
  ['PAYMENT_METHOD', 'PAYMENT_METHOD'],
  ['WALLET', 'WALLET'],
  ['CAAS_BLOCKCHAIN', 'CAAS_BLOCKCHAIN'],
]);

const KIND_BY_CAAS_TYPE: ReadonlyMap<unknown, NotificationKind> = new Map([
  ['BUY', 'CAAS_BUY'],
  ['SELL', 'CAAS_SELL'],
  ['ORDER_TRACKING', 'CAAS_ORDER_TRACKING'],
]);

/** Finds the kind for a `type` and a `data.type` (only CAAS uses it). Returns undefined for unlisted values. */
export function findKind(type: string, dataType: unknown): NotificationKind | undefined {
  return type === 'CAAS' ? KIND_BY_CAAS_TYPE.get(dataType) : KIND_BY_TYPE.get(type);
}

/** A description of each status. */
type Meanings<S extends string> = Readonly<Record<S, string>>;

/** `data.metadata.orderStatus` of CAAS BUY and SELL. Receivers must accept other values too. */
export const ORDER_STATUSES = [
  'CREATED',
  'PENDING',
  'BLOCKCHAIN_ACCEPTED',
  'CONFIRMED',
  'COMPLETED',
  'FAILED',
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const ORDER_STATUS_MEANINGS: Meanings<OrderStatus> = {
  CREATED: 'The transaction exists and is in progress.',
  PENDING: 'The transaction exists, but is not on the blockchain yet.',
  BLOCKCHAIN_ACCEPTED: 'The transfer is on the blockchain; the next notification contains its hash.',
  CONFIRMED: 'The transfer is complete, and the user has it in the wallet.',
  COMPLETED: 'The transaction is finished. The specification does not state how it differs from CONFIRMED.',
  FAILED: 'The transaction failed; errorData says why.',
};

/** `data.status` of REFUND. */
export const REFUND_STATUSES = ['SUCCESS', 'FAIL'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_STATUS_MEANINGS: Meanings<RefundStatus> = {
  SUCCESS: 'The crypto was returned to the refund wallet; the notification has the hash of that transfer.',
  FAIL: 'The refund failed; errorData says why.',
};

/** `data.metadata.providerTransactionStatus` of CAAS ORDER_TRACKING. */
export const TRACKING_STATUSES = ['COMPLETED', 'EXPIRED'] as const;
export type TrackingStatus = (typeof TRACKING_STATUSES)[number];

export const TRACKING_STATUS_MEANINGS: Meanings<TrackingStatus> = {
  COMPLETED: 'The user completed the step at the physical site.',
  EXPIRED: 'The user was too late, and the provider let the transaction expire.',
};

/** Every status of a payment method. The service sends notifications for some of them only. */
export const PAYMENT_METHOD_STATUSES = ['CREATED', 'STAGED', 'VERIFIED', 'DECLINED', 'DELETED'] as const;
export type PaymentMethodStatus = (typeof PAYMENT_METHOD_STATUSES)[number];

export const PAYMENT_METHOD_STATUS_MEANINGS: Meanings<PaymentMethodStatus> = {
  CREATED: 'The payment method has been entered. No notification is sent.',
  STAGED: 'The microtransactions succeeded, and the user can now verify their amounts. A notification is sent.',
  VERIFIED: 'The payment method has been verified. No notification is sent.',
  DECLINED: 'An error occurred while the payment method was added; errorCode says which. A notification is sent.',
  DELETED: 'The payment method has been removed. No notification is sent.',
};

/** The statuses of a payment method for which notifications are sent: `data.status` of PAYMENT_METHOD. */
export const NOTIFIED_PAYMENT_METHOD_STATUSES = [
  'DECLINED',
  'STAGED',
] as const satisfies readonly PaymentMethodStatus[];
export type NotifiedPaymentMethodStatus = (typeof NOTIFIED_PAYMENT_METHOD_STATUSES)[number];

/** `data.status` of CAAS_BLOCKCHAIN. The specification lists only this value; receivers must accept others too. */
export const DEPOSIT_STATUSES = ['COMPLETED'] as const;
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number];

export const DEPOSIT_STATUS_MEANINGS: Meanings<DepositStatus> = {
  COMPLETED: 'The deposit has arrived in the custodial wallet.',
};
