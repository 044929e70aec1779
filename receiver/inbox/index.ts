// For commands that read an inbox next to its receivers. This module does not load any part of a server.
export type { InboxArchive } from './entries.ts';
export { ENTRY_STATES, type EntryFilter, type EntryState, type EntrySummary, type InboxEntry } from './inbox.ts';
export { openArchive } from './open-inbox.ts';
