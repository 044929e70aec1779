/**
 * What common stacks make of a body when they parse it and write it again. A signature over one of these is what a receiver
 * computes that does not verify the bytes as received. Each takes the body that is sent and returns other bytes for it.
 */
import type { JsonValue } from '../../contract/index.ts';
import { asciiOnly, compact, keysSorted, respelt, respeltStrings, utf8 } from './bytes.ts';

/** Parses and writes again. `write` gets the value and its compact text. */
function rewriting(write: (value: JsonValue) => string): (body: Uint8Array) => Buffer {
  return (body) => utf8(write(JSON.parse(Buffer.from(body).toString('utf8')) as JsonValue));
}

/** JavaScript: JSON.stringify. */
export const asJavaScript = rewriting(compact);

/** JavaScript, indented by two spaces. */
export const asPrettyJavaScript = rewriting((value) => JSON.stringify(value, null, 2));

/** Python: json.dumps with its default separators, everything outside of ASCII escaped. */
export const asPython = rewriting((value) =>
  asciiOnly(respelt(compact(value), (token) => (token === ',' || token === ':' ? `${token} ` : token))),
);

/** Any stack that sorts keys: a canonical form, compact. */
export const asSorted = rewriting((value) => compact(keysSorted(value)));

/** PHP: json_encode by default, which escapes slashes and everything outside of ASCII. */
export const asPhp = rewriting((value) =>
  asciiOnly(respeltStrings(compact(value), (token) => token.replaceAll('/', '\\/'))),
);
