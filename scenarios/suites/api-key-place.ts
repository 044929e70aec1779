/** The valid key in other places, other spellings of the header name, and two keys at once. */
import { headerValues, sameHeaderName } from '../../contract/index.ts';
import {
  addQuery,
  both,
  headerName,
  headerValue,
  moveToHeader,
  moveToQuery,
  replaceHeader,
  underscored,
  withoutHeader,
} from '../changes/addressing.ts';
import { accepted, refused, refusedOrChosen } from '../expectations.ts';
import { atAnotherUrl } from '../forgery.ts';
import type { AddressChange, Change, Kit, Scenario } from '../scenario.ts';
import { family } from './family.ts';

const noKey = withoutHeader('api-key', 'no API key header');

/** Moves the key to a query parameter. */
const inQuery = (parameter: (kit: Kit) => string) => (label: string) =>
  atAnotherUrl({ address: moveToQuery('api-key', label, parameter) });

/** Moves the key to another header in another form. */
const inHeader =
  (name: string, value?: (key: string) => string) =>
  (label: string): Change => ({ address: moveToHeader('api-key', name, label, value) });

/** Copies the key to an additional query parameter. */
function copyToQuery(parameter: string): AddressChange {
  return addQuery(`the key in ?${parameter}=`, (kit) => `${parameter}=${encodeURIComponent(kit.apiKey)}`);
}

/** Copies the key to an additional header. The signature header is not changed. */
function copyToHeader(header: string): AddressChange {
  return {
    label: `the key in ${header}`,
    make: (head, kit) =>
      sameHeaderName(header, kit.apiKeyHeader) || headerValues(head.headers, header).length > 0
        ? head
        : { ...head, headers: [...head.headers, [header, kit.apiKey]] },
  };
}

/** Moves the key from its header to several places. */
function inEach(label: string, places: readonly string[], copyTo: (place: string) => AddressChange): AddressChange {
  return places.reduce((address, place) => both(label, copyTo(place), address), noKey);
}

const TOKEN_PARAMETERS = ['token', 'access_token', 'apikey', 'apiKey', 'auth'];
const TOKEN_HEADERS = ['Authorization', 'X-Auth-Token', 'X-Access-Token', 'X-Api-Token', 'X-Auth-Key', 'ApiKey'];

/** Sends two lines of the key header, one with the valid key and one with an invalid one. */
const twoKeys =
  (keys: (valid: string, invalid: string) => readonly string[]) =>
  (label: string): Change => ({
    address: replaceHeader('api-key', label, (name, key, kit) =>
      keys(key, kit.nonce(32)).map((value) => [name, value]),
    ),
  });

const shared = { suite: 'api-key', level: 'must', needs: ['api-key'] } as const;

export const misplacedKeys: readonly Scenario[] = [
  ...family(
    {
      ...shared,
      verb: 'Rejects',
      of: 'the API key',
      requirements: ['key-header', 'key-missing'],
      expect: refused,
      mistake: 'key-from-other-place',
    },
    {
      'in-query-api-key': [
        'in the query parameter api_key',
        inQuery(() => 'api_key'),
        { note: 'Keys in URLs are written to access logs.' },
      ],
      'in-query-key': ['in the query parameter key', inQuery(() => 'key')],
      'in-query-header-name': [
        'in a query parameter with the name of the header',
        inQuery((kit) => kit.apiKeyHeader),
        { note: 'Some frameworks search headers and parameters for a name at once.' },
      ],
      'in-query-token': [
        'in the query parameters that are common for tokens',
        (label) => atAnotherUrl({ address: inEach(label, TOKEN_PARAMETERS, copyToQuery) }),
        { note: 'Token libraries read the query string by default: configure them to read the header only.' },
      ],
      'in-authorization': ['as a bearer token in Authorization', inHeader('Authorization', (key) => `Bearer ${key}`)],
      'in-authorization-basic': [
        'as user name and password in Authorization',
        inHeader('Authorization', (key) => `Basic ${Buffer.from(`${key}:${key}`).toString('base64')}`),
        { note: 'Tools store such credentials and put them into URLs; also check the server configuration.' },
      ],
      'in-cookie': [
        'in a cookie',
        inHeader('Cookie', (key) => `api_key=${encodeURIComponent(key)}`),
        { note: 'Browsers send cookies automatically, so another web page could trigger deliveries.' },
      ],
      'in-other-header': ['in a header with another name', inHeader('Api-Key')],
      'in-underscore-name': [
        'in a header with underscores instead of hyphens',
        { address: underscored('api-key') },
        {
          // The signature header shows whether the server maps both spellings of every header to one name, as CGI and
          // WSGI do.
          needs: ['hmac', 'api-key'],
          followUps: [
            {
              role: 'compares',
              label: 'the signature with underscores',
              change: { address: underscored('signature') },
            },
          ],
          note: 'Let the server drop names with underscores, as nginx does by default.',
        },
      ],
      'in-usual-headers': [
        'in other common token headers',
        (label) => ({ address: inEach(label, TOKEN_HEADERS, copyToHeader) }),
      ],
      'in-body-without-header': [
        'in the body',
        {
          compose: (kit) => ({ ...kit.notification(), apiKey: kit.apiKey, api_key: kit.apiKey, key: kit.apiKey }),
          address: noKey,
        },
        {
          title: 'Rejects a delivery with the API key in its body instead of the header',
          note: 'Bodies are stored, and the key with them.',
        },
      ],
    },
  ),
  ...family(
    {
      ...shared,
      verb: 'Handles',
      of: 'two API key headers',
      level: 'should',
      requirements: ['key-header'],
      expect: refusedOrChosen,
      mistake: 'key-as-list',
    },
    {
      'two-lines-right-first': ['with the valid one first', twoKeys((valid, invalid) => [valid, invalid])],
      'two-lines-wrong-first': ['with the invalid one first', twoKeys((valid, invalid) => [invalid, valid])],
    },
  ),
  ...family(
    {
      ...shared,
      verb: 'Accepts',
      requirements: ['delivery-header-case'],
      expect: accepted,
      mistake: 'key-header-spelling',
    },
    {
      'lower-case-name': [
        'the API key header with its name in lower case',
        (label) => ({ address: headerName('api-key', label, (name) => name.toLowerCase()) }),
      ],
      'upper-case-name': [
        'the API key header with its name in upper case',
        (label) => ({ address: headerName('api-key', label, (name) => name.toUpperCase()) }),
      ],
      'white-space-around': [
        'the API key with spaces and tabs around it',
        (label) => ({ address: headerValue('api-key', label, (key) => `\t ${key} \t`) }),
        { level: 'should', requirements: ['key-header'] },
      ],
    },
  ),
];
