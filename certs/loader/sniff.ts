/** What the bytes of a file are, told before OpenSSL sees them: it has one error for nearly everything. */
import { peekElement } from '../der/peek-der.ts';
import { TAG } from '../der/tags.ts';
import { type DerKind, derKind } from './der-kind.ts';
import { type LineFault, type PemBlock, pemText } from './pem.ts';

/** What a file is when it is neither PEM nor DER. */
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

/** What a file is. `der` may be cut short; `text` in PEM form is already split. */
export type Sniffed =
  | { readonly form: 'pem'; readonly blocks: readonly PemBlock[] }
  | { readonly form: 'broken-pem'; readonly fault: LineFault }
  | { readonly form: 'der'; readonly kind: DerKind; readonly bytes: Buffer }
  | { readonly form: 'other'; readonly kind: OtherKind };

/** Shorter base64 than this could be a word. */
const LEAST_BASE64 = 40;

/** Tells what the bytes are. A byte order mark of UTF-8 does not matter. Never throws. */
export function sniff(bytes: Uint8Array): Sniffed {
  const content = withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
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

function withoutMark(content: Buffer): Buffer {
  return content.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? content.subarray(3) : content;
}

/** With a byte order mark, or characters and zeros by turns. */
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
    // One JSON text alone is a value that was copied with its quotes.
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
  // Letters of any language are text; control characters are not.
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
  if (text.length < LEAST_BASE64 || text.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64');
  if (decoded.includes('-----BEGIN ')) return 'base64-of-pem';
  return peekElement(decoded)?.tag === TAG.sequence && derKind(decoded) !== 'unknown' ? 'bare-base64' : undefined;
}
