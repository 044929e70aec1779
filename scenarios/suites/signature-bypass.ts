/** An unsigned delivery that claims, in one way, to need no signature. */
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

/** No source, header or parameter frees a delivery from its signature. */
export const bypasses: readonly Scenario[] = [
  bypass(
    'forwarded-for-loopback',
    'Refuses an unsigned delivery that claims to come from the own machine (X-Forwarded-For)',
    setHeader('X-Forwarded-For', '127.0.0.1'),
    {
      why: 'Every client can write this header. A receiver that trusts it believes every client to be local.',
      fix: 'Verify local requests too, and do not derive trust from an address that the request itself names.',
    },
  ),
  bypass(
    'real-ip-loopback',
    'Refuses an unsigned delivery that claims to come from the own machine (X-Real-IP)',
    setHeader('X-Real-IP', '127.0.0.1'),
    {
      why: 'A health check from inside was let through by its address, and the address can be sent by anyone.',
      fix: 'Give health checks a route of their own, and keep the address out of the decision on this one.',
    },
  ),
  bypass(
    'forwarded-loopback',
    'Refuses an unsigned delivery that claims to come from the own machine (Forwarded)',
    setHeader('Forwarded', 'for=127.0.0.1;proto=https'),
    {
      why: 'The standard header is no more trustworthy than its older forms unless your own proxy overwrites it.',
      fix: 'Set the trusted proxies of the framework, and require the signature whatever the client address is.',
    },
  ),
  bypass('debug-header', 'Refuses an unsigned delivery with X-Debug: 1', setHeader('X-Debug', '1'), {
    why: 'A switch for debugging that works in production is a back door with a well-known name.',
    fix: 'Remove the branch on this header; sign the requests that you send while debugging.',
  }),
  bypass(
    'environment-header',
    'Refuses an unsigned delivery with X-Environment: test',
    setHeader('X-Environment', 'test'),
    {
      why: 'The environment is a property of the receiver. When the request may name it, production can be told that it is a test.',
      fix: 'Read the environment from your own configuration, and verify signatures in all of them.',
    },
  ),
  bypass(
    'verified-header',
    'Refuses an unsigned delivery with X-Service-Verified: true',
    setHeader('X-Service-Verified', 'true'),
    {
      why: 'A gateway that verifies and then says so in a header helps only if nobody can reach the receiver around it.',
      fix: 'Verify in the receiver itself, or have the gateway delete the header from what comes in.',
    },
  ),
  bypass(
    'sender-user-agent',
    'Refuses an unsigned delivery that names itself as the sender (User-Agent)',
    setHeader('User-Agent', 'Service-Webhooks/1.0'),
    {
      why: 'The name of a program is a claim without any proof.',
      fix: 'Use the User-Agent for statistics alone; no list of known senders may stand before the verification.',
    },
  ),
  bypass(
    'internal-referer',
    'Refuses an unsigned delivery with an internal Referer',
    setHeader('Referer', 'http://localhost/admin/webhooks'),
    {
      why: 'Test buttons in admin pages send this, and a receiver that trusts it trusts everyone who copies it.',
      fix: 'Let the admin page sign its test deliveries with the secret like the real sender does.',
    },
  ),
  bypass(
    'internal-origin',
    'Refuses an unsigned delivery with an internal Origin',
    setHeader('Origin', 'http://localhost'),
    {
      why: 'Cross-origin rules bind browsers only. A script that is none sets any Origin it likes.',
      fix: 'Keep CORS settings apart from authentication: an allowed origin still needs a signature.',
    },
  ),
  bypass(
    'method-override',
    'Refuses an unsigned delivery with X-HTTP-Method-Override: GET',
    setHeader('X-HTTP-Method-Override', 'GET'),
    {
      why: 'The check is bound to POST, the override makes it something else, and the handler runs all the same.',
      fix: 'Switch method overriding off, or verify before it; a check for POST alone must not be the way around it.',
    },
    { text: '401, or another 4xx from method overriding', authentic: false, pass: [401], note: ['4xx'] },
  ),
  bypass(
    'query-skip',
    'Refuses an unsigned delivery with ?skip=1',
    addQuery('skip=1 in the query', () => 'skip=1'),
    {
      why: 'A parameter that skips the check is found by anyone who reads an old log line or the documentation of a library.',
      fix: 'Delete the option that turns verification off, or tie it to a build that never leaves your machine.',
    },
  ),
  bypass(
    'query-test',
    'Refuses an unsigned delivery with ?test=true',
    addQuery('test=true in the query', () => 'test=true'),
    {
      why: 'Test deliveries without a signature reach the same handler and can book the same orders.',
      fix: 'Treat a test delivery like a real one; keep apart what it does, not how it is checked.',
    },
  ),
  bypass(
    'query-debug',
    'Refuses an unsigned delivery with ?debug=1',
    addQuery('debug=1 in the query', () => 'debug=1'),
    {
      why: 'Debug modes print more and check less; both are gifts to whoever guesses the parameter.',
      fix: 'Take the parameter out of the condition around the verification, and out of the router.',
    },
  ),
  bypass(
    'open-path-in-query',
    'Refuses an unsigned delivery whose query names a path that is open (/health)',
    addQuery('/health in the query', () => 'path=/health'),
    {
      why: 'A list of open paths that is searched for in the whole URL finds them in the query as well.',
      fix: 'Compare the path as a whole, without the query, or give the health check a route of its own.',
    },
  ),
  bypass(
    'authorization',
    'Refuses an unsigned delivery with an Authorization header',
    setHeader('Authorization', 'Basic dGVzdDp0ZXN0'),
    {
      why: 'In a chain of checks each one may leave the request to the next that seems to be in charge, and none looks.',
      fix: 'Require the signature whatever other headers are there.',
    },
  ),
];

