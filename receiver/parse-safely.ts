import { parse } from 'secure-json-parse';

/**
 * Reads JSON without the keys `__proto__` and `constructor.prototype`, when it comes and again when it is handled. Throws what `JSON.parse` does; a byte
 * order mark at the beginning is skipped.
 */
export function parseSafely(text: string): unknown {
  return parse(text, undefined, { protoAction: 'remove', constructorAction: 'remove' });
}
