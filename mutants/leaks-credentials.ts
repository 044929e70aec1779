/** Mutants whose answers reveal credentials or signatures. */

import { STATUS_CODES } from 'node:http';
import type { Request, Response } from 'express';
import { hmac } from '../contract/signing/index.ts';
import { checkApiKey } from '../receiver/check-api-key.ts';
import type { Pipeline } from '../receiver/create-receiver.ts';
import type { ReceiverConfig } from '../receiver/options.ts';
import { refuseUnauthorized, requestHeader, required } from '../receiver/stages/stage.ts';
import { type SignatureCheck, verifySignature } from '../receiver/verify-signature.ts';
import type { StageFault } from './fault.ts';

type Replacement = StageFault['replace'];

/** An answer: an object is sent as JSON, text as HTML. `phrase` is the reason phrase. */
export interface Page {
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly phrase?: string;
}

/** Sends a page, with indented JSON as on error pages. */
export function show(
  res: Response,
  status: number,
  { body, headers, phrase = STATUS_CODES[status] ?? '' }: Page,
): void {
  const html = typeof body === 'string';
  const bytes = Buffer.from(html ? body : JSON.stringify(body, null, 2));
  res.writeHead(status, phrase, {
    'Content-Type': html ? 'text/html; charset=utf-8' : 'application/json',
    'Content-Length': bytes.length,
    ...headers,
  });
  res.end(bytes);
}

/** What an error handler knows of the failed request. */
export interface Failed {
  readonly req: Request;
  readonly config: ReceiverConfig;
  /** The body, if it was read before. */
  readonly rawBody: Buffer | undefined;
}

/** The correct stage with another page for answers with this status. Later stages answer as usual. */
export function showInstead(stage: keyof Pipeline, status: number, page: (failed: Failed) => Page): Replacement {
  return ({ correct, config }) =>
    (req, res, next) => {
      const restore = () => {
        for (const name of ['writeHead', 'end']) Reflect.deleteProperty(res, name);
      };
      const writeHead = res.writeHead.bind(res) as (code: number, ...rest: unknown[]) => typeof res;
      res.writeHead = (code: number, ...rest: unknown[]) => {
        if (code !== status) return writeHead(code, ...rest);
        res.end = () => {
          restore();
          show(res, status, page({ req, config, rawBody: res.locals.rawBody }));
          return res;
        };
        return res;
      };
      return correct[stage](req, res, (error?: unknown) => {
        restore();
        next(error);
      });
    };
}

/** A rejected signature. */
interface RefusedSignature extends Failed {
  readonly reason: Extract<SignatureCheck, { ok: false }>['reason'];
  readonly presented: string | string[] | undefined;
  /** The digest of the valid signature. */
  readonly expected: Buffer;
}

/** The correct check of signatures, with `page` as the answer to rejected ones; null keeps the correct answer. */
export function rejectSignature(page: (refused: RefusedSignature) => Page | null): Replacement {
  return ({ correct, config }) => {
    const { signing } = config;
    if (signing === undefined) return correct.requireSignature;
    return (req, res, next) => {
      const rawBody = required(res, 'rawBody');
      const presented = requestHeader(req, signing.header);
      const result = verifySignature({ rawBody, header: presented, secrets: signing.secrets });
      if (result.ok) return next();
      const expected = hmac(rawBody, signing.secrets[0] ?? '');
      const shown = page({ req, config, rawBody, reason: result.reason, presented, expected });
      if (shown === null) refuseUnauthorized(res, `signature-${result.reason}`);
      else show(res, 401, shown);
    };
  };
}

/** The correct check of API keys, with `page` as the answer to rejected ones; null keeps the correct answer. */
export function rejectKey(
  page: (refused: { presented: string | undefined; keys: readonly string[]; req: Request }) => Page | null,
): Replacement {
  return ({ correct, config }) => {
    const { apiKey } = config;
    if (apiKey === undefined) return correct.requireApiKey;
    return (req, res, next) => {
      const header = requestHeader(req, apiKey.header);
      const result = checkApiKey({ header, keys: apiKey.keys });
      if (result.ok) return next();
      const presented = typeof header === 'string' && header !== '' ? header : undefined;
      const shown = page({ presented, keys: apiKey.keys, req });
      if (shown === null) refuseUnauthorized(res, `api-key-${result.reason}`);
      else show(res, 401, shown);
    };
  };
}

