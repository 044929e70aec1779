/**
 * Decodes a text: removes escapes, and decodes base64, base32, hexadecimal and lists of numbers, several levels deep.
 * Each decoded text can map its positions back to the original.
 *
 * The time is linear in the length of the text: the depth is limited, and each step reads a character only a few times.
 */
import { constants, gunzipSync } from 'node:zlib';

/** A part of a text, from `start` up to but not including `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface DecodedText {
  readonly text: string;
  /** Number of times that bytes were decoded: 0 for the original text, with or without its escapes. */
  readonly depth: number;
  /** True for the last text at its depth, in which escapes are removed and broken lines joined. */
  readonly isFinal: boolean;
  /** Returns the part of the original text from which a part of this text was decoded. */
  originOf(span: Span): Span;
}

/** Maximum depth. Callers search each decoded text for encoded spellings too, which adds one level. */
const MAX_DEPTH = 2;
/** Maximum number of times that escapes are removed at one depth, for escaped escapes such as `%2561`. */
const MAX_PASSES = 4;

/** Returns the text itself and every text that can be decoded from it. */
export function decodeText(text: string): DecodedText[] {
  const decoded: DecodedText[] = [];
  let source: MappedText | undefined = { text, originOf: (span) => span };
  for (let depth = 0; source !== undefined; depth += 1) {
    const passes = removeAllEscapes(source);
    const last: MappedText = passes.at(-1) ?? source;
    for (const pass of passes) decoded.push({ ...pass, depth, isFinal: pass === last });
    source = depth < MAX_DEPTH ? decodeBytes(last) : undefined;
  }
  return decoded;
}

/** Returns the text, the text after each removal of escapes, and the text with its broken lines joined. */
function removeAllEscapes(source: MappedText): MappedText[] {
  const passes = [source];
  let [last, next] = [source, removeEscapes(source)];
  while (next !== undefined) {
    passes.push(next);
    last = next;
    next = passes.length > MAX_PASSES ? undefined : removeEscapes(next);
  }
  const joined = joinBrokenLines(last);
  return joined === undefined ? passes : [...passes, joined];
}

type MappedText = Pick<DecodedText, 'text' | 'originOf'>;

/** Composes a text from parts of another text, and records where each part came from. */
class TextComposer {
  readonly #source: MappedText;
  readonly #texts: string[] = [];
  /** Four numbers for each part: its position and length here, and its position and length in the source. */
  readonly #parts: number[] = [];
  #length = 0;

  constructor(source: MappedText) {
    this.#source = source;
  }

  add(text: string, from: number, fromLength: number): void {
    if (text === '') return;
    this.#texts.push(text);
    this.#parts.push(this.#length, text.length, from, fromLength);
    this.#length += text.length;
  }

  /**
   * Adds bytes as one character each and, if they are gzip, the decompressed bytes as well. `scale` is the number of
   * encoded characters per byte.
   */
  addBytes(bytes: Buffer, from: number, scale: number): void {
    const length = bytes.length * scale;
    for (const decoded of [bytes, inflate(bytes)]) {
      if (decoded === undefined) continue;
      this.add(decoded.toString('latin1'), from, length);
      this.add(BETWEEN, from + Math.ceil(length), 0);
    }
  }

  /** Returns the composed text, or undefined when it is empty. */
  finish(): MappedText | undefined {
    if (this.#length === 0) return undefined;
    return {
      text: this.#texts.join(''),
      originOf: ({ start, end }) => {
        const [first, last] = [this.#partAt(start), this.#partAt(end - 1)];
        return this.#source.originOf({
          start: first.from + Math.floor((start - first.at) * first.scale),
          end: last.from + Math.ceil((end - last.at) * last.scale),
        });
      },
    };
  }

  #partAt(position: number): { readonly at: number; readonly from: number; readonly scale: number } {
    let [low, high] = [0, this.#parts.length / 4 - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#parts[middle * 4] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    const [at = 0, length = 1, from = 0, fromLength = 0] = this.#parts.slice(low * 4, low * 4 + 4);
    return { at, from, scale: fromLength / length };
  }
}

const ESCAPE = new RegExp(
  [
    '%u[0-9a-f]{4}|%[0-9a-f]{2}',
    String.raw`\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|u\{0*[0-9a-f]{1,6}\}|[0-3][0-7]{2}|[nrtbf"'/\\])`,
    '&(?:#x0*[0-9a-f]{1,6};?|#0*[0-9]{1,7};?|[a-z]{2,10};)',
  ].join('|'),
  'gi',
);
const MAY_ESCAPE = /[%\\&]/;

