/** What a DER structure is, by its outline. */
import { type PeekedElement, peekElement, peekParts } from '../der/peek-der.ts';
import { TAG } from '../der/tags.ts';

export type DerKind =
  | 'certificate'
  | 'request'
  | 'revocation-list'
  | 'pkcs8'
  | 'encrypted-pkcs8'
  | 'pkcs1'
  | 'sec1'
  | 'dsa'
  | 'public-key'
  | 'pkcs7'
  | 'pkcs12'
  | 'unknown';

/** Object identifiers as the hexadecimal text of their content. */
const PKCS7 = '2a864886f70d0107';
const PASSWORD_BASED = ['2a864886f70d0105', '2a864886f70d010c01'];

/** The kind of a structure; most kinds are known even when the end is missing. */
export function derKind(bytes: Uint8Array): DerKind {
  const root = peekElement(bytes);
  if (root?.tag !== TAG.sequence) return 'unknown';
  const parts = peekParts(root);
  const [first, second] = parts;
  if (first?.tag === TAG.sequence) return second?.tag === TAG.octetString ? encrypted(first) : signedKind(first, parts);
  if (first?.tag === TAG.objectId) return hex(first).startsWith(PKCS7) ? 'pkcs7' : 'unknown';
  return first?.tag === TAG.integer ? numberedKind(first, parts) : 'unknown';
}

/** What begins with a number: the version, or the modulus of a public key. */
function numberedKind(first: PeekedElement, [, second, ...rest]: readonly PeekedElement[]): DerKind {
  const version = first.content.length === 1 ? first.content[0] : undefined;
  switch (second?.tag) {
    case TAG.sequence:
      return version === 3 ? 'pkcs12' : rest[0]?.tag === TAG.octetString || version === 0 ? 'pkcs8' : 'unknown';
    case TAG.octetString:
      return version === 1 ? 'sec1' : 'unknown';
    case TAG.integer: {
      const integers = rest.filter(({ tag }) => tag === TAG.integer).length;
      if (version !== 0) return rest.length === 0 ? 'public-key' : 'unknown';
      return integers === 4 && rest.length === 4 ? 'dsa' : 'pkcs1';
    }
    default:
      return 'unknown';
  }
}

function encrypted(algorithm: PeekedElement): DerKind {
  const [oid] = peekParts(algorithm);
  return oid !== undefined && PASSWORD_BASED.some((prefix) => hex(oid).startsWith(prefix))
    ? 'encrypted-pkcs8'
    : 'unknown';
}

/** What begins with a structure: a public key, or something that is signed. */
function signedKind(first: PeekedElement, parts: readonly PeekedElement[]): DerKind {
  const tags = peekParts(first).map(({ tag }) => tag);
  if (tags[0] === TAG.objectId) return parts[1]?.tag === TAG.bitString ? 'public-key' : 'unknown';
  if (tags[0] === TAG.context0) return 'certificate';
  const [one, two, three, four] = tags[0] === TAG.integer ? tags.slice(1) : tags;
  if (one !== TAG.sequence || two !== TAG.sequence) return 'unknown';
  if (isTime(three)) return 'revocation-list';
  if (three === TAG.context0) return 'request';
  // A certificate of version 1 goes on with validity and subject.
  return three === TAG.sequence && four === TAG.sequence ? 'certificate' : 'unknown';
}

function isTime(tag: number | undefined): boolean {
  return tag === TAG.utcTime || tag === TAG.generalizedTime;
}

function hex({ content }: PeekedElement): string {
  return Buffer.from(content.subarray(0, 16)).toString('hex');
}
