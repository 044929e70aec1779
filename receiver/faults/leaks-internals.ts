/** Mutants whose answers reveal internals or the reason of a rejection. */
import type { StageFault } from './fault.ts';
import { type Failed, type Page, refusingKey, refusingSignature, show, showingInstead } from './leaks-credentials.ts';

// What the code inside looks like is no credential: good practice keeps it out of answers, the specification does not speak of it.
const INTERNALS = { area: 'leaks', severity: 'medium', forbidden: false } as const;

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

// That refusals cannot be told apart is good practice: the specification asks for 401, and says nothing about the body.
const REFUSAL = { area: 'leaks', severity: 'low', forbidden: false } as const;

const ONE_REFUSAL: StageFault['fix'] = {
  rule: 'Let every failed check end in one function that answers 401 with one text, and write the reason to the log.',
  express:
    "Write one `unauthorized(res)` that sends `{ error: 'unauthorized' }`, and call it from every check of a credential.",
  rails: 'End each `before_action` of the credentials in the same `head :unauthorized`.',
  go: 'Return one sentinel error from all checks, and translate it in one place.',
};

export const leaksInternalsFaults: readonly StageFault[] = [
  // Answers that show the code inside.
  {
    ...INTERNALS,
    name: 'shows-stack-trace-of-broken-json',
    title: 'A body that is no JSON is answered with a stack trace.',
    seen: 'The default error page of Express without NODE_ENV=production, and its likes in every framework.',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    stage: 'parse',
    replace: showingInstead('parse', 400, traceOfParser),
  },
  {
    ...INTERNALS,
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
    ...INTERNALS,
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
    ...INTERNALS,
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
    ...INTERNALS,
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
    ...INTERNALS,
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
    ...INTERNALS,
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
    ...INTERNALS,
    name: 'shows-stack-trace-of-other-content-types',
    title: 'A body of another content type is answered with a stack trace.',
    seen: 'Spring with server.error.include-stacktrace=always, and exceptions of message converters in general.',
    why: MAP_FOR_ATTACKERS,
    fix: PRODUCTION,
    stage: 'checkContentType',
    replace: showingInstead('checkContentType', 415, () => ({ body: { status: 415, trace: JAVA_TRACE } })),
  },
  {
    ...INTERNALS,
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
    ...INTERNALS,
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
  // Refusals that tell which credential was wrong, or in which way.
  {
    ...REFUSAL,
    name: 'names-the-failed-check',
    title: 'The answer says whether the API key or the signature was wrong.',
    seen: 'Two checks with a message each: "Invalid API key" and "Invalid signature". Nearly every tutorial has it.',
    why: 'Whoever has tried keys sees when one is right, and can work on the other credential from there.',
    fix: ONE_REFUSAL,
    needs: ['hmac', 'api-key'],
    stage: 'checkApiKey',
    replace: refusingKey(() => ({ body: { error: 'Invalid API key' } })),
  },
  {
    ...REFUSAL,
    name: 'numbers-refused-signatures',
    title: 'Missing, malformed and wrong signatures are refused with an error code each.',
    seen: 'Verifiers that throw three different errors, and lists of error codes in a house style for APIs.',
    why: 'Each code leads a forger one step closer to the right form, and people who compare answers overlook a digit.',
    fix: ONE_REFUSAL,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusingSignature(({ reason }) => ({
      body: { error: 'unauthorized', code: 1001 + ['missing', 'malformed', 'mismatch'].indexOf(reason) },
    })),
  },
  {
    ...REFUSAL,
    name: 'says-that-signature-is-malformed',
    title: 'A signature of a wrong form is refused with a message of its own.',
    seen: 'Input validation by a schema before the check, and guards for comparisons that need equal lengths.',
    why: 'The answer tells when length and alphabet are right, so the form of the signature is found by trying.',
    fix: ONE_REFUSAL,
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusingSignature(({ reason }) =>
      reason === 'malformed' ? { body: { error: 'The signature has the wrong length' } } : null,
    ),
  },
  {
    ...REFUSAL,
    name: 'numbers-refused-keys',
    title: 'A missing API key and an unknown one are refused with an error code each.',
    seen: 'Authentication middleware and API gateways, which tell "no key" from "unknown key".',
    why: 'It confirms the name of the header to a scanner: the answer changes as soon as it is there.',
    fix: ONE_REFUSAL,
    needs: ['api-key'],
    stage: 'checkApiKey',
    replace: refusingKey(({ presented }) => ({
      body: { error: 'unauthorized', code: presented === undefined ? 2001 : 2002 },
    })),
  },
  {
    ...REFUSAL,
    name: 'says-that-key-begins-rightly',
    title: 'An API key that begins like the right one is refused with a message of its own.',
    seen: 'Keys with a public prefix by which the record is found, and a second message for the rest that does not fit.',
    why: 'Guessing becomes searching: the answer tells for each beginning whether it is worth going on.',
    fix: { ...ONE_REFUSAL, rule: 'Look keys up by a digest of the whole key, and answer every mismatch alike.' },
    severity: 'medium',
    needs: ['api-key'],
    stage: 'checkApiKey',
    replace: refusingKey(({ presented, keys }) =>
      presented !== undefined && keys[0]?.startsWith(presented.slice(0, 8)) === true && presented.length >= 8
        ? { body: { error: 'This API key has been revoked' } }
        : null,
    ),
  },
];
