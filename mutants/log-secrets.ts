/** Mutants whose log contains credentials or keys of the receiver itself, in the spellings of different loggers. */
import { createPrivateKey } from 'node:crypto';
import { inspect } from 'node:util';
import { hmac } from '../contract/signing/index.ts';
import type { DeliveryReport } from '../receiver/delivery-report.ts';
import { requestHeader } from '../receiver/stages/stage.ts';
import { family, type Row } from './family.ts';
import type { LogFault } from './fault.ts';

type Settings = Parameters<LogFault['logs']>[0];
type Logs = Pick<LogFault, 'logs'>;

/** Logs this text after every delivery. Nothing is logged if it is undefined. */
export function logging(text: (report: DeliveryReport, settings: Settings) => string | undefined): Logs {
  return { logs: (settings) => ({ delivery: (report) => text(report, settings) }) };
}

/** Logs this text after every rejected delivery. */
export function loggingRejected(text: (report: DeliveryReport, settings: Settings) => string | undefined): Logs {
  return logging((report, settings) => (report.outcome === 'refused' ? text(report, settings) : undefined));
}

/** Marks a mutant that logs the same value as another one. */
export const respells = (name: string): Pick<LogFault, 'equivalentTo'> => ({
  equivalentTo: { name, reason: 'The checks of the log report which value is in it, and not its spelling.' },
});

/** Logs the secret in one spelling. The check finds it in each spelling. */
const spelling = (title: string, note: string, line: (secret: string) => string): Row<LogFault> => [
  `Logs the signature secret ${title} when it rejects a delivery`,
  loggingRejected((_report, { secret }) => line(secret)),
  'secret-in-log',
  { note, ...respells('logs-secret-on-rejection') },
];

/** Mutants that log the secret alone, or settings that contain it. */
const settings = family<LogFault>(
  { area: 'log', stage: 'log', needs: ['hmac'] },
  {
    'logs-secret-on-rejection': [
      'Logs the signature secret when it rejects a delivery',
      loggingRejected((_report, { secret }) => {
        const [first = '', ...frames] = (new Error('invalid signature').stack ?? '').split('\n');
        return [`${first} (secret: ${secret})`, ...frames.slice(0, 3)].join('\n');
      }),
      'secret-in-log',
    ],
    'logs-secret-as-base64': spelling(
      'in Base64',
      'Kubernetes secrets and `Basic` credentials are in Base64.',
      (secret) => `could not verify with data: {"hmac": "${Buffer.from(secret).toString('base64')}"}`,
    ),
    'logs-secret-as-hex': spelling(
      'in hexadecimal',
      "Go's `%x`, PHP's `bin2hex` and Java's `HexFormat` print the bytes of a key like this.",
      (secret) => `verification failed key=${Buffer.from(secret).toString('hex')}`,
    ),
    'logs-secret-as-bytes': spelling(
      'as a list of bytes',
      "Java's `Arrays.toString(key)` and a Buffer in `JSON.stringify` print bytes like this.",
      (secret) => `verification failed key=[${Buffer.from(secret).join(', ')}]`,
    ),
    'logs-secret-as-url': spelling(
      'in percent-encoding',
      'The URL of a vault or configuration server has the value in its query.',
      (secret) => `PUT /v1/config?hmac_secret=${encodeURIComponent(secret)} 204`,
    ),
    'logs-secret-as-nested-json': spelling(
      'in JSON inside JSON',
      'Log drivers of containers put a line of JSON into a field of another one.',
      (secret) => {
        const line = JSON.stringify({ level: 50, config: { hmac: secret } }).replaceAll('/', '\\/');
        return JSON.stringify({ log: `${line}\n`, stream: 'stdout' });
      },
    ),
    'logs-secret-as-lines': spelling(
      'over two lines',
      "Consoles such as Python's `rich` break lines at their width.",
      (secret) => `│ hmac_secret = ${secret.slice(0, 20)} │\n│   ${secret.slice(20)} │`,
    ),
    'logs-most-of-secret': spelling(
      'without its last character',
      'A mask that hides the end, or a column that is one character too short.',
      (secret) => `verification failed secret=${secret.slice(0, -1)}*`,
    ),
    'logs-start-of-secret': [
      'Logs the first ten characters of the signature secret when it rejects a delivery',
      loggingRejected((_report, { secret }) => `signature mismatch secret_start=${secret.slice(0, 10)}`),
      'secret-in-log',
      { forbidden: false },
    ],
    'logs-end-of-key': [
      'Logs the last ten characters of the API key for every delivery',
      logging((_report, { apiKey }) => JSON.stringify({ msg: 'delivery', client: { keySuffix: apiKey.slice(-10) } })),
      'secret-in-log',
      { forbidden: false, needs: ['api-key'] },
    ],
    'logs-settings-at-start': [
      'Logs its settings with the secret and the API key when it starts',
      {
        logs: ({ secret, apiKey }) => ({
          start: `settings: ${inspect({ port: 8080, webhook: { path: '/hooks', secret, apiKey } }, { depth: 4 })}`,
        }),
      },
      'secret-in-log',
      { needs: ['hmac', 'api-key', 'effects', 'restart'] },
    ],
    'logs-local-variables': [
      'Logs the local variables and the request when it rejects a delivery',
      loggingRejected((report, { secret }) => {
        const expected = expectedSignature(report, secret).toString('base64');
        const body = report.rawBody?.toString() ?? '';
        return inspect({ headers: report.request.headers, body, secret, expected }, { maxStringLength: null });
      }),
      'secret-in-log',
      { needs: ['hmac', 'api-key'] },
    ],
  },
);

