/** A receiver of deliveries that are signed in the scheme of another service. */
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { type HeaderLine, headerValues } from '../../contract/index.ts';
import { FOREIGN_SCHEMES, type Scheme } from '../../contract/signing/index.ts';
import { createReceiver, type DeliveryReport, type Receiver } from '../../receiver/index.ts';
import { BODY, now, PUBLIC_URL, secretOf, sign } from '../mutants/scheme-requests.ts';

const JSON_TYPE: HeaderLine = ['Content-Type', 'application/json'];

const schemeCalled = (name: string) => FOREIGN_SCHEMES.find((scheme) => scheme.name === name) as Scheme;

async function send(receiver: Receiver, lines: readonly HeaderLine[], body: Buffer = BODY, path = '/') {
  const test = request(receiver.app)
    .post(path)
    .ok(() => true);
  // Node sends a list as several lines.
  for (const name of new Set(lines.map(([one]) => one))) {
    const values = headerValues(lines, name);
    test.set(name, (values.length > 1 ? values : values[0]) as string);
  }
  const { status, body: answer } = await test.serialize((value) => value).send(body as unknown as object);
  return [status, answer];
}

const ACCEPTED = [200, { status: 'accepted' }];
const REJECTED = [401, { error: 'unauthorized' }];

describe.each(FOREIGN_SCHEMES.map((scheme) => [scheme.name, scheme] as const))('a receiver of %s', (_name, scheme) => {
  const old = secretOf(scheme);
  const secret = secretOf(scheme);
  const reports: DeliveryReport[] = [];
  const receiver = createReceiver({
    signing: { secrets: [secret, old], scheme, publicUrl: PUBLIC_URL },
    observers: [(report) => reports.push(report)],
  });
  const isTimed = scheme.toleranceSeconds !== undefined;
  const lines = sign(scheme, [secret]);
  const post = (headers: readonly HeaderLine[], body = BODY) => send(receiver, [JSON_TYPE, ...headers], body);

  it('accepts a valid delivery, and reports which secret matched', async () => {
    expect(await post(lines)).toEqual(ACCEPTED);
    expect(reports.at(-1)).toMatchObject({ outcome: 'accepted', secretIndex: 0, rawBody: BODY });
    expect(await post(sign(scheme, [old]))).toEqual(ACCEPTED);
    expect(reports.at(-1)).toMatchObject({ secretIndex: 1 });
  });

  it.each(Object.keys(scheme.headers))('rejects a missing, empty, repeated or changed %s', async (name) => {
    const others = lines.filter(([other]) => other !== name);
    const [, value] = lines.find(([other]) => other === name)!;
    for (const values of [[], [''], [value, value], [`${value}x`], [value.slice(0, -1)], [`x${value}`]]) {
      expect([values, await post([...others, ...values.map((one): HeaderLine => [name, one])])]).toEqual([
        values,
        REJECTED,
      ]);
    }
  });

  it('rejects another body, another secret and the signature of another URL', async () => {
    expect(await post(lines, Buffer.from(`${BODY} `))).toEqual(REJECTED);
    expect(reports.at(-1)).toMatchObject({ reason: 'signature-mismatch' });
    expect(await post(sign(scheme, [secretOf(scheme)]))).toEqual(REJECTED);
    const other = await post(sign(scheme, [secret], { url: 'https://other.test/' }));
    expect(other).toEqual(scheme.signed.includes('{url}') ? REJECTED : ACCEPTED);
  });

  it('rejects an old and a future time, where there is a time', async () => {
    const { toleranceSeconds: limit = 0 } = scheme;
    if (!isTimed) {
      expect(await post(sign(scheme, [secret], { timestamp: 0 }))).toEqual(ACCEPTED);
      return;
    }
    for (const [age, expected] of [
      [limit - 5, ACCEPTED],
      [limit + 5, REJECTED],
    ] as const) {
      expect(await post(sign(scheme, [secret], { timestamp: now() - age }))).toEqual(expected);
      expect(await post(sign(scheme, [secret], { timestamp: now() + age }))).toEqual(expected);
    }
    expect(reports.at(-1)).toMatchObject({ reason: 'signature-out-of-tolerance' });
    const timestamp = now();
    const zero = sign(scheme, [secret], { timestamp }).map(
      ([name, value]): HeaderLine => [name, value.replace(`${timestamp}`, `0${timestamp}`)],
    );
    expect(await post(zero)).toEqual(REJECTED);
  });

  it('accepts any of several signatures, where there can be several', async () => {
    if (scheme.separator === undefined) {
      expect(() => sign(scheme, [secretOf(scheme), secret])).toThrow('has one signature');
      return;
    }
    expect(await post(sign(scheme, [secretOf(scheme), secret]))).toEqual(ACCEPTED);
    expect(await post(sign(scheme, [secretOf(scheme), secretOf(scheme)]))).toEqual(REJECTED);
  });

  it('answers 400 to a signed body that is not JSON, and accepts it as another type', async () => {
    const body = Buffer.from([0x7b, 0xff]);
    const signed = sign(scheme, [secret], { body });
    expect(await post(signed, body)).toEqual([400, { error: 'body-not-utf8' }]);
    expect(await send(receiver, [['Content-Type', 'text/plain'], ...signed], body)).toEqual(ACCEPTED);
    expect(await post(sign(scheme, [secret], { body: Buffer.from('{') }), Buffer.from('{'))).toEqual([
      400,
      { error: 'body-not-json' },
    ]);
  });

  it('can be given new secrets', async () => {
    const next = secretOf(scheme);
    const reloaded = createReceiver({ signing: { secrets: [secret], scheme, publicUrl: PUBLIC_URL } });
    reloaded.reloadSecrets([next]);
    expect(await send(reloaded, [JSON_TYPE, ...sign(scheme, [next])])).toEqual(ACCEPTED);
    expect(await send(reloaded, [JSON_TYPE, ...lines])).toEqual(REJECTED);
    expect(() => reloaded.reloadSecrets([''])).toThrow(expect.objectContaining({ code: 'RECEIVER_SECRET_MISSING' }));
  });
});

