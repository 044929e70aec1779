import { answer, refuse, refuseUnauthorized } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';
import { refusesKeys } from './lenient-key.ts';

const base = { area: 'api-key', severity: 'medium', forbidden: true, stage: 'checkApiKey' } as const;

/** Key checks that refuse rightly and answer wrongly. */
export const wrongKeyRefusals: readonly StageFault[] = [
  {
    ...base,
    name: 'api-key-refused-with-403',
    title: 'A wrong or missing API key is answered 403 in place of 401.',
    seen: 'API gateways, whose own key check answers 403, and frameworks that answer 403 when nobody is logged in.',
    why: 'The sender reads 401 as "wrong credentials" and tells the operator; 403 is just another failure, which is tried again.',
    fix: {
      rule: 'Answer 401 to wrong and to missing credentials alike.',
      express: 'Use `res.sendStatus(401)`. In a gateway, map the response for a missing key from 403 to 401.',
      django:
        'With REST framework, give the authentication class an `authenticate_header`: without it 401 turns into 403.',
      spring: 'Configure an `AuthenticationEntryPoint`: the default one answers 403.',
    },
    replace: refusesKeys(({ res }) => refuse(res, 403, 'forbidden')),
  },
  {
    ...base,
    name: 'api-key-missing-is-400',
    title: 'A missing API key is answered 400, and a wrong one 401.',
    seen: 'Frameworks in which the header is declared as a required parameter, so that validation answers before authentication does.',
    why: 'The sender takes a missing key for a malformed delivery, and drops it or looks for the fault in the body.',
    fix: {
      rule: 'Declare the header as optional, and let your own check answer 401.',
      express: 'Answer 401 in the branch for an absent header as well.',
      spring: 'Write `@RequestHeader(required = false)`: a required one answers 400.',
      dotnet: 'Do not mark the header parameter as required: validation answers 400 before your code runs.',
    },
    replace: refusesKeys(({ res, given }) => {
      if (given === undefined) refuse(res, 400, 'header-required');
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...base,
    name: 'api-key-missing-is-500',
    title: 'A missing API key is answered 500.',
    seen: 'Code that takes the length of the header, trims it or decodes it before asking whether it is there.',
    why: 'An unauthenticated request causes an exception: the log fills up, and monitors report an outage that is none.',
    fix: {
      rule: 'Handle an absent header first, with 401.',
      express: 'Write `const given = req.get("X-API-Key") ?? ""` before anything is done with it.',
      django: 'Use `request.headers.get("X-API-Key", "")`; indexing throws.',
      flask: 'Use `request.headers.get("X-API-Key", "")`; indexing answers 400.',
    },
    replace: refusesKeys(({ res, given, next }) => {
      if (given === undefined) next(new TypeError("Cannot read properties of undefined (reading 'length')"));
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...base,
    name: 'api-key-missing-ends-the-process',
    severity: 'critical',
    title: 'A delivery without the API key ends the process.',
    seen: 'Exceptions in a callback or an async function that nobody awaits, which end a Node process; a supervisor starts it again a moment later.',
    why: 'Anyone can switch the receiver off with one request, without any credential.',
    fix: {
      rule: 'Handle an absent header first, with 401, and let every exception of a request end in an answer.',
      express:
        'Return or await every promise of the handler; Express 5 passes their rejections on, Express 4 does not.',
    },
    replace: refusesKeys(({ res, given }, { crash }) => {
      if (given === undefined) crash(100);
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...base,
    name: 'api-key-lengths-end-the-process',
    severity: 'critical',
    title: 'A key of another length than the right one ends the process.',
    seen: '`crypto.timingSafeEqual`, which throws on unequal lengths, inside a callback that nothing guards.',
    why: 'Anyone can switch the receiver off with one request that holds any short key.',
    fix: {
      rule: 'Compare lengths before bytes, or digests of both, and let every exception of a request end in an answer.',
      express: 'Hash both sides with SHA-256 and compare the digests with `crypto.timingSafeEqual`.',
    },
    replace: refusesKeys(({ res, given, config }, { crash }) => {
      if (typeof given === 'string' && given !== '' && config.keys.every((key) => key.length !== given.length))
        crash(100);
      else refuseUnauthorized(res, 'api-key-wrong');
    }),
  },
  {
    ...base,
    name: 'api-key-refused-by-redirect',
    title: 'A wrong or missing API key is redirected to a login page.',
    seen: 'Middleware for people with browsers in front of the route: session guards of Laravel, Django, Next and many admin frameworks.',
    why: 'A redirect is no refusal: a client that follows it gets the login page with 200 and counts the delivery as accepted.',
    fix: {
      rule: 'Take the route out of everything that logs people in, and answer 401.',
      express: 'Mount the webhook route before the session middleware.',
      laravel: 'Register the route in `routes/api.php`: the `auth` guard redirects what does not ask for JSON.',
      django: 'Do not use `login_required` on the view.',
      dotnet: 'Do not let the cookie scheme challenge on this route: it redirects in place of 401.',
    },
    replace: refusesKeys(({ res }) => answer(res, 302, {}, { Location: '/login' })),
  },
  {
    ...base,
    name: 'api-key-refused-by-hanging-up',
    title: 'On a wrong or missing API key the connection is closed without an answer.',
    seen: 'Proxies that are told to drop unwanted requests (444 in nginx), intrusion prevention, and handlers that destroy the socket.',
    why: 'The sender sees a broken connection, not a wrong key, and tries again; a mistake in the configuration looks like a broken network.',
    fix: {
      rule: 'Answer 401. Whoever has a wrong key may be your sender after a rotation.',
      express: 'Use `res.sendStatus(401)` and let the server end the connection.',
    },
    replace: refusesKeys(({ req }) => void req.socket.destroy()),
  },
  {
    ...base,
    name: 'api-key-refused-with-200',
    severity: 'critical',
    title: 'A wrong or missing API key is answered 200 with an error in the body.',
    seen: 'Remote procedure styles and low-code tools in which the status is always 200, and receivers that acknowledge first and check later.',
    why: 'For the sender 200 means accepted. A delivery that was thrown away counts as done and never comes again.',
    fix: {
      rule: 'Say it with the status: 401 for wrong credentials.',
      express: 'Set the status before the body: `res.status(401).json({ error: "unauthorized" })`.',
    },
    replace: refusesKeys(({ res }) => answer(res, 200, { error: 'unauthorized' })),
  },
];
