/** Why a receiver does not accept a delivery: the codes that logs, the inspector and the proxy print. */
export const DELIVERY_REASONS = {
  'signature-missing': 'The delivery has no signature.',
  'signature-malformed': 'The value of the signature header is not a signature.',
  'signature-mismatch': 'The signature does not match these bytes and this secret.',
  'signature-out-of-tolerance': 'The signed time differs too much from the clock of this receiver.',
  'api-key-missing': 'The delivery has no API key.',
  'api-key-malformed': 'The API key was sent more than once.',
  'api-key-mismatch': 'The API key is not the one configured here.',
  'client-certificate-missing': 'The sender presented no client certificate.',
  'client-certificate-untrusted': 'The client certificate is not one that this receiver trusts.',
  'client-certificate-not-allowed': 'The client certificate is valid, but its name is not allowed.',
  'client-certificate-not-from-proxy': 'The delivery did not come through the proxy that verifies client certificates.',
  'not-found': 'The path is not the configured one.',
  'method-not-allowed': 'The method is not POST.',
  'body-too-large': 'The body is larger than this receiver accepts.',
  'content-type-not-json': 'The content type is not JSON.',
  'content-encoding-not-supported': 'The body is compressed.',
  'body-not-utf8': 'The body is not UTF-8.',
  'body-not-json': 'The body is not JSON.',
  'not-a-notification': 'The body is JSON, but not a notification.',
  'inbox-failed': 'The notification could not be stored, so it was not accepted.',
  'sink-failed': 'The notification could not be stored, so it was not accepted.',
  'internal-error': 'This receiver failed. The delivery may be valid.',
  'connection-closed': 'The sender closed the connection before it received the answer.',
  'not-http': 'The bytes are not an HTTP/1 request.',
  'body-not-kept': 'The request was too large to be kept, so its signature was not checked here.',
} as const;

/** Why the answer of a receiver behind the proxy is not the expected one. */
export const ANSWER_REASONS = {
  'accepted-although-invalid': 'The receiver accepted a delivery whose credentials are not valid.',
  'refused-although-valid': 'The receiver rejected a delivery whose credentials are valid.',
} as const;

export type DeliveryReason = keyof typeof DELIVERY_REASONS;

export function isDeliveryReason(code: string): code is DeliveryReason {
  return Object.hasOwn(DELIVERY_REASONS, code);
}
