/** Changes to the address stage: method, target, headers and the API key. */
import { type HeaderLine, headerValues, sameHeaderName } from '../../contract/index.ts';
import type { AddressChange, Kit, RequestHead } from '../scenario.ts';

/** Inverts the case of the ASCII letters. */
export const swapCase = (value: string) =>
  value.replace(/[a-z]/gi, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));

/** The header that a change concerns: a configured one by its role, or any header by its name. */
type HeaderRef = 'signature' | 'api-key' | { readonly name: string };

function nameOf(header: HeaderRef, kit: Kit): string {
  if (header === 'signature') return kit.signatureHeader;
  if (header === 'api-key') return kit.apiKeyHeader;
  return header.name;
}

/**
 * Replaces the line of a header with any number of lines: an empty list removes the header, two lines repeat it. The
 * new lines take the position of the old one, or come last if there was none. `lines` receives the name of the header,
 * and its value ('' if there was none).
 */
export function replaceHeader(
  header: HeaderRef,
  label: string,
  lines: (name: string, value: string, kit: Kit) => readonly HeaderLine[],
): AddressChange {
  return {
    label,
    make(head, kit): RequestHead {
      const name = nameOf(header, kit);
      const at = head.headers.findIndex(([other]) => sameHeaderName(other, name));
      const position = at === -1 ? head.headers.length : at;
      const old = head.headers[position] ?? ([name, ''] as const);
      const rest = head.headers.filter(([other]) => !sameHeaderName(other, name));
      return { ...head, headers: rest.toSpliced(position, 0, ...lines(old[0], old[1], kit)) };
    },
  };
}

/** Omits a header. */
export function withoutHeader(header: HeaderRef, label: string): AddressChange {
  return replaceHeader(header, label, () => []);
}

/** Replaces the value of a header. A missing header is added. */
export function headerValue(header: HeaderRef, label: string, value: (old: string, kit: Kit) => string): AddressChange {
  return replaceHeader(header, label, (name, old, kit) => [[name, value(old, kit)]]);
}

/** Renames a header. Its value does not change. */
export function headerName(header: HeaderRef, label: string, rename: (name: string) => string): AddressChange {
  return replaceHeader(header, label, (name, value) => [[rename(name), value]]);
}

/** Replaces the hyphens in the name of a header with underscores. A name without hyphens gets a trailing underscore. */
export function underscored(header: HeaderRef): AddressChange {
  return headerName(header, 'the name of the header with underscores', (name) =>
    name.includes('-') ? name.replaceAll('-', '_') : `${name}_`,
  );
}

/** Adds header lines at the end. */
export function addHeaders(label: string, lines: (kit: Kit) => readonly HeaderLine[]): AddressChange {
  return { label, make: (head, kit) => ({ ...head, headers: [...head.headers, ...lines(kit)] }) };
}

/** Combines two address changes, for a fault that needs two changed lines. */
export function both(label: string, first: AddressChange, second: AddressChange): AddressChange {
  return { label, make: (head, kit, body) => second.make(first.make(head, kit, body), kit, body) };
}

/** Replaces all lines of this header with one. */
export function setHeader(name: string, value: string): AddressChange {
  return headerValue({ name }, `${name}: ${value}`, () => value);
}

/** Adds parameters to the query of the target. `query` returns percent-encoded text. */
export function addQuery(label: string, query: (kit: Kit, head: RequestHead) => string): AddressChange {
  return {
    label,
    make: (head, kit) => ({
      ...head,
      target: `${head.target}${head.target.includes('?') ? '&' : '?'}${query(kit, head)}`,
    }),
  };
}

/**
 * Moves the value of a header to another header. If the partner has configured that header, `-Copy` is appended to its
 * name, so the value is never in the configured header.
 */
export function moveToHeader(
  header: HeaderRef,
  name: string,
  label: string,
  value: (old: string) => string = (old) => old,
): AddressChange {
  return {
    label,
    make(head, kit, body) {
      const old = headerValues(head.headers, nameOf(header, kit))[0] ?? '';
      const place = sameHeaderName(name, nameOf(header, kit)) ? `${name}-Copy` : name;
      const put = headerValue({ name: place }, label, () => value(old));
      return put.make(withoutHeader(header, label).make(head, kit, body), kit, body);
    },
  };
}

/** Moves the value of a header to a query parameter. */
export function moveToQuery(header: HeaderRef, label: string, parameter: (kit: Kit) => string): AddressChange {
  const added = addQuery(label, (kit, head) => {
    const old = headerValues(head.headers, nameOf(header, kit))[0] ?? '';
    return `${encodeURIComponent(parameter(kit))}=${encodeURIComponent(old)}`;
  });
  return both(label, added, withoutHeader(header, label));
}

/**
 * Sends this value instead of the API key. If it happens to be the partner's key, an `x` is appended, so the value is
 * invalid for every partner. Surrounding whitespace is ignored in this comparison.
 */
export function keyInstead(label: string, value: (key: string, kit: Kit) => string): AddressChange {
  return headerValue('api-key', label, (key, kit) => {
    const sent = value(key, kit);
    return sent.replace(/^[\t ]+|[\t ]+$/g, '') === key ? `${sent}x` : sent;
  });
}

/** Changes one character of the key. A negative index counts from the end. */
export function withCharacterChanged(key: string, index: number): string {
  const at = index < 0 ? key.length + index : index;
  return `${key.slice(0, at)}${key[at] === '0' ? '1' : '0'}${key.slice(at + 1)}`;
}

/** Sends a random key. */
export const wrongKey = keyInstead('a random API key', (_key, kit) => kit.nonce(32));
