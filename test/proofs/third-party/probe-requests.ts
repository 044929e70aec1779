/** The requests of the prober, by fact: valid ones, forged ones in every shape, malformed and broken ones. */
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface Endpoint {
  readonly port: number;
  readonly path: string;
  readonly signatureHeader: string;
  readonly secret: string;
  /** The API key. Null if the endpoint checks none. */
  readonly apiKey: string | null;
  /** Headers on every delivery. */
  readonly headers: Readonly<Record<string, string>>;
  /** Restarts the receiver if its process has ended. Resolves with whether it had ended. */
  readonly revive: () => Promise<boolean>;
}

/** A request. Missing fields are those of a valid delivery. */
export interface Sending {
  readonly body?: string | Buffer;
  readonly method?: string;
  readonly path?: string;
  readonly version?: '1.0' | '1.1';
  /** The Content-Type. Null sends none. */
  readonly type?: string | null;
  /**
   * The signature header. Null sends none, and a list sends several lines. Default: the valid signature of the body.
   */
  readonly signature?: string | readonly string[] | null;
  readonly key?: string | null;
  readonly framing?: 'length' | 'chunked' | 'none';
  /** The value of a signature header that follows a chunked body. */
  readonly signatureInTrailer?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly headerCase?: (name: string) => string;
  readonly host?: string | null;
  /** The bytes that are sent unchanged instead of a composed request. */
  readonly raw?: string;
  /** Closes the connection after this share of the body. */
  readonly cutAt?: number;
}

export const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Yields every fact with its request or requests. */
export function* factsOf(endpoint: Endpoint): Generator<[string, Sending | readonly Sending[]]> {
  yield ['valid/buy', {}];
  for (const [name, sending] of Object.entries(validVariants(endpoint))) yield [`valid/${name}`, sending];
  for (const [name, body] of Object.entries(SPELLINGS)) yield [`bytes/${name}`, { body }];
  for (const [name, of] of Object.entries(FORGED_SIGNATURES)) yield [`forged/${name}`, forgedBy(endpoint, of)];
  for (const [name, [body, signed]] of Object.entries(SIGNED_OVER_ANOTHER)) {
    const signature = createHmac('sha256', endpoint.secret).update(signed).digest('base64');
    yield [`forged/over-${name}`, { body, signature }];
  }
  for (const [name, signed] of Object.entries({ nothing: '', 'empty-object': '{}' })) {
    const signature = createHmac('sha256', endpoint.secret).update(signed).digest('base64');
    yield [`forged/over-${name}-as-other-type`, asOtherTypes().map((one) => ({ ...one, signature }))];
  }
  const random = randomBytes(32).toString('base64');
  const shapes = Object.entries(shapesOf());
  for (const [name, shape] of shapes) {
    yield [`unsigned/${name}`, [shape].flat().map((one) => ({ ...one, signature: null }))];
    yield [`forged/${name}`, [shape].flat().map((one) => ({ ...one, signature: random }))];
    if (endpoint.apiKey === null) continue;
    yield [`keyless/${name}`, [shape].flat().map((one) => ({ ...one, key: null }))];
    yield [`wrong-key/${name}`, [shape].flat().map((one) => ({ ...one, key: 'not-the-key' }))];
  }
  if (endpoint.apiKey !== null) {
    for (const [name, sending] of Object.entries(forgedKeys(endpoint.apiKey))) yield [`wrong-key/${name}`, sending];
    yield ['wrong-key/and-unsigned', { key: null, signature: null }];
  }
  for (const [name, bypass] of Object.entries(BYPASSES)) {
    const uses = bypass.map(([path, headers]) => ({ path: `${endpoint.path}${path}`, headers, signature: null }));
    yield [`unsigned/by-${name}`, uses];
    if (endpoint.apiKey !== null)
      yield [`keyless/by-${name}`, uses.map(({ path, headers }) => ({ path, headers, key: null }))];
  }
  for (const [name, body] of Object.entries(MALFORMED)) {
    yield [`malformed/${name}`, { body }];
    yield [`unsigned/malformed-${name}`, { body, signature: null }];
  }
  for (const [name, sending] of Object.entries(protocolOf(endpoint))) yield [`http/${name}`, sending];
  for (const [name, path] of Object.entries(pathsNear(endpoint.path))) {
    const key = endpoint.apiKey === null ? {} : { key: null };
    yield [`unsigned/path-${name}`, [path].flat().map((one) => ({ path: one, signature: null, ...key }))];
  }
  yield ['valid/after-all', {}];
}

