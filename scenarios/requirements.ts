/**
 * The register of requirements: every normative statement of the specification in our own words, with an id to which
 * scenarios refer.
 *
 * A requirement has scenarios, or `untested` states why no black-box test can verify it. A test fails if a requirement
 * has neither or both, or if a scenario is stricter than its requirements. `STATEMENTS` maps the specification to the
 * register.
 */

/** The consequence of a failure: `must` fails the run, `should` warns, `info` is only recorded. */
export type Level = 'must' | 'should' | 'info';

export interface Requirement {
  readonly id: string;
  /** The section of the specification, or "ruling" if the specification is silent and the project decides. */
  readonly section: string;
  readonly level: Level;
  /** Who must meet the requirement. A run against an endpoint can judge only requirements of the receiver. */
  readonly subject: 'receiver' | 'sender' | 'operator';
  readonly text: string;
  /** Why no scenario judges the requirement. If its subject is the receiver, reports list it as "not verified". */
  readonly untested?: string;
}

const SENDER = 'It binds the sender, and the tests of the sender core and of the notification schemas prove it.';
const SERVICE = 'It binds the service, which decides what is sent. The answers of a receiver cannot show it.';
const OPERATOR = 'It binds the operator and is not part of a delivery.';
const CLIENT_CERTIFICATE = 'It binds the operator. The sender core checks the configured client certificate.';
const REVOCATION = 'Checking this would require a request to the CA, which is not part of the endpoint.';
const PUBLIC_AUTHORITIES =
  'Checking this would require a client certificate from a public CA. The CAs that the server names in its ' +
  'certificate request are recorded.';

