/** Each loose check that real receivers have, as a function, and the scenarios that find it: no more and no fewer. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { digest, hmac } from '../../scenarios/changes/signing.ts';
import { apiKeySuite } from '../../scenarios/suites/api-key.ts';
import { combinationSuite } from '../../scenarios/suites/combination.ts';
import { signatureSuite } from '../../scenarios/suites/signature.ts';
import { assemble, deliveriesOf, fakeKit, type Sent, seededBytes, someCredentials } from './credential-check.ts';

// The key begins with a letter that no scenario sends alone.
// A signature whose first 32 characters are letters and digits alone would be let in by one check more.
const bytes = seededBytes(1);
const credentials = someCredentials(bytes);
const kit = fakeKit({ ...credentials, apiKey: `Zk-${credentials.apiKey}` }, bytes);

/** A request as a receiver on node:http gets it. */
interface Request {
  readonly body: Buffer;
  readonly target: string;
  /** The value of a header: trimmed, several lines joined. */
  header(name: string): string | undefined;
  /** The same, as it stands on the wire. */
  untrimmed(name: string): string | undefined;
}

function received({ head, body }: Sent): Request {
  const joined = (name: string, read: (value: string) => string) => {
    const lines = head.headers.filter(([other]) => other.toLowerCase() === name.toLowerCase());
    return lines.length === 0 ? undefined : lines.map(([, value]) => read(value)).join(', ');
  };
  return {
    body,
    target: head.target,
    header: (name) => joined(name, (value) => value.replace(/^[\t ]+|[\t ]+$/g, '')),
    untrimmed: (name) => joined(name, (value) => value),
  };
}

type Check = (request: Request, right: string) => boolean;

const header = (request: Request) => request.header(kit.signatureHeader);
const key = (request: Request) => request.header(kit.apiKeyHeader);
const notification = (request: Request) =>
  JSON.parse(request.body.toString()) as { type: string; id: string; data: unknown };

