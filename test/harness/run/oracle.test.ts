import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/index.ts';
import { faultOfControl, faultOfProbe, isAuthentic, oracleSignature } from '../../../harness/run/oracle.ts';
import type { Change } from '../../../scenarios/index.ts';
import { API_KEY, assembled, partnerAt } from './parts.ts';

const partner = partnerAt();

describe('the signature of the oracle', () => {
  it.each([0, 1, 31, 32, 63, 64, 65, 200])('is HMAC-SHA256 for a secret of %d bytes', (length) => {
    const secret = randomBytes(length)
      .toString('latin1')
      .replace(/[^ -~]/g, 'é');
    const body = randomBytes(300);
    expect(oracleSignature(secret, body)).toBe(createHmac('sha256', secret).update(body).digest('base64'));
  });
});

/** Changes, repeats or removes a header. */
function header(name: string, change: (value: string) => string[]): Change {
  return {
    address: {
      label: 'made up',
      make: (head) => ({
        ...head,
        headers: head.headers.flatMap(([other, value]): [string, string][] =>
          other.toLowerCase() === name.toLowerCase() ? change(value).map((one) => [other, one]) : [[other, value]],
        ),
      }),
    },
  };
}

describe('isAuthentic', () => {
  const SIGNATURE = 'X-Service-Signature';
  const KEY = 'X-API-Key';
  it.each<[string, Change, boolean]>([
    ['the plain delivery', {}, true],
    ['white space around a value', header(SIGNATURE, (value) => [`\t ${value} `]), true],
    ['no signature', { sign: { label: '', make: () => undefined } }, false],
    ['an invalid signature', { sign: { label: '', make: () => 'x' } }, false],
    ['a signature in other letter case', header(SIGNATURE, (value) => [value.toLowerCase()]), false],
    ['a signature twice', header(SIGNATURE, (value) => [value, value]), false],
    ['a signature in quotes', header(SIGNATURE, (value) => [`"${value}"`]), false],
    ['no key', header(KEY, () => []), false],
    ['an invalid key', header(KEY, (value) => [`${value}x`]), false],
    ['a key twice', header(KEY, (value) => [value, 'x']), false],
    ['a signature over other bytes', { sign: { label: '', make: (_, kit) => kit.sign(Buffer.from('x')) } }, false],
  ])('for %s', (_, change, authentic) => {
    expect(isAuthentic(assembled(change), partner)).toBe(authentic);
  });

  it('requires only the credentials that are configured', () => {
    const open = { url: partner.url };
    const keyed = { url: partner.url, apiKey: { value: API_KEY } };
    expect(isAuthentic(assembled({}, open), open)).toBe(true);
    expect(isAuthentic(assembled({}, keyed), keyed)).toBe(true);
    expect(isAuthentic(assembled({}, open), keyed)).toBe(false);
  });
});

describe('faultOfProbe', () => {
  it.each<[string, Change, boolean, string | null]>([
    ['valid credentials that should be valid', {}, true, null],
    ['invalid credentials that should be invalid', { sign: { label: '', make: () => 'x' } }, false, null],
    [
      'invalid credentials that should be valid',
      { sign: { label: '', make: () => 'x' } },
      true,
      'should be valid but are not',
    ],
    ['valid credentials that should be invalid', {}, false, 'should be invalid but are valid'],
    ['other bytes', { serialise: (value: JsonValue) => Buffer.from(`${JSON.stringify(value)} `) }, true, null],
    [
      'other bytes that are equal',
      { serialise: (value: JsonValue) => Buffer.from(JSON.stringify(value)) },
      true,
      'its bytes should differ',
    ],
  ])('for %s', (_, change, authentic, message) => {
    const fault = faultOfProbe(assembled(change), partner, authentic);
    if (message === null) expect(fault).toBeNull();
    else expect(fault).toContain(message);
  });

  it('expects no invalid credentials if none are configured', () => {
    const open = { url: partner.url };
    const change = header('user-agent', () => []);
    expect(faultOfProbe(assembled(change, open), open, false)).toBeNull();
  });
});

describe('faultOfControl', () => {
  it.each<[string, Change, string | null]>([
    ['the plain delivery', {}, null],
    ['invalid credentials', { sign: { label: '', make: () => undefined } }, 'credentials should be valid'],
    ['no notification', { compose: () => ({ id: 'x' }) }, 'it is not a valid notification'],
    ['an unknown field', { compose: (kit) => ({ ...kit.notification(), extra: 1 }) }, 'it is not a valid notification'],
  ])('for %s', (_, change, message) => {
    const fault = faultOfControl(assembled(change), partner);
    if (message === null) expect(fault).toBeNull();
    else expect(fault).toContain(message);
  });
});
