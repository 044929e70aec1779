/** Mutants that skip verification because of a claim in the request, or for some kinds of notification. */
import type { Request } from 'express';
import { hmac } from '../contract/signing/index.ts';
import { answer } from '../receiver/stages/stage.ts';
import { fieldAt } from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { alsoAccept, early, rememberingClient, SIGNATURE, signed, unverified } from './lenient-verifier.ts';

const has = (req: Request, ...names: readonly string[]) => names.some((name) => (req.get(name) ?? '') !== '');

/** Statuses that report a failure or an expiry. */
const NO_CREDIT = new Set(['FAILED', 'FAIL', 'DECLINED', 'EXPIRED']);

const STATUS_PATHS = ['data.status', 'data.metadata.orderStatus', 'data.metadata.providerTransactionStatus'];

const ISSUED = '5f2b7c1e9a4d';

/** Kinds of notification that a table of handlers contains. */
const HANDLED = new Set([
  ...['CAAS BUY', 'CAAS SELL', 'CAAS ORDER_TRACKING', 'CAAS_BLOCKCHAIN RECEIVE', 'REFUND SUCCESS', 'REFUND FAIL'],
  ...['PAYMENT_METHOD STAGED', 'PAYMENT_METHOD DECLINED', 'WALLET WALLET_CREATED'],
]);
const TYPES = new Set(['CAAS', 'CAAS_BLOCKCHAIN', 'REFUND', 'PAYMENT_METHOD', 'WALLET']);

/** Returns true if the type is known but the kind within the type is not. */
function isUnknownKind(payload: unknown): boolean {
  const type = fieldAt(payload, 'type');
  const kind = fieldAt(payload, 'data.type') ?? fieldAt(payload, 'data.operation') ?? fieldAt(payload, 'data.status');
  return typeof type === 'string' && TYPES.has(type) && typeof kind === 'string' && !HANDLED.has(`${type} ${kind}`);
}

