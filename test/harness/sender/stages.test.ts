import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../contract/index.ts';
import { FOREIGN_SCHEMES } from '../../../contract/signing/index.ts';
import type { Partner } from '../../../harness/partner.ts';
import {
  address,
  prepare,
  prepareBody,
  serialise,
  sign,
  signatureLines,
  signaturesIn,
} from '../../../harness/sender/index.ts';
import { endpointOf } from '../../../harness/transport/index.ts';
import { buy } from './samples.ts';

/** Computes an HMAC by its definition (RFC 2104), from the hash alone. */
function hmacByDefinition(body: Uint8Array, secret: string): string {
  const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  const utf8 = Buffer.from(secret, 'utf8');
  const key = Buffer.alloc(64);
  (utf8.length > 64 ? sha256(utf8) : utf8).copy(key);
  const inner = sha256(
    key.map((byte) => byte ^ 0x36),
    body,
  );
  return sha256(
    key.map((byte) => byte ^ 0x5c),
    inner,
  ).toString('base64');
}

describe('sign', () => {
  it('computes the HMAC of RFC 2104, for any bytes and any secret', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), text, (body, secret) => {
        expect(sign(body, secret)).toBe(hmacByDefinition(body, secret));
      }),
    );
  });

  it('gives the result of RFC 4231, test case 2', () => {
    const body = Buffer.from('what do ya want for nothing?');
    expect(sign(body, 'Jefe')).toBe('W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=');
  });

  it('changes with a single bit of the body', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), (body, at) => {
        const other = Uint8Array.from(body);
        other[at % body.length]! ^= 1;
        expect(sign(other, 'secret')).not.toBe(sign(body, 'secret'));
      }),
    );
  });
});