/** Creates a notification with the fields of the specification. */
export function notification(type = 'CAAS', at: unknown = 1_700_000_000, data: unknown = order('BUY')): string {
  return JSON.stringify({ id: randomUUID(), type, at, data });
}

function order(type: string, more: object = {}): object {
  const chain = {
    targetWalletAddress: '0x52908400098527886E0F7030069857D2E4169EE7',
    blockchainTransactionId: `0x${randomBytes(32).toString('hex')}`,
    blockchainMemo: '',
    currency: 'ETH',
    chain: 'ETHEREUM',
    refundWalletAddress: '',
    sourceWalletAddress: '0xde709f2102306220921060314715629080e2fb77',
  };
  const metadata = { orderStatus: 'COMPLETED', blockchainData: chain };
  return { type, providerId: 'provider-1', transactionId: randomUUID(), metadata, errorData: null, ...more };
}

const now = () => new Date().toISOString();
const KINDS: Readonly<Record<string, () => string>> = {
  sell: () => notification('CAAS', 1_700_000_001, order('SELL')),
  tracking: () =>
    notification('CAAS', 1_700_000_002, {
      ...order('ORDER_TRACKING'),
      metadata: {
        orderType: 'BUY',
        providerTransactionId: 'p-1',
        providerTransactionRef: 'r-1',
        providerTransactionStatus: 'COMPLETED',
        trackingStateDescription: 'Paid at the kiosk',
      },
    }),
  refund: () =>
    notification('REFUND', 1_700_000_003, {
      providerId: 'provider-1',
      transactionId: randomUUID(),
      status: 'SUCCESS',
      metadata: { blockchainTransactionId: '0x1', amount: '0.5', currency: 'ETH', walletAddress: '0x2' },
    }),
  payment: () =>
    notification('PAYMENT_METHOD', 1_700_000_004, { status: 'STAGED', paymentMethodId: 'm-1', accountId: 'a-1' }),
  wallet: () =>
    notification('WALLET', now(), {
      operation: 'WALLET_CREATED',
      customerId: 'c-1',
      walletAddress: '0x3',
      assetId: 'ETH',
      chain: 'ETHEREUM',
    }),
  deposit: () =>
    notification('CAAS_BLOCKCHAIN', now(), {
      type: 'RECEIVE',
      status: 'COMPLETED',
      partnerTransactionId: 'd-1',
      customerId: 'c-1',
      metadata: {
        sourceAddress: '0x4',
        destinationAddress: '0x5',
        asset: { amount: '1000000000000000000', currency: 'ETH' },
        blockchainTransctionId: '0x6',
      },
    }),
  'unknown-type': () => notification('ANOTHER', 1_700_000_005, { any: 'thing' }),
};

function validVariants({ path }: Endpoint): Record<string, Sending | Sending[]> {
  const copy = notification();
  return {
    ...Object.fromEntries(Object.entries(KINDS).map(([name, body]) => [name, { body: body() }])),
    twice: [{ body: copy }, { body: copy }],
    charset: [{ type: 'application/json; charset=utf-8' }, { type: 'application/json;charset=UTF-8' }],
    'lower-case-headers': { headerCase: (name) => name.toLowerCase() },
    'upper-case-headers': { headerCase: (name) => name.toUpperCase() },
    'unknown-headers': {
      headers: { 'X-Request-Id': randomUUID(), traceparent: '00-1-2-01', 'X-Long': 'x'.repeat(4000) },
    },
    chunked: { framing: 'chunked' },
    'http-1-0': { version: '1.0' },
    expect: { headers: { Expect: '100-continue' } },
    'long-text': {
      body: notification('CAAS', 1, order('BUY', { errorData: { code: '1', message: 'ä'.repeat(2000) } })),
    },
    'upgrade-offered': { headers: { Upgrade: 'h2c', Connection: 'Upgrade, close' } },
    'absolute-target': { path: `http://127.0.0.1${path}` },
    ...Object.fromEntries([16, 99, 150, 1000].map((kb) => [`${kb}-kb`, { body: ofSize(kb * 1000) }])),
  };
}

