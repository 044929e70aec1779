/** Finds secrets in a text, in every spelling, and masks them. */
import { type DecodedText, decodeText, type Span } from './decoded-texts.ts';
import { digestSpellings, secretParts, secretSpellings } from './secret-spellings.ts';

/** A part of a text that must be masked, with the name of the secret in it. */
export interface NamedSpan extends Span {
  readonly name: string;
}

/** Minimum length of a secret. Shorter values occur in many texts by chance. */
export const MIN_ANYWHERE = 4;
/** Minimum length of a secret to search for in decoded bytes. Shorter values occur there by chance. */
const MIN_DECODED = 8;
/** Minimum length of a value that cannot be an ordinary word. */
const MIN_STRONG = 16;
/** Minimum length for which a secret is also found when separators are inserted between its characters. */
const MIN_SQUEEZED = 10;
/** Maximum length of such a separator, in characters. */
const MAX_GAP = 32;
/** Minimum number of leading characters for which a truncated secret is found, and of the value's own characters. */
const MIN_HEAD = 8;
const MIN_HEAD_OF_VALUE = 4;
/** Minimum number of leading characters for which a truncated signature is found. */
const MIN_SIGNATURE_HEAD = 12;
/** Number of bytes of a Buffer that Node prints. They can be most of a secret. */
const INSPECTED_BYTES = 50;

/** A spelling of a secret, with its ASCII letters in lower case. */
interface Form {
  readonly text: string;
  readonly name: string;
  /** True for a value that may be an ordinary word. Such a value is not searched for in hookproof's own wording. */
  readonly isWeak: boolean;
  /** True when the form is also searched for in decoded bytes. */
  readonly isDecodable: boolean;
  /** Number of leading characters that make a match, anywhere in a text. */
  readonly minLength: number;
  /** Number of leading characters that make a match where a text is cut off. */
  readonly minHead: number;
  /** The first four characters as a number: see {@link firstFour}. */
  readonly head: number;
  /** Letters and digits of the spellings whose letter case must match; undefined when letter case is ignored. */
  readonly exactLetters?: readonly string[];
}

/** Lower-case code of each ASCII character. Folding changes only ASCII letters, so positions do not change. */
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

/** Number of leading characters by which forms are looked up. */
const HEAD = 4;
const HASH_BITS = 18;

/** Appends a character code to a number that holds the last four, one byte each. */
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

