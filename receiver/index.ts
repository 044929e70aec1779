// For partners: run a receiver, or take its checks into an application of your own.
export { type ApiKeyCheck, checkApiKey } from './check-api-key.ts';
export {
  type ClientCertificateCheck,
  type ClientConnection,
  checkClientCertificate,
  checkForwardedCertificate,
} from './check-client-certificate.ts';
export type { ClientCertificateOption } from './client-certificate-option.ts';
export type { ConnectionObserver } from './connection-observer.ts';
export { createReceiver, type Receiver } from './create-receiver.ts';
export type { DeliveryObserver, DeliveryReport } from './delivery-report.ts';
export type { Handler, HandlerContext, Handlers } from './handlers.ts';
export { type AcceptedDelivery, type Inbox, memoryInbox } from './inbox.ts';
export { createLogger, type ReceiverLogger, silentLogger } from './logger.ts';
export { type AdminOptions, type AdminServer, startAdminServer } from './observe/admin-server.ts';
export type { InboxMeter, QueueDepths } from './observe/inbox-meter.ts';
export { createMetrics, type ReceiverMetrics } from './observe/metrics.ts';
export type { ReadinessCheck } from './observe/readiness.ts';
export type { ReceiverOptions } from './options.ts';
export type { RunningServer, ServerOptions } from './serve.ts';
export type { ServerLimits, ServerTimeouts } from './server-limits.ts';
export type { ServerTls } from './server-tls.ts';
export { type RunningReceiver, startReceiver } from './start-receiver.ts';
export { type SignatureCheck, verifySignature } from './verify-signature.ts';
