/** Canonical JSON (RFC 8785): the same value always has the same bytes and the same digest. */

import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Matches a lone surrogate as `JSON.stringify` escapes it. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

/**
 * Returns the canonical text of a value. Keys with the value undefined are omitted.
 *
 * @throws Error if the value contains a number that is not finite, or a lone surrogate
 */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value) ?? '';
  if (LONE_SURROGATE.test(text)) throw new TypeError('the value contains a lone surrogate');
  return text;
}

/** Returns the SHA-256 digest in lower-case hexadecimal. Certificates contain no other kind of digest. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
