/**
 * Writes JSON log lines, with pino when it is installed. The callers choose every field explicitly; redaction is a
 * second line of defence.
 */
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import sonic from 'sonic-boom';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { errorFields, type ReceiverLogger } from '../logger.ts';

/**
 * Fields that are removed from log lines, at the top level or one level below: credentials and bodies (personal data).
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
const CENSOR = '[redacted]';
const NAME = 'receiver';

/** Numeric log levels, as in pino. */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Number.POSITIVE_INFINITY };
type LogLevel = keyof typeof LEVELS;

/** Maximum number of characters that wait to be written. Further lines are dropped. */
const MAX_BUFFERED = 1024 * 1024;

interface Destination {
  write(line: string): void;
}

/**
 * Creates a logger that writes one JSON object per line to `destination` (default: standard output). `level` is a level
 * of pino (default: `info`). The logger is a pino logger if pino is installed. Throws {@link HookproofError}
 * `RECEIVER_LOG_LEVEL`. Specification: HMAC signature (secrets are kept out of logs).
 */
export function createLogger(options: { level?: string; destination?: Destination } = {}): ReceiverLogger {
  const { level = 'info', destination = standardOutput() } = options;
  if (!isLevel(level)) {
    throw new HookproofError('RECEIVER_LOG_LEVEL', `"${level}" is not a log level.`, {
      hint: `Use ${Object.keys(LEVELS).join(', ')}.`,
    });
  }
  const pino = installedPino();
  if (pino === null) return plainLogger(level, destination);
  const config = {
    name: NAME,
    level,
    redact: { paths: REDACTED.flatMap((field) => [field, `*.${field}`]), censor: CENSOR },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return pino(config, destination);
}

function isLevel(level: string): level is LogLevel {
  return Object.hasOwn(LEVELS, level);
}

function installedPino(): typeof import('pino').pino | null {
  try {
    return createRequire(import.meta.url)('pino');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

/** Writes the same lines as pino does, but redacts at every depth. */
export function plainLogger(level: LogLevel, destination: Destination): ReceiverLogger {
  const origin = { pid: process.pid, hostname: hostname(), name: NAME };
  const redacted = new Set(REDACTED);
  const show = (key: string, value: unknown) => {
    if (redacted.has(key)) return CENSOR;
    return value instanceof Error ? errorFields(value) : value;
  };
  const logAt = (number: number) => (given: object, message: string) => {
    if (number < LEVELS[level]) return;
    const fields = given instanceof Error ? { err: given } : given;
    const head = { level: number, time: new Date().toISOString(), ...origin };
    let line: string;
    try {
      line = JSON.stringify({ ...head, ...fields, msg: message }, show);
    } catch (error) {
      // The fields are circular or contain a BigInt. Logging must not make a handler fail.
      line = JSON.stringify({ ...head, notLogged: errorFields(error), msg: message });
    }
    destination.write(`${line}\n`);
  };
  return { info: logAt(LEVELS.info), warn: logAt(LEVELS.warn), error: logAt(LEVELS.error) };
}

let opened: Destination | undefined;

/**
 * Writes to standard output. A write error must not end the receiver: a full disk, for example, may affect only the
 * log.
 */
function standardOutput(): Destination {
  if (opened !== undefined) return opened;
  const stream = new sonic.SonicBoom({ fd: 1, sync: false, maxLength: MAX_BUFFERED });
  let failing = false;
  // Without a listener, an error would be thrown. The stream retries the same lines with the next write.
  stream.on('error', () => {
    failing = true;
  });
  stream.on('write', () => {
    failing = false;
  });
  process.on('exit', () => {
    // While writing fails, flushing would retry forever.
    if (!failing) stream.flushSync();
  });
  opened = stream;
  return stream;
}
