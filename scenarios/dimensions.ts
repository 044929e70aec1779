/**
 * The dimensions of forged deliveries: what is wrong with a credential, and the shape of the request. `forgery.ts`
 * makes a scenario from one flaw and one or more shapes. `crossings.ts` collects these scenarios, and states which
 * combinations are left out and why.
 *
 * One accepted forgery is enough to fail a receiver. A shape may therefore combine several hints, and its parts are
 * sent one by one only after the whole has been accepted (`FollowUp`).
 */
import { gzipSync } from 'node:zlib';
import type { HeaderLine, JsonObject, JsonValue } from '../contract/index.ts';
import {
  addHeaders,
  addQuery,
  both,
  headerValue,
  keyInstead,
  setHeader,
  withoutHeader,
  wrongKey,
} from './changes/addressing.ts';
import { compact, fixedText, type Serialiser, utf8, withField } from './changes/bodies.ts';
import { randomSignature, signedOver, signedWithText } from './changes/signing.ts';
import {
  absoluteTarget,
  headerLines,
  presenting,
  requestLine,
  withBody,
  withoutLength,
  withTrailer,
} from './changes/transmitting.ts';
import {
  refused,
  refusedAsInvented,
  refusedByMethod,
  refusedElsewhere,
  refusedHuge,
  refusedInAnotherFraming,
  refusedInAnotherShape,
  refusedLarge,
  refusedMalformed,
} from './expectations.ts';
import type { RequirementId } from './requirements.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from './samples.ts';
import type { AddressChange, Change, Feature, Kit } from './scenario.ts';

/** What is wrong with a credential, and what a scenario about this flaw needs and checks. */
export interface Flaw {
  readonly credential: 'signature' | 'API key' | 'client certificate';
  readonly label: string;
  readonly change: Change;
  readonly needs: readonly Feature[];
  readonly requirements: readonly RequirementId[];
  /** True if the signature is valid for what a receiver verifies when it has not read the body. */
  readonly isUnread?: true;
}

/** The secret or key that a forgery uses and also names in the request. */
const CLAIMED = 'named-by-the-request';

const HMAC = { credential: 'signature', needs: ['hmac'] } as const;
const KEY = { credential: 'API key', needs: ['api-key'] } as const;

export const FLAWS = {
  'no-signature': {
    ...HMAC,
    label: 'no signature header',
    change: { address: withoutHeader('signature', 'no signature header') },
    requirements: ['hmac-every-delivery', 'hmac-missing'],
  },
  'random-signature': {
    ...HMAC,
    label: 'a random signature in the correct format',
    change: {
      sign: {
        label: 'a random signature in the correct format',
        make: (_body, kit) => randomSignature(kit),
      },
    },
    requirements: ['hmac-every-delivery', 'hmac-invalid'],
  },
  'replayed-signature': {
    ...HMAC,
    label: 'the valid signature of another notification',
    change: {
      sign: signedOver('the valid signature of another notification', (_body, kit) =>
        Buffer.from(JSON.stringify(kit.notification())),
      ),
    },
    requirements: ['hmac-every-delivery', 'hmac-invalid'],
  },
  'signature-of-nothing': {
    ...HMAC,
    label: 'the valid signature of an empty body',
    change: { sign: signedOver('the valid signature of an empty body', () => Buffer.alloc(0)) },
    isUnread: true,
    requirements: ['hmac-raw-body', 'hmac-invalid'],
  },
  'signature-of-empty-object': {
    ...HMAC,
    label: 'the valid signature of {}',
    change: { sign: signedOver('the valid signature of {}', () => utf8('{}')) },
    isUnread: true,
    requirements: ['hmac-raw-body', 'hmac-invalid'],
  },
  'empty-secret': {
    ...HMAC,
    label: 'signed with an empty secret',
    change: { sign: signedWithText('') },
    requirements: ['hmac-every-delivery', 'hmac-invalid'],
  },
  'named-secret': {
    ...HMAC,
    label: 'signed with a secret that the request names',
    change: { sign: signedWithText(CLAIMED) },
    requirements: ['hmac-secret-set', 'hmac-invalid'],
  },
  'no-key': {
    ...KEY,
    label: 'no API key header',
    change: { address: withoutHeader('api-key', 'no API key header') },
    requirements: ['key-missing'],
  },
  'random-key': { ...KEY, label: 'a random API key', change: { address: wrongKey }, requirements: ['key-invalid'] },
  'named-key': {
    ...KEY,
    label: 'an API key that the request also names as the expected one',
    change: { address: keyInstead('an invented API key', () => CLAIMED) },
    requirements: ['key-invalid'],
  },
  'no-certificate': {
    credential: 'client certificate',
    needs: ['https', 'mtls'],
    label: 'no client certificate',
    change: { connect: presenting('none') },
    requirements: ['mtls-verified'],
  },
} as const satisfies Readonly<Record<string, Flaw>>;

export type FlawName = keyof typeof FLAWS;

/** An aspect in which a request may differ from the sender's own requests. */
export type Dimension = 'notification' | 'content' | 'content type' | 'framing' | 'method' | 'URL' | 'hint';

/** The expected answers, by the kind of shape. */
export const ANSWERS = {
  /** The answers to requests in the sender's own shape. */
  own: refused,
  invented: refusedAsInvented,
  shape: refusedInAnotherShape,
  framing: refusedInAnotherFraming,
  method: refusedByMethod,
  elsewhere: refusedElsewhere,
  malformed: refusedMalformed,
  large: refusedLarge,
  huge: refusedHuge,
} as const;

