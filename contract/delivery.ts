/** Headers and limits of a delivery. Specification: Delivery endpoint; Authentication; Limits. */

/** A header line as sent: order, letter case and repetitions are preserved. */
export type HeaderLine = readonly [name: string, value: string];

/** Default name of the header that carries the HMAC signature. A partner can configure another name. */
export const DEFAULT_SIGNATURE_HEADER = 'X-Service-Signature';

/**
 * Default name of the header that carries the API key. The specification shows this name only in an example; hookproof
 * adopts it.
 */
export const DEFAULT_API_KEY_HEADER = 'X-API-Key';

/** Content type of every delivery. */
export const CONTENT_TYPE = 'application/json';

/**
 * Header names (in lower case) that a partner cannot configure for the signature, the API key or a custom header. The
 * sender or the HTTP layer sets them, and a second copy would change how the request is framed or routed.
 */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Matches a token (RFC 9110, 5.6.2): the name of a header or of a method. */
export const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Compares two header names case-insensitively, as HTTP does. */
export function sameHeaderName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Returns the values of every line with this name, in order. The list is empty when the header is missing. */
export function headerValues(lines: readonly HeaderLine[], name: string): string[] {
  return lines.filter(([other]) => sameHeaderName(other, name)).map(([, value]) => value);
}

/** Limits of a delivery. The specification states no response times; hookproof defines them. */
export const LIMITS = {
  /** Recommended minimum length of the HMAC secret, in characters. */
  recommendedSecretLength: 32,
  /** Minimum size of an RSA key, in bits. An ECDSA key of equivalent strength is also accepted. */
  minimumRsaBits: 2048,
  /** Lowest accepted TLS version, by its node:tls name. */
  minimumTlsVersion: 'TLSv1.2',
  /** Time without an answer, in milliseconds, after which the answer counts as missing. Defined by hookproof. */
  answerTimeoutMs: 10_000,
  /** Time in milliseconds after which an answer counts as slow. Defined by hookproof. */
  slowAnswerMs: 5_000,
} as const;
