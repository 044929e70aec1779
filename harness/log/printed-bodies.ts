/**
 * Finds request bodies, and the ids in them, in a log, even if the words of a body are in another order. Loggers print
 * a parsed body as JSON, in the notation of their language, or sorted by key.
 */
import type { Span } from '../../contract/decoded-texts.ts';
import { lettersOf } from '../../contract/find-secrets.ts';

/** Maximum number of bytes of a body that are compared. */
const MAX_HEAD = 4096;
/** Minimum size of a body, and minimum number of words in it. Smaller bodies may occur by chance. */
const MIN_BODY = 40;
const MIN_WORDS = 5;
/** Minimum share of a body's words that a log must contain. Loggers write `None` for null, and shorten long values. */
const MIN_SHARE = 0.9;
const WORD = /[A-Za-z0-9_]{3,}/g;
const MAX_WORD = 64;
const MIN_ANCHOR = 8;
/** Number of characters at the end of an id that are searched for first. Many ids begin alike. */
const TAIL = 12;

const foldWord = (word: string) => word.slice(0, MAX_WORD).toLowerCase();
const wordsOf = (text: string) => new Set(Array.from(text.matchAll(WORD), ([word]) => foldWord(word)));

/** How to find a value that a log may contain in another form. */
export interface Search {
  readonly text: string;
  /** A part of the text that is unlikely to occur in other values. */
  readonly anchor: string;
  /** Returns the span around a match of the anchor that shows the value. Undefined if it does not. */
  readonly confirm: (text: string, match: Span) => Span | undefined;
}

/** Returns how to find a body. Undefined if the body is too small. */
export function searchForBody(body: Uint8Array): Search | undefined {
  const head = Buffer.from(body.subarray(0, MAX_HEAD)).toString('latin1');
  const anchor = findAnchor(head);
  if (anchor === undefined || head.length < MIN_BODY || wordsOf(head).size < MIN_WORDS) return undefined;
  return { text: head, anchor, confirm: (text, match) => findWordsAround(head, text, match) };
}

/** Returns how to find an id or an address, in any letter case. */
export function searchForId(id: string): Search {
  const folded = id.toLowerCase();
  return {
    text: id,
    anchor: id.slice(-TAIL),
    confirm(text, { end }) {
      const start = end - id.length;
      return start >= 0 && text.slice(start, end).toLowerCase() === folded ? { start, end } : undefined;
    },
  };
}

/** Returns the end of the id in a body. Without an id, returns a piece from its middle. */
function findAnchor(head: string): string | undefined {
  const id = /"id"\s*:\s*"([^"\\]{8,100})"/.exec(head)?.[1];
  if (id !== undefined) return id.slice(-TAIL);
  const middle = Math.floor(head.length / 2);
  const parts = [0, 16, 32, -16, -32, -48].map((shift) => head.slice(Math.max(0, middle + shift)).slice(0, 16));
  return parts.find((part) => lettersOf(part).length >= MIN_ANCHOR && new Set(part).size > 5);
}

interface FoundWord extends Span {
  readonly word: string;
}

/** Finds the span around a match that contains the words of a body. Undefined if too many of them are missing. */
function findWordsAround(head: string, text: string, match: Span): Span | undefined {
  const words = wordsOf(head);
  const reach = head.length * 2 + 400;
  const from = Math.max(0, match.start - reach);
  const found: FoundWord[] = [];
  for (const { 0: written, index } of text.slice(from, match.end + reach).matchAll(WORD)) {
    const word = foldWord(written);
    if (words.has(word)) found.push({ word, start: from + index, end: from + index + written.length });
  }
  const lines = linesAround(match, text);
  for (const candidates of [found.filter((one) => isWithin(one, lines)), found]) {
    const total = new Set(candidates.map(({ word }) => word)).size;
    if (total >= words.size * MIN_SHARE) return shortestWith(candidates, total, match);
  }
  return undefined;
}

/**
 * Returns the shortest span around a match that contains this many different words. Returns the match itself if there
 * is none.
 */
function shortestWith(found: readonly FoundWord[], total: number, match: Span): Span {
  const inside = new Map<string, number>();
  let [first, best] = [0, match];
  for (const { word, end } of found) {
    inside.set(word, (inside.get(word) ?? 0) + 1);
    for (let next = found[first]; next !== undefined && (inside.get(next.word) ?? 0) > 1; next = found[first]) {
      inside.set(next.word, (inside.get(next.word) ?? 0) - 1);
      first += 1;
    }
    const start = found[first]?.start ?? match.start;
    if (inside.size < total || start > match.start || end < match.end) continue;
    if (best === match || end - start < best.end - best.start) best = { start, end };
  }
  return best;
}

/** Extends a span to whole lines. */
export function linesAround({ start, end }: Span, text: string): Span {
  const next = text.indexOf('\n', end);
  return { start: text.lastIndexOf('\n', start - 1) + 1, end: next === -1 ? text.length : next };
}

export const isWithin = (inner: Span, outer: Span) => outer.start <= inner.start && inner.end <= outer.end;
