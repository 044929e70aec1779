/**
 * The register: every normative statement of the specification, in our wording, with an id that scenarios refer to.
 *
 * A requirement has scenarios, or it says in `untested` why no black-box test can see it. A test fails when a `must`
 * has neither, and when it has both. What binds the sender or the operator is proved by this project's own tests and
 * says so.
 */
/** What a failure means: `must` fails the run, `should` warns, `info` is only recorded. */
export type Level = 'must' | 'should' | 'info';

export interface Requirement {
  readonly id: string;
  /** The section of the specification, or "ruling" where the specification is silent and the project has decided. */
  readonly section: string;
  readonly level: Level;
  /** Whom the statement binds. Only what binds the receiver can be judged at a partner's endpoint. */
  readonly subject: 'receiver' | 'sender' | 'operator';
  readonly text: string;
  /** Why no scenario judges it. Shown in every report as "not verified" when the subject is the receiver. */
  readonly untested?: string;
}

const SENDER = 'It binds the sender; the tests of the sender core prove it.';
const OPERATOR = 'It binds the operator, outside of any delivery.';
const REVOCATION = 'It would take a question to the authority, which is another party than the endpoint.';
const PUBLIC_AUTHORITIES =
  'It would take a client certificate of a public authority. The authorities that a server names in its request ' +
  'are recorded.';

