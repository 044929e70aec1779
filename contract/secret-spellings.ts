/**
 * The spellings of a secret: as it is, and in every encoding that a receiver, a sender or a log is likely to use.
 * Redaction, the scan for leaks and the inspector look for all of them, in a text and in what it says when it is
 * decoded (decoded-readings.ts).
 */

/** A shorter word may be another word when it is read backwards. */
const MIN_REVERSED = 8;

/** Every spelling of a value, the value itself first, without repetitions. Searches ignore the letter case. */
export function secretSpellings(value: string): string[] {
  const backwards = value.length < MIN_REVERSED ? [] : reversedSpellings(value);
  return [...new Set([...forwardSpellings(value), ...backwards])];
}

/** Of the reversed value, and the reversed spellings of the value. */
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
    value.replaceAll("'", "'\\''"), // In a shell.
    ...inBase64(value),
    ...inBase32(Buffer.from(value)),
    Array.from(value).join('\0'), // UTF-16, of ASCII.
    ...asBytes(Buffer.from(value)),
    bitsOf(Buffer.from(value), ' '),
    ...parted(value),
  ];
  // UTF-8 that was read as Latin-1, which is how Node gives header values.
  const misread = spelt.map((spelling) => Buffer.from(spelling).toString('latin1'));
  return [...spelt, ...misread];
}

/**
 * A value with its parts that are secret by themselves: without its outer white space, and line by line (PEM material).
 */
export function secretParts(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const long = lines.filter((line) => line.length >= 16 && !line.startsWith('-----'));
  return [...new Set([value, value.trim(), ...(lines.length > 1 ? long : [])])].filter((part) => part !== '');
}

/**
 * The spellings of a signature: of its digest, and of its base64 and hexadecimal text. Each of them is enough to sign
 * the body.
 */
export function signatureSpellings(base64: string): string[] {
  return [...new Set(signatureBytes(base64).flatMap((bytes) => [...printed(bytes), ...asBytes(bytes)]))];
}

/** The spellings of a signature without separators, as a header value can contain them. */
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
 * JSON, as the serialisers of several languages write it: escaping slashes, everything outside ASCII, or what HTML
 * reserves.
 */
function inJson(value: string): string[] {
  const plain = JSON.stringify(value).slice(1, -1);
  const escapeAll = (text: string, which: RegExp): string =>
    text.replace(which, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const ascii = escapeAll(plain, /[^\x20-\x7e]/g);
  const slashes = plain.replaceAll('/', '\\/');
  const html = escapeAll(plain, /[<>&'+=]/g);
  const htmlFew = escapeAll(plain, /[<>&]/g);
  // A JSON text inside a JSON string.
  const nested = JSON.stringify(plain).slice(1, -1);
  const slashesAlone = value.replaceAll('/', '\\/');
  return [plain, ascii, slashes, ascii.replaceAll('/', '\\/'), slashesAlone, html, htmlFew, nested];
}

function inUrl(value: string): string[] {
  const wellFormed = Buffer.from(value).toString();
  const component = encodeURIComponent(wellFormed);
  const form = new URLSearchParams([['', wellFormed]]).toString().slice(1);
  const every = Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  // The last one is a value that was decoded as form data without having been encoded.
  return [component, encodeURI(wellFormed), form, form.replaceAll('+', '%20'), every, value.replaceAll('+', ' ')];
}

function inMarkup(value: string): string[] {
  const basic = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const quoted = basic.replaceAll('"', '&quot;');
  return [basic, quoted, ...['&#39;', '&#x27;', '&apos;'].map((apostrophe) => quoted.replaceAll("'", apostrophe))];
}

/**
 * Base64 of the value, and the part of any longer base64 text that only this value can have caused, at each of the
 * three ways in which it can lie across the groups of three bytes (as in `Basic` credentials).
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

/** Base32 of the value, at each of the five ways in which it can lie across the groups of five bytes. */
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

/** Bytes as programs print them into JSON or into a log. */
function asBytes(bytes: Buffer): string[] {
  const hex = bytes.toString('hex');
  return [hex, hex.replace(/..(?=.)/g, '$& '), bytes.join(','), bytes.join(', ')];
}

/** With a blank in its middle: a scenario sends the API key like this, and both halves can be read. */
function parted(value: string): string[] {
  const middle = Math.floor(value.length / 2);
  return [' ', '%20', '+'].map((blank) => `${value.slice(0, middle)}${blank}${value.slice(middle)}`);
}
