/** Whether the configured headers can be sent. Specification: Authentication. */
import {
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  HookproofError,
  RESERVED_HEADERS,
} from '../../contract/index.ts';
import type { Partner } from './partner.ts';

/** A name as HTTP allows it: a token (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What cannot stand in a value: control characters other than the tab, and what does not fit into one byte. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

interface ConfiguredHeader {
  readonly role: string;
  readonly name: string;
  /** Empty for the signature, whose value is made for each delivery. */
  readonly value: string;
}

/** @throws HookproofError PARTNER_HEADER, which names the header and never its value */
export function checkHeaders(partner: Partner): void {
  const seen = new Map<string, ConfiguredHeader>();
  for (const header of configuredHeaders(partner)) {
    checkHeader(header);
    const other = seen.get(header.name.toLowerCase());
    if (other !== undefined) {
      throw refusal(
        `${header.role} and ${other.role} both have the name ${header.name}`,
        'Give each header a name of its own.',
      );
    }
    seen.set(header.name.toLowerCase(), header);
  }
}

function configuredHeaders({ signing, apiKey, headers = [] }: Partner): ConfiguredHeader[] {
  const list: ConfiguredHeader[] = [];
  if (signing !== undefined) {
    list.push({ role: 'the signature header', name: signing.header ?? DEFAULT_SIGNATURE_HEADER, value: '' });
  }
  if (apiKey !== undefined) {
    list.push({ role: 'the API key header', name: apiKey.header ?? DEFAULT_API_KEY_HEADER, value: apiKey.value });
  }
  headers.forEach(([name, value], index) => {
    list.push({ role: `custom header ${index + 1}`, name, value });
  });
  return list;
}

function checkHeader({ role, name, value }: ConfiguredHeader): void {
  if (!TOKEN.test(name)) {
    // The name is not repeated: something that is no name may be a value in the wrong place.
    throw refusal(
      `the name of ${role} is not a header name`,
      'Use letters, digits and hyphens, without a colon or spaces.',
    );
  }
  if (RESERVED_HEADERS.has(name.toLowerCase())) {
    throw refusal(`${role} has the reserved name ${name}`, 'The sender sets this header itself. Choose another name.');
  }
  const bad = UNSENDABLE.exec(value)?.[0];
  if (bad !== undefined) {
    throw refusal(`the value of ${name} (${role}) holds ${describe(bad)}`, hintFor(bad));
  }
  if (/^[ \t]|[ \t]$/.test(value)) {
    throw refusal(
      `the value of ${name} (${role}) begins or ends with white space`,
      'HTTP drops white space around a value, so it would never arrive. Take it out.',
    );
  }
}

function describe(character: string): string {
  if (character === '\r' || character === '\n') return 'a line break';
  if (character === '\0') return 'a NUL character';
  return character < ' ' || character === '\x7f' ? 'a control character' : 'a character above U+00FF';
}

function hintFor(character: string): string {
  if (character === '\r' || character === '\n')
    return 'Take it out; a newline at the end of a file is the usual cause.';
  return 'Use printable ASCII characters.';
}

function refusal(what: string, hint: string): HookproofError {
  const message = `Headers: ${what}.`;
  return new HookproofError('PARTNER_HEADER', message, { hint });
}
