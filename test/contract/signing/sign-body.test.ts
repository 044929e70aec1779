import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { HookproofError } from '../../../contract/index.ts';
import { SIGNING_MISTAKES, signBody } from '../../../contract/signing/index.ts';
import { newSecret } from './inputs.ts';

const body = Buffer.from('{"a":\xff}', 'latin1');

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof HookproofError) return `${error.code} ${error.kind}`;
    throw error;
  }
  return 'nothing was thrown';
}

describe('signBody', () => {
  it('is base64 of HMAC-SHA256 over the exact bytes, keyed with the UTF-8 secret', () => {
    const secret = `${newSecret()}\u00e9`;
    const right = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('base64');
    expect([signBody(body, secret), signBody(body, secret, 'base64')]).toEqual([right, right]);
  });

  it('makes a mistake by its name, for debugging', () => {
    const secret = newSecret();
    expect(signBody(body, secret, 'hex')).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    expect(signBody(body, secret, 'secret-newline+hmac-sha1')).toBe(
      createHmac('sha1', `${secret}\n`).update(body).digest('base64'),
    );
    expect(SIGNING_MISTAKES.map(({ name }) => name)).toEqual(expect.arrayContaining(['hex', 'php-json', 'hmac-md5']));
  });

  it('throws an error with a code for what it cannot do', () => {
    const secret = newSecret();
    expect([
      codeOf(() => signBody(body, '')),
      codeOf(() => signBody(body, secret, 'hexx')),
      codeOf(() => signBody(body, secret, '')),
      codeOf(() => signBody(body, secret, 'hex+upper-hex')),
      codeOf(() => signBody(body, secret, 'reserialised-json')),
      codeOf(() => signBody(body, secret, 'api-key-as-secret')),
    ]).toEqual([
      'SECRET_EMPTY usage',
      'SIGN_VARIANT_UNKNOWN usage',
      'SIGN_VARIANT_UNKNOWN usage',
      'SIGN_VARIANT_UNKNOWN usage',
      'SIGN_VARIANT_INAPPLICABLE usage',
      'SIGN_VARIANT_INAPPLICABLE usage',
    ]);
  });
});
