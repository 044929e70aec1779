import type { StageFault } from './fault.ts';
import type { Failed, Page } from './leaking-answer.ts';
import { refusingSignature, show, showingInstead } from './leaking-answer.ts';

// What the code inside looks like is no credential: good practice keeps it out of answers, the specification does not speak of it.
const base = { area: 'leaks', severity: 'medium', forbidden: false } as const;

const PRODUCTION: StageFault['fix'] = {
  rule: 'Run the framework in production mode, and let one error handler answer with a status and a fixed word; the error goes to the log.',
  express:
    'Set NODE_ENV=production, and put `(err, req, res, next) => res.status(err.status ?? 500).json({ error: "failed" })` behind all routes.',
  fastify: 'Replace the default with `setErrorHandler`; it sends the message of an error.',
  django: 'Set `DEBUG = False`.',
  flask: 'Do not run with `debug=True`, and register an error handler for `Exception`.',
  spring: 'Keep `server.error.include-message` and `server.error.include-stacktrace` at never.',
  rails: 'Set `config.consider_all_requests_local = false`.',
  laravel: 'Set `APP_DEBUG=false` and clear the cached configuration.',
  go: 'Never hand `err.Error()` to `http.Error`; log it and send a word.',
  dotnet: 'Leave `UseDeveloperExceptionPage` to development, and use `UseExceptionHandler`.',
};

const MAP_FOR_ATTACKERS = 'Files, versions and line numbers tell an attacker which known weaknesses are worth a try.';

function messageOfParser(rawBody: Buffer | undefined): string | null {
  try {
    JSON.parse((rawBody ?? Buffer.alloc(0)).toString('utf8'));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The page that Express sends for an error when NODE_ENV is not production. */
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

/** Answers that show the code inside. */
export const shownInsides: readonly StageFault[] = [
  {
    ...base,
    name: 'shows-stack-trace-of-broken-json',
    title: 'A body that is no JSON is answered with a stack trace.',
    seen: 'The default error page of Express without NODE_ENV=production, and its likes in every framework.',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    stage: 'parse',
    replace: showingInstead('parse', 400, traceOfParser),
  },
  {
    ...base,
    name: 'shows-message-of-json-parser',
    title: 'A body that is no JSON is answered with the message of the parser.',
    seen: '`res.status(400).json({ error: err.message })` and what it is called elsewhere.',
    why: 'The message names the parser and quotes the body, which may hold data of customers.',
    fix: PRODUCTION,
    severity: 'low',
    stage: 'parse',
    replace: showingInstead('parse', 400, ({ rawBody }) => ({ body: { error: messageOfParser(rawBody) } })),
  },
  {
    ...base,
    name: 'shows-parser-message-to-strangers',
    title: 'An unsigned body that is no JSON is answered with 401 and the message of the parser.',
    seen: 'Handlers that parse first and collect all errors before they answer.',
    why: 'It proves to a stranger that bodies are parsed before anybody has shown a credential, and by which parser.',
    fix: { ...PRODUCTION, rule: 'Verify the raw body first, answer 401 when that fails, and parse only afterwards.' },
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusingSignature(({ rawBody }) => {
      const message = messageOfParser(rawBody);
      return message === null ? null : { body: { error: 'unauthorized', errors: [message] } };
    }),
  },
  {
    ...base,
    name: 'shows-message-of-exception',
    title: 'A payload that cannot be understood is answered with the message of the exception that it caused.',
    seen: 'A catch around the whole handler that sends the message of whatever was thrown.',
    why: 'Names of fields and functions show how the handler works, and the next try is made to fit.',
    fix: PRODUCTION,
    severity: 'low',
    stage: 'validate',
    replace: showingInstead('validate', 400, () => ({
      body: { error: "Cannot read properties of undefined (reading 'transactionId')" },
    })),
  },
  {
    ...base,
    name: 'shows-stack-trace-of-signature-decoder',
    title: 'A signature that is no Base64 is answered with a stack trace of the decoder.',
    seen: 'Development servers for Python, and handlers that return traceback.format_exc().',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusingSignature(({ reason }) => (reason === 'malformed' ? { body: { detail: PYTHON_TRACE } } : null)),
  },
  {
    ...base,
    name: 'shows-debug-page-to-other-methods',
    title: 'Any method but POST is answered with the debug page of the framework.',
    seen: 'Django with DEBUG = True and Rails in development, whose pages for unknown routes list all routes that exist.',
    why: 'The page is a map of the application for everybody who comes by with a browser.',
    fix: PRODUCTION,
    stage: 'accept',
    replace: showingInstead('accept', 405, () => ({
      body: "<h1>Page not found</h1><p>You're seeing this error because you have <code>DEBUG = True</code> in your settings file.</p>",
      headers: { Allow: 'POST' },
    })),
  },
  {
    ...base,
    name: 'shows-stack-trace-of-large-bodies',
    title: 'A body beyond the limit is answered with a stack trace.',
    seen: 'Limits of body parsers, which throw before the error handling of the application is reached.',
    why: `${MAP_FOR_ATTACKERS} Nobody sends such bodies while testing, so the page stays.`,
    fix: PRODUCTION,
    stage: 'readBody',
    replace: showingInstead('readBody', 413, () =>
      expressPage('PayloadTooLargeError: request entity too large', [
        'at readStream (/srv/app/node_modules/raw-body/index.js:163:17)',
      ]),
    ),
  },
  {
    ...base,
    name: 'shows-stack-trace-of-other-content-types',
    title: 'A body of another content type is answered with a stack trace.',
    seen: 'Spring with server.error.include-stacktrace=always, and exceptions of message converters in general.',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    stage: 'checkContentType',
    replace: showingInstead('checkContentType', 415, () => ({ body: { status: 415, trace: JAVA_TRACE } })),
  },
  {
    ...base,
    name: 'shows-database-message-of-duplicates',
    title: 'A duplicate is answered with 200 and the message of the database about its key.',
    seen: 'Handlers that insert first, catch the violated constraint, and pass its message on as an explanation.',
    why: 'Names of tables and constraints help whoever tries injections, and the message shows which database it is.',
    fix: {
      ...PRODUCTION,
      rule: 'Insert with "on conflict do nothing", and answer a duplicate like the first delivery.',
    },
    severity: 'low',
    stage: 'reply',
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (res.locals.stored === 'stored') return right.reply(req, res, next);
        show(res, 200, { body: { status: 'duplicate', detail: UNIQUE_VIOLATION } });
      },
  },
  {
    ...base,
    name: 'appends-debug-bar',
    title: 'A debug bar is appended to the answer to accepted deliveries.',
    seen: 'Packages such as laravel-debugbar that were deployed with the development dependencies.',
    why: 'The bar lists queries, session and configuration, and senders that check the body of the answer stop delivering.',
    fix: {
      ...PRODUCTION,
      laravel: 'Install without development packages (`composer install --no-dev`) and set `APP_DEBUG=false`.',
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
];
