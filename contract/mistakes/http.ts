import { DEVELOPMENT_SERVER, RAW_BYTES } from './code-by-stack.ts';
import { REJECTED_KINDS, UNSIGNED } from './consequences.ts';
import { ids, mistakes } from './mistake.ts';

/** Mistakes in how a receiver reads HTTP requests and answers them. */
export const HTTP_MISTAKES = mistakes({
  'content-type-as-string': {
    title: 'Compares Content-Type as text instead of as a media type',
    seen:
      '`req.headers["content-type"] === "application/json"`, `startsWith`, lists of known spellings, and code that ' +
      'cuts out the charset.',
    why:
      'HTTP allows a charset, quotes around it, other spaces and letter cases. A library or proxy that writes the ' +
      'header differently makes every delivery fail.',
    fix: {
      rule:
        'Compare the media type without its parameters, ignoring letter case, or read the body whatever its type. ' +
        'Ignore the charset: JSON is UTF-8.',
      express: 'Use `express.raw({ type: () => true })`: a list of types or an exact string misses some.',
      fastify: 'Register the content type parser for "*", and check the media type afterwards.',
      python: 'Use `self.headers.get_content_type()`, which has no parameters.',
      flask: 'Use `request.mimetype`, which has no parameters.',
      fastapi: 'Cut the header at the semicolon, and compare in lower case.',
      django: 'Use `request.content_type`, which has no parameters, instead of `request.META["CONTENT_TYPE"]`.',
      go: 'Use `mime.ParseMediaType`.',
      spring: 'Use `MediaType.APPLICATION_JSON.isCompatibleWith(...)`, which handles parameters and case.',
      php: 'Cut `$_SERVER["CONTENT_TYPE"]` at the semicolon, and compare in lower case.',
    },
    severity: 'medium',
    cwe: 1025,
  },
  'body-parser-by-content-type': {
    title: 'Depends on Content-Type to read the body',
    seen:
      '`req.headers["content-type"].includes("json")`, and parsers for JSON, text, forms and uploads that run ' +
      'before the verification.',
    why:
      'With another type or none, the body is missing, text or already consumed. The code that verifies it throws, ' +
      'waits or hashes other bytes.',
    fix: {
      rule:
        'Read the raw body whatever its type, or answer 415 before anything uses the body. Use no parsers for ' +
        'forms and uploads on this route, and handle the errors of header parsers.',
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 241,
    implies: ['content-type-as-string'],
  },
  'undefined-body-throws': {
    title: 'Answers 500 where no parser reads the body: with a Content-Type other than JSON, or without a body',
    seen: '`createHmac(...).update(req.body)` or `req.rawBody.toString()`, where the parser has left undefined.',
    why: 'Anyone can cause the error without credentials, and the sender treats it as an outage and retries.',
    fix: {
      rule: 'Read the raw body whatever its type, verify an empty one like any other, and answer 401 when it fails.',
      ...RAW_BYTES,
    },
    severity: 'medium',
    cwe: 476,
    implies: ids(
      'body-parser-by-content-type verification-per-content-type verification-per-framing decompression-unguarded',
      'conditional-key-check unread-body-verified empty-body-unhandled content-type-as-string',
    ),
  },
  'header-lookup-by-exact-name': {
    title: 'Looks up headers with case-sensitive names',
    seen:
      'Function platforms and gateways that pass headers as a plain map, `headers["X-Service-Signature"]`, and ' +
      'lists of two or three spellings.',
    why:
      'HTTP/2 and many proxies write all names in lower case. As soon as a component changes the spelling, every ' +
      'delivery is rejected.',
    fix: {
      rule:
        'Look up all headers, credentials and others, without regard to letter case. If the platform passes a ' +
        'plain map, lower-case all names once.',
      node: 'Read `request.headers` with the name in lower case.',
      go: 'Use `r.Header.Get`; an index into the map needs the canonical spelling.',
      php: 'Use `$_SERVER["HTTP_X_SERVICE_SIGNATURE"]`, or `array_change_key_case(getallheaders())`.',
      laravel: 'Use `$request->header("X-Service-Signature")`.',
      rails: 'Use `request.headers[name]`, not `request.env`.',
      dotnet: 'Use `Request.Headers`; your own dictionary needs `StringComparer.OrdinalIgnoreCase`.',
    },
    severity: 'high',
    cwe: 178,
  },
  'own-http-parser': {
    title: 'Parses HTTP with its own code or with a lenient parser',
    seen:
      'Hand-written servers that split header lines at ": ", lenient parser options, and outdated servers or ' +
      'proxies.',
    why:
      'The receiver can see other headers, or another end of the body, than the proxy in front of it. Valid ' +
      'deliveries then fail, or a request is smuggled past the proxy.',
    fix: {
      rule:
        'Leave the parsing to a maintained server with strict settings: it rejects invalid headers and ' +
        'contradictory lengths. If you must parse headers, split them at ":", and trim spaces and tabs.',
      express: 'Use `req.get(name)` or `req.headers`, and leave `insecureHTTPParser` off.',
    },
    severity: 'high',
    cwe: 444,
  },
  'malformed-http-error': {
    title: 'Fails on a request that the HTTP parser rejects',
    seen:
      'Error handlers of the server that expect a request object, only log, or handle one kind of error; gateways ' +
      'that answer 500 to all of them.',
    why:
      'Anyone can send such a request without credentials. It stops the receiver, holds a connection or counts as ' +
      'an outage.',
    fix: {
      rule:
        'Answer 400 to invalid HTTP and 431 to headers over your limit, close the connection, and do not pass any ' +
        'of it to code that expects a request.',
      node:
        'Handle the server\'s `clientError` event with `socket.end("HTTP/1.1 400 Bad Request\\r\\n\\r\\n")` and no ' +
        'other ' +
        'work. If `error.code` is HPE_HEADER_OVERFLOW, answer 431.',
      flask:
        'Answer 400 to `OSError` from `request.get_data()`, which the development server raises for a broken chunked ' +
        'body.',
    },
    severity: 'high',
    cwe: 755,
    implies: ['own-http-parser', 'trusted-content-length', 'aborted-body-unhandled', 'method-not-restricted'],
  },
  'trusted-content-length': {
    title: 'Trusts Content-Length to allocate or read the body',
    seen:
      '`Buffer.alloc(length)`, `bytearray(length)`, `make([]byte, length)`, `read(length)` and CGI-like ' +
      'interfaces, which use 0 without the header.',
    why:
      'The header may be missing, invalid or huge. The receiver then reads an empty body, waits for data, or fails ' +
      'to allocate memory.',
    fix: {
      rule:
        'Read to the end of the stream instead of relying on Content-Length, or let the proxy buffer the request. ' +
        'Compare the length with your limit before you allocate, and let the buffer grow with the body.',
      express:
        'Use `express.raw({ limit })`, which handles Content-Length. In nginx, keep `proxy_request_buffering on`.',
      python: 'Read chunk by chunk, or answer 411: `http.server` does not decode chunks.',
      flask: 'Use a WSGI server that sets `wsgi.input_terminated` (gunicorn, not the development server).',
      django: 'Without Content-Length, Django reads no body under WSGI: use ASGI, or let the proxy buffer requests.',
      php: 'PHP behind FastCGI needs Content-Length: let the web server buffer requests.',
    },
    severity: 'high',
    cwe: 1284,
  },
  'header-limits-too-low': {
    title: 'Limits the size or number of headers too strictly',
    seen: 'Small header buffers and tables in proxies, firewalls and embedded servers.',
    why:
      'Proxies add headers, tracing headers grow on the way, and a custom header may carry a token. Valid ' +
      'deliveries are then rejected.',
    fix: {
      rule: 'Allow at least 100 headers, 8 kB for one header and 16 kB for all of them.',
      node:
        'Leave `maxHeaderSize` of `http.createServer` at its default of 16 kB, and `server.maxHeadersCount` at its ' +
        'default. In nginx, see `large_client_header_buffers`.',
      spring: 'Set `server.max-http-request-header-size` to 16KB.',
    },
    severity: 'medium',
    cwe: 1284,
    implies: ['extra-headers-rejected'],
  },
  'extra-headers-rejected': {
    title: 'Rejects deliveries with additional, repeated or long request headers',
    seen:
      'Lists of permitted headers, login filters, middleware for cookies and localisation, and code that decodes or ' +
      'copies all headers for a log.',
    why:
      'Proxies add and repeat headers, and the sender can configure custom ones. Each of them can then make valid ' +
      'deliveries fail.',
    fix: {
      rule:
        'Read only the headers that you need, ignore all others, and expect a list where a name may be repeated. ' +
        'Do not use middleware for user authentication, cookies or localisation on this route, and allow at least 8 ' +
        'kB for headers.',
      express:
        'Use `req.get(name)`; `req.headers` joins most repeated headers, `req.headersDistinct` returns lists. ' +
        'Mount middleware for cookies and localisation, passport and express-basic-auth on other routes only, and ' +
        'remove ' +
        'lists of permitted headers. Search for `decodeURIComponent` and JSON columns in code that copies headers.',
      python: 'Do not encode headers as ASCII; use `errors="replace"` in the log.',
      go: 'Values are always lists: `r.Header.Values(name)`.',
      spring: 'Give the endpoint its own SecurityFilterChain without httpBasic().',
      rails: 'Use `ActionController::API` for the endpoint.',
    },
    severity: 'medium',
    cwe: 755,
  },
  'method-not-restricted': {
    title: 'Runs its handlers for methods other than POST',
    seen:
      'Routes for all methods, health pages at the path of the endpoint, `cors()` on the whole application, and ' +
      'method overriding.',
    why:
      'Firewall rules, limits and monitoring often cover POST only. Scanners and link checkers find an entry point ' +
      'that accepts, fails or hangs.',
    fix: {
      rule:
        'Register the handler for POST only, and answer 405 with Allow: POST to other methods before the body is ' +
        'read. Disable method overriding, and use another path for health checks.',
      express:
        'Use `app.post(path, handler)`, then `app.all(path, (req, res) => res.set("Allow", ' +
        '"POST").sendStatus(405))`. Mount `cors()` on routes for browsers only. Do not mount `method-override` ' +
        'here; elsewhere, leave its `methods` unchanged, so that it changes only POST.',
      python: 'Answer 405 in `do_GET` and the other methods, or do not define them.',
      nestjs: 'Use `@Post()` instead of `@All()`.',
      flask: 'Name the methods in the route: `methods=["POST"]`.',
      fastapi: 'Use `@app.post(...)`, not `@app.api_route(...)`.',
      django: 'Use `@require_POST` on the view.',
      go:
        'From Go 1.22 on, write the method into the pattern: `mux.HandleFunc("POST /webhooks", handle)`; before, ' +
        'compare `r.Method`.',
      spring: 'Use `@PostMapping` instead of `@RequestMapping`.',
      php: 'Compare `$_SERVER["REQUEST_METHOD"]` with POST first, and answer 405.',
      laravel: 'Use `Route::post(...)`, not `Route::any(...)`.',
      rails: 'Use `post "/hooks"` in the routes, not `match ... via: :all`.',
    },
    severity: 'low',
    cwe: 650,
  },
  'optional-http-features': {
    title: 'Rejects or drops deliveries with Expect, Upgrade or HTTP/1.0',
    seen:
      'Old proxies, gateways that require HTTP/1.1, listeners for `checkContinue` and `upgrade`, and a WebSocket ' +
      'server on the same port.',
    why:
      'Some HTTP clients and proxies use these features without being asked. Their deliveries are rejected, ' +
      'dropped or never answered.',
    fix: {
      rule:
        'Let the server answer Expect. Handle an upgrade only for the path and protocol that you serve, and ignore ' +
        'the header otherwise. Accept HTTP/1.0 behind a proxy, or set the version in the proxy.',
      node:
        'Do not listen for `checkContinue`: Node answers by itself. A listener for `upgrade` takes all upgrades: ' +
        'use a separate port or server object for the WebSocket server. In nginx, set `proxy_http_version 1.1`; in ' +
        'Envoy, `accept_http_10: true`.',
      python:
        'Use uvicorn 0.19 or later with `--http h11`: earlier versions answer 400 to an offered upgrade, and the ' +
        'parser httptools can lose the body.',
      php: 'Use PHP-FPM: the development server before PHP 8.0.10 drops a request that offers an upgrade.',
    },
    severity: 'medium',
    cwe: 440,
  },
  'request-target-unguarded': {
    title: 'Parses the URL of a request without error handling',
    seen:
      '`new URL(req.url, base)`, URLs that are built from Host and target, and hand-written or unguarded decoding ' +
      'of the query.',
    why:
      'Scanners send targets and queries that the code does not expect, or no Host. Each one causes an exception, ' +
      'and outside the error handling it ends the process.',
    fix: {
      rule:
        'Take the path from the framework, do not decode the query, and do not derive URLs from Host. If you parse ' +
        'the target, do it with a base URL inside the error handling, and answer 400 if it is invalid.',
      express:
        'Use `req.path` and `req.query`, or `URL.canParse` before `new URL(req.url, "http://localhost")`. Catch ' +
        'the URIError of `decodeURIComponent`, and leave `requireHostHeader` of `http.createServer` at its ' +
        'default.',
      django: 'Set `ALLOWED_HOSTS`; `request.get_host()` then answers 400 by itself.',
    },
    severity: 'high',
    cwe: 248,
    implies: ['verification-per-path', 'conditional-key-check'],
  },
  'body-left-unread': {
    title: 'Answers before it has read the body',
    seen: 'Key checks in a gateway or in a hook, and handlers that reject a delivery by its headers.',
    why:
      'On a connection that stays open, the rest of the body is read as the next request. On a connection that is ' +
      'closed at once, the answer is lost in a reset.',
    fix: {
      rule:
        'Read or discard the whole body before you answer, or answer with Connection: close and continue reading ' +
        'for a while.',
      node: 'Call `req.resume()` when you answer early, and do not destroy the socket.',
      fastify: 'Check credentials in a hook after the body is parsed, or set Connection: close with the answer.',
      flask: DEVELOPMENT_SERVER,
      go:
        'The server discards up to 256 kB by itself and closes the connection if there is more: read the body with ' +
        'a limit first.',
    },
    severity: 'high',
    cwe: 459,
  },
  'serial-body-reads': {
    title: 'Reads the body of one request at a time',
    seen: 'Servers with one thread or one worker and no proxy that buffers, and locks that are held during a read.',
    why: 'Anyone who sends half of a request, again and again, stops all notifications without knowing a secret.',
    fix: {
      rule:
        'Use a server that handles connections concurrently, hold no lock while you read a body, and set a time ' +
        'limit for requests.',
      node: 'Read bodies outside of locks and queues; only the work after the verification may be serial.',
      python: 'Use `ThreadingHTTPServer`, not `HTTPServer`.',
      flask: 'Do not use the development server with `threaded=False` or a single sync worker without nginx.',
      django: 'Do not use a single sync worker without nginx.',
      go: 'Call `io.ReadAll` before `mu.Lock()`, and set `ReadTimeout`.',
    },
    severity: 'high',
    cwe: 410,
  },
  'wrong-success-status': {
    title: 'Answers an accepted notification with a 2xx other than 200',
    seen:
      'Frameworks that answer 201, 202 or 204 by default, handlers that enqueue the work and answer 202, and kinds ' +
      'without a handler.',
    why:
      'Only 200 means accepted. The notification counts as failed and is retried, and the sender may disable the ' +
      'endpoint.',
    fix: {
      rule: 'Answer exactly 200 as soon as the notification is stored, even for kinds that you do not process.',
      express: 'Use `res.status(200).end()`, even if a queue continues the work.',
      fastify: 'Set `reply.code(200)`; a handler without a result may otherwise answer 200 or 204.',
      nestjs: 'Put `@HttpCode(200)` on the method: Nest answers POST with 201.',
      flask: 'Return `"", 200`; remove the 201, 202 or 204 that is returned with the text.',
      fastapi: 'Remove `status_code=` from `@app.post(...)`, or set it to 200.',
      django: 'Return `HttpResponse()`; in REST framework, `Response()` without `status=HTTP_201_CREATED`.',
      laravel: 'Return `response("", 200)`: `response()->noContent()` is 204, and a new model is 201.',
      go: 'Remove `w.WriteHeader(http.StatusAccepted)`, or write `http.StatusOK`.',
      spring: 'Return `ResponseEntity.ok()`; check `@ResponseStatus` on the method.',
      rails: 'Use `head :ok`, not `head :no_content` or `:accepted`.',
      dotnet: 'Return `Ok()`, not `NoContent()`, `Accepted()` or `Created()`.',
    },
    severity: 'high',
    cwe: 393,
    implies: [
      ...REJECTED_KINDS,
      ...ids(
        'one-shape-for-all-types valid-body-size-rejected plain-delivery-rejected valid-kind-rejected',
        'inherited-name-lookup unstorable-characters text-type-unchecked',
      ),
    ],
  },
  'never-ends-answer': {
    title: 'Does not answer, or never ends the answer',
    seen:
      'Handlers with a path that never ends the response, `req.destroy()` to save resources, 444 in nginx, and ' +
      'exceptions below the server.',
    why:
      'The sender sees a timeout or a network problem, and sends the delivery again, whatever the receiver did ' +
      'with it.',
    fix: {
      rule:
        'End every path through the handler with an answer: 200 as soon as the notification is stored, 401 for ' +
        'invalid credentials.',
      express:
        'End every path with `res.status(200).end()` or `res.sendStatus(401)`. Do the work after the answer, and ' +
        'do not call `req.destroy()`.',
    },
    severity: 'high',
    cwe: 440,
    implies: [
      ...UNSIGNED,
      ...ids(
        'wrong-refusal-status no-signature-verification plain-delivery-rejected raw-body-fallback',
        'signed-part-of-body well-known-secret base64-variant signature-check-throws several-signatures',
        'partial-comparison other-hmac-hash confused-credentials absent-signature-passes wrong-digest-encoding',
        'hash-instead-of-hmac foreign-signature-format converted-secret unread-body-verified',
        'signature-used-as-pattern lossy-body-text hand-written-comparison digest-handled-as-text',
        'verification-fails-open verdict-kept-by-id swapped-hmac-arguments surrounding-text-ignored',
        'signature-letter-case shortened-secret secret-with-extra-characters one-credential-enough',
        'cached-verification signature-format-only signature-treated-as-url-text serial-body-reads known-id-revealed',
        'imitated-body-format failures-lock-out decoded-body body-left-unread body-as-c-string',
      ),
    ],
  },
  'slow-answer': {
    title: 'Does the work before it answers',
    seen:
      'Handlers that call other services, send mail, contact the customer or wait for a blockchain before they ' +
      'return.',
    why:
      'The answer comes after the sender has timed out. The delivery counts as failed, although the work was done, ' +
      'and is repeated.',
    fix: {
      rule: 'Store the notification, answer 200, and do the work afterwards in a queue or a background task.',
      node: 'Send the answer before the work starts, and catch the exceptions of the work.',
      django: 'Pass the work to a task queue, and return at once.',
      laravel: 'Dispatch a queued job; `dispatchSync` runs it before the answer.',
      rails: 'Use `perform_later`.',
    },
    severity: 'high',
    cwe: 1088,
    implies: [...REJECTED_KINDS, 'valid-kind-rejected', 'plain-delivery-rejected'],
  },
  'acknowledged-before-checks': {
    title: 'Answers 200 before it checks the delivery',
    seen:
      'Low-code tools and queues that answer before their steps run, and handlers that flush the answer first to ' +
      'be fast.',
    why:
      'A sender with an incorrect secret treats its deliveries as accepted and does not retry them, and an ' +
      'attacker gets a 200.',
    fix: {
      rule:
        'Verify and store first, then answer: the check takes less than a millisecond. Only the work comes after ' +
        'the answer.',
      express: 'Call `res.sendStatus(200)` after verification and after storing the notification.',
    },
    severity: 'critical',
    cwe: 696,
    implies: [
      ...UNSIGNED,
      ...ids(
        'no-signature-verification unchecked-key own-http-parser raw-body-fallback signed-part-of-body',
        'well-known-secret base64-variant signature-check-throws partial-comparison other-hmac-hash',
        'confused-credentials absent-signature-passes wrong-digest-encoding one-credential-enough',
        'hash-instead-of-hmac foreign-signature-format converted-secret unread-body-verified',
        'signature-used-as-pattern several-signatures lossy-body-text hand-written-comparison digest-handled-as-text',
        'verification-fails-open verdict-kept-by-id swapped-hmac-arguments surrounding-text-ignored',
        'signature-letter-case shortened-secret secret-with-extra-characters partial-key-comparison',
        'cached-verification altered-key key-from-other-place failures-lock-out body-left-unread unset-key',
        'conditional-key-check signature-treated-as-url-text signature-format-only serial-body-reads key-as-pattern',
        'imitated-body-format decompression-unguarded decoded-body body-as-c-string request-chooses-credentials',
        'key-exempt-claims key-check-throws oversized-body-unhandled optional-key key-as-list known-id-revealed',
        'unread-key named-expected-key key-in-sql key-checked-late key-as-property derived-key-comparison',
      ),
    ],
  },
  'same-answer-to-all': {
    title: 'Gives every delivery the same answer, whatever it contains',
    seen:
      'Login guards, CSRF protection, firewalls, redirects, catch-all pages and placeholders before the route, a ' +
      'wrong path, and an incorrect secret.',
    why:
      'No notification is processed, and often none reaches the handler or its log. With 200, the sender does not ' +
      'notice; otherwise it may disable the endpoint.',
    fix: {
      rule:
        'Register the final external URL and test it with curl from outside. Exclude the route from login, CSRF ' +
        'protection and redirects, and compare secret, key and header names on both sides.',
      express:
        'Log `req.originalUrl` at the very start of the app. Mount the route before session middleware, `csurf`, ' +
        '`express-slash` and static fallbacks; `strict routing` makes a trailing slash significant. Read headers ' +
        'with `req.get(name)`: `req.headers["X-Service-Signature"]` is always undefined, because Node lower-cases ' +
        'names.',
      flask: 'Use `csrf.exempt` of Flask-WTF.',
      django:
        'Use `@csrf_exempt`, list the host of the URL in `ALLOWED_HOSTS`, exempt the view from login middleware, and ' +
        'write the URL pattern with the slash of the registered URL, or else `APPEND_SLASH` redirects. Names in ' +
        '`request.META` are upper-case with the prefix HTTP_; `request.headers` accepts any spelling.',
      spring:
        'Add the path to `permitAll()` of the security chain, and to `csrf().ignoringRequestMatchers(...)`; the ' +
        'form login redirects all other paths.',
      php:
        'Names in `$_SERVER` are upper-case with the prefix HTTP_, and have underscores. Return the status of the ' +
        'failure: a caught exception must not lead to an empty 200.',
      laravel:
        'Register the route in `routes/api.php`, outside the `auth` group, or add the path to the exceptions of ' +
        '`VerifyCsrfToken`.',
      rails: 'Write `skip_forgery_protection` in the controller, and add the host of the URL to `config.hosts`.',
    },
    severity: 'high',
    cwe: 393,
    implies: ['nothing-verified', 'plain-delivery-rejected'],
  },
});
