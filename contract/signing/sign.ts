/** How a delivery is signed. Specification: Authentication, HMAC signature. */
import { createHmac } from 'node:crypto';

/** Returns the HMAC key: the UTF-8 bytes of the secret as configured. Nothing is decoded, trimmed or added. */
export function signingKey(secret: string): Uint8Array {
  return Buffer.from(secret, 'utf8');
}

/** Computes the HMAC of a body, as raw bytes. `algorithm` is a digest name that node:crypto knows. */
export function hmac(body: Uint8Array, key: string | Uint8Array, algorithm = 'sha256'): Buffer {
  return createHmac(algorithm, key).update(body).digest();
}

/** Encodes as standard base64 with padding, the only correct encoding of the digest. */
export function toBase64(digest: Buffer): string {
  return digest.toString('base64');
}

/** Returns the value of the signature header for the exact bytes of a body. */
export function signatureOf(body: Uint8Array, secret: string): string {
  // Node encodes a text key as UTF-8, as signingKey does. One call is faster, and a sender signs every delivery.
  return createHmac('sha256', secret).update(body).digest('base64');
}
