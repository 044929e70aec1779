/** An unsigned delivery with one claim that it needs no signature. */
import { addQuery, both, setHeader, withoutHeader } from '../changes/addressing.ts';
import { literal, unsigned } from '../changes/signing.ts';
import { refused } from '../expectations.ts';
import { deposit, order, paymentMethod, refund, tracking, wallet } from '../samples.ts';
import type { AddressChange, Delivery, Expectation, FlowScenario, Kit, ProbeScenario, Scenario } from '../scenario.ts';

function bypass(
  slug: string,
  title: string,
  claim: AddressChange,
  text: { readonly why: string; readonly fix: string },
  expect: Expectation = refused,
): Scenario {
  return {
    id: `signature/unsigned-${slug}`,
    title,
    level: 'must',
    requirements: ['hmac-every-delivery', 'hmac-missing'],
    needs: ['hmac'],
    change: {
      address: both(
        `no signature header, and ${claim.label}`,
        claim,
        withoutHeader('signature', 'no signature header'),
      ),
    },
    expect,
    ...text,
  };
}

/** Sources, headers and parameters that must not make the signature optional. */
export const bypasses: readonly Scenario[] = [
  bypass(
    'forwarded-for-loopback',
    'Rejects an unsigned delivery with X-Forwarded-For: 127.0.0.1',
    setHeader('X-Forwarded-For', '127.0.0.1'),
    {
      why: 'Any client can set this header. A receiver that trusts it treats every client as local.',
      fix: 'Verify local requests too, and do not trust an address that the request itself names.',
    },
  ),
  bypass(
    'real-ip-loopback',
    'Rejects an unsigned delivery with X-Real-IP: 127.0.0.1',
    setHeader('X-Real-IP', '127.0.0.1'),
    {
      why: 'An exception for internal health checks works for anyone who sends this header.',
      fix: 'Use a separate route for health checks, and make no exception by address on this one.',
    },
  ),
  bypass(
    'forwarded-loopback',
    'Rejects an unsigned delivery with Forwarded: for=127.0.0.1',
    setHeader('Forwarded', 'for=127.0.0.1;proto=https'),
    {
      why: 'The standard header is no more trustworthy than the older ones unless your own proxy overwrites it.',
      fix: 'Configure the trusted proxies of the framework, and require the signature from every address.',
    },
  ),
  bypass('debug-header', 'Rejects an unsigned delivery with X-Debug: 1', setHeader('X-Debug', '1'), {
    why: 'A debug switch that works in production lets an attacker who knows its name skip verification.',
    fix: 'Remove the branch for this header, and sign your debug requests.',
  }),
  bypass(
    'environment-header',
    'Rejects an unsigned delivery with X-Environment: test',
    setHeader('X-Environment', 'test'),
    {
      why: 'If the request can name the environment, an attacker can put production into test mode.',
      fix: 'Read the environment from your own configuration, and verify signatures in every environment.',
    },
  ),
  bypass(
    'verified-header',
    'Rejects an unsigned delivery with X-Service-Verified: true',
    setHeader('X-Service-Verified', 'true'),
    {
      why: 'A gateway that verifies and sets a header protects only if the receiver cannot be reached directly.',
      fix: 'Verify in the receiver itself, or let the gateway remove the header from incoming requests.',
    },
  ),
  bypass(
    'sender-user-agent',
    "Rejects an unsigned delivery with the sender's User-Agent",
    setHeader('User-Agent', 'Service-Webhooks/1.0'),
    {
      why: 'The name of a program proves nothing.',
      fix: 'Use the User-Agent for statistics only, not for authentication.',
    },
  ),
  bypass(
    'internal-referer',
    'Rejects an unsigned delivery with an internal Referer',
    setHeader('Referer', 'http://localhost/admin/webhooks'),
    {
      why: 'Test buttons on admin pages send it, and an attacker can copy it.',
      fix: 'Let the admin page sign its test deliveries like the real sender.',
    },
  ),
  bypass(
    'internal-origin',
    'Rejects an unsigned delivery with an internal Origin',
    setHeader('Origin', 'http://localhost'),
    {
      why: 'Cross-origin rules apply to browsers only. Any other client can send any Origin.',
      fix: 'Separate CORS from authentication: an allowed origin still needs a signature.',
    },
  ),
  bypass(
    'method-override',
    'Rejects an unsigned delivery with X-HTTP-Method-Override: GET',
    setHeader('X-HTTP-Method-Override', 'GET'),
    {
      why: 'A check for POST only does not run when the method is overridden, but the handler does.',
      fix: 'Turn off method overriding, or verify before it.',
    },
    { text: '401, or another 4xx from method overriding', authentic: false, pass: [401], note: ['4xx'] },
  ),
  bypass(
    'query-skip',
    'Rejects an unsigned delivery with ?skip=1',
    addQuery('skip=1 in the query', () => 'skip=1'),
    {
      why: 'A parameter that skips the verification can be found in old logs or in the documentation of a library.',
      fix: 'Remove the option that turns verification off, or limit it to local builds.',
    },
  ),
  bypass(
    'query-test',
    'Rejects an unsigned delivery with ?test=true',
    addQuery('test=true in the query', () => 'test=true'),
    {
      why: 'Test deliveries without a signature reach the same handler and can create the same orders.',
      fix: 'Verify a test delivery like a real one.',
    },
  ),
  bypass(
    'query-debug',
    'Rejects an unsigned delivery with ?debug=1',
    addQuery('debug=1 in the query', () => 'debug=1'),
    {
      why: 'Debug modes print more and verify less, and the parameter is easy to guess.',
      fix: 'Remove the parameter from the condition around the verification and from the router.',
    },
  ),
  bypass(
    'open-path-in-query',
    'Rejects an unsigned delivery with the open path /health in its query string',
    addQuery('/health in the query', () => 'path=/health'),
    {
      why: 'A list of open paths that is searched in the whole URL also matches the query string.',
      fix: 'Compare the path without the query string, or use a separate route for health checks.',
    },
  ),
  bypass(
    'authorization',
    'Rejects an unsigned delivery with an Authorization header',
    setHeader('Authorization', 'Basic dGVzdDp0ZXN0'),
    {
      why: 'In a chain of authentication methods, each one may leave the request to another, and none verifies it.',
      fix: 'Require the signature whatever other headers are present.',
    },
  ),
];

