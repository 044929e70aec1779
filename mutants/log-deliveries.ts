/** Mutants whose log contains what deliveries bring: credentials in headers, bodies, wallet addresses, customers. */
import { inspect } from 'node:util';
import type { DeliveryReport } from '../receiver/delivery-report.ts';
import { effectOf } from '../receiver/effects/effect-of.ts';
import { requestHeader } from '../receiver/stages/stage.ts';
import type { LogFault } from './fault.ts';
import { LOG } from './log-secrets.ts';

const SPELLING = 'The checks of the log report which value is in it, and not its spelling.';

const HEADERS = {
  ...LOG,
  severity: 'high',
  why: 'The API key is in the log of each delivery, for everyone who can read the log, its backups and its index.',
  needs: ['hmac', 'api-key'],
} as const;

const maskHeaders = {
  rule: 'List the headers that are logged, or mask those with credentials. Then rotate the key.',
  express: 'Give pino `redact: ["req.headers[\\"x-api-key\\"]", "req.headers[\\"x-service-signature\\"]"]`.',
  spring: 'Set `setIncludeHeaders(false)` or `setHeaderPredicate` of `CommonsRequestLoggingFilter`.',
  go: 'Delete the headers from a clone of the request before `httputil.DumpRequest`.',
  rails: 'Add the names to `config.filter_parameters`, and log no `request.env`.',
};

const onlyHeaders = ({ request }: DeliveryReport) => JSON.stringify({ level: 30, req: { headers: request.headers } });

function wholeRequest({ request, rawBody }: DeliveryReport): string {
  const lines = request.rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [`${name}: ${request.rawHeaders[at + 1]}`] : [],
  );
  return [`${request.method} ${request.url} HTTP/1.1`, ...lines, '', rawBody?.toString() ?? ''].join('\r\n');
}

const headers: readonly LogFault[] = [
  {
    ...HEADERS,
    name: 'logs-all-headers',
    title: 'Logs all headers of each delivery',
    seen: '`pino-http`, `express-winston` and `HttpLogging` of .NET with all headers.',
    fix: maskHeaders,
    logs: () => ({ delivery: onlyHeaders }),
  },
  {
    ...HEADERS,
    name: 'logs-headers-of-rejected',
    title: 'Logs all headers of each delivery that it rejects',
    seen: 'Handlers of errors that log the request, for the support.',
    fix: maskHeaders,
    equivalentTo: {
      name: 'logs-all-headers',
      reason: 'Some deliveries are rejected for one credential and have the other one.',
    },
    logs: () => ({
      delivery: (report) =>
        report.outcome === 'refused' ? `rejected ${inspect(report.request.rawHeaders)}` : undefined,
    }),
  },
  {
    ...HEADERS,
    name: 'logs-api-key-of-deliveries',
    title: 'Logs the API key of each delivery',
    seen: '`:req[x-api-key]` of morgan, `$http_x_api_key` of nginx and `%{X-API-Key}i` of Apache, to know the client.',
    fix: { ...maskHeaders, rule: 'Log the name of the client or the id of the key instead of the key.' },
    needs: ['api-key'],
    logs: ({ apiKeyHeader }) => ({
      delivery: ({ request }) =>
        JSON.stringify({ request: 'POST /hooks', http_x_api_key: requestHeader(request, apiKeyHeader) ?? '-' }),
    }),
  },
  {
    ...HEADERS,
    name: 'logs-api-key-in-url',
    title: 'Logs the URL of its request to another service, with the API key in the query',
    seen: 'Calls of an internal service with the same key, logged by the HTTP client.',
    fix: {
      rule: 'Send credentials in headers, and give each service its own key.',
      express: 'Set the header `Authorization` instead of a query parameter.',
    },
    needs: ['api-key'],
    equivalentTo: { name: 'logs-api-key-of-deliveries', reason: SPELLING },
    logs: ({ apiKey }) => ({
      delivery: ({ outcome }) =>
        outcome === 'accepted'
          ? `axios GET http://ledger.internal/v1/notify?ledger_key=${encodeURIComponent(apiKey)} 200`
          : undefined,
    }),
  },
  {
    ...HEADERS,
    name: 'logs-signature-of-deliveries',
    title: 'Logs the signature of each delivery',
    seen: 'Masks that list only names with `key`, `token` or `authorization`.',
    severity: 'low',
    forbidden: false,
    why: 'A signature with its body is a delivery that can be sent again by everyone who reads the log.',
    fix: { ...maskHeaders, rule: 'Mask the signature header too.' },
    needs: ['hmac'],
    logs: ({ signatureHeader }) => ({
      delivery: ({ request }) =>
        JSON.stringify({ headers: { 'x-api-key': '[Redacted]', signature: requestHeader(request, signatureHeader) } }),
    }),
  },
  {
    ...HEADERS,
    name: 'logs-whole-requests',
    title: 'Logs each request as a whole',
    seen: '`httputil.DumpRequest` of Go, `CommonsRequestLoggingFilter` of Spring, and proxies for debugging.',
    fix: maskHeaders,
    logs: () => ({ delivery: (report) => JSON.stringify(wholeRequest(report)) }),
  },
];

