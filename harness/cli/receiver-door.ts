/** The one door between the harness and the receiver: the commands that serve the reference receiver go through its public face. */
export {
  type ClientCertificateOption,
  createLogger,
  createMetrics,
  type ReadinessCheck,
  type ReceiverLogger,
  type ServerLimits,
  type ServerTimeouts,
  type ServerTls,
  startAdminServer,
  startReceiver as openReceiver,
} from '../../receiver/index.ts';
