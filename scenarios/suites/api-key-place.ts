import { headerValues, type JsonObject, sameHeaderName } from '../../contract/index.ts';
import {
  addQuery,
  both,
  headerName,
  headerValue,
  moveToHeader,
  moveToQuery,
  replaceHeader,
  withoutHeader,
} from '../changes/addressing.ts';
import { accepted, refused, refusedOrChosen } from '../expectations.ts';
import type { AddressChange, Scenario } from '../scenario.ts';

/** The key in a parameter, beside whatever else is there. */
function inQuery(parameter: string): AddressChange {
  return addQuery(`the key in ?${parameter}=`, (kit) => `${parameter}=${encodeURIComponent(kit.apiKey)}`);
}

/** The key in a header that has no value yet, beside whatever else is there. The header of the signature is left alone. */
function copyTo(header: string): AddressChange {
  return {
    label: `the key in ${header}`,
    make: (head, kit) =>
      sameHeaderName(header, kit.apiKeyHeader) || headerValues(head.headers, header).length > 0
        ? head
        : { ...head, headers: [...head.headers, [header, kit.apiKey]] },
  };
}

/** The right key in a place that was not agreed; the agreed header, spelt as HTTP allows; and two keys at once. */
export const misplacedKeys: readonly Scenario[] = [
  {
    id: 'api-key/in-query-api-key',
    title: 'Refuses the API key in ?api_key=',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: { address: moveToQuery('api-key', 'the key in ?api_key= in place of the header', () => 'api_key') },
    expect: refused,
    why: 'A key in a URL is written to every access log on its way.',
    fix: 'Remove the lookup in the query, and rotate a key that was ever sent like this.',
  },
  {
    id: 'api-key/in-query-key',
    title: 'Refuses the API key in ?key=',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: { address: moveToQuery('api-key', 'the key in ?key= in place of the header', () => 'key') },
    expect: refused,
    why: 'URLs are cached, shared and shown in monitoring. A receiver that takes the key there invites people to send it there.',
    fix: 'Drop the fallback `request.query.key ?? header`, which is meant for tests by hand.',
  },
  {
    id: 'api-key/in-query-header-name',
    title: 'Refuses the API key in a query parameter with the name of the header',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: moveToQuery('api-key', 'the key in the query, under the name of the header', (kit) => kit.apiKeyHeader),
    },
    expect: refused,
    why: 'Some frameworks look a name up in headers and parameters at once, so the agreed place is not the only one.',
    fix: 'Ask for the header by the function for headers, and not for a "parameter" by its name.',
  },
  {
    id: 'api-key/in-query-token',
    title: 'Refuses the API key in the query parameters that are usual for tokens',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: ['token', 'access_token', 'apikey', 'apiKey', 'auth'].reduce(
        (address, name) => both('the key in five usual parameters in place of the header', inQuery(name), address),
        withoutHeader('api-key', 'no API key header'),
      ),
    },
    expect: refused,
    why: 'Libraries for tokens look into the query without being asked, and the key ends up in the access logs.',
    fix: 'Configure the library to read the header only.',
  },
  {
    id: 'api-key/in-authorization',
    title: 'Refuses the API key as a bearer token in Authorization',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: moveToHeader(
        'api-key',
        'Authorization',
        'the key as bearer token in Authorization in place of the header',
        (key) => `Bearer ${key}`,
      ),
    },
    expect: refused,
    why: 'Tokens of users arrive in that header. Mixing the two makes one kind of credential pass for the other.',
    fix: 'Take the generic token check off this route, and read the configured header alone.',
  },
  {
    id: 'api-key/in-authorization-basic',
    title: 'Refuses the API key as user name and password in Authorization',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: moveToHeader(
        'api-key',
        'Authorization',
        'the key as user name and as password of Basic in Authorization in place of the header',
        (key) => `Basic ${Buffer.from(`${key}:${key}`).toString('base64')}`,
      ),
    },
    expect: refused,
    why: 'Tools put such credentials into URLs and remember them, which a key in a header of its own is spared.',
    fix: 'Remove the check for Basic authentication from this route, also where the server does it by itself.',
  },
  {
    id: 'api-key/in-cookie',
    title: 'Refuses the API key in a cookie',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: moveToHeader(
        'api-key',
        'Cookie',
        'the key in a cookie in place of the header',
        (key) => `api_key=${encodeURIComponent(key)}`,
      ),
    },
    expect: refused,
    why: 'Browsers attach cookies by themselves, so a page elsewhere could trigger deliveries in the name of whoever has one.',
    fix: 'Do not read credentials of a webhook from cookies; leave session middleware off this route.',
  },
  {
    id: 'api-key/in-other-header',
    title: 'Refuses the API key in a header of another name',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: { address: moveToHeader('api-key', 'Api-Key', 'the key in Api-Key in place of the agreed header') },
    expect: refused,
    why: 'Rules in a gateway cover the agreed name. Each further name leads past them.',
    fix: 'Keep a single header name in the configuration and delete the list of alternatives.',
  },
  {
    id: 'api-key/in-usual-headers',
    title: 'Refuses the API key in the other headers that are usual for tokens',
    level: 'must',
    requirements: ['key-header', 'key-missing'],
    needs: ['api-key'],
    change: {
      address: ['Authorization', 'X-Auth-Token', 'X-Access-Token', 'X-Api-Token', 'X-Auth-Key', 'ApiKey'].reduce(
        (address, name) => both('the key in six usual headers in place of the agreed one', copyTo(name), address),
        withoutHeader('api-key', 'no API key header'),
      ),
    },
    expect: refused,
    why: 'A helper that knows the names of all services takes the key from headers that no rule and no mask in a log covers.',
    fix: 'Call it with the one agreed name, or read that header yourself.',
  },
  {
    id: 'api-key/in-body-without-header',
    title: 'Refuses a delivery without the key header and with the API key in its body',
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
    why: 'Bodies are stored. A key that is taken from the body ends up in the database next to the notification.',
    fix: 'Read the key before the body is parsed, from the header only.',
  },
  {
    id: 'api-key/two-lines-right-first',
    title: 'Does not fail on two API key headers, the right one first',
    level: 'should',
    requirements: ['key-header'],
    needs: ['api-key'],
    change: {
      address: replaceHeader('api-key', 'two API key headers, right and wrong', (name, key, kit) => [
        [name, key],
        [name, kit.nonce(32)],
      ]),
    },
    expect: refusedOrChosen,
    why: 'Two checks on the way, one of the first line and one of the last, then judge different keys.',
    fix: 'Refuse a delivery in which the header stands more than once.',
  },
  {
    id: 'api-key/two-lines-wrong-first',
    title: 'Does not fail on two API key headers, the wrong one first',
    level: 'should',
    requirements: ['key-header'],
    needs: ['api-key'],
    change: {
      address: replaceHeader('api-key', 'two API key headers, wrong and right', (name, key, kit) => [
        [name, kit.nonce(32)],
        [name, key],
      ]),
    },
    expect: refusedOrChosen,
    why: 'A repeated header reaches the code as a list or as joined text, and a comparison that expects one text may throw.',
    fix: 'Check the type of the value before comparing, and answer 401 to anything but one text.',
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
    why: 'HTTP/2 proxies send every name in lower case. Deliveries would be refused as soon as one stands in front.',
    fix: 'Use the lookup of the framework, which ignores case, and not a map of names as they came.',
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
    why: 'Older gateways and function platforms hand names on as they arrived, or in capitals.',
    fix: 'Lower-case the names yourself where the platform hands out headers as a plain map.',
  },
  {
    id: 'api-key/white-space-around',
    title: 'Accepts the API key with blanks and tabs around it',
    level: 'should',
    requirements: ['key-header'],
    needs: ['api-key'],
    change: {
      address: headerValue('api-key', 'the key with a tab and a blank on either side', (key) => `\t ${key} \t`),
    },
    expect: accepted,
    why: 'White space around a header value has no meaning in HTTP, and something on the way may add it.',
    fix: 'Trim blanks and tabs from the value when your server has not done so; nothing else is to be trimmed.',
  },
];