const ofSize = (bytes: number) => notification('CAAS', 1, order('BUY', { filler: 'x'.repeat(bytes) }));
const withFields = (fields: string) => `${notification().slice(0, -1)},${fields}}`;

/** Bodies that parse to a notification, but that JSON.stringify would write differently. */
const SPELLINGS: Readonly<Record<string, string>> = {
  spaces: notification().replaceAll('":', '": ').replaceAll(',"', ', "'),
  indented: JSON.stringify(JSON.parse(notification()), null, 2),
  'crlf-lines': JSON.stringify(JSON.parse(notification()), null, 2).replaceAll('\n', '\r\n'),
  'space-around': ` ${notification()} `,
  'newline-behind': `${notification()}\n`,
  'escaped-slash': withFields('"url":"https:\\/\\/a.example\\/b"'),
  'escaped-letter': withFields('"name":"\\u0041\\u00e9"'),
  'escape-upper': withFields('"name":"\\u00E9"'),
  accent: withFields('"name":"Zoë"'),
  emoji: withFields('"name":"🚀"'),
  'escaped-emoji': withFields('"name":"\\ud83d\\ude80"'),
  'line-separator': withFields('"name":"a\u2028b"'),
  html: withFields('"name":"<b>&amp;</b>"'),
  'escaped-html': withFields('"name":"\\u003cb\\u003e"'),
  percent: withFields('"name":"%41 %s + %"'),
  'null-character': withFields('"name":"a\\u0000b"'),
  'delete-character': withFields('"name":"a\u007fb"'),
  'lone-surrogate': withFields('"name":"\\ud83d"'),
  'combining-accent': withFields('"name":"e\u0301"'),
  'keys-reversed': JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(notification())).reverse())),
  'keys-like-integers': withFields('"b":1,"2":1,"1":1'),
  'keys-repeated': withFields('"a":1,"a":2'),
  'float-1-0': withFields('"n":1.0'),
  exponent: withFields('"n":1e3,"m":1E+2'),
  'trailing-zero': withFields('"n":0.10'),
  'negative-zero': withFields('"n":-0'),
  'big-integer': withFields('"n":12345678901234567890'),
  'huge-exponent': withFields('"n":1e400'),
  'empty-members': withFields('"o":{ },"l":[ ]'),
  'long-decimal': withFields('"n":0.1234567890123456789012345'),
};

type Signer = (body: string, secret: string, apiKey: string) => string | readonly string[];
const hmac = (body: string, secret: string, algorithm = 'sha256') => createHmac(algorithm, secret).update(body);
const valid = (body: string, secret: string) => hmac(body, secret).digest('base64');
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