export interface Shape {
  readonly dimension: Dimension;
  readonly label: string;
  readonly change: Change;
  readonly answer: keyof typeof ANSWERS;
  /** The hints of the shape, one by one. Absent if it has only one. */
  readonly parts?: readonly { readonly label: string; readonly change: Change }[];
  /**
   * The kind of page that does not count as an acceptance. `by-method`: a page that answers every request with this
   * method. `by-get`: one that also answers GET. `by-url`: one that answers at every URL. `by-query`: one that answers
   * this method with any query.
   */
  readonly mayBePage?: 'by-method' | 'by-get' | 'by-url' | 'by-query';
}

function notification(label: string, compose: (kit: Kit) => JsonValue, answer: 'own' | 'invented' = 'own'): Shape {
  return { dimension: 'notification', label, change: { compose }, answer };
}

/** Defines a notification that the sender never sends. */
const invented = (label: string, compose: (kit: Kit) => JsonValue) => notification(label, compose, 'invented');

/** Creates the name of a type or status that no receiver knows. */
const unknownName = (kit: Kit) => `TEST_UNKNOWN_${kit.nonce(6).toUpperCase()}`;

/** Adds members to the envelope and to the data of the plain notification. Each addition is a part. */
function withMembers(label: string, members: JsonObject): Shape {
  const having = (more: JsonObject) => (kit: Kit) => {
    const plain = kit.notification();
    return { ...plain, ...more, data: { ...(plain.data as JsonObject), ...more } };
  };
  const parts = Object.entries(members).map(([name, value]) => ({
    label: `${name}: ${value}`,
    change: { compose: having({ [name]: value }) },
  }));
  return { ...invented(label, having(members)), parts };
}

/** Defines another JSON document, or content that is not JSON. */
function content(label: string, change: Change, answer: Shape['answer'] = 'malformed'): Shape {
  return { dimension: 'content', label, change, answer };
}

/** Verification handshakes of other senders. Their field names differ, so one body can contain them all. */
const HANDSHAKES: Readonly<Record<string, JsonObject>> = {
  Zoom: { event: 'endpoint.url_validation', event_ts: 1, payload: { plainToken: 'test-plain-token' } },
  Discord: { type: 1 },
  'Amazon SNS': { Type: 'SubscriptionConfirmation', Token: 'test-token', Message: 'test' },
  'Microsoft Graph': { validationToken: 'test-token', validationTokens: ['test-token'], value: [] },
  X: { crc_token: 'test-token' },
  Xero: { events: [], firstEventSequence: 0, lastEventSequence: 0, entropy: 'TESTENTROPY' },
  Notion: { verification_token: 'test-token' },
  Intercom: { topic: 'ping', app_id: 'test' },
};

const handshakes: Shape = {
  ...content('handshakes of other senders', { compose: () => Object.assign({}, ...Object.values(HANDSHAKES)) }),
  parts: Object.entries(HANDSHAKES).map(([sender, body]) => ({
    label: `the handshake of ${sender}`,
    change: { compose: () => body },
  })),
};

/** Verification handshakes in forms, by sender. */
const FORM_HANDSHAKES: Readonly<Record<string, string>> = {
  WooCommerce: 'webhook_id=12',
  Slack: `payload=${encodeURIComponent('{"type":"url_verification","challenge":"test"}')}`,
  'Slack commands': 'ssl_check=1&token=test',
  WebSub: 'hub.mode=subscribe&hub.topic=test&hub.challenge=test&hub.verify_token=test',
  Mandrill: 'mandrill_events=[]',
  'a sender of challenges': 'type=url_verification&challenge=test',
};

function formOf(label: string, ...forms: readonly string[]): { readonly label: string; readonly change: Change } {
  const serialise: Change['serialise'] = (_value, { scheme }) => utf8(foreignForms(forms, scheme).join('&'));
  return { label, change: { serialise, address: typed('application/x-www-form-urlencoded') } };
}

/** Leaves out the handshakes of the sender itself. If nothing else is left, an unrelated field is. */
function foreignForms(forms: readonly string[], scheme: Kit['scheme']): readonly string[] {
  const own = scheme?.literal.handshakes ?? [];
  const foreign = forms.filter((form) => !own.some((field) => form.startsWith(`${field}=`)));
  return foreign.length > 0 ? foreign : ['probe=1'];
}

const typed = (type: string) => setHeader('Content-Type', type);

function ofType(type: string): Shape {
  return { dimension: 'content type', label: type, change: { address: typed(type) }, answer: 'shape' };
}

function framed(label: string, change: Change, answer: Shape['answer'] = 'framing'): Shape {
  return { dimension: 'framing', label, change, answer };
}

function byMethod(method: string, mayBePage: Shape['mayBePage'] = 'by-method'): Shape {
  const address: AddressChange = { label: `the method ${method}`, make: (head) => ({ ...head, method }) };
  return { dimension: 'method', label: method, change: { address }, answer: 'method', mayBePage };
}

/**
 * Uses a method that writes. A handler that stores every body accepts every request, as a page does, but does not
 * answer GET.
 */
const byWriting = (method: string) => byMethod(method, 'by-get');

const OVERRIDE_HEADERS = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'];

/**
 * Overrides the method in every usual place. A check may use one of the two methods, and the router the other. Each
 * place is a part.
 */
function overridden(method: string, wanted: string): Shape {
  const label = `${method} overridden as ${wanted}`;
  const sent: AddressChange = { label: `the method ${method}`, make: (head) => ({ ...head, method }) };
  const claims = [
    ...OVERRIDE_HEADERS.map((name) => setHeader(name, wanted)),
    addQuery(`_method=${wanted} in the query`, () => `_method=${wanted}`),
  ];
  const parts = claims.map((claim) => ({
    label: `${method} with ${claim.label}`,
    change: { address: both(label, sent, claim) },
  }));
  const address = claims.reduce((one, other) => both(label, one, other), sent);
  return { dimension: 'method', label, change: { address }, answer: 'method', mayBePage: 'by-method', parts };
}

