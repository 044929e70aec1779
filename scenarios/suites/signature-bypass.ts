import { addQuery, both, setHeader, withoutHeader } from '../changes/addressing.ts';
import { refused } from '../expectations.ts';
import type { AddressChange, Expectation, Scenario } from '../scenario.ts';

/** An unsigned delivery that claims, in one way, to need no signature. */
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