export const unsignedClaims = family<StageFault>(
  { ...SIGNATURE, mistake: 'foreign-handshake' },
  {
    'validation-event-signed': [
      'Answers the validation event of another sender with the HMAC of a text in it',
      early((payload, secret) => {
        const token = fieldAt(payload, 'payload.plainToken');
        if (fieldAt(payload, 'event') !== 'endpoint.url_validation' || typeof token !== 'string') return null;
        return { plainToken: token, encryptedToken: hmac(Buffer.from(token), secret).toString('hex') };
      }),
      {
        note: 'An attacker has the endpoint sign the body of a forged notification.',
        equivalentTo: { name: 'handshakes-not-verified', reason: 'One delivery holds the handshakes of all senders.' },
      },
    ],
    'validation-code-echoed': [
      'Answers a list with a validation event of another sender with the code in it',
      early((payload) => {
        const [first] = Array.isArray(payload) ? payload : [];
        if (fieldAt(first, 'eventType') !== 'Microsoft.EventGrid.SubscriptionValidationEvent') return null;
        return { validationResponse: fieldAt(first, 'data.validationCode') };
      }),
      {
        equivalentTo: { name: 'handshakes-not-verified', reason: 'One delivery holds the handshakes of all senders.' },
      },
    ],
    'subscription-confirmed-by-get': [
      'Answers GET with the challenge from the query',
      ({ correct }) =>
        (req, res, next) => {
          const { 'hub.challenge': challenge } = req.query;
          if (req.method !== 'GET' || typeof challenge !== 'string') return correct.accept(req, res, next);
          return answer(res, 200, { challenge });
        },
      { stage: 'accept' },
    ],
    'latest-session-accepted': [
      'Accepts the session cookie of a valid delivery instead of a signature; of several cookies with that name, ' +
        'the last one counts',
      rememberingClient(
        (res) => void res.setHeader('Set-Cookie', `session=${ISSUED}; Path=/; HttpOnly`),
        (req) =>
          (req.get('Cookie') ?? '').split('; ').findLast((one) => one.startsWith('session=')) === `session=${ISSUED}`,
      ),
      'other-credential-suffices',
      { equivalentTo: { name: 'session-after-delivery', reason: 'One forgery sends back all that was returned.' } },
    ],
    'returned-token-accepted': [
      'Returns a token after a valid delivery, and accepts it instead of a signature',
      rememberingClient(
        (res) => void res.setHeader('X-Session-Token', ISSUED),
        (req) => req.get('X-Session-Token') === ISSUED || req.get('Authorization') === `Bearer ${ISSUED}`,
      ),
      'other-credential-suffices',
      { equivalentTo: { name: 'session-after-delivery', reason: 'One forgery sends back all that was returned.' } },
    ],
    'trusts-platform-headers': [
      'Does not verify requests with a header that a hosting platform sets',
      alsoAccept(({ req }) => has(req, 'X-Middleware-Subrequest', 'X-Appengine-Queuename', 'X-MS-Client-Principal')),
      'spoofed-request-header',
      { note: 'A header of the request also skips the middleware of Next.js before 15.2.3.' },
    ],
    'trusts-headers-of-other-senders': [
      'Does not verify requests with headers of handshakes or repeats of other senders',
      alsoAccept(({ req }) => has(req, 'X-Amz-Sns-Message-Type', 'X-Retry-Count', 'X-GitHub-Event')),
    ],
    'unsigned-token-accepted': [
      'Accepts a bearer token with the algorithm "none" instead of a signature',
      alsoAccept(({ req }) => /^Bearer [\w-]+\.[\w-]+\./.test(req.get('Authorization') ?? '')),
      'other-credential-suffices',
    ],
    'unforwarded-requests-not-verified': [
      'Does not verify requests without the header in which the proxy names the client',
      alsoAccept(({ req }) => /\bx-forwarded-for\b/i.test(req.get('Connection') ?? '')),
      'spoofed-client-address',
      { note: 'A client names X-Forwarded-For in Connection, and the proxy removes it.' },
    ],
    'body-merged-into-state': [
      'Merges the body into the state of the request, where `verified: true` skips the verification',
      alsoAccept((delivery) => {
        const { verified, authenticated } = unverified(delivery);
        return verified === true || authenticated === true;
      }),
      'request-overwrites-state',
    ],
    'synthetic-flag-not-verified': [
      'Does not verify notifications that are marked as synthetic or as a heartbeat in their body',
      alsoAccept((delivery) => unverified(delivery).heartbeat === true || unverified(delivery).synthetic === true),
      'test-mode-from-request',
      {
        note: 'Typical of monitoring that has no access to the secret.',
        equivalentTo: {
          name: 'sandbox-flag-not-verified',
          reason: 'One delivery has all the test flags; the report names the first flag that is accepted alone.',
        },
      },
    ],
    'test-envelopes-not-verified': [
      'Does not verify test notifications, which it recognises by type, an id of zeros or the time 0',
      alsoAccept((delivery) => /^0{8}-/.test(String(unverified(delivery).id))),
      'test-mode-from-request',
    ],
    'container-addresses-not-verified': [
      'Does not verify requests that claim an address of the container network',
      alsoAccept(({ req }) => /^172\.(?:1[6-9]|2\d|3[01])\./.test(req.get('X-Forwarded-For') ?? '')),
      'spoofed-client-address',
      {
        equivalentTo: {
          name: 'private-addresses-not-verified',
          reason: 'Both trust claimed private addresses; the report names the address.',
        },
      },
    ],
    'failures-not-verified': [
      'Does not verify notifications of a failure or an expiry',
      alsoAccept((delivery) => STATUS_PATHS.some((path) => NO_CREDIT.has(String(fieldAt(unverified(delivery), path))))),
      'verification-per-type',
      { note: 'An attacker cancels orders, blocks cards and closes refunds.' },
    ],
    'unknown-kinds-not-verified': [
      'Answers 200 to unknown kinds of known types without verification',
      early((payload) => (isUnknownKind(payload) ? {} : null)),
      'verification-per-type',
    ],
    'empty-secret-for-unknown-keys': [
      'Accepts a signature made with an empty secret if a header names an unknown secret or tenant',
      alsoAccept(({ req, header, body }) => has(req, 'X-Key-Id', 'X-Tenant-Id') && header === signed('', body)),
      'unset-secret',
    ],
    'open-prefix-not-verified': [
      'Does not verify requests whose path starts with an open one, before the path is resolved',
      alsoAccept(({ req }) => /^\/health\b/.test(req.url)),
      'verification-per-path',
      { note: '/health/../webhook starts with an open path until ".." is resolved.' },
    ],
  },
);
