/** The one door between the harness and the receiver: the commands that serve the reference receiver go through its public face. */
export {
  type ClientCertificateOption,
  createLogger,
  createMetrics,
  type Handlers,
  type Inbox,
  memoryInbox,
  openInbox,
  type ReceiverLogger,
  type ServerLimits,
  type ServerTimeouts,
  type ServerTls,
  startAdminServer,
  startInspector,
  startReceiver as openReceiver,
} from '../../receiver/index.ts';
