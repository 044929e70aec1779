/** The door to the inbox of the receiver, for the commands that look into one: they start without the receiver's server. */
export {
  ENTRY_STATES,
  type EntryFilter,
  type EntryState,
  type EntrySummary,
  type InboxArchive,
  type InboxEntry,
  openArchive,
} from '../../receiver/inbox/index.ts';
