/** The sender core. Package export `hookproof/sender`. */

export type { Partner } from '../partner.ts';
export {
  type AddressPolicy,
  type Answer,
  type Attempt,
  type Pin,
  type PinOptions,
  type PoolState,
  type Prepared,
  pinEndpoint,
  type Timings,
  type TransportError,
  type TransportErrorKind,
  type TransportPhase,
} from '../transport/index.ts';
export {
  adviceOnSecret,
  type CheckedPartner,
  checkPartner,
  type HeaderPlace,
  type HeaderProblem,
  PartnerHeaderError,
} from './check-partner.ts';
export { type NotificationSource, notificationsFor } from './notifications-for.ts';
export {
  type Addressed,
  address,
  prepare,
  prepareBody,
  serialise,
  sign,
  signatureLines,
  signaturesIn,
} from './prepare.ts';
export {
  createSender,
  type DeliverOptions,
  type DeliveryResult,
  deliver,
  deliverWithRetry,
  isRetryable,
  type RetryOptions,
  type RetryPolicy,
  type Sender,
  type SenderOptions,
} from './sender.ts';
export type {
  BlockchainData,
  CustomerOnboarded,
  DepositConfirmed,
  ErrorDetails,
  OrderAcceptedByBlockchain,
  OrderFailed,
  OrderStatusChanged,
  OrderTrackingReported,
  OrderType,
  PaymentMethodStatusChanged,
  RefundOutcome,
  ServiceEvent,
} from './service-event.ts';
