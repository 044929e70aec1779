/** Mutants that do not verify the signature, or only under a condition. */
import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { NOTIFICATION_TYPES } from '../contract/index.ts';
import { fieldAt } from './careless-handling.ts';
import type { StageFault } from './fault.ts';
import { acceptWhen, alsoAccept, lenientMutant, SIGNATURE, unverified } from './lenient-verifier.ts';

/** The value at a path of object keys; undefined where there is none. */
const field = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
    value,
  );

const KNOWN: readonly string[] = NOTIFICATION_TYPES;

const FINAL = ['COMPLETED', 'CONFIRMED', 'FAILED', 'SUCCESS'];

const VERIFY_FIRST = 'Verify every delivery in one place, before anything reads the body.';

const ON_ROUTE = 'Mount the verification as middleware on the route, before the handler and its switch.';

/** A mutant that skips the verification by something that every client can set. */
function trusting(claims: (req: Request) => boolean, text: Parameters<typeof lenientMutant>[1]): StageFault {
  return lenientMutant(({ req }) => claims(req), text);
}

const LOOPBACK = /\b127\.0\.0\.1\b|::1/;

const query = (req: Request) => new URL(req.url, 'http://receiver').searchParams;

export const signatureUncheckedFaults: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'signature-not-checked',
    title: 'Does not verify the signature',
    seen:
      'Placeholder handlers, routes added next to the verified one, and released products with a security advisory ' +
      'for it.',
    why: 'Anyone who knows the URL can forge a deposit or a refund.',
    fix: {
      rule:
        'Compute HMAC-SHA256 over the raw body, compare it with the header in constant time, and answer 401 if it ' +
        'is missing or differs.',
      express: 'Add a verification middleware to this route, before the handler.',
    },
    severity: 'critical',
    forbidden: true,
    replace: acceptWhen(() => true),
  },
  {
    ...SIGNATURE,
    name: 'check-not-awaited',
    title: 'Does not await the asynchronous verification, so the promise always counts as true',
    seen: 'JavaScript with WebCrypto, whose `verify` returns a promise: `if (!verify(...))` never rejects.',
    why: 'The code looks correct, passes code review and accepts every forgery.',
    fix: {
      rule: 'Await the result of the verification and require it to be exactly true.',
      express:
        'Write `if ((await verify(req)) !== true) return res.sendStatus(401)`, and enable the lint rule against ' +
        'unawaited promises in conditions.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason: 'A promise is truthy whatever it resolves to, so nothing is ever rejected.',
    },
    replace: acceptWhen((delivery) => {
      const verify = async () => delivery.expected.includes(delivery.header ?? '');
      return Boolean(verify());
    }),
  },
  {
    ...SIGNATURE,
    name: 'monitor-mode',
    title: 'Logs invalid signatures but processes the delivery',
    seen:
      'Rollouts that started as a dry run and were never switched to enforcement, and sample handlers that only ' +
      'print a warning.',
    why: 'Every forgery is accepted; the log only shows it afterwards.',
    fix: {
      rule: 'Turn on enforcement: a failed check ends the request with 401.',
      express: 'Return after `res.sendStatus(401)` in the branch that only logs.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason: 'The log is not visible from outside, and the answers are the same.',
    },
    replace:
      ({ config, correct }) =>
      (req, res, next) => {
        if (config.signing === undefined) return correct.requireSignature(req, res, next);
        config.logger.warn({ event: 'signature-not-enforced' }, 'the signature is not enforced');
        next();
      },
  },
  {
    ...SIGNATURE,
    name: 'signature-presence-is-enough',
    title: 'Accepts any signature that is not empty',
    seen: 'Gateway rules such as "header present", in front of a receiver that trusts the gateway.',
    why: 'An attacker writes any text into the header. A test without the header passes and gives false confidence.',
    fix: {
      rule: 'Compare the header with the HMAC of the body; its presence proves nothing.',
      express: 'Replace `if (!req.get("X-Service-Signature"))` with the full verification.',
    },
    severity: 'critical',
    forbidden: true,
    replace: acceptWhen(({ header = '' }) => header !== ''),
  },
  {
    ...SIGNATURE,
    name: 'signature-length-is-enough',
    title: 'Accepts any signature of 44 characters',
    seen: 'A hand-written comparison that tests `a.length === b.length` and forgets the contents.',
    why: 'The length is public, so every forgery passes.',
    fix: {
      rule: 'Compare the lengths first, then the contents.',
      express: 'Use `a.length === b.length && timingSafeEqual(a, b)`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: acceptWhen(({ header = '' }) => header.length === 44),
  },
  {
    ...SIGNATURE,
    name: 'signature-form-is-enough',
    title: 'Accepts any 32 bytes in Base64 as a signature',
    seen: 'Schema validation of headers (a pattern for Base64) that was mistaken for the verification.',
    why: 'It rejects malformed values, so a quick test with garbage passes, but accepts every well-formed forgery.',
    fix: {
      rule: 'Keep the pattern if you like, then compare with the HMAC of the body.',
      express: 'Call the verification after the validation middleware, not instead of it.',
    },
    severity: 'critical',
    forbidden: true,
    replace: acceptWhen(({ header = '' }) => /^[A-Za-z0-9+/]{43}=$/.test(header)),
  },
  {
    ...SIGNATURE,
    name: 'error-in-check-accepts',
    title: 'Accepts the delivery when the verification throws',
    seen:
      'A try/catch around the verification whose catch block only logs, with a comparison that throws on unequal ' +
      'lengths.',
    why: 'An attacker only needs a signature that makes the comparison throw, such as one of another length.',
    fix: {
      rule: 'Reject in every case other than "equal", exceptions included.',
      express: 'Answer 401 in the `catch` block and return.',
      java: 'Do not swallow `GeneralSecurityException` around `MessageDigest.isEqual`: reject instead.',
    },
    severity: 'critical',
    forbidden: true,
    replace: acceptWhen(({ header, expected }) => {
      try {
        return expected.some((one) => timingSafeEqual(Buffer.from(header as string), Buffer.from(one)));
      } catch {
        return true;
      }
    }),
  },
  {
    ...SIGNATURE,
    name: 'forged-tenth-let-through',
    title: 'Accepts the tenth delivery after nine invalid signatures in a row on a connection',
    seen:
      'Circuit breakers around a verification service that fail open, and receivers that verify only a sample of ' +
      'the deliveries.',
    why: 'An attacker simply retries. Tests with a handful of invalid signatures do not notice.',
    fix: {
      rule: 'Verify every delivery, and reject while the verification is unavailable.',
      express: 'Remove sampling and circuit breakers from the verification: an HMAC takes microseconds.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      // Per connection, so that requests on other connections do not matter.
      const wrong = new WeakMap<object, number>();
      return alsoAccept(({ req, header = '', expected }) => {
        const count = expected.includes(header) ? 0 : (wrong.get(req.socket) ?? 0) + 1;
        wrong.set(req.socket, count % 10);
        return count === 10;
      })(parts);
    },
  },
  // Checks that depend on the content of the delivery.
  lenientMutant((delivery) => unverified(delivery).type === 'REFUND', {
    name: 'refunds-not-verified',
    title: 'Does not verify notifications of type REFUND',
    seen: 'A branch of the switch on the type, or a route, that was added later without verification.',
    why: 'A forged refund closes an open claim, and the customer never receives the money.',
    fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
  }),
  lenientMutant((delivery) => fieldAt(unverified(delivery), 'data.type') === 'ORDER_TRACKING', {
    name: 'tracking-not-verified',
    title: 'Does not verify notifications of type ORDER_TRACKING',
    seen: 'A branch for orders that are paid at a physical site, added later without verification.',
    why: 'Anyone can report that cash was handed in at a site.',
    fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
  }),
  lenientMutant((delivery) => unverified(delivery).type !== 'CAAS', {
    name: 'only-orders-verified',
    title: 'Verifies only notifications of type CAAS',
    seen: 'Verification inside the first handler, written when there were only orders.',
    why: 'Anyone can forge wallets, deposits, cards and refunds.',
    fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
  }),
  lenientMutant((delivery) => !KNOWN.includes(String(unverified(delivery).type)), {
    name: 'unknown-types-not-verified',
    title: 'Accepts notifications of an unknown type without verification',
    seen: 'An early "200, not for us" before the verification.',
    why:
      'Attackers can probe which types exist, and unverified data of a type is already stored when support for it ' +
      'is added.',
    fix: { rule: VERIFY_FIRST, express: 'Move the early answer for unknown types behind the verification.' },
  }),
  lenientMutant((delivery) => (delivery.header ?? '') !== '' && unverified(delivery).type !== 'CAAS', {
    name: 'other-types-need-only-a-header',
    title: 'Accepts any signature for types other than CAAS, as long as there is one',
    seen: 'A gateway or middleware that checks for presence, and handlers of which only the first compares.',
    why: 'Tests without a signature see 401 everywhere, but an attacker can write anything into the header.',
    fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
  }),
  lenientMutant(
    (delivery) => {
      const data = unverified(delivery).data;
      const status = field(data, 'metadata', 'orderStatus') ?? field(data, 'metadata', 'providerTransactionStatus');
      return typeof status === 'string' && !FINAL.includes(status);
    },
    {
      name: 'only-final-statuses-verified',
      title: 'Verifies orders only when they are confirmed, completed or failed',
      seen: 'Verification where the money moves, to save work for the many intermediate notifications.',
      why: 'A forged "waiting for payment" with another address makes the customer pay into the attacker\'s wallet.',
      fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
    },
  ),
  lenientMutant((delivery) => String(field(unverified(delivery).data, 'providerId')).startsWith('test'), {
    name: 'test-providers-not-verified',
    title: 'Does not verify notifications of a provider whose name starts with "test"',
    seen: 'Shortcuts for a test suite or a demo that look at ids and names in the body.',
    why: 'An attacker uses such a name, and the forged order is booked like any other.',
    fix: {
      rule: 'Require the same credentials for test data as for real data.',
      express: 'Remove the condition on `req.body.data.providerId`, and sign test deliveries.',
    },
  }),
  lenientMutant(
    (delivery) => {
      const { sandbox, test, livemode } = unverified(delivery);
      return sandbox === true || test === true || livemode === false;
    },
    {
      name: 'sandbox-flag-not-verified',
      title: 'Does not verify notifications that are marked as test or sandbox in their body',
      seen: 'Receivers for senders that mark test events with a flag such as `livemode: false`.',
      why: 'The flag is in the body that the signature should protect, so an attacker sets it.',
      fix: {
        rule: 'Read from your own configuration whether this is a sandbox, and verify there too.',
        express: 'Remove the condition on the body before the verification.',
      },
    },
  ),
  lenientMutant(({ body }) => body.length > 65_536, {
    name: 'large-bodies-not-verified',
    title: 'Does not verify bodies over 64 kB',
    seen: 'Web application firewalls and gateways that inspect the first 8 to 128 kB of a body and let the rest pass.',
    why: 'An attacker pads the body with spaces to skip the verification.',
    fix: {
      rule: 'Reject bodies that are too large to verify.',
      express: 'Set the limit of `express.raw` so that it answers 413, and verify everything that is read.',
    },
  }),
  lenientMutant(({ body }) => body.length < 128, {
    name: 'tiny-bodies-not-verified',
    title: 'Does not verify bodies under 128 bytes',
    seen: 'An exception for health checks and pings, which are recognised by their size.',
    why: 'Small bodies reach the parser and the handler without verification.',
    fix: { rule: VERIFY_FIRST, express: 'Give health checks their own route.' },
  }),
  lenientMutant(({ req }) => req.headers['content-type'] !== 'application/json', {
    name: 'only-plain-json-verified',
    title: 'Verifies only deliveries whose Content-Type is exactly "application/json"',
    seen: 'The `verify` hook of a body parser that runs only for its own types, with a handler that runs for all.',
    why: 'A forgery with "; charset=utf-8" after the type is accepted.',
    fix: {
      rule: 'Verify whatever the Content-Type is, then reject unknown types.',
      express:
        'Use `express.raw({ type: () => true })`, and verify in separate middleware instead of the `verify` hook.',
    },
  }),
  lenientMutant(({ req }) => req.headers['content-length'] === undefined, {
    name: 'chunked-bodies-not-verified',
    title: 'Does not verify deliveries without Content-Length (chunked ones)',
    seen: 'A condition "if there is a body" that looks at Content-Length.',
    why: 'Every HTTP client can send a forged body in chunks.',
    fix: {
      rule: 'Verify the body that was read, however it was framed.',
      express: 'Remove the condition on `req.headers["content-length"]`.',
    },
  }),
  // Ways to skip verification by a claim in the request.
  trusting((req) => LOOPBACK.test(req.get('X-Forwarded-For') ?? ''), {
    name: 'trusts-forwarded-for',
    title: 'Does not verify requests that claim a local address in X-Forwarded-For',
    seen: 'Exceptions for local health checks in frameworks that are configured to trust every proxy.',
    why: 'Every client can set this header.',
    fix: {
      rule: 'Verify local requests too, and never trust an address that the request itself names.',
      express:
        'Remove the exception for `req.ip`, and set "trust proxy" to the addresses of your proxies instead of true.',
      laravel: 'Do not trust "*" in TrustProxies, and do not decide by address.',
    },
  }),
  trusting((req) => LOOPBACK.test(req.get('X-Real-IP') ?? '') || LOOPBACK.test(req.get('Forwarded') ?? ''), {
    name: 'trusts-real-ip',
    title: 'Does not verify requests that claim a local address in X-Real-IP or Forwarded',
    seen:
      'Libraries that read "the real address" from a list of headers, combined with an exception for local ' +
      'addresses.',
    why: 'Every client can set these headers, unless a proxy overwrites each of them.',
    fix: {
      rule: 'Verify local requests too, and never trust an address that the request itself names.',
      express: 'Remove the exception and the library that reads these headers.',
    },
  }),
  trusting((req) => req.get('X-Debug') !== undefined || query(req).has('debug'), {
    name: 'debug-switch',
    title: 'Skips the verification with the header X-Debug or `?debug` in the query',
    seen: 'Debug switches that were never removed; found in released agents and e-commerce samples.',
    why: 'It is a backdoor with a well-known name.',
    fix: {
      rule: 'Remove the switch, and sign the requests that you send while debugging.',
      express: 'Delete the branch on `req.query.debug` and `X-Debug`.',
    },
  }),
  trusting((req) => query(req).has('skip') || query(req).has('test'), {
    name: 'query-switch',
    title: 'Skips the verification with `?skip` or `?test` in the query',
    seen: 'Options that disable the verification for manual tests.',
    why: 'Anyone who reads an old log line or the documentation of the library finds the parameter.',
    fix: {
      rule: 'Delete the option, or limit it to a build that never leaves your machine.',
      express: 'Delete the branch on `req.query`.',
    },
  }),
  trusting((req) => /[?&](?:validationToken|hub\.challenge)=/.test(req.url), {
    name: 'handshake-in-query',
    title: 'Accepts any request with a handshake of another sender in the query, such as `?validationToken`',
    seen: 'Endpoints that also take subscriptions of other services, which verify an endpoint by a token to echo.',
    why: 'Anyone can add the parameter to a forged delivery.',
    fix: {
      rule: 'Remove the handshake, or move it to a separate route.',
      express: 'Delete the branch on `req.query`.',
    },
  }),
  trusting((req) => ['test', 'development', 'local'].includes(req.get('X-Environment') ?? ''), {
    name: 'environment-header',
    title: 'Skips the verification when the request names a test environment',
    seen: 'Receivers that serve test and production from one process and select by a header.',
    why: 'An attacker can declare a production request to be a test.',
    fix: {
      rule: 'Read the environment from your own configuration, and verify in every environment.',
      express: 'Use `process.env` instead of `req.get("X-Environment")`, and remove the exception.',
    },
  }),
  trusting((req) => req.get('X-Service-Verified') === 'true', {
    name: 'trusts-verified-header',
    title: 'Trusts a header in which a gateway claims to have verified, from any sender',
    seen: 'Verification in a gateway that does not remove this header from incoming requests.',
    why: 'Anyone who reaches the receiver, or gets the header through the gateway, needs no signature.',
    fix: {
      rule: 'Verify in the receiver itself.',
      express: 'Remove the exception, and mount the verification here too.',
    },
  }),
  trusting((req) => /^Service-Webhooks\//.test(req.get('User-Agent') ?? ''), {
    name: 'trusts-user-agent',
    title: 'Does not verify requests whose User-Agent names the sender',
    seen: 'Lists of known clients in middleware against bots.',
    why: 'Every client can set this header.',
    fix: {
      rule: 'Use the User-Agent for statistics only.',
      express: 'Remove the list of clients from the verification.',
    },
  }),
  trusting((req) => /^https?:\/\/localhost\b/.test(req.get('Origin') ?? req.get('Referer') ?? ''), {
    name: 'trusts-origin',
    title: 'Does not verify requests with an internal Origin or Referer',
    seen: '"Send a test" buttons in admin pages, whose requests are accepted because of their origin.',
    why: 'Only browsers set these headers truthfully.',
    fix: {
      rule: 'Let the admin page sign its test deliveries.',
      express: 'Keep the settings of `cors` separate from the verification.',
    },
  }),
  trusting((req) => !['POST', undefined].includes(req.get('X-HTTP-Method-Override')), {
    name: 'method-override',
    title: 'Verifies only POST, and lets X-HTTP-Method-Override change the method',
    seen: 'Frameworks with method overriding before a verification that is bound to the method.',
    why: 'The handler runs without verification.',
    fix: {
      rule: 'Disable method overriding, and verify every method.',
      express: 'Remove the method-override middleware from this route.',
    },
  }),
  trusting((req) => req.get('Authorization') !== undefined, {
    name: 'authorization-suffices',
    title: 'Does not verify requests with an Authorization header',
    seen: 'Chains of authenticators in which each one skips the requests that seem to belong to another.',
    why: 'When no other authenticator checks the request, any token is accepted.',
    fix: {
      rule: 'Require the signature on this route, whatever else the request contains.',
      express: 'Remove `if (req.get("Authorization")) return next()`.',
    },
  }),
  trusting((req) => /health|status|ping/.test(req.url), {
    name: 'health-urls-exempt',
    title: 'Does not verify requests whose URL contains a word such as "health"',
    seen: 'A list of public paths that is matched against the whole URL, including the query.',
    why: 'An attacker appends `?x=/health` to the URL of the webhook.',
    fix: {
      rule: 'Compare the whole path exactly.',
      express: 'Give the health check its own route before the verification; do not test `req.url.includes(...)`.',
    },
  }),
  // Checks that rely on an earlier delivery.
  {
    ...SIGNATURE,
    name: 'verified-once-per-connection',
    title: 'Stops verifying on a connection after one valid signature',
    seen: 'Authentication that is stored with the socket or session, as in protocols with a login.',
    why: 'Behind a proxy, requests of other clients share the connections that the sender opened.',
    fix: {
      rule: 'Verify each delivery; a connection proves nothing about the bodies that it carries.',
      express: 'Do not store any authentication state in `req.socket`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const trusted = new WeakSet<object>();
      return alsoAccept(({ req, header = '', expected }) => {
        if (trusted.has(req.socket)) return true;
        if (expected.includes(header)) trusted.add(req.socket);
        return false;
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'verified-once-per-address',
    title: 'Stops verifying deliveries from an address after one valid signature',
    seen: 'Caches of trusted clients before the verification, meant to save time.',
    why: 'Behind a proxy or a tunnel, all clients have the same address.',
    fix: {
      rule: 'Verify each delivery; an address is not a credential.',
      express: 'Delete the cache by `req.ip`; an HMAC over a few kilobytes takes microseconds.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason: 'A run comes from one address and starts with a valid delivery, so it never sees this receiver reject.',
    },
    replace: (parts) => {
      const trusted = new Set<string | undefined>();
      return alsoAccept(({ req, header = '', expected }) => {
        if (trusted.has(req.socket.remoteAddress)) return true;
        if (expected.includes(header)) trusted.add(req.socket.remoteAddress);
        return false;
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'signature-cached-without-body',
    title: 'Accepts a signature that was valid once with any other body',
    seen: 'Verification results that are cached by the value of the header alone.',
    why: 'With one intercepted delivery, an attacker can send any other body under its signature.',
    fix: {
      rule: 'Compute the HMAC of every body. If you must cache, use signature and body together as the key.',
      express: 'Remove the memoisation of the verification.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const seen = new Set<string>();
      return alsoAccept(({ header = '', expected }) => {
        if (expected.includes(header)) seen.add(header);
        return seen.has(header);
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'previous-body-verified',
    title: 'Also accepts the signature of the previous delivery on the same connection',
    seen:
      'A buffer or variable for the raw body that outlives its request, so the verification can see the previous ' +
      'one.',
    why:
      'An attacker who sends right after a real delivery, over a shared proxy connection, can reuse its signature ' +
      'for another body.',
    fix: {
      rule: 'Keep the raw body with its request and nowhere else.',
      express: 'Pass the bytes in `req.body` or `res.locals`, never in a module variable.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const before = new WeakMap<object, readonly string[]>();
      return alsoAccept(({ req, header = '', expected }) => {
        const stale = before.get(req.socket) ?? [];
        before.set(req.socket, expected);
        return stale.includes(header);
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'known-id-not-verified',
    title: 'Does not verify a delivery whose id was accepted before',
    seen: 'Deduplication by id before the verification, in receivers that expect repeated deliveries.',
    why:
      'Ids appear in logs and in answers of other systems. With a known id, anyone can overwrite the stored ' +
      'content.',
    fix: {
      rule: 'Verify first, then look at the id.',
      express: 'Move the deduplication behind the verification middleware.',
    },
    severity: 'high',
    forbidden: true,
    replace: (parts) => {
      const known = new Set<unknown>();
      return alsoAccept((delivery) => {
        const { id } = unverified(delivery);
        if (delivery.expected.includes(delivery.header ?? '')) known.add(id);
        return id !== undefined && known.has(id);
      })(parts);
    },
  },
];
