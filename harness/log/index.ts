/** What the log of a receiver reveals: read while a run goes on. */
export type { SentRequest } from './echoes.ts';
export { LogValues } from './log-values.ts';
export { type LogWatch, watchLogs } from './watch-logs.ts';
