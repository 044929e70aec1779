/** Start-up code of every JavaScript receiver: `--port N`, and the secret and the key from the environment. */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const port = Number(process.argv[process.argv.indexOf('--port') + 1]);
export const secret = process.env.RECEIVER_SECRET ?? '';
export const apiKey = process.env.RECEIVER_API_KEY ?? '';

/** The comparison that most samples show: the HMAC in Base64, compared in constant time where the lengths agree. */
export function isSigned(body, signature) {
  const expected = Buffer.from(createHmac('sha256', secret).update(body).digest('base64'));
  const received = Buffer.from(signature ?? '');
  return expected.length === received.length && timingSafeEqual(expected, received);
}
