import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { HeaderLine } from '../../../../contract/index.ts';
import {
  describeScheme,
  FOREIGN_SCHEMES,
  PYTHON,
  rewriteJson,
  SCHEMES,
  type Scheme,
  signatureOf,
  signWithScheme,
  verifyWithScheme,
} from '../../../../contract/signing/index.ts';
import { lacks } from '../../../setup/programs.ts';

const schemeCalled = (name: string): Scheme => {
  const scheme = SCHEMES.find((one) => one.name === name);
  if (scheme === undefined) throw new Error(`no scheme ${name}`);
  return scheme;
};
const NOW = 1_731_705_121;
const input = {
  body: Buffer.from('{"type":"a.b","n":1.50,"name":"café"}'),
  url: 'https://a.test/',
  id: 'msg_1',
  timestamp: NOW,
};
const STANDARD_SECRET = 'whsec_plJ3nmyCDGBKInavdOK15jsl';

/** Made by the libraries of the services, or copied from their documentation. */
const PUBLISHED: readonly [
  origin: string,
  scheme: string,
  secret: string,
  given: Partial<typeof input>,
  value: string,
][] = [
  [
    'standardwebhooks 1.1.1',
    'standard-webhooks',
    STANDARD_SECRET,
    {},
    'v1,6AhfijMr9XDu/B61HcUMJUZ27bmnOJsQaDR3e05w7qc=',
  ],
  ['svix 1.99.1', 'svix', STANDARD_SECRET, {}, 'v1,6AhfijMr9XDu/B61HcUMJUZ27bmnOJsQaDR3e05w7qc='],
  [
    'stripe 23.1.0',
    'stripe',
    'whsec_stripe',
    {},
    't=1731705121,v1=cffca55366bd6f1c2232f868134ab2e4a17c1ac8cf27464566564134cb8e5c78',
  ],
  [
    '@octokit/webhooks-methods 6.0.0',
    'github',
    "It's a Secret to Everybody",
    {},
    'sha256=4dff306b2ed2c42a5b205e7cf205c1b72cb3cd89b9c344d89e4a8fe9a4c76e58',
  ],
  [
    'the documentation of GitHub',
    'github',
    "It's a Secret to Everybody",
    { body: Buffer.from('Hello, World!') },
    'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  ],
  [
    'the documentation of Svix',
    'svix',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    { body: Buffer.from('{"test": 2432232314}'), id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330 },
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ],
  [
    'the documentation of Slack',
    'slack',
    '8f742231b10e8888abcd99yyyzzz85a5',
    {
      body: Buffer.from(
        'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=' +
          'foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2F' +
          'hooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=' +
          '398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
      ),
      timestamp: 1_531_420_618,
    },
    'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  ],
];

function secretFor({ secret: { prefix = '', encoding }, algorithm }: Scheme): string {
  if (algorithm === 'ed25519') {
    const der = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' });
    return prefix + der.subarray(-32).toString('base64');
  }
  return prefix + randomBytes(24).toString(encoding === 'utf8' ? 'base64url' : encoding);
}

/** Returns the headers with another value in place of each signature. */
function withSignature(headers: readonly HeaderLine[], replace: (value: string) => string): HeaderLine[] {
  return headers.map(([name, value]) => (/signature|hmac/i.test(name) ? [name, replace(value)] : [name, value]));
}

describe('a scheme', () => {
  it.each(PUBLISHED)('makes the signature of %s', (_, name, secret, given, value) => {
    const headers = signWithScheme(schemeCalled(name), { ...input, ...given }, [secret]);
    expect(headers.map(([, each]) => each)).toContain(value);
    const delivery = { ...input, ...given, headers };
    const { timestamp } = { ...input, ...given };
    expect(verifyWithScheme(schemeCalled(name), delivery, secret, timestamp)).toMatchObject({
      matches: true,
      outOfTolerance: null,
    });
  });

  it('of the service is the default', () => {
    expect(signWithScheme(schemeCalled('service'), input, ['secret'])).toEqual([
      ['X-Service-Signature', signatureOf(input.body, 'secret')],
    ]);
  });

  it.skipIf(lacks('openssl'))('square signs the URL and the body, as OpenSSL does', () => {
    const [[, value] = []] = signWithScheme(schemeCalled('square'), input, ['secret']);
    const theirs = execFileSync('sh', ['-c', 'openssl dgst -sha256 -hmac secret -binary | openssl base64 -A'], {
      input: Buffer.concat([Buffer.from(input.url), input.body]),
    });
    expect(value).toBe(theirs.toString());
  });

  it.each(SCHEMES.map((scheme) => [scheme.name, scheme] as const))(
    '%s accepts what it signs, and nothing else',
    (_, scheme) => {
      const secret = secretFor(scheme);
      const headers = signWithScheme(scheme, input, [secret]);
      const verdict = (delivery: { body?: Uint8Array; headers?: readonly HeaderLine[]; url?: string }, key = secret) =>
        verifyWithScheme(scheme, { ...input, headers, ...delivery }, key, NOW).matches;
      expect(verdict({})).toBe(true);
      expect(verdict({}, secretFor(scheme))).toBe(false);
      expect(verdict({ body: Buffer.concat([input.body, Buffer.from(' ')]) })).toBe(false);
      for (const [name] of headers) {
        const isOlder = name in (scheme.olderSignatures ?? {});
        expect(verdict({ headers: headers.filter((line) => line[0] !== name) })).toBe(isOlder);
      }
      expect(verdict({ headers: withSignature(headers, (value) => `${value}A`) })).toBe(false);
      expect(verdict({ headers: withSignature(headers, () => '') })).toBe(false);
      const other = (placeholder: 'id' | 'timestamp' | 'url', value: unknown) =>
        verdict({ headers: signWithScheme(scheme, { ...input, [placeholder]: value }, [secret]) }) ===
        Object.values({ ...scheme.headers, signed: scheme.signed }).every((text) => !text.includes(`{${placeholder}}`));
      expect(other('url', 'https://b.test/')).toBe(true);
      // The header has the other value, which is signed too.
      const moved = headers.map(([name, value]): HeaderLine => [name, value.replace(`${NOW}`, `${NOW + 1}`)]);
      expect(verdict({ headers: moved })).toBe(!scheme.signed.includes('{timestamp}'));
    },
  );

  it.each(SCHEMES.filter(({ separator }) => separator !== undefined).map((scheme) => [scheme.name, scheme] as const))(
    '%s may carry the signatures of two secrets',
    (_, scheme) => {
      const [old, next] = [secretFor(scheme), secretFor(scheme)];
      const headers = signWithScheme(scheme, input, [old, next]);
      for (const secret of [old, next]) {
        expect(verifyWithScheme(scheme, { ...input, headers }, secret, NOW).matches).toBe(true);
      }
    },
  );

  it('with one signature refuses two secrets', () => {
    expect(() => signWithScheme(schemeCalled('github'), input, ['a', 'b'])).toThrow('has one signature');
  });

  it('with Ed25519 is verified with the public key alone', () => {
    const scheme = schemeCalled('standard-webhooks-ed25519');
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const bytes = (key: Buffer) => key.subarray(-32).toString('base64');
    const secret = `whsk_${bytes(privateKey.export({ format: 'der', type: 'pkcs8' }))}`;
    const open = `whpk_${bytes(publicKey.export({ format: 'der', type: 'spki' }))}`;
    const headers = signWithScheme(scheme, input, [secret]);
    expect(verifyWithScheme(scheme, { ...input, headers }, open, NOW).matches).toBe(true);
    expect(() => signWithScheme(scheme, input, ['whsk_AAAA'])).toThrow('not a valid private key');
    expect(() => verifyWithScheme(scheme, { ...input, headers }, 'whpk_AAAA', NOW)).toThrow('not a valid public key');
  });

  it('names the difference when a signature is made in another way', () => {
    const scheme = schemeCalled('standard-webhooks');
    const reasons = (way: Partial<Scheme>, body: Uint8Array = input.body) => {
      const headers = signWithScheme({ ...scheme, ...way }, { ...input, body }, [STANDARD_SECRET]);
      return verifyWithScheme(scheme, { ...input, headers }, STANDARD_SECRET, NOW).problems;
    };
    expect(reasons({ secret: { encoding: 'utf8' } })).toEqual(['The key was the whole secret as text.']);
    expect(reasons({ signed: '{body}' })).toEqual(['It was computed over {body}, not over {id}.{timestamp}.{body}.']);
    expect(reasons({ algorithm: 'sha1' })).toEqual(['It was made with sha1, not with sha256.']);
    expect(reasons({ encoding: 'hex', signed: '{timestamp}.{body}' })).toEqual([
      'It was computed over {timestamp}.{body}, not over {id}.{timestamp}.{body}.',
      'It is written in hex, not in Base64.',
    ]);
    expect(reasons({}, Buffer.from(rewriteJson(input.body.toString(), PYTHON)))[0]).toMatch(
      /^It was computed over .* instead of the received bytes\.$/,
    );
    expect(reasons({ signature: 'v2,{value}' })).toEqual(['No signature has the form v1,{value}.']);
  });

  it('says when a delivery is too old or from the future, and never when a scheme does not', () => {
    const age = (name: string, now: number) => {
      const scheme = schemeCalled(name);
      const headers = signWithScheme(scheme, input, [STANDARD_SECRET]);
      return verifyWithScheme(scheme, { ...input, headers }, STANDARD_SECRET, now).outOfTolerance;
    };
    expect([300, 301, -300, -301].map((seconds) => age('stripe', NOW + seconds))).toEqual([null, 301, null, -301]);
    expect(age('github', NOW + 10_000)).toBeNull();
  });

  it('says which header is wrong', () => {
    const scheme = schemeCalled('stripe');
    const problems = (...headers: HeaderLine[]) =>
      verifyWithScheme(scheme, { ...input, headers }, 'secret', NOW).problems;
    expect(problems()).toEqual(['The header Stripe-Signature of Stripe is missing.']);
    expect(problems(['stripe-signature', 'abc'])).toEqual([
      'The header Stripe-Signature does not have the form t={timestamp},{signature}.',
    ]);
    expect(problems(['stripe-signature', 't=12.5,v1=00'])).toEqual(['The timestamp is not a whole number of seconds.']);
    expect(problems(['stripe-signature', 't=1,v1=0'], ['Stripe-Signature', 't=1,v1=0'])).toEqual([
      'The header Stripe-Signature occurs 2 times.',
    ]);
  });

  it('is described from its literal', () => {
    const of = (name: string) => describeScheme(schemeCalled(name));
    expect(of('stripe')).toBe('hex of HMAC-SHA256 over <timestamp>.<body>, as t=<timestamp>,v1=<value>');
    expect(of('service')).toBe('Base64 of HMAC-SHA256 over <body>');
    expect(of('standard-webhooks-ed25519')).toBe(
      'Base64 of an Ed25519 signature over <id>.<timestamp>.<body>, as v1a,<value>',
    );
  });

  it('has a name of its own, and headers of its own', () => {
    expect(new Set(SCHEMES.map(({ name }) => name)).size).toBe(SCHEMES.length);
    for (const { headers, documentation } of FOREIGN_SCHEMES) {
      expect(Object.values(headers).join()).toContain('{signature}');
      expect(new URL(documentation ?? '').protocol).toBe('https:');
    }
  });
});
