import { headerValues, type JsonObject, sameHeaderName } from '../../contract/index.ts';
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
import type { AddressChange, Scenario } from '../scenario.ts';

/** The key in an additional query parameter. */
function inQuery(parameter: string): AddressChange {
  return addQuery(`the key in ?${parameter}=`, (kit) => `${parameter}=${encodeURIComponent(kit.apiKey)}`);
}

/** The key in an additional header. The signature header is not changed. */
function copyTo(header: string): AddressChange {
  return {
    label: `the key in ${header}`,
    make: (head, kit) =>
      sameHeaderName(header, kit.apiKeyHeader) || headerValues(head.headers, header).length > 0
        ? head
        : { ...head, headers: [...head.headers, [header, kit.apiKey]] },
  };
}

/** The valid key in another place, the configured header in other spellings of its name, and two keys at once. */
export const misplacedKeys: readonly Scenario[] = [
  {
    id: 'api-key/in-query-api-key',
    title: 'Rejects the API key in the query parameter api_key',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    ...atAnotherUrl({ address: moveToQuery('api-key', 'the key in ?api_key= instead of the header', () => 'api_key') }),
    why: 'Keys in URLs are written to access logs.',
    fix: 'Remove the lookup in the query string, and rotate a key that was ever sent like this.',
  },
  {
    id: 'api-key/in-query-key',
    title: 'Rejects the API key in the query parameter key',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    ...atAnotherUrl({ address: moveToQuery('api-key', 'the key in ?key= instead of the header', () => 'key') }),
    why: 'URLs are cached, shared and shown in monitoring, so a key must not be accepted there.',
    fix: 'Remove the fallback `request.query.key ?? header`, which is meant for manual tests.',
  },
  {
    id: 'api-key/in-query-header-name',
    title: 'Rejects the API key in a query parameter with the name of the header',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    ...atAnotherUrl({
      address: moveToQuery('api-key', 'the key in the query, under the name of the header', (kit) => kit.apiKeyHeader),
    }),
    why: 'Some frameworks search headers and parameters for a name at once.',
    fix: 'Use the function for headers, not the one for any "parameter".',
  },
  {
    id: 'api-key/in-query-token',
    title: 'Rejects the API key in the query parameters that are common for tokens',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    ...atAnotherUrl({
      address: ['token', 'access_token', 'apikey', 'apiKey', 'auth'].reduce(
        (address, name) => both('the key in five usual parameters instead of the header', inQuery(name), address),
        withoutHeader('api-key', 'no API key header'),
      ),
    }),
    why: 'Token libraries read the query string by default, and the key is then written to access logs.',
    fix: 'Configure the library to read the header only.',
  },
  {
    id: 'api-key/in-authorization',
    title: 'Rejects the API key as a bearer token in Authorization',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: moveToHeader(
        'api-key',
        'Authorization',
        'the key as bearer token in Authorization instead of the header',
        (key) => `Bearer ${key}`,
      ),
    },
    expect: refused,
    why: 'This header is for user tokens. Mixing the two makes one kind of credential valid for the other.',
    fix: 'Remove the generic token check from this route, and read the configured header only.',
  },
  {
    id: 'api-key/in-authorization-basic',
    title: 'Rejects the API key as user name and password in Authorization',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: moveToHeader(
        'api-key',
        'Authorization',
        'the key as user name and as password of Basic in Authorization instead of the header',
        (key) => `Basic ${Buffer.from(`${key}:${key}`).toString('base64')}`,
      ),
    },
    expect: refused,
    why: 'Tools store such credentials and put them into URLs.',
    fix: 'Remove Basic authentication from this route, including in the server configuration.',
  },
  {
    id: 'api-key/in-cookie',
    title: 'Rejects the API key in a cookie',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: moveToHeader(
        'api-key',
        'Cookie',
        'the key in a cookie instead of the header',
        (key) => `api_key=${encodeURIComponent(key)}`,
      ),
    },
    expect: refused,
    why: 'Browsers send cookies automatically, so another web page could trigger deliveries.',
    fix: 'Do not read webhook credentials from cookies, and keep session middleware off this route.',
  },
  {
    id: 'api-key/in-other-header',
    title: 'Rejects the API key in a header with another name',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: { address: moveToHeader('api-key', 'Api-Key', 'the key in Api-Key instead of the agreed header') },
    expect: refused,
    why: 'Gateway rules cover the agreed header only, so every other name bypasses them.',
    fix: 'Keep one header name in the configuration, and remove the alternatives.',
  },
  {
    id: 'api-key/in-underscore-name',
    title: 'Rejects the API key in a header with underscores instead of hyphens',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    // The signature shows whether the server maps both spellings of every header to one name, as CGI and WSGI do.
    needs: ['hmac', 'api-key'],
    change: { address: underscored('api-key') },
    ifAccepted: [
      { role: 'compares', label: 'the signature with underscores', change: { address: underscored('signature') } },
    ],
    expect: refused,
    why: 'Gateway rules cover only the agreed header, so the other spelling bypasses them.',
    fix: 'Read the header by its exact name, and let the server drop names with underscores, as nginx does by default.',
  },
  {
    id: 'api-key/in-usual-headers',
    title: 'Rejects the API key in other common token headers',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: ['Authorization', 'X-Auth-Token', 'X-Access-Token', 'X-Api-Token', 'X-Auth-Key', 'ApiKey'].reduce(
        (address, name) => both('the key in six usual headers instead of the agreed one', copyTo(name), address),
        withoutHeader('api-key', 'no API key header'),
      ),
    },
    expect: refused,
    why: 'A library function that reads many headers accepts the key where no gateway rule or log mask covers it.',
    fix: 'Call it with the agreed header name only, or read that header yourself.',
  },
  {
    id: 'api-key/in-body-without-header',
    title: 'Rejects a delivery with the API key in its body instead of the header',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      compose: (kit): JsonObject => ({
        ...kit.notification(),
        apiKey: kit.apiKey,
        api_key: kit.apiKey,
        key: kit.apiKey,
      }),
      address: withoutHeader('api-key', 'no API key header'),
    },
    expect: refused,
    why: 'Bodies are stored, so a key in the body ends up in the database.',
    fix: 'Read the key from the header only, before the body is parsed.',
  },
  {
    id: 'api-key/two-lines-right-first',
    title: 'Handles two API key headers with the valid one first',
    level: 'should',
    requirements: ['key-header'],
    needs: ['api-key'],
    change: {
      address: replaceHeader('api-key', 'two API key headers, valid and invalid', (name, key, kit) => [
        [name, key],
        [name, kit.nonce(32)],
      ]),
    },
    expect: refusedOrChosen,
    why: 'Two checks, one of the first line and one of the last, then verify different keys.',
    fix: 'Reject a delivery in which the header occurs more than once.',
  },
  {
    id: 'api-key/two-lines-wrong-first',
    title: 'Handles two API key headers with the invalid one first',
    level: 'should',
    requirements: ['key-header'],
    needs: ['api-key'],
    change: {
      address: replaceHeader('api-key', 'two API key headers, invalid and valid', (name, key, kit) => [
        [name, kit.nonce(32)],
        [name, key],
      ]),
    },
    expect: refusedOrChosen,
    why:
      'A repeated header arrives as a list or as a joined string, and a comparison that expects one string may ' +
      'throw.',
    fix: 'Check the type of the value before you compare it, and answer 401 to anything but one string.',
  },
  {
    id: 'api-key/lower-case-name',
    title: 'Accepts the API key header with its name in lower case',
    level: 'must',
    requirements: ['delivery-header-case'],
    needs: ['api-key'],
    change: {
      address: headerName('api-key', 'the name of the API key header in lower case', (name) => name.toLowerCase()),
    },
    expect: accepted,
    why: 'HTTP/2 proxies send all names in lower case, so deliveries through one would be rejected.',
    fix: 'Use the case-insensitive lookup of the framework, not a map of the names as received.',
  },
  {
    id: 'api-key/upper-case-name',
    title: 'Accepts the API key header with its name in upper case',
    level: 'must',
    requirements: ['delivery-header-case'],
    needs: ['api-key'],
    change: {
      address: headerName('api-key', 'the name of the API key header in upper case', (name) => name.toUpperCase()),
    },
    expect: accepted,
    why: 'Older gateways and function platforms pass names on unchanged or in upper case.',
    fix: 'Lower-case the names yourself where the platform provides headers as a plain map.',
  },
  {
    id: 'api-key/white-space-around',
    title: 'Accepts the API key with spaces and tabs around it',
    level: 'should',
    requirements: ['key-header'],
    needs: ['api-key'],
    change: {
      address: headerValue('api-key', 'the key with a tab and a space on either side', (key) => `\t ${key} \t`),
    },
    expect: accepted,
    why: 'In HTTP, whitespace around a value is not part of it, and proxies may add some.',
    fix: 'Trim spaces and tabs from the value when your server has not done so, and nothing else.',
  },
];