const LETTERS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** The HTML entities of ASCII characters and of characters that browsers do not display. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', shy: '\u00ad', zwj: '\u200d', zwnj: '\u200c' },
  ...{ tab: '\t', newline: '\n', excl: '!', num: '#', dollar: '$', percnt: '%', lpar: '(', rpar: ')', ast: '*' },
  ...{ plus: '+', comma: ',', hyphen: '-', dash: '-', period: '.', sol: '/', colon: ':', semi: ';', equals: '=' },
  ...{ quest: '?', commat: '@', lsqb: '[', lbrack: '[', bsol: '\\', rsqb: ']', rbrack: ']', hat: '^', lowbar: '_' },
  ...{ grave: '`', lcub: '{', lbrace: '{', verbar: '|', vert: '|', rcub: '}', rbrace: '}' },
};

function decodeEscape(written: string): string | undefined {
  const folded = written.toLowerCase();
  if (folded.startsWith('%')) return characterOf(folded.slice(folded[1] === 'u' ? 2 : 1), 16);
  if (folded.startsWith('&#x')) return characterOf(folded.slice(3).replace(';', ''), 16);
  if (folded.startsWith('&#')) return characterOf(folded.slice(2).replace(';', ''), 10);
  if (folded.startsWith('&')) return ENTITIES[folded.slice(1, -1)];
  if (/^\\[xu]/.test(folded)) return characterOf(folded.replace(/[\\xu{}]/g, ''), 16);
  if (/^\\[0-3]/.test(folded)) return characterOf(folded.slice(1), 8);
  return LETTERS[folded.slice(1)] ?? folded.slice(1);
}

/** Returns undefined for a number above the last code point. */
function characterOf(digits: string, base: number): string | undefined {
  const code = Number.parseInt(digits, base);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** Decodes the escapes of URLs, string literals and HTML once. Returns undefined when there are none. */
function removeEscapes(source: MappedText): MappedText | undefined {
  return MAY_ESCAPE.test(source.text) ? replaceMatches(source, ESCAPE, decodeEscape) : undefined;
}

/** A line break within base64, and the indentation after it. */
const LINE_BREAK = /\r?\n(?<=[A-Za-z0-9+/_-]{16}\r?\n)[ \t]*(?=[A-Za-z0-9+/_-])/g;

function joinBrokenLines(source: MappedText): MappedText | undefined {
  return source.text.includes('\n') ? replaceMatches(source, LINE_BREAK, () => '') : undefined;
}

/** Replaces each match that has a replacement. Returns undefined when nothing changes. */
function replaceMatches(
  source: MappedText,
  pattern: RegExp,
  replacementOf: (match: string) => string | undefined,
): MappedText | undefined {
  const { text } = source;
  const composer = new TextComposer(source);
  let from = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    const replacement = replacementOf(match);
    if (replacement === undefined) continue;
    composer.add(text.slice(from, index), from, index - from);
    composer.add(replacement, index, match.length);
    from = index + match.length;
  }
  if (from === 0) return undefined;
  composer.add(text.slice(from), from, text.length - from);
  return composer.finish();
}

/** Minimum length of an encoded text. A secret in a shorter one is found by its encoded spelling. */
const MIN_RUN = 16;
/** 1 for each character of the base64 and base64url alphabets. */
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) => Number(/[\w+/-]/.test(String.fromCharCode(code))));
const BASE32 = /[A-Z2-7]{16,}|[a-z2-7]{16,}/g;
const HEX = /[0-9a-f]{20,}/gi;
const HEX_LIST = /[0-9a-f]{2}(?:[\s:.,;_=-]{1,3}(?:0x)?[0-9a-f]{2}){9,}/gi;
/** Numbers can be negative, because Java's bytes are signed. */
const DECIMAL_LIST = /-?[0-9]{1,3}(?:[\s,;]{1,12}-?[0-9]{1,3}){9,}/g;

const HEX_ITEM = /(?:0x)?([0-9a-f]{2})/gi;
const DECIMAL_ITEM = /(-?[0-9]+)/g;
const HEX_ONLY = /^[0-9a-f]+$/i;

/** The start of a row of `hexdump -C`, `xxd` and similar programs: an offset and up to 16 bytes. */
const DUMP_ROW = /([0-9a-f]{4,8})[:|]? {1,2}([0-9a-f]{2}(?: {0,2}[0-9a-f]{2}){0,15})/gi;
const ROW_BYTES = 16;
/** Minimum number of bytes in the first row of a dump. Later rows may be shorter. */
const MIN_FIRST_ROW = 8;

/**
 * Separates two decoded pieces. It is an ellipsis, so that a secret that is cut off at the end of a piece is also
 * found.
 */
const BETWEEN = '...';

