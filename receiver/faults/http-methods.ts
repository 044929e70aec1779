import { answer } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';

// That other methods are no deliveries is good practice, and not a rule of the specification.
const base = { area: 'http', severity: 'low', forbidden: false, stage: 'accept' } as const;

const POST_ONLY = {
  rule: 'Register the handler for POST alone, and answer 405 with Allow: POST to the rest.',
  express:
    'Use `app.post(path, handler)`, and behind it `app.all(path, (req, res) => res.set("Allow", "POST").sendStatus(405))`.',
  django: 'Put `@require_POST` on the view.',
  flask: 'Name the methods in the route: `methods=["POST"]`.',
  spring: 'Use `@PostMapping` in place of `@RequestMapping`.',
  go: 'Write the method into the pattern: `mux.HandleFunc("POST /webhooks", handle)`.',
} as const;

/** Receivers that do not take POST alone. */
export const methodFaults: readonly StageFault[] = [
  {
    ...base,
    name: 'takes-every-method',
    title: 'The handler runs for every method, and a delivery by PUT or DELETE is accepted like one by POST.',
    seen: 'Routes that were registered for all methods, and functions behind a gateway that never look at the method.',
    why: 'Rules of firewalls and limits are mostly made for POST, so there is a second way in that nobody watches.',
    fix: POST_ONLY,
    replace: () => (_req, _res, next) => next(),
  },
  {
    ...base,
    name: 'greets-get-with-200',
    title: 'GET and HEAD at the endpoint are answered 200.',
    seen: 'Health pages ("webhook is up") at the very path of the endpoint, and start pages that answer every GET.',
    why: 'A client that turns a redirected POST into a GET takes the greeting for acceptance, and a wrong URL looks right in the browser.',
    fix: { ...POST_ONLY, rule: 'Answer 404 or 405 to GET at this path, and put the health check at another one.' },
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.method === 'GET' || req.method === 'HEAD' ? answer(res, 200, { up: true }) : right.accept(req, res, next),
  },
  {
    ...base,
    name: 'fails-on-other-methods',
    title: 'A method other than POST is answered 500.',
    seen: 'Tables of handlers that are indexed by the method, and handlers that read a body which a GET does not have.',
    why: 'Scanners and link checkers come by every day. Each visit is an exception in the log and an alarm in the monitoring.',
    fix: POST_ONLY,
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.method === 'POST'
          ? right.accept(req, res, next)
          : next(new TypeError('handlers[method] is not a function')),
  },
  {
    ...base,
    name: 'fails-on-options',
    title: 'OPTIONS is answered 500.',
    seen: 'Code for cross-origin requests that parses the Origin header without asking whether there is one.',
    why: 'Scanners send OPTIONS to everything, and each of them is an exception in the log.',
    fix: {
      rule: 'Answer OPTIONS with 204 or 405, and leave code for browsers off this route: no delivery comes from one.',
      express: 'Mount `cors()` on the routes for browsers only, not on the whole application.',
    },
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.method === 'OPTIONS' ? next(new TypeError('Invalid URL')) : right.accept(req, res, next),
  },
  {
    ...base,
    name: 'hangs-on-head',
    title: 'HEAD is never answered.',
    seen: 'Handlers that wait for a body which a HEAD does not have, and frameworks whose handler for GET streams without an end.',
    why: 'Every link checker and monitor that asks with HEAD holds a connection and a worker until its time limit.',
    fix: { ...POST_ONLY, rule: 'Answer 405 to HEAD, before anything waits for a body.' },
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (req.method !== 'HEAD') right.accept(req, res, next);
      },
  },
  {
    ...base,
    name: 'takes-method-from-override',
    title: 'X-HTTP-Method-Override decides what the method is, so a GET that claims to be a POST is accepted.',
    seen: 'Middleware for HTML forms, which can send GET and POST only, that stands before all routes.',
    why: 'Firewalls, limits and caches look at the real method. A GET is repeated at will, and its answer may be kept.',
    fix: {
      rule: 'Leave overriding off for this route, or let it change POST only.',
      express:
        'Do not mount `method-override` here; its default changes POST only, so leave `methods` alone elsewhere.',
    },
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.headers['x-http-method-override'] === 'POST' ? next() : right.accept(req, res, next),
  },
];
