import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HookproofError } from '../../contract/index.ts';
import { createReceiver, type ReceiverOptions } from '../../receiver/index.ts';
import { API_KEY, SECRET } from './deliveries.ts';
import { collectLogs } from './logs.ts';

function codeOf(options: unknown): string {
  try {
    createReceiver(options as ReceiverOptions);
    return 'started';
  } catch (error) {
    expect(error).toBeInstanceOf(HookproofError);
    const { code, message, hint, kind } = error as HookproofError;
    expect(kind).toBe('usage');
    expect(hint).not.toBe('');
    for (const secret of [SECRET, API_KEY]) expect(message + hint).not.toContain(secret);
    return code;
  }
}

function warningsOf(options: ReceiverOptions) {
  const { lines, logger } = collectLogs();
  createReceiver({ ...options, logger });
  return lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
}

describe('the configuration of a receiver', () => {
  it.each([
    ['nothing', {}, 'RECEIVER_UNPROTECTED'],
    ['open: false', { open: false }, 'RECEIVER_UNPROTECTED'],
    ['both undefined', { signing: undefined, apiKey: undefined }, 'RECEIVER_UNPROTECTED'],
    ['open with a secret', { open: true, signing: { secrets: [SECRET] } }, 'RECEIVER_OPEN_CONFLICT'],
    ['open with a key', { open: true, apiKey: { keys: [API_KEY] } }, 'RECEIVER_OPEN_CONFLICT'],
    [
      'open with a client certificate',
      { open: true, clientCertificate: { from: 'connection', allowed: ['CN=partner'] } },
      'RECEIVER_OPEN_CONFLICT',
    ],
    ['no secrets', { signing: { secrets: [] } }, 'RECEIVER_SECRET_MISSING'],
    ['secrets that are not a list', { signing: { secrets: SECRET } }, 'RECEIVER_SECRET_MISSING'],
    ['secrets absent', { signing: {} }, 'RECEIVER_SECRET_MISSING'],
    ['an empty secret', { signing: { secrets: [''] } }, 'RECEIVER_SECRET_MISSING'],
    ['a blank secret', { signing: { secrets: [' \n'] } }, 'RECEIVER_SECRET_MISSING'],
    ['an unset secret', { signing: { secrets: [undefined] } }, 'RECEIVER_SECRET_MISSING'],
    ['the text undefined', { signing: { secrets: ['undefined'] } }, 'RECEIVER_SECRET_MISSING'],
    ['one empty secret of two', { signing: { secrets: [SECRET, ''] } }, 'RECEIVER_SECRET_MISSING'],
    [
      'an empty key with a secret',
      { signing: { secrets: [SECRET] }, apiKey: { keys: [''] } },
      'RECEIVER_SECRET_MISSING',
    ],
    ['no keys', { apiKey: { keys: [] } }, 'RECEIVER_SECRET_MISSING'],
    ['a key with a newline', { apiKey: { keys: [`${API_KEY}\n`] } }, 'RECEIVER_KEY_UNSENDABLE'],
    ['a key that is not ASCII', { apiKey: { keys: ['schlüssel'] } }, 'RECEIVER_KEY_UNSENDABLE'],
    ['a header name with a space', { apiKey: { keys: [API_KEY], header: 'X API' } }, 'RECEIVER_HEADER_NAME'],
    ['an empty header name', { signing: { secrets: [SECRET], header: '' } }, 'RECEIVER_HEADER_NAME'],
    ['a reserved header name', { signing: { secrets: [SECRET], header: 'Content-Type' } }, 'RECEIVER_HEADER_NAME'],
    [
      'the same header name twice',
      { signing: { secrets: [SECRET], header: 'X-Auth' }, apiKey: { keys: [API_KEY], header: 'x-auth' } },
      'RECEIVER_HEADER_NAME',
    ],
    ['a path without a slash', { open: true, path: 'hooks' }, 'RECEIVER_PATH'],
    ['a body limit of zero', { open: true, bodyLimit: 0 }, 'RECEIVER_BODY_LIMIT'],
    ['a body limit that is not a number', { open: true, bodyLimit: Number.NaN }, 'RECEIVER_BODY_LIMIT'],
    ['a depth of zero', { open: true, maxDepth: 0 }, 'RECEIVER_MAX_DEPTH'],
    ['a secret', { signing: { secrets: [SECRET] } }, 'started'],
    ['a key', { apiKey: { keys: [API_KEY] } }, 'started'],
    ['open: true alone', { open: true }, 'started'],
  ])('%s: %s', (_label, options, code) => {
    expect(codeOf(options)).toBe(code);
  });

  it('is accepted with a warning when it is unwise, without the value', () => {
    const short = randomBytes(8).toString('hex');
    expect(warningsOf({ signing: { secrets: [SECRET] } })).toEqual([]);
    expect(warningsOf({ open: true })).toEqual(['`open: true`: anyone can deliver']);
    expect(warningsOf({ signing: { secrets: [SECRET, short] } })).toEqual([
      'an HMAC secret is shorter than 32 characters',
    ]);
    expect(warningsOf({ signing: { secrets: [`${SECRET}\n`] } })).toEqual([
      'an HMAC secret begins or ends with whitespace, which counts: was a newline read from a file?',
    ]);
  });
});
