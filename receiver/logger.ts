/** Logs: JSON lines by pino. What is logged is chosen field by field; the redaction is a second net. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { standardOutput } from './log-destination.ts';

/** What the receiver needs of a logger. A pino logger is one. */
export interface ReceiverLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Logs nothing. */
export const silentLogger: ReceiverLogger = { info() {}, warn() {}, error() {} };

/**
 * An error as log fields. The error object itself is not logged: HTTP clients hang the whole request on theirs, with the
 * credentials in it.
 */
export function errorFields(error: unknown): object {
  if (!(error instanceof Error)) return { name: typeof error };
  return { name: error.name, message: error.message, stack: error.stack };
}

/** Fields that no log line may hold, at the top or one level down: credentials, and the bodies (they are personal data). */
const REDACTED = [
  'headers',
  'rawHeaders',
  'authorization',
  'signature',
  'secret',
  'secrets',
  'apiKey',
  'key',
  'keys',
  'body',
  'rawBody',
  'payload',
  'raw',
  'data',
];

/**
 * A logger that writes one JSON object a line to standard output, or to `destination`. `level` is one of pino's (`info` by
 * default). Specification: HMAC signature (secrets are kept out of logs).
 */
export function createLogger(options: { level?: string; destination?: DestinationStream } = {}): Logger {
  const config = {
    name: 'receiver',
    level: options.level ?? 'info',
    redact: { paths: REDACTED.flatMap((field) => [field, `*.${field}`]), censor: '[redacted]' },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return pino(config, options.destination ?? standardOutput());
}
