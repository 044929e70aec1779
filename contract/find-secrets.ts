/** Finds secrets in a text, in every spelling, and masks them. */
import { type Reading, readingsOf } from './decoded-readings.ts';
import { secretParts, secretSpellings } from './secret-spellings.ts';

/** A part of a text that must not be shown, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** Shorter values occur in any text by chance, and are not looked for. */
export const MIN_ANYWHERE = 4;
/** Shorter values occur in decoded bytes by chance. */
const MIN_DECODED = 8;
/** Values of this length or more are not ordinary words. */
const MIN_STRONG = 16;
/** So many letters and digits of a secret are found with other characters between them. */
const MIN_SQUEEZED = 10;
/** So many other characters between two of them. */
const MAX_GAP = 32;
/** So many characters of a secret before a cut are enough. */
const HEAD = 8;
/** So many characters of a signature identify it. */
const SIGNATURE_HEAD = 12;

/** A spelling of a secret, with its ASCII letters in lower case. */
interface Form {
  readonly text: string;
  readonly name: string;
  /** It comes from a value that may be an ordinary word, and is not looked for in hookproof's own wording. */
  readonly weak: boolean;
  /** Whether it is looked for in decoded bytes too. */
  readonly decoded: boolean;
  /** So many characters from its beginning are enough, anywhere in a text. */
  readonly enough: number;
  /** Its first four characters: see {@link firstFour}. */
  readonly head: number;
}

export interface SecretFinder {
  /** Looks for a secret from now on, in every spelling. A value that is too short is ignored. */
  addSecret(name: string, value: string): void;
  /** The same for the spelling of something else, as it is. */
  addSpelling(name: string, spelling: string): void;
  /** The same for a signature, by the base64 of its digest. Its beginning is enough: a cut one shows most of it. */
  addSignature(name: string, base64: string): void;
  /**
   * Where they are in a text, in any spelling, and behind encodings that are nested several levels deep. A part counts
   * too when it shows most of the secret: its first three quarters (a key with one character changed), or eight
   * characters where the text was cut. The time is linear in the length of the text. `readings` are those of the text,
   * for a caller that has them.
   */
  find(text: string, readings?: readonly Reading[]): Span[];
  /** The same in a text of hookproof's own: without values that may be ordinary words. */
  findInWording(text: string): Span[];
  /** Whether the text contains a secret as it is. */
  isIn(text: string): boolean;
}

/** ASCII letters in lower case; everything else as it is, so that positions stay the same. */
const FOLDED = Uint8Array.from({ length: 128 }, (_, code) => String.fromCharCode(code).toLowerCase().charCodeAt(0));
const ALPHANUMERIC = Uint8Array.from({ length: 128 }, (_, code) => Number(/[a-z0-9]/i.test(String.fromCharCode(code))));

function foldedCode(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (FOLDED[code] ?? code) : code;
}

function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Forms are looked up by the hash of their first four characters: one pass over a text looks for all of them. */
const HASHED = 4;
const HASH_BITS = 18;

/** The last four characters, a byte of each. */
function nextFour(four: number, code: number): number {
  return (four << 8) | (code & 0xff);
}

function hashOf(four: number): number {
  return Math.imul(four, 0x9e3779b1) >>> (32 - HASH_BITS);
}

function firstFour(text: string): number {
  let four = 0;
  for (let at = 0; at < HASHED; at += 1) four = nextFour(four, foldedCode(text, at));
  return four;
}

/**
 * A spelling of a signature. A run makes thousands of signatures and few texts contain one, so the spelling is computed
 * only where a text has its first characters.
 */
class SignatureForm implements Form {
  readonly weak = false;
  readonly decoded = true;
  readonly enough = SIGNATURE_HEAD;
  readonly #digest: Buffer;
  readonly #encoding: 'base64' | 'base64url' | 'hex';
  readonly name: string;
  readonly head: number;
  #text: string | undefined;

  constructor(name: string, digest: Buffer, encoding: 'base64' | 'base64url' | 'hex') {
    this.name = name;
    this.#digest = digest;
    this.#encoding = encoding;
    // Three bytes are the first four characters of base64, two those of hexadecimal.
    this.head = firstFour(digest.toString(encoding, 0, encoding === 'hex' ? 2 : 3));
  }

  get text(): string {
    const padding = this.#encoding === 'base64url' ? '='.repeat((3 - (this.#digest.length % 3)) % 3) : '';
    this.#text ??= foldCase(this.#digest.toString(this.#encoding)) + padding;
    return this.#text;
  }
}