/** Changes the path, and leaves the query unchanged. */
function atPath(label: string, edit: (path: string) => string): Shape {
  const make: AddressChange['make'] = (head) => {
    const [path = '/', ...query] = head.target.split('?');
    return { ...head, target: [edit(path), ...query].join('?') };
  };
  return { dimension: 'URL', label, change: { address: { label, make } }, answer: 'elsewhere', mayBePage: 'by-url' };
}

/**
 * Uses a path below the endpoint. Rules for health checks, tests and static files often leave such paths unprotected.
 */
const below = (name: string) =>
  atPath(`the path of the endpoint with /${name}`, (path) => `${path.replace(/\/$/, '')}/${name}`);

/** Adds several parameters to one query. Each is a part. */
function withQuery(label: string, ...parameters: readonly string[]): Shape {
  const query = (text: string): Change => ({ address: addQuery(`${text} in the query`, () => text) });
  const parts = parameters.map((one) => ({ label: `?${one}`, change: query(one) }));
  const change = query(parameters.join('&'));
  return {
    dimension: 'hint',
    label,
    change,
    answer: 'elsewhere',
    mayBePage: 'by-url',
    ...(parts.length > 1 && { parts }),
  };
}

/** Adds several headers to one request. Each is a part. */
function withHeaders(label: string, lines: readonly HeaderLine[], answer: Shape['answer'] = 'shape'): Shape {
  const header = ([name, value]: HeaderLine) => setHeader(name, value);
  const [first = header(['X-Hint', '1']), ...others] = lines.map(header);
  const all = others.reduce((one, other) => both(label, one, other), first);
  const parts = lines.map((line) => ({ label: line.join(': '), change: { address: header(line) } }));
  return { dimension: 'hint', label, change: { address: all }, answer, ...(parts.length > 1 && { parts }) };
}

const each = (names: readonly string[], value: string): HeaderLine[] => names.map((name) => [name, value]);

const ADDRESS_HEADERS = [
  'X-Forwarded-For',
  'X-Real-IP',
  'X-Client-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'X-Cluster-Client-IP',
  'X-Remote-Addr',
  'X-Originating-IP',
  'Client-IP',
];

/** Claims this address in the headers of {@link ADDRESS_HEADERS} and in Forwarded. */
function fromAddress(address: string): Shape {
  const lines = [...each(ADDRESS_HEADERS, address), ['Forwarded', `for=${address}`] as const];
  return withHeaders(`headers that name ${address} as the client`, lines);
}

/** Headers in which proxies report the original path. Some programs use them as the path. */
const PATH_HEADERS = [
  ...['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Uri', 'X-Forwarded-Path', 'X-Original-URI'],
  ...['X-Forwarded-Prefix', 'X-Forwarded-Url', 'X-Envoy-Original-Path', 'X-Replaced-Path', 'X-Request-Uri'],
];

/** Claims this path in all of these headers. A program that follows one of them may serve the page at that path. */
function rewrittenTo(path: string): Shape {
  const shape = withHeaders(`headers that name the path ${path}`, each(PATH_HEADERS, path), 'elsewhere');
  return { ...shape, mayBePage: 'by-get' };
}

/** Cookies that enable something, and common session cookies. */
const SWITCHES = ['admin', 'auth', 'bypass', 'debug', 'internal', 'test', 'verified', 'XDEBUG_SESSION'];
const SESSIONS = ['session=test', 'sessionid=test', 'PHPSESSID=test', 'JSESSIONID=test', 'role=admin'];

function asCookie(pair: string): readonly [string, string] {
  const end = pair.indexOf('=');
  return [pair.slice(0, end), pair.slice(end + 1)];
}

/** Returns common cookies that the endpoint has not set. Of two cookies with the same name, it may read either. */
function usualCookies(own: readonly string[]): (readonly [string, string])[] {
  const names = new Set(own.map((cookie) => asCookie(cookie)[0]));
  return [...SESSIONS, ...SWITCHES.map((name) => `${name}=1`)].map(asCookie).filter(([name]) => !names.has(name));
}

/** Keeps the last value of each name, because an endpoint may read either of two values. */
function byName(pairs: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  return [...new Map(pairs.map((pair) => [pair[0].toLowerCase(), pair])).values()];
}

/**
 * User agents of health checks and tools. Some of them are also sent at the beginning of the header, for receivers that
 * match a prefix.
 */
const AGENTS = ['curl/8.5.0', 'kube-probe/1.30', 'ELB-HealthChecker/2.0', 'GoogleHC/1.0', 'PostmanRuntime/7.40'];
const OTHER_AGENTS = ['UptimeRobot/2.0', 'HealthCheck', 'Pingdom.com_bot', 'Datadog/Synthetics', 'Prometheus/2.50'];

function asAgent(first: string): Shape {
  const agents = [first, ...AGENTS.filter((agent) => agent !== first), ...OTHER_AGENTS];
  const shape = withHeaders(`the User-Agent ${first}`, [['User-Agent', agents.join(' ')]]);
  return { ...shape, label: `a User-Agent that begins with ${first}` };
}

/** Writes the members of an object as form fields: `data[type]=BUY`. */
function formFields(value: JsonValue, name = ''): string[] {
  if (typeof value !== 'object' || value === null) {
    return [`${encodeURIComponent(name)}=${encodeURIComponent(value === null ? '' : String(value))}`];
  }
  return Object.entries(value).flatMap(([key, inner]) => formFields(inner, name === '' ? key : `${name}[${key}]`));
}