/** Indexes forms by their first four characters, so that one pass over a text searches for all of them. */
class FormIndex {
  readonly #forms = new Map<number, Form[]>();
  /** 1 for the hash of each indexed head. At most positions of a text, this saves a map look-up. */
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
 * Creates the form of a signature's spelling. A run creates thousands of signatures, and few texts contain one, so the
 * full spelling is computed only when a text has its first characters.
 */
function signatureForm(name: string, digest: Buffer, encoding: 'base64' | 'base64url' | 'hex'): Form {
  let spelling: string | undefined;
  const padding = encoding === 'base64url' ? '='.repeat((3 - (digest.length % 3)) % 3) : '';
  return {
    ...{ name, isWeak: false, isDecodable: true, minLength: MIN_SIGNATURE_HEAD, minHead: MIN_HEAD },
    // The first four characters encode three bytes in base64, and two in hexadecimal.
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
  /** Keys of everything that was added, which prevents duplicates. */
  readonly #known = new Set<string>();
  /** Every spelling of the secrets, in lower case. */
  readonly #spellings: string[] = [];
  readonly #forms = new FormIndex();
  /** Forms reduced to letters and digits. A match ignores separators, such as line breaks and colons. */
  readonly #squeezed = new FormIndex();

  /** With `exact`, only complete spellings match, and the value and its base64 must match in letter case. */
  constructor({ exact = false }: { readonly exact?: boolean } = {}) {
    this.#isExact = exact;
  }

  /** Adds a secret to search for. Parts of fewer than 4 characters are ignored. */
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

  /** Adds a text to search for in this spelling only. */
  addSpelling(name: string, spelling: string): void {
    this.#addSpelling(name, spelling, spelling.length);
  }

  /** Adds a signature to search for, given the base64 of its digest. */
  addSignature(name: string, base64: string): void {
    if (!this.#addNew(`signature ${name} ${base64}`)) return;
    const digest = Buffer.from(base64, 'base64');
    // Shorter digests are not signatures and would match by chance.
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
   * Finds the secrets in a text. A part of a secret also matches if it is the first three quarters (a key with its last
   * characters changed), or at least 8 leading characters at a position where the text is cut off. The time is linear
   * in the length of the text. Pass `decoded` if the text has already been decoded.
   */
  find(text: string, decoded?: readonly DecodedText[]): NamedSpan[] {
    return this.#findIn(text, false, decoded);
  }

  /** Finds the secrets in a text that hookproof wrote, except for values that may be ordinary words. */
  findInWording(text: string): NamedSpan[] {
    return this.#findIn(text, true);
  }

  #findIn(text: string, isWording: boolean, decoded?: readonly DecodedText[]): NamedSpan[] {
    if (this.#known.size === 0) return [];
    return (decoded ?? decodeText(text)).flatMap((one) =>
      this.findInDecoded(one, isWording).map((span) => ({ ...one.originOf(span), name: span.name })),
    );
  }

  /** Returns true when the text, without decoding, contains a spelling of a secret. Ignores letter case. */
  containsSecret(text: string): boolean {
    const folded = foldCase(text);
    return this.#spellings.some((spelling) => folded.includes(spelling));
  }

  /** Finds the secrets in one decoded text. Positions refer to this text, not to the original. */
  findInDecoded({ text, depth, isFinal }: DecodedText, isWording = false): NamedSpan[] {
    const spans: NamedSpan[] = [];
    const collect = (form: Form, start: number, { length, end }: Match) => {
      if ((isWording && form.isWeak) || (depth > 0 && !form.isDecodable)) return;
      const isEnough =
        length >= form.minLength || (!this.#isExact && !isWording && length >= form.minHead && isCut(text, end));
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

  /**
   * Adds a spelling to both indexes. `length` is the length of the value; `printed` lists its spellings whose letter
   * case must match.
   */
  #addSpelling(name: string, spelling: string, length: number, printed: readonly string[] = []): void {
    const text = foldCase(spelling);
    if (text.length < HEAD) return;
    const letters = lettersOf(text);
    const exactLetters = printed.map(lettersOf).filter((one) => one.toLowerCase() === letters);
    const strength = { isWeak: length < MIN_STRONG, isDecodable: length >= MIN_DECODED };
    const common = { name, ...strength, ...(exactLetters.length > 0 && { exactLetters }) };
    this.#addForm(this.#forms, text, length, common);
    if (letters.length >= MIN_SQUEEZED) this.#addForm(this.#squeezed, letters, length, common);
  }

  #addForm(index: FormIndex, text: string, length: number, common: Omit<Form, 'text' | 'head' | `min${string}`>): void {
    if (!this.#addNew(`${index === this.#forms ? 1 : 2} ${common.name} ${text}`)) return;
    const minLength = this.#isExact ? text.length : Math.max(Math.min(MIN_HEAD, text.length), text.length * 0.75);
    // Eight characters of a list of decimal bytes are two bytes, with which any list may end by chance.
    const minHead = Math.max(MIN_HEAD, (MIN_HEAD_OF_VALUE * text.length) / length);
    index.add({ ...common, text, head: firstFour(text), minLength, minHead });
  }

  /** Adds a key. Returns false when it was already known. */
  #addNew(id: string): boolean {
    const isNew = !this.#known.has(id);
    this.#known.add(id);
    return isNew;
  }
}

interface Match {
  /** Number of leading characters of the form that match. */
  readonly length: number;
  /** Position in the text after the last matching character. */
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

/**
 * Returns the position of the first of the four letters and digits that end at `end`. Returns undefined if there are
 * fewer, or if a separator between them is too long.
 */
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

/** Like {@link matchForm}, but skips separators between letters and digits. */
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

/**
 * Finds every part of a value that occurs in the text with at least `length` characters. Each part is as long as
 * possible.
 */
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

/** Returns true when the text ends at this position or continues with an ellipsis. */
function isCut(text: string, at: number): boolean {
  return at === text.length || text[at] === '…' || text.startsWith('...', at);
}

/** Replaces every span with the marker for its name. Overlapping spans are merged and named after the longest one. */
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
 * Merges overlapping spans, which must be sorted by start. `choose` decides which of two overlapping spans provides the
 * other fields.
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