/** A finder without secrets. With `whole`, a part of a value does not count, however long it is. */
export function createSecretFinder({ whole = false }: { readonly whole?: boolean } = {}): SecretFinder {
  const enoughOf = (text: string) => (whole ? text.length : Math.max(Math.min(HEAD, text.length), text.length * 0.75));
  const isEnough = (length: number, enough: number, wording: boolean, text: string, end: number) =>
    length >= enough || (!whole && length >= HEAD && !wording && isCut(text, end));
  const known = new Set<string>();
  const secrets: string[] = [];
  const forms = new Map<number, Form[]>();
  /** Of letters and digits alone: what is between them does not matter, such as line breaks, colons and quotes. */
  const squeezed = new Map<number, Form[]>();
  /** Bit 0: there are forms with this hash. Bit 1: there are squeezed forms. */
  const used = new Uint8Array(1 << HASH_BITS);

  const register = (to: Map<number, Form[]>, bit: number, given: Omit<Form, 'head'>) => {
    const form = { ...given, head: firstFour(given.text) };
    const id = `${bit} ${form.name} ${form.text}`;
    if (known.has(id)) return;
    known.add(id);
    put(to, bit, form);
  };
  const put = (to: Map<number, Form[]>, bit: number, form: Form) => {
    const hash = hashOf(form.head);
    used[hash] = (used[hash] ?? 0) | bit;
    const others = to.get(hash);
    if (others === undefined) to.set(hash, [form]);
    else others.push(form);
  };
  const add = (name: string, spelling: string, length: number) => {
    const text = foldCase(spelling);
    if (text.length < HASHED) return;
    const form = { name, weak: length < MIN_STRONG, decoded: length >= MIN_DECODED };
    register(forms, 1, { ...form, text, enough: enoughOf(text) });
    const letters = text.replace(/[^a-z0-9]+/g, '');
    if (letters.length >= MIN_SQUEEZED) register(squeezed, 2, { ...form, text: letters, enough: enoughOf(letters) });
  };

  const scan = ({ text, depth, settled }: Reading, wording: boolean): Span[] => {
    const spans: Span[] = [];
    let four = 0;
    let fourLetters = 0;
    for (let end = 0; end < text.length; end += 1) {
      const code = foldedCode(text, end);
      four = nextFour(four, code);
      const hash = hashOf(four);
      if (((used[hash] ?? 0) & 1) !== 0 && end >= HASHED - 1) {
        for (const form of forms.get(hash) ?? []) {
          if (form.head !== four || (wording && form.weak) || (depth > 0 && !form.decoded)) continue;
          const start = end - HASHED + 1;
          const length = matchingLength(text, start, form.text);
          if (!isEnough(length, form.enough, wording, text, start + length)) continue;
          spans.push({ start, end: start + length, name: form.name });
        }
      }
      if (!settled || code >= 128 || ALPHANUMERIC[code] === 0) continue;
      fourLetters = nextFour(fourLetters, code);
      const letters = hashOf(fourLetters);
      if (((used[letters] ?? 0) & 2) === 0) continue;
      const start = backOver(text, end);
      if (start === undefined) continue;
      for (const form of squeezed.get(letters) ?? []) {
        if (form.head !== fourLetters || (wording && form.weak) || (depth > 0 && !form.decoded)) continue;
        const found = matchLetters(text, start, form.text);
        if (!isEnough(found.length, form.enough, wording, text, found.end)) continue;
        spans.push({ start, end: found.end, name: form.name });
      }
    }
    return spans;
  };

  const findIn = (text: string, wording: boolean, readings?: readonly Reading[]): Span[] => {
    if (known.size === 0) return [];
    const spans: Span[] = [];
    for (const reading of readings ?? readingsOf(text)) {
      for (const span of scan(reading, wording)) {
        const [start, end] = reading.origin(span.start, span.end);
        spans.push({ start, end, name: span.name });
      }
    }
    return spans;
  };

  return {
    addSecret(name, value) {
      for (const part of secretParts(value)) {
        if (part.length < MIN_ANYWHERE) continue;
        const spellings = secretSpellings(part);
        secrets.push(...spellings);
        for (const spelling of spellings) add(name, spelling, part.length);
      }
    },
    addSpelling: (name, spelling) => add(name, spelling, spelling.length),
    addSignature(name, base64) {
      const id = `signature ${name} ${base64}`;
      if (known.has(id)) return;
      const digest = Buffer.from(base64, 'base64');
      // Shorter digests are not signatures, and would match by chance.
      if (digest.length < SIGNATURE_HEAD) return;
      known.add(id);
      for (const encoding of ['base64', 'base64url', 'hex'] as const) {
        put(forms, 1, new SignatureForm(name, digest, encoding));
      }
    },
    find: (text, readings) => findIn(text, false, readings),
    findInWording: (text) => findIn(text, true),
    isIn(text) {
      const folded = foldCase(text);
      return secrets.some((secret) => folded.includes(foldCase(secret)));
    },
  };
}

/** How many characters of the form are at this position, from its beginning. */
function matchingLength(text: string, at: number, form: string): number {
  let length = 0;
  while (length < form.length && at + length < text.length && foldedCode(text, at + length) === form.charCodeAt(length))
    length += 1;
  return length;
}

function isAlphanumeric(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && ALPHANUMERIC[code] === 1;
}

/** Where the last four letters and digits begin; undefined when there are too many other characters between them. */
function backOver(text: string, end: number): number | undefined {
  let at = end;
  for (let letters = 1; letters < HASHED; letters += 1) {
    const before = at;
    do at -= 1;
    while (at >= 0 && before - at <= MAX_GAP && !isAlphanumeric(text, at));
    if (at < 0 || before - at > MAX_GAP) return undefined;
  }
  return at;
}

/** The same as {@link matchingLength} without what is between letters and digits. `end` is in the text. */
function matchLetters(text: string, from: number, form: string): { readonly length: number; readonly end: number } {
  let [at, end, length] = [from, from, 0];
  while (length < form.length && at < text.length && at - end <= MAX_GAP) {
    if (isAlphanumeric(text, at)) {
      if (foldedCode(text, at) !== form.charCodeAt(length)) break;
      length += 1;
      end = at + 1;
    }
    at += 1;
  }
  return { length, end };
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
