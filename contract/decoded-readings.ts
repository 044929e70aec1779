/**
 * What a text says to a reader who decodes it: without escapes, and with the bytes behind base64, base32, hexadecimal
 * and lists of numbers, several levels deep. Each reading knows which part of the original it was read from.
 *
 * The time is linear in the length of the text: the depth is limited, and a step reads each character a few times at
 * most.
 */
import { constants, gunzipSync } from 'node:zlib';

export interface Reading {
  readonly text: string;
  /** How many times bytes were decoded: 0 for the text itself, and for the text without escapes. */
  readonly depth: number;
  /** The last of its depth: without escapes and line breaks. */
  readonly settled: boolean;
  /** The part of the original text that a part of this one was read from. */
  origin(start: number, end: number): readonly [start: number, end: number];
}

/** Levels of bytes that are decoded. Spellings are looked for in each, so that one more level is found. */
const MAX_DEPTH = 2;
/** Escapes of escapes (`%2561`) at one level. */
const MAX_PASSES = 4;

/** The text itself, and every reading of it. */
export function readingsOf(text: string): Reading[] {
  const readings: Reading[] = [];
  let source: Source | undefined = { text, origin: (start, end) => [start, end] };
  for (let depth = 0; source !== undefined; depth += 1) {
    const passes: Source[] = [source];
    let next: Source | undefined;
    do {
      source = passes.at(-1) ?? source;
      next = passes.length > MAX_PASSES ? undefined : withoutEscapes(source);
      if (next !== undefined) passes.push(next);
    } while (next !== undefined);
    const joined = withoutLineBreaks(source);
    if (joined !== undefined) passes.push(joined);
    for (const pass of passes) {
      readings.push({ text: pass.text, origin: pass.origin, depth, settled: pass === passes.at(-1) });
    }
    source = depth < MAX_DEPTH ? bytesIn(passes.at(-1) ?? source) : undefined;
  }
  return readings;
}

type Source = Pick<Reading, 'text' | 'origin'>;

