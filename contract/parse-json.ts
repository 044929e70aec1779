/** Parses untrusted JSON without the keys that can change prototypes, and checks how deeply it is nested. */
import { parse } from 'secure-json-parse';

/**
 * Parses JSON and removes the keys `__proto__` and `constructor.prototype`. Throws SyntaxError, as `JSON.parse` does.
 * Skips a leading byte order mark.
 */
export function parseSafely(text: string): unknown {
  return parse(text, undefined, { protoAction: 'remove', constructorAction: 'remove' });
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Returns true when JSON text is nested deeper than `limit` levels: `[]` is one level, `[[]]` are two. It scans the
 * text without recursion, before a parser sees it. For text that is not JSON the result is meaningless, but the parser
 * rejects that text later.
 */
export function isNestedDeeper(text: string, limit: number): boolean {
  // Text with at most `limit` opening brackets cannot be nested deeper. Nearly every notification returns here.
  if (countUpTo(limit, text, '{') + countUpTo(limit, text, '[') <= limit) return false;

  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) {
      inString = true;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
    }
  }
  return false;
}

/** Counts occurrences of a character. Stops as soon as the count exceeds `limit`. */
function countUpTo(limit: number, text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1 && count <= limit; at = text.indexOf(character, at + 1)) count += 1;
  return count;
}
