/** Finds secrets in a text, in every spelling, and masks them. */
import { type DecodedText, decodeText, type Span } from './decoded-texts.ts';
import { digestSpellings, secretParts, secretSpellings } from './secret-spellings.ts';

/** A part of a text that must not be shown. */
export interface NamedSpan extends Span {
  readonly name: string;
}

/** Minimum length of a secret. Shorter values occur in any text by chance. */
export const MIN_ANYWHERE = 4;
/** Minimum length of a secret that is looked for in decoded bytes. Shorter values occur there by chance. */
const MIN_DECODED = 8;
/** Values of this length or more are not ordinary words. */
const MIN_STRONG = 16;
/** Minimum length for which a secret is also found when separators are inserted between its characters. */
const MIN_SQUEEZED = 10;
/** Maximum length of such a separator. */
const MAX_GAP = 32;
/** A truncated secret counts from this many leading characters. */
const MIN_HEAD = 8;
/** A truncated signature counts from this many leading characters. */
const MIN_SIGNATURE_HEAD = 12;
/** Node prints this many bytes of a Buffer, which are most of a secret. */
const INSPECTED_BYTES = 50;

/** A spelling of a secret, with its ASCII letters in lower case. */
interface Form {
  readonly text: string;
  readonly name: string;
  /** True for a value that may be an ordinary word: it is not looked for in hookproof's own wording. */
  readonly isWeak: boolean;
  /** Whether it is looked for in decoded bytes too. */
  readonly isDecodable: boolean;
  /** This many leading characters are enough, anywhere in a text. */
  readonly minLength: number;
  /** Its first four characters: see {@link firstFour}. */
  readonly head: number;
  /** Its letters and digits in the letter cases that count; undefined when any does. */
  readonly exactLetters?: readonly string[];
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

/** Removes everything except ASCII letters and digits. */
export function lettersOf(text: string): string {
  return text.replace(/[^A-Za-z0-9]+/g, '');
}

/** Forms are looked up by their first four characters. */
const HEAD = 4;
const HASH_BITS = 18;

/** Appends a character to the last four, each of which is one byte of the number. */
function nextFour(four: number, code: number): number {
  return (four << 8) | (code & 0xff);
}

function hashOf(four: number): number {
  return Math.imul(four, 0x9e3779b1) >>> (32 - HASH_BITS);
}

function firstFour(text: string): number {
  let four = 0;
  for (let at = 0; at < HEAD; at += 1) four = nextFour(four, foldedCode(text, at));
  return four;
}

/** Forms by their first four characters, so that one pass over a text looks for all of them. */
class FormIndex {
  readonly #forms = new Map<number, Form[]>();
  /** 1 for the hash of each head: at most positions of a text, it saves the look-up in the map. */
  readonly #used = new Uint8Array(1 << HASH_BITS);

  add(form: Form): void {
    this.#used[hashOf(form.head)] = 1;
    const others = this.#forms.get(form.head);
    if (others === undefined) this.#forms.set(form.head, [form]);
    else others.push(form);
  }

  formsWith(head: number): readonly Form[] | undefined {
    return this.#used[hashOf(head)] === 1 ? this.#forms.get(head) : undefined;
  }
}

/**
 * A spelling of a signature. A run makes thousands of signatures and few texts contain one, so the spelling is computed
 * only where a text has its first characters.
 */
function signatureForm(name: string, digest: Buffer, encoding: 'base64' | 'base64url' | 'hex'): Form {
  let spelling: string | undefined;
  const padding = encoding === 'base64url' ? '='.repeat((3 - (digest.length % 3)) % 3) : '';
  return {
    ...{ name, isWeak: false, isDecodable: true, minLength: MIN_SIGNATURE_HEAD },
    // Three bytes are the first four characters of base64, two those of hexadecimal.
    head: firstFour(digest.toString(encoding, 0, encoding === 'hex' ? 2 : 3)),
    get text() {
      spelling ??= foldCase(digest.toString(encoding)) + padding;
      return spelling;
    },
  };
}

/** Looks for secrets in every spelling, and behind encodings that are nested several levels deep. */
export class SecretFinder {
  readonly #isExact: boolean;
  /** What was added, so that nothing is added twice. */
  readonly #known = new Set<string>();
  /** Every spelling of the secrets, in lower case. */
  readonly #spellings: string[] = [];
  readonly #forms = new FormIndex();
  /** Forms of letters and digits alone: separators between them, such as line breaks and colons, do not matter. */
  readonly #squeezed = new FormIndex();

