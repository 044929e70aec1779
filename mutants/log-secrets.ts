/** Mutants whose log contains credentials or keys of the receiver itself, each in the notation of some logger. */
import { createPrivateKey } from 'node:crypto';
import { inspect } from 'node:util';
import { hmac } from '../contract/signing/index.ts';
import type { DeliveryReport } from '../receiver/delivery-report.ts';
import { requestHeader } from '../receiver/stages/stage.ts';
import type { LogFault } from './fault.ts';

/** Where a mutant is of this area. */
export const LOG = { area: 'log', stage: 'log', forbidden: true } as const;

const rejected = (text: (report: DeliveryReport) => string | undefined) => (report: DeliveryReport) =>
  report.outcome === 'refused' ? text(report) : undefined;

const SECRET = {
  ...LOG,
  severity: 'critical',
  why: 'Everyone who can read the log, its backups and its search index can forge every notification.',
  needs: ['hmac'],
} as const;

const leaveOutSettings = {
  rule: 'Never log settings as a whole: list the few that help, without credentials. Then rotate the secret.',
  express: 'Log `{ port, path }` instead of the object with the settings.',
  spring: 'Leave credentials out of `toString` of the properties class, and keep `/actuator/env` masked.',
  django: 'Name the setting with SECRET or KEY, so that the debug page masks it, and keep DEBUG off.',
  go: 'Implement `String` and `GoString` for the type of the secret, so that `%v` and `%+v` mask it.',
  laravel: 'Add the setting to `hidden` where exceptions are reported, and keep `APP_DEBUG` off.',
};

/** What is logged of the secret, and by what. The check finds the value in each of these spellings. */
const SPELLINGS: readonly {
  readonly name: string;
  readonly title: string;
  readonly seen: string;
  readonly line: (secret: string) => string;
}[] = [
  {
    name: 'base64',
    title: 'in Base64',
    seen: 'Settings of Kubernetes secrets that are logged as they are mounted, and `Basic` credentials.',
    line: (secret) => `could not verify with data: {"hmac": "${Buffer.from(secret).toString('base64')}"}`,
  },
  {
    name: 'hex',
    title: 'in hexadecimal',
    seen: '`%x` of Go, `bin2hex` of PHP and `HexFormat` of Java, where the key is an array of bytes.',
    line: (secret) => `verification failed key=${Buffer.from(secret).toString('hex')}`,
  },
  {
    name: 'bytes',
    title: 'as a list of bytes',
    seen: '`Arrays.toString(key)` of Java, `%v` of a slice in Go, and a Buffer in `JSON.stringify`.',
    line: (secret) => `verification failed key=[${Buffer.from(secret).join(', ')}]`,
  },
  {
    name: 'url',
    title: 'in percent-encoding',
    seen: 'URLs of a vault or a configuration server that have the value in their query.',
    line: (secret) => `PUT /v1/config?hmac_secret=${encodeURIComponent(secret)} 204`,
  },
  {
    name: 'nested-json',
    title: 'in JSON inside JSON',
    seen: 'Log drivers of containers, which put a line of JSON into a field of another one.',
    line: (secret) => {
      const line = JSON.stringify({ level: 50, config: { hmac: secret } }).replaceAll('/', '\\/');
      return JSON.stringify({ log: `${line}\n`, stream: 'stdout' });
    },
  },
  {
    name: 'lines',
    title: 'over two lines',
    seen: 'Consoles that break lines at their width, such as `rich` of Python, and folded YAML.',
    line: (secret) => `│ hmac_secret = ${secret.slice(0, 20)} │\n│   ${secret.slice(20)} │`,
  },
];

const settings: readonly LogFault[] = [
  {
    ...SECRET,
    name: 'logs-secret-on-rejection',
    title: 'Logs the signature secret when it rejects a delivery',
    seen: 'Exceptions that carry the settings of the verifier: `throw new Error(JSON.stringify(options))`.',
    fix: leaveOutSettings,
    logs: ({ secret }) => ({
      delivery: rejected(() => {
        const [first = '', ...frames] = (new Error('invalid signature').stack ?? '').split('\n');
        return [`${first} (secret: ${secret})`, ...frames.slice(0, 3)].join('\n');
      }),
    }),
  },
  ...SPELLINGS.map(
    ({ name, title, seen, line }): LogFault => ({
      ...SECRET,
      name: `logs-secret-as-${name}`,
      title: `Logs the signature secret ${title} when it rejects a delivery`,
      seen,
      fix: leaveOutSettings,
      equivalentTo: {
        name: 'logs-secret-on-rejection',
        reason: 'The checks of the log report which value is in it, and not its spelling.',
      },
      logs: ({ secret }) => ({ delivery: rejected(() => line(secret)) }),
    }),
  ),
  {
    ...SECRET,
    name: 'logs-settings-at-start',
    title: 'Logs its settings with the secret and the API key when it starts',
    seen: '`console.log(config)` in the first lines of the program, and DEBUG output of configuration libraries.',
    fix: leaveOutSettings,
    needs: ['hmac', 'api-key', 'effects', 'restart'],
    logs: ({ secret, apiKey }) => ({
      start: `settings: ${inspect({ port: 8080, webhook: { path: '/hooks', secret, apiKey } }, { depth: 4 })}`,
    }),
  },
  {
    ...SECRET,
    name: 'logs-local-variables',
    title: 'Logs the local variables and the request when it rejects a delivery',
    seen: 'Reports of Sentry with local variables, `werkzeug` and `rich` tracebacks, and `dd($this)` of PHP.',
    fix: {
      rule: 'Turn off the capture of local variables and of requests, or list what is captured.',
      express: 'Set `includeLocalVariables: false` and `sendDefaultPii: false` where Sentry starts.',
      django: 'Decorate the view with `sensitive_variables` and `sensitive_post_parameters`.',
      flask: 'Set `include_local_variables=False` where Sentry starts, and keep the debugger off.',
    },
    needs: ['hmac', 'api-key'],
    logs: ({ secret }) => ({
      delivery: rejected(({ request, rawBody = Buffer.alloc(0) }) => {
        const expected = hmac(rawBody, secret).toString('base64');
        const body = rawBody.toString();
        return inspect({ headers: request.headers, body, secret, expected }, { maxStringLength: null });
      }),
    }),
  },
];