/** Decodes everything in the text that looks encoded, to one character per byte. Returns undefined if nothing does. */
function decodeBytes(source: MappedText): MappedText | undefined {
  const composer = new TextComposer(source);
  // Dumps come first. Their rows also match as lists, which would otherwise separate consecutive rows.
  addDumps(source.text, composer);
  addRuns(source.text, composer);
  addList(source.text, composer, HEX_LIST, HEX_ITEM, 16);
  addList(source.text, composer, DECIMAL_LIST, DECIMAL_ITEM, 10);
  return composer.finish();
}

/** Adds the bytes of hexadecimal dumps, in which each row has an offset before the bytes and characters after them. */
function addDumps(text: string, composer: TextComposer): void {
  let expected: number | undefined;
  for (const { 0: row, 1: offset = '', 2: written = '', index } of text.matchAll(DUMP_ROW)) {
    const bytes = Buffer.from(written.replaceAll(' ', ''), 'hex').subarray(0, ROW_BYTES);
    const place = Number.parseInt(offset, 16);
    const isNext = place === expected;
    if (!isNext && bytes.length < MIN_FIRST_ROW) continue;
    if (!isNext) composer.add(BETWEEN, index, 0);
    composer.add(bytes.toString('latin1'), index, row.length);
    expected = place + bytes.length;
  }
}

/** Adds the bytes that base64, base32 and hexadecimal encode. */
function addRuns(text: string, composer: TextComposer): void {
  for (const [index, run] of runsIn(text)) {
    // The preceding text may use the same alphabet, so the encoded value can begin at any character.
    const skips = HEX_ONLY.test(run) ? 0 : 4;
    for (let skip = 0; skip < skips; skip += 1) {
      composer.addBytes(Buffer.from(run.slice(skip), 'base64'), index + skip, 4 / 3);
    }
    for (const { 0: part, index: at } of run.matchAll(BASE32)) {
      for (let skip = 0; skip < 8; skip += 1) {
        composer.addBytes(decodeBase32(part.slice(skip)), index + at + skip, 8 / 5);
      }
    }
    for (const { 0: part, index: at } of run.matchAll(HEX)) {
      for (let skip = 0; skip < 2; skip += 1) {
        composer.addBytes(Buffer.from(part.slice(skip), 'hex'), index + at + skip, 2);
      }
    }
  }
}

/** Adds the bytes of lists whose numbers are written in this base. */
function addList(text: string, composer: TextComposer, lists: RegExp, items: RegExp, base: number): void {
  for (const { 0: list, index: at } of text.matchAll(lists)) {
    for (const { 0: written, 1: digits = '', index } of list.matchAll(items)) {
      const code = Number.parseInt(digits, base);
      composer.add(String.fromCharCode(code < 0 ? code & 0xff : code), at + index, written.length);
    }
    composer.add(BETWEEN, at + list.length, 0);
  }
}

/** Maximum compression ratio, which keeps the time linear. JSON usually shrinks to about a tenth. */
const MAX_RATIO = 16;

/** Decompresses gzip data, even if it is truncated. Returns undefined for other bytes. */
function inflate(bytes: Buffer): Buffer | undefined {
  if (bytes.length < MIN_RUN || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return undefined;
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: bytes.length * MAX_RATIO });
  } catch {
    return undefined;
  }
}

/** Finds the longest runs of base64 or base64url characters, with their positions. */
function runsIn(text: string): [index: number, run: string][] {
  const runs: [number, string][] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at === text.length ? 128 : text.charCodeAt(at);
    if (code < 128 && IN_RUN[code] === 1) continue;
    if (at - start >= MIN_RUN) runs.push([start, text.slice(start, at)]);
    start = at + 1;
  }
  return runs;
}

/** Maximum number of characters to look back for the beginning of an encoded text. */
const MAX_RUN = 65_536;

/** Returns the position at which the encoded text around `position` begins. */
export function startOfRun(text: string, position: number): number {
  const first = Math.max(0, position - MAX_RUN);
  let start = position;
  // A regular expression anchored at the end of the text would be tried at each character.
  while (start > first && IN_RUN[text.charCodeAt(start - 1)] === 1) start -= 1;
  return start;
}

function decodeBase32(text: string): Buffer {
  const bytes = Buffer.alloc(Math.floor((text.length * 5) / 8));
  let [held, bits, length] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // The letters A to Z, in either case, are 0 to 25; the digits 2 to 7 are 26 to 31.
    held = ((held << 5) | (code < 0x40 ? code - 0x32 + 26 : (code & 0x1f) - 1)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length] = (held >> bits) & 0xff;
    length += 1;
  }
  return bytes;
}
