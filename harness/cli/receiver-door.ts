/** The one door between the harness and the receiver: the commands that serve the reference receiver go through its public face. */
export {
  type ClientCertificateOption,
  createLogger,
  ENTRY_STATES,
  type EntryFilter,
  type EntryState,
  type EntrySummary,
  type Handlers,
  type InboxArchive,
  type InboxEntry,
  openArchive,
  openInbox,
  type ReceiverLogger,
  type ServerTls,
  startReceiver as openReceiver,
} from '../../receiver/index.ts';
