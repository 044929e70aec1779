// For commands that read an inbox next to its receivers: nothing here knows requests, so nothing of a server is
// loaded.
export type { InboxArchive } from './entries.ts';
export { ENTRY_STATES, type EntryFilter, type EntryState, type EntrySummary, type InboxEntry } from './inbox.ts';
export { openArchive } from './open-inbox.ts';
