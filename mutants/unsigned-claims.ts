/** Mutants that skip the verification for what a request claims, or for the kind of notification in its body. */
import type { Request } from 'express';
import { hmac } from '../contract/signing/index.ts';
import { answer, required } from '../receiver/stages/stage.ts';
import { fieldAt } from './careless-handling.ts';
import type { StageFault } from './fault.ts';
import { early, lenientMutant, rememberingClient, SIGNATURE, signed, unverified } from './lenient-verifier.ts';

const has = (req: Request, ...names: readonly string[]) => names.some((name) => (req.get(name) ?? '') !== '');

const VERIFY_ALWAYS = 'Verify every request in one place, before any part of it decides how it is handled.';
const NO_CLAIMS = 'Make no exception based on what the request claims: any client can claim it.';
const ON_ROUTE = 'Mount the verification as middleware in front of every handler of the route, without a condition.';

/** What reports a failure or an expiry. */
const NO_CREDIT = new Set(['FAILED', 'FAIL', 'DECLINED', 'EXPIRED']);

const STATUS_PATHS = ['data.status', 'data.metadata.orderStatus', 'data.metadata.providerTransactionStatus'];

const NO_HANDSHAKE: StageFault['fix'] = {
  rule: 'Answer no handshake: this sender has none.',
  express: 'Remove the branch, or give the other sender a separate route.',
};

const NO_SESSION: StageFault['fix'] = {
  rule: 'Verify each delivery, and return nothing that replaces its signature.',
  express: 'Mount session middleware on other routes only.',
};

const ISSUED = '5f2b7c1e9a4d';

/** The kinds that a table of handlers has entries for. */
const HANDLED = new Set([
  ...['CAAS BUY', 'CAAS SELL', 'CAAS ORDER_TRACKING', 'CAAS_BLOCKCHAIN RECEIVE', 'REFUND SUCCESS', 'REFUND FAIL'],
  ...['PAYMENT_METHOD STAGED', 'PAYMENT_METHOD DECLINED', 'WALLET WALLET_CREATED'],
]);
const TYPES = new Set(['CAAS', 'CAAS_BLOCKCHAIN', 'REFUND', 'PAYMENT_METHOD', 'WALLET']);

/** Whether the type is known and what it is about is not. */
function isUnknownKind(payload: Record<string, unknown>): boolean {
  const { type } = payload;
  const kind = fieldAt(payload, 'data.type') ?? fieldAt(payload, 'data.operation') ?? fieldAt(payload, 'data.status');
  return typeof type === 'string' && TYPES.has(type) && typeof kind === 'string' && !HANDLED.has(`${type} ${kind}`);
}

