/** JSON in its canonical form (RFC 8785), so that the same value always has the same bytes and the same digest. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** How `JSON.stringify` escapes a surrogate without its partner. */
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/;

/**
 * The canonical text of a value. A key with the value undefined is left out.
 *
 * @throws Error for what JSON cannot hold: numbers that are not finite, lone surrogates.
 */
export function canonicalJson(value: Json): string {
  const text = canonicalize(value) ?? '';
  if (LONE_SURROGATE.test(text)) throw new TypeError('JSON has no lone surrogates');
  return text;
}

/** SHA-256 in lower-case hexadecimal: the only digest that certificates use. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
