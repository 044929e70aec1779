/** Mutants that do not verify the signature, or only under a condition. */
import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { NOTIFICATION_TYPES } from '../contract/index.ts';
import { fieldAt } from './careless-handling.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { acceptWhen, alsoAccept, SIGNATURE, type Signed, unverified } from './lenient-verifier.ts';

const KNOWN: readonly string[] = NOTIFICATION_TYPES;

const FINAL = ['COMPLETED', 'CONFIRMED', 'FAILED', 'SUCCESS'];

/**
 * Runs the correct check until a delivery with the same value of `keyOf` is valid, then accepts all others with that
 * value. Deliveries for which `keyOf` returns undefined are always checked.
 */
function verifiedOncePer(keyOf: (delivery: Signed) => unknown): StageFault['replace'] {
  return (parts) => {
    const trusted = new Set<unknown>();
    return alsoAccept((delivery) => {
      const key = keyOf(delivery);
      if (key !== undefined && trusted.has(key)) return true;
      if (delivery.expected.includes(delivery.header ?? '')) trusted.add(key);
      return false;
    })(parts);
  };
}

const LOOPBACK = /\b127\.0\.0\.1\b|::1/;

const query = (req: Request) => new URL(req.url, 'http://receiver').searchParams;

export const signatureUncheckedFaults = family<StageFault>(
  { ...SIGNATURE, mistake: 'verification-per-type' },
  {
    'signature-not-checked': ['Does not verify the signature', acceptWhen(() => true), 'no-signature-verification'],
    'check-not-awaited': [
      'Does not await the asynchronous verification, so the promise always counts as true',
      acceptWhen((delivery) => {
        const verify = async () => delivery.expected.includes(delivery.header ?? '');
        return Boolean(verify());
      }),
      'verification-not-enforced',
      {
        note: "WebCrypto's `verify` returns a promise, and a promise always counts as true.",
        equivalentTo: {
          name: 'signature-not-checked',
          reason: 'A promise is truthy whatever it resolves to, so nothing is ever rejected.',
        },
      },
    ],
    'monitor-mode': [
      'Logs invalid signatures but processes the delivery',
      ({ config, correct }) =>
        (req, res, next) => {
          if (config.signing === undefined) return correct.requireSignature(req, res, next);
          config.logger.warn({ event: 'signature-not-enforced' }, 'the signature is not enforced');
          next();
        },
      'verification-not-enforced',
      {
        equivalentTo: {
          name: 'signature-not-checked',
          reason: 'The log is not visible from outside, and the answers are the same.',
        },
      },
    ],
    'signature-presence-is-enough': [
      'Accepts any signature that is not empty',
      acceptWhen(({ header = '' }) => header !== ''),
      'signature-format-only',
    ],
    'signature-length-is-enough': [
      'Accepts any signature of 44 characters',
      acceptWhen(({ header = '' }) => header.length === 44),
      'signature-format-only',
    ],
    'signature-form-is-enough': [
      'Accepts any 32 bytes in Base64 as a signature',
      acceptWhen(({ header = '' }) => /^[A-Za-z0-9+/]{43}=$/.test(header)),
      'signature-format-only',
    ],
    'error-in-check-accepts': [
      'Accepts the delivery when the verification throws',
      acceptWhen(({ header, expected }) => {
        try {
          return expected.some((one) => timingSafeEqual(Buffer.from(header as string), Buffer.from(one)));
        } catch {
          return true;
        }
      }),
      'verification-fails-open',
    ],
    'forged-tenth-let-through': [
      'Accepts the tenth delivery after nine invalid signatures in a row on a connection',
      (parts) => {
        // Counts per connection, so that requests on other connections have no influence.
        const wrong = new WeakMap<object, number>();
        return alsoAccept(({ req, header = '', expected }) => {
          const count = expected.includes(header) ? 0 : (wrong.get(req.socket) ?? 0) + 1;
          wrong.set(req.socket, count % 10);
          return count === 10;
        })(parts);
      },
      'verification-fails-open',
      { note: 'A test with a handful of invalid signatures does not notice it.' },
    ],
    // Mutants whose check depends on the content of the delivery.
    'refunds-not-verified': [
      'Does not verify notifications of type REFUND',
      alsoAccept((delivery) => unverified(delivery).type === 'REFUND'),
    ],
    'tracking-not-verified': [
      'Does not verify notifications of type ORDER_TRACKING',
      alsoAccept((delivery) => fieldAt(unverified(delivery), 'data.type') === 'ORDER_TRACKING'),
    ],
    'only-orders-verified': [
      'Verifies only notifications of type CAAS',
      alsoAccept((delivery) => unverified(delivery).type !== 'CAAS'),
    ],
    'unknown-types-not-verified': [
      'Accepts notifications of an unknown type without verification',
      alsoAccept((delivery) => !KNOWN.includes(String(unverified(delivery).type))),
    ],
    'other-types-need-only-a-header': [
      'Accepts any signature for types other than CAAS, as long as there is one',
      alsoAccept((delivery) => (delivery.header ?? '') !== '' && unverified(delivery).type !== 'CAAS'),
      { note: 'Tests without a signature see 401 everywhere, but any text in the header is enough.' },
    ],
    'only-final-statuses-verified': [
      'Verifies orders only when they are confirmed, completed or failed',
      alsoAccept((delivery) => {
        const metadata = fieldAt(unverified(delivery), 'data.metadata');
        const status = fieldAt(metadata, 'orderStatus') ?? fieldAt(metadata, 'providerTransactionStatus');
        return typeof status === 'string' && !FINAL.includes(status);
      }),
      { note: 'A forged early status with another address makes the customer pay an attacker.' },
    ],
    'test-providers-not-verified': [
      'Does not verify notifications of a provider whose name starts with "test"',
      alsoAccept((delivery) => String(fieldAt(unverified(delivery), 'data.providerId')).startsWith('test')),
      'test-mode-from-request',
    ],
    'sandbox-flag-not-verified': [
      'Does not verify notifications that are marked as test or sandbox in their body',
      alsoAccept((delivery) => {
        const { sandbox, test, livemode } = unverified(delivery);
        return sandbox === true || test === true || livemode === false;
      }),
      'test-mode-from-request',
    ],
    'large-bodies-not-verified': [
      'Does not verify bodies over 64 kB',
      alsoAccept(({ body }) => body.length > 65_536),
      'verification-per-framing',
      { note: 'Gateways inspect the first 8 to 128 kB of a body and let the rest pass.' },
    ],
    'tiny-bodies-not-verified': [
      'Does not verify bodies under 128 bytes',
      alsoAccept(({ body }) => body.length < 128),
      'verification-per-framing',
    ],
    'only-plain-json-verified': [
      'Verifies only deliveries whose Content-Type is exactly "application/json"',
      alsoAccept(({ req }) => req.headers['content-type'] !== 'application/json'),
      'verification-per-content-type',
    ],
    'chunked-bodies-not-verified': [
      'Does not verify deliveries without Content-Length (chunked ones)',
      alsoAccept(({ req }) => req.headers['content-length'] === undefined),
      'verification-per-framing',
    ],
    // Mutants that skip verification because of a claim in the request.
    'trusts-forwarded-for': [
      'Does not verify requests that claim a local address in X-Forwarded-For',
      alsoAccept(({ req }) => LOOPBACK.test(req.get('X-Forwarded-For') ?? '')),
      'spoofed-client-address',
    ],
    'trusts-real-ip': [
      'Does not verify requests that claim a local address in X-Real-IP or Forwarded',
      alsoAccept(({ req }) => LOOPBACK.test(req.get('X-Real-IP') ?? '') || LOOPBACK.test(req.get('Forwarded') ?? '')),
      'spoofed-client-address',
    ],
    'debug-switch': [
      'Skips the verification with the header X-Debug or `?debug` in the query',
      alsoAccept(({ req }) => req.get('X-Debug') !== undefined || query(req).has('debug')),
      'test-mode-from-request',
    ],
    'query-switch': [
      'Skips the verification with `?skip` or `?test` in the query',
      alsoAccept(({ req }) => query(req).has('skip') || query(req).has('test')),
      'test-mode-from-request',
    ],
    'handshake-in-query': [
      'Accepts any request with a handshake of another sender in the query, such as `?validationToken`',
      alsoAccept(({ req }) => /[?&](?:validationToken|hub\.challenge)=/.test(req.url)),
      'foreign-handshake',
    ],
    'environment-header': [
      'Skips the verification when the request names a test environment',
      alsoAccept(({ req }) => ['test', 'development', 'local'].includes(req.get('X-Environment') ?? '')),
      'test-mode-from-request',
    ],
    'trusts-verified-header': [
      'Trusts a header in which a gateway claims to have verified, from any sender',
      alsoAccept(({ req }) => req.get('X-Service-Verified') === 'true'),
      'spoofed-request-header',
    ],
    'trusts-user-agent': [
      'Does not verify requests whose User-Agent names the sender',
      alsoAccept(({ req }) => /^Service-Webhooks\//.test(req.get('User-Agent') ?? '')),
      'spoofed-request-header',
    ],
    'trusts-origin': [
      'Does not verify requests with an internal Origin or Referer',
      alsoAccept(({ req }) => /^https?:\/\/localhost\b/.test(req.get('Origin') ?? req.get('Referer') ?? '')),
      'spoofed-request-header',
    ],
    'method-override': [
      'Verifies only POST, and lets X-HTTP-Method-Override change the method',
      alsoAccept(({ req }) => !['POST', undefined].includes(req.get('X-HTTP-Method-Override'))),
      'verification-per-method',
    ],
    'authorization-suffices': [
      'Does not verify requests with an Authorization header',
      alsoAccept(({ req }) => req.get('Authorization') !== undefined),
      'other-credential-suffices',
    ],
    'health-urls-exempt': [
      'Does not verify requests whose URL contains a word such as "health"',
      alsoAccept(({ req }) => /health|status|ping/.test(req.url)),
      'verification-per-path',
    ],
    // Mutants that trust a delivery because of an earlier one.
    'verified-once-per-connection': [
      'Stops verifying on a connection after one valid signature',
      verifiedOncePer(({ req }) => req.socket),
      'cached-verification',
      { note: "Requests of other clients can share the sender's connections to a proxy." },
    ],
    'verified-once-per-address': [
      'Stops verifying deliveries from an address after one valid signature',
      verifiedOncePer(({ req }) => req.socket.remoteAddress),
      'cached-verification',
      {
        note: 'With a proxy or a tunnel, all clients have the same address.',
        equivalentTo: {
          name: 'signature-not-checked',
          reason:
            'A run comes from one address and starts with a valid delivery, so it never sees this receiver reject.',
        },
      },
    ],
    'signature-cached-without-body': [
      'Accepts a signature that was valid once with any other body',
      verifiedOncePer(({ header }) => header),
      'cached-verification',
    ],
    'previous-body-verified': [
      'Also accepts the signature of the previous delivery on the same connection',
      (parts) => {
        const before = new WeakMap<object, readonly string[]>();
        return alsoAccept(({ req, header = '', expected }) => {
          const stale = before.get(req.socket) ?? [];
          before.set(req.socket, expected);
          return stale.includes(header);
        })(parts);
      },
      'state-outlives-request',
    ],
    'known-id-not-verified': [
      'Does not verify a delivery whose id was accepted before',
      verifiedOncePer((delivery) => unverified(delivery).id),
      'lookup-before-verification',
    ],
  },
);