/** Signatures that must not pass. `lenient-...`: the valid digest in another spelling. */
const FORGED_SIGNATURES: Readonly<Record<string, Signer>> = {
  empty: () => '',
  blank: () => '   ',
  random: () => randomBytes(32).toString('base64'),
  'zero-bytes': () => Buffer.alloc(32).toString('base64'),
  'other-secret': (body) => valid(body, 'another secret of some length'),
  'empty-secret': (body) => valid(body, ''),
  'secret-undefined': (body) => valid(body, 'undefined'),
  'secret-placeholder': (body) => valid(body, 'changeme'),
  'signed-with-key': (body, _secret, key) => valid(body, key),
  'other-body': (_body, secret) => valid(notification(), secret),
  'changed-body': (body, secret) => valid(body.replace('CAAS', 'CAAZ'), secret),
  'empty-body-signed': (_body, secret) => valid('', secret),
  'id-and-body': (body, secret) => valid(`${JSON.parse(body).id}.${body}`, secret),
  'data-only': (body, secret) => valid(JSON.stringify(JSON.parse(body).data), secret),
  short: () => 'A',
  'first-20': (body, secret) => valid(body, secret).slice(0, 20),
  'lenient-first-43': (body, secret) => valid(body, secret).slice(0, 43),
  'lenient-longer': (body, secret) => `${valid(body, secret)}AAAA`,
  '4000-characters': () => 'A'.repeat(4000),
  'non-ascii': () => `${'é'.repeat(22)}`,
  'non-ascii-same-length': () => 'é'.repeat(44),
  'last-changed': (body, secret) => changed(valid(body, secret), 42),
  'first-changed': (body, secret) => changed(valid(body, secret), 0),
  'lower-case': (body, secret) => valid(body, secret).toLowerCase(),
  undefined: () => 'undefined',
  pattern: () => '.*',
  star: () => '*',
  separator: () => ',',
  'prefix-alone': () => 'sha256=',
  'base64-twice': (body, secret) => Buffer.from(valid(body, secret)).toString('base64'),
  unkeyed: (body) => sha256(body),
  'hash-with-secret': (body, secret) => sha256(secret + body),
  sha1: (body, secret) => hmac(body, secret, 'sha1').digest('base64'),
  sha512: (body, secret) => hmac(body, secret, 'sha512').digest('base64'),
  md5: (body, secret) => hmac(body, secret, 'md5').digest('hex'),
  'secret-itself': (_body, secret) => secret,
  'key-itself': (_body, _secret, key) => key,
  'lenient-two-lines': (body, secret) => [valid(body, secret), 'AAAA'],
  'two-lines-wrong-first': (body, secret) => ['AAAA', valid(body, secret)],
  'lenient-list': (body, secret) => `${valid(body, secret)}, AAAA`,
  'lenient-hex': (body, secret) => hmac(body, secret).digest('hex'),
  'lenient-prefixed-hex': (body, secret) => `sha256=${hmac(body, secret).digest('hex')}`,
  'lenient-prefixed-base64': (body, secret) => `sha256=${valid(body, secret)}`,
  'lenient-url-alphabet': (body, secret) => hmac(body, secret).digest('base64url'),
  'lenient-quoted': (body, secret) => `"${valid(body, secret)}"`,
  'lenient-blank-inside': (body, secret) => `${valid(body, secret).slice(0, 20)} ${valid(body, secret).slice(20)}`,
};

const compact = notification();
const withSlash = withFields('"url":"https://a.example"');
const withAccent = withFields('"name":"Zoë"');
const withBadBytes = Buffer.concat([Buffer.from('{"id":"'), Buffer.from([0xff, 0xfe, 0x80]), Buffer.from('"}')]);
const pretty = (json: string, lineEnd = '\n') => JSON.stringify(JSON.parse(json), null, 2).replaceAll('\n', lineEnd);

/** Pairs of a sent body and another one that is signed: the mistakes of verifiers that do not use the raw body. */
const SIGNED_OVER_ANOTHER: Readonly<Record<string, readonly [sent: string | Buffer, signed: string | Buffer]>> = {
  compact: [pretty(compact), compact],
  pretty: [compact, pretty(compact)],
  python: [compact, compact.replaceAll('":', '": ').replaceAll(/([\]"}el0-9]),"/g, '$1, "')],
  sorted: [compact, sorted(compact)],
  php: [withSlash, withSlash.replaceAll('/', '\\/')],
  trimmed: [`${compact}\n`, compact],
  'line-ends': [pretty(compact, '\r\n'), pretty(compact)],
  'latin-1': [withAccent, Buffer.from(withAccent, 'latin1')],
  ascii: [withAccent, withAccent.replaceAll('ë', '?')],
  escapes: [withAccent, withAccent.replaceAll('ë', '\\u00eb')],
  'until-zero-byte': [`${compact}\u0000more`, compact],
  'decoded-text': [withBadBytes, withBadBytes.toString('utf8')],
  'without-byte-order-mark': [`\ufeff${compact}`, compact],
};

/** Returns deliveries that a JSON parser may leave unread. */
function asOtherTypes(): Sending[] {
  const types = [JSON_TYPE, 'text/plain', FORM_TYPE, 'application/vnd.a+json', 'multipart/form-data; boundary=b', null];
  const gzipped = { body: gzipSync(notification()), headers: { 'Content-Encoding': 'gzip' } };
  return [...types.map((type) => ({ type })), gzipped];
}

function sorted(json: string): string {
  const order = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .toSorted()
            .map(([key, inner]) => [key, order(inner)]),
        )
      : value;
  return JSON.stringify(order(JSON.parse(json)));
}

function changed(text: string, index: number): string {
  return text.slice(0, index) + (text[index] === 'A' ? 'Q' : 'A') + text.slice(index + 1);
}

