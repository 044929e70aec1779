import { createPrivateKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HookproofError, RESERVED_HEADERS } from '../../../contract/index.ts';
import type { Partner } from '../../../harness/partner.ts';
import { checkPartner, PartnerHeaderError } from '../../../harness/sender/index.ts';
import { anyCharacter } from '../../setup/any-character.ts';
import { certificate } from '../transport/servers.ts';

const URL = 'https://partner.example/hooks';
const secret = randomBytes(24).toString('hex');
const signing = { secret };

/** Returns the error that rejects a partner. */
function rejection(partner: Omit<Partner, 'url'>, url = URL): HookproofError {
  try {
    checkPartner({ url, ...partner });
  } catch (error) {
    if (error instanceof HookproofError) return error;
    throw error;
  }
  throw new Error('the partner was accepted');
}

/** Returns the whole text that the user sees. */
function rejectionText(partner: Omit<Partner, 'url'>, url = URL): string {
  const { message, hint } = rejection(partner, url);
  return `${message} ${hint}`;
}

function advice(partner: Omit<Partner, 'url'>, url = URL): readonly string[] {
  return checkPartner({ url, ...partner }).advice;
}

it('returns a valid partner unchanged and without advice', () => {
  const partner: Partner = {
    url: `${URL}?tenant=1`,
    signing: { secret, header: 'X-Sig' },
    apiKey: { value: 'a key' },
    headers: [['X-Tenant', 'caf\xe9\ttab']],
  };
  expect(checkPartner(partner)).toEqual({ partner, advice: [] });
});

