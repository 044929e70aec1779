/**
 * Makes hostile text safe to look at. What an endpoint answers ends up in terminals, XML and logs, so every character
 * that controls a display rather than showing something is replaced by its escape.
 */
import type { Bytes } from './result-document.ts';

/**
 * Controls, formatting characters (bidirectional overrides, zero-width ones), lone surrogates, line and paragraph
 * separators.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One character as its escape. */
export function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const named = NAMED[character];
  if (named !== undefined) return named;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * The text with every control and invisible character as an escape (`\x1b`, `\n`, `\u202e`): one line, and nothing acts
 * on the terminal.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, escapeCharacter);
}

/** Our own punctuation, for terminals without Unicode. */
const ASCII_SPELLING: Readonly<Record<string, string>> = {
  '\u2013': '-',
  '\u2014': '-',
  '\u2018': "'",
  '\u2019': "'",
  '\u201c': '"',
  '\u201d': '"',
  '\u2026': '...',
  '\u2192': '->',
  '\u00d7': 'x',
};

/** Visible text in ASCII alone: common punctuation is respelt, everything else becomes an escape. */
export function visibleAscii(text: string): string {
  return visible(text).replace(
    /[^\x20-\x7e]/gu,
    (character) => ASCII_SPELLING[character] ?? escapeCharacter(character),
  );
}

/** Cuts to a number of characters, never through a surrogate pair, and marks the cut with an ellipsis. */
function capped(text: string, characters: number): string {
  if (text.length <= characters) return text;
  return `${Array.from(text.slice(0, characters)).slice(0, -1).join('')}…`;
}

/**
 * A body for reading, in one line: "no body", "15 bytes: {"ok":true}", "32 bytes, not text: base64 ...".
 * `characters` limits the part that is shown; the length named is the real one.
 */
export function describeBytes(bytes: Bytes, characters = 200): string {
  if (bytes.length === 0) return 'no body';
  const size = `${bytes.length} ${bytes.length === 1 ? 'byte' : 'bytes'}`;
  const shown = bytes.text ?? bytes.base64;
  if (shown === null || shown === '') return size;
  const text = capped(visible(shown.slice(0, characters * 4)), characters);
  const whole = !bytes.truncated || text.endsWith('…');
  return `${size}${bytes.text === null ? ', not text: base64' : ':'} ${text}${whole ? '' : '…'}`;
}
