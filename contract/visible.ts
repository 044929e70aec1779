/**
 * Escapes characters that control a display instead of showing something, because untrusted text from endpoints ends up
 * in terminals, XML and logs.
 */

/**
 * Control characters, formatting characters (bidirectional overrides, zero-width characters), lone surrogates, line and
 * paragraph separators.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes one character. */
export function escapeCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const named = NAMED[character];
  if (named !== undefined) return named;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`;
}

/**
 * Replaces every control and invisible character with its escape (`\x1b`, `\n`, `\u202e`). The result is one line and
 * cannot control the terminal.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, escapeCharacter);
}