export const unsignedClaims: readonly StageFault[] = [
  early(
    (payload, secret) => {
      const token = fieldAt(payload, 'payload.plainToken');
      if (fieldAt(payload, 'event') !== 'endpoint.url_validation' || typeof token !== 'string') return null;
      return { plainToken: token, encryptedToken: hmac(Buffer.from(token), secret).toString('hex') };
    },
    {
      name: 'validation-event-signed',
      title: 'Answers the validation event of another sender with the HMAC of a text in it',
      seen: 'Endpoint validation of Zoom, copied into the receiver of another sender with its own secret.',
      why: 'Anyone lets the endpoint compute the HMAC of any text, such as the body of a forged notification.',
      fix: NO_HANDSHAKE,
      equivalentTo: { name: 'handshakes-not-verified', reason: 'One delivery holds the handshakes of all senders.' },
    },
    'critical',
  ),
  early(
    (payload) => {
      const [first] = Array.isArray(payload) ? payload : [];
      if (fieldAt(first, 'eventType') !== 'Microsoft.EventGrid.SubscriptionValidationEvent') return null;
      return { validationResponse: fieldAt(first, 'data.validationCode') };
    },
    {
      name: 'validation-code-echoed',
      title: 'Answers a list with a validation event of another sender with the code in it',
      seen: 'Receivers for Azure Event Grid that take further senders.',
      why: 'Unverified requests get 200 and a text that anyone chooses.',
      fix: NO_HANDSHAKE,
      equivalentTo: { name: 'handshakes-not-verified', reason: 'One delivery holds the handshakes of all senders.' },
    },
    'critical',
  ),
  {
    ...SIGNATURE,
    name: 'subscription-confirmed-by-get',
    title: 'Answers GET with the challenge in its query',
    seen: 'Subscriptions of Meta, Dropbox and WebSub, which are confirmed by GET at the same URL.',
    why: 'Anyone lets the endpoint answer 200 with a text of their choice, which a browser may show as a page.',
    fix: NO_HANDSHAKE,
    severity: 'medium',
    forbidden: true,
    stage: 'accept',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const { 'hub.challenge': challenge } = req.query;
        if (req.method !== 'GET' || typeof challenge !== 'string') return correct.accept(req, res, next);
        return answer(res, 200, { challenge });
      },
  },
  {
    ...SIGNATURE,
    name: 'latest-session-accepted',
    title: 'Accepts the session cookie of a valid delivery instead of a signature, where the last of its name counts',
    seen: 'Session middleware of Python (`SimpleCookie`) for the whole application.',
    why: 'Anyone who gets hold of the cookie needs no signature.',
    fix: NO_SESSION,
    severity: 'critical',
    forbidden: true,
    equivalentTo: { name: 'session-after-delivery', reason: 'One forgery sends back all that was returned.' },
    replace: rememberingClient(
      (res) => void res.setHeader('Set-Cookie', `session=${ISSUED}; Path=/; HttpOnly`),
      (req) =>
        (req.get('Cookie') ?? '').split('; ').findLast((one) => one.startsWith('session=')) === `session=${ISSUED}`,
    ),
  },
  {
    ...SIGNATURE,
    name: 'returned-token-accepted',
    title: 'Returns a token after a valid delivery, and accepts it instead of a signature',
    seen: 'Gateways that issue a token after the first successful authentication, to save the next ones.',
    why: 'Anyone who gets hold of the token needs no signature.',
    fix: NO_SESSION,
    severity: 'critical',
    forbidden: true,
    equivalentTo: { name: 'session-after-delivery', reason: 'One forgery sends back all that was returned.' },
    replace: rememberingClient(
      (res) => void res.setHeader('X-Session-Token', ISSUED),
      (req) => req.get('X-Session-Token') === ISSUED || req.get('Authorization') === `Bearer ${ISSUED}`,
    ),
  },
  lenientMutant(({ req }) => has(req, 'X-Middleware-Subrequest', 'X-Appengine-Queuename', 'X-MS-Client-Principal'), {
    name: 'trusts-platform-headers',
    title: 'Does not verify requests with a header that a hosting platform sets',
    seen:
      'Code that moved from App Engine or Azure App Service to another host, and middleware of Next.js before ' +
      '15.2.3, which a header skips.',
    why: 'The platform removed these headers from outside requests. Now anyone can send them.',
    fix: { rule: NO_CLAIMS, express: 'Delete the branch on the header.' },
  }),
  lenientMutant(({ req }) => has(req, 'X-Amz-Sns-Message-Type', 'X-Retry-Count', 'X-GitHub-Event'), {
    name: 'trusts-headers-of-other-senders',
    title: 'Does not verify requests with headers of handshakes or repeats of other senders',
    seen: 'Endpoints for several senders, with shortcuts for subscriptions, pings and retries.',
    why: 'These headers are documented, and any client can send them.',
    fix: { rule: VERIFY_ALWAYS, express: 'Give each sender a separate route, and delete the branches on its headers.' },
  }),
  lenientMutant(({ req }) => /^Bearer [\w-]+\.[\w-]+\./.test(req.get('Authorization') ?? ''), {
    name: 'unsigned-token-accepted',
    title: 'Accepts a bearer token with the algorithm "none" instead of a signature',
    seen: 'Authenticators for users on the same server, which decode a token without verifying it.',
    why: 'Anyone can write such a token.',
    fix: {
      rule: 'Require the signature on this route, whatever else the request contains.',
      express: 'Mount the authentication of users on other routes only, and pass `algorithms` to `jwt.verify()`.',
    },
  }),
  lenientMutant(({ req }) => /\bx-forwarded-for\b/i.test(req.get('Connection') ?? ''), {
    name: 'unforwarded-requests-not-verified',
    title: 'Does not verify requests without the header in which the proxy names the client',
    seen: 'Exceptions for calls inside the cluster, behind a proxy that removes the headers named in Connection.',
    why: 'An attacker names X-Forwarded-For in Connection, the proxy removes it, and the request looks internal.',
    fix: { rule: NO_CLAIMS, express: 'Remove the exception for requests without X-Forwarded-For.' },
  }),
  lenientMutant(
    (delivery) => {
      const { verified, authenticated } = unverified(delivery);
      return verified === true || authenticated === true;
    },
    {
      name: 'body-merged-into-state',
      title: 'Merges the body into the state of the request, where `verified: true` skips the verification',
      seen: '`Object.assign(ctx.state, body)`, and models that are filled from the whole body (mass assignment).',
      why: 'An attacker adds one member to the body.',
      fix: {
        rule: 'Keep the body and the results of checks in separate objects.',
        express: 'Do not copy `req.body` into `req` or `res.locals`.',
        rails: 'Permit single attributes (`params.permit`), never all of them.',
        laravel: 'List attributes in `$fillable`.',
      },
    },
  ),
  lenientMutant((delivery) => unverified(delivery).heartbeat === true || unverified(delivery).synthetic === true, {
    name: 'synthetic-flag-not-verified',
    title: 'Does not verify notifications that are marked as synthetic or as a heartbeat in their body',
    seen: 'Monitoring that posts to the endpoint and has no access to the secret.',
    why: 'The mark is in the body that the signature should protect, so an attacker sets it.',
    fix: { rule: VERIFY_ALWAYS, express: 'Give the monitoring its own route, or sign its requests.' },
    equivalentTo: {
      name: 'sandbox-flag-not-verified',
      reason: 'One delivery has all flags of tests; the report names the one that is enough.',
    },
  }),
  lenientMutant((delivery) => /^0{8}-/.test(String(unverified(delivery).id)), {
    name: 'test-envelopes-not-verified',
    title: 'Does not verify test notifications, which it recognises by type, an id of zeros or the time 0',
    seen: 'Exceptions for the test button of a dashboard.',
    why: 'An attacker sends the envelope of a test with any content.',
    fix: { rule: VERIFY_ALWAYS, express: ON_ROUTE },
  }),
  lenientMutant(({ req }) => /^172\.(?:1[6-9]|2\d|3[01])\./.test(req.get('X-Forwarded-For') ?? ''), {
    name: 'container-addresses-not-verified',
    title: 'Does not verify requests that claim an address of the container network',
    seen: 'Exceptions for 172.16.0.0/12, the default network of Docker, based on X-Forwarded-For.',
    why: 'Every client can set the header.',
    fix: { rule: NO_CLAIMS, express: 'Remove the exception, and set "trust proxy" to the addresses of your proxies.' },
    equivalentTo: {
      name: 'private-addresses-not-verified',
      reason: 'Both trust claimed private addresses; the report names the address.',
    },
  }),
  lenientMutant((delivery) => STATUS_PATHS.some((path) => NO_CREDIT.has(String(fieldAt(unverified(delivery), path)))), {
    name: 'failures-not-verified',
    title: 'Does not verify notifications of a failure or an expiry',
    seen: 'A verification inside the branch that books money, because the others "cannot do harm".',
    why: 'An attacker cancels orders, blocks cards and closes refunds.',
    fix: { rule: VERIFY_ALWAYS, express: ON_ROUTE },
  }),
  {
    ...SIGNATURE,
    name: 'unknown-kinds-not-verified',
    title: 'Answers 200 to unknown kinds of known types without verification',
    seen: 'Tables of handlers by type and data.type, in which each handler verifies, and an early 200 for all others.',
    why: 'Unverified requests look accepted, and a handler that is added later may miss the verification.',
    fix: { rule: VERIFY_ALWAYS, express: ON_ROUTE },
    severity: 'high',
    forbidden: true,
    replace: ({ correct, config }) => {
      if (config.signing === undefined) return correct.requireSignature;
      return (req, res, next) => {
        const payload = unverified({ body: required(res, 'rawBody') });
        return isUnknownKind(payload) ? answer(res, 200, {}) : correct.requireSignature(req, res, next);
      };
    },
  },
  lenientMutant(({ req, header, body }) => has(req, 'X-Key-Id', 'X-Tenant-Id') && header === signed('', body), {
    name: 'empty-secret-for-unknown-keys',
    title: 'Accepts a signature made with an empty secret if a header names an unknown secret or tenant',
    seen: '`secrets[req.get("X-Tenant-Id")] ?? ""` in receivers for several tenants.',
    why: 'An attacker names a tenant that does not exist, and signs with the empty secret.',
    fix: {
      rule: 'Reject a delivery for which there is no secret, and never use an empty default.',
      express: 'Answer 401 when the lookup of the secret returns undefined.',
    },
  }),
  lenientMutant(({ req }) => /^\/health\b/.test(req.url), {
    name: 'open-prefix-not-verified',
    title: 'Does not verify requests whose path starts with an open one, before the path is resolved',
    seen: 'Rules for paths that start with /health or /public, in front of a router or server that resolves "..".',
    why: 'An attacker sends the forged notification to /health/../webhook.',
    fix: {
      rule: VERIFY_ALWAYS,
      express: 'Put the verification on the route itself: `app.post(path, verify, handle)`.',
    },
  }),
];
