/** Makes untrusted text readable in reports and on terminals. */
import { escapeCharacter, visible } from '../../contract/visible.ts';
import type { Bytes } from './result-document.ts';

/** ASCII replacements for our own punctuation, for terminals without Unicode. */
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

/** Returns visible text in ASCII only: common punctuation is replaced, everything else becomes an escape. */
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
 * Describes a body in one line: "no body", "15 bytes: {"ok":true}", "32 bytes, not text: base64 ...". `characters`
 * limits the shown part; the stated length is the real one.
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
