/** JSON from strangers, without keys that reach prototypes. */
import { parse } from 'secure-json-parse';

/**
 * Parses JSON without the keys `__proto__` and `constructor.prototype`. Throws what `JSON.parse` throws; a byte order
 * mark at the beginning is skipped.
 */
export function parseSafely(text: string): unknown {
  return parse(text, undefined, { protoAction: 'remove', constructorAction: 'remove' });
}
