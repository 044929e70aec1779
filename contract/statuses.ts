/** Every status, with what it means. Specification: States and transitions. */

/** What orders, refunds, payment methods and the like can be, by status, with the meaning in words. */
type Meanings<S extends string> = Readonly<Record<S, string>>;

/** `data.metadata.orderStatus` of CAAS BUY and SELL. The list is open for a receiver: others may follow. */
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
  CREATED: 'The transaction exists and is being worked on.',
  PENDING: 'The transaction exists, and nothing of it is on the blockchain yet.',
  BLOCKCHAIN_ACCEPTED: 'The transfer is on the blockchain; the next notification brings its hash.',
  CONFIRMED: 'The transfer is complete, and the user has it in the wallet.',
  COMPLETED: 'The transaction is finished. The service sends this value; its difference from CONFIRMED is not stated.',
  FAILED: 'The transaction failed; errorData says why.',
};

/** `data.status` of REFUND. */
export const REFUND_STATUSES = ['SUCCESS', 'FAIL'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_STATUS_MEANINGS: Meanings<RefundStatus> = {
  SUCCESS: 'The crypto went back to the refund wallet; the notification carries the hash of that transfer.',
  FAIL: 'The refund did not work; errorData says why.',
};

/** `data.metadata.providerTransactionStatus` of CAAS ORDER_TRACKING. */
export const TRACKING_STATUSES = ['COMPLETED', 'EXPIRED'] as const;
export type TrackingStatus = (typeof TRACKING_STATUSES)[number];

export const TRACKING_STATUS_MEANINGS: Meanings<TrackingStatus> = {
  COMPLETED: 'The user has done the step at the physical site.',
  EXPIRED: 'The user came too late, and the provider has let the transaction lapse.',
};

/** Every status that a payment method can have. Most of them are never notified. */
export const PAYMENT_METHOD_STATUSES = ['CREATED', 'STAGED', 'VERIFIED', 'DECLINED', 'DELETED'] as const;
export type PaymentMethodStatus = (typeof PAYMENT_METHOD_STATUSES)[number];

export const PAYMENT_METHOD_STATUS_MEANINGS: Meanings<PaymentMethodStatus> = {
  CREATED: 'The payment method has been entered. Not notified.',
  STAGED: 'The microtransactions went through, and the user may now verify their amounts. Notified.',
  VERIFIED: 'The payment method has been verified. Not notified.',
  DECLINED: 'An error came up while the payment method was added; errorCode says which. Notified.',
  DELETED: 'The payment method has been removed. Not notified.',
};

/** The statuses of a payment method that are notified: `data.status` of PAYMENT_METHOD. */
export const NOTIFIED_PAYMENT_METHOD_STATUSES = [
  'DECLINED',
  'STAGED',
] as const satisfies readonly PaymentMethodStatus[];
export type NotifiedPaymentMethodStatus = (typeof NOTIFIED_PAYMENT_METHOD_STATUSES)[number];

/** `data.status` of CAAS_BLOCKCHAIN: only the value that is shown. The list is open: the others are not stated. */
export const DEPOSIT_STATUSES = ['COMPLETED'] as const;
export type DepositStatus = (typeof DEPOSIT_STATUSES)[number];

export const DEPOSIT_STATUS_MEANINGS: Meanings<DepositStatus> = {
  COMPLETED: 'The deposit has arrived in the custodial wallet.',
};
