/**
 * Detects the content of a file before OpenSSL parses it, because OpenSSL reports nearly everything with the same
 * error.
 */

import { type PeekedElement, peekElement, peekParts, TAG } from '../der.ts';
import { type LineFault, type PemBlock, pemText } from './pem.ts';

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

/** Kinds of files that are neither PEM nor DER. */
export type OtherKind =
  | 'empty'
  | 'blank'
  | 'utf-16'
  | 'bare-base64'
  | 'base64-of-pem'
  | 'printed'
  | 'openssh-public-key'
  | 'putty-key'
  | 'java-keystore'
  | 'zip'
  | 'html'
  | 'xml'
  | 'json'
  | 'json-with-pem'
  | 'json-web-key'
  | 'text'
  | 'binary';

/** The detected content of a file. DER can be truncated. */
export type Sniffed =
  | { readonly form: 'pem'; readonly blocks: readonly PemBlock[] }
  | { readonly form: 'broken-pem'; readonly fault: LineFault }
  | { readonly form: 'der'; readonly kind: DerKind; readonly bytes: Buffer }
  | { readonly form: 'other'; readonly kind: OtherKind };

/** Minimum length of text to be recognised as base64. Shorter text could be a word. */
const MIN_BASE64 = 40;

/** Detects the content of a file. Ignores a UTF-8 byte order mark. Never throws. */
export function sniff(bytes: Uint8Array): Sniffed {
  const content = withoutByteOrderMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (content.length === 0) return other('empty');
  if (isUtf16(content)) return other('utf-16');
  const text = content.toString('latin1');
  if (content[0] === TAG.sequence && /[^\t\n\r\x20-\x7e]/.test(text)) {
    return { form: 'der', kind: derKind(content), bytes: content };
  }
  const json = jsonKind(text);
  if (json !== undefined) return other(json);
  const pem = pemText(text);
  if ('fault' in pem) return { form: 'broken-pem', fault: pem.fault };
  if (pem.blocks.length > 0) return { form: 'pem', blocks: pem.blocks };
  return other(binaryKind(content) ?? textKind(text));
}

function other(kind: OtherKind): Sniffed {
  return { form: 'other', kind };
}

function withoutByteOrderMark(content: Buffer): Buffer {
  return content.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? content.subarray(3) : content;
}

/** Returns true for UTF-16: a byte order mark, or characters that alternate with zero bytes. */
function isUtf16(content: Buffer): boolean {
  const [first, second] = content;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const start = content.subarray(0, 64);
  const zerosAt = (parity: number) => start.every((byte, at) => (byte === 0) === (at % 2 === parity));
  return start.length >= 4 && (zerosAt(0) || zerosAt(1));
}

function jsonKind(text: string): OtherKind | undefined {
  if (!/^\s*[{["]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // A JSON string is a copied value that still has its quotes.
    if (typeof value === 'string') return undefined;
  } catch {
    return undefined;
  }
  if (/-----BEGIN [A-Z0-9 ]+-----/.test(text)) return 'json-with-pem';
  return /"kty"\s*:/.test(text) ? 'json-web-key' : 'json';
}

function binaryKind(content: Buffer): OtherKind | undefined {
  const magic = content.subarray(0, 4).toString('hex');
  if (magic === 'feedfeed' || magic === 'cececece') return 'java-keystore';
  if (magic === '504b0304') return 'zip';
  // Text may have letters of any language, but no control characters.
  return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(content.toString('latin1')) ? 'binary' : undefined;
}

function textKind(text: string): OtherKind {
  if (text.trim() === '') return 'blank';
  if (/^\s*<(?:!doctype html|html)\b/i.test(text)) return 'html';
  if (/^\s*<[?!\w]/.test(text)) return 'xml';
  if (/^(?:ssh-|ecdsa-sha2-|sk-)[\w@.-]+ AAAA/.test(text) || /^---- BEGIN SSH2 /.test(text))
    return 'openssh-public-key';
  if (text.startsWith('PuTTY-User-Key-File-')) return 'putty-key';
  if (/^\s*(?:Certificate:\s+Data:|(?:RSA )?Private-Key:)/.test(text)) return 'printed';
  return base64Kind(text.replace(/\s/g, '')) ?? 'text';
}

function base64Kind(text: string): OtherKind | undefined {
  if (text.length < MIN_BASE64 || text.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64');
  if (decoded.includes('-----BEGIN ')) return 'base64-of-pem';
  return peekElement(decoded)?.tag === TAG.sequence && derKind(decoded) !== 'unknown' ? 'bare-base64' : undefined;
}

/** Object identifiers, as the hexadecimal bytes of their content. */
const PKCS7 = '2a864886f70d0107';
const PASSWORD_BASED = ['2a864886f70d0105', '2a864886f70d010c01'];

/**
 * Detects the kind of a DER structure from its first elements. Most kinds are recognised even when the end is missing.
 */
export function derKind(bytes: Uint8Array): DerKind {
  const root = peekElement(bytes);
  if (root?.tag !== TAG.sequence) return 'unknown';
  const parts = peekParts(root);
  const [first, second] = parts;
  if (first?.tag === TAG.sequence)
    return second?.tag === TAG.octetString ? encryptedKind(first) : signedKind(first, parts);
  if (first?.tag === TAG.objectId) return hex(first).startsWith(PKCS7) ? 'pkcs7' : 'unknown';
  return first?.tag === TAG.integer ? numberedKind(first, parts) : 'unknown';
}

/** Detects the kind of a structure that starts with an integer: a version, or the modulus of a public key. */
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

function encryptedKind(algorithm: PeekedElement): DerKind {
  const [oid] = peekParts(algorithm);
  return oid !== undefined && PASSWORD_BASED.some((prefix) => hex(oid).startsWith(prefix))
    ? 'encrypted-pkcs8'
    : 'unknown';
}

/** Detects the kind of a structure that starts with a sequence: a public key, or signed content. */
function signedKind(first: PeekedElement, parts: readonly PeekedElement[]): DerKind {
  const tags = peekParts(first).map(({ tag }) => tag);
  if (tags[0] === TAG.objectId) return parts[1]?.tag === TAG.bitString ? 'public-key' : 'unknown';
  if (tags[0] === TAG.context0) return 'certificate';
  const [one, two, three, four] = tags[0] === TAG.integer ? tags.slice(1) : tags;
  if (one !== TAG.sequence || two !== TAG.sequence) return 'unknown';
  if (three === TAG.utcTime || three === TAG.generalizedTime) return 'revocation-list';
  if (three === TAG.context0) return 'request';
  // In a certificate of version 1, validity and subject follow.
  return three === TAG.sequence && four === TAG.sequence ? 'certificate' : 'unknown';
}

function hex({ content }: PeekedElement): string {
  return Buffer.from(content.subarray(0, 16)).toString('hex');
}
