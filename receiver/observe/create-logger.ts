/** Logs as JSON lines, by pino. What is logged is chosen field by field; the redaction is a second line of defence. */
import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Fields that no log line may contain, at the top level or one below: credentials, and bodies (they are personal data).
 */
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

/** Log lines beyond this many characters that wait to be written are dropped. */
const MAX_BUFFERED = 1024 * 1024;

/**
 * A logger that writes one JSON object per line to standard output, or to `destination`. `level` is one of pino's
 * (`info` by default). Specification: HMAC signature (secrets are kept out of logs).
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

/** A log that cannot be written must not end the receiver: it may be the only thing on the disk that is full. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: false, maxLength: MAX_BUFFERED });
  let failing = false;
  // Without a listener pino throws. It retries the same lines with the next one.
  destination.on('error', () => {
    failing = true;
  });
  destination.on('write', () => {
    failing = false;
  });
  // At the end of the process it would retry for ever.
  const flush = destination.flushSync.bind(destination);
  destination.flushSync = () => {
    if (!failing) flush();
  };
  return destination;
}
