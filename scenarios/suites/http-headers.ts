import { addHeaders, headerName, setHeader, withoutHeader } from '../changes/addressing.ts';
import { headerSpacing } from '../changes/transmitting.ts';
import { accepted, acceptedInAnotherShape, acceptedOrRejectedInAnotherShape } from '../expectations.ts';
import type { AddressChange, Change, Expectation, FlowScenario, Scenario } from '../scenario.ts';
import { family } from './family.ts';

const spelling = { suite: 'http', verb: 'Accepts', level: 'should', expect: acceptedInAnotherShape } as const;
const other = { suite: 'http', verb: 'Handles', level: 'should', expect: acceptedOrRejectedInAnotherShape } as const;
const letterCase = { suite: 'http', verb: 'Accepts', level: 'must', requirements: ['delivery-header-case'] } as const;
const contentType = (value: string): Change => ({ address: setHeader('Content-Type', value) });

/** Alternates lower-case and upper-case letters: `x-SeRvIcE-...`. */
function alternating(name: string): string {
  return [...name].map((letter, index) => (index % 2 === 0 ? letter.toLowerCase() : letter.toUpperCase())).join('');
}

const allLower: AddressChange = {
  label: 'all header names in lower case',
  make: (head) => ({ ...head, headers: head.headers.map(([name, value]) => [name.toLowerCase(), value] as const) }),
};

/**
 * The answers to a header that is larger than most servers accept. Such a server may reject it or close the connection.
 */
const acceptedOrClosed: Expectation = {
  text: '200, any 4xx or a closed connection',
  authentic: true,
  pass: [200, '4xx', 'closed'],
};

/** Whitespace after the colon of the header lines. */
const SPACINGS = { 'no space': '', 'three spaces': '   ' } as const;

const headerSpacings: FlowScenario = {
  id: 'http/header-spacing',
  title: 'Accepts header lines with no space, or with three spaces, after the colon',
  defect: 'Requires exactly one space after the colon of a header',
  level: 'must',
  requirements: ['delivery-header-case'],
  flow: () =>
    Object.entries(SPACINGS).map(([what, space]) => {
      const label = `${what} after the colons`;
      return [{ label, change: { transmit: headerSpacing(label, space) }, expect: accepted }];
    }),
  mistake: 'own-http-parser',
};

/** Spellings of Content-Type, header names in any letter case, and a large header. */
export const httpHeaders: readonly Scenario[] = [
  ...family(
    { ...spelling, requirements: ['delivery-content-type-spelling'], mistake: 'content-type-as-string' },
    {
      'content-type-charset': ['a Content-Type with charset=utf-8', contentType('application/json; charset=utf-8')],
      'content-type-charset-upper': [
        'a Content-Type with charset=UTF-8 and no space before it',
        contentType('application/json;charset=UTF-8'),
      ],
      'content-type-quoted': ['a Content-Type with a quoted charset', contentType('application/json; charset="utf-8"')],
      'content-type-upper': ['a Content-Type in mixed case', contentType('Application/JSON')],
      'content-type-suffix': [
        'a media type that ends in +json',
        contentType('application/cloudevents+json'),
        {
          level: 'info',
          note: 'The sender does not use `+json` today; an event gateway in front of the receiver may.',
        },
      ],
    },
  ),
  ...family(
    { ...other, of: 'a signed delivery', requirements: ['delivery-malformed'], mistake: 'body-parser-by-content-type' },
    {
      'content-type-missing': [
        'without a Content-Type',
        { address: withoutHeader({ name: 'Content-Type' }, 'no Content-Type') },
      ],
      'content-type-text': ['as text/plain', contentType('text/plain')],
      'content-type-form': ['as a form', contentType('application/x-www-form-urlencoded')],
      'content-type-multipart': [
        'as multipart without a boundary',
        contentType('multipart/form-data'),
        { note: 'Upload parsers throw when the boundary is missing, usually outside any error handling.' },
      ],
      'content-type-broken': [
        'with a malformed Content-Type',
        contentType('application/json; ;charset'),
        { note: 'Strict parsers of this header throw a TypeError.' },
      ],
    },
  ),
  ...family(
    {
      ...letterCase,
      of: 'the signature header with its name in',
      needs: ['hmac'],
      expect: accepted,
      mistake: 'header-lookup-by-exact-name',
    },
    {
      'signature-header-lower': [
        'lower case',
        (label) => ({ address: headerName('signature', label, (name) => name.toLowerCase()) }),
      ],
      'signature-header-upper': [
        'upper case',
        (label) => ({ address: headerName('signature', label, (name) => name.toUpperCase()) }),
      ],
      'signature-header-mixed': ['mixed case', (label) => ({ address: headerName('signature', label, alternating) })],
    },
  ),
  ...family(
    { ...letterCase, expect: accepted },
    {
      'headers-lower': [
        'a delivery with all header names in lower case',
        { address: allLower },
        'header-lookup-by-exact-name',
      ],
    },
  ),
  headerSpacings,
  ...family(
    { ...other, requirements: ['delivery-hostile-http'], expect: acceptedOrClosed },
    {
      'header-20-kb': [
        'a header of 20 kB',
        (label) => ({ address: addHeaders(label, (kit) => [['X-Test-Long', kit.nonce(20_000)]]) }),
        'malformed-http-error',
      ],
    },
  ),
];
