import { mistakes } from './mistake.ts';

/** How to answer errors without exposing details, by stack. */
const FIXED_ANSWERS = {
  node: 'Set NODE_ENV=production, catch errors in the handler, log them, and answer a fixed text.',
  fastify:
    'Write `app.setErrorHandler((error, request, reply) => reply.code(error.statusCode ?? 500).send())`: the default ' +
    'one sends the message of an error.',
  nestjs: 'Do not put `exception.message` into the answer of an exception filter.',
  hono: 'Set `app.onError`, and answer a fixed text.',
  python: 'Catch exceptions in the handler, log them, and answer a fixed text.',
  go: 'Never pass `err.Error()` to `http.Error`; log it and send a fixed word.',
  php: 'Set `display_errors=0` in php.ini, and log errors.',
  django: 'Set `DEBUG = False`.',
  flask: 'Do not run with `debug=True`, and set `FLASK_DEBUG=0`.',
  fastapi: 'Do not run with `debug=True`, and do not put `str(error)` into an `HTTPException`.',
  spring: 'Keep `server.error.include-message` and `server.error.include-stacktrace` at never.',
  rails: 'Set `config.consider_all_requests_local = false`, and run with `RAILS_ENV=production`.',
  laravel: 'Set `APP_DEBUG=false`, run `php artisan config:clear`, and install with `composer install --no-dev`.',
  dotnet: 'Use `UseExceptionHandler`, and `UseDeveloperExceptionPage` only in development.',
} as const;