export const REQUIREMENTS = [
  // Delivery and answer
  {
    id: 'delivery-post',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint accepts HTTP POST at the registered URL.',
  },
  {
    id: 'delivery-200',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers an accepted notification with 200 and no other status.',
  },
  {
    id: 'delivery-content-type',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'A JSON body with Content-Type application/json is accepted.',
  },
  {
    id: 'delivery-content-type-spelling',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'The letter case of Content-Type and a charset parameter do not matter.',
  },
  {
    id: 'delivery-content-type-sent',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'sender',
    text: 'Every delivery has the header Content-Type: application/json.',
    untested: SENDER,
  },
  {
    id: 'delivery-custom-headers',
    section: 'Further',
    level: 'must',
    subject: 'receiver',
    text: 'Custom headers that are configured for the partner do not affect a delivery.',
  },
  {
    id: 'delivery-custom-headers-sent',
    section: 'Further',
    level: 'must',
    subject: 'sender',
    text: 'The custom headers that are configured for the partner are added to every delivery.',
    untested: SENDER,
  },
  {
    id: 'delivery-unknown-headers',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'Unknown headers, such as those that proxies and tracing add, do not affect a delivery.',
  },
  {
    id: 'delivery-header-case',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'Header names are case-insensitive, and whitespace around a value is not part of it, as in HTTP.',
  },
  {
    id: 'delivery-malformed',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint handles a malformed payload: no 5xx, no hang, no reset, no dead process.',
  },
  {
    id: 'delivery-malformed-unsigned',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint rejects a malformed payload without valid credentials like any other unauthenticated delivery.',
  },
  {
    id: 'delivery-no-redirect',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers without a redirect: the sender does not follow redirects.',
  },
  {
    id: 'delivery-in-time',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers within the timeout of the sender, and should answer within five seconds.',
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
    text: 'A valid delivery is accepted however its bytes arrive (in pieces, chunked, on a reused connection).',
  },
  {
    id: 'delivery-hostile-http',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'A malformed or unfinished HTTP request does not affect other deliveries.',
  },
  {
    id: 'delivery-elsewhere',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text:
      'No delivery without valid credentials is accepted at a URL other than the registered one (another path, an ' +
      'added query string). A 3xx, a 4xx or the page that every other path serves is correct.',
  },
  {
    id: 'delivery-content-length',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'sender',
    text: 'A delivery has a Content-Length.',
    untested: SENDER,
  },
  {
    id: 'delivery-size',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text:
      'The specification states no maximum size. Bodies of up to 16 kB are accepted, and larger ones are ' +
      'accepted or clearly rejected.',
  },
  {
    id: 'delivery-effect',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'A valid delivery is processed, and a rejected one has no effect.',
  },

  // Repetition and order
  {
    id: 'repeat-duplicate',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'A repeated notification gets 200 again: a sender can promise delivery at least once, not exactly once.',
  },
  {
    id: 'repeat-once',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'A notification that is delivered twice is processed once.',
  },
  {
    id: 'repeat-by-id',
    section: 'Notification envelope',
    level: 'must',
    subject: 'receiver',
    text:
      'The id identifies a notification: notifications with different ids are different, even if their data is ' +
      'the same.',
  },
  {
    id: 'repeat-not-poisoned',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'A rejected delivery does not prevent the valid notification with the same id from being accepted.',
  },
  {
    id: 'repeat-order',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'Notifications of one transaction are accepted in any order.',
  },
  {
    id: 'transitions-open',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text:
      'Transitions between statuses that the specification does not show, and a first notification at any ' +
      'status, are accepted.',
  },
  {
    id: 'ids-unknown',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'A valid delivery with an id that the receiver does not know is accepted, or rejected with 404, 409 or 422.',
  },
  {
    id: 'repeat-burst',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'Concurrent deliveries are accepted, and each gets its own correct answer.',
  },

  // HMAC
  {
    id: 'hmac-invalid',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers 401 to a delivery with an invalid signature.',
  },
  {
    id: 'hmac-missing',
    section: 'Delivery endpoint',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers 401 to a delivery without the required signature.',
  },
  {
    id: 'hmac-algorithm',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is HMAC with SHA-256, keyed with the secret in UTF-8. No other algorithm is accepted.',
  },
  {
    id: 'hmac-raw-body',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is computed over the exact bytes of the body as received.',
  },
  {
    id: 'hmac-base64',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is in standard Base64. No other encoding is accepted.',
  },
  {
    id: 'hmac-header',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'The signature is read only from the configured header, X-Service-Signature by default.',
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
    text: 'Only the agreed secret is valid. An empty, unset or placeholder secret is not.',
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
    untested: 'Timing over a network proves nothing. Check the code for a constant-time comparison.',
  },
  {
    id: 'hmac-secret-length',
    section: 'Limits',
    level: 'should',
    subject: 'operator',
    text: 'The secret has at least 32 characters.',
    untested: 'The answers of an endpoint do not show it. The harness warns about a short secret.',
  },
  {
    id: 'hmac-secret-custody',
    section: 'HMAC signature',
    level: 'must',
    subject: 'receiver',
    text: 'Secrets are kept out of code and logs, and are rotated regularly.',
  },
  {
    id: 'rotation-overlap',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'While a secret is being rotated, deliveries that are signed with the old or the new secret are accepted.',
  },
  {
    id: 'rotation-end',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'After a rotation, only the new secret is valid.',
  },
  {
    id: 'log-privacy',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'Logs do not contain whole notifications or personal fields.',
  },
  {
    id: 'no-leak',
    section: 'ruling',
    level: 'must',
    subject: 'receiver',
    text: 'No answer contains a secret, a key or the expected signature.',
  },
  {
    id: 'no-hints',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'No answer helps an attacker: rejections cannot be distinguished, and internals are not visible.',
  },

  // API key
  {
    id: 'key-invalid',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers 401 to a delivery with an invalid API key.',
  },
  {
    id: 'key-missing',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'The endpoint answers 401 to a delivery without the required API key.',
  },
  {
    id: 'key-exact',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'The whole API key is compared exactly.',
  },
  {
    id: 'key-header',
    section: 'API key header',
    level: 'must',
    subject: 'receiver',
    text: 'The API key is read only from the configured header.',
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
    text: 'Each enabled security feature is required on its own: a valid credential does not replace another one.',
  },
  {
    id: 'https-in-production',
    section: 'Authentication',
    level: 'must',
    subject: 'operator',
    text: 'Production deliveries use HTTPS.',
    untested: 'The sender core warns about plain HTTP outside loopback when it reads the configuration.',
  },

  // Envelope and types
  {
    id: 'envelope-fields',
    section: 'Notification envelope',
    level: 'must',
    subject: 'receiver',
    text: 'Notifications with id, type, at and data are accepted, in each of the five types.',
  },
  {
    id: 'envelope-id',
    section: 'Notification envelope',
    level: 'must',
    subject: 'receiver',
    text: 'The id is a UUID. No version is stated, so every version is accepted.',
  },
  {
    id: 'envelope-id-case',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'The id may be in any letter case: the specification states none.',
  },
  {
    id: 'envelope-at',
    section: 'Notification envelope',
    level: 'must',
    subject: 'receiver',
    text:
      'The time is in epoch seconds for CAAS, PAYMENT_METHOD and REFUND, and in ISO 8601 (UTC) for WALLET and ' +
      'CAAS_BLOCKCHAIN.',
  },
  {
    id: 'envelope-at-open',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text:
      'Notifications are accepted whatever their time is, with any number of fractional digits, and with Z or ' +
      '+00:00.',
  },
  {
    id: 'envelope-sent',
    section: 'Notification envelope',
    level: 'must',
    subject: 'sender',
    text: 'Notifications have the fields, types and values that the specification lists, and each has its own id.',
    untested: SENDER,
  },
  {
    id: 'events-sent',
    section: 'Events',
    level: 'must',
    subject: 'sender',
    text: 'A notification is sent for every event that the specification lists, for success and for failure.',
    untested: SERVICE,
  },
  {
    id: 'envelope-open',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'Unknown fields, types and statuses are accepted.',
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
    section: 'Error objects in notifications',
    level: 'must',
    subject: 'receiver',
    text: 'A failed order has errorData with code and message, and is accepted.',
  },
  {
    id: 'caas-optional',
    section: 'type = CAAS',
    level: 'must',
    subject: 'receiver',
    text:
      'The specification does not show which fields of blockchainData are filled at which status. Absent and ' +
      'empty fields are accepted.',
  },
  {
    id: 'values-absent',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'A null where the specification says string, and the absence of an object without content, are accepted.',
  },
  {
    id: 'caas-tracking',
    section: 'type = CAAS',
    level: 'must',
    subject: 'receiver',
    text: 'ORDER_TRACKING notifications with errorData null are accepted: COMPLETED and EXPIRED, of a BUY or a SELL.',
  },
  {
    id: 'caas-hash-follows',
    section: 'Order status',
    level: 'must',
    subject: 'receiver',
    text: 'BLOCKCHAIN_ACCEPTED without the transaction hash, and a later notification with it, are both accepted.',
  },
  {
    id: 'caas-hash-sent',
    section: 'Order status',
    level: 'must',
    subject: 'sender',
    text: 'After BLOCKCHAIN_ACCEPTED, a further notification has the transaction hash in blockchainTransactionId.',
    untested: SERVICE,
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
    text: 'The amount of a refund is a decimal string with any number of decimal places.',
  },
  {
    id: 'refund-order',
    section: 'Refund status',
    level: 'must',
    subject: 'receiver',
    text:
      'When a refund is reported, the CAAS SELL notification of the failure comes first. Both are accepted in ' +
      'this order.',
  },
  {
    id: 'refund-condition',
    section: 'Refund status',
    level: 'must',
    subject: 'sender',
    text:
      'A refund happens only when an external sell fails after the crypto was received from the external wallet,' +
      ' and a refund wallet address was given.',
    untested: SERVICE,
  },
  {
    id: 'refund-sequence',
    section: 'Refund status',
    level: 'must',
    subject: 'sender',
    text: 'The CAAS SELL notification of the failure is sent before the REFUND notification.',
    untested: SERVICE,
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
    text: 'PAYMENT_METHOD is sent for STAGED and DECLINED only, and has an errorCode only for DECLINED.',
    untested: SENDER,
  },
  {
    id: 'wallet-shape',
    section: 'type = WALLET',
    level: 'must',
    subject: 'receiver',
    text: 'WALLET notifications (WALLET_CREATED) are accepted, one for each wallet of a customer.',
  },
  {
    id: 'wallet-enabled',
    section: 'Endpoints referenced as triggers',
    level: 'must',
    subject: 'operator',
    text: 'WALLET notifications are sent only when the feature is enabled for the partner.',
    untested: OPERATOR,
  },
  {
    id: 'tracking-physical',
    section: 'type = CAAS',
    level: 'must',
    subject: 'sender',
    text:
      'ORDER_TRACKING is sent only for providers where the user goes to a physical location, when the provider ' +
      'reports the result of that step.',
    untested: SERVICE,
  },
  {
    id: 'deposit-shape',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'must',
    subject: 'receiver',
    text: 'CAAS_BLOCKCHAIN notifications (RECEIVE) are accepted, on-chain and within the custodial ledger.',
  },
  {
    id: 'deposit-amount',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'must',
    subject: 'receiver',
    text: 'The amount is a string in atomic units; by ruling, up to 38 digits are accepted.',
  },
  {
    id: 'amount-size',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'Amounts of more than 38 digits are accepted or clearly rejected.',
  },
  {
    id: 'deposit-amount-precise',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'must',
    subject: 'receiver',
    text: 'Amounts keep every digit when they are converted to display units.',
  },
  {
    id: 'deposit-typo',
    section: 'type = CAAS_BLOCKCHAIN',
    level: 'must',
    subject: 'receiver',
    text: 'The hash of a deposit is accepted under the misspelt key blockchainTransctionId, as in the sample payload.',
  },
  {
    id: 'deposit-both-keys',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'A deposit that has both spellings of the key is accepted. The correct spelling wins.',
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
    section: 'Error objects in notifications',
    level: 'must',
    subject: 'receiver',
    text: 'The listed codes are examples: unlisted codes, and codes with a two-digit middle group, are accepted.',
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
    text: 'The certificate is valid and was issued by a trusted CA.',
  },
  {
    id: 'tls-chain',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'The full chain is served when intermediates are used, and no certificate in it has expired.',
  },
  {
    id: 'tls-key',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'Keys are RSA with at least 2048 bits, or an equivalent ECDSA key: P-224 or stronger.',
  },
  {
    id: 'mtls-verified',
    section: 'TLS',
    level: 'must',
    subject: 'receiver',
    text: 'With mutual TLS, client certificates are verified against the issuing CA.',
  },
  {
    id: 'tls-http1',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'The endpoint supports HTTP/1.1 over TLS, which the sender uses.',
  },
  {
    id: 'tls-strength',
    section: 'ruling',
    level: 'should',
    subject: 'receiver',
    text: 'Broken cipher suites and compression are disabled. The sender offers neither.',
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
    text: 'With mutual TLS, certificates from other CAs are rejected, including public ones.',
    untested: PUBLIC_AUTHORITIES,
  },
  {
    id: 'mtls-format',
    section: 'TLS',
    level: 'must',
    subject: 'operator',
    text: 'Client certificates are in PEM or DER format.',
    untested: CLIENT_CERTIFICATE,
  },
  {
    id: 'mtls-key',
    section: 'TLS',
    level: 'must',
    subject: 'operator',
    text: 'The key of a client certificate is RSA with at least 2048 bits, or an equivalent ECDSA key.',
    untested: CLIENT_CERTIFICATE,
  },
  {
    id: 'mtls-expiry',
    section: 'TLS',
    level: 'must',
    subject: 'operator',
    text: 'Client certificates have not expired.',
    untested: CLIENT_CERTIFICATE,
  },
  {
    id: 'mtls-chain',
    section: 'TLS',
    level: 'must',
    subject: 'operator',
    text: 'A client certificate comes with its full chain when intermediates are used.',
    untested: CLIENT_CERTIFICATE,
  },
] as const satisfies readonly Requirement[];

/** Id of a requirement in the register. */
export type RequirementId = (typeof REQUIREMENTS)[number]['id'];

const BY_ID: ReadonlyMap<string, Requirement> = new Map(REQUIREMENTS.map((entry) => [entry.id, entry]));

/** Finds the requirement with this id. */
export function requirement(id: string): Requirement | undefined {
  return BY_ID.get(id);
}