describe('checkPartner rejects', () => {
  const credentials =
    'The endpoint URL contains credentials. ' +
    'Remove them: deliveries are authenticated by signature, API key or client certificate.';
  const fragment = 'The endpoint URL has a fragment (#), which is never sent. Remove it.';

  it.each([
    ['partner.example/hooks', 'The endpoint URL is not a URL. Give a complete URL: https://host/path.'],
    ['ftp://partner.example/', 'The endpoint URL starts with ftp:; expected https: or http:. Give an https URL.'],
    ['https://user@partner.example/', credentials],
    ['https://:word@partner.example/', credentials],
    [`${URL}#top`, fragment],
    [`${URL}#`, fragment],
  ])('the URL %s', (url, text) => {
    expect(rejectionText({}, url)).toBe(text);
    expect(rejection({}, url)).toMatchObject({ code: 'PARTNER_URL', kind: 'usage' });
  });

  it('an empty secret and an empty API key', () => {
    expect(rejection({ signing: { secret: '' } }).code).toBe('PARTNER_SECRET');
    expect(rejectionText({ signing: { secret: '' } })).toBe(
      'The HMAC secret is empty. Set the secret agreed with the partner, or remove `signing`.',
    );
    expect(rejection({ apiKey: { value: '' } }).code).toBe('PARTNER_API_KEY');
    expect(rejectionText({ apiKey: { value: '' } })).toBe(
      'The API key is empty. Set the key that the partner expects, or remove `apiKey`.',
    );
  });

  it.each([...RESERVED_HEADERS])('the reserved header name %s, in any letter case and role', (name) => {
    const upper = name.toUpperCase();
    for (const [role, partner] of [
      ['custom header 1', { headers: [[upper, 'x']] as const }],
      ['the signature header', { signing: { secret, header: upper } }],
      ['the API key header', { apiKey: { value: 'k', header: upper } }],
    ] as const) {
      expect(rejection(partner).code).toBe('PARTNER_HEADER');
      expect(rejectionText(partner)).toBe(
        `Headers: ${role} has the reserved name ${upper}. The sender sets this header itself. Choose another name.`,
      );
    }
  });

  it.each(['', 'X A', 'X:A', 'X-Ä', 'X\n', '(X)'])('the invalid header name %j, without repeating it', (name) => {
    const text = (role: string) =>
      `Headers: the name of ${role} is not a header name. Use letters, digits and hyphens, without a colon or spaces.`;
    expect(rejectionText({ headers: [[name, 'x']] })).toBe(text('custom header 1'));
    expect(rejectionText({ signing: { secret, header: name } })).toBe(text('the signature header'));
    expect(rejectionText({ apiKey: { value: 'k', header: name } })).toBe(text('the API key header'));
  });

  it.each<[string, Omit<Partner, 'url'>]>([
    ['custom header 1 and the API key header', { apiKey: { value: 'k' }, headers: [['x-api-key', 'x']] }],
    ['custom header 1 and the signature header', { signing, headers: [['x-service-signature', 'x']] }],
    ['the API key header and the signature header', { signing, apiKey: { value: 'k', header: 'X-Service-Signature' } }],
    [
      'custom header 2 and custom header 1',
      {
        headers: [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
      },
    ],
  ])('%s with the same name', (roles, partner) => {
    const text = rejectionText(partner);
    expect(text).toContain(`Headers: ${roles} both have the name `);
    expect(text).toContain(' Give each header a different name.');
  });

  it('a header, and states which one and why as fields', () => {
    expect(
      rejection({
        headers: [
          ['X-A', '1'],
          ['Host', 'x'],
        ],
      }),
    ).toMatchObject({
      code: 'PARTNER_HEADER',
      header: { role: 'custom', index: 1 },
      reason: 'reserved-name',
    });
    expect(rejection({ signing: { secret, header: 'X A' } })).toMatchObject({
      header: { role: 'signature', index: null },
      reason: 'invalid-name',
    });
    const reasonFor = (name: string, value: string) =>
      rejection({ apiKey: { value: 'k' }, headers: [[name, value]] }) as PartnerHeaderError;
    expect(reasonFor('X-API-Key', 'x').reason).toBe('duplicate-name');
    expect(reasonFor('X-A', 'a\n').reason).toBe('invalid-character');
    expect(reasonFor('X-A', ' a').reason).toBe('outer-white-space');
  });

  it('a header, in the words of a caller that names the setting itself', () => {
    const error = rejection({ headers: [['Host', 'x']] });
    if (!(error instanceof PartnerHeaderError)) throw error;
    expect(error.messageFor('the header')).toBe('the header has the reserved name Host.');
    expect(error.messageFor()).toBe('custom header 1 has the reserved name Host.');
  });

  const newline = 'Remove it; the usual cause is a newline at the end of a file.';
  const ascii = 'Use printable ASCII characters.';

  it.each([
    ['a\rb', `contains a line break. ${newline}`],
    ['a\n', `contains a line break. ${newline}`],
    ['a\0b', `contains a NUL character. ${ascii}`],
    ['a\x01b', `contains a control character. ${ascii}`],
    ['a\x1fb', `contains a control character. ${ascii}`],
    ['a\x7fb', `contains a control character. ${ascii}`],
    ['a\x80\u0100', `contains a character above U+00FF. ${ascii}`],
    ...[' a', '\ta', 'a ', 'a\t', '  a', 'a  '].map((value) => [
      value,
      'starts or ends with whitespace. Remove it: HTTP drops whitespace around a header value.',
    ]),
  ])('the header value %j', (value = '', text = '') => {
    expect(rejectionText({ headers: [['X-A', value]] })).toBe(`Headers: the value of X-A (custom header 1) ${text}`);
    expect(rejectionText({ apiKey: { value, header: 'X-A' } })).toBe(
      `Headers: the value of X-A (the API key header) ${text}`,
    );
  });

  it.each(['', 'a b', 'a\tb', 'a  b', '~', '\xa0x', '\xff'])('no header value %j', (value) => {
    expect(advice({ signing, headers: [['X-A', value]] })).toEqual([]);
  });
});

describe('TLS material', () => {
  it('is accepted if certificate and key belong together', async () => {
    const { cert, key } = await certificate('client');
    expect(advice({ signing, tls: { clientCert: cert, clientKey: key, ca: cert } })).toEqual([]);
    expect(advice({ tls: { clientCert: cert, clientKey: key } })).toEqual([]);
  });

  it('may have an encrypted key, which requires the correct passphrase', async () => {
    const { cert, key } = await certificate('client');
    const passphrase = randomBytes(12).toString('hex');
    const locked = createPrivateKey(key).export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase });
    const tls = { clientCert: cert, clientKey: locked.toString() };
    expect(advice({ signing, tls: { ...tls, passphrase } })).toEqual([]);
    for (const faulty of [tls, { ...tls, passphrase: `${passphrase}x` }]) {
      const error = rejection({ tls: faulty });
      expect(error).toMatchObject({ code: 'PARTNER_TLS', hint: 'Give its passphrase.' });
      expect(error.message).toContain('The client key is encrypted and cannot be decrypted');
      expect(`${error.message} ${error.hint}`).not.toContain(passphrase);
    }
  });

  it('is rejected with the reason otherwise', async () => {
    const one = await certificate('one');
    const other = await certificate('other');
    const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    const noCertificate =
      'The client certificate is not a certificate in PEM. Give a CERTIFICATE block, then its intermediates.';
    const noCa = 'The extra CA is not a certificate in PEM. Give one or more CERTIFICATE blocks.';
    const cases: [NonNullable<Partner['tls']>, string][] = [
      [{ clientCert: one.cert }, 'There is a client certificate but no client key. Give both.'],
      [{ clientKey: one.key }, 'There is a client key but no client certificate. Give both.'],
      [
        { clientCert: one.cert, clientKey: other.key },
        'The client key does not belong to the client certificate. Give the key that the certificate was issued for, ' +
          'and the certificate of the client before its intermediates.',
      ],
      [{ clientCert: one.key, clientKey: one.key }, noCertificate],
      [{ clientCert: damaged, clientKey: one.key }, noCertificate],
      [
        { clientCert: one.cert, clientKey: one.cert },
        'The client key is not a private key in PEM. Give a PRIVATE KEY block.',
      ],
      [{ ca: 'hello' }, noCa],
      [{ ca: '' }, noCa],
      [{ ca: `${one.cert}${damaged}` }, noCa],
    ];
    for (const [tls, text] of cases) {
      expect(rejection({ tls }).code).toBe('PARTNER_TLS');
      expect(rejectionText({ tls })).toContain(text);
      expect(rejectionText({ tls })).not.toContain(one.key.split('\n')[1]);
    }
  });
});

