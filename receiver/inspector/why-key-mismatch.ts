/** Where the API key was put, when it is not in its header as it should be. Only the whole key is recognised: a guess learns nothing. */
import { type HeaderLine, headerValues, sameHeaderName } from '../../contract/index.ts';

/** A sentence about what the sender did with the right key, or null when the right key is nowhere to be seen. */
export function whyKeyMismatch(input: {
  readonly headers: readonly HeaderLine[];
  readonly target: string;
  readonly keys: readonly string[];
  readonly header: string;
}): string | null {
  const { headers, target, keys, header } = input;
  const values = headerValues(headers, header);
  const isKey = (text: string) => keys.includes(text);
  if (values.length > 1 && values.some(isKey)) return 'The right key is one of several values of the header.';
  for (const value of values) {
    if (isKey(value)) return null;
    if (/^(["'])(.*)\1$/s.test(value) && isKey(value.slice(1, -1)))
      return 'The sender put quotes around the right key.';
    if (isKey(value.replace(/^[\w-]+[ :=]\s*/, ''))) return 'The sender put a word in front of the right key.';
    if (isKey(Buffer.from(value, 'base64').toString('utf8'))) return 'The sender encoded the right key in base64.';
    if (keys.some((key) => key.toLowerCase() === value.toLowerCase())) return 'The letter case of the key was changed.';
  }
  const elsewhere = headers.find(
    ([name, value]) => !sameHeaderName(name, header) && (isKey(value) || isKey(value.replace(/^\w+ /, ''))),
  );
  if (elsewhere !== undefined) return `The right key came in the header ${elsewhere[0]}, and is expected in ${header}.`;
  const query = target.split('?').slice(1).join('?').split('&');
  const inQuery = query.some((part) => isKey(decoded(part.slice(part.indexOf('=') + 1))));
  return inQuery ? `The right key came in the query of the URL, and is expected in the header ${header}.` : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
