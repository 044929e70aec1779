/** Mutants whose log contains data from deliveries: credentials in headers, bodies, wallet addresses, customers. */
import { inspect } from 'node:util';
import type { DeliveryReport } from '../receiver/delivery-report.ts';
import { effectOf } from '../receiver/effects/effect-of.ts';
import { requestHeader } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { LogFault } from './fault.ts';
import { logging, loggingRejected, respells } from './log-secrets.ts';

function wholeRequest({ request, rawBody }: DeliveryReport): string {
  const lines = request.rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [`${name}: ${request.rawHeaders[at + 1]}`] : [],
  );
  return [`${request.method} ${request.url} HTTP/1.1`, ...lines, '', rawBody?.toString() ?? ''].join('\r\n');
}

/** Mutants that log credentials from the headers of deliveries. */
const headers = family<LogFault>(
  { area: 'log', stage: 'log', needs: ['hmac', 'api-key'], mistake: 'request-headers-in-log' },
  {
    'logs-all-headers': [
      'Logs all headers of each delivery',
      logging(({ request }) => JSON.stringify({ level: 30, req: { headers: request.headers } })),
    ],
    'logs-headers-of-rejected': [
      'Logs all headers of each delivery that it rejects',
      loggingRejected(({ request }) => `rejected ${inspect(request.rawHeaders)}`),
      {
        equivalentTo: {
          name: 'logs-all-headers',
          reason: 'Some deliveries are rejected for one credential and have the other one.',
        },
      },
    ],
    'logs-api-key-of-deliveries': [
      'Logs the API key of each delivery',
      logging(({ request }, { apiKeyHeader }) =>
        JSON.stringify({ request: 'POST /hooks', http_x_api_key: requestHeader(request, apiKeyHeader) ?? '-' }),
      ),
      { needs: ['api-key'] },
    ],
    'logs-api-key-in-url': [
      'Logs the URL of its request to another service, with the API key in the query',
      logging(({ outcome }, { apiKey }) =>
        outcome === 'accepted'
          ? `axios GET http://ledger.internal/v1/notify?ledger_key=${encodeURIComponent(apiKey)} 200`
          : undefined,
      ),
      'secret-in-log',
      {
        needs: ['api-key'],
        note: 'The HTTP client logs the call of an internal service. Give each service its own key.',
        ...respells('logs-api-key-of-deliveries'),
      },
    ],
    'logs-signature-of-deliveries': [
      'Logs the signature of each delivery',
      logging(({ request }, { signatureHeader }) =>
        JSON.stringify({ headers: { 'x-api-key': '[Redacted]', signature: requestHeader(request, signatureHeader) } }),
      ),
      {
        forbidden: false,
        needs: ['hmac'],
        note: 'Masks often list only names with `key`, `token` or `authorization`.',
      },
    ],
    'logs-whole-requests': ['Logs each request as a whole', logging((report) => JSON.stringify(wholeRequest(report)))],
  },
);

const loggingBody = (text: (body: Buffer) => string) =>
  logging(({ outcome, rawBody }) => (outcome === 'accepted' && rawBody !== undefined ? text(rawBody) : undefined));

const TRUNCATED = 500;

/** Returns the addresses and customer ids in a notification. */
function personalOf({ notification }: DeliveryReport): readonly string[] {
  if (notification === undefined) return [];
  const { customer, address } = effectOf(notification).handled;
  const addresses = JSON.stringify(notification.raw).match(/"(?:target|source)WalletAddress":"([^"]+)"/)?.[1];
  return [customer, address, addresses].filter((one): one is string => typeof one === 'string');
}

const loggingPersonal = (text: (values: readonly string[]) => string) =>
  logging((report) => {
    const values = personalOf(report);
    return values.length === 0 ? undefined : text(values);
  });

/** Mutants that log bodies, wallet addresses or customers. No rule of the specification forbids this. */
const bodies = family<LogFault>(
  { area: 'log', stage: 'log', forbidden: false, mistake: 'personal-data-in-log' },
  {
    'logs-bodies': ['Logs the body of each notification', loggingBody((body) => `received ${body}`)],
    'logs-parsed-bodies': [
      'Logs each notification after parsing, over several lines',
      loggingBody((body) => `received ${inspect(JSON.parse(body.toString()), { depth: null })}`),
      respells('logs-bodies'),
    ],
    'logs-bodies-as-bytes': [
      'Logs the body of each notification in Base64',
      loggingBody((body) =>
        JSON.stringify({ httpMethod: 'POST', body: body.toString('base64'), isBase64Encoded: true }),
      ),
      {
        note: "Events of serverless functions and Go's `[]byte` in JSON are in Base64.",
        ...respells('logs-bodies'),
      },
    ],
    'logs-truncated-bodies': [
      `Logs the first ${TRUNCATED} characters of the body of each notification`,
      loggingBody((body) => `received ${body.toString('utf8', 0, TRUNCATED)}...`),
      { note: 'The logger shortens long values, which most notifications are not.' },
    ],
    'logs-addresses': [
      'Logs wallet addresses with ids of customers',
      loggingPersonal((values) => `credited ${values.join(' for customer ')}`),
    ],
    'logs-sql-parameters': [
      'Logs the parameters of its SQL statements, with wallet addresses and ids of customers',
      loggingPersonal((values) =>
        values.map((value, at) => `binding parameter (${at + 1}:VARCHAR) <- [${value}]`).join('\n'),
      ),
      respells('logs-addresses'),
    ],
  },
);

export const logDeliveriesFaults: readonly LogFault[] = [...headers, ...bodies];
