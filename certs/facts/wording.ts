/** Text from certificates, made safe to print. */

/**
 * Controls, formatting characters (bidirectional overrides, zero-width ones), lone surrogates, line and paragraph
 * separators.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Makes untrusted text safe to print: at most `characters` characters, with an ellipsis if truncated, and with control
 * characters escaped.
 */
export function visibleText(text: string, characters: number): string {
  // A character has at most two code units. The slice avoids splitting a text of megabytes.
  const all = Array.from(text.slice(0, characters * 2 + 2));
  const cut = all.length > characters ? `${all.slice(0, characters - 1).join('')}…` : all.join('');
  return cut.replace(INVISIBLE, escaped);
}

/** Turns a clause into a sentence with a capital letter and a full stop. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (character === '\n') return '\\n';
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}
