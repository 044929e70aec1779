/** The logger that the receiver uses. `createLogger` in observe/ creates one. */

/** A pino logger is one. */
export interface ReceiverLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Logs nothing. */
export const silentLogger: ReceiverLogger = { info() {}, warn() {}, error() {} };

/**
 * An error as log fields. The error object itself is not logged: HTTP clients attach the whole request to theirs,
 * including the credentials.
 */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  return { name: error.name, message: error.message, stack: error.stack };
}
