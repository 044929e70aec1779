/**
 * Limits. Specification: Limits; Authentication. The answer times are rulings: the specification does not state any.
 */
export const LIMITS = {
  /** Characters of the HMAC secret that are recommended at least. */
  recommendedSecretLength: 32,
  /** Bits of an RSA key at least; an ECDSA key of equivalent strength is as good. */
  minimumRsaBits: 2048,
  /** The lowest TLS version, as node:tls names it. */
  minimumTlsVersion: 'TLSv1.2',
  /** Milliseconds after which an answer counts as missing (ruling). */
  answerTimeoutMs: 10_000,
  /** Milliseconds after which an answer counts as slow (ruling). */
  slowAnswerMs: 5_000,
} as const;