const BODIES = {
  ...LOG,
  severity: 'medium',
  forbidden: false,
  why: 'Notifications contain wallet addresses, ids of customers and amounts, and logs are kept and shared.',
} as const;

const onlyIds = {
  rule: 'Log the id, the type and the status of a notification, and nothing else of it.',
  express: 'Log `{ id, type, status }` instead of `req.body`.',
  rails: 'Add `:data` to `config.filter_parameters`: Rails logs the parameters of each request.',
  spring: 'Set `setIncludePayload(false)` of `CommonsRequestLoggingFilter`.',
};

const ofBody = (text: (body: Buffer) => string) => ({
  delivery: ({ outcome, rawBody }: DeliveryReport) =>
    outcome === 'accepted' && rawBody !== undefined ? text(rawBody) : undefined,
});

const TRUNCATED = 500;

const bodies: readonly LogFault[] = [
  {
    ...BODIES,
    name: 'logs-bodies',
    title: 'Logs the body of each notification',
    seen: '`console.log(body)`, `$request_body` of nginx, and `error_log(file_get_contents("php://input"))`.',
    fix: onlyIds,
    logs: () => ofBody((body) => `received ${body}`),
  },
  {
    ...BODIES,
    name: 'logs-parsed-bodies',
    title: 'Logs each notification after parsing, over several lines',
    seen: '`console.log(req.body)`, `print_r`, `pprint`, and `Parameters:` in the log of Rails.',
    fix: onlyIds,
    equivalentTo: { name: 'logs-bodies', reason: SPELLING },
    logs: () => ofBody((body) => `received ${inspect(JSON.parse(body.toString()), { depth: null })}`),
  },
  {
    ...BODIES,
    name: 'logs-bodies-as-bytes',
    title: 'Logs the body of each notification in Base64',
    seen: 'Events of serverless functions (`isBase64Encoded`), message queues, and `[]byte` in the JSON of Go.',
    fix: onlyIds,
    equivalentTo: { name: 'logs-bodies', reason: SPELLING },
    logs: () =>
      ofBody((body) => JSON.stringify({ httpMethod: 'POST', body: body.toString('base64'), isBase64Encoded: true })),
  },
  {
    ...BODIES,
    name: 'logs-truncated-bodies',
    title: `Logs the first ${TRUNCATED} characters of the body of each notification`,
    seen: 'Loggers that shorten long values, which most notifications are not.',
    fix: onlyIds,
    logs: () => ofBody((body) => `received ${body.toString('utf8', 0, TRUNCATED)}...`),
  },
];

const PERSONAL = {
  ...BODIES,
  why: 'An address together with an id shows which payments a person made.',
} as const;

const onlyNotificationId = {
  rule: 'Log the id of the notification, which leads to the rest in the database.',
  express: 'Log `{ id }`, and read the address from the table where it is needed.',
};

/** Addresses and ids of customers in a notification. */
function personalOf({ notification }: DeliveryReport): readonly string[] {
  if (notification === undefined) return [];
  const { customer, address } = effectOf(notification).handled;
  const { raw } = notification;
  const addresses = JSON.stringify(raw).match(/"(?:target|source)WalletAddress":"([^"]+)"/)?.[1];
  return [customer, address, addresses].filter((one): one is string => typeof one === 'string');
}

const personal: readonly LogFault[] = [
  {
    ...PERSONAL,
    name: 'logs-addresses',
    title: 'Logs wallet addresses with ids of customers',
    seen: 'Messages such as `credited 0x... of customer ...`, written for the support.',
    fix: onlyNotificationId,
    logs: () => ({
      delivery: (report) => {
        const values = personalOf(report);
        return values.length === 0 ? undefined : `credited ${values.join(' for customer ')}`;
      },
    }),
  },
  {
    ...PERSONAL,
    name: 'logs-sql-parameters',
    title: 'Logs the parameters of its SQL statements, with wallet addresses and ids of customers',
    seen: 'DEBUG output of Hibernate (`BasicBinder`), ActiveRecord, Sequelize and SQLAlchemy (`echo=True`).',
    fix: {
      ...onlyNotificationId,
      rule: 'Turn off the logging of parameters in production.',
      express: 'Set `logging: false` of Sequelize, or `logQueryParameters: false`.',
      spring: 'Set the level of `org.hibernate.orm.jdbc.bind` above TRACE.',
      rails: 'Use the level `info`, and `encrypts` or `filter_attributes` for the columns.',
    },
    equivalentTo: { name: 'logs-addresses', reason: SPELLING },
    logs: () => ({
      delivery: (report) => {
        const parameters = personalOf(report).map((value, at) => `binding parameter (${at + 1}:VARCHAR) <- [${value}]`);
        return parameters.length === 0 ? undefined : parameters.join('\n');
      },
    }),
  },
];

export const logDeliveriesFaults: readonly LogFault[] = [...headers, ...bodies, ...personal];
