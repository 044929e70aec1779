/** The console: serves the register as web pages and as an API, and lets operators with a token change it. */
export type { ConsoleQueue } from './actions.ts';
export { type ConsoleOptions, openConsole, type RunningConsole } from './server.ts';
export { Tokens } from './tokens.ts';
