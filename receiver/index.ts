// Entry point for partners: run a receiver, or use its checks in your own application.
export type { ConnectionObserver, DropReason, ServerLimits } from './budget.ts';
export { type ApiKeyCheck, checkApiKey } from './check-api-key.ts';
export {
  type ClientCertificateCheck,
  type ClientConnection,
  checkClientCertificate,
  checkForwardedCertificate,
} from './check-client-certificate.ts';
export { createReceiver, type Receiver } from './create-receiver.ts';
export type { DeliveryObserver, DeliveryReport } from './delivery-report.ts';
export { type Decimals, effectHandlers, effectOf } from './effects/effect-of.ts';
export { type Effect, type EffectsRecord, fileEffects, memoryEffects } from './effects/effects-record.ts';
export { type EffectsWindow, type EffectsWindowOptions, startEffectsWindow } from './effects/effects-window.ts';
export type { Handler, HandlerContext, Handlers, HandlingPolicy } from './handling/handlers.ts';
export type { InboxArchive } from './inbox/entries.ts';
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
  type InboxMeter,
  type OrderProgress,
  type OrderStep,
  type Settlement,
} from './inbox/inbox.ts';
export { memoryInbox } from './inbox/memory-inbox.ts';
export type { NotificationSink, SinkDelivery, SinkResult } from './inbox/notification-sink.ts';
export { openArchive, openInbox } from './inbox/open-inbox.ts';
export {
  type DeliverySummary,
  type InspectorOptions,
  type RunningInspector,
  startInspector,
} from './inspector/index.ts';
export { type ReceiverLogger, silentLogger } from './logger.ts';
export { type AdminOptions, type AdminServer, type ReadinessCheck, startAdminServer } from './observe/admin-server.ts';
export { createLogger } from './observe/create-logger.ts';
export { createMetrics, type QueueDepths, type ReceiverMetrics } from './observe/metrics.ts';
export type { ClientCertificateOption, ReceiverOptions } from './options.ts';
export type { ServerTimeouts } from './server/timeouts.ts';
export type { ServerTls } from './server/tls.ts';
export { type RunningReceiver, type ServerOptions, startReceiver } from './start-receiver.ts';
export { type SignatureCheck, verifySignature } from './verify-signature.ts';
