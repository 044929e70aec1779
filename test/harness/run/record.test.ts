import { describe, expect, it } from 'vitest';
import { describeBytes, describeExchange } from '../../../harness/run/record.ts';
import { type Change, refused } from '../../../scenarios/index.ts';
import { API_KEY, answered, assembled, partnerAt, SECRET } from './parts.ts';

const partner = partnerAt();

function exchangeOf(change: Change = {}, body = '', given = partner) {
  const request = assembled(change, given);
  const delivery = {
    role: 'probe',
    label: 'probe',
    expect: refused,
    assembled: request,
    leaks: [],
    probeFault: null,
    cutShort: false,
  } as const;
  return { request, exchange: describeExchange({ ...delivery, attempt: answered(401, body) }, given) };
}

function shown(change: Change): Record<string, string> {
  return Object.fromEntries(exchangeOf(change).exchange.request.headers);
}

describe('the record of a request', () => {
  it('shows valid credentials as [right]', () => {
    expect(shown({})).toMatchObject({ 'X-Service-Signature': '[right]', 'X-API-Key': '[right]' });
  });

  it('shows a changed credential by the change, never by its value', () => {
    const sign = {
      label: 'the right signature, cut',
      make: (body: Uint8Array, kit: { sign(body: Uint8Array): string }) => kit.sign(body).slice(0, 30),
    };
    expect(shown({ sign })).toMatchObject({
      'X-Service-Signature': '[the right signature, cut]',
      'X-API-Key': '[right]',
    });
  });

  it('finds a credential header in any letter case', () => {
    const lower: Change = {
      address: {
        label: 'lower case',
        make: (head) => ({ ...head, headers: head.headers.map(([name, value]) => [name.toLowerCase(), value]) }),
      },
    };
    expect(shown(lower)).toMatchObject({ 'x-service-signature': '[right]', 'x-api-key': '[right]' });
  });

  it('leaves other headers, method, target and body as they are', () => {
    const { request, exchange } = exchangeOf();
    const { method, target, headers, body } = exchange.request;
    expect({ method, target, text: body.text, length: body.length }).toEqual({
      method: 'POST',
      target: '/hooks',
      text: Buffer.from(request.prepared.body).toString(),
      length: request.prepared.body.length,
    });
    expect(headers).toContainEqual(['Content-Type', 'application/json']);
  });

  it('does not mask credentials that are not configured', () => {
    const open = { url: partner.url, headers: [['X-API-Key', 'a custom header']] } as const;
    expect(exchangeOf({}, '', open).exchange.request.headers).toContainEqual(['X-API-Key', 'a custom header']);
  });
});

describe('describeBytes', () => {
  const plain = { base64: null, truncated: false };
  it.each([
    ['nothing', Buffer.alloc(0), { ...plain, length: 0, text: '' }],
    ['text', Buffer.from('é鍵'), { ...plain, length: 5, text: 'é鍵' }],
    ['a real replacement character', Buffer.from('\ufffd'), { ...plain, length: 3, text: '\ufffd' }],
    ['bytes', Buffer.from([0xff, 0x00]), { length: 2, text: null, base64: '/wA=', truncated: false }],
    ['half a character', Buffer.from([0x61, 0xc3]), { length: 2, text: null, base64: 'YcM=', truncated: false }],
  ])('describes %s', (_, bytes, expected) => {
    expect(describeBytes(bytes)).toEqual(expected);
  });

  it('truncates at 4096 bytes, and never within a character', () => {
    const long = describeBytes(Buffer.from(`${'x'.repeat(4095)}é and more`));
    expect({ length: long.length, text: long.text, truncated: long.truncated }).toEqual({
      length: 4106,
      text: 'x'.repeat(4095),
      truncated: true,
    });
  });

  it.each([1, 4, 5, 20])('removes a credential that is truncated, with %d characters missing', (beyond) => {
    for (const value of [SECRET, API_KEY, Buffer.from(SECRET).toString('hex'), encodeURIComponent(SECRET)]) {
      const before = 'x'.repeat(4096 - value.length + beyond);
      const { text } = describeBytes(Buffer.from(before + value), false, [SECRET, API_KEY]);
      expect(text).toBe(before.slice(0, 4096));
    }
  });

  it('keeps the end of a body that is complete, or that is not like a credential', () => {
    const whole = `says ${SECRET.slice(0, 10)}`;
    expect(describeBytes(Buffer.from(whole), false, [SECRET]).text).toBe(whole);
    expect(describeBytes(Buffer.from('y'.repeat(5000)), false, [SECRET]).text).toBe('y'.repeat(4096));
  });
});
