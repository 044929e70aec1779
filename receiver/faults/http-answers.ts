/** Mutants that answer with the wrong status or handle connections incorrectly. */
import type { Socket } from 'node:net';
import { requestHeader } from '../stages/request-header.ts';
import { answer, refuse, required, type Stage } from '../stages/stage.ts';
import { verifySignature as verify } from '../verify-signature.ts';
import type { StageFault } from './fault.ts';

const STATUS = { area: 'http', severity: 'high', forbidden: true } as const;

const AFTER_ACCEPTING = {
  rule: 'Answer exactly 200 as soon as the notification is stored.',
  express: 'Use `res.status(200).end()`, also where the work goes on in a queue.',
  fastify: 'Set `reply.code(200)`; an empty answer of a handler becomes 200 or 204 by what it returns.',
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
  stage: 'verifySignature',
} as const;

const ANSWER_401 = {
  rule: 'Answer 401 to every wrong or missing signature, by one function for all of them.',
  express: 'Use `res.sendStatus(401)`, and an error handler that knows the error of the check.',
  fastify: 'Use `reply.code(401).send()`, or an error with `statusCode` 401.',
  django: 'Return `HttpResponse(status=401)`; `PermissionDenied` and `SuspiciousOperation` become 403 and 400.',
  spring: 'Throw `ResponseStatusException(UNAUTHORIZED)`, and set an `AuthenticationEntryPoint`: the default is 403.',
  rails: 'Use `head :unauthorized`.',
  dotnet: 'Return `Unauthorized()`, not `Forbid()` or `BadRequest()`.',
} as const;