const CREDENTIALS = { area: 'leaks', severity: 'critical', forbidden: true } as const;

const NO_ECHO: StageFault['fix'] = {
  rule:
    'Answer with fixed texts. Never copy headers, configuration or variables into an answer, not even into an error ' +
    'page.',
  express:
    'Set NODE_ENV=production, and add an error handler at the end that sends a status and a word: `(err, req, res, ' +
    'next) => res.status(400).json({ error: "bad-request" })`.',
  django: 'Set `DEBUG = False`.',
  python: 'Answer fixed texts: no headers, and no text of an exception.',
  flask: 'Do not run with `debug=True`.',
  fastapi: 'Do not run with `debug=True`.',
  php: 'Set `display_errors=0` in php.ini, and remove `phpinfo()` and `var_dump()`.',
  spring: 'Keep `server.error.include-message` and `include-stacktrace` at never.',
  rails: 'Set `config.consider_all_requests_local = false`.',
  laravel: 'Set `APP_DEBUG=false`, and clear the cached configuration.',
  dotnet: 'Use `UseExceptionHandler`, and `UseDeveloperExceptionPage` only in development.',
};

const KEY_TRAVELS =
  'The sender logs answers and shows them in its dashboard, so unauthorised people and systems see the API key.';

/** The request as a developer error page prints it. */
const request = ({ req, rawBody }: Failed) => ({
  method: req.method,
  url: req.originalUrl,
  headers: req.headers,
  ...(rawBody !== undefined && { body: rawBody.toString('utf8') }),
});

/** Environment variables as a debug page lists them. */
function environment({ signing, apiKey }: Failed['config']): string {
  const rows = { NODE_ENV: 'development', WEBHOOK_SECRET: signing?.secrets[0], WEBHOOK_KEY: apiKey?.keys[0] };
  return Object.entries(rows)
    .map(([name, value]) => `<tr><td>${name}</td><td>${(value ?? '').replaceAll('=', '&#x3D;')}</td></tr>`)
    .join('');
}

const echo = (failed: Failed): Page => ({ body: { error: 'could not handle this request', request: request(failed) } });

const SIGNATURE_SHOWN = {
  area: 'leaks',
  severity: 'critical',
  forbidden: true,
  needs: ['hmac'],
  stage: 'requireSignature',
} as const;

const ONE_WORD: StageFault['fix'] = {
  rule:
    'Answer every failed verification with 401 and one fixed text. Do not output the expected value anywhere, ' +
    'not even in ' +
    'the log.',
  express: "Send `res.status(401).json({ error: 'unauthorized' })` and no computed values.",
  fastify: 'Set an error handler that never copies properties of an error into the reply.',
  spring: 'Throw an exception without the values, and keep `server.error.include-message=never`.',
  go: 'Write `http.Error(w, "unauthorized", http.StatusUnauthorized)` without `err.Error()`.',
};

const SIGNED_FOR_ANYONE =
  'Anyone can get any body signed: send it, read the valid signature from the answer, and send it again. The check ' +
  'is useless.';

/** The settings of a receiver as a file or a page shows them. */
function settingsOf({ signing, apiKey }: ReceiverConfig): string {
  return `WEBHOOK_SECRET=${signing?.secrets[0] ?? ''}\nWEBHOOK_API_KEY=${apiKey?.keys[0] ?? ''}\n`;
}