describe('the URL of a scheme that signs it', () => {
  const scheme = schemeCalled('square');
  const receiver = createReceiver({ signing: { secrets: ['secret'], scheme } });
  const lines = sign(scheme, ['secret'], { url: 'http://partner.test/hook' });
  const post = (host: string, type: string, path: string, body = BODY) =>
    send(receiver, [['Host', host], ['Content-Type', type], ...lines], body, path);

  it('is that of the request by default', async () => {
    expect(await post('partner.test', 'application/json', '/hook')).toEqual(ACCEPTED);
    expect(await post('other.test', 'application/json', '/hook')).toEqual(REJECTED);
  });

  it('cannot take bytes from the body, nor give it some', async () => {
    const longer = Buffer.concat([Buffer.from('hook'), BODY]);
    expect(await post('partner.test', 'text/plain', '/', longer)).toEqual([400, { error: 'body-not-json' }]);
  });
});

it('rejects an id that contains the text which ends it', async () => {
  const scheme = schemeCalled('standard-webhooks');
  const secret = secretOf(scheme);
  const receiver = createReceiver({ signing: { secrets: [secret], scheme } });
  expect(await send(receiver, [JSON_TYPE, ...sign(scheme, [secret], { id: 'msg.1' })])).toEqual(REJECTED);
});

it.each([
  ['a header name', 'github', { header: 'X-Signature' }, {}, 'RECEIVER_SCHEME'],
  ['a URL that is not one', 'square', { publicUrl: 'partner.test' }, {}, 'RECEIVER_SCHEME'],
  ['handlers', 'github', {}, { handlers: { CAAS_BUY: () => {} } }, 'RECEIVER_SCHEME'],
  ['a secret without a key', 'svix', { secrets: ['whsec_'] }, {}, 'SECRET_INVALID'],
  ['a secret that is not Base64', 'svix', { secrets: ['whsec_a-b_c'] }, {}, 'SECRET_INVALID'],
  ['a secret that is not a key', 'standard-webhooks-ed25519', {}, {}, 'SECRET_INVALID'],
])('rejects the configuration with %s', (_what, name, signing, options, code) => {
  const create = () =>
    createReceiver({ signing: { secrets: ['secret'], scheme: schemeCalled(name), ...signing }, ...options });
  expect(create).toThrow(expect.objectContaining({ code }));
});
