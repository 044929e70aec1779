/**
 * Checks the signature as a pure function. Copy this file first when you write your own receiver. Specification: HMAC
 * signature.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The index of the secret that matched, or the reason to reject the delivery. Log the reason, but never send it. */
export type SignatureCheck =
  | { readonly ok: true; readonly secretIndex: number }
  | { readonly ok: false; readonly reason: 'missing' | 'malformed' | 'mismatch' };

/**
 * Standard base64 of 32 bytes: 43 characters and one `=`. The 43rd character has two unused bits. They must be zero, so
 * that each digest has only one spelling instead of four.
 */
const SIGNATURE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Checks the signature header of a delivery: HMAC-SHA256 over the body, in standard base64.
 *
 * - `rawBody` is the body exactly as received, before any parser or decoder.
 * - `header` is the value as Node returns it. A repeated header is rejected, whether it is an array or joined by Node
 *   as `a, b`.
 * - `secrets` are all valid secrets: two during a rotation. An empty secret never matches.
 *
 * Never throws, whatever the header contains.
 *
 * @example
 * const result = verifySignature({ rawBody, header: req.headers['x-service-signature'], secrets: [secret] });
 * if (!result.ok) return res.status(401).end();
 */
export function verifySignature(input: {
  readonly rawBody: Uint8Array;
  readonly header: string | readonly string[] | undefined;
  readonly secrets: readonly string[];
}): SignatureCheck {
  const { rawBody, header, secrets } = input;
  const fault = signatureFault(header);
  if (fault !== undefined) return { ok: false, reason: fault };

  // The pattern guarantees 32 bytes, the length of a SHA-256 digest. Without such a check, timingSafeEqual would throw
  // for other lengths.
  const presented = Buffer.from(header as string, 'base64');
  let secretIndex = -1;
  for (const [index, secret] of secrets.entries()) {
    // Anyone can compute the HMAC with an empty key, so an unset variable must not become a secret.
    if (secret === '') continue;
    const expected = createHmac('sha256', secret).update(rawBody).digest();
    // No early exit, so that the duration does not reveal which secret matched.
    if (timingSafeEqual(presented, expected) && secretIndex === -1) secretIndex = index;
  }
  return secretIndex === -1 ? { ok: false, reason: 'mismatch' } : { ok: true, secretIndex };
}

/**
 * Returns why a header cannot be a signature, whatever the body and the secrets are. Returns undefined when it can be
 * one.
 */
export function signatureFault(header: string | readonly string[] | undefined): 'missing' | 'malformed' | undefined {
  if (header === undefined || header === '') return 'missing';
  return typeof header === 'string' && SIGNATURE.test(header) ? undefined : 'malformed';
}
