/** The sender core. Package export `hookproof/sender`. */

// To make notifications and deliver them.

export { type AddressPolicy, type Pin, type PinOptions, pinEndpoint } from '../net/index.ts';
export type {
  Answer,
  Attempt,
  Prepared,
  Timings,
  TransportError,
  TransportErrorKind,
  TransportPhase,
} from './attempt.ts';
export { type CheckedPartner, checkPartner, isLoopback } from './check-partner.ts';
export { type NotificationSource, notificationsFor } from './notifications-for.ts';
export type { Partner } from './partner.ts';
export { prepare } from './prepare.ts';
export { type Delivery, deliverWithRetry, isRetryable, type RetryOptions, type RetryPolicy } from './retry.ts';
export { createSender, type DeliverOptions, deliver, type Sender, type SenderOptions } from './sender.ts';
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

// The stages one by one, for the harness, whose probes replace one of them.

export { type Addressed, address } from './address.ts';
export { alertNameOf, isAboutClientCertificate } from './alerts.ts';
export { type ConnectionOptions, type Connections, createConnections } from './connections.ts';
export { type Endpoint, endpointOf } from './endpoint.ts';
export { type BodyWriter, type ExchangeLimits, type ExchangeOptions, exchange } from './exchange.ts';
export { serialise } from './serialise.ts';
export { sign } from './sign.ts';
export { type TlsOptions, tlsOptionsFor } from './tls-options.ts';
export { classifyTransportError, TIMEOUT_CODE } from './transport-error.ts';
export { trustedRoots } from './trusted-roots.ts';
