/** The logger interface that the receiver uses. `createLogger` in observe/ creates one. */

/** A pino logger implements this interface. */
export interface ReceiverLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export const silentLogger: ReceiverLogger = { info() {}, warn() {}, error() {} };

/**
 * Converts an error to log fields. The error object itself is not logged, because HTTP clients attach the whole request
 * to theirs, including the credentials.
 */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  return { name: error.name, message: error.message, stack: error.stack };
}
