// Entry point for commands that read an inbox while receivers use it. Loads no part of a server.
export type { InboxArchive } from './entries.ts';
export { ENTRY_STATES, type EntryFilter, type EntryState, type EntrySummary, type InboxEntry } from './inbox.ts';
export { openArchive } from './open-inbox.ts';
