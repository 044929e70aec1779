import type { StageFault } from './fault.ts';
import { lettingPass, unverified } from './lenient-verifier.ts';

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

/** Checks that depend on what is delivered. */
export const conditionalChecks: readonly StageFault[] = [
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
];
