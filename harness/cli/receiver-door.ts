/** The one door between the harness and the receiver: the commands that serve the reference receiver go through its public face. */
export {
  type ClientCertificateOption,
  createLogger,
  type Handlers,
  openInbox,
  type ReceiverLogger,
  type ServerTls,
  startInspector,
  startReceiver as openReceiver,
} from '../../receiver/index.ts';
