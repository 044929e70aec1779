/**
 * The known ways to get a signature wrong, as data. There are four kinds, one for each step of signing: which bytes are signed, what keys
 * the HMAC, which function is used, and how the digest is written. `verify`, `sign --as` and the wrong-encoding diagnosis all use these lists.
 * Each list is ordered by likelihood.
 */
export { ALGORITHMS, type AlgorithmVariant, hmacSha256 } from './algorithms.ts';
export { BODIES } from './bodies.ts';
export { type BodyReading, type BodyVariant, readBody } from './body-reading.ts';
export { BASE64, ENCODINGS, type EncodingVariant } from './encodings.ts';
export { KEYS, type KeyVariant, keyOf } from './keys.ts';
export type { SigningInput, Variant } from './variant.ts';
