/** Replacements for the address stage: method, target and headers. */
import { type HeaderLine, headerValues, sameHeaderName } from '../../contract/index.ts';
import type { AddressChange, Kit, RequestHead } from '../scenario.ts';

/** Which header a change is about: a configured one by its role, or any by its name. */
export type HeaderRef = 'signature' | 'api-key' | { readonly name: string };

function nameOf(header: HeaderRef, kit: Kit): string {
  if (header === 'signature') return kit.signatureHeader;
  if (header === 'api-key') return kit.apiKeyHeader;
  return header.name;
}

/**
 * Replaces the line of a header by any number of lines: none removes it, two repeat it. The new lines stand where the
 * old one stood, or last when there was none. `lines` gets the header's name and its value ('' when there was none).
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

/** Leaves a header out. */
export function withoutHeader(header: HeaderRef, label: string): AddressChange {
  return replaceHeader(header, label, () => []);
}

/** Sends another value in a header. */
export function headerValue(header: HeaderRef, label: string, value: (old: string, kit: Kit) => string): AddressChange {
  return replaceHeader(header, label, (name, old, kit) => [[name, value(old, kit)]]);
}

/** Spells the name of a header differently. */
export function headerName(header: HeaderRef, label: string, rename: (name: string) => string): AddressChange {
  return replaceHeader(header, label, (name, value) => [[rename(name), value]]);
}

/** Adds header lines at the end. */
export function addHeaders(label: string, lines: (kit: Kit) => readonly HeaderLine[]): AddressChange {
  return { label, make: (head, kit) => ({ ...head, headers: [...head.headers, ...lines(kit)] }) };
}

/** Makes several address changes as one: for what is one fault but needs two lines touched. */
export function both(label: string, first: AddressChange, second: AddressChange): AddressChange {
  return { label, make: (head, kit, body) => second.make(first.make(head, kit, body), kit, body) };
}

/** Sends one line of this header, in place of any that are there. */
export function setHeader(name: string, value: string): AddressChange {
  return headerValue({ name }, `${name}: ${value}`, () => value);
}

/** Adds parameters to the query of the target. `query` is percent-encoded already. */
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
 * Takes the value of a header to another header. When that is the very header that the partner has configured, the
 * value goes to one with `-Copy` behind its name, so that it always stands in a wrong place.
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

/** Takes the value of a header to a parameter of the query. */
export function moveToQuery(header: HeaderRef, label: string, parameter: (kit: Kit) => string): AddressChange {
  const added = addQuery(label, (kit, head) => {
    const old = headerValues(head.headers, nameOf(header, kit))[0] ?? '';
    return `${encodeURIComponent(parameter(kit))}=${encodeURIComponent(old)}`;
  });
  return both(label, added, withoutHeader(header, label));
}
