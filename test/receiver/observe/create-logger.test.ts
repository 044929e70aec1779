import { expect, it } from 'vitest';
import type { ReceiverLogger } from '../../../receiver/logger.ts';
import { createLogger, plainLogger } from '../../../receiver/observe/create-logger.ts';

/** Returns the lines that are logged, without the time. */
function linesOf(
  open: (destination: { write(line: string): void }) => ReceiverLogger,
  use: (log: ReceiverLogger) => void,
) {
  const lines: string[] = [];
  use(open({ write: (line) => void lines.push(line) }));
  const withoutTime = (line: string) => line.replace(/"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, '"time":""');
  return lines.map(withoutTime);
}

const withPino = (level: string) => (destination: { write(line: string): void }) =>
  createLogger({ level, destination });
const withoutPino = (level: 'info' | 'warn') => (destination: { write(line: string): void }) =>
  plainLogger(level, destination);

it('the lines are the same with pino and without it', () => {
  const use = (log: ReceiverLogger) => {
    log.info({ event: 'delivery', status: 200, none: undefined, nil: null }, 'delivery "accepted"');
    log.warn({ signature: 'x', nested: { apiKey: 'x', other: [1] } }, 'credentials');
    log.error({ event: 'failed', error: { name: 'Error', message: 'line\nbreak' } }, 'failed');
    log.info({ keys: ['x'], raw: { a: 1 }, body: '' }, 'whole fields');
  };
  const lines = linesOf(withoutPino('info'), use);
  expect(lines).toEqual(linesOf(withPino('info'), use));
  expect(lines).toHaveLength(4);
  expect(lines[1]).toContain('"signature":"[redacted]","nested":{"apiKey":"[redacted]","other":[1]}');
});

it('lines below the level are left out', () => {
  const use = (log: ReceiverLogger) => {
    log.info({}, 'one');
    log.warn({}, 'two');
  };
  expect(linesOf(withoutPino('warn'), use)).toEqual(linesOf(withPino('warn'), use));
  expect(linesOf(withoutPino('warn'), use)).toHaveLength(1);
});

it('without pino, what cannot be written as JSON is left out of the line, and errors are fields', () => {
  const [first, second] = linesOf(withoutPino('info'), (log) => {
    log.info({ big: 1n }, 'mine');
    log.error(new Error('no'), 'failed');
  });
  expect(JSON.parse(first ?? '')).toMatchObject({ msg: 'mine', notLogged: { name: 'TypeError' } });
  expect(JSON.parse(second ?? '')).toMatchObject({ msg: 'failed', err: { message: 'no' } });
});

it('a level that does not exist is an error', () => {
  expect(() => createLogger({ level: 'loud' })).toThrow('"loud" is not a log level.');
});
