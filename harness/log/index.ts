/** What the log of a receiver reveals: read while a run goes on. */
export {
  createLogValues,
  type Hit,
  type LogCredentials,
  type LogValues,
  type Misplaced,
  type SentRequest,
} from './log-values.ts';
export { type LogResult, type LogWatch, watchLogs } from './watch-logs.ts';