/** Mistakes that expose credentials, internals or personal data in answers or logs. */
export const LEAK_MISTAKES = mistakes({
  'expected-signature-in-answer': {
    title: 'Sends the expected signature, or a part of it, in an answer',
    seen:
      'Messages such as "expected X, got Y", assertion errors that are sent as JSON, instructions for signing, ' +
      'debug headers and reason phrases.',
    why:
      'Anyone can get any body signed: send it, read the signature from the answer, and send it again. A part ' +
      'leaves less to guess.',
    fix: {
      rule:
        'Answer every failed verification with 401 and one fixed text. Do not output the computed value anywhere, ' +
        'not even in headers or in the log; explain signing in the documentation.',
      express: "Send `res.status(401).json({ error: 'unauthorized' })` and no computed values.",
      fastify: 'Set an error handler that never copies properties of an error into the reply.',
      go: 'Write `http.Error(w, "unauthorized", http.StatusUnauthorized)` without `err.Error()`.',
      spring: 'Throw an exception without the values, and keep `server.error.include-message=never`.',
      dotnet: 'Return `Unauthorized()`, not a `StatusCodeResult` with a description.',
    },
    severity: 'critical',
    cwe: 201,
    implies: ['error-message-in-answer', 'distinct-refusals', 'debug-switch-in-request'],
  },
  'debug-switch-in-request': {
    title: 'Reveals debug output to every request with a debug switch',
    seen:
      'A switch for the support team that depends on a header or parameter, such as X-Debug, instead of the ' +
      'configuration.',
    why: 'The name is easy to guess, and then an attacker can read the expected signature for any body.',
    fix: {
      rule: 'Remove the switch, or control debug output by the configuration. Never send it in an answer.',
      express: "Send `res.status(401).json({ error: 'unauthorized' })` and no computed values.",
      fastify: 'Set an error handler that never copies properties of an error into the reply.',
      go: 'Write `http.Error(w, "unauthorized", http.StatusUnauthorized)` without `err.Error()`.',
      spring: 'Throw an exception without the values, and keep `server.error.include-message=never`.',
    },
    severity: 'critical',
    cwe: 489,
  },
  'stored-key-in-answer': {
    title: 'Sends its stored key or secret, or a part of it, in an answer',
    seen:
      'Messages such as "expected X, got Y", hints such as "key ending in a1b2c3", and debug texts that were meant ' +
      'for the log.',
    why:
      'An attacker needs only one guess. A part makes the rest easier to guess, and shows which key or secret is in ' +
      'use.',
    fix: {
      rule:
        'Answer rejected credentials with 401 and one fixed text. Never copy configuration into an answer or its ' +
        'headers.',
      express: "Send `res.status(401).json({ error: 'unauthorized' })`, without stored or computed values.",
      fastify: 'Set an error handler that never copies properties of an error into the reply.',
      python: 'Answer fixed texts: no headers, and no text of an exception.',
      go: 'Write `http.Error(w, "unauthorized", http.StatusUnauthorized)` without `err.Error()`.',
      spring: 'Throw an exception without the values, and keep `server.error.include-message=never`.',
      rails: 'End each credential `before_action` with the same `head :unauthorized`.',
    },
    severity: 'critical',
    cwe: 201,
    implies: ['expected-signature-in-answer', 'distinct-refusals'],
  },
  'request-headers-in-answer': {
    title: 'Repeats the request, including its headers, in an answer',
    seen:
      'Error handlers that include the request "for support", validators that get the whole request, echo ' +
      'templates, and `res.json({ received: { headers, body } })`.',
    why: 'The sender logs answers and shows them in its dashboard, so unauthorised people and systems see the API key.',
    fix: {
      rule:
        'Answer with fixed texts: 200 with an empty body or one word, errors with a status. Validate only the body, ' +
        'and name only the invalid fields.',
      express:
        'Set NODE_ENV=production, and add an error handler at the end that sends a status and a word: `(err, req, ' +
        "res, next) => res.status(400).json({ error: 'bad-request' })`.",
      ...FIXED_ANSWERS,
      php: 'Set `display_errors=0` in php.ini, and remove `phpinfo()` and `var_dump()`.',
    },
    severity: 'high',
    cwe: 201,
    implies: ['expected-signature-in-answer', 'debug-output-in-answer'],
  },
  'settings-page-public': {
    title: 'Shows its settings or variables on error and status pages',
    seen:
      'Debug pages of Laravel, Django and Symfony, which mask only names on a list, and status pages such as "is my ' +
      'webhook set up?".',
    why:
      'Scanners and search engines request such pages. Anyone who reads the secret and the key can forge every ' +
      'notification.',
    fix: {
      rule:
        'Turn off debug pages in production, answer other methods with 405 and unknown URLs with 404 and nothing ' +
        'else, and put status pages without secrets on a separate port or after a login.',
      express:
        'Set NODE_ENV=production, and add an error handler at the end that sends a status and a word: `(err, req, ' +
        "res, next) => res.status(400).json({ error: 'bad-request' })`.",
      ...FIXED_ANSWERS,
      php: 'Set `display_errors=0` in php.ini, and remove `phpinfo()` and `var_dump()`.',
      django: 'Set `DEBUG = False`, and keep secrets out of settings that pages show.',
    },
    severity: 'critical',
    cwe: 497,
    implies: ['expected-signature-in-answer', 'configuration-file-served', 'debug-output-in-answer'],
  },
  'configuration-file-served': {
    title: 'Serves configuration files to everyone',
    seen: 'The project folder as document root, and static file handlers that serve files such as `.env`.',
    why: 'Scanners request these URLs every day. Anyone who reads the secret and the key can forge every notification.',
    fix: {
      rule:
        'Keep configuration out of the document root, do not deploy or serve files that begin with a dot, and turn ' +
        'off debug pages and development handlers in production.',
      express: 'Do not serve the project folder with `express.static`, and set NODE_ENV to production.',
      django: 'Set `DEBUG = False`, and keep secrets out of settings that pages show.',
      php: 'Point the web server at a folder that contains only the entry script.',
      laravel: 'Point the web server at `public/`, and set `APP_DEBUG=false`.',
    },
    severity: 'critical',
    cwe: 552,
    implies: ['operator-pages-public', 'expected-signature-in-answer'],
  },
  'debug-output-in-answer': {
    title: 'Sends stack traces or debug output in an answer',
    seen:
      'The default error page without production mode, `traceback.format_exc()`, debug bars, and parser limits ' +
      'whose errors occur before your error handling.',
    why:
      'Files, versions, routes and line numbers show an attacker the structure of the code and which known ' +
      'vulnerabilities to try.',
    fix: {
      rule:
        'Run the framework in production mode without development packages, and let one error handler answer every ' +
        'error, including those of parsers and other methods, with a status and a fixed word; log the error.',
      express:
        'Set NODE_ENV=production, and add `(err, req, res, next) => res.status(err.status ?? 500).json({ error: ' +
        "'failed' })` after all routes.",
      ...FIXED_ANSWERS,
    },
    severity: 'medium',
    cwe: 209,
    implies: ['error-message-in-answer'],
  },
  'error-message-in-answer': {
    title: 'Sends the message of an exception, a parser or a database in an answer',
    seen:
      '`res.status(400).json({ error: err.message })`, and a catch block around the whole handler that sends any ' +
      'message.',
    why:
      'Such messages name fields, tables, functions and libraries, which helps an attacker, and may quote customer ' +
      'data.',
    fix: {
      rule: 'Catch errors where they occur, log their messages, and answer with a status and a fixed text.',
      express:
        "Add `(err, req, res, next) => res.status(err.status ?? 500).json({ error: 'failed' })` after all routes, " +
        'and do not send `err.message`.',
      ...FIXED_ANSWERS,
    },
    severity: 'low',
    cwe: 209,
  },
  'operator-pages-public': {
    title: 'Serves profiles, metrics or other pages for operators to everyone',
    seen: 'Importing net/http/pprof in Go, which adds its pages to the default mux; actuators of Spring, `/_profiler`.',
    why:
      'Such pages show functions, settings and memory, and anyone can start a profile or dump that slows the ' +
      'receiver down.',
    fix: {
      rule:
        'Serve pages for operators on another port that is not public, and do not deploy files that begin with a ' +
        'dot.',
      node: 'Mount status monitors and profilers on a second app that listens on 127.0.0.1.',
      go: 'Use your own mux (`http.NewServeMux()`), and serve `http.DefaultServeMux` on 127.0.0.1.',
      spring: 'Set `management.server.port` and `management.endpoints.web.exposure.include=health`.',
      flask: 'Do not run with `debug=True`.',
    },
    severity: 'medium',
    cwe: 306,
  },
  'distinct-refusals': {
    title: 'Reveals in its answer why it rejects credentials',
    seen:
      'Separate messages or codes for the key and the signature, for missing, malformed, unknown and partly correct ' +
      'values.',
    why: 'Each answer brings an attacker closer to the correct header, format or key: guessing becomes searching.',
    fix: {
      rule:
        'Let one function answer every failed verification with 401 and one text, and log the reason. Look up keys ' +
        'by a digest of the whole key.',
      node:
        "Write one `unauthorized(res)` that sends `{ error: 'unauthorized' }`, and call it from every credential " +
        'check.',
      nestjs: 'Throw `new UnauthorizedException()` with the same text in every guard.',
      rails: 'End each credential `before_action` with the same `head :unauthorized`.',
      go: 'Return one sentinel error from all checks, and translate it in one place.',
    },
    severity: 'low',
    cwe: 204,
  },
  'known-id-revealed': {
    title: 'Reveals to forged deliveries whether an id is known',
    seen: 'A lookup of the id before the verification, whose result changes the answer.',
    why: 'An attacker without credentials learns which notifications exist.',
    fix: {
      rule: 'Verify first, look up the id after that, and answer every failed verification with the same text.',
      express: 'Run the deduplication after the verification middleware.',
    },
    severity: 'low',
    cwe: 204,
  },
  'secret-in-log': {
    title: 'Writes credentials, private keys or valid signatures to its log',
    seen:
      '`console.log(config)`, errors that carry the settings, reports with local variables, TLS options, "expected ' +
      'X, got Y" messages and URLs with a key.',
    why:
      'Everyone who can read the log, its backups and its search index can forge or repeat notifications, or with a ' +
      'private key pretend to be the server.',
    fix: {
      rule:
        'Log a list of harmless settings and the fact that a verification failed, never settings as a whole, TLS ' +
        'options, local variables or computed values, not even a part of them. Mask credentials, and rotate each ' +
        'secret or key that was in a log.',
      node:
        "Log `{ port, path }` and `{ reason: 'signature-mismatch' }`, and remove `key` and `pfx` from logged TLS " +
        'options. Set `includeLocalVariables: false` and `sendDefaultPii: false` where Sentry starts. Send keys in ' +
        'the header `Authorization`, not in a query.',
      spring: 'Leave credentials out of `toString` of the properties class, and keep `/actuator/env` masked.',
      django:
        'Error reports and the debug page mask settings by their names: give the setting a name with SECRET, KEY, ' +
        'TOKEN or PASS in it, even inside a dictionary, and keep DEBUG off. Decorate the ' +
        'view with `sensitive_variables` and `sensitive_post_parameters`; use `constant_time_compare`, not ' +
        '`assertEqual` or `assert a == b`.',
      flask: 'Set `include_local_variables=False` where Sentry starts, and keep the debugger off.',
      go:
        'Implement `String` and `GoString` for the type of the secret, so that `%v` and `%+v` mask it. Compare with ' +
        '`hmac.Equal`, and return an error without the values.',
      laravel: 'Add the setting to `hidden` where exceptions are reported, and keep `APP_DEBUG` off.',
    },
    severity: 'critical',
    cwe: 532,
    implies: ['request-headers-in-log'],
  },
  'request-headers-in-log': {
    title: 'Writes the headers of deliveries to its log',
    seen:
      "`pino-http`, `express-winston` and .NET's `HttpLogging` with all headers, nginx's `$http_x_api_key`, and " +
      '`httputil.DumpRequest`.',
    why:
      'Everyone who can read the log, its backups and its index sees the API key, or the signature, with which a ' +
      'delivery can be repeated.',
    fix: {
      rule:
        'List the headers that are logged, or mask those with the key and the signature. Log the name of the client ' +
        'instead of the key, and rotate the key.',
      node: 'Give pino `redact: ["req.headers[\\"x-api-key\\"]", "req.headers[\\"x-service-signature\\"]"]`.',
      spring: 'Set `setIncludeHeaders(false)` or `setHeaderPredicate` of `CommonsRequestLoggingFilter`.',
      go: 'Delete the headers from a clone of the request before `httputil.DumpRequest`.',
      rails: 'Add the names to `config.filter_parameters`, and do not log `request.env`.',
    },
    severity: 'high',
    cwe: 532,
  },
  'personal-data-in-log': {
    title: 'Writes bodies, wallet addresses or customer ids to its log',
    seen:
      "`console.log(req.body)`, nginx's `$request_body`, `Parameters:` in Rails, messages for the support team, " +
      'and SQL parameters at DEBUG level.',
    why: 'Logs are kept and shared. An address together with an id and an amount shows which payments a person made.',
    fix: {
      rule:
        'Log only the id, the type and the status of a notification. Turn off the logging of SQL ' +
        'parameters in production.',
      express:
        'Log `{ id, type, status }` instead of `req.body`. Set `logging: false` in Sequelize, or ' +
        '`logQueryParameters: false`.',
      spring:
        'Call `setIncludePayload(false)` on `CommonsRequestLoggingFilter`, and set the level of ' +
        '`org.hibernate.orm.jdbc.bind` above TRACE.',
      rails:
        'Add `:data` to `config.filter_parameters`: Rails logs the parameters of each request. Use the level ' +
        '`info`, and `encrypts` or `filter_attributes` for the columns.',
    },
    severity: 'medium',
    cwe: 532,
  },
});
