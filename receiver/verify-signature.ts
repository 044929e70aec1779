/** Checks the signature as a pure function: copy this file first. Specification: HMAC signature. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The index of the secret that matched, or why the delivery is rejected: for the log, never for the answer. */
export type SignatureCheck =
  | { readonly ok: true; readonly secretIndex: number }
  | { readonly ok: false; readonly reason: 'missing' | 'malformed' | 'mismatch' };

/**
 * 32 bytes in standard base64: 43 characters and one `=`. The 43rd character has two unused bits, which must be zero so
 * that a digest has one spelling and not four.
 */
const SIGNATURE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Checks the signature header of a delivery: HMAC-SHA256 over the body, in standard base64.
 *
 * - `rawBody` is the body exactly as received, before any parser or decoder.
 * - `header` is the value as Node returns it. An array (a repeated header) is rejected, and so is the `a, b` into which
 *   Node joins repeated lines.
 * - `secrets` are all secrets that are valid now: two during a rotation. An empty one never matches.
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

  // The pattern guarantees 32 bytes, the length of a SHA-256 digest. Do not call timingSafeEqual without such a check,
  // because it throws on different lengths.
  const presented = Buffer.from(header as string, 'base64');
  let secretIndex = -1;
  for (const [index, secret] of secrets.entries()) {
    // Anyone can compute the HMAC under an empty key, so an unset variable must not become a secret.
    if (secret === '') continue;
    const expected = createHmac('sha256', secret).update(rawBody).digest();
    // There is no early exit, so that the duration does not reveal which secret matched.
    if (timingSafeEqual(presented, expected) && secretIndex === -1) secretIndex = index;
  }
  return secretIndex === -1 ? { ok: false, reason: 'mismatch' } : { ok: true, secretIndex };
}

/** Returns why a header cannot be a signature, whatever the body and the secrets are. Undefined when it can be one. */
export function signatureFault(header: string | readonly string[] | undefined): 'missing' | 'malformed' | undefined {
  if (header === undefined || header === '') return 'missing';
  return typeof header === 'string' && SIGNATURE.test(header) ? undefined : 'malformed';
}