export const REQUIREMENTS = [
  // Delivery and answer
  {
    id: 'delivery-post',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint takes an HTTP POST at the registered URL.',
  },
  {
    id: 'delivery-200',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'An accepted notification is answered with 200, and with no other status.',
  },
  {
    id: 'delivery-content-type',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text:
      'The body is JSON under Content-Type application/json; letter case and a charset parameter do not change ' +
      'what it is.',
  },
  {
    id: 'delivery-custom-headers',
    section: 'Authentication, Further',
    level: 'must',
    subject: 'receiver',
    text: 'Custom headers that are configured for the partner, and headers the receiver does not know, do no harm.',
  },
  {
    id: 'delivery-header-case',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'Header names are found in any letter case, as HTTP has it.',
  },
  {
    id: 'delivery-malformed',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'A malformed payload is handled without a crash: no 5xx, no hang, no reset, no dead process.',
  },
  {
    id: 'delivery-malformed-unsigned',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'A malformed payload without right credentials is refused like any other unauthenticated delivery.',
  },
  {
    id: 'delivery-no-redirect',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers itself: a sender does not follow a redirect.',
  },
  {
    id: 'delivery-in-time',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'The answer comes within the time limit of the sender, and better within five seconds.',
  },
  {
    id: 'delivery-other-methods',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'A method other than POST is not answered as an accepted notification.',
  },
  {
    id: 'delivery-framing',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text:
      'However the bytes of a right delivery arrive (in pieces, chunked, on a kept connection), it is the same ' +
      'delivery.',
  },
  {
    id: 'delivery-hostile-http',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'A request that is not well-formed HTTP does no harm to the deliveries that follow.',
  },
  {
    id: 'delivery-content-length',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'sender',
    text: 'A delivery carries Content-Length.',
    untested: SENDER,
  },
  {
    id: 'delivery-size',
    section: 'Limits',
    level: 'should',
    subject: 'receiver',
    text:
      'The largest payload is not stated: a receiver takes at least what real notifications may need, and refuses ' +
      'more cleanly.',
  },
  {
    id: 'delivery-effect',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'A refused delivery has no effect, and an accepted one is processed.',
    untested: 'The answer is all that can be seen from outside; what the receiver did inside cannot.',
  },

  // Repetition and order
  {
    id: 'repeat-duplicate',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text:
      'The same notification delivered again is answered 200 again: a sender can promise delivery at least once, ' +
      'not exactly once.',
  },
  {
    id: 'repeat-once',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'A notification that is delivered twice is handled once.',
    untested: 'How often a notification was handled cannot be seen in the answers.',
  },
  {
    id: 'repeat-by-id',
    section: 'Notification envelope',
    level: 'must',
    subject: 'receiver',
    text:
      'The id identifies a notification: two notifications with different ids are two, however alike their data ' +
      'is.',
  },
  {
    id: 'repeat-not-poisoned',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'A delivery that was refused does not stop the right notification with the same id from being accepted.',
  },
  {
    id: 'repeat-order',
    section: 'Order status',
    level: 'should',
    subject: 'receiver',
    text: 'Notifications of one transaction are accepted in whatever order they arrive.',
  },
  {
    id: 'repeat-burst',
    section: 'Events',
    level: 'must',
    subject: 'receiver',
    text: 'Deliveries that arrive at the same time each get their own right answer.',
  },

  // HMAC
  {
    id: 'hmac-invalid',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'A delivery with an invalid signature is answered 401.',
  },
  {
    id: 'hmac-missing',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'A delivery without the signature that is required is answered 401.',
  },
  {
    id: 'hmac-algorithm',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is HMAC with SHA-256, keyed with the secret as UTF-8, and no other algorithm counts.',
  },
  {
    id: 'hmac-raw-body',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is over the exact bytes of the body as received.',
  },
  {
    id: 'hmac-base64',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is in standard Base64, and no other spelling counts.',
  },
  {
    id: 'hmac-header',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is read from the configured header, X-Service-Signature by default, and from nowhere else.',
  },
  {
    id: 'hmac-every-delivery',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'Every delivery is verified, whatever its type, its source or its other headers.',
  },
  {
    id: 'hmac-secret-set',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'Only the agreed secret verifies: an empty, unset or placeholder secret does not.',
  },
  {
    id: 'hmac-when-enabled',
    section: 'HMAC signature',
    level: 'must',
    subject: 'sender',
    text: 'The signature header is present only when HMAC is enabled.',
    untested: SENDER,
  },
  {
    id: 'hmac-constant-time',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'Signatures are compared in constant time.',
    untested: 'Timing measured over a network cannot prove it honestly; read the code for a constant-time comparison.',
  },
  {
    id: 'hmac-secret-length',
    section: 'Limits',
    level: 'should',
    subject: 'operator',
    text: 'The secret has at least 32 characters.',
    untested: 'The harness advises on the secret that it is given; the answer of an endpoint says nothing about it.',
  },
  {
    id: 'hmac-secret-custody',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'Secrets are kept out of code and logs, and are rotated from time to time.',
    untested:
      'How a receiver keeps its secrets cannot be seen from outside; only their absence from its answers is checked.',
  },
  {
    id: 'no-leak',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'No answer holds a secret, a key or the signature that was expected.',
  },
  {
    id: 'no-hints',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'No answer helps a forger: refusals cannot be told apart, and nothing of the code inside shows.',
  },

  // API key
  {
    id: 'key-invalid',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'A delivery with a wrong API key is answered 401.',
  },
  {
    id: 'key-missing',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'A delivery without the API key that is required is answered 401.',
  },
  {
    id: 'key-exact',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'The API key is compared whole and exactly.',
  },
  {
    id: 'key-header',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'The API key is read from the configured header and from nowhere else.',
  },
  {
    id: 'key-when-configured',
    section: 'API key header',
    level: 'must',
    subject: 'sender',
    text: 'The API key header is present only when a key is configured.',
    untested: SENDER,
  },
  {
    id: 'features-independent',
    section: 'Authentication',
    level: 'must',
    subject: 'receiver',
    text:
      'Each security feature that is enabled is required on its own: one right credential does not stand in for ' +
      'another.',
  },
  {
    id: 'https-in-production',
    section: 'Authentication',
    level: 'must',
    subject: 'operator',
    text: 'Production deliveries go over HTTPS.',
    untested: 'The sender core advises against plain HTTP outside loopback when the configuration is read.',
  },

  // Envelope and types
  {
    id: 'envelope-fields',
    section: 'Notification envelope',
    level: 'must',
    subject: 'receiver',
    text: 'Every notification has id, type, at and data, and all five types are accepted.',
  },
  {
    id: 'envelope-id',
    section: 'Notification envelope',
    level: 'should',
    subject: 'receiver',
    text: 'The id has the form of a UUID; which version, and which letter case, is not stated.',
  },
  {
    id: 'envelope-at',
    section: 'Notification envelope',
    level: 'must',
    subject: 'receiver',
    text:
      'The time is epoch seconds for CAAS, PAYMENT_METHOD and REFUND, and ISO 8601 in UTC for WALLET and ' +
      'CAAS_BLOCKCHAIN.',
  },
  {
    id: 'envelope-open',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'A field, type or status that the receiver does not know is accepted.',
  },
  {
    id: 'caas-buy',
    section: 'type = CAAS',
    level: 'must',
    subject: 'receiver',
    text: 'BUY notifications are accepted at every order status.',
  },
  {
    id: 'caas-sell',
    section: 'type = CAAS',
    level: 'must',
    subject: 'receiver',
    text: 'SELL notifications are accepted at every order status.',
  },
  {
    id: 'caas-failed',
    section: 'Errors',
    level: 'must',
    subject: 'receiver',
    text: 'A failed order carries errorData with code and message and is accepted.',
  },
  {
    id: 'caas-optional',
    section: 'type = CAAS',
    level: 'must',
    subject: 'receiver',
    text:
      'Which blockchainData fields are filled at which status is not stated: an absent, null or empty one is ' +
      'accepted.',
  },
  {
    id: 'caas-tracking',
    section: 'type = CAAS',
    level: 'must',
    subject: 'receiver',
    text: 'ORDER_TRACKING notifications, COMPLETED and EXPIRED, of a BUY or a SELL, with errorData null, are accepted.',
  },
  {
    id: 'caas-hash-follows',
    section: 'Order status',
    level: 'must',
    subject: 'receiver',
    text: 'BLOCKCHAIN_ACCEPTED is followed by a notification that carries the transaction hash; both are accepted.',
  },
  {
    id: 'refund-shapes',
    section: 'type = REFUND',
    level: 'must',
    subject: 'receiver',
    text: 'REFUND notifications are accepted with SUCCESS (with the hash) and with FAIL (with errorData).',
  },
  {
    id: 'refund-amount',
    section: 'type = REFUND',
    level: 'must',
    subject: 'receiver',
    text:
      'The amount of a refund is decimal text, with as many digits as it takes and with or without a decimal ' +
      'point.',
  },
  {
    id: 'refund-order',
    section: 'Refund status',
    level: 'must',
    subject: 'receiver',
    text: 'A refund is preceded by the CAAS SELL failure of the same transaction; both are accepted in this order.',
  },
  {
    id: 'payment-method-shapes',
    section: 'type = PAYMENT_METHOD',
    level: 'must',
    subject: 'receiver',
    text: 'PAYMENT_METHOD notifications are accepted for STAGED, and for DECLINED with an errorCode.',
  },
  {
    id: 'payment-method-only',
    section: 'Payment method status',
    level: 'must',
    subject: 'sender',
    text: 'No notification is sent for CREATED, VERIFIED or DELETED.',
    untested: SENDER,
  },
  {
    id: 'wallet-shape',
    section: 'type = WALLET',
    level: 'must',
    subject: 'receiver',
    text: 'WALLET notifications (WALLET_CREATED), one for each wallet of a customer, are accepted.',
  },
  {
    id: 'wallet-enabled',
    section: 'Endpoints referenced as triggers',
    level: 'must',
    subject: 'sender',
    text: 'WALLET notifications are sent only when the feature is enabled for the partner.',
    untested: SENDER,
  },
  {
    id: 'tracking-physical',
    section: 'type = CAAS',
    level: 'must',
    subject: 'sender',
    text: 'ORDER_TRACKING is sent only for providers where the user goes to a physical site.',
    untested: SENDER,
  },
  {
    id: 'deposit-shape',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'must',
    subject: 'receiver',
    text: 'CAAS_BLOCKCHAIN notifications (RECEIVE) are accepted, on-chain and inside the custodial ledger.',
  },
  {
    id: 'deposit-amount',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'must',
    subject: 'receiver',
    text: 'The amount is text in atomic units, of any length.',
  },
  {
    id: 'deposit-amount-precise',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'must',
    subject: 'receiver',
    text: 'Amounts keep every digit when they are converted to display units.',
    untested: 'What the receiver makes of an amount does not show in its answer.',
  },
  {
    id: 'deposit-typo',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'should',
    subject: 'receiver',
    text:
      'The hash is accepted under blockchainTransactionId and under the misspelt blockchainTransctionId, and may ' +
      'be absent.',
  },
  {
    id: 'error-codes-listed',
    section: 'Error codes',
    level: 'must',
    subject: 'receiver',
    text: 'Every listed error code is accepted.',
  },
  {
    id: 'error-codes-open',
    section: 'Error codes',
    level: 'must',
    subject: 'receiver',
    text: 'The listed codes are examples: an unlisted one, and one with a two-digit middle group, is accepted.',
  },

  // TLS
  {
    id: 'tls-version',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint serves HTTPS with TLS 1.2 or higher.',
  },
  {
    id: 'tls-trusted',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'The certificate is valid and comes from a trusted authority.',
  },
  {
    id: 'tls-chain',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'The full chain is served when intermediates are used, and nothing in it has expired.',
  },
  {
    id: 'tls-key',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'Keys are RSA of at least 2048 bits or an equivalent ECDSA key.',
  },
  {
    id: 'mtls-verified',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'With mutual TLS, client certificates are verified against the issuing authority.',
  },
  {
    id: 'tls-http1',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint speaks HTTP/1.1 over TLS, as the sender does.',
  },
  {
    id: 'tls-strength',
    section: 'TLS',
    level: 'should',
    subject: 'receiver',
    text: 'No broken cipher suite and no compression is on (ruling: the sender offers neither).',
  },
  {
    id: 'tls-revocation',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'The certificate has not been revoked.',
    untested: REVOCATION,
  },
  {
    id: 'mtls-one-authority',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'With mutual TLS, certificates of other authorities are refused, public ones included.',
    untested: PUBLIC_AUTHORITIES,
  },
  {
    id: 'mtls-format',
    section: 'TLS',
    level: 'must',
    subject: 'operator',
    text: 'Client certificates are PEM, or DER.',
    untested: OPERATOR,
  },
] as const satisfies readonly Requirement[];

/** The id of a requirement in the register. */
export type RequirementId = (typeof REQUIREMENTS)[number]['id'];

const BY_ID: ReadonlyMap<string, Requirement> = new Map(REQUIREMENTS.map((entry) => [entry.id, entry]));

/** The requirement with this id, or undefined. */
export function requirement(id: string): Requirement | undefined {
  return BY_ID.get(id);
}
