/** JSON in one spelling, so that the same value always has the same bytes and the same digest (RFC 8785). Pure. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/**
 * The canonical text of a value: no white space, keys in the order of their UTF-16 units, numbers and strings as ECMAScript writes them.
 * A key with the value undefined is left out. Throws a TypeError for what JSON cannot hold: numbers that are not finite, lone surrogates.
 */
export function canonicalJson(value: Json): string {
  if (typeof value === 'string') return canonicalString(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('JSON has no such number');
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const members = Object.entries(value)
    .flatMap(([key, member]) => (member === undefined ? [] : [[key, member] as const]))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${canonicalString(key)}:${canonicalJson(member)}`).join(',')}}`;
}

function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function canonicalString(text: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new TypeError('JSON has no lone surrogates');
  return JSON.stringify(text);
}
