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
export type { Handler, HandlerContext, Handlers } from './handling/handlers.ts';
export type { HandlingPolicy } from './handling/handling-policy.ts';
export type { InboxArchive } from './inbox/archive.ts';
export {
  type AcceptedDelivery,
  type ClaimedEntry,
  type DurableInbox,
  ENTRY_STATES,
  type EntryFilter,
  type EntryPage,
  type EntryState,
  type EntrySummary,
  type Inbox,
  type InboxEntry,
  type OrderProgress,
  type OrderStep,
  type Settlement,
} from './inbox/inbox.ts';
export { memoryInbox } from './inbox/memory-inbox.ts';
export type { InboxMeter } from './inbox/meter.ts';
export { openArchive } from './inbox/open-archive.ts';
export { openInbox } from './inbox/open-inbox.ts';
export { type InspectorOptions, type RunningInspector, startInspector } from './inspector/index.ts';
export { createLogger, type ReceiverLogger, silentLogger } from './logger.ts';
export { type AdminOptions, type AdminServer, startAdminServer } from './observe/admin-server.ts';
export { createMetrics, type QueueDepths, type ReceiverMetrics } from './observe/metrics.ts';
export type { ReadinessCheck } from './observe/readiness.ts';
export type { ReceiverOptions } from './options.ts';
export type { RunningServer, ServerOptions } from './serve.ts';
export type { ServerLimits, ServerTimeouts } from './server-limits.ts';
export type { ServerTls } from './server-tls.ts';
export { type RunningReceiver, startReceiver } from './start-receiver.ts';
export { type SignatureCheck, verifySignature } from './verify-signature.ts';