describe('serialise', () => {
  it('writes UTF-8 without a byte order mark or white space, which parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const bytes = serialise(value as JsonValue);
        const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
        expect(text).toBe(JSON.stringify(value));
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('writes characters outside ASCII as themselves', () => {
    expect(Buffer.from(serialise({ name: 'Zürich €' })).toString('hex')).toBe(
      Buffer.from('{"name":"Zürich €"}', 'utf8').toString('hex'),
    );
  });
});

describe('address', () => {
  const partner: Partner = {
    url: 'https://partner.example:8443/hooks/in?tenant=a%2Fb',
    signing: { secret: 'unused here' },
    apiKey: { value: 'the key' },
    headers: [
      ['X-Tenant', 'b'],
      ['A-First', 'a'],
    ],
  };
  const body = Buffer.from('12345');

  it('lists the headers in fixed order, with the custom headers last and as configured', () => {
    expect(address({ partner, body, signed: [['X-Service-Signature', 'sig']] })).toEqual({
      method: 'POST',
      target: '/hooks/in?tenant=a%2Fb',
      headers: [
        ['Host', 'partner.example:8443'],
        ['Content-Type', 'application/json'],
        ['Content-Length', '5'],
        ['X-Service-Signature', 'sig'],
        ['X-API-Key', 'the key'],
        ['X-Tenant', 'b'],
        ['A-First', 'a'],
      ],
    });
  });

  it('uses the configured header names', () => {
    const named: Partner = {
      url: 'http://[::1]/',
      signing: { secret: 'unused here', header: 'x-sig' },
      apiKey: { value: 'k', header: 'Api' },
    };
    expect(address({ partner: named, body, signed: [['x-sig', 'sig']] }).headers).toEqual([
      ['Host', '[::1]'],
      ['Content-Type', 'application/json'],
      ['Content-Length', '5'],
      ['x-sig', 'sig'],
      ['Api', 'k'],
    ]);
  });

  it('makes signatures that redaction finds, in a scheme also without what surrounds them', () => {
    const scheme = FOREIGN_SCHEMES.find(({ name }) => name === 'stripe');
    if (scheme === undefined) throw new Error('no scheme');
    const foreign: Partner = { url: 'http://a.example/', signing: { secret: 'whsec_1', scheme } };
    const [header = '', value = '', ...more] = signaturesIn(prepareBody(body, foreign), foreign);
    expect({ header, value, more }).toMatchObject({ value: expect.stringMatching(/^[\da-f]{64}$/), more: [] });
    expect(header).toMatch(/^t=\d+,v1=[\da-f]{64}$/);
    expect(header.endsWith(value)).toBe(true);
    const own: Partner = { url: 'http://a.example/', signing: { secret: 's' } };
    expect(signaturesIn(prepareBody(body, own), own)).toEqual([sign(body, 's')]);
    expect(signaturesIn(prepareBody(body, { url: own.url }), {})).toEqual([]);
  });

  it('signs in a scheme with the time and the id, by default the present second and an id of its own', () => {
    const scheme = FOREIGN_SCHEMES.find(({ name }) => name === 'standard-webhooks');
    if (scheme === undefined) throw new Error('no scheme');
    const partner = { url: 'http://a.example/', signing: { secret: 'whsec_c2VjcmV0', scheme } };
    const valuesOf = (given?: Parameters<typeof signatureLines>[2]) =>
      Object.fromEntries(signatureLines(body, partner, given).map(([name, value]) => [name.toLowerCase(), value]));
    expect(valuesOf({ id: 'msg_1', timestamp: 7 })).toMatchObject({ 'webhook-id': 'msg_1', 'webhook-timestamp': '7' });
    const before = Math.floor(Date.now() / 1000);
    const { 'webhook-id': id, 'webhook-timestamp': time } = valuesOf();
    expect(id).toMatch(/^msg_[\da-f]{24}$/);
    expect(Number(time)).toBeGreaterThanOrEqual(before);
    expect(Number(time)).toBeLessThanOrEqual(Date.now() / 1000);
  });

  it('sends the headers of the first delivery of the sender, with another id each time', () => {
    const uuid = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
    const lines = [
      ['content-type', 'application/x-www-form-urlencoded'],
      ['X-Event', 'push'],
      ['X-Delivery', uuid],
    ] as const;
    const deliveries = [{ name: 'one', headers: lines, body }];
    const { headers } = address({ partner: { url: 'http://a.example/', deliveries }, body, signed: [] });
    expect(headers).toEqual([
      ['Host', 'a.example'],
      ['content-type', 'application/x-www-form-urlencoded'],
      ['Content-Length', String(body.length)],
      ['X-Event', 'push'],
      ['X-Delivery', expect.stringMatching(/^[\da-f-]{36}$/)],
    ]);
    expect(headers[4]).not.toContain(uuid);
  });

  it('follows a change of URL', () => {
    const at = (url: string) => address({ partner: { url }, body, signed: [] }).headers[0]?.[1];
    expect([at('http://a.example/'), at('http://b.example/'), at('http://a.example/')]).toEqual([
      'a.example',
      'b.example',
      'a.example',
    ]);
  });
});

describe('endpointOf', () => {
  it.each([
    ['http://a.example', { secure: false, hostname: 'a.example', port: 80, target: '/', host: 'a.example' }],
    ['http://a.example:80/?', { secure: false, hostname: 'a.example', port: 80, target: '/', host: 'a.example' }],
    ['https://a.example/x?y', { secure: true, hostname: 'a.example', port: 443, target: '/x?y', host: 'a.example' }],
    ['https://a.example:80/', { secure: true, hostname: 'a.example', port: 80, target: '/', host: 'a.example:80' }],
    ['https://[::1]:8443/', { secure: true, hostname: '::1', port: 8443, target: '/', host: '[::1]:8443' }],
  ])('parses %s', (url, endpoint) => expect(endpointOf(url)).toEqual(endpoint));
});

describe('prepare', () => {
  it('signs exactly the bytes that it sends, and states their length', () => {
    const prepared = prepare(buy(), { url: 'https://partner.example/', signing: { secret: 'a secret' } });
    expect(prepared).toEqual({
      url: 'https://partner.example/',
      method: 'POST',
      target: '/',
      headers: [
        ['Host', 'partner.example'],
        ['Content-Type', 'application/json'],
        ['Content-Length', String(Buffer.byteLength(JSON.stringify(buy())))],
        ['X-Service-Signature', hmacByDefinition(Buffer.from(JSON.stringify(buy())), 'a secret')],
      ],
      body: Buffer.from(JSON.stringify(buy())),
    });
  });

  it('adds no signature and no API key if none is configured', () => {
    const names = prepare(buy(), { url: 'https://partner.example/' }).headers.map(([name]) => name);
    expect(names).toEqual(['Host', 'Content-Type', 'Content-Length']);
  });
});
