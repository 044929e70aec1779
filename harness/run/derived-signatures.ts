/** Values that a probe carries in place of the right signature, and from which it can still be read: redaction has to know them too. */
import type { Assembled } from './assemble.ts';

/** A value that shares this many characters with a spelling of the right signature was made from it. */
const TELLING_LENGTH = 16;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The right signature, and what is made of it by encoding it twice; redaction finds the simple encodings by itself. */
function spellings(right: string): string[] {
  const hex = Buffer.from(right, 'base64').toString('hex');
  return [right, base64(right), base64(hex), base64(hex.toUpperCase())];
}

function shares(value: string, spelling: string): boolean {
  for (let at = 0; at + TELLING_LENGTH <= spelling.length; at++) {
    if (value.includes(spelling.slice(at, at + TELLING_LENGTH))) return true;
  }
  return false;
}

/** The pieces of the request's headers that give most of the right signature away and are not the right signature itself. */
export function derivedSignatures({ prepared, rightSignature, change }: Assembled): string[] {
  if (rightSignature === null || (change.sign === undefined && change.address === undefined)) return [];
  const known = spellings(rightSignature);
  return prepared.headers
    .flatMap(([, value]) => value.split(/[^A-Za-z0-9+/_=-]+/))
    .filter((piece) => piece.length >= TELLING_LENGTH && piece !== rightSignature)
    .filter((piece) => known.some((spelling) => shares(piece, spelling)));
}
