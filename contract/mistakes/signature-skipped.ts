import { NO_SLASH_IN_DJANGO, RAW_BYTES } from './code-by-stack.ts';
import { ids, mistakes } from './mistake.ts';

/** Mistakes that leave some requests unverified. */
export const SKIPPED_VERIFICATION_MISTAKES = mistakes({
  'verification-per-type': {
    title: 'Verifies only notifications of some types, statuses or structures',
    seen:
      'Verification inside individual handlers or branches of a `switch`, branches that were added later, and early ' +
      'answers to notifications that are "not for us".',
    why: 'An attacker forges the notifications that are not verified, or gets a 200 for them.',
    fix: {
      rule:
        'Verify every delivery in one place on the route, before anything reads the body. Answer 200 to unknown ' +
        'types only after that.',
      express:
        'Mount the verification as middleware on the route, before the handler and its `switch`, and move early ' +
        'answers after it.',
      fastify: 'Verify in a `preValidation` hook of the route: the schema is checked after it.',
    },
    severity: 'critical',
    cwe: 424,
    implies: ids(
      'foreign-handshake unset-secret empty-body-unhandled verdict-kept-by-id lookup-before-verification',
      'body-left-unread decoded-body body-as-c-string',
    ),
  },
  'verification-per-content-type': {
    title: 'Verifies only bodies of some content types or encodings',
    seen:
      'The `verify` hook of `express.json()`, which runs for its own types only, in front of a handler that takes ' +
      'bodies from other parsers too.',
    why: 'An attacker changes the Content-Type or the Content-Encoding, and the forged notification is processed.',
    fix: {
      rule:
        'Read the bytes of every request, and verify them in a separate step. Reject other types and encodings only ' +
        'after that, and remove form and upload parsers from this route.',
      ...RAW_BYTES,
    },
    severity: 'critical',
    cwe: 288,
    implies: ['unread-body-verified'],
  },
  'verification-per-framing': {
    title: 'Verifies only requests of some lengths, framings or HTTP versions',
    seen:
      'Conditions on Content-Length, inspection limits of a gateway, early answers to empty bodies, and a separate ' +
      'handler for Expect: 100-continue.',
    why:
      'An attacker pads, splits or leaves out the body, or changes a header or the version, and the request is ' +
      'accepted.',
    fix: {
      rule:
        'Read the body to its end, and verify it whatever its length and framing are. Answer 413 to bodies that are ' +
        'too large, and give health checks their own route.',
      ...RAW_BYTES,
      express:
        'Remove conditions on `req.headers["content-length"]` and `req.httpVersion`, verify after the parser instead ' +
        'of in its `verify` hook, and call the same app in a `checkContinue` listener.',
    },
    severity: 'critical',
    cwe: 288,
    implies: ['empty-body-unhandled', 'foreign-handshake', 'body-left-unread'],
  },
  'verification-per-method': {
    title: 'Verifies only requests with some HTTP methods',
    seen:
      '`app.post(path, verify)` next to `app.all(path, handle)`, exemptions of GET and OPTIONS, and method ' +
      'overriding before or after the check.',
    why: 'An attacker changes or overrides the method, and needs no valid signature.',
    fix: {
      rule:
        'Mount verification and handler together for POST only, answer 405 to other methods, and turn off method ' +
        'overriding for this route.',
      express: 'Use `app.post(path, verify, handle)`, no route for all methods and no `methodOverride()`.',
      rails: 'Remove Rack::MethodOverride from the middleware stack.',
      laravel: 'Middleware for the route sees the overridden method: let it cover every method.',
    },
    severity: 'critical',
    cwe: 288,
    implies: ['method-not-restricted', 'conditional-key-check'],
  },
  'verification-per-path': {
    title: 'Uses the text of a path or URL to decide whether to verify',
    seen:
      'Rules such as `req.path === "/hooks"`, `startsWith("/public")` or `req.url.includes("health")` in front of a ' +
      'router that resolves paths differently.',
    why:
      'An attacker uses another spelling of the path, or names an open path in the URL or in a header, and needs no ' +
      'signature.',
    fix: {
      rule:
        'Mount the verification on the handler itself, serve deliveries at the exact path only, and give health ' +
        'checks their own route.',
      express:
        'Use `app.post(path, verify, handle)` instead of `app.use(path, handle)`. Do not test `req.url`, and do not ' +
        'read X-Original-URL or X-Rewrite-URL.',
      django: NO_SLASH_IN_DJANGO,
    },
    severity: 'critical',
    cwe: 647,
  },
  'spoofed-client-address': {
    title: 'Skips the verification for requests that seem to come from a local or internal client',
    seen:
      'Exceptions for health checks and internal networks, based on Host, on X-Forwarded-For and similar headers, or ' +
      'on their absence.',
    why: 'Any client can send these headers, or have a proxy remove them.',
    fix: {
      rule:
        'Verify local and internal requests too. Make no exception for an address or host that the request itself ' +
        'names.',
      express:
        'Remove conditions on `req.ip` and `req.hostname`, and set "trust proxy" to the addresses of your proxies ' +
        'instead of true.',
      laravel: 'Do not trust "*" in TrustProxies, and do not base the decision on an address.',
    },
    severity: 'critical',
    cwe: 290,
  },
  'spoofed-request-header': {
    title: 'Skips the verification because of a header that any client can send',
    seen:
      'Exceptions for a User-Agent, Origin or Referer, or for a header that a gateway or hosting platform sets about ' +
      'the user or the result of a check.',
    why: 'An attacker who can reach the receiver can send the header, and needs no signature.',
    fix: {
      rule:
        'Verify in the receiver itself, whatever the headers claim, and let the gateway remove such headers from ' +
        'incoming requests.',
      express:
        'Remove conditions on headers that come before the verification, and keep `cors` settings separate from it.',
      node: 'Use Next.js 15.2.3 or later: in earlier versions, a header of the request skips the middleware.',
    },
    severity: 'critical',
    cwe: 290,
  },
  'test-mode-from-request': {
    title: 'Skips the verification for requests that ask for it or claim to be a test',
    seen:
      'X-Debug, X-Skip-Verification, `?skip`, `mode=test`, a word such as "test" as the signature, or a test flag, ' +
      'name or id in the body.',
    why:
      'The claim comes from an unverified request. An attacker guesses the switch, or finds it in logs, tests and ' +
      'documentation.',
    fix: {
      rule:
        'Delete the switch, read the environment from your own configuration, and sign test, debug and monitoring ' +
        'requests like all others.',
      express:
        'Delete branches on `req.query`, `req.body` and headers before the verification, and use `process.env` ' +
        'instead of `req.get("X-Environment")`.',
    },
    severity: 'critical',
    cwe: 807,
    implies: ['verification-per-path', 'verification-per-framing', 'request-target-unguarded'],
  },
  'foreign-handshake': {
    title: 'Answers handshakes, pings or repeats of other senders without verification',
    seen:
      'Endpoints that also take subscriptions of other services, which verify a URL with a challenge to echo or to ' +
      'sign.',
    why:
      'Unverified requests look accepted. Depending on the branch, an attacker skips the verification, or lets the ' +
      'endpoint echo or sign a chosen text.',
    fix: {
      rule: 'Remove the branch: this sender has no handshakes and pings. Give each other sender its own route.',
      express: 'Delete the branches on `req.body.challenge`, on `req.query` and on the headers of other senders.',
    },
    severity: 'critical',
    cwe: 306,
  },
  'other-credential-suffices': {
    title: 'Accepts a session, a token or an Authorization header instead of the signature',
    seen:
      'Chains of authenticators in which each one leaves the request to another, and session middleware for the ' +
      'whole application.',
    why:
      'An attacker who obtains such a credential, or makes one that is not checked, needs no signature for any ' +
      'body.',
    fix: {
      rule:
        'Require the signature whatever else the request contains, and return no cookies or tokens that replace it. ' +
        'Keep the authentication of users on other routes.',
      express:
        'Remove `if (req.get("Authorization")) return next()`, mount session middleware on other routes only, and ' +
        'pass `algorithms` to `jwt.verify()`.',
    },
    severity: 'critical',
    cwe: 288,
  },
  'request-overwrites-state': {
    title: 'Lets request parameters overwrite settings or the result of the verification',
    seen:
      '`Object.assign(ctx.state, body)`, `Object.assign(options, req.query)`, `extract($_GET)`, register_globals, ' +
      'and mass assignment.',
    why: 'An attacker adds a parameter or member such as `valid` or a secret, and so decides the result.',
    fix: {
      rule:
        'Keep request data, settings and results of checks in separate objects, and read the secret from your ' +
        'configuration only.',
      express:
        'Read individual fields of `req.query` and `req.body`. Do not copy them into `req`, `res.locals` or settings.',
      php: 'Do not use `extract()` or `parse_str()` without a second argument.',
      rails: 'Permit individual attributes (`params.permit`), never all of them.',
      laravel: 'List attributes in `$fillable`.',
    },
    severity: 'critical',
    cwe: 915,
  },
  'cached-verification': {
    title: 'Reuses the result of an earlier verification for another body',
    seen: 'Caches with the signature alone as the key, and trust that is stored for a connection or a client address.',
    why:
      'After one valid delivery, an attacker sends any other body with its signature, over its connection or from ' +
      'its address.',
    fix: {
      rule:
        'Compute the HMAC of every body, and keep no result between requests: it takes microseconds. A cache needs ' +
        'signature and body together as its key.',
      express:
        'Remove the cache or memoisation by header or `req.ip`, and store no authentication state in `req.socket`.',
    },
    severity: 'critical',
    cwe: 345,
    implies: ids(
      'state-outlives-request verification-per-type raw-body-fallback signed-part-of-body test-mode-from-request',
      'well-known-secret other-signature-place base64-variant spoofed-request-header signature-check-throws',
      'partial-comparison unset-secret verification-per-path spoofed-client-address parsing-before-verification',
      'other-hmac-hash confused-credentials absent-signature-passes wrong-digest-encoding hash-instead-of-hmac',
      'foreign-signature-format foreign-handshake converted-secret verification-per-framing',
      'verification-per-content-type signature-used-as-pattern several-signatures request-overwrites-state',
      'other-credential-suffices lossy-body-text hand-written-comparison digest-handled-as-text',
      'algorithm-from-request verification-per-method verification-fails-open unread-body-verified',
      'swapped-hmac-arguments surrounding-text-ignored state-shared-by-requests signature-letter-case',
      'shortened-secret secret-with-extra-characters remembered-before-checks one-credential-enough',
      'verdict-kept-by-id lookup-before-verification signature-treated-as-url-text known-id-revealed',
      'imitated-body-format empty-body-unhandled distinct-refusals decoded-body body-left-unread body-as-c-string',
    ),
  },
  'state-outlives-request': {
    title: 'Keeps the raw body or other state of the verification outside the request',
    seen:
      'A module variable or socket property that is reset only at the end of the handler, or a shared regular ' +
      'expression with the flag g.',
    why: 'The state of one delivery affects the next: a forgery is accepted, or a valid delivery is rejected.',
    fix: {
      rule:
        'Keep the raw body and the result of the verification with their request, and no state between two ' +
        'deliveries.',
      node:
        'Use local variables, or properties of the request, not `req.socket` or a module variable. Remove the flag ' +
        'g: `/^[A-Za-z0-9+/]{43}=$/.test(header)`.',
    },
    severity: 'critical',
    cwe: 488,
    implies: ['state-shared-by-requests'],
  },
  'lookup-before-verification': {
    title: 'Looks up known deliveries before it verifies the signature',
    seen: 'De-duplication by id or idempotency middleware by body, in front of the verification.',
    why: 'An attacker who knows an id or a body gets 200 without a signature, and learns what was delivered.',
    fix: {
      rule: 'Verify first, and look for known ids and repeated bodies only after that.',
      express: 'Mount de-duplication and idempotency middleware after the verification middleware.',
    },
    severity: 'high',
    cwe: 696,
    implies: ['known-id-revealed', 'verdict-kept-by-id'],
  },
});