const ELSEWHERE = {
  area: 'leaks',
  severity: 'critical',
  forbidden: true,
  stage: 'accept',
  why: 'Anyone who requests this URL can sign notifications and send the key. Scanners request it every day.',
  fix: {
    rule: 'Keep configuration out of the document root, and turn off debug pages in production.',
    express: 'Do not serve the project folder with `express.static`, and set NODE_ENV to production.',
    django: 'Set `DEBUG = False`, and keep secrets out of settings that pages show.',
    php: 'Point the web server at a folder that has the entry script alone.',
    laravel: 'Point the web server at `public/`, and set `APP_DEBUG=false`.',
  },
} as const;

export const leaksCredentialsFaults: readonly StageFault[] = [
  // Answers that contain the secret or the API key.
  {
    ...CREDENTIALS,
    name: 'shows-right-key',
    title: 'Answers a wrong API key with the valid one',
    seen: 'Messages such as "expected X, got Y", and assertions whose text is sent.',
    why: 'An attacker needs only one guess.',
    fix: NO_ECHO,
    needs: ['api-key'],
    stage: 'requireApiKey',
    replace: rejectKey(({ presented, keys }) =>
      presented === undefined ? null : { body: { error: `API key is not ${keys[0]}`, presented } },
    ),
  },
  {
    ...CREDENTIALS,
    name: 'shows-variables-without-key',
    title: 'Answers a missing API key with a debug page that lists variables',
    seen: 'Error pages of Laravel, Django and Symfony in debug mode, which mask a value only if its name is on a list.',
    why: 'A request without any credential reveals the secret and the key.',
    fix: NO_ECHO,
    needs: ['api-key'],
    stage: 'requireApiKey',
    replace: (parts) =>
      rejectKey(({ presented, req }) =>
        presented === undefined
          ? {
              body:
                `<h1>Undefined header</h1><table>${environment(parts.config)}</table><p>${req.method} ` +
                `${req.path}</p>`,
            }
          : null,
      )(parts),
  },
  {
    ...CREDENTIALS,
    name: 'shows-configuration-to-other-methods',
    title: 'Answers any method other than POST with a page about the endpoint and its configuration',
    seen: 'Status pages such as "is my webhook set up?", made for a browser during development.',
    why: 'Search engines and scanners send GET. Anyone who finds the URL has the secret.',
    fix: {
      ...NO_ECHO,
      rule: 'Answer other methods with 405 and nothing else; put a status page behind a login, without secrets.',
    },
    stage: 'accept',
    replace: showInstead('accept', 405, ({ config }) => ({
      body: `<h1>Webhook endpoint</h1><table>${environment(config)}</table>`,
      headers: { Allow: 'POST' },
    })),
  },
  {
    ...CREDENTIALS,
    name: 'echoes-headers-of-broken-json',
    title: 'Answers a body that is not JSON with the whole request, including the header with the API key',
    seen:
      'Error handlers that include the request "for support", and error objects of HTTP libraries that are ' +
      'serialised as a whole.',
    why: KEY_TRAVELS,
    fix: NO_ECHO,
    severity: 'high',
    needs: ['api-key'],
    stage: 'parse',
    replace: showInstead('parse', 400, echo),
  },
  {
    ...CREDENTIALS,
    name: 'echoes-headers-of-invalid-fields',
    title: 'Answers a payload that fails validation with the request, including the header with the API key',
    seen: 'Validators that get the whole request instead of the body and repeat their input in the error.',
    why: KEY_TRAVELS,
    fix: { ...NO_ECHO, rule: 'Validate only the body, and answer with the names of the invalid fields.' },
    severity: 'high',
    needs: ['api-key'],
    stage: 'validate',
    replace: showInstead('validate', 400, echo),
  },
  {
    ...CREDENTIALS,
    name: 'echoes-headers-of-other-content-types',
    title: 'Answers a body of another content type with all request headers',
    seen: 'Handlers for 415 that list the received headers to show the sender its mistake.',
    why: KEY_TRAVELS,
    fix: NO_ECHO,
    severity: 'high',
    needs: ['api-key'],
    stage: 'checkContentType',
    replace: showInstead('checkContentType', 415, echo),
  },
  {
    ...CREDENTIALS,
    name: 'echoes-headers-of-large-bodies',
    title: 'Answers a body over the limit with all request headers',
    seen:
      'Error pages of reverse proxies that were changed to show the request, and limits that are enforced ' +
      'separately from other errors.',
    why: `${KEY_TRAVELS} This path is rarely tested.`,
    fix: NO_ECHO,
    severity: 'high',
    needs: ['api-key'],
    stage: 'readBody',
    replace: showInstead('readBody', 413, echo),
  },
  {
    ...CREDENTIALS,
    name: 'echoes-headers-of-accepted-deliveries',
    title: 'Answers an accepted delivery with the received request, including its headers',
    seen:
      'Request bins, echo templates of serverless platforms, and `res.json({ received: { headers, body } })` from ' +
      'the first day.',
    why: KEY_TRAVELS,
    fix: { ...NO_ECHO, rule: 'Answer 200 with an empty body or a fixed word.' },
    severity: 'high',
    needs: ['api-key'],
    stage: 'reply',
    replace:
      ({ handling, config }) =>
      (req, res) => {
        const { notification, stored, rawBody } = res.locals;
        show(res, 200, { body: { received: request({ req, config, rawBody }) } });
        if (stored === 'stored' && notification !== undefined) handling.wake();
      },
  },
  // Answers that contain the valid signature of the body.
  {
    ...SIGNATURE_SHOWN,
    name: 'shows-expected-signature',
    title: 'Answers an invalid signature with the expected one',
    seen: 'Messages such as "expected X, got Y", written during the integration and never removed.',
    why: SIGNED_FOR_ANYONE,
    fix: ONE_WORD,
    replace: rejectSignature(({ reason, presented, expected }) =>
      reason === 'missing'
        ? null
        : { body: { error: 'Invalid signature', expected: expected.toString('base64'), got: presented } },
    ),
  },
  {
    ...SIGNATURE_SHOWN,
    name: 'explains-signing-with-right-signature',
    title: 'Answers a missing signature with instructions that contain the valid one in hexadecimal',
    seen: 'Friendly 401 pages and development servers that show a ready-made command for the failed request.',
    why: SIGNED_FOR_ANYONE,
    fix: { ...ONE_WORD, rule: 'Explain signing in the documentation, with an example secret, and answer a plain 401.' },
    replace: rejectSignature(({ reason, expected }) =>
      reason === 'missing'
        ? { body: `<p>Missing signature. Try <code>sha256=${expected.toString('hex')}</code></p>` }
        : null,
    ),
  },
  {
    ...SIGNATURE_SHOWN,
    name: 'expected-signature-in-header',
    title: 'Sends the expected signature in every rejection, as in a header',
    seen: 'Gateways and middleware with a debug header such as X-Computed-Signature, which goes unnoticed.',
    why: SIGNED_FOR_ANYONE,
    fix: { ...ONE_WORD, rule: 'Remove debug headers, in the application and in the components before it.' },
    replace: rejectSignature(({ expected }) => ({
      body: { error: 'unauthorized' },
      headers: { 'X-Computed-Signature': expected.toString('base64url') },
    })),
  },
  {
    ...SIGNATURE_SHOWN,
    name: 'expected-signature-in-debug-mode',
    title: 'Sends the expected signature to anyone who sets X-Debug',
    seen: 'A switch for the support team that depends on a request header instead of the environment.',
    why: 'Attackers try names such as X-Debug first, and then they can get any body signed.',
    fix: {
      ...ONE_WORD,
      rule: 'Control debug output by the configuration of the process, and never send it in an answer.',
    },
    replace: rejectSignature(({ req, expected }) =>
      req.headers['x-debug'] === undefined
        ? null
        : // As json_encode of PHP writes it.
          { body: JSON.stringify({ expected: expected.toString('base64') }).replaceAll('/', '\\/') },
    ),
  },
  {
    ...SIGNATURE_SHOWN,
    name: 'expected-signature-as-bytes',
    title: 'Answers a malformed signature with an error object that contains the expected bytes as numbers',
    seen:
      'assert.deepStrictEqual on two buffers, whose error has the properties actual and expected, and handlers ' +
      'that send errors as JSON.',
    why: 'A list of numbers does not look like a signature, so reviews miss it; encoded as Base64, it is one.',
    fix: ONE_WORD,
    replace: rejectSignature(({ reason, presented, expected }) =>
      reason === 'malformed' ? { body: { code: 'ERR_ASSERTION', actual: String(presented), expected } } : null,
    ),
  },
  {
    ...SIGNATURE_SHOWN,
    name: 'expected-signature-in-status-line',
    title: 'Sends the expected signature in its answer, as in the reason phrase of the status line',
    seen:
      'Frameworks whose exceptions have a reason phrase (HttpStatusCodeResult, sendError), filled with a developer ' +
      'message.',
    why: `${SIGNED_FOR_ANYONE} Most tools hide the phrase, so it goes unnoticed.`,
    fix: {
      ...ONE_WORD,
      dotnet: 'Return `Unauthorized()`, not a `StatusCodeResult` with a description.',
    },
    replace: rejectSignature(({ reason, expected }) =>
      reason === 'missing'
        ? null
        : { body: { error: 'unauthorized' }, phrase: `Signature is not ${expected.toString('base64')}` },
    ),
  },
  // Answers that contain a part of a credential.
  {
    ...SIGNATURE_SHOWN,
    name: 'shows-start-of-expected-signature',
    title: 'Answers an invalid signature with the first 20 characters of the expected one',
    seen: 'Messages that cut long values, "so that nothing is revealed".',
    why: 'For any body, an attacker learns a part of the expected signature and has less to guess.',
    fix: ONE_WORD,
    severity: 'high',
    replace: rejectSignature(({ reason, expected }) =>
      reason === 'missing'
        ? null
        : { body: { error: `Invalid signature, expected ${expected.toString('base64').slice(0, 20)}...` } },
    ),
  },
  {
    ...CREDENTIALS,
    name: 'shows-end-of-key',
    title: 'Answers an invalid API key with the last six characters of the valid one in a header',
    seen: 'Hints such as "key ending in a1b2c3", as on pages for payment cards.',
    why: 'Anyone learns six characters of the secret key, and which key is in use.',
    fix: NO_ECHO,
    severity: 'high',
    needs: ['api-key'],
    stage: 'requireApiKey',
    replace: rejectKey(({ keys }) => ({
      body: { error: 'unauthorized' },
      headers: { 'X-Key-Hint': `...${(keys[0] ?? '').slice(-6)}` },
    })),
  },
  {
    ...SIGNATURE_SHOWN,
    name: 'shows-start-of-secret',
    title: 'Answers a missing signature with the first eight characters of the secret',
    seen: 'Debug texts such as "secret loaded: c2VjcmV0…", which were meant for the log.',
    why: 'Every known character of a secret makes the rest easier to guess, and shows which secret is in use.',
    fix: ONE_WORD,
    severity: 'high',
    replace: rejectSignature(({ reason, config }) =>
      reason === 'missing'
        ? { body: { error: 'unauthorized', secret: `${(config.signing?.secrets[0] ?? '').slice(0, 8)}...` } }
        : null,
    ),
  },
  {
    ...ELSEWHERE,
    name: 'serves-env-file',
    title: 'Serves the file .env, which contains the secret and the key',
    seen: 'The project folder as document root, and static file handlers that serve hidden files.',
    replace:
      ({ correct, config }) =>
      (req, res, next) =>
        req.path === '/.env' ? show(res, 200, { body: settingsOf(config) }) : correct.accept(req, res, next),
  },
  {
    ...ELSEWHERE,
    name: 'shows-settings-when-not-found',
    title: 'Shows its settings, with the secret and the key, on the page for unknown URLs',
    seen: 'Development error pages of web frameworks that list the settings, left on in production.',
    replace:
      ({ correct, config }) =>
      (req, res, next) =>
        req.method === 'GET' ? show(res, 404, { body: settingsOf(config) }) : correct.accept(req, res, next),
  },
];
