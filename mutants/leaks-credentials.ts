/** Mutants whose answers reveal credentials or signatures. */

import { STATUS_CODES } from 'node:http';
import type { Request, Response } from 'express';
import { hmac } from '../contract/signing/index.ts';
import { checkApiKey } from '../receiver/check-api-key.ts';
import type { Pipeline } from '../receiver/create-receiver.ts';
import type { ReceiverConfig } from '../receiver/options.ts';
import { refuseUnauthorized, requestHeader, required } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import {
  answerInvalidSignature,
  exceptFor,
  type Handle,
  type InvalidSignature,
  type StageChange,
} from './stage-changes.ts';

/** The content of an answer. An object is sent as JSON, a string as HTML. `phrase` is the reason phrase. */
export interface Page {
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly phrase?: string;
}

/** Sends a page with this status. JSON is indented, as on the error pages of frameworks. */
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

/** What an error handler knows about the failed request. */
export interface Failed {
  readonly req: Request;
  readonly config: ReceiverConfig;
  /** The body, if it has already been read. */
  readonly rawBody: Buffer | undefined;
}

/**
 * Runs the correct stage, but replaces the content of answers that have this status with `page`. Later stages answer as
 * usual.
 */
export function showInstead(stage: keyof Pipeline, status: number, page: (failed: Failed) => Page): StageChange {
  const replace: StageFault['replace'] =
    ({ correct, config }) =>
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
  return { stage, replace };
}

/** Answers an accepted delivery with another page. */
export function showAccepted(page: (delivery: Failed) => Page): StageChange {
  const replace: StageFault['replace'] =
    ({ handling, config }) =>
    (req, res) => {
      const { notification, stored, rawBody } = res.locals;
      show(res, 200, page({ req, config, rawBody }));
      if (stored === 'stored' && notification !== undefined) handling.wake();
    };
  return { stage: 'reply', replace };
}

/** A change of a stage, and the credentials that an endpoint needs for it. */
type CredentialChange = Pick<StageFault, 'stage' | 'needs' | 'replace'>;

interface RefusedSignature extends Failed, InvalidSignature {
  /** Digest of the valid signature. */
  readonly expected: Buffer;
}

/**
 * Runs the correct check of signatures, but answers rejected ones with `page`. If it returns null, the correct answer
 * is sent.
 */
export function rejectSignature(page: (refused: RefusedSignature) => Page | null): CredentialChange {
  const replace: StageFault['replace'] = (parts) =>
    answerInvalidSignature((res, rejected) => {
      const { config } = parts;
      const rawBody = required(res, 'rawBody');
      const shown = page({ ...rejected, config, rawBody, expected: hmac(rawBody, config.signing?.secrets[0] ?? '') });
      if (shown === null) refuseUnauthorized(res, `signature-${rejected.reason}`);
      else show(res, 401, shown);
    })(parts);
  return { stage: 'requireSignature', needs: ['hmac'], replace };
}

/** A rejected API key, and the valid ones. */
interface RefusedKey {
  readonly presented: string | undefined;
  readonly keys: readonly string[];
  readonly req: Request;
  readonly config: ReceiverConfig;
}

/**
 * Runs the correct check of API keys, but answers rejected ones with `page`. If it returns null, the correct answer is
 * sent.
 */
function rejectKey(page: (refused: RefusedKey) => Page | null): CredentialChange {
  const replace: StageFault['replace'] = ({ correct, config }) => {
    const { apiKey } = config;
    if (apiKey === undefined) return correct.requireApiKey;
    return (req, res, next) => {
      const header = requestHeader(req, apiKey.header);
      const result = checkApiKey({ header, keys: apiKey.keys });
      if (result.ok) return next();
      const presented = typeof header === 'string' && header !== '' ? header : undefined;
      const shown = page({ presented, keys: apiKey.keys, req, config });
      if (shown === null) refuseUnauthorized(res, `api-key-${result.reason}`);
      else show(res, 401, shown);
    };
  };
  return { stage: 'requireApiKey', needs: ['api-key'], replace };
}

/** Formats the request as a developer error page does. */
const request = ({ req, rawBody }: Failed) => ({
  method: req.method,
  url: req.originalUrl,
  headers: req.headers,
  ...(rawBody !== undefined && { body: rawBody.toString('utf8') }),
});

/** Lists environment variables as a debug page does. */
function environment({ signing, apiKey }: Failed['config']): string {
  const rows = { NODE_ENV: 'development', WEBHOOK_SECRET: signing?.secrets[0], WEBHOOK_KEY: apiKey?.keys[0] };
  return Object.entries(rows)
    .map(([name, value]) => `<tr><td>${name}</td><td>${(value ?? '').replaceAll('=', '&#x3D;')}</td></tr>`)
    .join('');
}

const echo = (failed: Failed): Page => ({ body: { error: 'could not handle this request', request: request(failed) } });

/** Answers with the settings of the receiver, in the form of a configuration file or page. */
const withSettings =
  (status: number): Handle =>
  (_req, res, _next, { config: { signing, apiKey } }) =>
    show(res, status, {
      body: `WEBHOOK_SECRET=${signing?.secrets[0] ?? ''}\nWEBHOOK_API_KEY=${apiKey?.keys[0] ?? ''}\n`,
    });

