// For commands that read an inbox while receivers use it. This module loads no part of a server.
export type { InboxArchive } from './entries.ts';
export { ENTRY_STATES, type EntryFilter, type EntryState, type EntrySummary, type InboxEntry } from './inbox.ts';
export { openArchive } from './open-inbox.ts';
