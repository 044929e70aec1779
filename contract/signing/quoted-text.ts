/** Quotes text as languages and platforms do, or escapes it for HTML or a URL. */
import { requireEncodable } from './json-dialects.ts';

const LONG_ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const RUBY_ESCAPES = { ...LONG_ESCAPES, '\x07': '\\a', '\b': '\\b', '\v': '\\v', '\f': '\\f', '\x1b': '\\e' };

/**
 * Quotes as Python does: in single quotes, or in double quotes if the text contains only single ones. `special` matches
 * the characters that may need an escape.
 */
export function pythonQuoted(text: string, special: RegExp): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(special, (character) => {
    if (character === ' ' || (/['"]/.test(character) && character !== quote)) return character;
    if (character === quote || character === '\\') return `\\${character}`;
    const code = character.codePointAt(0) ?? 0;
    const [letter, digits] = code < 0x100 ? ['x', 2] : code < 0x10000 ? ['u', 4] : ['U', 8];
    return LONG_ESCAPES[character] ?? `\\${letter}${code.toString(16).padStart(Number(digits), '0')}`;
  });
  return `${quote}${escaped}${quote}`;
}

/** Quotes as Ruby's `inspect` does: in double quotes. */
export function rubyQuoted(text: string): string {
  const special = /["\\\p{Cc}\p{Cn}\p{Zl}\p{Zp}]|#(?=[{$@])/gu;
  const escaped = requireEncodable(text).replace(special, (character) => {
    if (/["\\#]/.test(character)) return `\\${character}`;
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
    const known: Readonly<Record<string, string>> = RUBY_ESCAPES;
    return known[character] ?? (code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`);
  });
  return `"${escaped}"`;
}

/** Percent-encodes everything except letters, digits and `safe`. Throws URIError for an unpaired surrogate. */
export function percentEncode(text: string, safe: string): string {
  const encoded = encodeURIComponent(text).replace(/[-_.!~*'()]/g, (character) =>
    safe.includes(character) ? character : `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return safe.includes('/') ? encoded.replaceAll('%2F', '/') : encoded;
}

/** Encodes text for a form, where a space becomes "+". */
export const formEncode = (text: string, safe = '-_.'): string => percentEncode(text, safe).replaceAll('%20', '+');

/** Escapes for HTML. Platforms write quotes differently, so `quote` and `apostrophe` give their escapes. */
export function escapeHtml(text: string, quote = '"', apostrophe = "'"): string {
  const basic = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return basic.replaceAll('"', quote).replaceAll("'", apostrophe);
}
