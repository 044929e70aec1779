/** Reads the log of a receiver during a run, and reports what it reveals. */
export type { SentRequest } from './echoes.ts';
export { LogValues } from './log-values.ts';
export { type LogWatch, watchLogs } from './watch-logs.ts';