  /** With `exact`, neither a part of a value counts, nor a value or its base64 in another letter case. */
  constructor({ exact = false }: { readonly exact?: boolean } = {}) {
    this.#isExact = exact;
  }

  /** Looks for a secret from now on. A value that is too short is ignored. */
  addSecret(name: string, value: string): void {
    const bytes = Buffer.from(value);
    const printed = this.#isExact ? [value, bytes.toString('base64')] : [];
    for (const part of secretParts(value)) {
      if (part.length < MIN_ANYWHERE) continue;
      const spellings = secretSpellings(part);
      this.#spellings.push(...spellings.map(foldCase));
      for (const spelling of spellings) this.#addSpelling(name, spelling, part.length, printed);
    }
    const isInspectedInPart = this.#isExact && bytes.length > INSPECTED_BYTES;
    if (isInspectedInPart) this.addSpelling(name, bytes.toString('hex', 0, INSPECTED_BYTES));
  }

  /** Looks for a text in this spelling only. */
  addSpelling(name: string, spelling: string): void {
    this.#addSpelling(name, spelling, spelling.length);
  }

  /** Looks for a signature, by the base64 of its digest. */
  addSignature(name: string, base64: string): void {
    if (!this.#addNew(`signature ${name} ${base64}`)) return;
    const digest = Buffer.from(base64, 'base64');
    // Shorter digests are not signatures, and would match by chance.
    if (digest.length < MIN_SIGNATURE_HEAD) return;
    if (this.#isExact) {
      const spellings = digestSpellings(base64);
      for (const spelling of spellings) this.#addSpelling(name, spelling, spelling.length, spellings.slice(0, 2));
      return;
    }
    for (const encoding of ['base64', 'base64url', 'hex'] as const) {
      this.#forms.add(signatureForm(name, digest, encoding));
    }
  }

  /**
   * Finds the secrets in a text. A part counts too when it shows most of the secret: its first three quarters (a key
   * with one character changed), or eight characters where the text was cut. The time is linear in the length of the
   * text. A caller that has already decoded the text gives the result as `decoded`.
   */
  find(text: string, decoded?: readonly DecodedText[]): NamedSpan[] {
    return this.#findIn(text, false, decoded);
  }

  /** Finds the secrets in a text of hookproof, except for values that may be ordinary words. */
  findInWording(text: string): NamedSpan[] {
    return this.#findIn(text, true);
  }

  #findIn(text: string, isWording: boolean, decoded?: readonly DecodedText[]): NamedSpan[] {
    if (this.#known.size === 0) return [];
    return (decoded ?? decodeText(text)).flatMap((one) =>
      this.findInDecoded(one, isWording).map((span) => ({ ...one.originOf(span), name: span.name })),
    );
  }

  /** Whether the text contains a spelling of a secret, without being decoded. */
  containsSecret(text: string): boolean {
    const folded = foldCase(text);
    return this.#spellings.some((spelling) => folded.includes(spelling));
  }

  /** Finds the secrets in one decoded text. Positions are those of this text, not of the original. */
  findInDecoded({ text, depth, isFinal }: DecodedText, isWording = false): NamedSpan[] {
    const spans: NamedSpan[] = [];
    const collect = (form: Form, start: number, { length, end }: Match) => {
      if ((isWording && form.isWeak) || (depth > 0 && !form.isDecodable)) return;
      const isEnough =
        length >= form.minLength || (!this.#isExact && !isWording && length >= MIN_HEAD && isCut(text, end));
      if (!isEnough || form.exactLetters?.includes(lettersOf(text.slice(start, end))) === false) return;
      spans.push({ start, end, name: form.name });
    };
    let four = 0;
    let fourLetters = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = foldedCode(text, at);
      four = nextFour(four, code);
      const forms = this.#forms.formsWith(four);
      if (forms !== undefined && at >= HEAD - 1) {
        const start = at - HEAD + 1;
        for (const form of forms) collect(form, start, matchForm(text, start, form.text));
      }
      if (!isFinal || code >= 128 || ALPHANUMERIC[code] === 0) continue;
      fourLetters = nextFour(fourLetters, code);
      const squeezed = this.#squeezed.formsWith(fourLetters);
      const start = squeezed && startOfLetters(text, at);
      if (squeezed === undefined || start === undefined) continue;
      for (const form of squeezed) collect(form, start, matchLetters(text, start, form.text));
    }
    return spans;
  }

  /** `length` is that of the value, and `printed` are the spellings of it whose letter case counts. */
  #addSpelling(name: string, spelling: string, length: number, printed: readonly string[] = []): void {
    const text = foldCase(spelling);
    if (text.length < HEAD) return;
    const letters = lettersOf(text);
    const exactLetters = printed.map(lettersOf).filter((one) => one.toLowerCase() === letters);
    const strength = { isWeak: length < MIN_STRONG, isDecodable: length >= MIN_DECODED };
    const common = { name, ...strength, ...(exactLetters.length > 0 && { exactLetters }) };
    this.#addForm(this.#forms, text, common);
    if (letters.length >= MIN_SQUEEZED) this.#addForm(this.#squeezed, letters, common);
  }

