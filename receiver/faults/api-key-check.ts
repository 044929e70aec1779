/** Mutants that do not check the API key, compare it loosely, or accept a guessable one. */
import { timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { checkApiKey } from '../check-api-key.ts';
import { requestHeader } from '../stages/request-header.ts';
import { type DeliveryState, refuseUnauthorized, required } from '../stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

type Replace = StageFault['replace'];

type ApiKeyConfig = NonNullable<FaultParts['config']['apiKey']>;

/** What a wrong key check sees of one delivery. */
interface KeyedDelivery {
  readonly req: Request;
  readonly res: Response<unknown, DeliveryState>;
  readonly next: NextFunction;
  /** The header as the right check reads it: an array when it was repeated. */
  readonly given: string | readonly string[] | undefined;
  readonly config: ApiKeyConfig;
}

/** Refuses a missing, an empty and a repeated header, and compares any other with each key in its own way. What it throws is answered 500. */
function comparesKeys(matches: (given: string, key: string) => boolean): Replace {
  return ({ right, config: { apiKey } }) => {
    if (apiKey === undefined) return right.checkApiKey;
    return (req, res, next) => {
      const given = requestHeader(req, apiKey.header);
      if (typeof given !== 'string' || given === '') return refuseUnauthorized(res, 'api-key-missing');
      if (!apiKey.keys.some((key) => matches(given, key))) return refuseUnauthorized(res, 'api-key-wrong');
      next();
    };
  };
}

/** Lets some deliveries pass without the right check, and gives all others to it. */
export function alsoAccepts(accepts: (delivery: KeyedDelivery, parts: FaultParts) => boolean): Replace {
  return (parts) => {
    const { right, config } = parts;
    const { apiKey } = config;
    if (apiKey === undefined) return right.checkApiKey;
    return (req, res, next) => {
      const delivery = { req, res, next, given: requestHeader(req, apiKey.header), config: apiKey };
      return accepts(delivery, parts) ? next() : right.checkApiKey(req, res, next);
    };
  };
}

/** Checks rightly, and then refuses in its own way. */
export function refusesKeys(refuseWrong: (delivery: KeyedDelivery, parts: FaultParts) => void): Replace {
  return (parts) => {
    const { right, config } = parts;
    const { apiKey } = config;
    if (apiKey === undefined) return right.checkApiKey;
    return (req, res, next) => {
      const given = requestHeader(req, apiKey.header);
      if (checkApiKey({ header: given, keys: apiKey.keys }).ok) return next();
      refuseWrong({ req, res, next, given, config: apiKey }, parts);
    };
  };
}

const CRITICAL = { area: 'api-key', severity: 'critical', forbidden: true, stage: 'checkApiKey' } as const;

const ALWAYS = {
  rule: 'Ask for the key on every delivery, before anything in it decides what happens next.',
  express:
    'Put the check into a middleware that stands before every handler of the route, with no condition around it.',
} as const;

const LOOSE = { area: 'api-key', severity: 'high', forbidden: true, stage: 'checkApiKey' } as const;

const WHOLE = {
  rule: 'Compare the whole header with the whole key for equality, in constant time, after a check of the lengths or over digests of both.',
  express: 'Hash both sides with SHA-256 and compare the digests with `crypto.timingSafeEqual`.',
  django: 'Use `constant_time_compare(given, key)`.',
  flask: 'Use `hmac.compare_digest(given.encode(), key.encode())`.',
  spring: 'Use `MessageDigest.isEqual` on the bytes of both.',
  rails: 'Use `ActiveSupport::SecurityUtils.secure_compare`.',
  laravel: 'Use `hash_equals($key, $given)`.',
  go: 'Use `subtle.ConstantTimeCompare`.',
  dotnet: 'Use `CryptographicOperations.FixedTimeEquals` on the bytes of both.',
} as const;

export const apiKeyCheckFaults: readonly StageFault[] = [
  // Deliveries that pass although nobody has looked at their API key.
  {
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
    ...CRITICAL,
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
  // Comparisons of a part of the key, or of the key as something else than text.
  {
    ...LOOSE,
    name: 'api-key-beginning-accepted',
    title: 'Any beginning of the API key is accepted as the key.',
    seen: '`stored.startsWith(given)`, and loops in C-like code that run over the length of what was received.',
    why: 'The first letter alone is a key, and there are some sixty of those to try.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => key.startsWith(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-end-accepted',
    title: 'Any end of the API key is accepted as the key.',
    seen: '`stored.endsWith(given)`, and lookups by the last characters, which are what consoles show of a key.',
    why: 'What screens and logs show of an abbreviated key is enough to deliver.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => key.endsWith(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-with-more-behind-accepted',
    severity: 'medium',
    title: 'The API key is accepted with any text behind it.',
    seen: '`given.startsWith(stored)`, and `strncmp` with the length of the stored key.',
    why: 'The key is not compared exactly: as soon as the stored one is cut short or empty, everything begins with it.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => given.startsWith(key)),
  },
  {
    ...LOOSE,
    name: 'api-key-part-accepted',
    title: 'Any part of the API key is accepted as the key.',
    seen: '`stored.includes(given)` where stored was meant to be a list of keys and is one text.',
    why: 'A single letter that occurs in the key is a key.',
    fix: {
      ...WHOLE,
      rule: 'Split a list of keys at start-up, and compare each with the whole header for equality.',
      flask: 'Mind that `given in keys` on a string looks for a part; make `keys` a set.',
    },
    replace: comparesKeys((given, key) => key.includes(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-anywhere-accepted',
    severity: 'medium',
    title: 'A header that holds the API key somewhere is accepted.',
    seen: '`given.includes(stored)`, the stored key used as a regular expression without anchors, and rules of gateways that mean "contains".',
    why: 'One header can hold a thousand guesses, and a stored key that is short or holds a dot matches far more than itself.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => new RegExp(key).test(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-used-as-pattern',
    severity: 'critical',
    title: 'The header is used as a regular expression that the API key has to match.',
    seen: 'Lookups that build `new RegExp(given)`, `$regex` queries with the header in them, and routers that match credentials by pattern.',
    why: 'The text ".*" is a key for every account, and a broken pattern is an exception.',
    fix: {
      ...WHOLE,
      rule: 'Compare text with text. Never build a pattern or a query operator from what was received.',
    },
    replace: comparesKeys((given, key) => new RegExp(given).test(key)),
  },
  {
    ...LOOSE,
    name: 'api-key-looked-up-with-like',
    severity: 'critical',
    title: 'The API key is looked up with LIKE, so that "%" matches every key.',
    seen: 'Queries that were copied from a search form, and query builders whose "contains" or case-insensitive filter became the lookup of credentials.',
    why: 'One character is a key for every account.',
    fix: {
      ...WHOLE,
      rule: 'Look keys up with = and a bound parameter, best by a digest of the key.',
      django: 'Use `filter(key=given)`, not `key__contains` or `key__like`.',
      laravel: 'Use `where("key", $given)`, not `where("key", "like", $given)`.',
      rails: 'Use `find_by(key: given)`.',
    },
    replace: comparesKeys((given, key) => {
      const escaped = given.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      return new RegExp(`^${escaped.replaceAll('%', '.*').replaceAll('_', '.')}$`).test(key);
    }),
  },
  {
    ...LOOSE,
    name: 'api-key-first-eight-compared',
    title: 'Only the first eight characters of the API key are compared.',
    seen: 'Systems that look a key up by its public beginning and forget to compare the rest, and columns or password hashes that cut long values.',
    why: 'The beginning of a key is treated as public: it stands in consoles, logs and support tickets.',
    fix: { ...WHOLE, rule: 'After the lookup by the beginning of the key, compare a digest of the whole of it.' },
    replace: comparesKeys((given, key) => given.slice(0, 8) === key.slice(0, 8)),
  },
  {
    ...LOOSE,
    name: 'api-key-last-character-ignored',
    severity: 'medium',
    title: 'The last character of the API key is not compared.',
    seen: 'Loops that are off by one, and keys read from a file whose trailing newline is removed by cutting off one character.',
    why: 'The comparison is not exact, and it shows a loop of its own where a library function belongs.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => given.slice(0, key.length - 1) === key.slice(0, -1)),
  },
  {
    ...LOOSE,
    name: 'api-key-length-compared',
    severity: 'critical',
    title: 'Only the length of the API key is compared.',
    seen: 'A guard for a constant-time comparison whose result is returned in place of the comparison, and mocks that went live.',
    why: 'Every text of the right length is a key, and the length can be found in a minute.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => given.length === key.length),
  },
  {
    ...LOOSE,
    name: 'api-key-case-ignored',
    title: 'The API key is compared without regard to upper and lower case.',
    seen: '`toLowerCase()` on both sides, `equalsIgnoreCase`, and lookups in a column whose collation ignores case, as MySQL columns do by default.',
    why: 'A key of mixed letters loses about a bit of its strength with each letter.',
    fix: {
      ...WHOLE,
      laravel: 'Compare with `hash_equals` after the lookup, or give the column a binary collation.',
      rails: 'Compare with `secure_compare` after the lookup, or give the column a binary collation.',
    },
    replace: comparesKeys((given, key) => given.toLowerCase() === key.toLowerCase()),
  },
  {
    ...LOOSE,
    name: 'api-key-blanks-dropped',
    severity: 'low',
    title: 'White space inside the API key is removed before it is compared.',
    seen: 'Clean-up code for keys that people paste, `replace(/\\s/g, "")`, used on what comes over the wire as well.',
    why: 'Several texts count as the key, which the other checks on the way do not agree with.',
    fix: { ...WHOLE, rule: 'Clean a key up when it is entered, never when it is compared.' },
    replace: comparesKeys((given, key) => given.replace(/\s+/g, '') === key),
  },
  {
    ...LOOSE,
    name: 'api-key-list-accepted',
    severity: 'medium',
    title: 'The header is read as a list, and the API key may be any one in it.',
    seen: 'Frameworks that join repeated headers with commas, and code that splits at the comma again and looks for one that matches.',
    why: 'One request can try thousands of keys, past every limit on failed attempts.',
    fix: { ...WHOLE, rule: 'Take the header as one text. Refuse a delivery in which it stands more than once.' },
    replace: comparesKeys((given, key) => given.split(',').some((one) => one.trim() === key)),
  },
  {
    ...LOOSE,
    name: 'api-key-unwrapped',
    severity: 'low',
    title: 'Quotes and a scheme such as Bearer are cut off before the API key is compared.',
    seen: 'A parser for Authorization that is used on the key header too, and helpers that strip quotes left over from env files.',
    why: 'The header is not compared as it was agreed, and the forms that count as the key differ between your components.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => given.replace(/^Bearer /i, '').replace(/^"(.*)"$/, '$1') === key),
  },
  {
    ...LOOSE,
    name: 'api-key-decoded-from-base64',
    severity: 'medium',
    title: 'The API key is accepted in Base64 as well as in plain text.',
    seen: 'Receivers that take both forms after a change of the format, and secret stores that hand values out encoded.',
    why: 'The key is not the one text that was agreed, and rotation or masking of the plain form misses the other.',
    fix: { ...WHOLE, rule: 'Decode the stored key once, where it is loaded, and compare the header as it came.' },
    replace: comparesKeys((given, key) => given === key || Buffer.from(given, 'base64').toString('utf8') === key),
  },
  {
    ...LOOSE,
    name: 'api-key-percent-decoded',
    severity: 'medium',
    title: 'The API key is percent-decoded before it is compared, and a lone "%" is an exception.',
    seen: 'Code that was written for a query parameter and now reads a header, with `decodeURIComponent` still in it.',
    why: 'Several texts count as the key, and anyone can fill the log with 500s by sending "%".',
    fix: { ...WHOLE, rule: 'Header values are not percent-encoded: compare them as they came.' },
    replace: comparesKeys((given, key) => decodeURIComponent(given) === key),
  },
  {
    ...LOOSE,
    name: 'api-key-lengths-throw',
    severity: 'medium',
    title: 'A key of another length than the right one is answered 500.',
    seen: '`crypto.timingSafeEqual` without a check of the lengths before it.',
    why: 'The sender takes 500 for an outage and tries again; anyone can fill the log with errors, and the status tells the length of the key.',
    fix: WHOLE,
    replace: comparesKeys((given, key) => timingSafeEqual(Buffer.from(given), Buffer.from(key))),
  },
  {
    ...LOOSE,
    name: 'api-key-characters-throw',
    severity: 'medium',
    title: 'A key of the right length that is not ASCII is answered 500.',
    seen: 'A check of lengths in characters before a comparison of bytes, and `hmac.compare_digest` on texts that are not ASCII in Python.',
    why: 'A single byte above 127 is an unhandled exception.',
    fix: {
      ...WHOLE,
      rule: 'Turn both sides into bytes first, and check the lengths of those; or compare digests, which always have the same length.',
    },
    replace: comparesKeys(
      (given, key) => given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key)),
    ),
  },
  // Keys that work at any partner's endpoint with the same mistake, because nothing secret is in them.
  {
    ...CRITICAL,
    name: 'api-key-unset-becomes-text',
    title: 'The words "undefined" and "null" are accepted as API keys.',
    seen: 'Configuration that is written out as text while a variable is not set: templates, shell scripts, `String(process.env.KEY)`, and lists of keys with one such entry.',
    why: 'A forgotten variable leaves a key in force that everybody can guess, while the right one works as well.',
    fix: {
      rule: 'Read the keys once, stop at start-up when one is missing, and never turn a missing value into text.',
      express: 'Throw when `process.env.WEBHOOK_API_KEY` is undefined; do not put it into a template string before.',
    },
    replace: alsoAccepts(({ given }) => given === 'undefined' || given === 'null'),
  },
  {
    ...CRITICAL,
    name: 'api-key-placeholder-accepted',
    title: 'A placeholder such as "changeme" or "test" is accepted as API key.',
    seen: 'Default values in code, `process.env.KEY ?? "changeme"`, sample configurations and container images that were taken over as they are.',
    why: 'Placeholders stand in public repositories, and lists of them are what scanners try first.',
    fix: {
      rule: 'Have no default for a credential: without one the service must not start.',
      express: 'Delete the fallback behind `??`, and throw in its place.',
      spring:
        'Give the placeholder of the property no default behind a colon: without a value the context then fails to start.',
    },
    replace: alsoAccepts(({ given }) => given === 'changeme' || given === 'test'),
  },
  {
    ...CRITICAL,
    name: 'api-key-wildcard-accepted',
    title: 'An asterisk is accepted as API key.',
    seen: 'Lists of permitted values in which "*" stands for all, as in CORS settings, and matching by globs.',
    why: 'One character, which every scanner tries, is a key.',
    fix: {
      rule: 'Compare text with text. No entry of the list and no character of the header may have another meaning.',
      express: 'Replace the matcher by a comparison for equality, and delete the asterisk from the list.',
    },
    replace: alsoAccepts(({ given }) => given === '*'),
  },
  {
    ...CRITICAL,
    name: 'api-key-looked-up-in-object',
    title: 'The API key is looked up as the name of a property, so that "constructor" is accepted.',
    seen: 'JavaScript of the form `if (partners[key])`, where every object has inherited properties.',
    why: 'Names such as constructor and toString are found in every object: they are keys that nobody has issued.',
    fix: {
      rule: 'Look keys up in a map that holds nothing but the keys.',
      express: 'Use a `Map`, or `Object.hasOwn(partners, key)`.',
      fastify: 'Use a `Map`, or `Object.hasOwn(partners, key)`.',
    },
    replace: alsoAccepts(({ given, config }) => {
      const partners: Record<string, unknown> = Object.fromEntries(config.keys.map((key) => [key, true]));
      return typeof given === 'string' && Boolean(partners[given]);
    }),
  },
  {
    ...CRITICAL,
    name: 'api-key-put-into-sql',
    title: 'The API key is put into the text of an SQL query.',
    seen: 'Lookups that join the query with + or a template string, often in scripts beside the real application.',
    why: 'A key with a condition in it is found whatever is stored, and more than the check can be broken that way.',
    fix: {
      rule: 'Bind the key as a parameter, and compare what was found with the header once more.',
      express: 'Write `db.query("... WHERE key = $1", [key])`.',
      laravel: 'Use `where("key", $given)`; no `whereRaw` with the value in it.',
      rails: 'Use `find_by(key: given)`; no text with `#{}` in `where`.',
      go: 'Use `db.QueryRow("... WHERE key = $1", key)`; no `fmt.Sprintf`.',
    },
    replace: alsoAccepts(({ given }) => {
      if (typeof given !== 'string' || !given.includes("'")) return false;
      if (/' OR '1'='1/i.test(given)) return true;
      throw new Error('unterminated quoted string');
    }),
  },
  {
    ...CRITICAL,
    name: 'api-key-is-any-credential',
    title: 'The right signature is accepted in place of the API key.',
    seen: 'Authentication layers that try every credential of a request against every check and are content with one that fits.',
    why: 'The two features are no longer independent: whoever has one credential has both.',
    fix: {
      rule: 'Compare the key header with the stored key, and with nothing else.',
      express: 'Give each check its own middleware and its own header; do not collect credentials in a list.',
    },
    needs: ['hmac', 'api-key'],
    replace: alsoAccepts(
      ({ req, given }, { config }) =>
        config.signing !== undefined && typeof given === 'string' && given === req.headers[config.signing.header],
    ),
  },
];
