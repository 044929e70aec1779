/**
 * The headers and limits of a delivery. Specification: Delivery endpoint; Authentication; Limits.
 */

/** One header line as it is sent: order, letter case and repetition are kept. */
export type HeaderLine = readonly [name: string, value: string];

/** The default name of the header that carries the HMAC signature. A partner may configure another. */
export const DEFAULT_SIGNATURE_HEADER = 'X-Service-Signature';

/**
 * The default name of the header that carries the API key (a ruling: the specification shows it only as an example).
 */
export const DEFAULT_API_KEY_HEADER = 'X-API-Key';

/** The content type of every delivery. */
export const CONTENT_TYPE = 'application/json';

/**
 * Names that a partner cannot configure for the signature, the API key or a custom header, in lower case: the sender
 * or the HTTP layer sets them, and a second copy would change how the request is framed or routed.
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

/** Whether two header names are the same name: HTTP compares them without regard to letter case. */
export function sameHeaderName(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** The values of every line with this name, in order. An empty list means that the header is missing. */
export function headerValues(lines: readonly HeaderLine[], name: string): string[] {
  return lines.filter(([other]) => sameHeaderName(other, name)).map(([, value]) => value);
}

/** The answer times are rulings: the specification does not state any. */
export const LIMITS = {
  /** The recommended minimum length of the HMAC secret, in characters. */
  recommendedSecretLength: 32,
  /** The minimum size of an RSA key; an ECDSA key of equivalent strength is accepted too. */
  minimumRsaBits: 2048,
  /** The lowest TLS version, as node:tls names it. */
  minimumTlsVersion: 'TLSv1.2',
  /** Milliseconds after which an answer counts as missing (ruling). */
  answerTimeoutMs: 10_000,
  /** Milliseconds after which an answer counts as slow (ruling). */
  slowAnswerMs: 5_000,
} as const;
