/**
 * Makes hostile text safe to look at. What an endpoint sends ends up in terminals, XML and logs, so every character
 * that controls a display rather than showing something is replaced by its escape.
 */

/**
 * Controls, formatting characters (bidirectional overrides, zero-width ones), lone surrogates, line and paragraph
 * separators.
 */
export const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

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
