/** Ids of the mistakes that several other mistakes imply. */
import { ids } from './mistake.ts';

/** Mistakes that the checks also find in a receiver that accepts an unsigned delivery, or that fails on one. */
export const UNSIGNED = ids(
  'verification-per-type verification-per-content-type verification-per-framing verification-per-method',
  'verification-per-path parsing-before-verification spoofed-client-address spoofed-request-header',
  'test-mode-from-request foreign-handshake other-credential-suffices other-signature-place',
  'request-overwrites-state algorithm-from-request unset-secret payload-merged-into-prototype',
  'lookup-before-verification state-outlives-request distinct-refusals state-shared-by-requests',
  'remembered-before-checks empty-body-unhandled',
);

/** Mistakes that the checks also find in a receiver that does not verify signatures. */
export const FORGED_SIGNATURES = ids(
  'absent-signature-passes signature-check-throws signature-format-only several-signatures',
  'surrounding-text-ignored signature-used-as-pattern signature-treated-as-url-text base64-variant',
  'wrong-digest-encoding digest-handled-as-text foreign-signature-format other-signature-place',
  'algorithm-from-request confused-credentials verification-fails-open partial-comparison one-credential-enough',
  'request-overwrites-state parsing-before-verification verification-per-type raw-body-fallback',
  'signed-part-of-body test-mode-from-request well-known-secret unset-secret spoofed-request-header',
  'spoofed-client-address verification-per-path verification-per-framing other-hmac-hash hash-instead-of-hmac',
  'foreign-handshake converted-secret verification-per-content-type state-shared-by-requests',
  'payload-merged-into-prototype other-credential-suffices lossy-body-text hand-written-comparison',
  'verification-per-method verdict-kept-by-id unread-body-verified swapped-hmac-arguments state-outlives-request',
  'signature-letter-case shortened-secret secret-with-extra-characters remembered-before-checks',
  'lookup-before-verification cached-verification serial-body-reads known-id-revealed imitated-body-format',
  'failures-lock-out empty-body-unhandled distinct-refusals decoded-body body-left-unread body-as-c-string',
);

/** Mistakes that the checks also find in a receiver that does not check API keys. */
export const FORGED_KEYS = ids(
  'unread-key optional-key one-credential-enough request-chooses-credentials failures-lock-out body-left-unread',
  'key-from-other-place partial-key-comparison conditional-key-check altered-key unset-key key-exempt-claims',
  'key-as-pattern key-check-throws remembered-before-checks key-as-list named-expected-key key-in-sql',
  'key-checked-late key-as-property distinct-refusals derived-key-comparison',
);

/** Mistakes that the checks also find in a receiver that rejects a kind of notification, whatever its content. */
export const REJECTED_KINDS = ids(
  'optional-data-required unknown-values-rejected unknown-fields-forbidden error-code-restricted misspelt-hash-key',
  'narrow-value-format narrow-amount-type fixed-time-format valid-text-rejected body-content-filter',
  'local-calendar-time copy-rejected copies-by-content colliding-updates transition-rejected refund-as-sell-state',
  'unique-payload-field cash-step-as-order-status id-form-assumed',
);