/** Flags of test deliveries. Stripe uses `livemode: false`. */
const TEST_FLAGS: JsonObject = {
  livemode: false,
  sandbox: true,
  test: true,
  isTest: true,
  mode: 'test',
  environment: 'test',
  debug: true,
  dryRun: true,
  mock: true,
  legacy: true,
  isSandbox: true,
  testMode: true,
  test_mode: true,
  is_test: true,
  dry_run: true,
  env: 'test',
  demo: true,
  simulated: true,
  synthetic: true,
  heartbeat: true,
  healthcheck: true,
  retry: true,
  replay: true,
};

/** Envelope of a test notification. */
const TEST_ENVELOPE = { id: '00000000-0000-0000-0000-000000000000', type: 'TEST', at: 0 } as const;

/** Members that an application may use to mark a request as verified. */
const VERIFIED_STATE: JsonObject = {
  verified: true,
  isVerified: true,
  signatureVerified: true,
  signatureValid: true,
  authenticated: true,
  authorized: true,
  internal: true,
  skipVerification: true,
  skip_verification: true,
  valid: true,
  isValid: true,
  is_verified: true,
  signature_verified: true,
  signature_valid: true,
  isAuthenticated: true,
  trusted: true,
  admin: true,
  isAdmin: true,
  role: 'admin',
};

/** An administrator's token with the algorithm "none", which any client can write. */
const UNSIGNED_TOKEN = `${base64url({ alg: 'none', typ: 'JWT' })}.${base64url({ sub: 'admin', admin: true })}.`;

function base64url(value: JsonObject): string {
  return Buffer.from(compact(value)).toString('base64url');
}

const BOUNDARY = 'hookproof-boundary';

