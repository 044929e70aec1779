/**
 * The specification, paraphrased statement by statement, with the register entries for each statement. A statement
 * without entries says why. A test checks that every entry that names a section belongs to a statement of that section.
 */
import type { RequirementId } from './requirements.ts';

export interface Statement {
  readonly section: string;
  /** The statement, in our own words. */
  readonly says: string;
  /** The ids of the register entries. Entries of the section "ruling" decide what the statement leaves open. */
  readonly entries: readonly RequirementId[];
  /** Why the statement has no entry. */
  readonly none?: string;
}

const NOTHING_TO_CHECK = 'It describes the service, and requires nothing that a delivery could show.';

function section(
  name: string,
  ...statements: readonly (readonly [says: string, entries: readonly RequirementId[] | string])[]
): readonly Statement[] {
  return statements.map(([says, entries]) =>
    typeof entries === 'string'
      ? { section: name, says, entries: [], none: entries }
      : { section: name, says, entries },
  );
}

export const STATEMENTS: readonly Statement[] = [
  ...section(
    'What the service does',
    ['Notifications are sent by POST to the URL that the partner registered.', ['delivery-post']],
    ['A notification is sent whenever a transaction is completed, successfully or not.', ['events-sent']],
    [
      'Notifications share one envelope, and the type fixes the structure of data.',
      ['envelope-fields', 'envelope-sent'],
    ],
    ['HMAC, TLS and an API key can be enabled in any combination.', ['features-independent']],
    ['The operator configures URL, secret, key, header names, custom headers and certificates.', NOTHING_TO_CHECK],
  ),
  ...section(
    'Notification envelope',
    [
      'id: a string, a unique identifier in the form of a UUID.',
      ['repeat-by-id', 'envelope-sent', 'envelope-id', 'envelope-id-case'],
    ],
    ['type: one of five values.', ['envelope-fields', 'envelope-sent', 'envelope-open']],
    ['at: epoch seconds for three types, ISO 8601 in UTC for two.', ['envelope-at', 'envelope-at-open']],
    ['data: an object.', ['envelope-fields', 'envelope-sent']],
  ),
  ...section(
    'type = CAAS',
    ['BUY and SELL: providerId, transactionId, orderStatus and blockchainData.', ['caas-buy', 'caas-sell']],
    ['The fields of blockchainData are strings.', ['envelope-sent', 'values-absent']],
    ['Which of them are filled at which status is not shown.', ['caas-optional']],
    ['errorData is an object or null: filled for failures, null for ORDER_TRACKING.', ['caas-failed', 'caas-tracking']],
    ['ORDER_TRACKING: five fields in metadata, with two statuses and two flows.', ['caas-tracking']],
    ['ORDER_TRACKING is used only for physical sites, when the provider reports the step.', ['tracking-physical']],
  ),
  ...section(
    'type = REFUND',
    ['status SUCCESS with the transaction id, or FAIL with errorData.', ['refund-shapes', 'values-absent']],
    ['amount: decimal text.', ['refund-amount', 'amount-size']],
  ),
  ...section(
    'type = PAYMENT_METHOD',
    ['Only DECLINED and STAGED are sent.', ['payment-method-shapes', 'payment-method-only']],
    ['errorCode is filled only for DECLINED.', ['payment-method-shapes', 'payment-method-only', 'values-absent']],
  ),
  ...section('type = WALLET', [
    'operation WALLET_CREATED, with customer, address, asset and chain.',
    ['wallet-shape', 'envelope-open'],
  ]),
  ...section(
    'type = CAAS_BLOCKCHAIN',
    ['data.type RECEIVE; the list of statuses is not shown.', ['deposit-shape', 'envelope-open']],
    [
      'amount: in atomic units, converted by the receiver.',
      ['deposit-amount', 'deposit-amount-precise', 'amount-size'],
    ],
    ['The transaction hash may be omitted for deposits within the ledger.', ['deposit-shape']],
    [
      'A receiver should accept both spellings of the key; the sample has the typo.',
      ['deposit-typo', 'deposit-both-keys'],
    ],
  ),
  ...section(
    'Order status',
    ['Four statuses with a meaning; COMPLETED and FAILED also appear.', ['caas-buy', 'caas-sell', 'caas-failed']],
    ['After BLOCKCHAIN_ACCEPTED, a further notification has the hash.', ['caas-hash-follows', 'caas-hash-sent']],
    ['Transitions between order statuses are not shown.', ['transitions-open', 'repeat-order']],
  ),
  ...section(
    'Payment method status',
    ['STAGED follows successful microtransactions; DECLINED follows an error.', ['payment-method-shapes']],
    ['No notification for CREATED, VERIFIED and DELETED.', ['payment-method-only']],
    ['Other transitions are not shown.', ['transitions-open']],
  ),
  ...section(
    'Refund status',
    ['The conditions under which a refund happens.', ['refund-condition']],
    ['First the CAAS SELL failure, then the REFUND.', ['refund-sequence', 'refund-order', 'repeat-order']],
  ),
  ...section('Order tracking status', ['COMPLETED and EXPIRED.', ['caas-tracking', 'envelope-open']]),
  ...section(
    'Delivery endpoint',
    ['POST to the registered URL, with any path.', ['delivery-post', 'delivery-other-methods', 'delivery-elsewhere']],
    [
      'Content-Type: application/json, always.',
      ['delivery-content-type', 'delivery-content-type-sent', 'delivery-content-type-spelling'],
    ],
    [
      'The signature and key headers, if enabled.',
      ['hmac-when-enabled', 'key-when-configured', 'delivery-header-case'],
    ],
    ['Any configured custom headers.', ['delivery-custom-headers', 'delivery-unknown-headers']],
    ['Content-Length is sent.', ['delivery-content-length', 'delivery-framing']],
    ['The body is the JSON envelope.', ['delivery-content-type', 'envelope-fields']],
    ['200 when accepted.', ['delivery-200']],
    ['401 when the signature or the key is invalid or missing.', ['hmac-invalid', 'hmac-missing', 'key-invalid']],
    ['How the service handles the answer is not shown.', ['delivery-no-redirect', 'repeat-duplicate']],
    ['A valid webhook is processed.', ['delivery-effect', 'repeat-once', 'repeat-not-poisoned']],
    [
      'A malformed payload is handled without crashing.',
      ['delivery-malformed', 'delivery-malformed-unsigned', 'delivery-hostile-http'],
    ],
  ),
  ...section(
    'Endpoints referenced as triggers',
    ['Customer onboarding leads to one WALLET notification for each wallet.', ['wallet-shape', 'wallet-enabled']],
    ["The partner's own transaction id becomes data.transactionId.", ['ids-unknown']],
    ['Paths and shapes of the other endpoints are not shown.', NOTHING_TO_CHECK],
  ),
  ...section(
    'Authentication',
    ['Three independent features.', ['features-independent']],
    ['HTTPS is required for production; combinations are recommended.', ['https-in-production']],
  ),
  ...section(
    'HMAC signature',
    ['A shared secret, and optionally a header name.', ['hmac-secret-set', 'hmac-header']],
    ['The default header is X-Service-Signature.', ['hmac-header']],
    [
      'HMAC with SHA-256 over the exact body in UTF-8, in standard Base64.',
      ['hmac-algorithm', 'hmac-raw-body', 'hmac-base64'],
    ],
    ['The header is present only when HMAC is enabled.', ['hmac-when-enabled']],
    [
      'The receiver recomputes it over the raw body, compares in constant time, and answers 401 to a mismatch.',
      ['hmac-raw-body', 'hmac-constant-time', 'hmac-every-delivery'],
    ],
    ['Common faults: secret, encoding, header name, malformed Base64.', ['hmac-invalid', 'hmac-base64']],
    [
      'Secrets are kept out of code and logs, and rotated.',
      ['hmac-secret-custody', 'no-leak', 'no-hints', 'log-privacy', 'rotation-overlap', 'rotation-end'],
    ],
  ),
  ...section(
    'TLS',
    ['HTTPS with TLS 1.2 or higher.', ['tls-version', 'tls-strength', 'tls-http1']],
    ['A valid certificate from a trusted CA.', ['tls-trusted', 'tls-revocation']],
    ['Optional mutual TLS: the service presents a client certificate.', ['mtls-verified']],
    ['The receiver verifies client certificates against the issuing CA.', ['mtls-verified', 'mtls-one-authority']],
    ['Certificates in PEM or DER.', ['mtls-format']],
    ['RSA of at least 2048 bits, or an equivalent ECDSA key.', ['tls-key', 'mtls-key']],
    ['Certificates have not expired.', ['tls-chain', 'mtls-expiry']],
    ['The full chain is included when intermediates are used.', ['tls-chain', 'mtls-chain']],
  ),
  ...section(
    'API key header',
    ['The key is in a header with a configurable name.', ['key-header']],
    ['The header is present only when a key is configured.', ['key-when-configured']],
    [
      'The receiver compares it, and answers 401 when it is invalid or missing.',
      ['key-exact', 'key-invalid', 'key-missing'],
    ],
  ),
  ...section('Further', [
    'Custom headers are added to every delivery.',
    ['delivery-custom-headers-sent', 'delivery-custom-headers'],
  ]),
  ...section(
    'Events',
    ['When each type is emitted, and its key data.', ['events-sent']],
    ['BLOCKCHAIN_ACCEPTED is followed by the notification with the hash.', ['caas-hash-sent']],
  ),
  ...section(
    'Error objects in notifications',
    ['errorData with code and message for CAAS and REFUND.', ['caas-failed', 'refund-shapes']],
    ['errorCode for PAYMENT_METHOD.', ['payment-method-shapes']],
    ['Codes have a fixed form, one with a two-digit middle group; the list contains examples.', ['error-codes-open']],
    ['Which failure leads to which code is not shown.', NOTHING_TO_CHECK],
  ),
  ...section('Error codes', ['54 listed codes.', ['error-codes-listed']]),
  ...section(
    'Limits',
    ['At least 32 characters for the secret are recommended.', ['hmac-secret-length']],
    ['Key size of client certificates, TLS 1.2.', ['mtls-key', 'tls-version']],
    [
      'Retries, response time, rate limits and payload size are not shown.',
      ['delivery-in-time', 'repeat-burst', 'delivery-size', 'repeat-duplicate'],
    ],
  ),
  ...section('Versioning', ['The versioning scheme is not shown.', ['envelope-open']]),
];
