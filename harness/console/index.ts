/** The register as pages and as an API: who may get traffic, and what an operator with a token may do about it. */
export type { ConsoleQueue } from './actions.ts';
export { type ConsoleOptions, openConsole, type RunningConsole } from './server.ts';
export { Tokens } from './tokens.ts';
