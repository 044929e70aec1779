/** Reads and compares the names of subjects and issuers (RFC 5280, 4.1.2.4 and 7.1). */

import { type DerElement, readElement, readObjectId, readParts, TAG } from '../der.ts';
import { visibleText } from './wording.ts';

export interface DistinguishedName {
  /** The name on one line, in the order of the certificate: `C=US, O=Example, CN=R1`. Truncated and safe to print. */
  readonly text: string;
  /**
   * Key for comparisons, equal for names that OpenSSL considers equal. It ignores letter case, spacing and string type.
   */
  readonly key: string;
  /** The common name as in the certificate. Not safe to print. */
  readonly commonName: string | null;
  /** The organisation, normalised in the same way as {@link key}. */
  readonly organisation: string | null;
}

const COMMON_NAME = '2.5.4.3';
const ORGANISATION = '2.5.4.10';

const SHORT_NAMES: Readonly<Record<string, string>> = {
  [COMMON_NAME]: 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  [ORGANISATION]: 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'title',
  '2.5.4.15': 'businessCategory',
  '2.5.4.17': 'postalCode',
  '2.5.4.42': 'GN',
  '2.5.4.97': 'organizationIdentifier',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'emailAddress',
  '1.3.6.1.4.1.311.60.2.1.3': 'jurisdictionC',
};

const VALUE_CHARACTERS = 100;
const NAME_CHARACTERS = 400;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Returns the text of a string type. Returns null for any other type. */
function decode({ tag, content }: DerElement): string | null {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  switch (tag) {
    case TAG.utf8String:
      try {
        return UTF8.decode(content);
      } catch {
        return null;
      }
    case TAG.numericString:
    case TAG.printableString:
    case TAG.teletexString: // Latin 1 in practice.
    case TAG.ia5String:
    case TAG.visibleString:
      return bytes.toString('latin1');
    case TAG.bmpString:
      return content.length % 2 === 0 ? Buffer.from(bytes).swap16().toString('utf16le') : null;
    default:
      return null;
  }
}

/** Normalises text as OpenSSL does for comparisons: ASCII letters in lower case, spaces trimmed and collapsed. */
function canonical(text: string): string {
  return text
    .replace(/[ \t-\r]+/g, ' ')
    .replace(/^ | $/g, '')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/**
 * Reads a name. Error messages call it `what`.
 *
 * @throws TypeError with the reason
 */
export function readName(element: DerElement | undefined, what: string): DistinguishedName {
  const shown: string[] = [];
  const keys: string[][] = [];
  let commonName: string | null = null;
  let organisation: string | null = null;
  for (const set of readParts(element, TAG.sequence, what)) {
    const parts: string[] = [];
    const partKeys: string[] = [];
    const attributes = readParts(set, TAG.set, `a part of ${what}`);
    if (attributes.length === 0) throw new TypeError(`a part of ${what} is empty`);
    for (const attribute of attributes) {
      const [type, value, ...more] = readParts(attribute, TAG.sequence, `an attribute of ${what}`);
      const id = readObjectId(type, `a type in ${what}`);
      if (value === undefined || more.length > 0) throw new TypeError(`a value in ${what} is missing or repeated`);
      const text = decode(value);
      const hex = `#${Buffer.from(value.bytes.subarray(0, VALUE_CHARACTERS)).toString('hex')}`;
      parts.push(`${SHORT_NAMES[id] ?? id}=${text === null ? visibleText(hex, VALUE_CHARACTERS) : readable(text)}`);
      partKeys.push(`${id}=${text === null ? `#${Buffer.from(value.bytes).toString('hex')}` : canonical(text)}`);
      if (id === COMMON_NAME) commonName = text;
      if (id === ORGANISATION && text !== null) organisation = canonical(text);
    }
    shown.push(parts.join('+'));
    keys.push(partKeys.sort());
  }
  return { text: visibleText(shown.join(', '), NAME_CHARACTERS), key: JSON.stringify(keys), commonName, organisation };
}

/** Makes a value safe to print, and escapes it as RFC 4514 requires. */
function readable(text: string): string {
  return visibleText(text.slice(0, VALUE_CHARACTERS * 2 + 2).replace(/[\\,+]/g, '\\$&'), VALUE_CHARACTERS);
}

/**
 * Formats a name, given as DER, like {@link DistinguishedName.text}. Describes an empty or unreadable name. Never
 * throws.
 */
export function distinguishedName(der: Uint8Array): string {
  try {
    const element = readElement(der);
    if (element.bytes.length < der.length) throw new TypeError('it has trailing bytes');
    return readName(element, 'the name').text || 'an empty name';
  } catch {
    return `a name of ${der.length} bytes that cannot be read`;
  }
}
