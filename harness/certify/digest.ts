/** SHA-256 in lower-case hexadecimal: the only digest that certificates use. */
import { createHash } from 'node:crypto';

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