function forgedBy({ secret, apiKey }: Endpoint, of: Signer): Sending {
  // The signature of this body differs between the two Base64 alphabets.
  let body = notification();
  while (!/[+/]/.test(valid(body, secret).slice(0, 20))) body = notification();
  return { body, signature: of(body, secret, apiKey ?? 'an-api-key') };
}

function forgedKeys(key: string): Record<string, Sending> {
  const upper = key === key.toUpperCase() ? key.toLowerCase() : key.toUpperCase();
  return {
    empty: { key: '' },
    short: { key: key.slice(0, -1) },
    half: { key: key.slice(0, key.length / 2) },
    longer: { key: `${key}x` },
    'other-case': { key: upper },
    'last-changed': { key: changed(key, key.length - 1) },
    'non-ascii': { key: 'é'.repeat(key.length) },
    '5000-characters': { key: 'k'.repeat(5000) },
    bearer: { key: `Bearer ${key}` },
    pattern: { key: '.*' },
    star: { key: '*' },
    undefined: { key: 'undefined' },
    'in-query': { key: null, path: `?api_key=${encodeURIComponent(key)}` },
    'in-authorization': { key: null, headers: { Authorization: `Bearer ${key}` } },
    'two-lines': { key: null, headers: { 'X-API-Key': 'wrong', 'x-api-key': key } },
  };
}

/**
 * Returns the ways to frame a request. Each is sent unsigned, with an invalid signature, without a key and with an
 * invalid key.
 */
function shapesOf(): Record<string, Sending | Sending[]> {
  const form = `payload=${encodeURIComponent(notification())}`;
  const status = 'data%5Btype%5D=BUY&data%5Bmetadata%5D%5BorderStatus%5D=FAILED';
  const fields = `id=${randomUUID()}&type=CAAS&at=1&${status}&${form}`;
  const multipart = `--b\r\nContent-Disposition: form-data; name="payload"\r\n\r\n${notification()}\r\n--b--\r\n`;
  return {
    json: {},
    ...Object.fromEntries(Object.entries(KINDS).map(([name, body]) => [name, { body: body() }])),
    charset: [{ type: 'application/json; charset=utf-8' }, { type: 'application/json;charset=UTF-8' }],
    'type-text': { type: 'text/plain' },
    'type-form': [form, fields]
      .map((body) => ({ type: FORM_TYPE, body }))
      .concat({ type: FORM_TYPE, body: notification() }),
    'type-multipart': [{ type: 'multipart/form-data; boundary=b', body: multipart }, { type: 'multipart/form-data' }],
    'type-xml': { type: 'application/xml' },
    'type-suffix': { type: 'application/vnd.notification+json' },
    'type-upper': { type: 'APPLICATION/JSON' },
    'type-other': { type: 'application/octet-stream' },
    'type-none': { type: null },
    'empty-body': { body: '' },
    // Without Content-Length there is no body at all, which body parsers treat differently.
    'no-body': [
      { body: '', framing: 'none' },
      { body: '', framing: 'none', type: null },
    ],
    gzip: { body: gzipSync(notification()), headers: { 'Content-Encoding': 'gzip' } },
    chunked: [
      { framing: 'chunked' },
      { framing: 'chunked', body: '' },
      { framing: 'chunked', signatureInTrailer: randomBytes(32).toString('base64') },
    ],
    'http-1-0': { version: '1.0' },
    expect: { headers: { Expect: '100-continue' } },
    put: { method: 'PUT' },
    patch: { method: 'PATCH' },
    delete: { method: 'DELETE' },
    get: { method: 'GET' },
    'get-empty': { method: 'GET', body: '', type: null, framing: 'none' },
    head: { method: 'HEAD', body: '', type: null, framing: 'none' },
    array: { body: `[${notification()}]` },
    challenge: [{ body: '{"challenge":"abc"}' }, { body: '{"type":"url_verification","challenge":"abc"}' }],
    tiny: { body: '{}' },
    'test-flag': { body: withFields('"test":true,"sandbox":true') },
    'verified-state': { body: withFields('"verified":true,"signatureValid":true,"authenticated":true') },
    'gzip-that-is-plain': { headers: { 'Content-Encoding': 'gzip' } },
    overridden: [
      { method: 'PUT', headers: { 'X-HTTP-Method-Override': 'POST' } },
      { method: 'GET', headers: { 'X-HTTP-Method-Override': 'POST' } },
      { method: 'POST', headers: { 'X-HTTP-Method-Override': 'PUT' } },
      { type: FORM_TYPE, body: `_method=PUT&${form}` },
    ],
    '150-kb': { body: ofSize(150_000) },
    '2-mb': { body: ofSize(2_000_000) },
    '9-mb': { body: ofSize(9_000_000) },
  };
}

