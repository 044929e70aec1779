/**
 * The spellings of a secret: as it is, and in every encoding that a receiver, a sender or a log is likely to use.
 * Redaction, the scan for leaks and the inspector look for all of them.
 */

/** Every spelling of a value, the value itself first, without repetitions. Searches ignore the letter case. */
export function secretSpellings(value: string): string[] {
  const spelt = [
    value,
    ...inJson(value),
    ...inUrl(value),
    ...inMarkup(value),
    value.replaceAll("'", "'\\''"), // In a shell.
    ...inBase64(value),
    ...asBytes(Buffer.from(value)),
    ...parted(value),
  ];
  // UTF-8 that was read as Latin-1, which is how Node gives header values.
  const misread = spelt.map((spelling) => Buffer.from(spelling).toString('latin1'));
  return [...new Set([...spelt, ...misread])];
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
  return [base64, base64.replace(/=+$/, ''), bytes.toString('base64url')];
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

/** A spelling of a secret, with its ASCII letters in lower case. */
export interface Form {
  readonly text: string;
  readonly name: string;
  /** It comes from a value that may be an ordinary word, and is not looked for in hookproof's own wording. */
  readonly weak: boolean;
}

/** A part of a text that must not be shown, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** So many characters are searched for; the rest of a form is compared where they are found. */
const HEAD = 8;

const ASCII = /^[\x00-\x7f]*$/;

/** Folds ASCII letters and nothing else, so that positions stay the same. */
export function foldCase(text: string): string {
  // Nearly every text, and several times as fast.
  if (ASCII.test(text)) return text.toLowerCase();
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Forms by the hash of their first three characters: one pass over a text looks for all of them. */
export type FormIndex = readonly (readonly Form[] | undefined)[];

const HASHED = 3;
const HASHES = 1 << 14;

/** The hash of the three characters at this position. */
function hashAt(text: string, at: number): number {
  return (text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 4) ^ (text.charCodeAt(at + 2) << 8)) & (HASHES - 1);
}

/** An index for {@link findForms}, of forms that have three characters or more. */
export function indexForms(forms: readonly Form[]): FormIndex {
  const byHash = new Array<Form[] | undefined>(HASHES).fill(undefined);
  for (const form of forms) {
    const hash = hashAt(form.text, 0);
    byHash[hash] = [...(byHash[hash] ?? []), form];
  }
  return byHash;
}

/**
 * Spans of the forms in the text, ignoring the case of ASCII letters. A part of a form counts too when it shows most of
 * the secret: its first three quarters (a key with one character changed), or eight characters where the text was cut.
 */
export function findForms(text: string, index: FormIndex, wording: boolean): Span[] {
  const folded = foldCase(text);
  const spans: Span[] = [];
  for (let at = 0; at + HASHED <= folded.length; at += 1) {
    const candidates = index[hashAt(folded, at)];
    if (candidates === undefined) continue;
    for (const form of candidates) {
      if (wording && form.weak) continue;
      const length = matchingLength(folded, at, form.text);
      if (length < Math.min(HEAD, form.text.length)) continue;
      if (length >= form.text.length * 0.75 || (!wording && isCut(folded, at + length))) {
        spans.push({ start: at, end: at + length, name: form.name });
      }
    }
  }
  return spans;
}

/** How many characters of the form are at this position, from its beginning. */
function matchingLength(text: string, at: number, form: string): number {
  let length = 0;
  while (length < form.length && text[at + length] === form[length]) length += 1;
  return length;
}

/** Whether the text ends here, or is cut off with an ellipsis. */
function isCut(text: string, at: number): boolean {
  return at === text.length || text[at] === '…' || text.startsWith('...', at);
}

/**
 * The text with every span replaced by the marker for its name. Overlapping spans become one, named after the longest.
 */
export function replaceSpans(text: string, spans: readonly Span[], markerFor: (name: string) => string): string {
  let result = '';
  let from = 0;
  for (const span of mergeSpans(spans)) {
    result += text.slice(from, span.start) + markerFor(span.name);
    from = span.end;
  }
  return result + text.slice(from);
}

function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: { start: number; end: number; name: string; longest: number }[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    const length = span.end - span.start;
    if (last === undefined || span.start >= last.end) {
      merged.push({ ...span, longest: length });
      continue;
    }
    last.end = Math.max(last.end, span.end);
    if (length > last.longest) {
      last.longest = length;
      last.name = span.name;
    }
  }
  return merged;
}
