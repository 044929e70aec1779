import { createHmac } from 'node:crypto';

/**
 * The sign stage: HMAC-SHA256 over the bytes, keyed with the secret as UTF-8, in standard Base64.
 * Specification: HMAC signature.
 */
export function sign(body: Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('base64');
}
