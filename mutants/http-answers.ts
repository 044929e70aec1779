/** Mutants that answer with the wrong status or handle connections incorrectly. */
import type { Socket } from 'node:net';
import { answer, refuse, requestHeader, required, type Stage } from '../receiver/stages/stage.ts';
import { verifySignature as verify } from '../receiver/verify-signature.ts';
import type { StageFault } from './fault.ts';

const STATUS = { area: 'http', severity: 'high', forbidden: true } as const;

const AFTER_ACCEPTING = {
  rule: 'Answer exactly 200 as soon as the notification is stored.',
  express: 'Use `res.status(200).end()`, even if a queue continues the work.',
  nestjs: 'Put `@HttpCode(200)` on the method: Nest answers POST with 201.',
  fastify: 'Set `reply.code(200)`; a handler without a result may otherwise answer 200 or 204.',
  rails: 'Use `head :ok`, not `head :no_content` or `:accepted`.',
  spring: 'Return `ResponseEntity.ok()`; check `@ResponseStatus` on the method.',
  dotnet: 'Return `Ok()`, not `NoContent()`, `Accepted()` or `Created()`.',
} as const;

const ANSWER_EVERYTHING: Stage = (_req, res) => answer(res, 200, {});

const REFUSAL = {
  area: 'http',
  severity: 'medium',
  forbidden: true,
  needs: ['hmac'],
  stage: 'requireSignature',
} as const;

const ANSWER_401 = {
  rule: 'Answer 401 to every invalid or missing signature, with one function for all of them.',
  express: 'Use `res.sendStatus(401)`, and an error handler that handles the error of the verification.',
  nestjs: 'Throw `UnauthorizedException`: a guard that returns false answers 403.',
  hono: 'Use `return c.json({ error: "unauthorized" }, 401)`.',
  python: 'Use `self.send_response(401)`.',
  flask: 'Use `abort(401)`.',
  fastapi: 'Raise `HTTPException(401)`, and declare the headers as optional: a missing one answers 422.',
  php: 'Call `http_response_code(401)` before any output.',
  fastify: 'Use `reply.code(401).send()`, or an error with `statusCode` 401.',
  django: 'Return `HttpResponse(status=401)`; `PermissionDenied` and `SuspiciousOperation` become 403 and 400.',
  spring: 'Throw `ResponseStatusException(UNAUTHORIZED)`, and set an `AuthenticationEntryPoint`: the default is 403.',
  rails: 'Use `head :unauthorized`.',
  dotnet: 'Return `Unauthorized()`, not `Forbid()` or `BadRequest()`.',
} as const;

/** The correct check of the signature with another rejection. */
function refusing(refuseWrong: (res: Parameters<Stage>[1]) => void): StageFault['replace'] {
  return ({ correct, config }) =>
    config.signing === undefined
      ? correct.requireSignature
      : (req, res, next) => {
          const check = verify({
            rawBody: required(res, 'rawBody'),
            header: requestHeader(req, config.signing?.header ?? ''),
            secrets: config.signing?.secrets ?? [],
          });
          if (check.ok) next();
          else refuseWrong(res);
        };
}

/** More than the buffers of a connection hold, so it is still in transit when an early answer is sent. */
const LARGE = 256 * 1024;

const DRAIN = {
  rule:
    'Read or discard the whole body before you answer, or answer with Connection: close and continue reading for a ' +
    'while.',
  express: 'Call `req.resume()` when you answer early, and do not destroy the socket.',
  fastify: 'Check credentials in a hook after the body is parsed, or set Connection: close with the answer.',
  go:
    'The server discards up to 256 kB by itself and closes the connection if there is more: read the body with a ' +
    'limit first.',
} as const;

const NO_SHARED_STATE = {
  rule: 'Keep the state of a request in the request, not in variables of the module, the class or the connection.',
  express: 'Use `res.locals` or properties of `req`.',
  spring: 'Controllers and filters are singletons: use no mutable fields.',
  dotnet: 'Register classes with per-request state as scoped, not as singletons.',
} as const;