export const leaksCredentialsFaults = family<StageFault>(
  { area: 'leaks', mistake: 'expected-signature-in-answer' },
  {
    // Answers that contain the secret or the API key.
    'shows-right-key': [
      'Answers an invalid API key with the valid one',
      rejectKey(({ presented, keys }) =>
        presented === undefined ? null : { body: { error: `API key is not ${keys[0]}`, presented } },
      ),
      'stored-key-in-answer',
    ],
    'shows-variables-without-key': [
      'Answers a missing API key with a debug page that lists variables',
      rejectKey(({ presented, req, config }) => {
        const { method, path } = req;
        const page = `<h1>Undefined header</h1><table>${environment(config)}</table><p>${method} ${path}</p>`;
        return presented === undefined ? { body: page } : null;
      }),
      'settings-page-public',
    ],
    'shows-configuration-to-other-methods': [
      'Answers any method other than POST with a page about the endpoint and its configuration',
      showInstead('accept', 405, ({ config }) => ({
        body: `<h1>Webhook endpoint</h1><table>${environment(config)}</table>`,
        headers: { Allow: 'POST' },
      })),
      'settings-page-public',
    ],
    'echoes-headers-of-broken-json': [
      'Answers a body that is not JSON with the whole request, including the header with the API key',
      showInstead('parse', 400, echo),
      'request-headers-in-answer',
      { needs: ['api-key'] },
    ],
    'echoes-headers-of-invalid-fields': [
      'Answers a payload that fails validation with the request, including the header with the API key',
      showInstead('validate', 400, echo),
      'request-headers-in-answer',
      { needs: ['api-key'] },
    ],
    'echoes-headers-of-other-content-types': [
      'Answers a body of another content type with all request headers',
      showInstead('checkContentType', 415, echo),
      'request-headers-in-answer',
      { needs: ['api-key'] },
    ],
    'echoes-headers-of-large-bodies': [
      'Answers a body over the limit with all request headers',
      showInstead('readBody', 413, echo),
      'request-headers-in-answer',
      {
        needs: ['api-key'],
        note: 'Limits are enforced separately from other errors, and this path is rarely tested.',
      },
    ],
    'echoes-headers-of-accepted-deliveries': [
      'Answers an accepted delivery with the received request, including its headers',
      showAccepted((delivery) => ({ body: { received: request(delivery) } })),
      'request-headers-in-answer',
      { needs: ['api-key'] },
    ],
    // Answers that contain the valid signature of the body.
    'shows-expected-signature': [
      'Answers an invalid signature with the expected one',
      rejectSignature(({ reason, presented, expected }) =>
        reason === 'missing'
          ? null
          : { body: { error: 'Invalid signature', expected: expected.toString('base64'), got: presented } },
      ),
    ],
    'explains-signing-with-right-signature': [
      'Answers a missing signature with instructions that contain the valid one in hexadecimal',
      rejectSignature(({ reason, expected }) =>
        reason === 'missing'
          ? { body: `<p>Missing signature. Try <code>sha256=${expected.toString('hex')}</code></p>` }
          : null,
      ),
    ],
    'expected-signature-in-header': [
      'Sends the expected signature in every rejection, for example in a header',
      rejectSignature(({ expected }) => ({
        body: { error: 'unauthorized' },
        headers: { 'X-Computed-Signature': expected.toString('base64url') },
      })),
    ],
    'expected-signature-in-debug-mode': [
      'Sends the expected signature to anyone who sets X-Debug',
      rejectSignature(({ req, expected }) =>
        req.headers['x-debug'] === undefined
          ? null
          : // As PHP's json_encode writes it.
            { body: JSON.stringify({ expected: expected.toString('base64') }).replaceAll('/', '\\/') },
      ),
      'debug-switch-in-request',
    ],
    'expected-signature-as-bytes': [
      'Answers a malformed signature with an error object that contains the expected bytes as numbers',
      rejectSignature(({ reason, presented, expected }) =>
        reason === 'malformed' ? { body: { code: 'ERR_ASSERTION', actual: String(presented), expected } } : null,
      ),
      { note: 'A list of numbers does not look like a signature, so reviews miss it.' },
    ],
    'expected-signature-in-status-line': [
      'Sends the expected signature in its answer, for example in the reason phrase of the status line',
      rejectSignature(({ reason, expected }) =>
        reason === 'missing'
          ? null
          : { body: { error: 'unauthorized' }, phrase: `Signature is not ${expected.toString('base64')}` },
      ),
      { note: 'Most tools hide the reason phrase, so it goes unnoticed.' },
    ],
    // Answers that contain a part of a credential, and pages that contain the settings.
    'shows-start-of-expected-signature': [
      'Answers an invalid signature with the first 20 characters of the expected one',
      rejectSignature(({ reason, expected }) =>
        reason === 'missing'
          ? null
          : { body: { error: `Invalid signature, expected ${expected.toString('base64').slice(0, 20)}...` } },
      ),
    ],
    'shows-end-of-key': [
      'Answers an invalid API key with the last six characters of the valid one in a header',
      rejectKey(({ keys }) => ({
        body: { error: 'unauthorized' },
        headers: { 'X-Key-Hint': `...${(keys[0] ?? '').slice(-6)}` },
      })),
      'stored-key-in-answer',
    ],
    'shows-start-of-secret': [
      'Answers a missing signature with the first eight characters of the secret',
      rejectSignature(({ reason, config }) =>
        reason === 'missing'
          ? { body: { error: 'unauthorized', secret: `${(config.signing?.secrets[0] ?? '').slice(0, 8)}...` } }
          : null,
      ),
      'stored-key-in-answer',
    ],
    'serves-env-file': [
      'Serves the file .env, which contains the secret and the key',
      exceptFor('accept', ({ path }) => path === '/.env', withSettings(200)),
      'configuration-file-served',
    ],
    'shows-settings-when-not-found': [
      'Shows its settings, with the secret and the key, on the page for unknown URLs',
      exceptFor('accept', ({ method }) => method === 'GET', withSettings(404)),
      'settings-page-public',
    ],
  },
);
