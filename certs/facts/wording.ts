/** Controls, formatting characters (bidirectional overrides, zero-width ones), lone surrogates, line and paragraph separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '\n') return '\\n';
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * Text out of a certificate, safe to print: at most `characters` of it, with an ellipsis where it was cut, and what would
 * act on a terminal as its escape. A certificate can say anything about itself.
 */
export function visibleText(text: string, characters: number): string {
  // Two code units a character at most: a name of megabytes is not taken apart.
  const all = Array.from(text.slice(0, characters * 2 + 2));
  const cut = all.length > characters ? `${all.slice(0, characters - 1).join('')}…` : all.join('');
  return cut.replace(UNSEEN, escaped);
}

/** A clause as a sentence: with its capital and its full stop. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
