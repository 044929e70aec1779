/**
 * The preflight against receivers that expect another signature: what it recognises, and how much evidence this takes.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GO_MAP, type JsonDialect, PHP, PYTHON, PYTHON_COMPACT, rewriteJson } from '../../../contract/signing/index.ts';
import type { Partner } from '../../../harness/partner.ts';
import { run } from '../../../harness/run/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf, hmacOf } from '../../endpoints/verifying.ts';

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const DECODED = Buffer.from(SECRET.slice('whsec_'.length), 'base64');

type Verify = (request: IncomingMessage, body: Buffer, url: string) => boolean;

/** Runs one check against a receiver that answers `refusal` to deliveries that it does not accept. */
async function diagnosed(
  verify: Verify,
  refusal = 401,
  words = 'no',
  credentials: Omit<Partner, 'url'> = { signing: { secret: SECRET } },
) {
  const { url, close } = await serve((request, response) => {
    void bodyOf(request).then(
      (body) => {
        const isValid = verify(request, body, `http://${request.headers.host}${request.url}`);
        response.writeHead(isValid ? 200 : refusal).end(isValid ? 'ok' : words);
      },
      () => request.destroy(),
    );
  });
  onTestFinished(close);
  const document = await run({
    partner: { url, ...credentials },
    selection: { scenarios: ['valid/plain'] },
    limits: { timeoutMs: 2000, recoveryMs: 200, backoffMs: 20 },
  });
  return document.diagnosis[0];
}

const header = (request: IncomingMessage, name: string) => `${request.headers[name] ?? ''}`;
const hex = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');

const toHex = (digest: Buffer) => digest.toString('hex');
const toBase64OfHex = (digest: Buffer) => Buffer.from(toHex(digest)).toString('base64');
const toBase64Url = (digest: Buffer) => digest.toString('base64url');

function standardWebhooks(prefix: string, key: string | Buffer): Verify {
  return (request, body) => {
    const [id, at] = [header(request, `${prefix}-id`), header(request, `${prefix}-timestamp`)];
    const wanted = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64');
    return id !== '' && header(request, `${prefix}-signature`).split(' ').includes(`v1,${wanted}`);
  };
}

describe('the scheme of another service', () => {
  it.each<[string, string, Verify]>([
    ['Standard Webhooks', 'expects-standard-webhooks-signature', standardWebhooks('webhook', DECODED)],
    [
      'Standard Webhooks with the secret as text',
      'expects-standard-webhooks-signature',
      standardWebhooks('webhook', SECRET),
    ],
    ['Svix', 'expects-svix-signature', standardWebhooks('svix', DECODED)],
    [
      'Stripe',
      'expects-stripe-signature',
      (request, body) => {
        const [, at, given] = /^t=(\d+),v1=(\w+)$/.exec(header(request, 'stripe-signature')) ?? [];
        return given !== undefined && given === hex(`${at}.${body}`);
      },
    ],
    [
      'GitHub',
      'expects-github-signature',
      (request, body) => header(request, 'x-hub-signature-256') === `sha256=${hex(`${body}`)}`,
    ],
    [
      'Slack',
      'expects-slack-signature',
      (request, body) =>
        header(request, 'x-slack-signature') ===
        `v0=${hex(`v0:${header(request, 'x-slack-request-timestamp')}:${body}`)}`,
    ],
    [
      'Shopify',
      'expects-shopify-signature',
      (request, body) => header(request, 'x-shopify-hmac-sha256') === hmacOf(SECRET, body).toString('base64'),
    ],
    [
      'LINE',
      'expects-line-signature',
      (request, body) => header(request, 'x-line-signature') === hmacOf(SECRET, body).toString('base64'),
    ],
    [
      'Square',
      'expects-square-signature',
      (request, body, url) =>
        header(request, 'x-square-hmacsha256-signature') === hmacOf(SECRET, `${url}${body}`).toString('base64'),
    ],
  ])('%s is recognised', async (_name, fault, verify) => {
    expect(await diagnosed(verify)).toMatchObject({ fault });
  });
});

