/** The logger interface of the receiver. `createLogger` in observe/ creates a logger. */

/** A subset of the interface of a pino logger. */
export interface ReceiverLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: ReceiverLogger = { info() {}, warn() {}, error() {} };

/**
 * Converts an error to log fields. The error object itself is not logged, because the errors of HTTP clients contain
 * the whole request, including its credentials.
 */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  return { name: error.name, message: error.message, stack: error.stack };
}
