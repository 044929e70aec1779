import { UNSIGNED } from './consequences.ts';
import { ids, mistakes } from './mistake.ts';

/** Where known ids and required fields are configured. */
export const SAMPLES_PLACE = '`samples` in the configuration file';

/** Mistakes in the deployment of an endpoint, and mistakes that show only in a whole run. */
export const ENDPOINT_MISTAKES = mistakes({
  'host-name-not-published': {
    title: 'Is registered with a host name that does not resolve',
    seen: 'Names that are misspelt, not published yet, or known only inside another network.',
    why: 'The sender finds no address to connect to, and every delivery fails.',
    fix: {
      rule:
        'Check the spelling of the URL, publish the name in public DNS, and look it up on the machine that runs ' +
        'hookproof (`getent hosts NAME`).',
    },
    severity: 'critical',
    cwe: 684,
  },
  'port-not-served': {
    title: 'Does not listen on the port of the registered URL',
    seen: 'Receivers that are not running, listen on another port, or listen on localhost inside a container.',
    why: 'The port is closed, and every delivery fails.',
    fix: {
      rule:
        'Start the receiver, and compare its host and port with the URL. In a container, listen on 0.0.0.0 and ' +
        'publish the port.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'sender-blocked-by-network': {
    title: 'Cannot be reached over the network',
    seen: 'Firewalls that drop the packets, missing routes, and machines that are off.',
    why: 'No connection is established, and every delivery fails after a timeout.',
    fix: {
      rule:
        'Allow connections from the machine that runs hookproof, and from the addresses of the sender in ' +
        'production.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'protocol-mismatch': {
    title: 'Speaks a protocol on the port other than the one that the registered URL requires',
    seen:
      'A TLS port in a URL with http, plain HTTP in a URL with https, only TLS versions below 1.2, or another ' +
      'service on the port.',
    why: 'The two sides do not understand each other, and every delivery fails before it reaches the handler.',
    fix: {
      rule:
        'Check the port, and begin the URL with https if the port speaks TLS. Serve HTTP over TLS 1.2 or higher on ' +
        'the port of an https URL.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'handler-failure': {
    title: 'Fails on a valid delivery with 5xx or a closed connection',
    seen: 'Handlers that throw or crash before they answer, and proxies whose upstream server is down.',
    why: 'The delivery is not accepted, and the sender may retry it until it gives up.',
    fix: {
      rule:
        'Check the log of the receiver at the time of the delivery, and answer on every path through the handler. ' +
        'Check that the proxy reaches the receiver.',
      express:
        'If the raw body is undefined: `express.raw()` skips application/json, and `express.raw({ type: () => true ' +
        '})` reads every type. `Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)` is a buffer in any case.',
      fastify:
        "If the raw body is undefined: register a content type parser with `parseAs: 'buffer'` before the route, in " +
        'the same plugin.',
      nestjs:
        "If `req.rawBody` is undefined: `app.use(json())` replaces Nest's parser; with `rawBody: true`, set the " +
        "limit with `app.useBodyParser('json', { limit })`.",
      flask: 'Run `flask --debug` on your machine, or read the traceback in the log of the WSGI server.',
      fastapi: 'Read the traceback of uvicorn. A model that is created in the handler raises ValidationError: a 500.',
      django: 'Read the traceback in the log of the WSGI server; `request.body` raises after `request.POST` was read.',
      php: 'Set `log_errors=On` and `display_errors=Off`, and read the error log of PHP-FPM.',
      laravel: 'Read storage/logs/laravel.log.',
      rails: 'Read log/production.log; an exception page shows the line.',
      spring:
        'Read the stack trace in the log; `@RequestBody` and an InputStream of the same request exclude each other.',
      go: 'net/http recovers a panic of the handler and closes the connection: read its stack on standard error.',
    },
    severity: 'critical',
    cwe: 755,
  },
  'oversized-response-headers': {
    title: 'Sends very large response headers',
    seen: 'Cookies and debug headers that a framework adds to every answer.',
    why: 'HTTP clients need not read more than 16 KiB of headers, so the sender cannot read the status.',
    fix: { rule: 'Answer with a status and a short body, and remove cookies and debug headers from this path.' },
    severity: 'high',
    cwe: 684,
  },
  'redirect-before-handler': {
    title: 'Redirects deliveries instead of handling them',
    seen: 'Redirects from http to https, for a missing or extra trailing slash, and to a login page.',
    why: 'The sender does not follow redirects, and a redirected POST can become a GET. Nothing is delivered.',
    fix: {
      rule: 'Register the final URL, and exclude the path from the login of users.',
      flask: 'Register the route with `strict_slashes=False`.',
      fastapi: 'Create the application with `FastAPI(redirect_slashes=False)`, and register the exact path.',
      django: 'Register the path without the final slash, or set `APPEND_SLASH = False`.',
      laravel:
        'Keep the route out of the `auth` group. `validate()` redirects a request that does not ask for JSON: answer ' +
        '400 from the validator instead.',
      rails: 'Add `skip_before_action :authenticate_user!`, and exclude the path in `config.ssl_options`.',
      spring: 'Add `requestMatchers(POST, "/hooks").permitAll()`, without `formLogin` for this path.',
      go:
        'http.ServeMux redirects to the path with a final slash when only `/hooks/` is registered: register ' +
        '`/hooks`.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'route-mismatch': {
    title: 'Has no route for POST at the registered URL',
    seen: 'Paths without the prefix of a reverse proxy, and routes that are registered for another method.',
    why: 'The server answers, but no delivery reaches the handler.',
    fix: {
      rule:
        'Register the handler for POST at exactly the path of the URL, including the prefix of a reverse proxy. If ' +
        'the receiver answers 404 to ids that it does not know, list known ids under ' +
        `${SAMPLES_PLACE}.`,
      express: 'A router that is mounted with `app.use(prefix, router)` adds the prefix to `router.post(path)`.',
      fastify: 'A plugin that is registered with `prefix` adds it to its routes.',
      nestjs:
        '`setGlobalPrefix`, versioning and `@Controller(path)` add to the path: exclude the route, or use the sum.',
      flask: 'Name the method: `@app.post(path)`, or `methods=["POST"]`; a blueprint adds its `url_prefix`.',
      fastapi: 'An APIRouter adds its `prefix`; `root_path` is for a proxy that removes one.',
      django: 'Compare with urls.py, including the paths of `include()`; the view needs no `require_GET`.',
      php: 'Without rewriting, the URL ends in the name of the file.',
      laravel: 'Routes in routes/api.php have the prefix `/api`.',
      rails: 'Compare with `rails routes`: `post "/hooks", to: "webhooks#create"`.',
      spring: '`server.servlet.context-path` and `@RequestMapping` of the class add to the path.',
      go: 'Compare with the patterns of the ServeMux: `POST /hooks` is this path only.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'sender-throttled': {
    title: 'Applies a rate limit that rejects individual deliveries',
    seen: 'Limits of a gateway or of middleware that are set for users, and quotas that are exhausted.',
    why: 'Deliveries are rejected with 429 even with pauses between them, and may be lost after the last retry.',
    fix: {
      rule:
        'Exempt this route, or the address that hookproof runs at, from the limit, and wait until it has reset. A ' +
        'limit that remains must allow what the service sends in its busiest minute.',
      express: 'Mount the route before `rateLimit()`, or give it `skip: (req) => req.path === "/hooks"`.',
      fastify: 'Set `config: { rateLimit: false }` on the route.',
      nestjs: 'Put `@SkipThrottle()` on the route.',
      flask: 'Decorate the view with `@limiter.exempt`.',
      fastapi: 'With slowapi, decorate the route with `@limiter.exempt`.',
      django: 'Leave `throttle_classes` of this view empty.',
      laravel: "Use `->withoutMiddleware('throttle:api')` on the route.",
      rails: 'Add a `safelist` for the path to Rack::Attack.',
      spring: 'Exclude the path from the rate-limiting filter (Bucket4j, Resilience4j).',
      go: 'Register the route outside the rate-limiting middleware.',
    },
    severity: 'high',
    cwe: 684,
  },
  'over-strict-validation': {
    title: 'Rejects notifications that are valid by the specification',
    seen:
      'Validation that is stricter than the specification, rejected content types, and lookups of ids that exist ' +
      'only in production.',
    why: 'The notification is never accepted, and retries do not change that.',
    fix: {
      rule:
        'Accept application/json and every field, type and status of the specification, and ignore unknown ones. If ' +
        'the receiver looks ids up or needs additional fields, list known ids and these fields under ' +
        `${SAMPLES_PLACE}.`,
      nestjs: '`ValidationPipe({ forbidNonWhitelisted: true })` and `@IsEnum` reject what your DTO does not list.',
      fastapi: 'Declare types and statuses as `str`, and do not set `extra="forbid"`: the answer is 422.',
      django: 'A serializer of REST framework rejects what `choices` does not list.',
      laravel: 'The rules `in:` and `prohibited` reject what they do not list; `validate()` answers 302 or 422.',
      rails: '`params.require(...)` answers 400 when the key is missing.',
      spring: 'Jackson answers 400 to unknown enum values and, with FAIL_ON_UNKNOWN_PROPERTIES, to unknown fields.',
      go: '`DisallowUnknownFields` and integer types reject what they do not hold.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'host-not-allowed': {
    title: 'Rejects requests for the host name of the registered URL',
    seen:
      'Lists of allowed host names without the name of a tunnel, a proxy, a container or this machine; virtual hosts ' +
      'that do not name it.',
    why: 'Every delivery is rejected before the handler sees it.',
    fix: {
      rule:
        "Add the host name of the URL to the names that the framework allows (Django's `ALLOWED_HOSTS`, Rails' " +
        '`config.hosts`) and to those of the proxy, or register a URL whose name is allowed.',
      express: 'Add the name to the check of `req.hostname`, or to `allowedHosts` of the development server.',
      fastify: 'Add the name to the `constraints: { host }` of the route.',
      nestjs: 'Add the name to `@Controller({ host })`.',
      flask: 'Add the name to `TRUSTED_HOSTS`; with `SERVER_NAME`, Flask serves only that one.',
      fastapi: 'Add the name to `allowed_hosts` of TrustedHostMiddleware.',
      django: 'Add the name to `ALLOWED_HOSTS` in the settings.',
      php: 'Add the name to `server_name` or `ServerAlias` of the web server.',
      laravel: 'Add the name to `trustHosts` (TrustHosts middleware), and to the `domain` of the route.',
      rails: 'Add `config.hosts << "the.name"`, or exclude the path with `config.host_authorization`.',
      spring: 'Add the name to the firewall (`StrictHttpFirewall.setAllowedHostnames`).',
      go: 'Add the name to the pattern of the ServeMux: `POST host/hooks` serves only this host.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'csrf-token-required': {
    title: 'Requires a token against cross-site request forgery',
    seen: 'Webhook routes among the routes for browsers, whose protection applies to every POST.',
    why: 'A service has no session and no token, so every delivery is rejected before its signature is read.',
    fix: {
      rule: 'Exempt this route from the protection. The signature protects it.',
      express: 'Mount the route before the CSRF middleware.',
      fastify: 'Do not add `fastify.csrfProtection` to this route.',
      nestjs: 'Exclude the path from the CSRF middleware in `configure(consumer)`.',
      flask: 'Decorate the view with `@csrf.exempt`.',
      fastapi: 'Exclude the path from the CSRF middleware or dependency.',
      django: 'Decorate the view with `@csrf_exempt`.',
      laravel: 'Add the path to `validateCsrfTokens(except: [...])` (before 11: `$except` of VerifyCsrfToken).',
      rails: 'Add `skip_forgery_protection` to the controller, or inherit from ActionController::API.',
      spring: 'Add `csrf(csrf -> csrf.ignoringRequestMatchers("/hooks"))` to the security configuration.',
      go: 'Register the route outside the CSRF middleware.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'rejected-before-verification': {
    title: 'Rejects every delivery before it looks at the signature',
    seen:
      'Lists of allowed hosts, protection against cross-site requests, logins, firewalls, content types, and ' +
      'validation of the payload that runs first.',
    why: 'No delivery reaches the code that verifies it, whatever its signature is.',
    fix: {
      rule:
        'The text of the answer and the logs of the components in front (proxy, firewall, framework) show which one ' +
        'answers. ' +
        'Exempt this route from logins, CSRF tokens and firewalls, allow its host name and application/json, and ' +
        'validate the payload after the signature.',
      express: 'Mount the route before the middleware that answers (login, csrf, validation).',
      fastify: 'A `schema.body` is checked before the handler: verify in `preParsing` or `preValidation`.',
      nestjs: 'Pipes and guards run before the handler: exclude the route from global ones (`APP_GUARD`, `APP_PIPE`).',
      flask:
        '`@csrf.exempt`, no `@login_required`, and `request.get_data()` instead of `request.json` before the check.',
      fastapi:
        'A model as parameter is validated before the handler runs (422): take `request: Request`, verify ' +
        '`await request.body()`, and validate afterwards.',
      django: 'Check `ALLOWED_HOSTS`, `@csrf_exempt`, and `login_required` or the permission classes of this view.',
      php: 'Check the rules of the web server (`Require`, `deny`, `.htaccess`, mod_security).',
      laravel: 'Check the middleware of the route: CSRF (419), `auth` (302 or 401), `throttle`, TrustHosts.',
      rails: 'Check `skip_forgery_protection` (422), `config.hosts` (403) and `before_action` of the controller.',
      spring:
        'Check `csrf.ignoringRequestMatchers("/hooks")` (403), `requestMatchers("/hooks").permitAll()` (401), and ' +
        '`consumes` of the mapping (415).',
      go: 'Check the middleware that wraps the handler.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'rejected-after-verification': {
    title: 'Accepts the signature of a valid delivery, but then rejects or loses it',
    seen:
      'Bodies that were read for the signature and are empty for the parser, validation that is stricter than the ' +
      'specification, and lookups of ids that exist only in production.',
    why: 'The notification is never accepted, and retries do not change that.',
    fix: {
      rule:
        'Check that the parser gets the bytes that were verified: a body can be read only once. Then accept every ' +
        'field, type and status of the specification. Look also for what rejects it after the check: a missing ' +
        'status, a firewall that requires a User-Agent, another route. If the receiver looks ids up or needs ' +
        'additional fields, list known ids and these fields under ' +
        `${SAMPLES_PLACE}.`,
      express: 'Parse the verified buffer: `JSON.parse(req.body)`.',
      fastify: 'Parse the buffer that the content type parser returned.',
      nestjs: '`ValidationPipe({ forbidNonWhitelisted: true })` and `@IsEnum` reject what your DTO does not list.',
      flask: 'Call `request.get_data(cache=True)` for the signature, so that `request.get_json()` reads it again.',
      fastapi: 'In a middleware, `await request.body()` may leave nothing for the handler: verify in the handler.',
      django: 'Read `request.body` before `request.POST` or a parser of REST framework.',
      php: 'Read `php://input` once, and decode the same text.',
      laravel: '`validate()` rejects what its rules do not list; use `$request->getContent()` for both steps.',
      rails: 'Call `request.body.rewind` after reading it, or use `request.raw_post` for both steps.',
      spring: 'Take `@RequestBody byte[]` for both steps; an enum of Jackson rejects unknown values (400).',
      go: 'Set `r.Body = io.NopCloser(bytes.NewReader(body))` after `io.ReadAll`.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'header-name-with-underscore': {
    title: 'Reads a credential from a header whose name has an underscore',
    seen: 'nginx, HAProxy, Apache and load balancers, which drop such headers silently.',
    why: 'The header never arrives, so every delivery looks as if it had no credential.',
    fix: {
      rule:
        'Agree on a name with hyphens instead of underscores. In nginx, `underscores_in_headers on;` keeps the ' +
        'header.',
    },
    severity: 'high',
    cwe: 684,
  },
  'answers-by-timeout': {
    title: 'Answers when a timer expires, because the handler waits for a body that was already read',
    seen:
      'Libraries that read the request themselves after a body parser, and that answer "still processing" after ' +
      'some ' +
      'seconds.',
    why: 'Nothing is verified or handled, and the sender treats every delivery as accepted.',
    fix: {
      rule:
        'Let one component read the body: mount the library before any body parser, or give it the bytes that were ' +
        'read. If the handler itself waits and answers 200 to everything, verify before you do the work.',
      express: 'Mount the middleware of the library before `express.json()`.',
      fastify: 'Register the library with its own content type parser that does not read the stream.',
      nestjs: 'Create the application with `bodyParser: false`, or exclude this route from the parser.',
    },
    severity: 'critical',
    cwe: 666,
  },
  'credentials-differ': {
    title: 'Is configured with a different secret, API key or header name than the sender',
    seen:
      'Secrets of another environment, a newline at the end of a secret file, header names that were agreed later, ' +
      'and signatures that are computed in another way.',
    why: 'Every delivery is rejected, although its credentials are valid.',
    fix: {
      rule:
        'Compare secret, API key and header names on both sides. If they are the same, log the signature that the ' +
        'receiver computes and the body that it reads, then run `hookproof verify body.json --signature ' +
        '"$COMPUTED"`. `hookproof proxy --to URL` shows the deliveries of the real sender, and why their signatures ' +
        'do not match.',
      express: 'Log `req.body.length` and `process.env.WEBHOOK_SECRET.length` next to the computed signature.',
      nestjs: 'Log `req.rawBody?.length`: with `rawBody: true`, it is the received bytes.',
      flask: 'Log `repr(request.get_data())` and `len(secret)` next to the computed signature.',
      fastapi: 'Log `repr(await request.body())` and `len(secret)` next to the computed signature.',
      django: 'Log `repr(request.body)` and `len(settings.WEBHOOK_SECRET)` next to the computed signature.',
      php: "A header arrives as `$_SERVER['HTTP_X_SERVICE_SIGNATURE']`; log `strlen($secret)` and `strlen($body)`.",
      laravel: 'Use `$request->getContent()`, and `php artisan config:clear` after a change of .env.',
      rails: 'Use `request.raw_post`; the header is `request.headers["X-Service-Signature"]`.',
      spring: 'Log the length of the `byte[]` and of the secret next to the computed signature.',
      go: 'Log `len(body)` and `len(secret)` next to the computed signature.',
    },
    severity: 'critical',
    cwe: 684,
  },
  'nothing-verified': {
    title: 'Answers 200 to every delivery: valid, forged and malformed ones',
    seen:
      'Placeholder handlers, checks that are never awaited, answers that are sent before the check, and errors that ' +
      'are reported with 200.',
    why:
      'If nothing is verified, anyone who knows the URL can report a payment that never happened. If the answer ' +
      'comes before the check, the sender treats every delivery as accepted.',
    fix: {
      rule:
        'Verify the signature and the key first, and answer 401 at once when either is missing or invalid. The ' +
        'reference receiver shows the order of the steps.',
    },
    severity: 'critical',
    cwe: 306,
    implies: [
      ...UNSIGNED,
      ...ids(
        'forgery-accepted no-signature-verification unchecked-key client-without-certificate-accepted',
        'acknowledged-before-checks payload-not-validated method-not-restricted unguarded-parser',
        'payload-root-unchecked nested-object-unchecked text-type-unchecked text-form-unchecked',
        'time-conversion-unchecked number-conversion-unchecked value-longer-than-column inherited-name-lookup',
        'payload-text-unencoded undecodable-body-throws uncaught-error missing-field-unchecked',
        'deep-nesting-unhandled lenient-parser query-operators-from-payload lossy-body-text unstorable-characters',
        'resource-not-released decoded-body client-certificate-not-verified certificate-check-conditional',
        'certificate-header-unprotected recorded-before-certificate-check resumed-session-unverified',
        'verification-error-tolerated hand-written-certificate-check client-name-not-compared',
        'absent-signature-passes signature-check-throws signature-format-only several-signatures',
        'surrounding-text-ignored signature-used-as-pattern signature-treated-as-url-text base64-variant',
        'wrong-digest-encoding digest-handled-as-text foreign-signature-format confused-credentials',
        'verification-fails-open partial-comparison one-credential-enough raw-body-fallback signed-part-of-body',
        'well-known-secret other-hmac-hash hash-instead-of-hmac converted-secret hand-written-comparison',
        'verdict-kept-by-id unread-body-verified swapped-hmac-arguments signature-letter-case shortened-secret',
        'secret-with-extra-characters cached-verification serial-body-reads known-id-revealed imitated-body-format',
        'failures-lock-out body-left-unread body-as-c-string unread-key optional-key request-chooses-credentials',
        'key-from-other-place partial-key-comparison conditional-key-check altered-key unset-key key-exempt-claims',
        'key-as-pattern key-check-throws key-as-list named-expected-key key-in-sql key-checked-late key-as-property',
        'derived-key-comparison',
      ),
    ],
  },
  'forgery-accepted': {
    title: 'Accepts deliveries whose credentials are missing or invalid',
    seen: 'Checks such as `if (header && !valid)`, which accept every request without the header.',
    why: 'An attacker who finds the gap can report a payment that never happened.',
    fix: {
      rule:
        'Treat a missing header like an invalid one: `if (!header || !valid)` answers 401. Verify every request that ' +
        'reaches the handler, whatever its content type, framing, method, path or headers.',
    },
    severity: 'critical',
    cwe: 287,
  },
  'state-between-deliveries': {
    title: 'Accepts valid deliveries at one time and rejects them at another',
    seen:
      'Variables outside the handler, caches, limits, a blocked event loop, and decoders that turn a plus sign in ' +
      'the signature into a space.',
    why:
      'The receiver depends on what it received before, or on what differs from one valid delivery to the next. ' +
      'Valid deliveries are lost, which looks random.',
    fix: {
      rule:
        'Remove state that one delivery leaves to the next, and compare the signature header as received, without a ' +
        'form or URL decoder.',
    },
    severity: 'high',
    cwe: 684,
  },
});