const SIGNATURE = {
  ...LOG,
  severity: 'high',
  why: 'The log of a rejected forgery contains its valid signature, with which it is accepted the next time.',
  needs: ['hmac'],
} as const;

const withoutExpected = {
  rule: 'Log that the verification failed, without the computed value.',
  express: "Log `{ reason: 'signature-mismatch' }`.",
  go: 'Compare with `hmac.Equal`, and return an error without the values.',
  django: 'Use `constant_time_compare`, and no `assertEqual` or `assert a == b`.',
};

/** Not where the signature is valid and the API key is not. */
const mismatched = (text: (report: DeliveryReport) => string) =>
  rejected((report) => (report.reasonCode?.startsWith('signature') ? text(report) : undefined));

const expectedSignature = ({ rawBody }: DeliveryReport, secret: string) => hmac(rawBody ?? Buffer.alloc(0), secret);

const signatures: readonly LogFault[] = [
  {
    ...SIGNATURE,
    name: 'logs-expected-signature',
    title: 'Logs the expected signature when it rejects a delivery',
    seen: '`expected X, got Y` messages, and assertions that print both sides.',
    fix: withoutExpected,
    logs: ({ secret, signatureHeader }) => ({
      delivery: mismatched((report) => {
        const given = requestHeader(report.request, signatureHeader);
        return `invalid signature: expected ${expectedSignature(report, secret).toString('base64')}, got ${given}`;
      }),
    }),
  },
  {
    ...SIGNATURE,
    name: 'logs-expected-digest',
    title: 'Logs the expected digest in hexadecimal when it rejects a delivery',
    seen: '`%x` of Go and `hexdigest` of Python while the developer looks for the encoding of the signature.',
    fix: withoutExpected,
    equivalentTo: {
      name: 'logs-expected-signature',
      reason: 'The checks of the log report which value is in it, and not its spelling.',
    },
    logs: ({ secret }) => ({
      delivery: mismatched(
        (report) => `digest mismatch, computed=${expectedSignature(report, secret).toString('hex')}`,
      ),
    }),
  },
  {
    ...SIGNATURE,
    name: 'logs-signature-steps',
    title: 'Logs the computed signature of every delivery',
    seen: 'DEBUG output of a verifier that was never removed.',
    fix: withoutExpected,
    equivalentTo: {
      name: 'logs-expected-signature',
      reason: 'Some deliveries are rejected although they contain the valid signature, in another form or place.',
    },
    logs: ({ secret }) => ({
      delivery: (report) => `DEBUG hmac: computed=${expectedSignature(report, secret).toString('base64')}`,
    }),
  },
];

const KEY = {
  ...LOG,
  severity: 'critical',
  why: 'Everyone who reads the log can pretend to be the server, and read what is sent to it.',
  needs: ['https', 'hmac'],
} as const;

const withoutTls = {
  rule: 'Log the path and the fingerprint of a certificate, never the options of TLS. Then replace the key.',
  express: 'Remove `key` and `pfx` from the options before you log them.',
};

const keys: readonly LogFault[] = [
  {
    ...KEY,
    name: 'logs-tls-options',
    title: 'Logs its TLS options with the private key when it rejects a delivery',
    seen: '`console.log(options)` next to `https.createServer(options)`, in a handler of errors.',
    fix: withoutTls,
    logs: ({ tlsKey }) => ({
      delivery: rejected(() => inspect({ key: tlsKey, minVersion: 'TLSv1.2', requestCert: true }, { depth: 3 })),
    }),
  },
  {
    ...KEY,
    name: 'logs-private-key-as-jwk',
    title: 'Logs its private key as a JSON Web Key when it rejects a delivery',
    seen: 'Key stores that are logged as a JWK set with the private parts.',
    fix: withoutTls,
    equivalentTo: {
      name: 'logs-tls-options',
      reason: 'The checks of the log report which value is in it, and not its spelling.',
    },
    logs: ({ tlsKey }) => ({
      delivery: rejected(() => JSON.stringify({ keys: [createPrivateKey(tlsKey).export({ format: 'jwk' })] })),
    }),
  },
  {
    ...KEY,
    name: 'logs-all-settings',
    title: 'Logs all settings, with the credentials and the private key, when it rejects a delivery',
    seen: 'A handler of errors that logs `app.settings` or the environment.',
    fix: leaveOutSettings,
    needs: ['https', 'hmac', 'api-key'],
    logs: ({ secret, apiKey, tlsKey }) => ({
      delivery: rejected(() => `env: ${JSON.stringify({ SECRET: secret, API_KEY: apiKey, TLS_KEY: tlsKey })}`),
    }),
  },
];

export const logSecretsFaults: readonly LogFault[] = [...settings, ...signatures, ...keys];
