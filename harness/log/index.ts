/** What the log of a receiver reveals: read while a run goes on. */
export { createLogValues, type Hit, type SentRequest } from './log-values.ts';
export { type LogWatch, watchLogs } from './watch-logs.ts';