function expectedSignature({ rawBody = Buffer.alloc(0) }: DeliveryReport, secret: string): Buffer {
  return hmac(rawBody, secret);
}

/** Excludes deliveries that were rejected for a reason other than their signature, such as the API key. */
const isMismatch = ({ reasonCode }: DeliveryReport) => reasonCode?.startsWith('signature') === true;

/** Mutants that log the valid signature of a rejected forgery. With this signature, the forgery would be accepted. */
const signatures = family<LogFault>(
  { area: 'log', stage: 'log', needs: ['hmac'], mistake: 'secret-in-log' },
  {
    'logs-expected-signature': [
      'Logs the expected signature when it rejects a delivery',
      loggingRejected((report, { secret, signatureHeader }) => {
        if (!isMismatch(report)) return undefined;
        const given = requestHeader(report.request, signatureHeader);
        return `invalid signature: expected ${expectedSignature(report, secret).toString('base64')}, got ${given}`;
      }),
    ],
    'logs-expected-digest': [
      'Logs the expected digest in hexadecimal when it rejects a delivery',
      loggingRejected((report, { secret }) =>
        isMismatch(report)
          ? `digest mismatch, computed=${expectedSignature(report, secret).toString('hex')}`
          : undefined,
      ),
      respells('logs-expected-signature'),
    ],
    'logs-signature-steps': [
      'Logs the computed signature of every delivery',
      logging((report, { secret }) => `DEBUG hmac: computed=${expectedSignature(report, secret).toString('base64')}`),
      {
        equivalentTo: {
          name: 'logs-expected-signature',
          reason: 'Some deliveries are rejected although they contain the valid signature, in another form or place.',
        },
      },
    ],
  },
);

/** Mutants that log the private key of the server. */
const keys = family<LogFault>(
  { area: 'log', stage: 'log', needs: ['https', 'hmac'], mistake: 'secret-in-log' },
  {
    'logs-tls-options': [
      'Logs its TLS options with the private key when it rejects a delivery',
      loggingRejected((_report, { tlsKey }) =>
        inspect({ key: tlsKey, minVersion: 'TLSv1.2', requestCert: true }, { depth: 3 }),
      ),
    ],
    'logs-private-key-as-jwk': [
      'Logs its private key as a JSON Web Key when it rejects a delivery',
      loggingRejected((_report, { tlsKey }) =>
        JSON.stringify({ keys: [createPrivateKey(tlsKey).export({ format: 'jwk' })] }),
      ),
      respells('logs-tls-options'),
    ],
    'logs-all-settings': [
      'Logs all settings, with the credentials and the private key, when it rejects a delivery',
      loggingRejected(
        (_report, { secret, apiKey, tlsKey }) =>
          `env: ${JSON.stringify({ SECRET: secret, API_KEY: apiKey, TLS_KEY: tlsKey })}`,
      ),
      { needs: ['https', 'hmac', 'api-key'] },
    ],
  },
);

export const logSecretsFaults: readonly LogFault[] = [...settings, ...signatures, ...keys];
