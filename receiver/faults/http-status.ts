import { requestHeader } from '../stages/request-header.ts';
import { answer, required, type Stage } from '../stages/stage.ts';
import { verifySignature as verify } from '../verify-signature.ts';
import type { StageFault } from './fault.ts';

const base = { area: 'http', severity: 'high', forbidden: true } as const;

const AFTER_ACCEPTING = {
  rule: 'Answer exactly 200 as soon as the notification is stored.',
  express: 'Use `res.status(200).end()`, also where the work goes on in a queue.',
  fastify: 'Set `reply.code(200)`; an empty answer of a handler becomes 200 or 204 by what it returns.',
  rails: 'Use `head :ok`, not `head :no_content` or `:accepted`.',
  spring: 'Return `ResponseEntity.ok()`; check `@ResponseStatus` on the method.',
  dotnet: 'Return `Ok()`, not `NoContent()`, `Accepted()` or `Created()`.',
} as const;

const ANSWER_EVERYTHING: Stage = (_req, res) => answer(res, 200, {});

/** Receivers that answer with the wrong status, whatever was checked. */
export const wrongStatuses: readonly StageFault[] = [
  {
    ...base,
    name: 'accepts-with-another-2xx',
    title: 'An accepted notification is answered 204 in place of 200.',
    seen: 'Frameworks that answer 201, 202 or 204 by themselves for a POST or an empty answer, and handlers that hand over to a queue and say 202.',
    why: 'Only 200 is agreed to mean accepted. Every notification counts as failed, is sent again, and the endpoint may be switched off.',
    fix: AFTER_ACCEPTING,
    stage: 'reply',
    replace: () => (_req, res) => void res.writeHead(204).end(),
  },
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
    name: 'refuses-by-redirect',
    severity: 'medium',
    title: 'A wrong or missing signature is answered with a redirect to a login page.',
    seen: 'Frameworks whose way to say "not authenticated" is made for browsers: a challenge of the cookie scheme, a session guard, an error handler that redirects.',
    why: 'The sender does not see that its credentials are wrong. A client that follows the redirect gets a page with 200.',
    fix: {
      rule: 'Answer 401 yourself, and do not leave it to the error handling for pages.',
      express: 'Use `res.sendStatus(401)` in the check, not `next(error)` into a handler for pages.',
      laravel: 'Use `abort(401)`; an `AuthenticationException` redirects what does not ask for JSON.',
      dotnet: 'Return `Unauthorized()` rather than `Challenge()`.',
    },
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusing((res) => answer(res, 302, {}, { Location: '/login' })),
  },
  {
    ...base,
    name: 'refuses-by-hanging-up',
    severity: 'medium',
    title: 'On a wrong or missing signature the connection is closed without an answer.',
    seen: 'Handlers that destroy the socket "to save resources", proxies that drop requests (444 in nginx), and workers that end with an exception below the server.',
    why: 'The sender sees a broken network in place of wrong credentials, and tries again for hours.',
    fix: {
      rule: 'Let every path through the handler end in an answer; wrong credentials in 401.',
      express: 'Use `res.sendStatus(401)`; do not call `req.destroy()`.',
    },
    needs: ['hmac'],
    stage: 'verifySignature',
    replace: refusing((res) => void res.socket?.destroy()),
  },
];

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
