/** The encoding that a text looks like, which is never certain: many words are base64 of something. */

export interface Encoding {
  readonly names: readonly ('base64' | 'base64url' | 'hex' | 'uuid')[];
  /** null for what is no encoding of bytes to anybody. */
  readonly decodedBytes: number | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Shorter texts are taken for words. */
const SHORTEST = 16;

export function encodingOf(text: string): Encoding | null {
  if (UUID.test(text)) return { names: ['uuid'], decodedBytes: null };
  if (text.length < SHORTEST) return null;
  if (/^(?:[0-9a-f]{2})+$/i.test(text)) return { names: ['hex'], decodedBytes: text.length / 2 };
  const body = text.replace(/={1,2}$/, '');
  const padded = body !== text;
  if (body.length % 4 === 1 || (padded && text.length % 4 !== 0)) return null;
  const decodedBytes = Math.floor((body.length * 3) / 4);
  if (/^[A-Za-z0-9+/]+$/.test(body)) {
    const telling = padded || /[+/]/.test(body);
    if (!telling && !isMixed(body)) return null;
    // Without padding or a telling character it can be either.
    if (telling && text.length % 4 === 0) return { names: ['base64'], decodedBytes };
    if (/[+/]/.test(body)) return { names: ['base64'], decodedBytes };
    return { names: text.length % 4 === 0 ? ['base64', 'base64url'] : ['base64url'], decodedBytes };
  }
  return /^[A-Za-z0-9_-]+$/.test(body) && isMixed(body) ? { names: ['base64url'], decodedBytes } : null;
}

/** Small and large letters and digits, as random bytes come out and names do not. */
function isMixed(text: string): boolean {
  return /[a-z]/.test(text) && /[A-Z]/.test(text) && /[0-9]/.test(text);
}