describe('a wrong signature', () => {
  it.each([400, 403, 404, 422, 500, 503])('in hex is recognised after a refusal with %d', async (refusal) => {
    const verify: Verify = (request, body) =>
      header(request, 'x-service-signature') === hmacOf(SECRET, body).toString('hex');
    expect(await diagnosed(verify, refusal)).toMatchObject({ relation: 'main', title: expect.stringMatching(/hex/i) });
  });

  it.each<[string, JsonDialect, string, (digest: Buffer) => string]>([
    ['json.dumps and hexdigest in Python', PYTHON, 'python-json+hex', toHex],
    ['json.dumps and base64 of hexdigest in Python', PYTHON, 'python-json+base64-of-hex', toBase64OfHex],
    ['json.dumps and the URL-safe alphabet in Python', PYTHON, 'python-json+base64url', toBase64Url],
    ['a map and hex in Go', GO_MAP, 'go-json+hex', toHex],
    ['a map and the URL-safe alphabet in Go', GO_MAP, 'go-json+base64url', toBase64Url],
    ['json_encode and base64 of hash_hmac in PHP', PHP, 'php-json+base64-of-hex', toBase64OfHex],
    ['compact json.dumps and hexdigest in Python', PYTHON_COMPACT, 'python-compact-json+hex', toHex],
  ])('made with %s is recognised', async (_name, dialect, fault, encode) => {
    const verify: Verify = (request, body) =>
      header(request, 'x-service-signature') === encode(hmacOf(SECRET, rewriteJson(`${body}`, dialect)));
    expect((await diagnosed(verify))?.fault).toBe(fault);
  });

  it('in another header is recognised after a 500', async () => {
    const verify: Verify = (request, body) =>
      header(request, 'x-webhook-signature') === hmacOf(SECRET, body).toString('base64');
    expect((await diagnosed(verify, 500))?.fault).toBe('reads-another-signature-header');
  });
});

describe('one accepted trial', () => {
  it.each(['+', '/'])('is not believed when the endpoint rejects every signature with "%s"', async (character) => {
    const verify: Verify = (request, body) => {
      const given = header(request, 'x-service-signature').replaceAll(character, ' ');
      return given === hmacOf(SECRET, body).toString('base64');
    };
    const found = await diagnosed(verify);
    expect(found?.fault).toBe('refuses-signatures-with-some-characters');
    expect(found?.title).toContain(`"${character}"`);
  });

  it('names the character when valid signatures without it are accepted', async () => {
    let deliveries = 0;
    const verify: Verify = (request, body) => {
      const given = header(request, 'x-service-signature');
      return ++deliveries > 2 && !given.includes('+') && given === hmacOf(SECRET, body).toString('base64');
    };
    const found = await diagnosed(verify);
    expect(found?.fault).toBe('refuses-signatures-with-some-characters');
    expect(found?.title).toContain('"+"');
  });

  it('is not believed when the endpoint accepts a single delivery by chance', async () => {
    let deliveries = 0;
    expect((await diagnosed(() => ++deliveries === 20))?.fault).toBe('refuses-right-credentials');
  });
});

describe('the words of an answer', () => {
  it.each([
    [400, '{"error":"INVALID_SIGNATURE"}', 'refuses-right-credentials'],
    [500, 'RangeError: Input buffers must have the same byte length', 'refuses-right-credentials'],
    [400, '{"error":"Missing required header svix-id"}', 'expects-svix-signature'],
    [500, 'No stripe-signature header value was provided', 'expects-stripe-signature'],
    [400, '{"error":"data.extra is not allowed"}', 'rejected-before-verification'],
    [500, 'Internal Server Error', 'fails-on-valid-delivery'],
  ])('%d with %s', async (refusal, words, fault) => {
    expect((await diagnosed(() => false, refusal, words))?.fault).toBe(fault);
  });
});

describe('rejected credentials', () => {
  const signing = { secret: SECRET };
  const apiKey = { value: randomBytes(16).toString('hex') };

  it.each<[string, Omit<Partner, 'url'>, string, RegExp, RegExp]>([
    [
      'no secret',
      { apiKey },
      'no',
      /^No secret is configured/,
      /^If the endpoint verifies signatures, set HOOKPROOF_SEC/,
    ],
    [
      'no API key',
      { signing },
      'bad api key',
      /^No API key is configured/,
      /^If the endpoint requires an API key, set HOOKPROOF_API/,
    ],
    ['no API key, and the answer names nothing', { signing }, 'no', /^The endpoint rejects/, /^Compare secret/],
    ['both', { signing, apiKey }, 'no', /^The endpoint rejects a delivery with valid/, /^Compare secret/],
    ['no secret, and the answer names the key', { apiKey }, 'bad api key', /^The endpoint rejects/, /^Compare secret/],
    [
      'no API key, and the answer names the signature',
      { signing },
      'bad signature',
      /^The endpoint r/,
      /^Compare secret/,
    ],
  ])('%s: the title and the fix begin with what is missing', async (_name, credentials, words, title, fix) => {
    const found = await diagnosed(() => false, 401, words, credentials);
    expect(found).toMatchObject({ title: expect.stringMatching(title), fix: expect.stringMatching(fix) });
  });

  it('say no more than the evidence shows, and name the next step', async () => {
    const found = await diagnosed(() => false, 401, 'bad signature', { signing, apiKey });
    expect(found?.why).toContain(
      'Either the secret or the key differs, or the signature is computed in an unknown way',
    );
    expect(found?.fix).toContain('`hookproof verify body.json --signature "$COMPUTED"`');
    expect(found?.fix).not.toContain('Answer 401');
    expect((await diagnosed(() => false, 400, 'bad signature'))?.fix).toContain('Answer 401');
  });
});