/** Puts a text together from parts of another one, and finds those parts again. */
function composer(source: Source) {
  const texts: string[] = [];
  /** For each part: where it is, its length, where it came from, and the length there. */
  const parts: number[] = [];
  let length = 0;
  const partAt = (at: number): number => {
    let [low, high] = [0, parts.length / 4 - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((parts[middle * 4] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low * 4;
  };
  return {
    add(text: string, from: number, fromLength: number): void {
      if (text === '') return;
      texts.push(text);
      parts.push(length, text.length, from, fromLength);
      length += text.length;
    },
    /** The composed text; undefined when it is empty. */
    finish(): Source | undefined {
      if (length === 0) return undefined;
      return {
        text: texts.join(''),
        origin(start, end) {
          const [first, last] = [partAt(start), partAt(end - 1)];
          const scale = (part: number) => (parts[part + 3] ?? 0) / (parts[part + 1] ?? 1);
          const begin = (parts[first + 2] ?? 0) + Math.floor((start - (parts[first] ?? 0)) * scale(first));
          const finish = (parts[last + 2] ?? 0) + Math.ceil((end - (parts[last] ?? 0)) * scale(last));
          return source.origin(begin, finish);
        },
      };
    },
  };
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

/** The entities of HTML for ASCII, and for what browsers do not show. */
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', shy: '\u00ad', zwj: '\u200d', zwnj: '\u200c' },
  ...{ tab: '\t', newline: '\n', excl: '!', num: '#', dollar: '$', percnt: '%', lpar: '(', rpar: ')', ast: '*' },
  ...{ plus: '+', comma: ',', hyphen: '-', dash: '-', period: '.', sol: '/', colon: ':', semi: ';', equals: '=' },
  ...{ quest: '?', commat: '@', lsqb: '[', lbrack: '[', bsol: '\\', rsqb: ']', rbrack: ']', hat: '^', lowbar: '_' },
  ...{ grave: '`', lcub: '{', lbrace: '{', verbar: '|', vert: '|', rcub: '}', rbrace: '}' },
};

function meaningOf(written: string): string | undefined {
  const folded = written.toLowerCase();
  if (folded.startsWith('%')) return codeUnit(folded.slice(folded[1] === 'u' ? 2 : 1), 16);
  if (folded.startsWith('&#x')) return codeUnit(folded.slice(3).replace(';', ''), 16);
  if (folded.startsWith('&#')) return codeUnit(folded.slice(2).replace(';', ''), 10);
  if (folded.startsWith('&')) return ENTITIES[folded.slice(1, -1)];
  if (/^\\[xu]/.test(folded)) return codeUnit(folded.replace(/[\\xu{}]/g, ''), 16);
  if (/^\\[0-3]/.test(folded)) return codeUnit(folded.slice(1), 8);
  return LETTERS[folded.slice(1)] ?? folded.slice(1);
}

/** Undefined above the last code point. */
function codeUnit(digits: string, base: number): string | undefined {
  const code = Number.parseInt(digits, base);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

/** The text with the escapes of URLs, strings and HTML undone, once; undefined without any. */
function withoutEscapes(source: Source): Source | undefined {
  return MAY_ESCAPE.test(source.text) ? replaced(source, ESCAPE, meaningOf) : undefined;
}

/** Base64 is often broken into lines. */
const LINE_BREAK = /\r?\n(?<=[A-Za-z0-9+/_-]{16}\r?\n)[ \t]*(?=[A-Za-z0-9+/_-])/g;

function withoutLineBreaks(source: Source): Source | undefined {
  return source.text.includes('\n') ? replaced(source, LINE_BREAK, () => '') : undefined;
}

/** The text with each match replaced, or left as it is when there is no replacement; undefined when none changes. */
function replaced(
  source: Source,
  pattern: RegExp,
  replacementOf: (match: string) => string | undefined,
): Source | undefined {
  const { text } = source;
  const composed = composer(source);
  let from = 0;
  for (const { 0: match, index } of text.matchAll(pattern)) {
    const replacement = replacementOf(match);
    if (replacement === undefined) continue;
    composed.add(text.slice(from, index), from, index - from);
    composed.add(replacement, index, match.length);
    from = index + match.length;
  }
  if (from === 0) return undefined;
  composed.add(text.slice(from), from, text.length - from);
  return composed.finish();
}

/** Characters of an encoded text; a shorter one holds nothing that would not be found as a spelling. */
const MIN_RUN = 16;
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) => Number(/[\w+/-]/.test(String.fromCharCode(code))));
const BASE32 = /[A-Z2-7]{16,}|[a-z2-7]{16,}/g;
const HEX = /[0-9a-f]{20,}/gi;
const HEX_LIST = /[0-9a-f]{2}(?:[\s:.,;_=-]{1,3}(?:0x)?[0-9a-f]{2}){9,}/gi;
/** Bytes are signed in Java. */
const DECIMAL_LIST = /-?[0-9]{1,3}(?:[\s,;]{1,12}-?[0-9]{1,3}){9,}/g;

const HEX_ITEM = /(?:0x)?([0-9a-f]{2})/gi;
const DECIMAL_ITEM = /(-?[0-9]+)/g;
const HEX_ONLY = /^[0-9a-f]+$/i;

/** A row of `hexdump -C`, `xxd` and the like: an offset, up to 16 bytes, and their letters. */
const DUMP_ROW = /([0-9a-f]{4,8})[:|]? {1,2}([0-9a-f]{2}(?: {0,2}[0-9a-f]{2}){0,15})/gi;
const ROW_BYTES = 16;
/** A row of fewer bytes counts only after the row before it. */
const MIN_FIRST_ROW = 8;

/** Between two pieces. It is what stands for a part that was cut off, so the beginning of a secret before it counts. */
const BETWEEN = '...';

/** The bytes behind everything in the text that looks encoded, one character a byte; undefined without any. */
function bytesIn(source: Source): Source | undefined {
  const { text } = source;
  const composed = composer(source);
  /** `scale` is how many characters make a byte. */
  const add = (bytes: Buffer, from: number, scale: number) => {
    const length = bytes.length * scale;
    composed.add(bytes.toString('latin1'), from, length);
    composed.add(BETWEEN, from + Math.ceil(length), 0);
    const inflated = inflate(bytes);
    if (inflated === undefined) return;
    composed.add(inflated.toString('latin1'), from, length);
    composed.add(BETWEEN, from + Math.ceil(length), 0);
  };
  // First, so that no row of a dump, which also is a list, comes between an earlier and a later part of it.
  addDumps(text, composed);
  for (const [index, run] of runsIn(text)) {
    // What precedes an encoded value may be of the same alphabet, so that it may begin at any character.
    const skips = HEX_ONLY.test(run) ? 0 : 4;
    for (let skip = 0; skip < skips; skip += 1) {
      add(Buffer.from(run.slice(skip), 'base64'), index + skip, 4 / 3);
    }
    for (const { 0: part, index: at } of run.matchAll(BASE32)) {
      for (let skip = 0; skip < 8; skip += 1) add(fromBase32(part.slice(skip)), index + at + skip, 8 / 5);
    }
    for (const { 0: part, index: at } of run.matchAll(HEX)) {
      for (let skip = 0; skip < 2; skip += 1) add(Buffer.from(part.slice(skip), 'hex'), index + at + skip, 2);
    }
  }
  const addList = (lists: RegExp, items: RegExp, base: number) => {
    for (const { 0: list, index: at } of text.matchAll(lists)) {
      for (const { 0: written, 1: digits = '', index } of list.matchAll(items)) {
        const code = Number.parseInt(digits, base);
        composed.add(String.fromCharCode(code < 0 ? code & 0xff : code), at + index, written.length);
      }
      composed.add(BETWEEN, at + list.length, 0);
    }
  };
  addList(HEX_LIST, HEX_ITEM, 16);
  addList(DECIMAL_LIST, DECIMAL_ITEM, 10);
  return composed.finish();
}

/** The bytes of hexadecimal dumps, whose rows have an offset before them and letters after them. */
function addDumps(text: string, composed: ReturnType<typeof composer>): void {
  let expected: number | undefined;
  for (const { 0: row, 1: offset = '', 2: written = '', index } of text.matchAll(DUMP_ROW)) {
    const bytes = Buffer.from(written.replaceAll(' ', ''), 'hex').subarray(0, ROW_BYTES);
    const place = Number.parseInt(offset, 16);
    const isNext = place === expected;
    if (!isNext && bytes.length < MIN_FIRST_ROW) continue;
    if (!isNext) composed.add(BETWEEN, index, 0);
    composed.add(bytes.toString('latin1'), index, row.length);
    expected = place + bytes.length;
  }
}

/** JSON becomes about a tenth; more is not decompressed, so that the time stays linear. */
const MAX_RATIO = 16;

/** What gzip compressed, also where its end is missing; undefined for other bytes. */
function inflate(bytes: Buffer): Buffer | undefined {
  if (bytes.length < MIN_RUN || bytes[0] !== 0x1f || bytes[1] !== 0x8b) return undefined;
  try {
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: bytes.length * MAX_RATIO });
  } catch {
    return undefined;
  }
}

/** The longest parts in the alphabets of base64 and base64url, with their positions. */
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

function fromBase32(text: string): Buffer {
  const bytes = Buffer.alloc(Math.floor((text.length * 5) / 8));
  let [held, bits, length] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    // The letters of either case are 0 to 25, the digits 2 to 7 the rest.
    held = ((held << 5) | (code < 0x40 ? code - 0x32 + 26 : (code & 0x1f) - 1)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length] = (held >> bits) & 0xff;
    length += 1;
  }
  return bytes;
}