const base = { level: 'must', requirements: ['hmac-every-delivery'], needs: ['hmac'], expect: refused } as const;

/** A signature of the right form that is right for nothing. */
const madeUp = (kit: Kit) => literal(kit.bytes(32).toString('base64'), 'a made-up signature of the right form');

function forged(kit: Kit, label: string, compose: (kit: Kit) => ReturnType<Kit['notification']>): Delivery {
  const event = compose(kit);
  return { label, change: { compose: () => event, sign: madeUp(kit) }, expect: refused };
}

const flagged = (kit: Kit) => ({ ...kit.notification(), livemode: false, sandbox: true, test: true });
/** As small as a notification can be: the envelope of a type that nobody knows. */
const tiny = (kit: Kit) => ({ id: kit.newId(), type: 'TEST', at: Math.floor(kit.now.getTime() / 1000), data: {} });

/** Whatever a delivery carries and however it is framed, it is verified. */
export const conditions: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...base,
    id: 'signature/wrong-on-every-kind',
    title: 'Refuses a wrong signature on a notification of every kind',
    flow: (kit) => [
      [
        forged(kit, 'a tracking notification', (own) => tracking(own, 'SELL', 'COMPLETED')),
        forged(kit, 'a refund', (own) => refund(own, 'SUCCESS')),
        forged(kit, 'a payment method', (own) => paymentMethod(own, 'STAGED')),
        forged(kit, 'a wallet', (own) => wallet(own)),
        forged(kit, 'a deposit', (own) => deposit(own)),
      ],
    ],
    why: 'A check that a later type has lost shows in unsigned deliveries only while the header is still asked for.',
    fix: 'Call the same verification for all types, on the route; the report names the kind that was let through.',
  },
  {
    ...base,
    id: 'signature/wrong-on-early-order',
    title: 'Refuses a wrong signature on an order that is not final yet',
    flow: (kit) => [
      [
        forged(kit, 'a buy that was created', (own) => order(own, 'BUY', 'CREATED')),
        forged(kit, 'a sell that is pending', (own) => order(own, 'SELL', 'PENDING')),
      ],
    ],
    why: 'A forged status on the way shows the customer another address to pay into.',
    fix: 'Verify before the status is read, and not only where the money is booked.',
  },
  {
    ...base,
    id: 'signature/unsigned-test-flag',
    title: 'Refuses an unsigned delivery that calls itself a test in its body',
    flow: (kit) => [
      [
        {
          label: 'unsigned, with livemode, sandbox and test in the body',
          change: { compose: () => flagged(kit), sign: unsigned },
          expect: refused,
        },
      ],
    ],
    why: 'The flag stands in the body that the signature protects, so that a forger sets it as he likes.',
    fix: 'Take the environment from your configuration, and sign test deliveries like all others.',
  },
  {
    ...base,
    id: 'signature/unsigned-tiny',
    title: 'Refuses an unsigned delivery with a very small body',
    flow: (kit) => {
      const event = tiny(kit);
      return [[{ label: 'an unsigned envelope', change: { compose: () => event, sign: unsigned }, expect: refused }]];
    },
    why: 'A lower limit, meant for pings of a monitor, is a way in for all that is short enough.',
    fix: 'Give pings a route of their own, and verify on this one whatever the length is.',
  },
  {
    ...base,
    id: 'signature/unsigned-with-charset',
    title: 'Refuses an unsigned delivery whose Content-Type has a charset',
    change: {
      address: both(
        'no signature header, and a Content-Type with a charset',
        setHeader('Content-Type', 'application/json; charset=utf-8'),
        withoutHeader('signature', 'no signature header'),
      ),
    },
    why: 'Where the check hangs on the parser of one exact type, every other spelling of it comes in unverified.',
    fix: 'Verify the raw bytes in a step of its own, before the Content-Type decides anything.',
  },
  {
    ...base,
    id: 'signature/unsigned-chunked',
    title: 'Refuses an unsigned delivery in chunks',
    flow: () => [
      [
        {
          label: 'unsigned, with Transfer-Encoding: chunked',
          change: { sign: unsigned, transmit: { kind: 'chunked', pieces: 2 } },
          expect: { ...refused, text: '401, or 411 from a server that takes no chunks', note: [411] },
        },
      ],
    ],
    why: 'Without Content-Length some checks see a body of length 0, and find nothing to verify.',
    fix: 'Read the body to its end first, and verify what was read.',
  },
];