  #addForm(index: FormIndex, text: string, common: Omit<Form, 'text' | 'head' | 'minLength'>): void {
    if (!this.#addNew(`${index === this.#forms ? 1 : 2} ${common.name} ${text}`)) return;
    const minLength = this.#isExact ? text.length : Math.max(Math.min(MIN_HEAD, text.length), text.length * 0.75);
    index.add({ ...common, text, head: firstFour(text), minLength });
  }

  /** Whether an id was not added before. It is added. */
  #addNew(id: string): boolean {
    const isNew = !this.#known.has(id);
    this.#known.add(id);
    return isNew;
  }
}

interface Match {
  /** Number of characters of the form, from its beginning. */
  readonly length: number;
  /** The end of the match in the text. */
  readonly end: number;
}

function matchForm(text: string, start: number, form: string): Match {
  let [length, end] = [0, start];
  while (length < form.length && end < text.length && foldedCode(text, end) === form.charCodeAt(length)) {
    length += 1;
    end += 1;
  }
  return { length, end };
}

function isAlphanumeric(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code < 128 && ALPHANUMERIC[code] === 1;
}

/** Returns where the last four letters and digits begin; undefined when a separator between them is too long. */
function startOfLetters(text: string, end: number): number | undefined {
  let at = end;
  for (let letters = 1; letters < HEAD; letters += 1) {
    const before = at;
    do at -= 1;
    while (at >= 0 && before - at <= MAX_GAP && !isAlphanumeric(text, at));
    if (at < 0 || before - at > MAX_GAP) return undefined;
  }
  return at;
}

/** Like {@link matchForm}, but skips what is between letters and digits. */
function matchLetters(text: string, from: number, form: string): Match {
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

/** Finds the parts of a value in a text that have at least `length` characters; each is as long as possible. */
export function partsIn(text: string, value: string, length: number): Span[] {
  const parts: Span[] = [];
  for (let from = 0; from + length <= value.length; from += 1) {
    const beginning = value.slice(from, from + length);
    for (let start = text.indexOf(beginning); start !== -1; start = text.indexOf(beginning, start + 1)) {
      if (from > 0 && text[start - 1] === value[from - 1]) continue;
      let end = start + length;
      while (from + end - start < value.length && text[end] === value[from + end - start]) end += 1;
      parts.push({ start, end });
    }
  }
  return parts;
}

/** Whether the text ends at this position, or is cut off there with an ellipsis. */
function isCut(text: string, at: number): boolean {
  return at === text.length || text[at] === '…' || text.startsWith('...', at);
}

/**
 * Replaces every span with the marker for its name. Overlapping spans become one, named after the longest.
 */
export function replaceSpans(text: string, spans: readonly NamedSpan[], markerFor: (name: string) => string): string {
  let result = '';
  let from = 0;
  const sorted = spans.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const measured = sorted.map((span) => ({ ...span, longest: span.end - span.start }));
  for (const span of mergeOverlapping(measured, (one, other) => (other.longest > one.longest ? other : one))) {
    result += text.slice(from, span.start) + markerFor(span.name);
    from = span.end;
  }
  return result + text.slice(from);
}

/**
 * Joins spans that overlap. The spans must be sorted by their start. `choose` decides which of two overlapping spans
 * provides the other fields.
 */
export function mergeOverlapping<S extends Span>(sorted: readonly S[], choose: (one: S, other: S) => S): S[] {
  const merged: S[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else merged[merged.length - 1] = { ...choose(last, span), start: last.start, end: Math.max(last.end, span.end) };
  }
  return merged;
}
