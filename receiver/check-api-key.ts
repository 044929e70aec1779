/** Checks the API key as a pure function. Specification: API key header. */
import { hash, timingSafeEqual } from 'node:crypto';

/** The index of the key that matched, or the reason to reject the delivery. Log the reason, but never send it. */
export type ApiKeyCheck =
  | { readonly ok: true; readonly keyIndex: number }
  | { readonly ok: false; readonly reason: 'missing' | 'malformed' | 'mismatch' };

/**
 * Compares the whole API key header exactly with every valid key (two during a rotation). A repeated header (an array)
 * is rejected. An empty key never matches, because an empty header counts as missing. Never throws.
 */
export function checkApiKey(input: {
  readonly header: string | readonly string[] | undefined;
  readonly keys: readonly string[];
}): ApiKeyCheck {
  const { header, keys } = input;
  if (header === undefined || header === '') return { ok: false, reason: 'missing' };
  if (typeof header !== 'string') return { ok: false, reason: 'malformed' };

  // Digests have equal lengths, so the comparison cannot throw and does not reveal the length of a key.
  const presented = sha256(header);
  let keyIndex = -1;
  for (const [index, key] of keys.entries()) {
    if (timingSafeEqual(presented, sha256(key)) && keyIndex === -1) keyIndex = index;
  }
  return keyIndex === -1 ? { ok: false, reason: 'mismatch' } : { ok: true, keyIndex };
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
