import { required } from '../stages/stage.ts';
import type { StageFault } from './fault.ts';
import { alsoAccepts } from './lenient-key.ts';

const base = { area: 'api-key', severity: 'critical', forbidden: true, stage: 'checkApiKey' } as const;

const ALWAYS = {
  rule: 'Ask for the key on every delivery, before anything in it decides what happens next.',
  express:
    'Put the check into a middleware that stands before every handler of the route, with no condition around it.',
} as const;

/** Deliveries that pass although nobody has looked at their API key. */
export const uncheckedKeys: readonly StageFault[] = [
  {
    ...base,
    name: 'api-key-not-checked',
    title: 'The API key is not checked at all.',
    seen: 'Receivers that began with the signature alone and had the key configured later, and receivers that leave the key to a gateway which is not in the path.',
    why: 'Turning the key on protects nothing, and a key that was revoked goes on working.',
    fix: {
      rule: 'Compare the configured header with the stored key on every delivery, beside the signature, and answer 401 unless both are right.',
      express: 'Add a middleware before the handler that compares `req.get("X-API-Key")` with the stored key.',
      spring:
        'Add a filter for the route to the security chain; an annotation on a class that is not proxied does nothing.',
      laravel: 'Name the middleware in the route or group; one that is only registered does not run.',
    },
    replace: () => (_req, _res, next) => next(),
  },
  {
    ...base,
    name: 'api-key-missing-accepted',
    title: 'A delivery without the API key header is accepted; a wrong key is refused.',
    seen: 'Code of the form `if (key && key !== stored) refuse`, and middleware that is written as optional authentication.',
    why: 'Whoever leaves the header out is let in, so the check stops only those who are honest about their wrong key.',
    fix: {
      rule: 'Treat an absent header like a wrong key.',
      express: 'Write `if (req.get("X-API-Key") !== stored) return res.sendStatus(401)`, without a test for presence.',
      go: '`r.Header.Get` gives an empty text for an absent header: refuse it before you compare.',
    },
    replace: alsoAccepts(({ given }) => given === undefined),
  },
  {
    ...base,
    name: 'api-key-empty-accepted',
    title: 'An empty API key header is accepted.',
    seen: 'Receivers whose stored key comes from a variable that was not set, so that empty is compared with empty; gateways that test only whether the header is there.',
    why: 'One deployment without the variable opens the endpoint, and no log says so.',
    fix: {
      rule: 'Refuse to start without a key, and refuse an empty header before comparing.',
      express: 'Check `process.env.WEBHOOK_API_KEY` once at start-up and throw when it is empty.',
    },
    replace: alsoAccepts(({ given }) => given === ''),
  },
  {
    ...base,
    name: 'api-key-any-accepted',
    title: 'Any text is accepted as API key, as long as there is one.',
    seen: 'Placeholders such as `if (req.headers["x-api-key"]) next()` that were never finished, and gateways whose rule is "header present".',
    why: 'The endpoint looks protected in every test that leaves the key out, and is open to everybody who sends a letter.',
    fix: {
      rule: 'Compare the value. That a header is there proves nothing.',
      express: 'Replace the test for presence by a comparison with the stored key.',
    },
    replace: alsoAccepts(({ given }) => typeof given === 'string' && given !== ''),
  },
  {
    ...base,
    name: 'api-key-not-checked-for-later-types',
    title: 'The API key is checked for CAAS notifications only; the other types pass without one.',
    seen: 'Receivers with a branch or route for each type, of which only the first had the key check when the others were copied.',
    why: 'A deposit or a new wallet can be reported without the key, although every test with an order is refused.',
    fix: ALWAYS,
    replace: alsoAccepts(({ res }) => {
      try {
        const value: unknown = JSON.parse(required(res, 'rawBody').toString('utf8'));
        return typeof value === 'object' && value !== null && 'type' in value && value.type !== 'CAAS';
      } catch {
        return false;
      }
    }),
  },
  {
    ...base,
    name: 'api-key-not-checked-on-large-bodies',
    title: 'A delivery of more than 64 kB passes without a look at its API key.',
    seen: 'Firewalls and gateways that inspect requests up to a buffer size and wave the rest through, with an application behind them that relies on it.',
    why: 'Padding a notification is enough to get around the check.',
    fix: {
      ...ALWAYS,
      rule: 'Check the key in the receiver itself: it stands in the headers and does not depend on the size of the body. Have the gateway refuse what it cannot inspect.',
    },
    replace: alsoAccepts(({ res }) => required(res, 'rawBody').length > 64 * 1024),
  },
  {
    ...base,
    name: 'api-key-not-checked-for-local-claims',
    title: 'A delivery that names 127.0.0.1 in X-Forwarded-For needs no API key.',
    seen: 'Exceptions for health checks and for tests on the own machine, with an address that is taken from a header.',
    why: 'Everyone can write that header, so the exception holds for everyone.',
    fix: {
      rule: 'Make no exception by address on this route.',
      express: 'Do not branch on `req.ip` with `trust proxy` set to true: it is then what the request says.',
      django: 'Do not derive trust from `HTTP_X_FORWARDED_FOR`; only your own proxy may set it.',
    },
    replace: alsoAccepts(({ req }) => req.headers['x-forwarded-for']?.includes('127.0.0.1') === true),
  },
  {
    ...base,
    name: 'api-key-not-checked-in-test-mode',
    title: 'A delivery with a test parameter in its query needs no API key.',
    seen: 'Switches such as `?test=true` or `?debug=1` that were added for trials by hand and stayed.',
    why: 'Whoever guesses the parameter delivers without the key.',
    fix: {
      rule: 'Delete the switch, and send test deliveries with the key.',
      express: 'Remove every use of `req.query` from the condition around the check.',
    },
    replace: alsoAccepts(({ req }) => ['test', 'debug', 'skip'].some((name) => req.query[name] !== undefined)),
  },
  {
    ...base,
    name: 'api-key-not-checked-with-charset',
    title: 'The API key is checked only when Content-Type is exactly application/json.',
    seen: 'Authentication that hangs on a body parser or a consumer with an exact media type, while a fallback handler takes the rest.',
    why: 'A charset behind the media type, which is as good as none, turns the check off.',
    fix: {
      ...ALWAYS,
      spring: 'Do not attach the check to a mapping with `consumes`: a second mapping without it is another way in.',
    },
    replace: alsoAccepts(({ req }) => req.headers['content-type'] !== 'application/json'),
  },
  {
    ...base,
    name: 'api-key-checked-after-parsing',
    severity: 'low',
    forbidden: false,
    title: 'The API key is checked after the body was parsed, so a malformed delivery without a key gets 400.',
    seen: 'Receivers with a global JSON parser before their authentication, which is how most frameworks are set up by default.',
    why: 'Strangers reach the parser without a key, can keep it busy, and learn from the answer how the endpoint works.',
    fix: {
      rule: 'Check the key from the headers, before the body is parsed.',
      express: 'Mount the key check before `express.json()`.',
      fastify: 'Check in an `onRequest` hook: `preHandler` runs after the body was parsed.',
      spring: 'Check in a filter, which runs before the body is mapped to an argument.',
      dotnet: 'Check in middleware or an authorisation filter, which run before model binding.',
    },
    replace:
      ({ right }) =>
      (req, res, next) => {
        // The signature comes first here, so that its own check stays as it is.
        right.verifySignature(req, res, (refused) => {
          if (refused !== undefined) return next(refused);
          right.parse(req, res, (failed) => (failed === undefined ? right.checkApiKey(req, res, next) : next(failed)));
        });
      },
  },
];