const base = { level: 'must', requirements: ['hmac-every-delivery'], needs: ['hmac'], expect: refused } as const;

/** A random signature in the correct format. */
const madeUp = (kit: Kit) => literal(kit.bytes(32).toString('base64'), 'a random signature in the correct format');

function forged(kit: Kit, label: string, compose: (kit: Kit) => ReturnType<Kit['notification']>): Delivery {
  const event = compose(kit);
  return { label, change: { compose: () => event, sign: madeUp(kit) }, expect: refused };
}

const flagged = (kit: Kit) => ({ ...kit.notification(), livemode: false, sandbox: true, test: true });
/** The smallest notification: the envelope of an unknown type. */
const tiny = (kit: Kit) => ({ id: kit.newId(), type: 'TEST', at: Math.floor(kit.now.getTime() / 1000), data: {} });

/** Contents and framings that must not make the signature optional. */
export const conditions: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...base,
    id: 'signature/wrong-on-every-kind',
    title: 'Rejects an invalid signature on a notification of every type',
    flow: (kit) => [
      [
        forged(kit, 'a tracking notification', (own) => tracking(own, 'SELL', 'COMPLETED')),
        forged(kit, 'a refund', (own) => refund(own, 'SUCCESS')),
        forged(kit, 'a payment method', (own) => paymentMethod(own, 'STAGED')),
        forged(kit, 'a wallet', (own) => wallet(own)),
        forged(kit, 'a deposit', (own) => deposit(own)),
      ],
    ],
    why: 'A missing check for a newer type does not show in unsigned deliveries as long as the header is required.',
    fix: 'Use the same verification for all types, on the route. The report names the accepted type.',
  },
  {
    ...base,
    id: 'signature/wrong-on-early-order',
    title: 'Rejects an invalid signature on an order that is not final',
    flow: (kit) => [
      [
        forged(kit, 'a buy that was created', (own) => order(own, 'BUY', 'CREATED')),
        forged(kit, 'a sell that is pending', (own) => order(own, 'SELL', 'PENDING')),
      ],
    ],
    why: 'A forged early status lets an attacker show the customer another address to pay to.',
    fix: 'Verify before the status is read, not only where the money is booked.',
  },
  {
    ...base,
    id: 'signature/unsigned-test-flag',
    title: 'Rejects an unsigned delivery that claims to be a test in its body',
    flow: (kit) => [
      [
        {
          label: 'unsigned, with livemode, sandbox and test in the body',
          change: { compose: () => flagged(kit), sign: unsigned },
          expect: refused,
        },
      ],
    ],
    why: 'The flag is part of the unverified body, so an attacker can set it.',
    fix: 'Read the environment from your configuration, and sign test deliveries like all others.',
  },
  {
    ...base,
    id: 'signature/unsigned-tiny',
    title: 'Rejects an unsigned delivery with a very small body',
    flow: (kit) => {
      const event = tiny(kit);
      return [[{ label: 'an unsigned envelope', change: { compose: () => event, sign: unsigned }, expect: refused }]];
    },
    why: 'A size limit that exempts health checks also exempts any short notification.',
    fix: 'Use a separate route for health checks, and verify deliveries of every length.',
  },
  {
    ...base,
    id: 'signature/unsigned-with-charset',
    title: 'Rejects an unsigned delivery whose Content-Type has a charset',
    change: {
      address: both(
        'no signature header, and a Content-Type with a charset',
        setHeader('Content-Type', 'application/json; charset=utf-8'),
        withoutHeader('signature', 'no signature header'),
      ),
    },
    why: 'When the verification depends on one exact Content-Type, other forms of it are not verified.',
    fix: 'Verify the raw bytes in a separate step, whatever the Content-Type is.',
  },
  {
    ...base,
    id: 'signature/unsigned-chunked',
    title: 'Rejects an unsigned delivery with a chunked body',
    flow: () => [
      [
        {
          label: 'unsigned, with Transfer-Encoding: chunked',
          change: { sign: unsigned, transmit: { kind: 'chunked', pieces: 2 } },
          expect: { ...refused, text: '401, or 411 from a server that takes no chunks', note: [411] },
        },
      ],
    ],
    why: 'Without Content-Length, some checks treat the body as empty and skip the verification.',
    fix: 'Read the body to its end, and verify what was read.',
  },
];
