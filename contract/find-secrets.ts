/** Finds secrets in a text, in every spelling, and masks them. */
import { type Reading, readingsOf } from './decoded-readings.ts';
import { secretParts, secretSpellings } from './secret-spellings.ts';

/** A spelling of a secret, with its ASCII letters in lower case. */
interface Form {
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

/** ASCII letters in lower case; everything else as it is. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => String.fromCharCode(code).toLowerCase().charCodeAt(0));

function foldedCode(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (FOLDED[code] ?? code) : code;
}

/** Forms by the hash of their first four characters: one pass over a text looks for all of them. */
interface FormIndex {
  /** 1 where there are forms with this hash. */
  readonly used: Uint8Array;
  readonly forms: ReadonlyMap<number, readonly Form[]>;
}

const HASHED = 4;
const HASHES = 1 << 16;

/** The hash of one more character: that of the last four, because each shifts the earlier ones out. */
function nextHash(hash: number, code: number): number {
  return ((hash << 4) ^ code) & (HASHES - 1);
}

/** Of forms that have four characters or more. */
function indexForms(forms: readonly Form[]): FormIndex {
  const used = new Uint8Array(HASHES);
  const byHash = new Map<number, Form[]>();
  for (const form of forms) {
    let hash = 0;
    for (let at = 0; at < HASHED; at += 1) hash = nextHash(hash, form.text.charCodeAt(at));
    used[hash] = 1;
    byHash.set(hash, [...(byHash.get(hash) ?? []), form]);
  }
  return { used, forms: byHash };
}

/**
 * Spans of the forms in the text, ignoring the case of ASCII letters. A part of a form counts too when it shows most of
 * the secret: its first three quarters (a key with one character changed), or eight characters where the text was cut.
 */
function findForms(text: string, { used, forms }: FormIndex, wording: boolean): Span[] {
  const spans: Span[] = [];
  let hash = 0;
  for (let end = 0; end < text.length; end += 1) {
    hash = nextHash(hash, foldedCode(text, end));
    if (used[hash] === 0 || end < HASHED - 1) continue;
    const at = end - HASHED + 1;
    for (const form of forms.get(hash) ?? []) {
      if (wording && form.weak) continue;
      const length = matchingLength(text, at, form.text);
      if (length < Math.min(HEAD, form.text.length)) continue;
      if (length >= form.text.length * 0.75 || (!wording && isCut(text, at + length))) {
        spans.push({ start: at, end: at + length, name: form.name });
      }
    }
  }
  return spans;
}

/** How many characters of the form are at this position, from its beginning. */
function matchingLength(text: string, at: number, form: string): number {
  let length = 0;
  while (length < form.length && foldedCode(text, at + length) === form.charCodeAt(length)) length += 1;
  return length;
}

/** Whether the text ends here, or is cut off with an ellipsis. */
function isCut(text: string, at: number): boolean {
  return at === text.length || text[at] === '…' || text.startsWith('...', at);
}

/** Shorter values occur in any text by chance, and are not looked for. */
export const MIN_ANYWHERE = 4;
/** Shorter values occur in decoded bytes by chance. */
const MIN_DECODED = 8;
/** Values of this length or more are not ordinary words. */
const MIN_STRONG = 16;
/** Letters and digits of a secret that are found with other characters between them. */
const MIN_SQUEEZED = 12;

/** What {@link findSecrets} looks for. */
export interface SecretIndex {
  readonly forms: FormIndex;
  /** Those that are looked for in decoded bytes. */
  readonly deep: FormIndex;
  /** Letters and digits alone, so that what is between them does not matter: line breaks, colons, quotes. */
  readonly squeezed: FormIndex;
  /** The text of every form. */
  readonly texts: readonly string[];
}

const PUNCTUATION = /[^A-Za-z0-9]+/g;

/**
 * An index of secrets by their names, in every spelling. `literals` are looked for as they are, such as a signature of
 * which every spelling is given.
 */
export function indexSecrets(
  secrets: readonly { readonly name: string; readonly value: string }[],
  literals: readonly { readonly name: string; readonly value: string }[] = [],
): SecretIndex {
  const parts = secrets.flatMap(({ name, value }) => secretParts(value).map((part) => ({ name, value: part })));
  const forms: Form[] = [];
  const squeezed: Form[] = [];
  const deep: Form[] = [];
  const known = new Set<string>();
  const add = (spelling: string, { name, value }: { name: string; value: string }) => {
    const text = foldCase(spelling);
    const form = { text, name, weak: value.length < MIN_STRONG };
    if (known.has(`${name} ${text}`)) return;
    known.add(`${name} ${text}`);
    forms.push(form);
    if (value.length >= MIN_DECODED) deep.push(form);
    const letters = text.replace(PUNCTUATION, '');
    if (letters.length < MIN_SQUEEZED || known.has(`${name}\n${letters}`)) return;
    known.add(`${name}\n${letters}`);
    squeezed.push({ ...form, text: letters });
  };
  for (const part of parts) {
    if (part.value.length < MIN_ANYWHERE) continue;
    for (const spelling of secretSpellings(part.value)) add(spelling, part);
  }
  for (const literal of literals) if (literal.value.length >= MIN_ANYWHERE) add(literal.value, literal);
  return {
    forms: indexForms(forms),
    deep: indexForms(deep),
    squeezed: indexForms(squeezed),
    texts: forms.map(({ text }) => text),
  };
}

/** The secrets in a text of hookproof's own, which holds no encoded ones. */
export function findInWording(text: string, { forms }: SecretIndex): Span[] {
  return findForms(text, forms, true);
}

/**
 * The secrets in a text, in any spelling of theirs, and behind encodings that are nested several levels deep. Linear in
 * the length of the text. `also` finds others, in each of the readings.
 */
export function findSecrets(text: string, index: SecretIndex, also?: (text: string) => readonly Span[]): Span[] {
  const spans: Span[] = [];
  for (const reading of readingsOf(text)) {
    const { text: read, depth, settled, origin } = reading;
    const found = [...findForms(read, depth === 0 ? index.forms : index.deep, false), ...(also?.(read) ?? [])];
    if (settled) found.push(...findSqueezed(reading, index));
    for (const { name, ...span } of found) {
      const [start, end] = origin(span.start, span.end);
      spans.push({ start, end, name });
    }
  }
  return spans;
}

/** Secrets with something between their letters. */
function findSqueezed({ text }: Reading, { squeezed }: SecretIndex): Span[] {
  const letters = text.replace(PUNCTUATION, '');
  const spans = findForms(letters, squeezed, false);
  if (spans.length === 0) return spans;
  const places = new Uint32Array(letters.length);
  let length = 0;
  for (const { index, 0: word } of text.matchAll(/[A-Za-z0-9]+/g)) {
    for (let at = 0; at < word.length; at += 1) places[length + at] = index + at;
    length += word.length;
  }
  return spans.map(({ start, end, name }) => ({ start: places[start] ?? 0, end: (places[end - 1] ?? 0) + 1, name }));
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