export const httpAnswersFaults: readonly StageFault[] = [
  // Receivers that answer with the wrong status, whatever was checked.
  {
    ...STATUS,
    name: 'accepts-with-another-2xx',
    title: 'Answers 204 instead of 200 to an accepted notification',
    seen:
      'Frameworks that answer 201, 202 or 204 by default for a POST or an empty response, and handlers that enqueue ' +
      'the work and answer 202.',
    why:
      'Only 200 means accepted. Every notification counts as failed and is retried, and the sender may disable the ' +
      'endpoint.',
    fix: AFTER_ACCEPTING,
    stage: 'reply',
    replace: () => (_req, res) => void res.writeHead(204).end(),
  },
  {
    ...STATUS,
    name: 'accepts-unhandled-kinds-with-202',
    severity: 'medium',
    title: 'Answers 202 instead of 200 to a kind of notification without its own handler',
    seen:
      'Receivers that only acknowledge what they do not process, and libraries that answer 202 or 204 without a ' +
      'registered handler.',
    why: 'Only 200 means accepted. Notifications that you ignore are retried again and again.',
    fix: AFTER_ACCEPTING,
    stage: 'reply',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const { kind } = required(res, 'notification');
        if (kind === 'CAAS_BUY' || kind === 'CAAS_SELL') return correct.reply(req, res, next);
        answer(res, 202, { status: 'ignored' });
      },
  },
  {
    ...STATUS,
    name: 'answers-200-to-everything',
    severity: 'critical',
    title: 'Answers 200 to every request',
    seen:
      'Placeholders that were deployed first, tunnels and catch-all pages, single-page applications that answer ' +
      'every path with their start page, and login pages with status 200.',
    why: 'Forged deliveries look accepted, and so do valid ones that were never processed.',
    fix: {
      rule:
        'Answer 200 only after the credentials are checked and the notification is stored; otherwise 401, 400 or ' +
        '405.',
      express: 'Search for a catch-all route or a static fallback before the webhook route.',
      php: 'Return the status of the failure: a caught exception must not lead to an empty 200.',
    },
    stage: 'accept',
    replace: () => ANSWER_EVERYTHING,
  },
  {
    ...STATUS,
    name: 'answers-401-to-everything',
    title: 'Answers 401 to every delivery, even a valid one',
    seen:
      'A secret or key that differs from the registered one, header lookups with capitals in a map of lower-case ' +
      'names, and a login guard before the route.',
    why: 'No notification is accepted. After some days of failures, the sender may disable the endpoint.',
    fix: {
      rule: 'Compare secret, key and header names on both sides, and remove general authentication from this route.',
      express:
        'Read headers with `req.get(name)`: `req.headers["X-Service-Signature"]` is always undefined, because Node ' +
        'lower-cases names.',
      php: 'Names in `$_SERVER` are upper-case with the prefix HTTP_, and have underscores.',
      django: 'Names in `request.META` are upper-case with the prefix HTTP_; `request.headers` accepts any spelling.',
    },
    stage: 'requireSignature',
    replace: () => (_req, res) => answer(res, 401, { error: 'unauthorized' }),
  },
  {
    ...STATUS,
    name: 'redirects-every-delivery',
    title: 'Redirects every delivery, for example to a login page or to the URL with a trailing slash',
    seen:
      'Login middleware before the route, redirects from http to https, and routers that add or remove the trailing ' +
      'slash (APPEND_SLASH in Django, strict slashes in others).',
    why:
      'A sender does not follow redirects, and a client that does may turn the POST into a GET of the login page ' +
      'and take its 200 for acceptance.',
    fix: {
      rule: 'Register the final URL, and exclude the route from everything that logs in users.',
      express: 'Mount the route before session middleware, and do not use `express-slash` or similar middleware on it.',
      django: 'Write the URL pattern with the slash of the registered URL, and exempt the view from login middleware.',
      laravel: 'Register the route in `routes/api.php`, outside the `auth` group.',
      spring: 'Add the path to `permitAll()` of the security chain; the form login redirects all others.',
    },
    stage: 'accept',
    replace: () => (_req, res) => answer(res, 302, {}, { Location: '/login' }),
  },
  {
    ...STATUS,
    name: 'answers-403-to-everything',
    title: 'Answers 403 to every delivery, even a valid one',
    seen:
      'CSRF protection that expects a browser token, firewalls that take a machine for an attack, and address ' +
      'allowlists without the sender.',
    why: 'No notification is accepted, and the handler, including its log, never sees one.',
    fix: {
      rule:
        'Exclude the route from CSRF protection, and allow the sender in the firewall. The signature is the ' +
        'protection.',
      express: 'Mount the route before `csurf` and similar middleware.',
      django: 'Use `@csrf_exempt` on the view.',
      rails: 'Write `skip_before_action :verify_authenticity_token` in the controller.',
      laravel: 'Add the path to the exceptions of `VerifyCsrfToken`, or register the route in `routes/api.php`.',
      spring: 'Add the path to `csrf().ignoringRequestMatchers(...)`.',
      flask: 'Use `csrf.exempt` of Flask-WTF.',
    },
    stage: 'accept',
    replace: () => (_req, res) => answer(res, 403, { error: 'forbidden' }),
  },
  {
    ...STATUS,
    name: 'answers-404-to-everything',
    title: 'Answers 404 to every delivery at the registered URL',
    seen:
      'Proxies that remove or keep a path prefix, routes with or without the trailing slash, and routes that are ' +
      'not deployed yet.',
    why: 'No notification is accepted. After some days of failures, the sender may disable the endpoint.',
    fix: {
      rule: 'Register the external URL, and test it with curl from outside.',
      express: 'Log `req.originalUrl` at the very start of the app; `strict routing` decides about the trailing slash.',
    },
    stage: 'accept',
    replace: () => (_req, res) => answer(res, 404, { error: 'not-found' }),
  },
  {
    ...STATUS,
    name: 'accepted-never-answered',
    title: 'Never answers an accepted notification',
    seen: 'Handlers that wait for minutes of work, or that have a path which never ends the response.',
    why: 'The sender times out and sends the notification again, although everything was done.',
    fix: {
      ...AFTER_ACCEPTING,
      express: 'End every path with `res.status(200).end()`, and do the work afterwards.',
    },
    stage: 'reply',
    replace: () => () => {},
  },
  {
    ...STATUS,
    name: 'acknowledges-before-checking',
    severity: 'critical',
    title: 'Answers 200 to every POST, whatever its credentials, and checks it afterwards if at all',
    seen:
      'Low-code tools and queues that answer before your steps run, and the advice to answer quickly taken too ' +
      'far.',
    why:
      'The sender never learns that its deliveries are rejected or lost, and never retries them. A wrong secret ' +
      'goes unnoticed.',
    fix: {
      rule:
        'Check the credentials before the answer: it takes less than a millisecond. Do the work afterwards, not the ' +
        'check.',
      express: 'Call `res.sendStatus(200)` after verification and after storing the notification.',
    },
    stage: 'accept',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.method === 'POST' ? answer(res, 200, {}) : correct.accept(req, res, next),
  },
  // Receivers that reject an invalid signature with the wrong answer.
  {
    ...REFUSAL,
    name: 'refuses-with-400',
    title: 'Answers 400 to an invalid or missing signature',
    seen: 'Most tutorials, and the documentation of well-known services, answer 400 if the signature does not match.',
    why:
      'The specification requires 401. With 400, the sender takes its own payload for malformed and searches in the ' +
      'wrong place.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 400, { error: 'bad-request' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-403',
    title: 'Answers 403 to an invalid or missing signature',
    seen: 'Gateways and security frameworks that use 403 for missing authentication, and tunnel middleware.',
    why: 'The specification requires 401. A sender takes 403 for a firewall instead of a wrong secret.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 403, { error: 'forbidden' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-404',
    title: 'Answers 404 to an invalid or missing signature',
    seen: 'Endpoints that hide from clients without credentials, and rules that are part of the route match.',
    why: 'The sender takes the URL for wrong instead of the secret.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 404, { error: 'not-found' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-500',
    severity: 'high',
    title: 'Answers 500 to an invalid or missing signature',
    seen:
      'Checks that throw on a mismatch, in frameworks that turn exceptions into 500, and daemons that do so by ' +
      'default.',
    why: 'The sender takes it for an outage and retries for hours a delivery that can never be accepted.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 500, { error: 'internal' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-200',
    severity: 'critical',
    title: 'Answers 200 to an invalid or missing signature, with an error in the body',
    seen: 'Low-code tools, frameworks that answer 200 by default, and the advice to reveal nothing to an attacker.',
    why: 'It looks the same as acceptance. With a wrong secret, every delivery counts as delivered and is lost.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 200, { error: 'unauthorized' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-by-redirect',
    title: 'Redirects to a login page on an invalid or missing signature',
    seen:
      'Frameworks whose authentication is made for browsers: a cookie challenge, a session guard, an error handler ' +
      'that redirects.',
    why:
      'The sender does not see that its credentials are wrong. A client that follows the redirect gets a page ' +
      'with 200.',
    fix: {
      rule: 'Answer 401 yourself instead of leaving it to the error handling for pages.',
      express: 'Use `res.sendStatus(401)` in the check instead of `next(error)` with an error handler for pages.',
      laravel: 'Use `abort(401)`; an `AuthenticationException` redirects requests that do not ask for JSON.',
      dotnet: 'Return `Unauthorized()` instead of `Challenge()`.',
    },
    replace: refusing((res) => answer(res, 302, {}, { Location: '/login' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-by-hanging-up',
    title: 'Closes the connection without an answer on an invalid or missing signature',
    seen:
      'Handlers that destroy the socket "to save resources", proxies that drop requests (444 in nginx), and ' +
      'workers that end with an exception below the server.',
    why: 'The sender sees a network problem instead of wrong credentials, and retries for hours.',
    fix: {
      rule: 'Make sure that every path through the handler answers: 401 for wrong credentials.',
      express: 'Use `res.sendStatus(401)`; do not call `req.destroy()`.',
    },
    replace: refusing((res) => void res.socket?.destroy()),
  },
  // Receivers in which one request affects another, on the same connection or at the same time.
  {
    ...STATUS,
    name: 'early-refusal-lost-in-reset',
    severity: 'low',
    forbidden: false,
    title:
      'Rejects a wrong API key before reading the body and closes the connection at once, so a large body leads to ' +
      'a reset',
    seen: 'Key checks in a gateway or in a hook that closes the connection with its answer.',
    why: 'The sender sees a network problem instead of a wrong key, and retries for hours.',
    fix: DRAIN,
    needs: ['api-key'],
    stage: 'accept',
    replace:
      ({ correct, config }) =>
      (req, res, next) => {
        const keys: readonly unknown[] = config.apiKey?.keys ?? [];
        const wrong = !keys.includes(requestHeader(req, config.apiKey?.header ?? ''));
        // Closing a socket with unread bytes resets it, and the reset overtakes the answer.
        if (config.apiKey !== undefined && wrong && Number(req.headers['content-length']) > LARGE) req.socket.destroy();
        else correct.accept(req, res, next);
      },
  },
  {
    ...STATUS,
    name: 'refused-body-left-on-connection',
    title: 'Leaves the large body of a rejected delivery unread and answers 400 to the next request on the connection',
    seen:
      'Servers that answer early and keep the connection open: they parse the rest of the body as the next ' +
      'request.',
    why: 'One rejected delivery makes a valid one fail, which looks like invalid HTTP in the log of the receiver.',
    fix: DRAIN,
    stage: 'accept',
    replace({ correct }) {
      const spoilt = new WeakSet<Socket>();
      return (req, res, next) => {
        if (spoilt.has(req.socket)) return refuse(res, 400, 'bad-request', { headers: { Connection: 'close' } });
        res.once('finish', () => {
          if (res.statusCode === 401 && Number(req.headers['content-length']) > LARGE) spoilt.add(req.socket);
        });
        return correct.accept(req, res, next);
      };
    },
  },
  {
    ...STATUS,
    name: 'body-joined-to-previous',
    title: 'Appends a body to the previous one on the same connection, so a valid signature gets 401',
    seen: 'Hand-written servers with one buffer per connection that is not emptied between requests.',
    why: 'Only the first delivery on a connection is accepted, so it works in a test with curl.',
    fix: NO_SHARED_STATE,
    stage: 'readBody',
    replace({ correct }) {
      const buffers = new WeakMap<Socket, Buffer>();
      return (req, res, next) =>
        correct.readBody(req, res, (...failed) => {
          if (res.locals.rawBody !== undefined) {
            const before = buffers.get(req.socket) ?? Buffer.alloc(0);
            // A megabyte is enough to show this fault.
            const joined = Buffer.concat([before.subarray(0, 1024 * 1024), res.locals.rawBody]);
            buffers.set(req.socket, joined);
            res.locals.rawBody = joined;
          }
          next(...failed);
        });
    },
  },
];
