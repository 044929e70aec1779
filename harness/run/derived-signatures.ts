/**
 * Values that a probe carries instead of the correct signature, and from which it can still be read: redaction has to
 * know them too.
 */
import { signatureSpellings } from '../../contract/secret-spellings.ts';
import type { Assembled } from './assemble.ts';

/** A value that shares this many characters with a spelling of the correct signature was made from it. */
const MIN_SHARED = 16;

/**
 * The pieces of the request's headers that reveal most of the correct signature and are not the correct signature
 * itself.
 */
export function derivedSignatures({ prepared, rightSignature, change }: Assembled): string[] {
  if (rightSignature === null || (change.sign === undefined && change.address === undefined)) return [];
  const known = signatureSpellings(rightSignature);
  return prepared.headers
    .flatMap(([, value]) => value.split(/[^A-Za-z0-9+/_=-]+/))
    .filter((piece) => piece.length >= MIN_SHARED && piece !== rightSignature)
    .filter((piece) => known.some((spelling) => sharesRun(piece, spelling)));
}

function sharesRun(value: string, spelling: string): boolean {
  for (let at = 0; at + MIN_SHARED <= spelling.length; at++) {
    if (value.includes(spelling.slice(at, at + MIN_SHARED))) return true;
  }
  return false;
}
