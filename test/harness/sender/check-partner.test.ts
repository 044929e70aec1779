import { createPrivateKey, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HookproofError, RESERVED_HEADERS } from '../../../contract/index.ts';
import type { Partner } from '../../../harness/partner.ts';
import { checkPartner, isLoopback } from '../../../harness/sender/index.ts';
import { certificate } from '../transport/servers.ts';

const URL = 'https://partner.example/hooks';
const secret = randomBytes(24).toString('hex');
const signing = { secret };

function refusal(partner: Partner): HookproofError {
  try {
    checkPartner(partner);
  } catch (error) {
    if (error instanceof HookproofError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('a partner that can work', () => {
  it('is returned as it is, without advice', () => {
    const partner: Partner = {
      url: `${URL}?tenant=1`,
      signing: { secret, header: 'X-Sig' },
      apiKey: { value: 'a key' },
      headers: [['X-Tenant', 'caf\xe9\ttab']],
    };
    expect(checkPartner(partner)).toEqual({ partner, advice: [] });
  });
});

describe('a partner that cannot work is refused', () => {
  it.each([
    ['no URL', 'partner.example/hooks', 'is no URL'],
    ['another protocol', 'ftp://partner.example/', 'begins with ftp:'],
    ['a user', 'https://user@partner.example/', 'holds credentials'],
    ['a password', 'https://:word@partner.example/', 'holds credentials'],
    ['a fragment', `${URL}#top`, 'has a fragment'],
    ['an empty fragment', `${URL}#`, 'has a fragment'],
  ])('URL: %s', (_what, url, message) => {
    const error = refusal({ url });
    expect(error).toMatchObject({ code: 'PARTNER_URL', kind: 'usage' });
    expect(error.message).toContain(message);
    expect(error.message).not.toMatch(/user@|word/);
  });

  it('secret and key: empty', () => {
    expect(refusal({ url: URL, signing: { secret: '' } }).code).toBe('PARTNER_SECRET');
    expect(refusal({ url: URL, apiKey: { value: '' } }).code).toBe('PARTNER_API_KEY');
  });

  it.each([...RESERVED_HEADERS])('header name: %s is reserved, in any letter case and any role', (name) => {
    const upper = name.toUpperCase();
    for (const partner of [
      { headers: [[upper, 'x']] as const },
      { signing: { secret, header: upper } },
      { apiKey: { value: 'k', header: upper } },
    ]) {
      expect(refusal({ url: URL, ...partner })).toMatchObject({
        code: 'PARTNER_HEADER',
        message: expect.stringContaining(`reserved name ${upper}`),
      });
    }
  });

  it.each(['', 'X Name', 'X:Name', 'X-Näme', 'X\r\nY', '(x)'])('header name: %j is no token', (name) => {
    expect(refusal({ url: URL, headers: [[name, 'x']] }).message).toBe(
      'Headers: the name of custom header 1 is not a header name.',
    );
  });

  it.each([
    ['signature and key', { signing: { secret, header: 'X-Same' }, apiKey: { value: 'k', header: 'x-same' } }],
    ['the default name of the signature', { signing, headers: [['x-service-signature', 'x']] }],
    ['the default name of the key', { apiKey: { value: 'k' }, headers: [['X-Api-Key', 'x']] }],
    [
      'two custom headers',
      {
        headers: [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
      },
    ],
  ] as const)('header name: twice the same, %s', (_what, partner) => {
    expect(refusal({ url: URL, ...partner }).message).toMatch(/both have the name/);
  });

  it.each([
    ['CR', 'a\rb', 'a line break'],
    ['LF', 'a\n', 'a line break'],
    ['NUL', 'a\0b', 'a NUL character'],
    ['DEL', 'a\x7fb', 'a control character'],
    ['above U+00FF', 'a€', 'a character above U+00FF'],
    ['white space before', ' a', 'white space'],
    ['white space after', 'a\t', 'white space'],
  ])('header value: %s', (_what, value, message) => {
    for (const partner of [{ headers: [['X-A', value]] as const }, { apiKey: { value, header: 'X-A' } }]) {
      const error = refusal({ url: URL, ...partner });
      expect(error.code).toBe('PARTNER_HEADER');
      expect(error.message).toMatch(/^Headers: the value of X-A/);
      expect(error.message).toContain(message);
    }
  });
});

describe('TLS material', () => {
  it('that belongs together is accepted', async () => {
    const { cert, key } = await certificate('client');
    const tls = { clientCert: cert, clientKey: key, ca: cert };
    expect(checkPartner({ url: URL, signing, tls }).advice).toEqual([]);
  });

  it('may have a key with a passphrase, which has to be right', async () => {
    const { cert, key } = await certificate('client');
    const passphrase = randomBytes(12).toString('hex');
    const locked = createPrivateKey(key).export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase });
    const tls = { clientCert: cert, clientKey: locked.toString() };
    expect(checkPartner({ url: URL, signing, tls: { ...tls, passphrase } }).advice).toEqual([]);
    for (const wrong of [tls, { ...tls, passphrase: `${passphrase}x` }]) {
      const error = refusal({ url: URL, tls: wrong });
      expect(error).toMatchObject({ code: 'PARTNER_TLS', hint: expect.stringContaining('passphrase') });
      expect(`${error.message} ${error.hint}`).not.toContain(passphrase);
    }
  });

  it('that does not is refused, and what is wrong is said', async () => {
    const one = await certificate('one');
    const other = await certificate('other');
    const cases: [NonNullable<Partner['tls']>, string][] = [
      [{ clientCert: one.cert }, 'no client key'],
      [{ clientKey: one.key }, 'no client certificate'],
      [{ clientCert: one.cert, clientKey: other.key }, 'does not belong'],
      [{ clientCert: one.key, clientKey: one.key }, 'client certificate is not a certificate in PEM'],
      [{ clientCert: one.cert, clientKey: one.cert }, 'client key is not a private key in PEM'],
      [{ ca: 'hello' }, 'extra CA is not a certificate in PEM'],
      [{ ca: '' }, 'extra CA is not a certificate in PEM'],
    ];
    for (const [tls, message] of cases) {
      const error = refusal({ url: URL, tls });
      expect(error).toMatchObject({ code: 'PARTNER_TLS', message: expect.stringContaining(message) });
      expect(`${error.message} ${error.hint}`).not.toContain(one.key.split('\n')[1]);
    }
  });
});

describe('advice', () => {
  const advice = (partner: Omit<Partner, 'url'>, url = URL) => checkPartner({ url, ...partner }).advice;

  it('counts the characters of a short secret, from 31 down', () => {
    expect(advice({ signing: { secret: 'x'.repeat(32) } })).toEqual([]);
    expect(advice({ signing: { secret: 'x'.repeat(31) } })).toEqual([
      'The signature secret has 31 characters; at least 32 are recommended.',
    ]);
    expect(advice({ signing: { secret: '😀'.repeat(16) } })[0]).toMatch(/has 16 characters/);
  });

  it.each([
    [`${secret}\n`, /ends with a newline/],
    [`${secret} `, /white space/],
    [`\t${secret}`, /white space/],
  ])('warns of white space around a secret', (given, sentence) => {
    expect(advice({ signing: { secret: given } })).toEqual([expect.stringMatching(sentence)]);
  });

  it.each(['http://partner.example/', 'http://10.0.0.1/', 'http://127.0.0.1.example/', 'http://notlocalhost/'])(
    'warns of plain HTTP to %s',
    (url) => {
      expect(advice({ signing }, url)).toEqual([expect.stringMatching(/plain HTTP/)]);
    },
  );

  it.each([
    'http://localhost:1/',
    'http://api.localhost/',
    'http://127.0.0.1/',
    'http://127.8.9.1/',
    'http://[::1]:80/',
  ])('has nothing against plain HTTP to %s', (url) => {
    expect(advice({ signing }, url)).toEqual([]);
  });

  it('warns of a key alone and of nothing at all', () => {
    expect(advice({ apiKey: { value: 'k' } })).toEqual([expect.stringMatching(/API key alone/)]);
    expect(advice({})).toEqual([expect.stringMatching(/cannot tell who delivers/)]);
    expect(advice({ signing, apiKey: { value: 'k' } })).toEqual([]);
  });

  it('warns of TLS material that plain HTTP has no use for', async () => {
    const { cert } = await certificate('root', { isCa: true });
    expect(advice({ signing, tls: { ca: cert } }, 'http://localhost/')).toEqual([expect.stringMatching(/not used/)]);
  });
});

describe('whatever is wrong', () => {
  it('no secret, key or header value stands in an error or in advice', () => {
    const hidden = fc.string({ unit: 'binary', minLength: 6, maxLength: 40 }).map((text) => `q9z${text}`);
    fc.assert(
      fc.property(
        hidden,
        hidden,
        hidden,
        fc.constantFrom('X-A', 'x-api-key', 'Host', 'X B'),
        (one, two, three, name) => {
          const partner: Partner = {
            url: 'http://partner.example/',
            signing: { secret: one },
            apiKey: { value: two },
            headers: [[name, three]],
          };
          let said: string;
          try {
            said = JSON.stringify(checkPartner(partner).advice);
          } catch (error) {
            said = error instanceof HookproofError ? `${error.message} ${error.hint} ${error.stack}` : 'not ours';
            expect(error).toBeInstanceOf(HookproofError);
          }
          expect(said).not.toContain('q9z');
        },
      ),
    );
  });
});

/** Message and hint to the letter: they are what a person acts on. */
describe('the words of a refusal', () => {
  const words = (partner: Omit<Partner, 'url'>, url = URL) => {
    const { message, hint } = refusal({ url, ...partner });
    return `${message} ${hint}`;
  };
  const custom = (name: string, value = 'x') => words({ headers: [[name, value]] });

  it.each([
    ['partner.example/hooks', 'The endpoint URL is no URL. Give it whole: https://host/path'],
    [
      'ftp://partner.example/',
      'The endpoint URL begins with ftp:, which is neither http: nor https:. Give an https URL.',
    ],
    [
      'https://user@partner.example/',
      'The endpoint URL holds credentials. Take them out: a delivery is authenticated by signature, API key or client certificate.',
    ],
    [`${URL}#`, 'The endpoint URL has a fragment (#), which is never sent. Take it out.'],
  ])('%s', (url, expected) => expect(words({}, url)).toBe(expected));

  it('empty credentials', () => {
    expect(words({ signing: { secret: '' } })).toBe(
      'The signature secret is empty. Give the secret that was agreed with the partner, or leave signing out.',
    );
    expect(words({ apiKey: { value: '' } })).toBe(
      'The API key is empty. Give the key that the partner expects, or leave it out.',
    );
  });

  it('names of headers', () => {
    const noName = (role: string) =>
      `Headers: the name of ${role} is not a header name. Use letters, digits and hyphens, without a colon or spaces.`;
    expect(custom('X:Y')).toBe(noName('custom header 1'));
    expect(words({ signing: { secret, header: 'X:Y' } })).toBe(noName('the signature header'));
    expect(words({ apiKey: { value: 'k', header: 'X:Y' } })).toBe(noName('the API key header'));
    expect(custom('HOST')).toBe(
      'Headers: custom header 1 has the reserved name HOST. The sender sets this header itself. Choose another name.',
    );
    expect(
      words({
        headers: [
          ['X-A', '1'],
          ['x-a', '2'],
        ],
      }),
    ).toBe('Headers: custom header 2 and custom header 1 both have the name x-a. Give each header a name of its own.');
  });

  it.each([
    ['a\nb', 'a line break', 'Take it out; a newline at the end of a file is the usual cause.'],
    ['a\rb', 'a line break', 'Take it out; a newline at the end of a file is the usual cause.'],
    ['a\0b', 'a NUL character', 'Use printable ASCII characters.'],
    ['a\x01b', 'a control character', 'Use printable ASCII characters.'],
    ['a\x1fb', 'a control character', 'Use printable ASCII characters.'],
    ['a\x7fb', 'a control character', 'Use printable ASCII characters.'],
    ['a\x80\u0100', 'a character above U+00FF', 'Use printable ASCII characters.'],
  ])('a value with %j', (value, what, hint) => {
    expect(custom('X-A', value)).toBe(`Headers: the value of X-A (custom header 1) holds ${what}. ${hint}`);
  });

  it.each([' a', '\ta', 'a ', 'a\t', '  a', 'a  '])('the white space of %j', (value) => {
    expect(custom('X-A', value)).toBe(
      'Headers: the value of X-A (custom header 1) begins or ends with white space. HTTP drops white space around a value, so it would never arrive. Take it out.',
    );
  });

  it.each(['', 'a b', 'a\tb', 'a  b', '~', '\xa0x', '\xff'])('nothing against the value %j', (value) => {
    expect(checkPartner({ url: URL, signing, headers: [['X-A', value]] }).advice).toEqual([]);
  });

  it('half of a client certificate', async () => {
    const { cert, key } = await certificate('one');
    expect(words({ tls: { clientCert: cert } })).toBe('There is a client certificate and no client key. Give both.');
    expect(words({ tls: { clientKey: key } })).toBe('There is a client key and no client certificate. Give both.');
  });
});

describe('the words of advice', () => {
  const advice = (partner: Omit<Partner, 'url'>, url = URL) => checkPartner({ url, ...partner }).advice;
  const SHORT = 'at least 32 are recommended.';

  it('about the secret', () => {
    expect(advice({ signing: { secret: 'x' } })).toEqual([`The signature secret has 1 character; ${SHORT}`]);
    expect(advice({ signing: { secret: 'xy' } })).toEqual([`The signature secret has 2 characters; ${SHORT}`]);
    const added = 'which counts as part of it; a file or a variable often adds that by mistake.';
    for (const end of ['\n', '\r', '\r\n']) {
      expect(advice({ signing: { secret: `${secret}${end}` } })).toEqual([
        `The signature secret ends with a newline, ${added}`,
      ]);
    }
    expect(advice({ signing: { secret: `\n${secret} ` } })).toEqual([
      `The signature secret begins or ends with white space, ${added}`,
    ]);
  });

  it('about the connection and the features', async () => {
    const { cert, key } = await certificate('client', { isCa: false });
    expect(advice({ signing }, 'http://partner.example/')).toEqual([
      'The endpoint is plain HTTP on another machine: whoever is in between reads and changes deliveries. Use https.',
    ]);
    const ca = (await certificate('root', { isCa: true })).cert;
    expect(advice({ signing, tls: { ca } }, 'http://localhost/')).toEqual([
      'TLS material is given and the URL is plain http, so it is not used.',
    ]);
    expect(advice({ apiKey: { value: 'k' } })).toEqual([
      'The API key alone is basic security: it says nothing about the body. Add a signature.',
    ]);
    expect(advice({})).toEqual([
      'No signature, API key or client certificate is configured: the receiver cannot tell who delivers.',
    ]);
    expect(advice({ tls: { ca } })).toHaveLength(1);
    expect(advice({ tls: { clientCert: cert, clientKey: key } })).toEqual([]);
  });

  it('about a client certificate that a right server would refuse', async () => {
    const past = { from: new Date(Date.now() - 9 * 86_400_000), to: new Date(Date.now() - 86_400_000) };
    const { cert, key } = await certificate('client', past);
    expect(advice({ signing, tls: { clientCert: cert, clientKey: key } })).toEqual([
      expect.stringMatching(/^[A-Z].*expired.*\. [A-Z].*\.$/),
    ]);
  });

  it('is given all at once', () => {
    const all = advice({ signing: { secret: 'x ' } }, 'http://partner.example/');
    expect(all.map((sentence) => sentence.split(' ').slice(0, 3).join(' '))).toEqual([
      'The endpoint is',
      'The signature secret',
      'The signature secret',
    ]);
  });
});

describe('this machine', () => {
  it.each(['localhost', 'a.localhost', 'a.b.localhost', '127.0.0.1', '127.10.20.30', '[::1]'])('is %s', (host) =>
    expect(isLoopback(host)).toBe(true),
  );
  it.each([
    '.localhost',
    'localhost.example',
    'xlocalhost',
    '128.0.0.1',
    '1127.0.0.1',
    '127.0.0.1x',
    '127.0.0',
    '[::2]',
    '[::1]x',
    'x[::1]',
  ])('is not %s', (host) => expect(isLoopback(host)).toBe(false));
});
