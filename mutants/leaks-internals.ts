/** Mutants whose answers reveal internals or the reason of a rejection. */
import type { StageFault } from './fault.ts';
import { type Failed, type Page, rejectKey, rejectSignature, show, showInstead } from './leaks-credentials.ts';

// Internals are not credentials: keeping them out of answers is good practice, not a rule of the specification.
const INTERNALS = { area: 'leaks', severity: 'medium', forbidden: false } as const;

const PRODUCTION: StageFault['fix'] = {
  rule:
    'Run the framework in production mode, and let one error handler answer with a status and a fixed word; log the ' +
    'error.',
  express:
    'Set NODE_ENV=production, and add `(err, req, res, next) => res.status(err.status ?? 500).json({ error: ' +
    '"failed" })` after all routes.',
  nestjs: 'Do not put `exception.message` into the answer of an exception filter.',
  hono: 'Set `app.onError`, and answer a fixed text.',
  python: 'Catch exceptions in the handler, log them, and answer a fixed text.',
  fastapi: 'Do not run with `debug=True`, and put no `str(error)` into an `HTTPException`.',
  php: 'Set `display_errors=0` in php.ini, and log errors.',
  fastify: 'Replace the default handler with `setErrorHandler`, because it sends the message of an error.',
  django: 'Set `DEBUG = False`.',
  flask: 'Do not run with `debug=True`, and register an error handler for `Exception`.',
  spring: 'Keep `server.error.include-message` and `server.error.include-stacktrace` at never.',
  rails: 'Set `config.consider_all_requests_local = false`.',
  laravel: 'Set `APP_DEBUG=false`, and clear the cached configuration.',
  go: 'Never pass `err.Error()` to `http.Error`; log it and send a fixed word.',
  dotnet: 'Use `UseDeveloperExceptionPage` only in development, and `UseExceptionHandler` otherwise.',
};

const MAP_FOR_ATTACKERS = 'Files, versions and line numbers show an attacker which known vulnerabilities to try.';

