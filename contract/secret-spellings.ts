/**
 * Lists the spellings of a secret: the secret itself, and every encoding that a receiver, a sender or a log is likely
 * to use. Redaction, the leak scan and the inspector search texts and their decoded forms (decoded-texts.ts) for all of
 * them.
 */

/**
 * Minimum length of a value whose reversed spelling is searched for. A shorter word may be another word when reversed.
 */
const MIN_REVERSED = 8;

/** Returns every spelling of a value, the value itself first, without duplicates. Compare them case-insensitively. */
export function secretSpellings(value: string): string[] {
  const backwards = value.length < MIN_REVERSED ? [] : reversedSpellings(value);
  return [...new Set([...forwardSpellings(value), ...backwards])];
}

/** Returns the spellings of the reversed value, and the reversed spellings of the value. */
function reversedSpellings(value: string): string[] {
  const hex = Buffer.from(value).toString('hex');
  const base64 = Buffer.from(value).toString('base64');
  return [...forwardSpellings(reversed(value)), ...[base64, base64.replace(/={1,2}$/, ''), hex].map(reversed)];
}

const reversed = (text: string): string => Array.from(text).reverse().join('');

function forwardSpellings(value: string): string[] {
  const spelt = [
    value,
    ...inJson(value),
    ...inUrl(value),
    ...inMarkup(value),
    value.replaceAll("'", "'\\''"), // Quoted for a shell.
    ...inBase64(value),
    ...inBase32(Buffer.from(value)),
    Array.from(value).join('\0'), // UTF-16, if the value is ASCII.
    ...asBytes(Buffer.from(value)),
    bitsOf(Buffer.from(value), ' '),
    ...splitInMiddle(value),
  ];
  // UTF-8 misread as Latin-1, which is how Node decodes header values.
  const misread = spelt.map((spelling) => Buffer.from(spelling).toString('latin1'));
  return [...spelt, ...misread];
}

/** Returns the value, the trimmed value and, for PEM, the lines of its content. Each of them is a secret by itself. */
export function secretParts(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => line.length >= 16 && !line.startsWith('-----'));
  return [...new Set([value, value.trim(), ...(lines.length > 1 ? long : [])])].filter((part) => part !== '');
}

/**
 * Returns the spellings of a signature's digest, and of its base64 and hexadecimal text. Any of them reveals the
 * signature.
 */
export function signatureSpellings(base64: string): string[] {
  return [...new Set(signatureBytes(base64).flatMap((bytes) => [...printed(bytes), ...asBytes(bytes)]))];
}

/**
 * Returns the spellings of a digest: base64 and base64url without padding, hexadecimal, and the raw bytes as text, to
 * which lists of numbers are decoded.
 */
export function digestSpellings(base64: string): [base64: string, base64url: string, hex: string, bytes: string] {
  const digest = Buffer.from(base64, 'base64');
  const [, unpadded = '', base64url = ''] = printed(digest);
  return [unpadded, base64url, digest.toString('hex'), digest.toString('latin1')];
}

/** Returns the spellings of a signature that a header value can contain: those without separators. */
export function printedSignatures(base64: string): string[] {
  return signatureBytes(base64).flatMap((bytes) => [...printed(bytes), bytes.toString('hex')]);
}

function signatureBytes(base64: string): Buffer[] {
  const digest = Buffer.from(base64, 'base64');
  const hex = digest.toString('hex');
  return [digest, ...[base64, hex, hex.toUpperCase()].map((text) => Buffer.from(text, 'ascii'))];
}

function printed(bytes: Buffer): string[] {
  const base64 = bytes.toString('base64');
  return [base64, base64.replace(/={1,2}$/, ''), bytes.toString('base64url')];
}

/**
 * Returns the value as serialisers of several languages write it in JSON: with slashes, non-ASCII characters, or the
 * characters reserved by HTML escaped.
 */
function inJson(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const escapeAll = (text: string, which: RegExp): string =>
    text.replace(which, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const ascii = escapeAll(plain, /[^\x20-\x7e]/g);
  const slashes = plain.replaceAll('/', '\\/');
  const html = escapeAll(plain, /[<>&'+=]/g);
  const htmlFew = escapeAll(plain, /[<>&]/g);
  // JSON text inside a JSON string.
  const nested = JSON.stringify(plain).slice(1, -1);
  const slashesAlone = value.replaceAll('/', '\\/');
  return [plain, ascii, slashes, ascii.replaceAll('/', '\\/'), slashesAlone, html, htmlFew, nested];
}

function inUrl(value: string): string[] {
  const wellFormed = Buffer.from(value).toString();
  const component = encodeURIComponent(wellFormed);
  const form = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  const every = Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  // The last spelling is a value that was form-decoded although it was never encoded.
  return [component, encodeURI(wellFormed), form, form.replaceAll('+', '%20'), every, value.replaceAll('+', ' ')];
}

function inMarkup(value: string): string[] {
  const basic = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = basic.replaceAll('"', '&quot;');
  return [basic, quoted, ...['&#39;', '&#x27;', '&apos;'].map((apostrophe) => quoted.replaceAll("'", apostrophe))];
}

/**
 * Returns the base64 of the value and, for each of the three alignments to groups of three bytes, the part of a longer
 * base64 text that only this value can produce (as in `Basic` credentials).
 */
function inBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  const cores = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return shifted.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const long = cores.filter((core) => core.length >= 8);
  return [...printed(bytes), ...long].flatMap((form) => [
    form,
    form.replaceAll('+', '-').replaceAll('/', '_'),
    encodeURIComponent(form),
    form.replaceAll('/', '\\/'),
  ]);
}

function bitsOf(bytes: Uint8Array, between: string): string {
  return Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join(between);
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE32_HEX = '0123456789abcdefghijklmnopqrstuv';

/** Returns the base32 of the value for each of the five alignments to groups of five bytes. */
function inBase32(bytes: Uint8Array): string[] {
  return [0, 1, 2, 3, 4].flatMap((offset) => {
    const groups =
      bitsOf(bytes, '')
        .slice((5 - ((offset * 8) % 5)) % 5)
        .match(/.{5}/g) ?? [];
    const values = groups.map((group) => Number.parseInt(group, 2));
    const cores = [BASE32, BASE32_HEX].map((alphabet) => values.map((one) => alphabet[one]).join(''));
    return cores.filter((core) => core.length >= 8);
  });
}

/** Returns the forms in which programs print bytes in JSON or a log. */
function asBytes(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [hex, hex.replace(/..(?=.)/g, '$& '), bytes.join(','), bytes.join(', ')];
}

/** Inserts a space in the middle: one check sends the API key in this form, and both halves are readable. */
function splitInMiddle(value: string): string[] {
  const middle = Math.floor(value.length / 2);
  return [' ', '%20', '+'].map((blank) => `${value.slice(0, middle)}${blank}${value.slice(middle)}`);
}
