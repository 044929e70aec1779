/** Mutants that do not check the API key, compare it loosely, or accept a guessable one. */
import { timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { checkApiKey } from '../receiver/check-api-key.ts';
import { type DeliveryState, refuseUnauthorized, requestHeader, required } from '../receiver/stages/stage.ts';
import type { FaultParts, StageFault } from './fault.ts';

type Replace = StageFault['replace'];

type ApiKeyConfig = NonNullable<FaultParts['config']['apiKey']>;

/** A delivery as a faulty key check sees it. */
interface KeyedDelivery {
  readonly req: Request;
  readonly res: Response<unknown, DeliveryState>;
  readonly next: NextFunction;
  /** The header as the correct check reads it: an array if it is repeated. */
  readonly given: string | readonly string[] | undefined;
  readonly config: ApiKeyConfig;
}

/**
 * Rejects a missing, an empty and a repeated header, and compares others with each key by `matches`. Exceptions are
 * answered 500.
 */
function compareKeys(matches: (given: string, key: string) => boolean): Replace {
  return ({ correct, config: { apiKey } }) => {
    if (apiKey === undefined) return correct.requireApiKey;
    return (req, res, next) => {
      const given = requestHeader(req, apiKey.header);
      if (typeof given !== 'string' || given === '') return refuseUnauthorized(res, 'api-key-missing');
      if (!apiKey.keys.some((key) => matches(given, key))) return refuseUnauthorized(res, 'api-key-wrong');
      next();
    };
  };
}

/** `String.hashCode()` of Java. */
const hashCode = (text: string) => [...text].reduce((sum, character) => (31 * sum + character.charCodeAt(0)) | 0, 0);

/** Accepts some deliveries without the correct check. */
export function acceptWithoutCheck(accepts: (delivery: KeyedDelivery, parts: FaultParts) => boolean): Replace {
  return (parts) => {
    const { correct, config } = parts;
    const { apiKey } = config;
    if (apiKey === undefined) return correct.requireApiKey;
    return (req, res, next) => {
      const delivery = { req, res, next, given: requestHeader(req, apiKey.header), config: apiKey };
      return accepts(delivery, parts) ? next() : correct.requireApiKey(req, res, next);
    };
  };
}

/** Checks correctly, but rejects in its own way. */
export function rejectKeys(refuseWrong: (delivery: KeyedDelivery, parts: FaultParts) => void): Replace {
  return (parts) => {
    const { correct, config } = parts;
    const { apiKey } = config;
    if (apiKey === undefined) return correct.requireApiKey;
    return (req, res, next) => {
      const given = requestHeader(req, apiKey.header);
      if (checkApiKey({ header: given, keys: apiKey.keys }).ok) return next();
      refuseWrong({ req, res, next, given, config: apiKey }, parts);
    };
  };
}

const CRITICAL = { area: 'api-key', severity: 'critical', forbidden: true, stage: 'requireApiKey' } as const;

const ALWAYS = {
  rule: 'Check the key on every delivery, before anything in it decides what happens next.',
  express: 'Use a middleware before every handler of the route, without a condition.',
} as const;

const LOOSE = { area: 'api-key', severity: 'high', forbidden: true, stage: 'requireApiKey' } as const;

const WHOLE = {
  rule:
    'Compare the whole header with the whole key in constant time, after a comparison of the lengths or over ' +
    'digests of both.',
  express: 'Hash both sides with SHA-256 and compare the digests with `crypto.timingSafeEqual`.',
  django: 'Use `constant_time_compare(given, key)`.',
  python: 'Use `hmac.compare_digest(given.encode(), key.encode())`.',
  java: 'Use `MessageDigest.isEqual` on the bytes of both.',
  ruby: 'Use `OpenSSL.secure_compare(given, key)`.',
  rails: 'Use `ActiveSupport::SecurityUtils.secure_compare`.',
  php: 'Use `hash_equals($key, $given)`.',
  go: 'Use `subtle.ConstantTimeCompare`.',
  dotnet: 'Use `CryptographicOperations.FixedTimeEquals` on the bytes of both.',
  rust: 'Use `ct_eq` of the crate `subtle` on digests of both.',
} as const;

export const apiKeyCheckFaults: readonly StageFault[] = [
  // Deliveries that are accepted without a check of their API key.
  {
    ...CRITICAL,
    name: 'api-key-not-checked',
    title: 'Does not check the API key',
    seen:
      'Receivers that started with the signature only, and receivers that leave the key to a gateway which is not ' +
      'in the path.',
    why: 'Enabling the key protects nothing, and a revoked key still works.',
    fix: {
      rule:
        'Compare the configured header with the stored key on every delivery, in addition to the signature, and ' +
        'answer 401 unless both are valid.',
      express: 'Add a middleware before the handler that compares `req.get("X-API-Key")` with the stored key.',
      spring:
        'Add a filter for the route to the security chain; an annotation on a class that is not proxied has no effect.',
      laravel: 'Assign the middleware to the route or group; registering it is not enough.',
    },
    replace: () => (_req, _res, next) => next(),
  },
  {
    ...CRITICAL,
    name: 'api-key-removed-by-connection',
    title: 'Compares no API key that the header Connection names, because a proxy removes it',
    seen: 'A gateway that checks that there is a key, and a receiver that compares the key if there is one.',
    why: 'An attacker sends any key, and names its header in Connection.',
    fix: {
      rule: 'Treat a missing key like a wrong one, in every place that checks it.',
      express: 'Remove the condition, and let the proxy remove hop-by-hop headers before it checks anything.',
    },
    replace: acceptWithoutCheck(
      ({ req, given, config: { header } }) =>
        given !== undefined && (req.get('Connection') ?? '').toLowerCase().includes(header.toLowerCase()),
    ),
  },
  {
    ...CRITICAL,
    name: 'api-key-hash-code-compared',
    title: 'Compares the hash codes of the API keys',
    seen: '`String.hashCode()` in Java, or CRC-32, as the index of a cache of valid keys.',
    why: 'Anyone can compute another text with the same 32 bits once a single key or code is known.',
    fix: { rule: 'Compare the keys, or SHA-256 digests of them, in constant time.', express: 'Use `timingSafeEqual`.' },
    equivalentTo: {
      name: 'api-key-order-ignored',
      reason: 'Both accept one of several keys in one check; the report names the delivery.',
    },
    replace: compareKeys((given, key) => hashCode(given) === hashCode(key)),
  },
  {
    ...CRITICAL,
    name: 'api-key-missing-accepted',
    title: 'Accepts a delivery without the API key header, but rejects a wrong key',
    seen: 'Code such as `if (key && key !== stored) refuse`, and middleware for optional authentication.',
    why: 'Leaving out the header is enough to get in.',
    fix: {
      rule: 'Treat a missing header like a wrong key.',
      express: 'Write `if (req.get("X-API-Key") !== stored) return res.sendStatus(401)`, without a test for presence.',
      go: '`r.Header.Get` returns an empty string for a missing header: reject it before the comparison.',
    },
    replace: acceptWithoutCheck(({ given }) => given === undefined),
  },
  {
    ...CRITICAL,
    name: 'api-key-checked-once-per-connection',
    title: 'Checks the API key only until it has been valid once on a connection',
    seen: 'Authentication that is stored with the socket or session, as in protocols with a login.',
    why: 'Behind a proxy, requests of other clients share the connections that the sender opened.',
    fix: {
      rule: 'Check the key of each delivery; a connection says nothing about who sent a request on it.',
      express: 'Do not store any authentication state in `req.socket`.',
    },
    replace: (parts) => {
      const trusted = new WeakSet<object>();
      return acceptWithoutCheck(({ req, given, config }) => {
        if (trusted.has(req.socket)) return true;
        if (typeof given === 'string' && config.keys.includes(given)) trusted.add(req.socket);
        return false;
      })(parts);
    },
  },
  {
    ...CRITICAL,
    name: 'api-key-empty-accepted',
    title: 'Accepts an empty API key header',
    seen:
      'A stored key from an unset variable, so that empty is compared with empty; gateways that only test whether ' +
      'the header is present.',
    why: 'One deployment without the variable opens the endpoint, and no log reports it.',
    fix: {
      rule: 'Refuse to start without a key, and reject an empty header before the comparison.',
      express: 'Check `process.env.WEBHOOK_API_KEY` once at start-up, and throw if it is empty.',
    },
    replace: acceptWithoutCheck(({ given }) => given === ''),
  },
  {
    ...CRITICAL,
    name: 'api-key-any-accepted',
    title: 'Accepts any text as the API key',
    seen:
      'Unfinished placeholders such as `if (req.headers["x-api-key"]) next()`, and gateways with the rule "header ' +
      'present".',
    why: 'The endpoint looks protected in every test that leaves out the key, but accepts any value.',
    fix: {
      rule: 'Compare the value; the presence of a header proves nothing.',
      express: 'Replace the test for presence with a comparison with the stored key.',
    },
    replace: acceptWithoutCheck(({ given }) => typeof given === 'string' && given !== ''),
  },
  {
    ...CRITICAL,
    name: 'api-key-not-checked-for-later-types',
    title: 'Checks the API key only for CAAS notifications',
    seen:
      'Receivers with a branch or route per type, of which only the first had the key check when the others were ' +
      'copied.',
    why: 'Deposits and wallets are accepted without the key, although every test with an order is rejected.',
    fix: ALWAYS,
    replace: acceptWithoutCheck(({ res }) => {
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
    title: 'Does not check the API key of deliveries over 64 kB',
    seen:
      'Firewalls and gateways that inspect requests up to a buffer size and let the rest pass, in front of an ' +
      'application that relies on them.',
    why: 'Padding a notification is enough to bypass the check.',
    fix: {
      ...ALWAYS,
      rule:
        'Check the key in the receiver itself: it is in the headers, so the size of the body does not matter. Let ' +
        'the gateway reject what it cannot inspect.',
    },
    replace: acceptWithoutCheck(({ res }) => required(res, 'rawBody').length > 64 * 1024),
  },
  {
    ...CRITICAL,
    name: 'api-key-not-checked-for-local-claims',
    title: 'Does not require the API key if a header such as X-Forwarded-For claims a trusted sender',
    seen: 'Exceptions for health checks and local tests that take the address from a header.',
    why: 'Anyone can set this header.',
    fix: {
      rule: 'Make no exceptions by address on this route.',
      express: 'Do not branch on `req.ip` with `trust proxy` set to true: the request then decides its value.',
      django: 'Do not trust `HTTP_X_FORWARDED_FOR`; only your own proxy may set it.',
    },
    replace: acceptWithoutCheck(({ req }) => req.headers['x-forwarded-for']?.includes('127.0.0.1') === true),
  },
  {
    ...CRITICAL,
    name: 'api-key-not-checked-in-test-mode',
    title: 'Does not require the API key with a test parameter in the query',
    seen: 'Switches such as `?test=true` or `?debug=1` that were added for manual tests and never removed.',
    why: 'Anyone who guesses the parameter can deliver without the key.',
    fix: {
      rule: 'Delete the switch, and send test deliveries with the key.',
      express: 'Remove every use of `req.query` from the condition of the check.',
    },
    replace: acceptWithoutCheck(({ req }) => ['test', 'debug', 'skip'].some((name) => req.query[name] !== undefined)),
  },
  {
    ...CRITICAL,
    name: 'api-key-not-checked-with-charset',
    title: 'Checks the API key only if Content-Type is exactly application/json',
    seen:
      'Authentication that depends on a body parser or a consumer with an exact media type, with a fallback handler ' +
      'for the rest.',
    why: 'Adding a charset to the media type disables the check.',
    fix: {
      ...ALWAYS,
      spring: 'Do not attach the check to a mapping with `consumes`: a second mapping without it bypasses the check.',
    },
    replace: acceptWithoutCheck(({ req }) => req.headers['content-type'] !== 'application/json'),
  },
  {
    ...CRITICAL,
    name: 'api-key-checked-after-parsing',
    severity: 'low',
    forbidden: false,
    title: 'Checks the API key after parsing, so a malformed delivery without a key gets 400',
    seen: 'A global JSON parser before the authentication, which is the default of most frameworks.',
    why:
      'Unauthenticated clients reach the parser, can keep it busy, and learn from the answer how the endpoint ' +
      'works.',
    fix: {
      rule: 'Check the key from the headers, before the body is parsed.',
      express: 'Mount the key check before `express.json()`.',
      fastify: 'Check in an `onRequest` hook: `preHandler` runs after the body is parsed.',
      spring: 'Check in a filter, which runs before the body is mapped to an argument.',
      dotnet: 'Check in middleware or an authorisation filter, which run before model binding.',
    },
    replace:
      ({ correct }) =>
      (req, res, next) => {
        // The signature is verified here, so that its own check is unchanged.
        correct.requireSignature(req, res, (refused) => {
          if (refused !== undefined) return next(refused);
          correct.parse(req, res, (failed) =>
            failed === undefined ? correct.requireApiKey(req, res, next) : next(failed),
          );
        });
      },
  },
  // Comparisons of a part of the key, or of the key as something other than text.
  {
    ...LOOSE,
    name: 'api-key-beginning-accepted',
    title: 'Accepts any prefix of the API key',
    seen: '`stored.startsWith(given)`, and loops in C-like code over the length of the received value.',
    why: 'The first character alone is a valid key, and there are only about sixty to try.',
    fix: WHOLE,
    replace: compareKeys((given, key) => key.startsWith(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-end-accepted',
    title: 'Accepts any suffix of the API key',
    seen: '`stored.endsWith(given)`, and lookups by the last characters, which consoles show of a key.',
    why: 'The abbreviated key that screens and logs show is enough to deliver.',
    fix: WHOLE,
    replace: compareKeys((given, key) => key.endsWith(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-with-more-behind-accepted',
    severity: 'medium',
    title: 'Accepts the API key followed by any text',
    seen: '`given.startsWith(stored)`, and `strncmp` with the length of the stored key.',
    why: 'The comparison is not exact: if the stored key is truncated or empty, everything starts with it.',
    fix: WHOLE,
    replace: compareKeys((given, key) => given.startsWith(key)),
  },
  {
    ...LOOSE,
    name: 'api-key-part-accepted',
    title: 'Accepts any substring of the API key',
    seen: '`stored.includes(given)` where stored should be a list of keys but is a string.',
    why: 'A single letter that occurs in the key is a valid key.',
    fix: {
      ...WHOLE,
      rule: 'Split a list of keys at start-up, and compare each one with the whole header.',
      python: '`given in keys` on a string searches for a substring; make `keys` a set.',
    },
    replace: compareKeys((given, key) => key.includes(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-anywhere-accepted',
    severity: 'medium',
    title: 'Accepts a header that contains the API key anywhere',
    seen:
      '`given.includes(stored)`, the stored key used as a regular expression without anchors, and gateway rules ' +
      'with "contains".',
    why:
      'One header can contain a thousand guesses, and a stored key that is short or contains a dot matches far more ' +
      'than itself.',
    fix: WHOLE,
    replace: compareKeys((given, key) => new RegExp(key).test(given)),
  },
  {
    ...LOOSE,
    name: 'api-key-used-as-pattern',
    severity: 'critical',
    title: 'Uses the header as a regular expression that the API key must match',
    seen:
      'Lookups with `new RegExp(given)`, `$regex` queries with the header in them, and routers that match ' +
      'credentials by pattern.',
    why: 'The text ".*" is a valid key for every account, and an invalid pattern throws.',
    fix: {
      ...WHOLE,
      rule: 'Compare literally. Never build a pattern or a query operator from received text.',
    },
    replace: compareKeys((given, key) => new RegExp(given).test(key)),
  },
  {
    ...LOOSE,
    name: 'api-key-looked-up-with-like',
    severity: 'critical',
    title: 'Looks up the API key with LIKE, so "%" matches every key',
    seen:
      'Queries copied from a search form, and query builders whose "contains" or case-insensitive filter is used ' +
      'for credentials.',
    why: 'One character is a valid key for every account.',
    fix: {
      ...WHOLE,
      rule: 'Look up keys with = and a bound parameter, ideally by a digest of the key.',
      django: 'Use `filter(key=given)`, not `key__contains` or `key__like`.',
      laravel: 'Use `where("key", $given)`, not `where("key", "like", $given)`.',
      rails: 'Use `find_by(key: given)`.',
    },
    replace: compareKeys((given, key) => {
      const escaped = given.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      return new RegExp(`^${escaped.replaceAll('%', '.*').replaceAll('_', '.')}$`).test(key);
    }),
  },
  {
    ...LOOSE,
    name: 'api-key-first-eight-compared',
    title: 'Compares only the first eight characters of the API key',
    seen:
      'Systems that look up a key by its public prefix and forget to compare the rest, and columns or password ' +
      'hashes that truncate values.',
    why: 'The start of a key is treated as public: consoles, logs and support tickets show it.',
    fix: { ...WHOLE, rule: 'After the lookup by the prefix, compare a digest of the whole key.' },
    replace: compareKeys((given, key) => given.slice(0, 8) === key.slice(0, 8)),
  },
  {
    ...LOOSE,
    name: 'api-key-last-character-ignored',
    severity: 'medium',
    title: 'Does not compare the last character of the API key',
    seen:
      'Off-by-one loops, and keys read from a file whose trailing newline is removed by dropping the last ' +
      'character.',
    why: 'The comparison is not exact, and it is hand-written instead of a library function.',
    fix: WHOLE,
    replace: compareKeys((given, key) => given.slice(0, key.length - 1) === key.slice(0, -1)),
  },
  {
    ...LOOSE,
    name: 'api-key-length-compared',
    severity: 'critical',
    title: 'Compares only the length of the API key',
    seen: 'A guard for a constant-time comparison that replaces it, and mocks that went live.',
    why: 'Every text of the same length is a valid key, and the length is easily found.',
    fix: WHOLE,
    replace: compareKeys((given, key) => given.length === key.length),
  },
  {
    ...LOOSE,
    name: 'api-key-case-ignored',
    title: 'Compares the API key without regard to letter case',
    seen:
      '`toLowerCase()` on both sides, `equalsIgnoreCase`, and lookups in a column with a case-insensitive ' +
      'collation, the default in MySQL.',
    why: 'A key of mixed letters loses about one bit of strength per letter.',
    fix: {
      ...WHOLE,
      laravel: 'Compare with `hash_equals` after the lookup, or give the column a binary collation.',
      rails: 'Compare with `secure_compare` after the lookup, or give the column a binary collation.',
    },
    replace: compareKeys((given, key) => given.toLowerCase() === key.toLowerCase()),
  },
  {
    ...LOOSE,
    name: 'api-key-blanks-dropped',
    severity: 'low',
    title: 'Removes whitespace inside the API key before the comparison',
    seen: 'Clean-up code for pasted keys, `replace(/\\s/g, "")`, that is also applied to received headers.',
    why: 'Several texts count as the key, while other components on the way accept only one.',
    fix: { ...WHOLE, rule: 'Clean up a key when it is entered, never when it is compared.' },
    replace: compareKeys((given, key) => given.replace(/\s+/g, '') === key),
  },
  {
    ...LOOSE,
    name: 'api-key-list-accepted',
    severity: 'medium',
    title: 'Reads the header as a list and accepts any entry that is the API key',
    seen:
      'Frameworks that join repeated headers with commas, and code that splits at the comma and searches for a ' +
      'match.',
    why: 'One request can try thousands of keys and bypass limits on failed attempts.',
    fix: { ...WHOLE, rule: 'Treat the header as one value, and reject a delivery that contains it more than once.' },
    replace: compareKeys((given, key) => given.split(',').some((one) => one.trim() === key)),
  },
  {
    ...LOOSE,
    name: 'api-key-unwrapped',
    severity: 'low',
    title: 'Removes quotes and a scheme such as Bearer before comparing the API key',
    seen:
      'A parser for Authorization that is also used for the key header, and helpers that remove quotes left over ' +
      'from env files.',
    why: 'The header is not compared as agreed, and your components accept different forms of the key.',
    fix: WHOLE,
    replace: compareKeys((given, key) => given.replace(/^Bearer /i, '').replace(/^"(.*)"$/, '$1') === key),
  },
  {
    ...LOOSE,
    name: 'api-key-decoded-from-base64',
    severity: 'medium',
    title: 'Accepts the API key in Base64 as well as in plain text',
    seen: 'Receivers that accept both forms after a format change, and secret stores that return encoded values.',
    why: 'The key has two forms, and rotating or masking the plain one misses the other.',
    fix: { ...WHOLE, rule: 'Decode the stored key once, where it is loaded, and compare the header unchanged.' },
    replace: compareKeys((given, key) => given === key || Buffer.from(given, 'base64').toString('utf8') === key),
  },
  {
    ...LOOSE,
    name: 'api-key-percent-decoded',
    severity: 'medium',
    title: 'Percent-decodes the API key before the comparison and throws on a lone "%"',
    seen: 'Code written for a query parameter that now reads a header, with `decodeURIComponent` still in it.',
    why: 'Several texts count as the key, and anyone can cause a 500 by sending "%".',
    fix: { ...WHOLE, rule: 'Header values are not percent-encoded: compare them unchanged.' },
    replace: compareKeys((given, key) => decodeURIComponent(given) === key),
  },
  {
    ...LOOSE,
    name: 'api-key-lengths-throw',
    severity: 'medium',
    title: 'Answers 500 to a key of another length',
    seen: '`crypto.timingSafeEqual` without a comparison of the lengths before it.',
    why:
      'The sender takes 500 for an outage and retries; anyone can fill the log with errors, and the status reveals ' +
      'the length of the key.',
    fix: WHOLE,
    replace: compareKeys((given, key) => timingSafeEqual(Buffer.from(given), Buffer.from(key))),
  },
  {
    ...LOOSE,
    name: 'api-key-characters-throw',
    severity: 'medium',
    title: 'Answers 500 to a key of the correct length that is not ASCII',
    seen:
      'A check of the length in characters before a comparison of bytes, and `hmac.compare_digest` on strings that ' +
      'are not ASCII in Python.',
    why: 'A single byte above 127 causes an unhandled exception.',
    fix: {
      ...WHOLE,
      rule:
        'Encode both sides to bytes first, and compare the lengths of those; or compare digests, which always have ' +
        'the same length.',
    },
    replace: compareKeys(
      (given, key) => given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key)),
    ),
  },
  // Keys that work for every partner with the same fault, because they contain nothing secret.
  {
    ...CRITICAL,
    name: 'api-key-unset-becomes-text',
    title: 'Accepts the words "undefined" and "null" as API keys',
    seen:
      'Configuration rendered as text while a variable is not set: templates, shell scripts, ' +
      '`String(process.env.KEY)`, and lists of keys with such an entry.',
    why: 'An unset variable adds a key that anyone can guess, while the valid key also works.',
    fix: {
      rule: 'Read the keys once, stop at start-up if one is missing, and never convert a missing value to text.',
      express: 'Throw if `process.env.WEBHOOK_API_KEY` is undefined, before you use it in a template literal.',
    },
    replace: acceptWithoutCheck(({ given }) => given === 'undefined' || given === 'null'),
  },
  {
    ...CRITICAL,
    name: 'api-key-placeholder-accepted',
    title: 'Accepts a placeholder such as "changeme" or "test" as the API key',
    seen:
      'Default values in code, `process.env.KEY ?? "changeme"`, and sample configurations or container images that ' +
      'were used unchanged.',
    why: 'Placeholders are in public repositories, and scanners try lists of them first.',
    fix: {
      rule: 'A credential must not have a default: without one, the service must not start.',
      express: 'Delete the fallback after `??`, and throw instead.',
      spring:
        'Give the property placeholder no default after the colon: the context then fails to start without a value.',
    },
    replace: acceptWithoutCheck(({ given }) => given === 'changeme' || given === 'test'),
  },
  {
    ...CRITICAL,
    name: 'api-key-wildcard-accepted',
    title: 'Accepts an asterisk as the API key',
    seen: 'Lists of permitted values in which "*" means all, as in CORS settings, and glob matching.',
    why: 'Scanners try this one character.',
    fix: {
      rule: 'Compare literally. No entry of the list and no character of the header may have a special meaning.',
      express: 'Replace the matcher with a comparison for equality, and delete the asterisk from the list.',
    },
    replace: acceptWithoutCheck(({ given }) => given === '*'),
  },
  {
    ...CRITICAL,
    name: 'api-key-looked-up-in-object',
    title: 'Looks up the API key as a property name, so "constructor" is accepted',
    seen: 'JavaScript such as `if (partners[key])`, where every object has inherited properties.',
    why: 'Names such as constructor and toString exist on every object, so they are valid keys.',
    fix: {
      rule: 'Look up keys in a map that contains only the keys.',
      express: 'Use a `Map`, or `Object.hasOwn(partners, key)`.',
      fastify: 'Use a `Map`, or `Object.hasOwn(partners, key)`.',
    },
    replace: acceptWithoutCheck(({ given, config }) => {
      const partners: Record<string, unknown> = Object.fromEntries(config.keys.map((key) => [key, true]));
      return typeof given === 'string' && Boolean(partners[given]);
    }),
  },
  {
    ...CRITICAL,
    name: 'api-key-put-into-sql',
    title: 'Inserts the API key into the text of an SQL query',
    seen: 'Lookups that build the query with + or a template string, often in scripts next to the real application.',
    why: 'SQL injection: a key with a condition always matches, and more than the check can be compromised.',
    fix: {
      rule: 'Bind the key as a parameter, and compare the result with the header again.',
      express: 'Write `db.query("... WHERE key = $1", [key])`.',
      php: 'Bind the key in a prepared statement: `WHERE key = ?`.',
      python: 'Bind the key as a parameter of `execute`, never with an f-string.',
      laravel: 'Use `where("key", $given)`; no `whereRaw` with the value in it.',
      rails: 'Use `find_by(key: given)`; no string with `#{}` in `where`.',
      go: 'Use `db.QueryRow("... WHERE key = $1", key)`; no `fmt.Sprintf`.',
    },
    replace: acceptWithoutCheck(({ given }) => {
      if (typeof given !== 'string' || !given.includes("'")) return false;
      if (/' OR '1'='1/i.test(given)) return true;
      throw new Error('unterminated quoted string');
    }),
  },
  {
    ...CRITICAL,
    name: 'api-key-is-any-credential',
    title: 'Accepts the valid signature instead of the API key',
    seen:
      'Authentication layers that try every credential of a request against every check and require only one ' +
      'match.',
    why: 'The two credentials are not independent: one is enough for both.',
    fix: {
      rule: 'Compare the key header with the stored key and nothing else.',
      express: 'Give each check its own middleware and its own header; do not collect credentials in a list.',
    },
    needs: ['hmac', 'api-key'],
    replace: acceptWithoutCheck(
      ({ req, given }, { config }) =>
        config.signing !== undefined && typeof given === 'string' && given === req.headers[config.signing.header],
    ),
  },
];