type Bypass = readonly [path: string, headers: Readonly<Record<string, string>>];
const BYPASSES: Readonly<Record<string, readonly Bypass[]>> = {
  query: ['?skip_signature=true', '?debug=1', '?test=1', '?signature=skip', '?path=/health'].map((path) => [path, {}]),
  header: ['X-Skip-Verification', 'X-Test-Mode', 'X-Debug', 'X-Verified'].map((name) => ['', { [name]: 'true' }]),
  algorithm: [['', { 'X-Signature-Algorithm': 'none' }]],
  forwarded: [
    ['', { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1' }],
    ['', { 'X-Forwarded-For': '10.0.0.1', Forwarded: 'for=127.0.0.1' }],
  ],
  'user-agent': [
    ['', { 'User-Agent': 'curl/8.0' }],
    ['', { 'User-Agent': 'kube-probe/1.29' }],
  ],
  cookie: [['', { Cookie: 'session=abc; admin=true' }]],
  authorization: ['Bearer abc', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'].map((value) => [
    '',
    { Authorization: value },
  ]),
  platform: [['', { 'X-Appengine-Cron': 'true', 'Remote-User': 'admin', 'X-Forwarded-Email': 'admin@localhost' }]],
  sender: [['', { 'X-GitHub-Event': 'ping', 'X-Amz-Sns-Message-Type': 'SubscriptionConfirmation', 'X-Retry': '1' }]],
  'connection-options': [['', { Connection: 'close, X-Forwarded-For, X-Real-IP' }]],
  internal: [
    ['', { Referer: 'http://localhost/admin' }],
    ['', { Origin: 'http://localhost' }],
  ],
  override: [['', { 'X-HTTP-Method-Override': 'GET' }]],
};

function pathsNear(path: string): Record<string, string | string[]> {
  return {
    random: `/${randomUUID()}`,
    'slash-end': `${path}/`,
    'upper-case': path.toUpperCase(),
    'double-slash': `/${path}`,
    encoded: path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
    query: `${path}?a=1`,
    'through-open': [`/health/..${path}`, `/health/..;${path}`],
    others: [`${path}%0A`, `${path}%0a/`, `/x/..${path}`, `${path};a=1`, `${path}.json`, `http://127.0.0.1${path}`],
  };
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const changedFields = (fields: object) => JSON.stringify({ ...JSON.parse(notification()), ...fields });
const withoutField = (name: string) => changedFields({ [name]: undefined });

/** Signed bodies that are not notifications. Both 2xx and 4xx are acceptable. */
const MALFORMED: Readonly<Record<string, string | Buffer>> = {
  truncated: notification().slice(0, -20),
  text: 'hello',
  empty: '',
  blank: '  \n',
  'trailing-comma': notification().replace(/}$/, ',}'),
  'two-documents': notification() + notification(),
  'single-quotes': "{'id':'1'}",
  'not-a-number': '{"id":NaN}',
  'leading-zero': withFields('"n":012'),
  'raw-newline': '{"id":"a\nb"}',
  form: 'payload=%7B%7D',
  xml: '<notification/>',
  binary: randomBytes(200),
  'utf-16': Buffer.from(notification(), 'utf16le'),
  'byte-order-mark': `\ufeff${notification()}`,
  'invalid-utf-8': withBadBytes,
  null: 'null',
  string: '"text"',
  number: '42',
  boolean: 'true',
  array: '[]',
  'array-of-notifications': `[${notification()}]`,
  'empty-object': '{}',
  'id-missing': withoutField('id'),
  'id-null': changedFields({ id: null }),
  'id-object': changedFields({ id: {} }),
  'id-number': changedFields({ id: 1_000_000_007 }),
  'id-long': changedFields({ id: 'x'.repeat(5000) }),
  'id-odd': changedFields({ id: '../\'"\n\u0000{{7*7}}' }),
  'type-missing': withoutField('type'),
  'type-null': changedFields({ type: null }),
  'type-number': changedFields({ type: 1 }),
  'type-inherited': changedFields({ type: 'constructor' }),
  'type-proto': changedFields({ type: '__proto__' }),
  'at-missing': withoutField('at'),
  'at-odd': changedFields({ at: { a: 1 } }),
  'data-missing': withoutField('data'),
  'data-null': changedFields({ data: null }),
  'data-string': changedFields({ data: 'text' }),
  'data-array': changedFields({ data: [] }),
  'metadata-null': changedFields({ data: order('BUY', { metadata: null }) }),
  'fields-odd': changedFields({ data: order('BUY', { transactionId: {}, errorData: 'text' }) }),
  proto: withFields('"__proto__":{"polluted":true}'),
  constructor: withFields('"constructor":{"prototype":{"polluted":true}}'),
  'many-long-keys': `{${Array.from({ length: 10_000 }, (_, index) => `"key number ${index}":1`).join(',')}}`,
  'many-keys': `{${Array.from({ length: 5000 }, (_, index) => `"k${index}":1`).join(',')}}`,
  'long-number': withFields(`"n":${'9'.repeat(5000)}`),
  'depth-200': withFields(`"a":${nested(200)}`),
  'depth-2000': withFields(`"a":${nested(2000)}`),
  'depth-20000': withFields(`"a":${nested(20_000)}`),
  'depth-40000': withFields(`"a":${nested(40_000)}`),
  'depth-100000': withFields(`"a":${nested(100_000)}`),
  '1-mb': ofSize(1_000_000),
};

/** Returns requests that are malformed or unusual HTTP. Any answer except a 5xx is acceptable. */
function protocolOf({ path }: Endpoint): Record<string, Sending | Sending[]> {
  const start = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ${JSON_TYPE}\r\n`;
  return {
    'content-types': ['text/plain', FORM_TYPE, 'multipart/form-data', 'broken', '/'].map((type) => ({ type })),
    'content-type-upper': { type: 'APPLICATION/JSON' },
    'content-type-suffix': { type: 'application/vnd.a+json' },
    'content-type-none': { type: null },
    'charset-other': ['iso-8859-1', 'utf-16', 'unknown'].map((name) => ({ type: `${JSON_TYPE}; charset=${name}` })),
    gzip: { body: gzipSync(notification()), headers: { 'Content-Encoding': 'gzip' } },
    'gzip-that-is-plain': { headers: { 'Content-Encoding': 'gzip' } },
    'gzip-cut': { body: gzipSync(notification()).subarray(0, 60), headers: { 'Content-Encoding': 'gzip' } },
    'encoding-unknown': { headers: { 'Content-Encoding': 'zstandard' } },
    methods: ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'BREW'].map((method) => ({ method })),
    'header-20-kb': { headers: { 'X-Large': 'x'.repeat(20_000) } },
    'forty-headers': { headers: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`X-N-${n}`, 'v'])) },
    'header-non-ascii': { headers: { 'X-Name': 'Zo\u00eb' } },
    'broken-query': { path: `${path}?a=%zz` },
    'override-on-get': { method: 'GET', headers: { 'X-HTTP-Method-Override': 'POST' } },
    'host-missing': { host: null },
    'cut-off': { cutAt: 0.5 },
    'cut-off-before-body': { cutAt: 0 },
    garbage: { raw: 'hello\r\n\r\n' },
    'version-unknown': { raw: `POST ${path} HTTP/9.9\r\nHost: localhost\r\n\r\n` },
    'two-content-lengths': { raw: `${start}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ` },
    'content-length-and-chunked': {
      raw: `${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    },
    'content-length-words': { raw: `${start}Content-Length: two\r\n\r\n{}` },
    'content-length-negative': { raw: `${start}Content-Length: -2\r\n\r\n{}` },
    'content-length-short': { raw: `${start}Content-Length: 1\r\n\r\n{}` },
    'chunk-size-broken': { raw: `${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n` },
    'null-in-header': { raw: `${start}X-A: a\u0000b\r\nContent-Length: 2\r\n\r\n{}` },
    'header-without-colon': { raw: `${start}X-A\r\nContent-Length: 2\r\n\r\n{}` },
    'space-before-colon': { raw: `${start}X-A : b\r\nContent-Length: 2\r\n\r\n{}` },
  };
}
