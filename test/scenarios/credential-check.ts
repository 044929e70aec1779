/**
 * An independent check of the scenarios about credentials: assembles a delivery like the sender, and checks signature
 * and key in its headers. It knows nothing about the scenarios.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import fc from 'fast-check';
import { order } from '../../scenarios/samples.ts';
import type { Change, Expectation, Kit, RequestHead, Scenario } from '../../scenarios/scenario.ts';

export interface Credentials {
  readonly secret: string;
  readonly apiKey: string;
  readonly signatureHeader: string;
  readonly apiKeyHeader: string;
}

/** Returns random bytes. */
type Bytes = (length: number) => Buffer;

/** Creates random credentials with the default header names. */
export function someCredentials(bytes: Bytes = randomBytes): Credentials {
  return {
    secret: bytes(32).toString('base64url'),
    apiKey: bytes(16).toString('hex'),
    signatureHeader: 'X-Service-Signature',
    apiKeyHeader: 'X-API-Key',
  };
}

function signatureOf(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}

export function fakeKit(credentials: Credentials, bytes: Bytes = randomBytes): Kit {
  const kit: Kit = {
    newId: () =>
      bytes(16)
        .toString('hex')
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5'),
    nonce: (length = 12) => bytes(length).toString('hex').slice(0, length),
    integer: (below) => bytes(4).readUInt32BE() % below,
    bytes,
    now: new Date('2026-01-02T03:04:05Z'),
    notification: () => order(kit, 'BUY', 'COMPLETED'),
    clientCertificate: '',
    ...credentials,
    sign: (body) => signatureOf(credentials.secret, body),
    cookies: [],
    returned: [],
  };
  return kit;
}

export interface Sent {
  readonly head: RequestHead;
  readonly body: Buffer;
}

/** Assembles the delivery of a change. `target` stands for a registered URL, with or without a query. */
export function assemble(change: Change, kit: Kit, target = '/hook'): Sent {
  for (let tries = 0; tries < 1000; tries++) {
    const value = change.compose === undefined ? kit.notification() : change.compose(kit);
    const body = Buffer.from(change.serialise === undefined ? JSON.stringify(value) : change.serialise(value, kit));
    const right = signatureOf(kit.secret, body);
    if (change.sign?.suits !== undefined && !change.sign.suits(right)) continue;
    const signature = change.sign === undefined ? right : change.sign.make(body, kit);
    const plain: RequestHead = {
      method: 'POST',
      target,
      headers: [
        ['Host', 'localhost'],
        ['Content-Type', 'application/json'],
        ['Content-Length', String(body.length)],
        ...(signature === undefined ? [] : [[kit.signatureHeader, signature] as const]),
        [kit.apiKeyHeader, kit.apiKey],
      ],
    };
    return { head: change.address === undefined ? plain : change.address.make(plain, kit, body), body };
  }
  throw new Error('no body suits the change');
}

type State = 'right' | 'wrong' | 'missing';

function stateOf(head: RequestHead, name: string, right: string): State {
  const values = head.headers.filter(([other]) => other.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
  if (values.length === 0) return 'missing';
  return values.length === 1 && values[0]?.replace(/^[ \t]*|[ \t]*$/g, '') === right ? 'right' : 'wrong';
}

/** Returns the states of the credentials for a receiver that follows the specification exactly. */
export function statesOf(sent: Sent, kit: Kit): { readonly signature: State; readonly key: State } {
  return {
    signature: stateOf(sent.head, kit.signatureHeader, signatureOf(kit.secret, sent.body)),
    key: stateOf(sent.head, kit.apiKeyHeader, kit.apiKey),
  };
}

/** Returns why node:http would not send these headers. Null if it would. */
function unsendable({ head }: Sent): string | null {
  if (!/^\/[!-~]*$/.test(head.target)) return `target ${JSON.stringify(head.target)}`;
  try {
    for (const [name, value] of head.headers) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return null;
  } catch (error) {
    return String(error);
  }
}

/** Returns every delivery of a scenario. An observation has none. */
export function deliveriesOf(
  scenario: Scenario,
  kit: Kit,
): { readonly change: Change; readonly expect: Expectation }[] {
  if ('flow' in scenario) return scenario.flow(kit).flat();
  return 'change' in scenario ? [scenario] : [];
}

/** Returns the scenarios whose deliveries contradict their expectations, each with the difference. */
export function lies(scenarios: readonly Scenario[], credentials: Credentials, target?: string): string[] {
  const kit = fakeKit(credentials);
  return scenarios.flatMap((scenario) =>
    deliveriesOf(scenario, kit).flatMap(({ change, expect }) => {
      const sent = assemble(change, kit, target);
      const { signature, key } = statesOf(sent, kit);
      const authentic = signature === 'right' && key === 'right';
      const problem = unsendable(sent);
      return [
        ...(authentic === expect.authentic ? [] : [`${scenario.id}: signature ${signature}, key ${key}`]),
        ...(problem === null ? [] : [`${scenario.id}: ${problem}`]),
      ];
    }),
  );
}

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const visibleText = (maxLength: number) => fc.string({ unit: visible, minLength: 1, maxLength });
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 64 });
const noLetters = fc.string({ unit: fc.constantFrom(...'0123456789-_.*%$'), minLength: 1, maxLength: 64 });

const secrets = fc.oneof(
  visibleText(100),
  digits,
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((text) => !/\p{Cc}/u.test(text)),
  fc.uint8Array({ minLength: 16, maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  fc.constantFrom(
    'undefined',
    'null',
    'secret',
    'changeme',
    'test-secret',
    '***',
    'password',
    'your-secret',
    'whsec_test',
  ),
  fc.constantFrom('X-Service-Signature', 'AAAA', '"', 'x'),
);
const keys = fc.oneof(
  visibleText(64),
  digits,
  noLetters,
  fc.constantFrom(
    'a',
    'b',
    'x',
    'X',
    '0',
    '00',
    '*',
    '%',
    '.*',
    'null',
    'undefined',
    'Bearer abc',
    'two words',
    '\u00e9',
    '\u00e9\u00e9',
  ),
);
const signatureHeaders = fc.constantFrom(
  'X-Service-Signature',
  'x-signature',
  'X-Hub-Signature-256',
  'Authorization',
  'Cookie',
  'signature',
  'X-Debug',
);
const apiKeyHeaders = fc.constantFrom('X-API-Key', 'Api-Key', 'authorization', 'cookie', 'api_key', 'KEY', 'X-Real-IP');

/** Generates any credentials, including values that scenarios send as invalid ones. */
export const anyCredentials: fc.Arbitrary<Credentials> = fc
  .record({
    secret: secrets,
    apiKey: keys,
    signatureHeader: signatureHeaders,
    apiKeyHeader: apiKeyHeaders,
    same: fc.boolean(),
  })
  .filter(({ signatureHeader, apiKeyHeader }) => signatureHeader.toLowerCase() !== apiKeyHeader.toLowerCase())
  .map(({ same, ...rest }) => (same && /^[!-~]+$/.test(rest.secret) ? { ...rest, apiKey: rest.secret } : rest));