function messageOfParser(rawBody: Buffer | undefined): string | null {
  try {
    JSON.parse((rawBody ?? Buffer.alloc(0)).toString('utf8'));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The error page of Express without NODE_ENV=production. */
const expressPage = (message: string, frames: readonly string[]): Page => ({
  body: `<!DOCTYPE html><title>Error</title><pre>${[message, ...frames].join('<br> &nbsp; &nbsp;')}</pre>`,
});

const traceOfParser = ({ rawBody }: Failed): Page =>
  expressPage(`SyntaxError: ${messageOfParser(rawBody) ?? 'invalid body'}`, [
    'at JSON.parse (&lt;anonymous&gt;)',
    'at parse (/srv/app/node_modules/body-parser/lib/types/json.js:92:19)',
  ]);

const PYTHON_TRACE = [
  'Traceback (most recent call last):',
  '  File "/app/hooks/views.py", line 31, in receive',
  '    digest = base64.b64decode(header, validate=True)',
  'binascii.Error: Incorrect padding',
].join('\n');

const JAVA_TRACE = [
  'org.springframework.web.HttpMediaTypeNotSupportedException: Content type not supported',
  '\tat com.example.hooks.HookController.receive(HookController.java:48)',
].join('\n');

const UNIQUE_VIOLATION =
  'ERROR: duplicate key value violates unique constraint "deliveries_pkey" DETAIL: Key (id) already exists.';

// Uniform rejections are good practice: the specification requires 401 and does not define the body.
const REFUSAL = { area: 'leaks', severity: 'low', forbidden: false } as const;

const ONE_REFUSAL: StageFault['fix'] = {
  rule: 'Let one function answer every failed verification with 401 and one text, and log the reason.',
  express:
    "Write one `unauthorized(res)` that sends `{ error: 'unauthorized' }`, and call it from every credential check.",
  rails: 'End each credential `before_action` in the same `head :unauthorized`.',
  go: 'Return one sentinel error from all checks, and translate it in one place.',
};

export const leaksInternalsFaults: readonly StageFault[] = [
  // Answers that show internals.
  {
    ...INTERNALS,
    name: 'shows-stack-trace-of-broken-json',
    title: 'Answers a body that is not JSON with a stack trace',
    seen: 'The default error page of Express without NODE_ENV=production, and its equivalents in every framework.',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    stage: 'parse',
    replace: showInstead('parse', 400, traceOfParser),
  },
  {
    ...INTERNALS,
    name: 'shows-message-of-json-parser',
    title: 'Answers a body that is not JSON with the message of the parser',
    seen: '`res.status(400).json({ error: err.message })` and its equivalents.',
    why: 'The message reveals the parser and quotes the body, which may contain customer data.',
    fix: PRODUCTION,
    severity: 'low',
    stage: 'parse',
    replace: showInstead('parse', 400, ({ rawBody }) => ({ body: { error: messageOfParser(rawBody) } })),
  },
  {
    ...INTERNALS,
    name: 'shows-parser-message-to-strangers',
    title: 'Answers an unsigned body that is not JSON with 401 and the message of the parser',
    seen: 'Handlers that parse first and collect all errors before they answer.',
    why: 'It reveals that bodies are parsed before any credential is checked, and by which parser.',
    fix: { ...PRODUCTION, rule: 'Verify the raw body first, answer 401 if that fails, and parse afterwards.' },
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: rejectSignature(({ rawBody }) => {
      const message = messageOfParser(rawBody);
      return message === null ? null : { body: { error: 'unauthorized', errors: [message] } };
    }),
  },
  {
    ...INTERNALS,
    name: 'shows-message-of-exception',
    title: 'Answers an invalid payload with the message of the exception it caused',
    seen: 'A catch block around the whole handler that sends the message of any exception.',
    why: 'Names of fields and functions reveal how the handler works and help the next attempt.',
    fix: PRODUCTION,
    severity: 'low',
    stage: 'validate',
    replace: showInstead('validate', 400, () => ({
      body: { error: "Cannot read properties of undefined (reading 'transactionId')" },
    })),
  },
  {
    ...INTERNALS,
    name: 'shows-stack-trace-of-signature-decoder',
    title: 'Answers a signature that is not Base64 with a stack trace of the decoder',
    seen: 'Python development servers, and handlers that return traceback.format_exc().',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: rejectSignature(({ reason }) => (reason === 'malformed' ? { body: { detail: PYTHON_TRACE } } : null)),
  },
  {
    ...INTERNALS,
    name: 'shows-debug-page-to-other-methods',
    title: 'Answers any method other than POST with the debug page of the framework',
    seen: 'Django with DEBUG = True and Rails in development, whose pages for unknown routes list all routes.',
    why: 'The page shows the structure of the application to everyone with a browser.',
    fix: PRODUCTION,
    stage: 'accept',
    replace: showInstead('accept', 405, () => ({
      body:
        "<h1>Page not found</h1><p>You're seeing this error because you have <code>DEBUG = True</code> in your " +
        'settings file.</p>',
      headers: { Allow: 'POST' },
    })),
  },
  {
    ...INTERNALS,
    name: 'shows-stack-trace-of-large-bodies',
    title: 'Answers a body over the limit with a stack trace',
    seen: 'Body parser limits, whose exceptions occur before the error handling of the application.',
    why: `${MAP_FOR_ATTACKERS} Tests rarely send such bodies, so the page stays.`,
    fix: PRODUCTION,
    stage: 'readBody',
    replace: showInstead('readBody', 413, () =>
      expressPage('PayloadTooLargeError: request entity too large', [
        'at readStream (/srv/app/node_modules/raw-body/index.js:163:17)',
      ]),
    ),
  },
  {
    ...INTERNALS,
    name: 'shows-stack-trace-of-other-content-types',
    title: 'Answers a body of another content type with a stack trace',
    seen: 'Spring with server.error.include-stacktrace=always, and exceptions of message converters in general.',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    stage: 'checkContentType',
    replace: showInstead('checkContentType', 415, () => ({ body: { status: 415, trace: JAVA_TRACE } })),
  },
  {
    ...INTERNALS,
    name: 'shows-database-message-of-duplicates',
    title: 'Answers a duplicate with 200 and the database message about its key',
    seen: 'Handlers that insert first, catch the constraint violation and return its message as an explanation.',
    why: 'Names of tables and constraints help SQL injection, and the message reveals the database.',
    fix: {
      ...PRODUCTION,
      rule: 'Insert with "on conflict do nothing", and answer a duplicate like the first delivery.',
    },
    severity: 'low',
    stage: 'reply',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (res.locals.stored === 'stored') return correct.reply(req, res, next);
        show(res, 200, { body: { status: 'duplicate', detail: UNIQUE_VIOLATION } });
      },
  },
  {
    ...INTERNALS,
    name: 'appends-debug-bar',
    title: 'Appends a debug bar to the answer to accepted deliveries',
    seen: 'Packages such as laravel-debugbar that were deployed with the development dependencies.',
    why: 'The bar lists queries, session and configuration, and senders that check the response body stop delivering.',
    fix: {
      ...PRODUCTION,
      laravel: 'Install without development packages (`composer install --no-dev`), and set `APP_DEBUG=false`.',
    },
    stage: 'reply',
    replace:
      ({ handling }) =>
      (_req, res) => {
        const { notification, stored } = res.locals;
        show(res, 200, { body: '<div class="phpdebugbar" data-queries="12">SELECT * FROM deliveries</div>' });
        if (stored === 'stored' && notification !== undefined) handling.wake();
      },
  },
  {
    ...INTERNALS,
    name: 'profiles-open-to-everyone',
    title: 'Serves profiles of the running process to everyone at /debug/pprof/',
    seen: 'Importing net/http/pprof in Go, which adds its pages to the default mux; actuators of Spring, `/_profiler`.',
    why: 'Profiles show functions, arguments and memory, and anyone can start one that slows the receiver down.',
    fix: {
      rule: 'Serve pages for operators on another port that is not public.',
      express: 'Mount status monitors and profilers on a second app that listens on 127.0.0.1.',
      go: 'Use a mux of your own (`http.NewServeMux()`), and serve `http.DefaultServeMux` on 127.0.0.1.',
      spring: 'Set `management.server.port` and `management.endpoints.web.exposure.include=health`.',
      flask: 'Do not run with `debug=True`.',
    },
    stage: 'accept',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (req.path !== '/debug/pprof/' || req.method !== 'GET') return correct.accept(req, res, next);
        show(res, 200, {
          body: '<title>/debug/pprof/</title><a href="goroutine?debug=1">goroutine</a> <a href="heap?debug=1">heap</a>',
        });
      },
  },
  // Rejections that reveal which credential was wrong, or how.
  {
    ...REFUSAL,
    name: 'names-the-failed-check',
    title: 'Reveals whether the API key or the signature was wrong',
    seen: 'Two checks with separate messages, "Invalid API key" and "Invalid signature", as in nearly every tutorial.',
    why: 'An attacker who tries keys sees when one is valid and can continue with the other credential.',
    fix: ONE_REFUSAL,
    needs: ['hmac', 'api-key'],
    stage: 'requireApiKey',
    replace: rejectKey(() => ({ body: { error: 'Invalid API key' } })),
  },
  {
    ...REFUSAL,
    name: 'numbers-refused-signatures',
    title: 'Rejects missing, malformed and invalid signatures with different error codes',
    seen: 'Verifiers that throw three different errors, and error code lists of API style guides.',
    why: 'Each code brings an attacker closer to the correct format.',
    fix: ONE_REFUSAL,
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: rejectSignature(({ reason }) => ({
      body: { error: 'unauthorized', code: 1001 + ['missing', 'malformed', 'mismatch'].indexOf(reason) },
    })),
  },
  {
    ...REFUSAL,
    name: 'says-that-signature-is-malformed',
    title: 'Rejects a malformed signature with a separate message',
    seen: 'Schema validation before verification, and guards for comparisons that need equal lengths.',
    why: 'The answer reveals when length and alphabet are correct, so the format can be found by trial.',
    fix: ONE_REFUSAL,
    needs: ['hmac'],
    stage: 'requireSignature',
    replace: rejectSignature(({ reason }) =>
      reason === 'malformed' ? { body: { error: 'The signature has the wrong length' } } : null,
    ),
  },
  {
    ...REFUSAL,
    name: 'numbers-refused-keys',
    title: 'Rejects missing and unknown API keys with different error codes',
    seen: 'Authentication middleware and API gateways, which distinguish "no key" from "unknown key".',
    why: 'It confirms the name of the header to a scanner: the answer changes as soon as the header is present.',
    fix: ONE_REFUSAL,
    needs: ['api-key'],
    stage: 'requireApiKey',
    replace: rejectKey(({ presented }) => ({
      body: { error: 'unauthorized', code: presented === undefined ? 2001 : 2002 },
    })),
  },
  {
    ...REFUSAL,
    name: 'says-that-key-begins-rightly',
    title: 'Rejects an API key with the correct prefix with a separate message',
    seen: 'Keys with a public prefix for the lookup, and a second message if the rest does not match.',
    why: 'Guessing becomes searching: the answer confirms each correct prefix.',
    fix: { ...ONE_REFUSAL, rule: 'Look up keys by a digest of the whole key, and answer every mismatch the same.' },
    severity: 'medium',
    needs: ['api-key'],
    stage: 'requireApiKey',
    replace: rejectKey(({ presented, keys }) =>
      presented !== undefined && keys[0]?.startsWith(presented.slice(0, 8)) === true && presented.length >= 8
        ? { body: { error: 'This API key has been revoked' } }
        : null,
    ),
  },
];
