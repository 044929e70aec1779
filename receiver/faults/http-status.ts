import { answer, required, type Stage } from '../stages/stage.ts';
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
    ...base,
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
    ...base,
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
    ...base,
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
];
