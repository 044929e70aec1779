/**
 * Escapes characters that control a display instead of being displayed, because untrusted text from endpoints reaches
 * terminals, XML and logs.
 */

/**
 * Control characters, formatting characters (bidirectional overrides, zero-width characters), lone surrogates, and line
 * and paragraph separators.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Returns the escape of one character, such as `\x1b` or `\u202e`. */
export function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const named = NAMED[character];
  if (named !== undefined) return named;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * Escapes every control character and invisible character (`\x1b`, `\n`, `\u202e`). The result is a single line and
 * cannot control a terminal.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, escapeCharacter);
}