/** The right check of the signature, with another end for what it refuses. */
function refusing(refuseWrong: (res: Parameters<Stage>[1]) => void): StageFault['replace'] {
  return ({ right, config }) =>
    config.signing === undefined
      ? right.verifySignature
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

/** What does not fit into the buffers of a connection, and is still on its way when an early answer is given. */
const LARGE = 256 * 1024;

const DRAIN = {
  rule: 'Read or throw away the whole body before you answer, or answer with Connection: close and go on reading for a while.',
  express: 'Call `req.resume()` when you answer early, and do not destroy the socket.',
  fastify: 'Check credentials in a hook after the body was parsed, or set Connection: close with the answer.',
  go: 'The server throws away up to 256 kB by itself and closes after more: read the body with a limit first.',
} as const;

const NO_SHARED_STATE = {
  rule: 'Keep what belongs to a request in the request: no variable of the module, of the class or of the connection.',
  express: 'Use `res.locals` or properties of `req`.',
  spring: 'Controllers and filters are singletons: have no fields in them that change.',
  dotnet: 'Register what holds state per request as scoped, not as singleton.',
} as const;

export const httpAnswersFaults: readonly StageFault[] = [
  // Receivers that answer with the wrong status, whatever was checked.
  {
    ...STATUS,
    name: 'accepts-with-another-2xx',
    title: 'An accepted notification is answered 204 in place of 200.',
    seen: 'Frameworks that answer 201, 202 or 204 by themselves for a POST or an empty answer, and handlers that hand over to a queue and say 202.',
    why: 'Only 200 is agreed to mean accepted. Every notification counts as failed, is sent again, and the endpoint may be switched off.',
    fix: AFTER_ACCEPTING,
    stage: 'reply',
    replace: () => (_req, res) => void res.writeHead(204).end(),
  },
  {
    ...STATUS,
    name: 'accepts-unhandled-kinds-with-202',
    severity: 'medium',
    title: 'A kind of notification without a handler of its own is answered 202 in place of 200.',
    seen: 'Receivers that say "noted" to what they do not process, and libraries that answer 202 or 204 when no handler is registered.',
    why: 'Only 200 means accepted. What you do not care about is sent to you again and again.',
    fix: AFTER_ACCEPTING,
    stage: 'reply',
    replace:
      ({ right }) =>
      (req, res, next) => {
        const { kind } = required(res, 'notification');
        if (kind === 'CAAS_BUY' || kind === 'CAAS_SELL') return right.reply(req, res, next);
        answer(res, 202, { status: 'ignored' });
      },
  },
  {
    ...STATUS,
    name: 'answers-200-to-everything',
    severity: 'critical',
    title: 'Every request is answered 200, whatever it is.',
    seen: 'Placeholders that were deployed first, tunnels and catch-all pages, single-page applications that answer every path with their start page, and login pages that come with 200.',
    why: 'Forged deliveries look accepted, and so do right ones that nobody has read: the sender counts them as done.',
    fix: {
      rule: 'Answer 200 only after the credentials were checked and the notification was stored; 401, 400 and 405 otherwise.',
      express: 'Look for a catch-all route or a static fallback before the webhook route.',
      laravel: 'Return the status of the failure: a caught exception must not end in an empty 200.',
    },
    stage: 'accept',
    replace: () => ANSWER_EVERYTHING,
  },
  {
    ...STATUS,
    name: 'answers-401-to-everything',
    title: 'Every delivery is answered 401, a right one too.',
    seen: 'Endpoints whose secret or key differs from the registered one, lookups of headers by a name in capitals in a map of lower-case names, and a general login guard in front of the route.',
    why: 'No notification arrives. After some days of failures the endpoint may be switched off.',
    fix: {
      rule: 'Compare secret, key and header names on both sides, and take general authentication off this route.',
      express:
        'Read headers with `req.get(name)`: `req.headers["X-Service-Signature"]` is always undefined, because Node writes names in lower case.',
      django: 'Names in `request.META` are in capitals with HTTP_ before them; `request.headers` takes any spelling.',
    },
    stage: 'verifySignature',
    replace: () => (_req, res) => answer(res, 401, { error: 'unauthorized' }),
  },
  {
    ...STATUS,
    name: 'redirects-every-delivery',
    title: 'Every delivery is redirected, for example to a login page or to the address with a slash at its end.',
    seen: 'Login middleware in front of the route, redirects from http to https, and routers that add or remove the last slash (APPEND_SLASH in Django, strict slashes in others).',
    why: 'A sender does not follow redirects, and a client that does turns the POST into a GET of the login page and takes its 200 for acceptance.',
    fix: {
      rule: 'Register the final URL, and take the route out of whatever logs people in.',
      express: 'Mount the route before session middleware, and keep `express-slash` and the like away from it.',
      django: 'Give the URL pattern the slash that is registered, and exempt the view from login middleware.',
      laravel: 'Register the route in `routes/api.php`, outside of the `auth` group.',
      spring: 'Add the path to `permitAll()` of the security chain; the form login redirects what is not.',
    },
    stage: 'accept',
    replace: () => (_req, res) => answer(res, 302, {}, { Location: '/login' }),
  },
  {
    ...STATUS,
    name: 'answers-403-to-everything',
    title: 'Every delivery is answered 403, a right one too.',
    seen: 'Protection against forged form posts (CSRF) that wants a token from a browser, firewalls that take a machine for an attack, and lists of permitted addresses without those of the sender.',
    why: 'No notification arrives, and the handler, its log included, never sees one.',
    fix: {
      rule: 'Take the route out of the protection of forms, and let the sender through the firewall. The signature is the protection.',
      express: 'Mount the route before `csurf` and the like.',
      django: 'Put `@csrf_exempt` on the view.',
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
    title: 'At the registered URL nothing is found: every delivery is answered 404.',
    seen: 'Proxies that remove or keep a prefix of the path, routes with or without the last slash, and routes that were not deployed yet.',
    why: 'No notification arrives. After some days of failures the endpoint may be switched off.',
    fix: {
      rule: 'Register the URL as it is from outside, and try it with curl from there.',
      express: 'Log `req.originalUrl` at the very front of the app; `strict routing` decides about the last slash.',
    },
    stage: 'accept',
    replace: () => (_req, res) => answer(res, 404, { error: 'not-found' }),
  },
  {
    ...STATUS,
    name: 'accepted-never-answered',
    title: 'An accepted notification is never answered.',
    seen: 'Handlers that wait for work which takes minutes, or on one of whose paths nothing ends the response.',
    why: 'The sender gives up after its time limit and sends the same again, although all was done.',
    fix: {
      ...AFTER_ACCEPTING,
      express: 'End every path with `res.status(200).end()`, and do the work after that.',
    },
    stage: 'reply',
    replace: () => () => {},
  },
  {
    ...STATUS,
    name: 'acknowledges-before-checking',
    severity: 'critical',
    title: 'Every POST is answered 200 at once, and checked after that.',
    seen: 'Low-code tools and queues that answer by themselves before your steps run, and advice to answer quickly that was taken too far.',
    why: "The sender never learns that its deliveries are refused or lost, and never sends them again. A wrong secret shows in nobody's statistics.",
    fix: {
      rule: 'Check the credentials before the answer: it takes less than a millisecond. Put the work behind it, not the check.',
      express: 'Call `res.sendStatus(200)` after the check and after the notification was stored.',
    },
    stage: 'accept',
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.method === 'POST' ? answer(res, 200, {}) : right.accept(req, res, next),
  },
  // Receivers that refuse a wrong signature, and say so with the wrong answer.
  {
    ...REFUSAL,
    name: 'refuses-with-400',
    title: 'A wrong or missing signature is answered 400.',
    seen: 'Most tutorials, and the documentation of well-known services, answer 400 when the signature does not match.',
    why: 'The contract says 401. With 400 the sender takes its own payload for broken and looks in the wrong place.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 400, { error: 'bad-request' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-403',
    title: 'A wrong or missing signature is answered 403.',
    seen: 'Gateways and security frameworks whose word for "not you" is 403, and middleware of tunnels.',
    why: 'The contract says 401. A sender takes 403 for a firewall and not for a wrong secret.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 403, { error: 'forbidden' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-404',
    title: 'A wrong or missing signature is answered 404.',
    seen: 'Endpoints that hide from those who have no credentials, and rules that are matched together with the route.',
    why: 'The sender takes the URL for wrong, and not the secret.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 404, { error: 'not-found' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-500',
    severity: 'high',
    title: 'A wrong or missing signature is answered 500.',
    seen: 'Checks that throw on a mismatch, in frameworks that make 500 of an exception, and daemons that do it by default.',
    why: 'The sender takes it for an outage and repeats a delivery for hours that can never be accepted.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 500, { error: 'internal' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-with-200',
    severity: 'critical',
    title: 'A wrong or missing signature is answered 200, with the refusal in the body only.',
    seen: 'Low-code tools, frameworks whose answers are 200 unless told otherwise, and advice to tell a forger nothing.',
    why: 'From outside it cannot be told from accepting. The sender counts the delivery as done, and with a wrong secret all of them are lost.',
    fix: ANSWER_401,
    replace: refusing((res) => answer(res, 200, { error: 'unauthorized' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-by-redirect',
    title: 'A wrong or missing signature is answered with a redirect to a login page.',
    seen: 'Frameworks whose way to say "not authenticated" is made for browsers: a challenge of the cookie scheme, a session guard, an error handler that redirects.',
    why: 'The sender does not see that its credentials are wrong. A client that follows the redirect gets a page with 200.',
    fix: {
      rule: 'Answer 401 yourself, and do not leave it to the error handling for pages.',
      express: 'Use `res.sendStatus(401)` in the check, not `next(error)` into a handler for pages.',
      laravel: 'Use `abort(401)`; an `AuthenticationException` redirects what does not ask for JSON.',
      dotnet: 'Return `Unauthorized()` rather than `Challenge()`.',
    },
    replace: refusing((res) => answer(res, 302, {}, { Location: '/login' })),
  },
  {
    ...REFUSAL,
    name: 'refuses-by-hanging-up',
    title: 'On a wrong or missing signature the connection is closed without an answer.',
    seen: 'Handlers that destroy the socket "to save resources", proxies that drop requests (444 in nginx), and workers that end with an exception below the server.',
    why: 'The sender sees a broken network in place of wrong credentials, and tries again for hours.',
    fix: {
      rule: 'Let every path through the handler end in an answer; wrong credentials in 401.',
      express: 'Use `res.sendStatus(401)`; do not call `req.destroy()`.',
    },
    replace: refusing((res) => void res.socket?.destroy()),
  },
  // Receivers in which one request disturbs another, on the same connection or at the same time.
  {
    ...STATUS,
    name: 'early-refusal-lost-in-reset',
    severity: 'low',
    forbidden: false,
    title:
      'A wrong API key is refused before the body is read and the connection closed at once, so with a large body the sender gets a reset.',
    seen: 'Checks of the key in a gateway or in a hook that ends the connection with its answer.',
    why: 'The sender sees a broken network in place of a wrong key, and tries again for hours.',
    fix: DRAIN,
    needs: ['api-key'],
    stage: 'accept',
    replace:
      ({ right, config }) =>
      (req, res, next) => {
        const keys: readonly unknown[] = config.apiKey?.keys ?? [];
        const wrong = !keys.includes(requestHeader(req, config.apiKey?.header ?? ''));
        // Closing a socket with unread bytes in it resets it, and the reset overtakes the answer.
        if (config.apiKey !== undefined && wrong && Number(req.headers['content-length']) > LARGE) req.socket.destroy();
        else right.accept(req, res, next);
      },
  },
  {
    ...STATUS,
    name: 'refused-body-left-on-connection',
    title:
      'The large body of a refused delivery is left unread, and the next request on the connection is answered 400.',
    seen: 'Servers that answer early and keep the connection: they take the rest of the body for the next request line.',
    why: 'One refused delivery makes a right one fail, and in the log of the receiver it looks like broken HTTP.',
    fix: DRAIN,
    stage: 'accept',
    replace({ right }) {
      const spoilt = new WeakSet<Socket>();
      return (req, res, next) => {
        if (spoilt.has(req.socket)) return refuse(res, 400, 'bad-request', { headers: { Connection: 'close' } });
        res.once('finish', () => {
          if (res.statusCode === 401 && Number(req.headers['content-length']) > LARGE) spoilt.add(req.socket);
        });
        return right.accept(req, res, next);
      };
    },
  },
  {
    ...STATUS,
    name: 'body-joined-to-previous',
    title:
      'The bytes of a body are put behind those of the previous one on the same connection, so a right signature gets 401.',
    seen: 'Home-made servers with one buffer for a connection that is not emptied between requests.',
    why: 'The first delivery on a connection is accepted and every other refused, so it works in a test with curl.',
    fix: NO_SHARED_STATE,
    stage: 'readBody',
    replace({ right }) {
      const buffers = new WeakMap<Socket, Buffer>();
      return (req, res, next) =>
        right.readBody(req, res, (...failed) => {
          if (res.locals.rawBody !== undefined) {
            const before = buffers.get(req.socket) ?? Buffer.alloc(0);
            // A megabyte is enough: after that this fault has shown itself.
            const joined = Buffer.concat([before.subarray(0, 1024 * 1024), res.locals.rawBody]);
            buffers.set(req.socket, joined);
            res.locals.rawBody = joined;
          }
          next(...failed);
        });
    },
  },
];
