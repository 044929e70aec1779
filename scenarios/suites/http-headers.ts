import { addHeaders, headerName, headerValue, withoutHeader } from '../changes/addressing.ts';
import { accepted, answeredAsSigned } from '../expectations.ts';
import type { AddressChange, Expectation, ProbeScenario } from '../scenario.ts';

const alike = { level: 'should', requirements: ['delivery-content-type'], expect: accepted } as const;
const other = { level: 'must', requirements: ['delivery-malformed'], expect: answeredAsSigned } as const;
const letterCase = { level: 'must', requirements: ['delivery-header-case'], expect: accepted } as const;

function contentType(value: string): ProbeScenario['change'] {
  return { address: headerValue({ name: 'Content-Type' }, `Content-Type: ${value}`, () => value) };
}

/** Small and capital letters in turn: `x-SeRvIcE-...`. */
function alternating(name: string): string {
  return [...name].map((letter, index) => (index % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');
}

const allLower: AddressChange = {
  label: 'all header names in lower case',
  make: (head) => ({ ...head, headers: head.headers.map(([name, value]) => [name.toLowerCase(), value] as const) }),
};

/** More headers than most servers take: it may be refused, and the connection closed with it. */
const takenOrClosed: Expectation = {
  text: '200, any 4xx or a closed connection',
  authentic: true,
  pass: [200, '4xx', 'closed'],
};

/** Content-Type in its spellings, header names in any letter case, and too much of a header. */
export const httpHeaders: readonly ProbeScenario[] = [
  {
    ...alike,
    id: 'http/content-type-charset',
    title: 'Accepts Content-Type with charset=utf-8',
    change: contentType('application/json; charset=utf-8'),
    why: 'HTTP libraries and proxies add the parameter by themselves. A comparison with the exact text then refuses every delivery.',
    fix: 'Compare the media type without its parameters.',
  },
  {
    ...alike,
    id: 'http/content-type-charset-upper',
    title: 'Accepts Content-Type with charset=UTF-8 and no space before it',
    change: contentType('application/json;charset=UTF-8'),
    why: 'Spring and other Java stacks write it so; a regular expression that wants a space or small letters does not match.',
    fix: 'Parse the header with a library (content-type, email.message) and not with a pattern.',
  },
  {
    ...alike,
    id: 'http/content-type-quoted',
    title: 'Accepts Content-Type with a quoted charset',
    change: contentType('application/json; charset="utf-8"'),
    why: 'Quotes are allowed around a parameter, and a decoder called "utf-8" with its quotes does not exist.',
    fix: 'Remove the quotes, or ignore the parameter: JSON is UTF-8 anyway.',
  },
  {
    ...alike,
    id: 'http/content-type-upper',
    title: 'Accepts Content-Type in capital letters',
    change: contentType('Application/JSON'),
    why: 'Media types have no letter case, and one gateway in the path that capitalises them stops everything.',
    fix: 'Lower the media type before you compare it.',
  },
  {
    ...alike,
    id: 'http/content-type-suffix',
    title: 'Accepts a media type that ends in +json',
    level: 'info',
    change: contentType('application/cloudevents+json'),
    why: 'It is JSON by its suffix. Nothing is sent that way today; it shows how strict the receiver is.',
    fix: 'Nothing has to change; accept +json if you want to be ready for an event gateway in between.',
  },
  {
    ...other,
    id: 'http/content-type-missing',
    title: 'Answers a signed delivery without Content-Type by its content',
    change: { address: withoutHeader({ name: 'Content-Type' }, 'no Content-Type') },
    why: 'Body readers that go by the type leave the body undefined, and the next line hashes undefined: an exception, or a hang.',
    fix: 'Read the raw body whatever its type is (express.raw({ type: () => true })), or answer 415 at once.',
  },
  {
    ...other,
    id: 'http/content-type-text',
    title: 'Answers a signed delivery as text/plain by its content',
    change: contentType('text/plain'),
    why: 'The parser for text gives a string where the handler expects an object or bytes.',
    fix: 'Answer 415 to other types before the handler, or ignore the type.',
  },
  {
    ...other,
    id: 'http/content-type-form',
    title: 'Answers a signed delivery as a form by its content',
    change: contentType('application/x-www-form-urlencoded'),
    why: 'The parser for forms consumes the body and makes one odd key of it; nothing is left to verify.',
    fix: 'Install no form parser on this route.',
  },
  {
    ...other,
    id: 'http/content-type-multipart',
    title: 'Answers a signed delivery as multipart without a boundary by its content',
    change: contentType('multipart/form-data'),
    why: 'Parsers for uploads throw when the boundary is missing, mostly outside of any guard.',
    fix: 'Keep upload middleware away from this route, and handle its errors where it must be global.',
  },
  {
    ...other,
    id: 'http/content-type-broken',
    title: 'Answers a signed delivery with a broken Content-Type by its content',
    change: contentType('application/json; ;charset'),
    why: 'Strict parsers for the header throw TypeError on it.',
    fix: 'Guard the parsing of headers too: 415 is the answer to one that cannot be read.',
  },
  {
    ...letterCase,
    id: 'http/signature-header-lower',
    title: 'Finds the signature header in lower case',
    needs: ['hmac'],
    change: {
      address: headerName('signature', 'the name of the signature header in lower case', (name) => name.toLowerCase()),
    },
    why: 'HTTP/2 and many gateways lower all names. A lookup in a map that keeps case finds nothing, and every delivery is a 401.',
    fix: 'Look headers up by a function that ignores case.',
  },
  {
    ...letterCase,
    id: 'http/signature-header-upper',
    title: 'Finds the signature header in upper case',
    needs: ['hmac'],
    change: {
      address: headerName('signature', 'the name of the signature header in upper case', (name) => name.toUpperCase()),
    },
    why: 'CGI-like environments work with capitals; mixed set-ups then look for a spelling that is not there.',
    fix: 'Lower the names once where the request comes in, and look up lower-case names only.',
  },
  {
    ...letterCase,
    id: 'http/signature-header-mixed',
    title: 'Finds the signature header in mixed case',
    needs: ['hmac'],
    change: { address: headerName('signature', 'the name of the signature header in mixed case', alternating) },
    why: 'A receiver that tries two or three spellings still misses the rest of them.',
    fix: 'Replace the list of spellings by one lookup that ignores case.',
  },
  {
    ...letterCase,
    id: 'http/key-header-lower',
    title: 'Finds the API key header in lower case',
    needs: ['api-key'],
    change: {
      address: headerName('api-key', 'the name of the API key header in lower case', (name) => name.toLowerCase()),
    },
    why: 'The key is often checked in a gateway that has rules for letter case of its own.',
    fix: 'Configure the gateway to compare header names without case.',
  },
  {
    ...letterCase,
    id: 'http/key-header-upper',
    title: 'Finds the API key header in upper case',
    needs: ['api-key'],
    change: {
      address: headerName('api-key', 'the name of the API key header in upper case', (name) => name.toUpperCase()),
    },
    why: 'The check of the key is frequently another piece of code than that of the signature, with another mistake.',
    fix: 'Use the same lookup for the key as for the signature.',
  },
  {
    ...letterCase,
    id: 'http/headers-lower',
    title: 'Accepts a delivery whose header names are all in lower case',
    change: { address: allLower },
    why: 'Behind a proxy that speaks HTTP/2 this is what arrives, Content-Type and Content-Length included.',
    fix: 'Make every lookup of a header ignore case, and not only those of the credentials.',
  },
  {
    ...other,
    id: 'http/header-20-kb',
    title: 'Stays up on a header of 20 kB',
    requirements: ['delivery-hostile-http'],
    change: { address: addHeaders('a header of 20,000 characters', (kit) => [['X-Test-Long', kit.nonce(20_000)]]) },
    expect: takenOrClosed,
    why: 'Every server has a limit for headers; what it does beyond it is often decided by an error handler that was never tried.',
    fix: 'Answer 431, or let the server close the connection.',
  },
];