function multipart(json: string): Uint8Array {
  const part = (name: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${json}\r\n`;
  return utf8(`${part('payload')}${part('body')}--${BOUNDARY}--\r\n`);
}

/** Headers that rules for host names may read instead of Host. */
const LOCAL_HOST: readonly HeaderLine[] = [
  ['X-Forwarded-Host', 'localhost'],
  ['X-Host', 'localhost'],
  ['X-Forwarded-Server', 'localhost'],
];

/** A host name that belongs to no tenant. */
const UNKNOWN_HOST = 'unknown-tenant.example';

const HANDSHAKE_QUERIES = [
  ...['validationToken=test', 'hub.mode=subscribe&hub.challenge=1234', 'challenge=1234', 'crc_token=1234'],
  'echostr=1234',
];

const SECRET_NAMES = [
  ...['secret', 'SECRET', 'secretKey', 'secret_key', 'webhookSecret', 'webhook_secret', 'WEBHOOK_SECRET'],
  ...['signingSecret', 'signing_secret', 'signatureSecret', 'signature_secret', 'hmacSecret', 'hmac_secret'],
  ...['hmacKey', 'hmac_key', 'sharedSecret', 'shared_secret', 'clientSecret', 'client_secret'],
];
const KEY_NAMES = [
  ...['key', 'apiKey', 'api_key', 'API_KEY', 'apikey', 'expectedKey', 'expected_key'],
  ...['webhookKey', 'webhook_key', 'validKey', 'valid_key', 'serviceKey', 'accessKey', 'token'],
];

/**
 * States the credential with which a forgery is made, under all usual names, in the query, in cookies or in the body.
 */
function naming(what: string, names: readonly string[]) {
  const claims = names.map((name) => `${name}=${CLAIMED}`);
  const members = Object.fromEntries(names.map((name) => [name, CLAIMED]));
  return {
    inQuery: withQuery(`the ${what} in the query`, ...claims),
    inCookies: withHeaders(`the ${what} in cookies`, [['Cookie', claims.join('; ')]]),
    inBody: invented(`the ${what} in the body`, (kit) => ({
      ...kit.notification(),
      ...members,
      config: members,
      options: members,
      settings: members,
    })),
  };
}

const namedSecret = naming('secret', SECRET_NAMES);
const namedKey = naming('API key', KEY_NAMES);

const SECRET_HEADERS = [
  ...['X-Secret', 'X-Secret-Key', 'X-Webhook-Secret', 'X-Signing-Secret', 'X-Signature-Secret', 'X-Hmac-Secret'],
  ...['X-Hmac-Key', 'X-Shared-Secret', 'X-Client-Secret', 'X-Service-Secret'],
];

const MIB = 1024 * 1024;

const FILLED = 'text-to-be-filled';

/**
 * Replaces {@link FILLED} in the body with this many letters. For megabytes, this is much faster than JSON.stringify.
 */
function filledWith(bytes: number): Serialiser {
  return (value) => {
    const [head = '', tail = ''] = compact(value).split(FILLED);
    return Buffer.concat([utf8(head), Buffer.alloc(bytes, 'x'), utf8(tail)]);
  };
}

/** The values of the dimensions. `plain` is the sender's own request. */
export const SHAPES = {
  // The notification that the request contains.
  plain: { dimension: 'notification', label: 'the plain notification', change: {}, answer: 'own' },
  buy: notification('a confirmed BUY', (kit) => order(kit, 'BUY', 'CONFIRMED')),
  sell: notification('a completed SELL', (kit) => order(kit, 'SELL', 'COMPLETED')),
  tracking: notification('ORDER_TRACKING', (kit) => tracking(kit, 'SELL', 'COMPLETED')),
  refund: notification('REFUND', (kit) => refund(kit, 'SUCCESS')),
  'payment-method': notification('PAYMENT_METHOD', (kit) => paymentMethod(kit, 'STAGED')),
  wallet: notification('WALLET', (kit) => wallet(kit)),
  deposit: notification('CAAS_BLOCKCHAIN', (kit) => deposit(kit)),
  'unknown-type': invented('an unknown type', (kit) => ({ ...kit.notification(), type: unknownName(kit) })),
  'created-buy': notification('a BUY with status CREATED', (kit) => order(kit, 'BUY', 'CREATED')),
  'pending-sell': notification('a SELL with status PENDING', (kit) => order(kit, 'SELL', 'PENDING')),
  'failed-refund': notification('a failed REFUND', (kit) => refund(kit, 'FAIL')),
  'declined-card': notification('a declined payment method', (kit) => paymentMethod(kit, 'DECLINED')),
  'expired-tracking': notification('an expired ORDER_TRACKING', (kit) => tracking(kit, 'BUY', 'EXPIRED')),
  'buy-on-chain': notification('a BUY with status BLOCKCHAIN_ACCEPTED', (kit) =>
    order(kit, 'BUY', 'BLOCKCHAIN_ACCEPTED'),
  ),
  'test-network': notification('a BUY on a test network', (kit) =>
    withField(order(kit, 'BUY', 'CONFIRMED'), 'data.metadata.blockchainData.chain', 'ETHEREUM_SEPOLIA'),
  ),
  'dust-deposit': notification('a deposit of one unit', (kit) =>
    withField(deposit(kit), 'data.metadata.asset.amount', '1'),
  ),
  'unknown-caas-type': invented('a CAAS notification with an unknown data.type', (kit) =>
    withField(kit.notification(), 'data.type', unknownName(kit)),
  ),
  'unknown-card-status': invented('a payment method with an unknown status', (kit) =>
    withField(paymentMethod(kit, 'STAGED'), 'data.status', unknownName(kit)),
  ),
  'unknown-deposit-type': invented('a CAAS_BLOCKCHAIN notification with an unknown data.type', (kit) =>
    withField(deposit(kit), 'data.type', unknownName(kit)),
  ),
  'test-flags': withMembers('test flags in the body', TEST_FLAGS),
  'verified-state': withMembers('the state of a verified request in the body', VERIFIED_STATE),
  tiny: {
    ...invented('the smallest envelope, with test values', () => ({ ...TEST_ENVELOPE, data: {} })),
    parts: Object.entries(TEST_ENVELOPE).map(([name, value]) => ({
      label: `${name}: ${value}`,
      change: { compose: (kit: Kit) => ({ ...kit.notification(), [name]: value }) },
    })),
  },
  'over-1-mib': {
    dimension: 'notification',
    label: 'a notification of more than 1 MiB',
    change: { compose: (kit) => tracking(kit, 'BUY', 'COMPLETED', 'x'.repeat(MIB)) },
    answer: 'large',
  },
  'over-8-mib': {
    dimension: 'notification',
    label: 'a notification of more than 8 MiB',
    change: { compose: (kit) => tracking(kit, 'BUY', 'COMPLETED', FILLED), serialise: filledWith(8.5 * MIB) },
    answer: 'huge',
  },
  'secret-in-body': namedSecret.inBody,
  'key-in-body': namedKey.inBody,

  // Other content of the body.
  array: content('an array of notifications', { compose: (kit) => [kit.notification()] }),
  'empty-array': content('an empty array', { compose: () => [] }),
  batch: content('an object with a list of notifications', {
    compose: (kit) => ({ events: [kit.notification()], notifications: [kit.notification()] }),
  }),
  'empty-object': content('an empty object', { compose: () => ({}) }),
  challenge: content('a handshake with a challenge', {
    compose: (kit) => ({ type: 'url_verification', challenge: kit.nonce(16), token: kit.nonce(16) }),
  }),
  'bare-challenge': content('only a challenge', { compose: (kit) => ({ challenge: kit.nonce(16) }) }),
  handshakes,
  'form-handshakes': {
    ...content('handshakes of other senders in a form', {}, 'shape'),
    ...formOf('handshakes of other senders in a form', ...Object.values(FORM_HANDSHAKES)),
    parts: Object.entries(FORM_HANDSHAKES).map(([sender, form]) => formOf(`the form of ${sender}`, form)),
  },
  'form-ping': {
    ...content('a form that has only the id of a webhook', {}, 'shape'),
    ...formOf('a form that has only the id of a webhook', 'webhook_id=12'),
  },
  'listed-handshake': content('a list with a validation event of Azure Event Grid', {
    compose: (kit) => [
      {
        id: kit.newId(),
        eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
        data: { validationCode: kit.nonce(16) },
      },
    ],
  }),
  ping: content('a ping', {
    compose: (kit) => ({ type: 'ping', event: 'ping', zen: 'A test of the webhook.', hook_id: kit.integer(1000) }),
  }),
  'empty-body': content('an empty body', { serialise: fixedText('') }),
  'broken-json': content('broken JSON', { serialise: fixedText('{"id":') }),
  null: content('null', { serialise: fixedText('null') }),
  bytes: content('random bytes', {
    serialise: () => Buffer.from(Array.from({ length: 256 }, (_, index) => (index * 89 + 7) % 256)),
  }),
  nested: content('20,000 nested arrays', { serialise: fixedText('['.repeat(20_000)) }, 'shape'),

  // The declared type of the body.
  'json-with-charset': ofType('application/json; charset=utf-8'),
  'upper-case-type': ofType('APPLICATION/JSON'),
  'vendor-json': ofType('application/vnd.api+json'),
  text: ofType('text/plain'),
  xml: ofType('application/xml'),
  bytestream: ofType('application/octet-stream'),
  form: ofType('application/x-www-form-urlencoded'),
  'form-fields': {
    dimension: 'content type',
    label: 'the notification as form fields',
    change: {
      serialise: (value) => utf8([...formFields(value), `payload=${encodeURIComponent(compact(value))}`].join('&')),
      address: typed('application/x-www-form-urlencoded'),
    },
    answer: 'shape',
  },
  multipart: {
    dimension: 'content type',
    label: 'multipart/form-data',
    change: {
      serialise: (value) => multipart(compact(value)),
      address: typed(`multipart/form-data; boundary=${BOUNDARY}`),
    },
    answer: 'shape',
  },
  'multipart-no-boundary': ofType('multipart/form-data'),
  'multipart-no-parts': {
    dimension: 'content type',
    label: 'multipart/form-data whose boundary is not in the body',
    change: { address: typed(`multipart/form-data; boundary=${BOUNDARY}`) },
    answer: 'shape',
  },
  'no-type': {
    dimension: 'content type',
    label: 'no Content-Type',
    change: { address: withoutHeader({ name: 'Content-Type' }, 'no Content-Type') },
    answer: 'shape',
  },

  // The framing and encoding of the body.
  gzip: framed(
    'Content-Encoding: gzip',
    {
      serialise: (value) => gzipSync(compact(value)),
      address: addHeaders('Content-Encoding: gzip', () => [['Content-Encoding', 'gzip']]),
    },
    'shape',
  ),
  chunked: framed('Transfer-Encoding: chunked', { transmit: { kind: 'chunked', pieces: 2 } }),
  'http-1-0': framed('HTTP/1.0', {
    transmit: requestLine('the version HTTP/1.0', (line) => line.replace(/HTTP\/1\.1$/, 'HTTP/1.0')),
  }),
  expect: framed('Expect: 100-continue', { transmit: { kind: 'expect-continue' } }),
  'no-body': framed('no body and no length', { transmit: withBody('no body', withoutLength, () => '') }),
  'no-body-no-type': framed('no body, no length and no Content-Type', {
    address: withoutHeader({ name: 'Content-Type' }, 'no Content-Type'),
    transmit: withBody('no body', withoutLength, () => ''),
  }),
  'empty-chunked': framed('Transfer-Encoding: chunked with an empty body', {
    transmit: withBody(
      'no chunk',
      (head) => [...withoutLength(head), 'Transfer-Encoding: chunked'],
      () => '0\r\n\r\n',
    ),
  }),
  'signature-in-trailer': framed('a random signature in a trailer', { transmit: withTrailer }),

  put: byWriting('PUT'),
  patch: byWriting('PATCH'),
  delete: byWriting('DELETE'),
  get: byMethod('GET'),
  'get-with-handshakes': {
    dimension: 'method',
    label: 'GET with handshakes of other senders in the query',
    change: {
      serialise: fixedText(''),
      address: both(
        'the method GET',
        { label: 'the method GET', make: (head) => ({ ...head, method: 'GET' }) },
        addQuery('handshakes of other senders in the query', () => HANDSHAKE_QUERIES.join('&')),
      ),
    },
    answer: 'method',
    mayBePage: 'by-query',
  },
  options: byMethod('OPTIONS'),
  propfind: byMethod('PROPFIND'),
  'put-as-post': overridden('PUT', 'POST'),
  'get-as-post': overridden('GET', 'POST'),
  'post-as-put': overridden('POST', 'PUT'),
  'post-as-get': overridden('POST', 'GET'),
  'patch-as-post': overridden('PATCH', 'POST'),
  'post-as-delete': overridden('POST', 'DELETE'),
  'form-as-put': {
    dimension: 'method',
    label: 'a form with the field _method=PUT',
    change: {
      serialise: (value) =>
        utf8(['_method=PUT', ...formFields(value), `payload=${encodeURIComponent(compact(value))}`].join('&')),
      address: typed('application/x-www-form-urlencoded'),
    },
    answer: 'shape',
  },

  // The URL of the request.
  'trailing-slash': atPath('a path with a trailing slash', (path) =>
    path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : `${path}/`,
  ),
  'other-case': atPath('a path in upper case', (path) =>
    path === path.toUpperCase() ? path.toLowerCase() : path.toUpperCase(),
  ),
  'double-slash': atPath('a path with two slashes', (path) => `/${path}`),
  'encoded-path': atPath('a path with a percent-encoded letter', (path) =>
    path.replace(/[a-z0-9](?=[^a-z0-9]*$)/i, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  ),
  'dot-segments': atPath('a path with a dot segment', (path) => `/.${path}`),
  'path-parameter': atPath('a path with a parameter after a semicolon', (path) => `${path};v=1`),
  'path-extension': atPath('a path with an extension', (path) => (path.endsWith('/') ? path : `${path}.json`)),
  'open-prefix': atPath('a path that leads through /health/..', (path) => `/health/..${path}`),
  'open-prefix-parameter': atPath('a path that leads through /health/..;', (path) => `/health/..;${path}`),
  'below-health': below('health'),
  'below-healthz': below('healthz'),
  'below-ping': below('ping'),
  'below-status': below('status'),
  'below-test': below('test'),
  'below-public': below('public'),
  'below-static': below('favicon.ico'),
  'encoded-line-end': atPath('a path with an encoded line end', (path) => `${path}%0a`),
  'absolute-target': {
    dimension: 'URL',
    label: 'an absolute request target',
    change: { transmit: absoluteTarget },
    answer: 'elsewhere',
    mayBePage: 'by-url',
  },
  'local-host': {
    dimension: 'URL',
    label: 'Host: localhost',
    change: {
      address: addHeaders('headers that name localhost', () => LOCAL_HOST),
      transmit: headerLines('Host: localhost', 'Host', () => ['Host: localhost']),
    },
    answer: 'elsewhere',
    mayBePage: 'by-url',
  },
  'unknown-host': {
    dimension: 'URL',
    label: 'an unknown Host',
    change: {
      address: addHeaders('headers that name an unknown host', () => [['X-Forwarded-Host', UNKNOWN_HOST]]),
      transmit: headerLines('an unknown Host', 'Host', () => [`Host: ${UNKNOWN_HOST}`]),
    },
    answer: 'elsewhere',
    mayBePage: 'by-url',
  },

  // Claims that the request needs no credential.
  'forwarded-for-loopback': withHeaders('X-Forwarded-For: 127.0.0.1', [['X-Forwarded-For', '127.0.0.1']], 'own'),
  'real-ip-loopback': withHeaders('X-Real-IP: 127.0.0.1', [['X-Real-IP', '127.0.0.1']], 'own'),
  'forwarded-loopback': withHeaders('Forwarded: for=127.0.0.1', [['Forwarded', 'for=127.0.0.1;proto=https']], 'own'),
  'loopback-addresses': fromAddress('127.0.0.1'),
  'private-addresses': fromAddress('10.0.0.1'),
  'container-addresses': fromAddress('172.17.0.1'),
  'lan-addresses': withHeaders('headers that name 192.168.1.1 or ::1 as the client', [
    ...each(ADDRESS_HEADERS, '192.168.1.1'),
    ['X-Real-IP', '::1'],
    ['Forwarded', 'for="[::1]"'],
  ]),
  'debug-header': withHeaders('X-Debug: 1', [['X-Debug', '1']], 'own'),
  'environment-header': withHeaders('X-Environment: test', [['X-Environment', 'test']], 'own'),
  'verified-header': withHeaders('X-Service-Verified: true', [['X-Service-Verified', 'true']], 'own'),
  'sender-agent': withHeaders('User-Agent: Service-Webhooks/1.0', [['User-Agent', 'Service-Webhooks/1.0']], 'own'),
  referer: withHeaders('an internal Referer', [['Referer', 'http://localhost/admin/webhooks']], 'own'),
  origin: withHeaders('an internal Origin', [['Origin', 'http://localhost']], 'own'),
  authorization: withHeaders('an Authorization header', [['Authorization', 'Basic dGVzdDp0ZXN0']], 'own'),
  'bearer-token': withHeaders(
    'a bearer token in Authorization',
    [['Authorization', `Bearer ${UNSIGNED_TOKEN}`]],
    'own',
  ),
  'method-override': withHeaders('X-HTTP-Method-Override: GET', [['X-HTTP-Method-Override', 'GET']]),
  'skip-headers': withHeaders('headers that ask to skip the verification', [
    ...each(
      ['X-Skip-Verification', 'X-Skip-Signature', 'X-Skip-Auth', 'X-Skip-Validation', 'X-Bypass', 'X-No-Verify'],
      'true',
    ),
    ...each(['X-Test-Mode', 'X-Test', 'X-Testing', 'X-Sandbox', 'X-Mock', 'X-Dry-Run', 'X-Dev', 'X-Local'], 'true'),
    ...each(['X-Synthetic', 'X-Canary', 'X-Load-Test', 'X-Shadow', 'X-Probe', 'X-Heartbeat', 'X-Demo'], 'true'),
    ...each(['X-Ignore-Signature', 'X-Disable-Verification', 'X-Debug-Mode', 'X-Debug'], 'true'),
    ['X-Verify', 'false'],
    ['X-Env', 'test'],
    ['X-Mode', 'test'],
  ]),
  'algorithm-headers': withHeaders('headers that name "none" as the algorithm, or an old version', [
    ...each(['X-Signature-Algorithm', 'X-Signature-Alg', 'X-Signature-Method', 'X-Signature-Type'], 'none'),
    ...each(['X-Algorithm', 'X-Hmac-Algorithm', 'X-Service-Signature-Algorithm'], 'none'),
    ['X-Signature-Version', '0'],
    ...each(['X-Webhook-Version', 'X-Api-Version', 'Api-Version', 'Accept-Version', 'X-Version'], '1'),
    ['X-Legacy', 'true'],
  ]),
  'identity-headers': withHeaders('headers of a gateway that has authenticated the request', [
    ...each(['X-Verified', 'X-Authenticated', 'X-Signature-Verified', 'X-Signature-Valid', 'X-Auth-Verified'], 'true'),
    ...each(['X-Internal', 'X-Internal-Request', 'X-Trusted', 'X-Admin', 'X-Webhook-Verified'], 'true'),
    ...each(['X-Authenticated-User', 'X-Remote-User', 'X-Forwarded-User', 'X-User', 'X-Consumer-Username'], 'admin'),
    ['X-Health-Check', '1'],
    ...each(['X-Client-Verify', 'X-SSL-Client-Verify', 'SSL-Client-Verify', 'X-SSL-Verify'], 'SUCCESS'),
  ]),
  'platform-headers': withHeaders('headers that a hosting platform sets', [
    // Next.js skipped its middleware for this header (CVE-2025-29927).
    ['X-Middleware-Subrequest', [...Array(5).fill('middleware'), ...Array(5).fill('src/middleware')].join(':')],
    ...each(['X-Appengine-Cron', 'X-Cloudscheduler', 'X-Envoy-Internal'], 'true'),
    ...each(['X-Appengine-Queuename', 'X-Cloudtasks-Queuename', 'Dapr-Caller-App-Id'], 'webhooks'),
    ...each(['X-MS-Client-Principal-Name', 'X-Amzn-Oidc-Identity', 'Remote-User', 'X-Webauth-User'], 'admin'),
    ...each(['X-Auth-Request-User', 'X-Authentik-Username', 'X-Forwarded-Preferred-Username'], 'admin'),
    ...each(['X-Auth-Request-Email', 'X-Forwarded-Email', 'Cf-Access-Authenticated-User-Email'], 'admin@localhost'),
    ...each(['X-Goog-Authenticated-User-Email', 'Tailscale-User-Login'], 'admin@localhost'),
    ['X-MS-Client-Principal', Buffer.from('{"userId":"admin","userRoles":["admin"]}').toString('base64')],
  ]),
  'sender-headers': withHeaders('headers of handshakes, tests and repeated deliveries of other senders', [
    ...each(['X-GitHub-Event', 'X-Gitea-Event', 'X-Event-Type', 'X-Webhook-Event'], 'ping'),
    ['X-Event-Key', 'diagnostics:ping'],
    ['X-Amz-Sns-Message-Type', 'SubscriptionConfirmation'],
    ['Aeg-Event-Type', 'SubscriptionValidation'],
    ['X-Goog-Resource-State', 'sync'],
    ['Webhook-Request-Origin', 'localhost'],
    ['Access-Control-Request-Method', 'POST'],
    ...each(['X-Hook-Secret', 'X-Okta-Verification-Challenge'], 'test'),
    ...each(['X-Shopify-Test', 'X-Webhook-Test', 'X-Redelivery', 'X-Replay', 'X-Retry'], 'true'),
    ...each(['X-Retry-Count', 'X-Retry-Attempt', 'Retry-Attempt', 'X-Delivery-Attempt', 'X-Attempt'], '2'),
  ]),
  'key-headers': withHeaders('headers that name an unknown secret or tenant', [
    ...each(['X-Key-Id', 'X-Secret-Id', 'X-Signature-Key-Id', 'X-Kid', 'X-Webhook-Id', 'X-App-Id'], 'unknown'),
    ...each(['X-Tenant-Id', 'X-Tenant', 'X-Partner-Id', 'X-Account-Id', 'X-Client-Id', 'X-Merchant-Id'], 'unknown'),
  ]),
  'connection-options': {
    dimension: 'hint',
    label: 'a Connection header that removes the headers of a proxy',
    change: {
      transmit: headerLines('a Connection header that names forwarding headers', 'Connection', () => [
        'Connection: close, X-Forwarded-For, X-Forwarded-Host, X-Real-IP, Forwarded',
      ]),
    },
    answer: 'shape',
  },
  'rewritten-to-health': rewrittenTo('/health'),
  'rewritten-to-healthz': rewrittenTo('/healthz'),
  'rewritten-to-ping': rewrittenTo('/ping'),
  'rewritten-to-metrics': rewrittenTo('/metrics'),
  'rewritten-to-public': rewrittenTo('/public/index.html'),
  'rewritten-to-static': rewrittenTo('/static/style.css'),
  'rewritten-to-login': rewrittenTo('/login'),
  'rewritten-to-favicon': rewrittenTo('/favicon.ico'),
  'rewritten-to-robots': rewrittenTo('/robots.txt'),
  'rewritten-to-well-known': rewrittenTo('/.well-known/security.txt'),
  'rewritten-to-root': rewrittenTo('/'),
  'agent-curl': asAgent('curl/8.5.0'),
  'agent-probe': asAgent('kube-probe/1.30'),
  'agent-balancer': asAgent('ELB-HealthChecker/2.0'),
  cookies: {
    dimension: 'hint',
    label: 'cookies that the endpoint has set, and usual session cookies',
    change: {
      address: headerValue({ name: 'Cookie' }, 'cookies of a session', (_old, kit) =>
        [...byName(kit.cookies.map(asCookie)), ...usualCookies(kit.cookies)].map((pair) => pair.join('=')).join('; '),
      ),
    },
    answer: 'shape',
  },
  'returned-headers': {
    dimension: 'hint',
    label: 'headers and tokens that the endpoint has returned',
    change: {
      address: {
        label: 'headers and tokens that the endpoint has returned',
        make: (head, kit) => ({
          ...head,
          headers: [...head.headers, ...byName([['X-Session-Token', 'test'], ...kit.returned])],
        }),
      },
    },
    answer: 'shape',
  },
  'query-skip': withQuery('skip=1 in the query', 'skip=1'),
  'query-test': withQuery('test=true in the query', 'test=true'),
  'query-debug': withQuery('debug=1 in the query', 'debug=1'),
  'query-open-path': withQuery('/health in the query', 'path=/health'),
  'query-switches': withQuery(
    'usual switches in the query',
    ...['skip_signature=true', 'skip_verification=1', 'skip_auth=1', 'no_verify=1', 'verify=false', 'signature=none'],
    ...['test_mode=1', 'mode=test', 'env=dev', 'sandbox=true', 'dry_run=1', 'admin=1', 'internal=1', 'health=1'],
    ...['bypass=1', 'auth=false', 'noauth=1', 'trusted=1', 'verified=true', 'unsafe=1', 'dev=1', 'local=1', 'ping=1'],
    ...['legacy=1', 'version=1'],
  ),
  'query-results': withQuery(
    'results of the verification in the query',
    ...['valid=1', 'isValid=1', 'is_valid=1', 'verified=1', 'signatureValid=1', 'signature_valid=1', 'authenticated=1'],
    ...['authorized=1', 'authorised=1', 'trusted=1', 'ok=1'],
  ),
  'query-handshakes': withQuery('handshakes of other senders in the query', ...HANDSHAKE_QUERIES),
  'any-query': withQuery('an unrelated query parameter', 'probe=1'),
  'secret-in-query': namedSecret.inQuery,
  'secret-in-cookies': namedSecret.inCookies,
  'secret-in-headers': withHeaders('the secret in headers', each(SECRET_HEADERS, CLAIMED)),
  'key-in-query': namedKey.inQuery,
  'key-in-cookies': namedKey.inCookies,
  'test-queries': withQuery('test switches in the query', 'skip=1', 'test=true', 'debug=1'),
} as const satisfies Readonly<Record<string, Shape>>;

export type ShapeName = keyof typeof SHAPES;
