/** Unsigned deliveries with claims that no signature is needed. */
import type { ShapeName } from '../dimensions.ts';
import type { Crossing } from '../forgery.ts';

function bypass(slug: string, title: string, shape: ShapeName, why: string, fix: string): Crossing {
  return { id: `signature/unsigned-${slug}`, title, flaw: 'no-signature', shapes: [shape], why, fix };
}

const ONE_BY_ONE = 'If a single header is enough, the report names it.';

/** Sources, headers and parameters that must not make the signature optional. */
export const signatureBypasses: readonly Crossing[] = [
  bypass(
    'forwarded-for-loopback',
    'Rejects an unsigned delivery with X-Forwarded-For: 127.0.0.1',
    'forwarded-for-loopback',
    'Any client can set this header. A receiver that trusts it treats every client as local.',
    'Verify local requests too, and do not trust an address that the request itself names.',
  ),
  bypass(
    'real-ip-loopback',
    'Rejects an unsigned delivery with X-Real-IP: 127.0.0.1',
    'real-ip-loopback',
    'An exception for internal health checks works for anyone who sends this header.',
    'Use a separate route for health checks, and make no exception by address on this one.',
  ),
  bypass(
    'forwarded-loopback',
    'Rejects an unsigned delivery with Forwarded: for=127.0.0.1',
    'forwarded-loopback',
    'The standard header is no more trustworthy than the older ones unless your own proxy overwrites it.',
    'Configure the trusted proxies of the framework, and require the signature from every address.',
  ),
  {
    id: 'signature/unsigned-private-address',
    title: 'Rejects an unsigned delivery with headers that claim a private or loopback address',
    flaw: 'no-signature',
    shapes: ['private-addresses', 'loopback-addresses', 'lan-addresses', 'container-addresses'],
    why: 'Exceptions for the internal network trust private addresses in headers that any client can set.',
    fix: `Make no exception for an address that the request names. ${ONE_BY_ONE}`,
  },
  bypass(
    'skip-headers',
    'Rejects an unsigned delivery with headers that ask to skip the verification',
    'skip-headers',
    'Switches such as X-Skip-Verification and X-Test-Mode are added for tests and stay. Their names are easy to guess.',
    `Delete the switch, and sign test deliveries. ${ONE_BY_ONE}`,
  ),
  bypass(
    'algorithm-headers',
    'Rejects an unsigned delivery with headers that name "none" as the algorithm, or an old version',
    'algorithm-headers',
    'A receiver that reads the algorithm or the version from the request lets an attacker turn the verification off.',
    `Use HMAC-SHA256 only, and read no algorithm and no version from the request. ${ONE_BY_ONE}`,
  ),
  bypass(
    'identity-headers',
    'Rejects an unsigned delivery with headers that a gateway sets after authentication',
    'identity-headers',
    'Headers such as X-Authenticated-User can be trusted only behind the gateway that sets them. Anyone can send them.',
    `Verify in the receiver itself, and let the gateway remove these headers. ${ONE_BY_ONE}`,
  ),
  bypass(
    'platform-headers',
    'Rejects an unsigned delivery with headers that a hosting platform sets',
    'platform-headers',
    'A platform removes X-Appengine-Cron or X-MS-Client-Principal from outside requests. On any other host, or past ' +
      'the platform, anyone can send them.',
    `Verify in the receiver itself, and read no identity from headers. ${ONE_BY_ONE}`,
  ),
  bypass(
    'sender-headers',
    'Rejects an unsigned delivery with headers of handshakes, tests or repeats of other senders',
    'sender-headers',
    'Shortcuts for subscriptions, pings and retries of other senders run before the verification, and their headers ' +
      'are documented.',
    `Remove these branches: this sender has none of them. ${ONE_BY_ONE}`,
  ),
  bypass(
    'connection-options',
    'Rejects an unsigned delivery whose Connection header removes the headers of a proxy',
    'connection-options',
    'A proxy removes the headers that Connection names (CVE-2022-31813), and a request without X-Forwarded-For then ' +
      'looks internal.',
    'Take no request for internal, and let the proxy set its headers after it has removed others.',
  ),
  bypass(
    'rewrite-headers',
    'Rejects an unsigned delivery with headers that name an open path',
    'rewrite-headers',
    'Some frameworks and proxies take the path from X-Original-URL, which can then match a list of open paths.',
    `Use only the path in the request line. ${ONE_BY_ONE}`,
  ),
  {
    id: 'signature/unsigned-health-agent',
    title: 'Rejects an unsigned delivery that has the User-Agent of a health check or a tool',
    flaw: 'no-signature',
    shapes: ['agent-curl', 'agent-probe', 'agent-balancer'],
    why: 'Exceptions for load balancers, probes and manual tests rely on a name that any client can send.',
    fix: 'Give health checks their own route, and make no exception by User-Agent.',
  },
  {
    id: 'signature/unsigned-session-cookie',
    title: 'Rejects an unsigned delivery with session cookies, or with tokens that the endpoint has returned',
    flaw: 'no-signature',
    shapes: ['cookies', 'returned-headers'],
    why:
      'A session that starts with a valid delivery, or that belongs to an admin page, must not ' +
      'replace the signature.',
    fix: 'Keep session middleware off this route, return no cookies and tokens, and verify every delivery.',
  },
  bypass(
    'debug-header',
    'Rejects an unsigned delivery with X-Debug: 1',
    'debug-header',
    'A debug switch that works in production lets an attacker who knows its name skip verification.',
    'Remove the branch for this header, and sign your debug requests.',
  ),
  bypass(
    'environment-header',
    'Rejects an unsigned delivery with X-Environment: test',
    'environment-header',
    'If the request can name the environment, an attacker can put production into test mode.',
    'Read the environment from your own configuration, and verify signatures in every environment.',
  ),
  bypass(
    'verified-header',
    'Rejects an unsigned delivery with X-Service-Verified: true',
    'verified-header',
    'A gateway that verifies and sets a header protects only if the receiver cannot be reached directly.',
    'Verify in the receiver itself, or let the gateway remove the header from incoming requests.',
  ),
  bypass(
    'sender-user-agent',
    "Rejects an unsigned delivery with the sender's User-Agent",
    'sender-agent',
    'The name of a program proves nothing.',
    'Use the User-Agent for statistics only, not for authentication.',
  ),
  bypass(
    'internal-referer',
    'Rejects an unsigned delivery with an internal Referer',
    'referer',
    'Test buttons on admin pages send it, and an attacker can copy it.',
    'Let the admin page sign its test deliveries like the real sender.',
  ),
  bypass(
    'internal-origin',
    'Rejects an unsigned delivery with an internal Origin',
    'origin',
    'Cross-origin rules apply to browsers only. Any other client can send any Origin.',
    'Separate CORS from authentication: an allowed origin still needs a signature.',
  ),
  bypass(
    'method-override',
    'Rejects an unsigned delivery with X-HTTP-Method-Override: GET',
    'method-override',
    'A check for POST only does not run when the method is overridden, but the handler does.',
    'Turn off method overriding, or verify before it.',
  ),
  bypass(
    'authorization',
    'Rejects an unsigned delivery with an Authorization header',
    'authorization',
    'In a chain of authentication methods, each one may leave the request to another, and none verifies it.',
    'Require the signature whatever other headers are present.',
  ),
  bypass(
    'bearer-token',
    'Rejects an unsigned delivery with an unsigned bearer token',
    'bearer-token',
    'An authenticator for users takes over requests with a token, and may accept the algorithm "none".',
    'Require the signature whatever other headers are present, and give user routes their own authentication.',
  ),
  bypass(
    'query-skip',
    'Rejects an unsigned delivery with ?skip=1',
    'query-skip',
    'A parameter that skips the verification can be found in old logs or in the documentation of a library.',
    'Remove the option that turns verification off, or limit it to local builds.',
  ),
  bypass(
    'query-test',
    'Rejects an unsigned delivery with ?test=true',
    'query-test',
    'Test deliveries without a signature reach the same handler and can create the same orders.',
    'Verify a test delivery like a real one.',
  ),
  bypass(
    'query-debug',
    'Rejects an unsigned delivery with ?debug=1',
    'query-debug',
    'Debug modes print more and verify less, and the parameter is easy to guess.',
    'Remove the parameter from the condition around the verification and from the router.',
  ),
  bypass(
    'query-switches',
    'Rejects an unsigned delivery with common switches in its query string',
    'query-switches',
    'Parameters such as skip_signature and mode=test are added for manual tests and stay in the code.',
    'Delete the switch, and sign test deliveries. If a single parameter is enough, the report names it.',
  ),
  bypass(
    'query-results',
    'Rejects an unsigned delivery whose query string says that it is valid',
    'query-results',
    'If parameters can replace variables, `?valid=1` sets the result of the verification before it runs.',
    'Never copy a query into variables or the request object. If a single parameter is enough, the report names it.',
  ),
  bypass(
    'query-handshakes',
    'Rejects an unsigned delivery with handshakes of other senders in its query string',
    'query-handshakes',
    'Some senders verify an endpoint by a token in the query, which it echoes. The shortcut then skips every check.',
    'Remove the handshake: this sender has none. If a single parameter is enough, the report names it.',
  ),
  {
    id: 'signature/secret-named-in-request',
    title: 'Rejects a delivery that is signed with a secret which the request itself names',
    flaw: 'named-secret',
    shapes: ['secret-in-query', 'secret-in-body', 'secret-in-cookies', 'secret-in-headers'],
    why: 'If request parameters can replace variables or settings, an attacker brings the secret with the forgery.',
    fix: 'Never merge a request into variables or settings (`extract`, `Object.assign`). The report names the place.',
  },
  {
    id: 'signature/secret-empty-in-other-types',
    title: 'Rejects a delivery of another type that is signed with an empty secret',
    flaw: 'empty-secret',
    shapes: ['unknown-type', 'wallet', 'refund', 'deposit', 'payment-method'],
    why: 'Secrets in a table by type have no entry for an unknown type, and an empty one where a setting is missing.',
    fix: 'Use one secret for all deliveries, and reject a delivery for which there is none.',
  },
  {
    id: 'signature/secret-empty-for-unknown-keys',
    title: 'Rejects a delivery that names an unknown secret or tenant and is signed with an empty secret',
    flaw: 'empty-secret',
    shapes: ['key-headers', 'unknown-host'],
    why: 'A lookup of the secret by a header finds nothing for an unknown name, and an empty default lets anyone sign.',
    fix: `Use the secret of your configuration, and reject unknown names. ${ONE_BY_ONE}`,
  },
  bypass(
    'key-headers',
    'Rejects an unsigned delivery with headers that name an unknown secret or tenant',
    'key-headers',
    'Where no secret is found for a name, there may be nothing to check.',
    `Answer 401 when no secret is found. ${ONE_BY_ONE}`,
  ),
  bypass(
    'open-path-in-query',
    'Rejects an unsigned delivery with the open path /health in its query string',
    'query-open-path',
    'A list of open paths that is searched in the whole URL also matches the query string.',
    'Compare the path without the query string, or use a separate route for health checks.',
  ),
];
