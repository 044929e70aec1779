import { addHeaders, headerName, headerValue, withoutHeader } from '../changes/addressing.ts';
import { headerSpacing } from '../changes/transmitting.ts';
import { accepted, answeredAsSigned } from '../expectations.ts';
import type { AddressChange, Expectation, FlowScenario, ProbeScenario } from '../scenario.ts';

const alike = { level: 'should', requirements: ['delivery-content-type-spelling'], expect: accepted } as const;
const other = { level: 'must', requirements: ['delivery-malformed'], expect: answeredAsSigned } as const;
const letterCase = { level: 'must', requirements: ['delivery-header-case'], expect: accepted } as const;

function contentType(value: string): ProbeScenario['change'] {
  return { address: headerValue({ name: 'Content-Type' }, `Content-Type: ${value}`, () => value) };
}

/** Lower-case and upper-case letters in turn: `x-SeRvIcE-...`. */
function alternating(name: string): string {
  return [...name].map((letter, index) => (index % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');
}

const allLower: AddressChange = {
  label: 'all header names in lower case',
  make: (head) => ({ ...head, headers: head.headers.map(([name, value]) => [name.toLowerCase(), value] as const) }),
};

/** A larger header than most servers accept: they may reject it or close the connection. */
const takenOrClosed: Expectation = {
  text: '200, any 4xx or a closed connection',
  authentic: true,
  pass: [200, '4xx', 'closed'],
};

/** The same header lines with other white space after the colon. */
const SPACINGS = { 'no space': '', 'three spaces': '   ' } as const;

const headerSpacings: FlowScenario = {
  level: 'must',
  requirements: ['delivery-header-case'],
  id: 'http/header-spacing',
  title: 'Accepts header lines with no space, or with three spaces, after the colon',
  defect: 'Requires exactly one space after the colon of a header',
  flow: () =>
    Object.entries(SPACINGS).map(([what, space]) => {
      const label = `${what} after the colons`;
      return [{ label, change: { transmit: headerSpacing(label, space) }, expect: accepted }];
    }),
  why: 'The space is optional in HTTP, and proxies may leave it out. A receiver that splits at ": " finds no header.',
  fix: 'Do not parse header lines by hand. Otherwise split at the colon, and trim spaces and tabs.',
};

/** Spellings of Content-Type, header names in any letter case, and a large header. */
export const httpHeaders: readonly (ProbeScenario | FlowScenario)[] = [
  {
    ...alike,
    id: 'http/content-type-charset',
    title: 'Accepts a Content-Type with charset=utf-8',
    change: contentType('application/json; charset=utf-8'),
    why:
      'HTTP libraries and proxies add this parameter. A comparison with the exact string then rejects every ' +
      'delivery.',
    fix: 'Compare the media type without its parameters.',
  },
  {
    ...alike,
    id: 'http/content-type-charset-upper',
    title: 'Accepts a Content-Type with charset=UTF-8 and no space before it',
    change: contentType('application/json;charset=UTF-8'),
    why: 'Spring and other Java stacks write it this way. A pattern with a space or lower-case letters does not match.',
    fix: 'Parse the header with a library (content-type, email.message) instead of a pattern.',
  },
  {
    ...alike,
    id: 'http/content-type-quoted',
    title: 'Accepts a Content-Type with a quoted charset',
    change: contentType('application/json; charset="utf-8"'),
    why: 'Quotes are allowed around a parameter, but there is no decoder called "utf-8" with its quotes.',
    fix: 'Remove the quotes, or ignore the parameter: JSON is always UTF-8.',
  },
  {
    ...alike,
    id: 'http/content-type-upper',
    title: 'Accepts a Content-Type in mixed case',
    change: contentType('Application/JSON'),
    why: 'Media types are case-insensitive, and a gateway may change their case.',
    fix: 'Lower-case the media type before you compare it.',
  },
  {
    ...alike,
    id: 'http/content-type-suffix',
    title: 'Accepts a media type that ends in +json',
    level: 'info',
    change: contentType('application/cloudevents+json'),
    why: 'Such a type is JSON. The sender does not use one today; the check shows how strict the receiver is.',
    fix: 'No change needed. Accept +json to support event gateways in front of the receiver.',
  },
  {
    ...other,
    id: 'http/content-type-missing',
    title: 'Handles a signed delivery without a Content-Type',
    change: { address: withoutHeader({ name: 'Content-Type' }, 'no Content-Type') },
    why: 'Parsers that are selected by type leave the body undefined, and computing its HMAC fails or hangs.',
    fix: 'Read the raw body whatever its type is (express.raw({ type: () => true })), or answer 415 at once.',
  },
  {
    ...other,
    id: 'http/content-type-text',
    title: 'Handles a signed delivery as text/plain',
    change: contentType('text/plain'),
    why: 'The text parser returns a string where the handler expects an object or bytes.',
    fix: 'Answer 415 to other types before the handler, or ignore the type.',
  },
  {
    ...other,
    id: 'http/content-type-form',
    title: 'Handles a signed delivery as a form',
    change: contentType('application/x-www-form-urlencoded'),
    why: 'The form parser consumes the body and turns it into one key, so nothing is left to verify.',
    fix: 'Install no form parser on this route.',
  },
  {
    ...other,
    id: 'http/content-type-multipart',
    title: 'Handles a signed delivery as multipart without a boundary',
    change: contentType('multipart/form-data'),
    why: 'Upload parsers throw when the boundary is missing, usually outside any error handling.',
    fix: 'Keep upload middleware off this route, or handle its errors.',
  },
  {
    ...other,
    id: 'http/content-type-broken',
    title: 'Handles a signed delivery with a malformed Content-Type',
    change: contentType('application/json; ;charset'),
    why: 'Strict parsers of this header throw a TypeError.',
    fix: 'Catch errors of header parsers, and answer 415.',
  },
  {
    ...letterCase,
    id: 'http/signature-header-lower',
    title: 'Accepts the signature header with its name in lower case',
    needs: ['hmac'],
    change: {
      address: headerName('signature', 'the name of the signature header in lower case', (name) => name.toLowerCase()),
    },
    why: 'HTTP/2 and many gateways lower-case all names. A case-sensitive lookup then rejects every delivery.',
    fix: 'Look headers up with a case-insensitive function.',
  },
  {
    ...letterCase,
    id: 'http/signature-header-upper',
    title: 'Accepts the signature header with its name in upper case',
    needs: ['hmac'],
    change: {
      address: headerName('signature', 'the name of the signature header in upper case', (name) => name.toUpperCase()),
    },
    why: 'CGI-like environments use upper case, and a case-sensitive lookup does not find the header.',
    fix: 'Lower-case all names once when the request arrives, and look up lower-case names.',
  },
  {
    ...letterCase,
    id: 'http/signature-header-mixed',
    title: 'Accepts the signature header with its name in mixed case',
    needs: ['hmac'],
    change: { address: headerName('signature', 'the name of the signature header in mixed case', alternating) },
    why: 'A receiver that tries two or three spellings still misses the others.',
    fix: 'Replace the list of spellings with one case-insensitive lookup.',
  },
  {
    ...letterCase,
    id: 'http/key-header-lower',
    title: 'Accepts the API key header with its name in lower case (Content-Type unchanged)',
    needs: ['api-key'],
    change: {
      address: headerName('api-key', 'the name of the API key header in lower case', (name) => name.toLowerCase()),
    },
    why: 'The key is often checked in a gateway with its own rules for letter case.',
    fix: 'Configure the gateway to compare header names case-insensitively.',
  },
  {
    ...letterCase,
    id: 'http/key-header-upper',
    title: 'Accepts the API key header with its name in upper case (Content-Type unchanged)',
    needs: ['api-key'],
    change: {
      address: headerName('api-key', 'the name of the API key header in upper case', (name) => name.toUpperCase()),
    },
    why: 'The key check is often separate from the signature check, and can have other faults.',
    fix: 'Use the same lookup for the key as for the signature.',
  },
  {
    ...letterCase,
    id: 'http/headers-lower',
    title: 'Accepts a delivery with all header names in lower case',
    change: { address: allLower },
    why: 'A proxy that uses HTTP/2 sends all names like this, including Content-Type and Content-Length.',
    fix: 'Make every header lookup case-insensitive, not only those for credentials.',
  },
  headerSpacings,
  {
    ...other,
    id: 'http/header-20-kb',
    title: 'Handles a header of 20 kB',
    requirements: ['delivery-hostile-http'],
    change: { address: addHeaders('a header of 20,000 characters', (kit) => [['X-Test-Long', kit.nonce(20_000)]]) },
    expect: takenOrClosed,
    why: 'Every server has a header limit, and its error handling is rarely tested.',
    fix: 'Answer 431, or let the server close the connection.',
  },
];