describe('checkPartner advises against', () => {
  it('a secret of fewer than 32 characters', () => {
    const short = (length: number) =>
      `The HMAC secret has ${length} character${length === 1 ? '' : 's'}; at least 32 are recommended.`;
    expect(advice({ signing: { secret: 'x'.repeat(32) } })).toEqual([]);
    for (const length of [31, 2, 1]) {
      expect(advice({ signing: { secret: 'x'.repeat(length) } })).toEqual([short(length)]);
    }
    expect(advice({ signing: { secret: '😀'.repeat(16) } })).toEqual([short(16)]);
  });

  it.each([
    ...['\n', '\r', '\r\n'].map((end) => [`${secret}${end}`, 'ends with a newline']),
    ...[`${secret} `, `\t${secret}`, `\n${secret} `].map((text) => [text, 'starts or ends with whitespace']),
  ])('whitespace around a secret', (given = '', what = '') => {
    expect(advice({ signing: { secret: given } })).toEqual([
      `The HMAC secret ${what}, which is part of the secret; a file or variable often adds it by mistake.`,
    ]);
  });

  it.each(['http://partner.example/', 'http://10.0.0.1/', 'http://127.0.0.1.example/', 'http://notlocalhost/'])(
    'plain HTTP to %s',
    (url) => {
      expect(advice({ signing }, url)).toEqual([
        'The endpoint uses plain HTTP on another machine: anyone on the network path can read and change deliveries. ' +
          'Use https.',
      ]);
    },
  );

  it('an API key alone, and no authentication at all', () => {
    expect(advice({ apiKey: { value: 'k' } })).toEqual([
      'An API key alone is basic security: it does not protect the body. Add a signature.',
    ]);
    expect(advice({})).toEqual([
      'No signature, API key or client certificate is configured: the receiver cannot tell who sends a delivery.',
    ]);
    expect(advice({ signing, apiKey: { value: 'k' } })).toEqual([]);
  });

  it('TLS material for a plain HTTP endpoint', async () => {
    const ca = (await certificate('root', { isCa: true })).cert;
    expect(advice({ signing, tls: { ca } }, 'http://localhost/')).toEqual([
      'TLS material is configured but not used, because the URL is plain http.',
    ]);
  });

  it('an expired client certificate', async () => {
    const past = { from: new Date(Date.now() - 9 * 86_400_000), to: new Date(Date.now() - 86_400_000) };
    const { cert, key } = await certificate('client', past);
    expect(advice({ signing, tls: { clientCert: cert, clientKey: key } })).toEqual([
      expect.stringMatching(/^[A-Z].*expired.*\. [A-Z].*\.$/),
    ]);
  });

  it('everything unwise at once', () => {
    const all = advice({ signing: { secret: 'x ' } }, 'http://partner.example/');
    expect(all.map((sentence) => sentence.split(' ').slice(0, 3).join(' '))).toEqual([
      'The endpoint uses',
      'The HMAC secret',
      'The HMAC secret',
    ]);
  });
});

it('never puts a secret, key or header value into an error or advice', () => {
  const hidden = fc.string({ unit: anyCharacter, minLength: 6, maxLength: 40 }).map((text) => `q9z${text}`);
  const name = fc.constantFrom('X-A', 'x-api-key', 'Host', 'X B');
  fc.assert(
    fc.property(hidden, hidden, hidden, name, (one, two, three, header) => {
      const partner: Omit<Partner, 'url'> = {
        signing: { secret: one },
        apiKey: { value: two },
        headers: [[header, three]],
      };
      let text: string;
      try {
        text = JSON.stringify(advice(partner, 'http://partner.example/'));
      } catch (error) {
        text = error instanceof HookproofError ? `${error.message} ${error.hint} ${error.stack}` : '';
        expect(error).toBeInstanceOf(HookproofError);
      }
      expect(text).not.toContain('q9z');
    }),
  );
});

it.each(['localhost', 'a.localhost', '127.10.20.30', '[::1]'])('has no advice on plain HTTP to %s', (host) => {
  expect(advice({ signing }, `http://${host}/`)).toEqual([]);
});