/** The ids of the scenarios that this check fails, without the name of the suite. */
function found(suite: typeof signatureSuite, check: Check): string[] {
  const telling = suite.scenarios.filter((scenario) =>
    deliveriesOf(scenario, kit).some(({ change, expect: due }) => {
      const sent = assemble(change, kit);
      const status = check(received(sent), kit.sign(sent.body)) ? 200 : 401;
      return !due.pass.includes(status) && due.note?.includes(status) !== true;
    }),
  );
  return telling.map(({ id }) => id.replace(/^.*\//, ''));
}

/** A signature check that also accepts what `also` says. */
const strictOr =
  (also: Check): Check =>
  (request, right) =>
    header(request) === right || also(request, right);

const usingSecret = (secret: string) =>
  strictOr((request) => header(request) === hmac(secret, request.body).toString('base64'));

describe('a receiver without a fault', () => {
  it('fails no scenario', () => {
    const strict: Check = (request, right) => header(request) === right && key(request) === kit.apiKey;
    expect([signatureSuite, apiKeySuite, combinationSuite].map((suite) => found(suite, strict))).toEqual([[], [], []]);
  });
});

describe('a loose check of the signature', () => {
  const cases: [string, Check, string[]][] = [
    [
      'takes a missing header',
      strictOr((request) => header(request) === undefined),
      [
        'missing',
        'unsigned-buy',
        'unsigned-sell',
        'unsigned-order-tracking',
        'unsigned-refund',
        'unsigned-payment-method',
        'unsigned-wallet',
        'unsigned-deposit',
        'unsigned-unknown-type',
        'in-x-signature',
        'in-x-hub-signature-256',
        'in-authorization',
        'in-cookie',
        'in-query',
        'in-body-unsigned',
        'unsigned-forwarded-for-loopback',
        'unsigned-real-ip-loopback',
        'unsigned-forwarded-loopback',
        'unsigned-debug-header',
        'unsigned-environment-header',
        'unsigned-verified-header',
        'unsigned-sender-user-agent',
        'unsigned-internal-referer',
        'unsigned-internal-origin',
        'unsigned-method-override',
        'unsigned-query-skip',
        'unsigned-query-test',
        'unsigned-query-debug',
        'unsigned-open-path-in-query',
        'unsigned-authorization',
        'unsigned-test-flag',
        'unsigned-tiny',
        'unsigned-with-charset',
        'unsigned-chunked',
      ],
    ],
    ['takes an empty header', strictOr((request) => header(request) === ''), ['empty', 'blank']],
    ['has no secret', usingSecret(''), ['secret-empty']],
    ['falls back to a secret of an example', usingSecret('changeme'), ['secret-changeme']],
    ['turns a missing secret into text', usingSecret('undefined'), ['secret-undefined']],
    ['signs with the API key', usingSecret(kit.apiKey), ['secret-api-key']],
    ['tries the secret with a line end', usingSecret(`${kit.secret}\n`), ['secret-newline']],
    [
      'keeps a hash of the secret',
      usingSecret(createHash('sha256').update(kit.secret).digest('hex')),
      ['secret-hashed'],
    ],
    ['compares the secret with the header', strictOr((request) => header(request) === kit.secret), ['secret-itself']],
    [
      'compares a beginning',
      strictOr((request, right) => right.startsWith(header(request) ?? '-')),
      ['empty', 'blank', 'first-1-character', 'first-4-characters', 'first-20-characters', 'first-43-characters'],
    ],
    [
      'compares to the end of the right value',
      strictOr((request, right) => header(request)?.startsWith(right) === true),
      ['non-ascii-behind', 'four-more-characters', 'comma-behind', 'word-behind'],
    ],
    [
      'compares the ending',
      strictOr((request, right) => header(request)?.endsWith(right) === true),
      ['characters-before', 'sha256-base64', 'version-prefix'],
    ],
    [
      'ignores case',
      strictOr((request, right) => header(request)?.toLowerCase() === right.toLowerCase()),
      ['swapped-case', 'lower-case'],
    ],
    [
      'compares 32 characters',
      strictOr(
        (request, right) => header(request)?.length === 44 && header(request)?.slice(0, 32) === right.slice(0, 32),
      ),
      ['last-character-changed', 'last-11-characters-changed', 'last-character-spare-bits'],
    ],
    [
      'compares from the eighth character',
      strictOr((request, right) => header(request)?.slice(7) === right.slice(7)),
      ['first-character-changed', 'characters-exchanged'],
    ],
    [
      'decodes leniently',
      strictOr((request, right) => Buffer.from(header(request) ?? '', 'base64').equals(Buffer.from(right, 'base64'))),
      [
        'non-ascii-behind',
        'first-43-characters',
        'four-more-characters',
        'comma-behind',
        'word-behind',
        'last-character-spare-bits',
        'base64url',
        'base64url-padded',
        'in-quotes',
        'blank-inside',
      ],
    ],
    [
      'takes hexadecimal',
      strictOr((request, right) => header(request) === Buffer.from(right, 'base64').toString('hex')),
      ['hex'],
    ],
    [
      'takes the form of another sender',
      strictOr((request, right) => header(request) === `sha256=${Buffer.from(right, 'base64').toString('hex')}`),
      ['sha256-hex'],
    ],
    [
      'takes SHA-1',
      strictOr((request) => header(request) === hmac(kit.secret, request.body, 'sha1').toString('base64')),
      ['hmac-sha1'],
    ],
    [
      'takes a plain hash',
      strictOr((request) => header(request) === digest('sha256', request.body).toString('base64')),
      ['sha256-of-body'],
    ],
    ['signs an empty body', strictOr((request) => header(request) === kit.sign(Buffer.alloc(0))), ['over-empty-body']],
    [
      'signs the id alone',
      strictOr((request) => header(request) === kit.sign(Buffer.from(notification(request).id))),
      ['over-id-only'],
    ],
    [
      'signs the data alone',
      strictOr((request) => header(request) === kit.sign(Buffer.from(JSON.stringify(notification(request).data)))),
      ['over-data-only'],
    ],
    [
      'looks in the query',
      strictOr((request, right) => new URL(request.target, 'http://x').searchParams.get('signature') === right),
      ['in-query'],
    ],
    [
      'trusts the client address',
      strictOr((request) => request.header('x-forwarded-for') === '127.0.0.1'),
      ['unsigned-forwarded-for-loopback'],
    ],
    ['has a debug parameter', strictOr((request) => request.target.includes('debug=1')), ['unsigned-query-debug']],
    [
      'verifies refunds only later',
      strictOr((request) => notification(request).type === 'REFUND'),
      ['unsigned-refund', 'wrong-on-every-kind'],
    ],
    [
      'skips unknown types',
      strictOr((request) => notification(request).type.startsWith('TEST_')),
      ['unsigned-unknown-type'],
    ],
    [
      'refuses what is old',
      (request, right) =>
        header(request) === right && !request.body.toString().includes(`"at":${1767323045 - 31_536_000}`),
      ['one-year-old'],
    ],
    ['does not trim', (request, right) => request.untrimmed(kit.signatureHeader) === right, ['white-space-around']],
  ];
  it.each(cases)('%s', (_name, check, ids) => {
    expect(found(signatureSuite, check)).toEqual(ids);
  });

  it('is found wherever a value has the form of a signature, when the form is all that is checked', () => {
    const ids = found(signatureSuite, (request) => /^[A-Za-z0-9+/]{43}=$/.test(header(request) ?? ''));
    expect(ids).toEqual(
      expect.arrayContaining(['other-secret', 'of-another-delivery', 'random-bytes', 'zero-bytes', 'sha256-of-body']),
    );
    expect(ids).not.toContain('hex');
  });
});

describe('a loose check of the API key', () => {
  const also =
    (accepts: (value: string | undefined, request: Request) => boolean): Check =>
    (request) =>
      key(request) === kit.apiKey || accepts(key(request), request);
  const cases: [string, Check, string[]][] = [
    [
      'takes a missing key',
      also((value) => value === undefined),
      [
        'missing',
        'in-query-api-key',
        'in-query-key',
        'in-query-header-name',
        'in-query-token',
        'in-authorization',
        'in-authorization-basic',
        'in-cookie',
        'in-other-header',
        'in-usual-headers',
        'in-body-without-header',
        'missing-for-every-kind',
        'missing-with-claims',
        'missing-with-test-query',
        'missing-with-charset',
        'missing-on-malformed',
      ],
    ],
    ['takes an empty key', also((value) => value === ''), ['empty', 'blank']],
    [
      'compares a beginning',
      also((value) => value !== undefined && kit.apiKey.startsWith(value)),
      ['empty', 'blank', 'first-half', 'one-character-short'],
    ],
    ['does not trim', (request) => request.untrimmed(kit.apiKeyHeader) === kit.apiKey, ['white-space-around']],
    [
      'compares to the end of the stored key',
      also((value) => value?.startsWith(kit.apiKey) === true),
      ['one-character-more'],
    ],
    [
      'looks for the key anywhere',
      also((value) => value?.includes(kit.apiKey) === true),
      ['one-character-more', 'prefixed', 'in-quotes', 'bearer-prefix', 'in-list'],
    ],
    [
      'ignores case',
      also((value) => value?.toLowerCase() === kit.apiKey.toLowerCase()),
      ['swapped-case', 'upper-case'],
    ],
    ['takes a pattern', also((value) => value !== undefined && /^[.*]+$/.test(value)), ['any-pattern', 'asterisk']],
    ['looks in the query', also((_value, request) => request.target.includes(`?key=${kit.apiKey}`)), ['in-query-key']],
    [
      'takes bearer tokens',
      also((_value, request) => request.header('authorization') === `Bearer ${kit.apiKey}`),
      ['in-authorization'],
    ],
    [
      'takes a cookie',
      also((_value, request) => request.header('cookie')?.includes(kit.apiKey) === true),
      ['in-cookie'],
    ],
    ['looks in the body', also((_value, request) => request.body.includes(kit.apiKey)), ['in-body-without-header']],
  ];
  it.each(cases)('%s', (_name, check, ids) => {
    expect(found(apiKeySuite, check)).toEqual(ids);
  });
});

describe('two checks joined wrongly', () => {
  const signed: Check = (request, right) => header(request) === right;
  const keyed: Check = (request) => key(request) === kit.apiKey;
  const cases: [string, Check, string[]][] = [
    [
      'one is enough',
      (request, right) => signed(request, right) || keyed(request, right),
      [
        'wrong-signature-right-key',
        'missing-signature-right-key',
        'right-signature-wrong-key',
        'right-signature-missing-key',
      ],
    ],
    ['the key alone counts', keyed, ['wrong-signature-right-key', 'missing-signature-right-key']],
    ['the signature alone counts', signed, ['right-signature-wrong-key', 'right-signature-missing-key']],
    [
      'the results are compared with each other',
      (request, right) => signed(request, right) === keyed(request, right),
      [
        'wrong-signature-wrong-key',
        'wrong-signature-missing-key',
        'missing-signature-wrong-key',
        'missing-signature-missing-key',
      ],
    ],
    [
      'what is missing is not asked for',
      (request, right) => (header(request) ?? right) === right && (key(request) ?? kit.apiKey) === kit.apiKey,
      ['missing-signature-right-key', 'right-signature-missing-key', 'missing-signature-missing-key'],
    ],
  ];
  it.each(cases)('%s', (_name, check, ids) => {
    expect(found(combinationSuite, check)).toEqual(ids);
  });
});
