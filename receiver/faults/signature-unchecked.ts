/** Mutants that do not verify the signature, or only under a condition. */
import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { StageFault } from './fault.ts';
import { accepting, alsoAccepting, lettingPass, SIGNATURE, unverified } from './lenient-verifier.ts';

/** A mutant that verifies some deliveries and lets the others pass. */
const field = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
    value,
  );

const KNOWN = ['CAAS', 'REFUND', 'PAYMENT_METHOD', 'WALLET', 'CAAS_BLOCKCHAIN'];

const FINAL = ['COMPLETED', 'CONFIRMED', 'FAILED', 'SUCCESS'];

const VERIFY_FIRST = 'Verify before anything looks into the body, in one place for all of them.';

const ON_ROUTE = 'Put the verification on the route as a middleware, before the handler and its switch.';

/** A mutant that lets requests pass unverified by something that every client can write. */
function trusting(claims: (req: Request) => boolean, text: Parameters<typeof lettingPass>[1]): StageFault {
  return lettingPass(({ req }) => claims(req), text);
}

const LOOPBACK = /\b127\.0\.0\.1\b|::1/;

const query = (req: Request) => new URL(req.url, 'http://receiver').searchParams;

export const signatureUncheckedFaults: readonly StageFault[] = [
  {
    ...SIGNATURE,
    name: 'signature-not-checked',
    title: 'The signature is not checked at all.',
    seen: 'Placeholder handlers, routes that were added beside the one with the check, and released products with an advisory of their own for it.',
    why: 'Whoever knows the URL can make you believe that money arrived, or that it left.',
    fix: {
      rule: 'Compute HMAC-SHA256 over the raw body, compare it with the header in constant time, and answer 401 when it differs or is missing.',
      express: 'Put the check in a middleware on this very route, before the handler.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(() => true),
  },
  {
    ...SIGNATURE,
    name: 'check-not-awaited',
    title: 'The check is asynchronous and is not awaited, so that its promise counts as true.',
    seen: 'JavaScript with WebCrypto, whose `verify` gives a promise: `if (!verify(...))` never holds.',
    why: 'The code looks as if it verified, passes review, and accepts every forgery.',
    fix: {
      rule: 'Wait for the result of the check and test that it is exactly true.',
      express:
        'Write `if ((await verify(req)) !== true) return res.sendStatus(401)`, and turn on the lint rule against unawaited promises in conditions.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason: 'A promise is true whatever it will resolve to, so nothing is ever refused.',
    },
    replace: accepting((delivery) => {
      const verify = async () => delivery.right.includes(delivery.header ?? '');
      return Boolean(verify());
    }),
  },
  {
    ...SIGNATURE,
    name: 'monitor-mode',
    title: 'Wrong signatures are written to the log, and the delivery goes on.',
    seen: 'Roll-outs that began with a dry run which nobody ended, and sample handlers that only print a warning.',
    why: 'The log tells afterwards who forged what. Until somebody reads it, everything is accepted.',
    fix: {
      rule: 'Turn enforcement on; a failed check ends the request with 401.',
      express: 'Return after `res.sendStatus(401)` in the branch that now only logs.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason: 'The log cannot be seen from outside, and the answers are the same.',
    },
    replace:
      ({ config, right }) =>
      (req, res, next) => {
        if (config.signing === undefined) return right.verifySignature(req, res, next);
        config.logger.warn({ event: 'signature-not-enforced' }, 'the signature is not enforced');
        next();
      },
  },
  {
    ...SIGNATURE,
    name: 'signature-presence-is-enough',
    title: 'Any signature is accepted as long as the header is not empty.',
    seen: 'Gateway rules of the form "header present", with a receiver behind them that trusts the gateway.',
    why: 'A forger writes anything into the header. A test with a missing header passes and lulls you.',
    fix: {
      rule: 'Compare the header with the HMAC of the body; presence proves nothing.',
      express: 'Replace `if (!req.get("X-Service-Signature"))` by the whole check.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header = '' }) => header !== ''),
  },
  {
    ...SIGNATURE,
    name: 'signature-length-is-enough',
    title: 'Any signature of 44 characters is accepted.',
    seen: 'A slip in a hand-written comparison, `a.length === b.length` where the contents were meant.',
    why: 'The length is no secret: every forger gets it right.',
    fix: {
      rule: 'The equal length is what a comparison starts from, not what it ends with.',
      express: 'Use `a.length === b.length && timingSafeEqual(a, b)`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header = '' }) => header.length === 44),
  },
  {
    ...SIGNATURE,
    name: 'signature-form-is-enough',
    title: 'Any 32 bytes in Base64 are accepted as a signature.',
    seen: 'Schema validation of headers (a pattern for Base64) that was taken for the check itself.',
    why: 'It refuses everything that looks odd, so that a quick test with garbage passes, and accepts every forgery that looks right.',
    fix: {
      rule: 'Keep the pattern if you like, and compare with the HMAC of the body after it.',
      express: 'Call the verification after the validation middleware, not in place of it.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header = '' }) => /^[A-Za-z0-9+/]{43}=$/.test(header)),
  },
  {
    ...SIGNATURE,
    name: 'error-in-check-accepts',
    title: 'When the check throws, the exception is swallowed and the delivery is accepted.',
    seen: 'A try/catch around the verification whose catch only logs, with a comparison inside that throws on unequal lengths.',
    why: 'A forger does not need the right signature, only one that makes the comparison fail: any of another length.',
    fix: {
      rule: 'Every way out of the check other than "equal" is a refusal, exceptions included.',
      express: 'Answer 401 in the `catch`, and return.',
      spring: 'Do not catch `GeneralSecurityException` around the call of `MessageDigest.isEqual` without refusing.',
    },
    severity: 'critical',
    forbidden: true,
    replace: accepting(({ header, right }) => {
      try {
        return right.some((one) => timingSafeEqual(Buffer.from(header as string), Buffer.from(one)));
      } catch {
        return true;
      }
    }),
  },
  {
    ...SIGNATURE,
    name: 'forged-tenth-let-through',
    title: 'After nine wrong signatures in a row on a connection, the tenth is let through.',
    seen: 'Circuit breakers around a verification service that fail open, and receivers that verify a sample of the deliveries only.',
    why: 'A forger just keeps trying. Tests that send a handful of wrong signatures see nothing.',
    fix: {
      rule: 'Verify every delivery, and refuse when the verification is not available.',
      express: 'Take the sampling or the breaker away from the check: an HMAC costs microseconds.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      // By connection, so that what is sent on others at the same time does not decide what is seen.
      const wrong = new WeakMap<object, number>();
      return alsoAccepting(({ req, header = '', right }) => {
        const count = right.includes(header) ? 0 : (wrong.get(req.socket) ?? 0) + 1;
        wrong.set(req.socket, count % 10);
        return count === 10;
      })(parts);
    },
  },
  // Checks that depend on what is delivered.
  lettingPass((delivery) => unverified(delivery).type === 'REFUND', {
    name: 'refunds-not-verified',
    title: 'Notifications of type REFUND are not verified.',
    seen: 'A branch of the switch on the type, or a route, that was added later and has no check.',
    why: 'A forged refund closes a claim that is still open, and the user never sees the money.',
    fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
  }),
  lettingPass((delivery) => unverified(delivery).type !== 'CAAS', {
    name: 'only-orders-verified',
    title: 'Only notifications of type CAAS are verified.',
    seen: 'A check that was written into the first handler, when there were orders only.',
    why: 'Wallets, deposits, cards and refunds can be forged by anybody.',
    fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
  }),
  lettingPass((delivery) => !KNOWN.includes(String(unverified(delivery).type)), {
    name: 'unknown-types-not-verified',
    title: 'Notifications of a type that is not known are accepted without a check.',
    seen: 'An early "200, not for us" in front of the verification.',
    why: 'Strangers learn which types exist, and a type that becomes known later has passed unverified until then.',
    fix: { rule: VERIFY_FIRST, express: 'Move the early answer for unknown types behind the verification.' },
  }),
  lettingPass((delivery) => (delivery.header ?? '') !== '' && unverified(delivery).type !== 'CAAS', {
    name: 'other-types-need-only-a-header',
    title: 'For every type other than CAAS, any signature will do, as long as there is one.',
    seen: 'A gateway or middleware that checks presence for all, and handlers of which only the first compares.',
    why: 'Tests that leave the signature out see 401 everywhere. A forger writes anything into the header.',
    fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
  }),
  lettingPass(
    (delivery) => {
      const data = unverified(delivery).data;
      const status = field(data, 'metadata', 'orderStatus') ?? field(data, 'metadata', 'providerTransactionStatus');
      return typeof status === 'string' && !FINAL.includes(status);
    },
    {
      name: 'only-final-statuses-verified',
      title: 'Orders are verified only when they are confirmed, completed or failed.',
      seen: 'Checks that were put where the money moves, to spare the many notifications on the way there.',
      why: 'A forged "waiting for payment" with another address makes the customer pay into the wallet of the forger.',
      fix: { rule: VERIFY_FIRST, express: ON_ROUTE },
    },
  ),
  lettingPass((delivery) => String(field(unverified(delivery).data, 'providerId')).startsWith('test'), {
    name: 'test-providers-not-verified',
    title: 'Notifications of a provider whose name begins with "test" are not verified.',
    seen: 'Shortcuts for a test suite or a demo that look at ids and names in the body.',
    why: 'A forger writes the same name. What follows is booked like any other order.',
    fix: {
      rule: 'Treat test data like real data when it comes to credentials.',
      express: 'Remove the condition on `req.body.data.providerId`, and sign test deliveries.',
    },
  }),
  lettingPass(
    (delivery) => {
      const { sandbox, test, livemode } = unverified(delivery);
      return sandbox === true || test === true || livemode === false;
    },
    {
      name: 'sandbox-flag-not-verified',
      title: 'Notifications that call themselves test or sandbox in their body are not verified.',
      seen: 'Receivers for senders who mark test events with a flag such as `livemode: false`.',
      why: 'The flag stands in the very body that the signature is to protect: a forger sets it.',
      fix: {
        rule: 'Decide from your own configuration whether you are in a sandbox, and verify there too.',
        express: 'Remove the condition on the body in front of the verification.',
      },
    },
  ),
  lettingPass(({ body }) => body.length > 65_536, {
    name: 'large-bodies-not-verified',
    title: 'Bodies above 64 kB are not verified.',
    seen: 'Web application firewalls and gateways that inspect the first 8 to 128 kB of a body and let the rest pass.',
    why: 'A forger pads the body with spaces until nobody looks.',
    fix: {
      rule: 'Refuse what is too large to be verified.',
      express: 'Set the limit of `express.raw` and let it answer 413; verify everything that is read.',
    },
  }),
  lettingPass(({ body }) => body.length < 128, {
    name: 'tiny-bodies-not-verified',
    title: 'Bodies below 128 bytes are not verified.',
    seen: 'An exception for health checks and pings, told by their size.',
    why: 'What is small goes on to the parser and to whatever stands behind it, unverified.',
    fix: { rule: VERIFY_FIRST, express: 'Give health checks a route of their own.' },
  }),
  lettingPass(({ req }) => req.headers['content-type'] !== 'application/json', {
    name: 'only-plain-json-verified',
    title: 'Only deliveries whose Content-Type is exactly "application/json" are verified.',
    seen: 'A verify hook of a body parser that runs for its own types only, while the handler runs for all.',
    why: 'With "; charset=utf-8" behind the type, a forgery passes unverified.',
    fix: {
      rule: 'Verify whatever the Content-Type is, and refuse unknown types after that.',
      express:
        'Use `express.raw({ type: () => true })`, and verify in a middleware of its own in place of the `verify` hook.',
    },
  }),
  lettingPass(({ req }) => req.headers['content-length'] === undefined, {
    name: 'chunked-bodies-not-verified',
    title: 'Deliveries without Content-Length (chunked ones) are not verified.',
    seen: 'A condition "if there is a body", written as a look at Content-Length.',
    why: 'Every HTTP client can send a body in chunks. Behind it stands the whole forged notification.',
    fix: {
      rule: 'Verify what was read, however it was framed.',
      express: 'Remove the condition on `req.headers["content-length"]`.',
    },
  }),
  // Ways around the check for whoever claims to need none.
  trusting((req) => LOOPBACK.test(req.get('X-Forwarded-For') ?? ''), {
    name: 'trusts-forwarded-for',
    title: 'Requests that claim in X-Forwarded-For to come from the own machine are not verified.',
    seen: 'Exceptions for local health checks in frameworks that are told to trust every proxy.',
    why: 'Every client can write this header.',
    fix: {
      rule: 'Verify local requests too, and derive no trust from an address that the request names.',
      express:
        'Remove the exception for `req.ip`, and set "trust proxy" to the addresses of your proxies, not to true.',
      laravel: 'Do not trust "*" in TrustProxies, and keep addresses out of the decision.',
    },
  }),
  trusting((req) => LOOPBACK.test(req.get('X-Real-IP') ?? '') || LOOPBACK.test(req.get('Forwarded') ?? ''), {
    name: 'trusts-real-ip',
    title: 'Requests that claim in X-Real-IP or Forwarded to come from the own machine are not verified.',
    seen: 'Libraries that find "the real address" in a list of headers, with an exception for local addresses behind them.',
    why: 'Every client can write these headers, unless a proxy in front overwrites each of them.',
    fix: {
      rule: 'Verify local requests too, and derive no trust from an address that the request names.',
      express: 'Remove the exception, and the library that reads these headers.',
    },
  }),
  trusting((req) => req.get('X-Debug') !== undefined || query(req).has('debug'), {
    name: 'debug-switch',
    title: 'With the header X-Debug or ?debug in the query, nothing is verified.',
    seen: 'Switches for debugging that nobody took out; found in released agents and commerce samples.',
    why: 'It is a back door with a well-known name.',
    fix: {
      rule: 'Remove the switch; sign the requests that you send while debugging.',
      express: 'Delete the branch on `req.query.debug` and `X-Debug`.',
    },
  }),
  trusting((req) => query(req).has('skip') || query(req).has('test'), {
    name: 'query-switch',
    title: 'With ?skip or ?test in the query, nothing is verified.',
    seen: 'Options that turn the verification off for tests by hand.',
    why: 'Anyone who reads an old log line or the documentation of the library finds the parameter.',
    fix: {
      rule: 'Delete the option, or tie it to a build that never leaves your machine.',
      express: 'Delete the branch on `req.query`.',
    },
  }),
  trusting((req) => ['test', 'development', 'local'].includes(req.get('X-Environment') ?? ''), {
    name: 'environment-header',
    title: 'The request may name its environment, and in a test environment nothing is verified.',
    seen: 'Receivers that serve test and production from one process and are told by a header which of them is meant.',
    why: 'Production can be told that it is a test.',
    fix: {
      rule: 'Read the environment from your own configuration, and verify in all of them.',
      express: 'Use `process.env`, not `req.get("X-Environment")`, and drop the exception.',
    },
  }),
  trusting((req) => req.get('X-Service-Verified') === 'true', {
    name: 'trusts-verified-header',
    title: 'A header in which the gateway says that it has verified is believed from anybody.',
    seen: 'Setups with the check in a gateway that does not delete the header from what comes in.',
    why: 'Whoever reaches the receiver, or gets the header through the gateway, needs no signature.',
    fix: {
      rule: 'Verify in the receiver itself.',
      express: 'Remove the exception, and mount the verification here as well.',
    },
  }),
  trusting((req) => /^Service-Webhooks\//.test(req.get('User-Agent') ?? ''), {
    name: 'trusts-user-agent',
    title: 'Requests whose User-Agent names the sender are not verified.',
    seen: 'Lists of known clients in middleware against robots.',
    why: 'The name of a program is a claim without any proof.',
    fix: {
      rule: 'Keep the User-Agent for statistics.',
      express: 'Take the list of clients away from the verification.',
    },
  }),
  trusting((req) => /^https?:\/\/localhost\b/.test(req.get('Origin') ?? req.get('Referer') ?? ''), {
    name: 'trusts-origin',
    title: 'Requests with an internal Origin or Referer are not verified.',
    seen: 'Buttons "send a test" in admin pages, whose requests are let through by where they come from.',
    why: 'Only browsers are bound to tell the truth there.',
    fix: {
      rule: 'Let the admin page sign its test deliveries.',
      express: 'Keep the settings of `cors` apart from the verification.',
    },
  }),
  trusting((req) => !['POST', undefined].includes(req.get('X-HTTP-Method-Override')), {
    name: 'method-override',
    title: 'The check runs for POST only, and X-HTTP-Method-Override makes the request something else.',
    seen: 'Frameworks with method overriding in front of a check that is bound to the method.',
    why: 'The handler runs all the same.',
    fix: {
      rule: 'Switch method overriding off, and verify every method.',
      express: 'Remove the method-override middleware from this route.',
    },
  }),
  trusting((req) => req.get('Authorization') !== undefined, {
    name: 'authorization-suffices',
    title:
      'Requests with an Authorization header are not verified, because another check is expected to have looked at it.',
    seen: 'Chains of checks in which each leaves the request to the next one that seems to be in charge.',
    why: 'When no check is in charge after all, any token is accepted.',
    fix: {
      rule: 'Make the signature required on this route, whatever else the request carries.',
      express: 'Remove `if (req.get("Authorization")) return next()`.',
    },
  }),
  trusting((req) => /health|status|ping/.test(req.url), {
    name: 'health-urls-exempt',
    title: 'Requests whose URL contains a word such as "health" are not verified.',
    seen: 'A list of open paths that is searched for in the whole URL, where the query counts as well.',
    why: 'A forger adds `?x=/health` to the URL of the webhook.',
    fix: {
      rule: 'Compare the path as a whole and exactly.',
      express: 'Give the health check a route of its own before the verification; do not test `req.url.includes(...)`.',
    },
  }),
  // Checks that rely on what an earlier delivery has shown.
  {
    ...SIGNATURE,
    name: 'verified-once-per-connection',
    title: 'After one right signature, nothing more is verified on the connection.',
    seen: 'Authentication that is kept with the socket or session, as it is right for protocols that log in.',
    why: 'Behind a proxy, requests of strangers share the connections that the sender has opened.',
    fix: {
      rule: 'Verify each delivery on its own; a connection proves nothing about the body that it carries.',
      express: 'Keep nothing about authentication in `req.socket`.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const trusted = new WeakSet<object>();
      return alsoAccepting(({ req, header = '', right }) => {
        if (trusted.has(req.socket)) return true;
        if (right.includes(header)) trusted.add(req.socket);
        return false;
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'verified-once-per-address',
    title: 'After one right signature, nothing more from the same address is verified.',
    seen: 'Caches of trusted clients in front of the check, meant to save time.',
    why: 'Behind a proxy or a tunnel, everybody has the same address.',
    fix: {
      rule: 'Verify each delivery; an address is no credential.',
      express: 'Delete the cache by `req.ip`; an HMAC over a few kilobytes takes microseconds.',
    },
    severity: 'critical',
    forbidden: true,
    equivalentTo: {
      name: 'signature-not-checked',
      reason:
        'A run comes from one address and has to begin with a right delivery, so it never sees this receiver refuse.',
    },
    replace: (parts) => {
      const trusted = new Set<string | undefined>();
      return alsoAccepting(({ req, header = '', right }) => {
        if (trusted.has(req.socket.remoteAddress)) return true;
        if (right.includes(header)) trusted.add(req.socket.remoteAddress);
        return false;
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'signature-cached-without-body',
    title: 'A signature that was right once is accepted again with any other body.',
    seen: 'Results of the check that are cached under the value of the header alone.',
    why: 'One overheard delivery is enough to send any other under its signature, and to book any amount.',
    fix: {
      rule: 'Compute the HMAC of each body anew. If you must cache, then under signature and body together.',
      express: 'Remove the memoisation around the verification.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const seen = new Set<string>();
      return alsoAccepting(({ header = '', right }) => {
        if (right.includes(header)) seen.add(header);
        return seen.has(header);
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'previous-body-verified',
    title: 'The signature of the delivery before on the same connection is accepted as well.',
    seen: 'A buffer or variable for the raw body that outlives its request, so that the check can see the one before.',
    why: 'Whoever sends right behind a real delivery, over a shared proxy connection, can use its signature for a body of their own.',
    fix: {
      rule: 'Keep the raw body with its request and nowhere else.',
      express: 'Hand the bytes on as `req.body` or `res.locals`, never in a variable of the module.',
    },
    severity: 'critical',
    forbidden: true,
    replace: (parts) => {
      const before = new WeakMap<object, readonly string[]>();
      return alsoAccepting(({ req, header = '', right }) => {
        const stale = before.get(req.socket) ?? [];
        before.set(req.socket, right);
        return stale.includes(header);
      })(parts);
    },
  },
  {
    ...SIGNATURE,
    name: 'known-id-not-verified',
    title: 'A delivery whose id was accepted before is not verified again.',
    seen: 'A look at the id before the signature, "this one was verified already", in receivers that expect deliveries to be sent again.',
    why: 'Ids stand in logs and in answers of other systems. Under a known one, anybody can send other content, which then overwrites the right one.',
    fix: {
      rule: 'Verify first, and look at the id only then.',
      express: 'Move the de-duplication behind the verification middleware.',
    },
    severity: 'high',
    forbidden: true,
    replace: (parts) => {
      const known = new Set<unknown>();
      return alsoAccepting((delivery) => {
        const { id } = unverified(delivery);
        if (delivery.right.includes(delivery.header ?? '')) known.add(id);
        return id !== undefined && known.has(id);
      })(parts);
    },
  },
];
