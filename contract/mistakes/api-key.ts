import { FORGED_KEYS, UNSIGNED } from './consequences.ts';
import { ids, mistakes } from './mistake.ts';

/** How to compare two complete keys in constant time, by stack. */
const EXACT_COMPARISON = {
  node:
    'Write `const given = request.headers["x-api-key"] ?? ""`, hash both sides with SHA-256 and compare the digests ' +
    'with `crypto.timingSafeEqual`.',
  python:
    'Write `given = headers.get("X-API-Key", "")` and `hmac.compare_digest(given.encode(), key.encode())`: it raises ' +
    'TypeError for text outside ASCII.',
  django: 'Use `constant_time_compare(request.headers.get("X-API-Key", ""), key)`.',
  go: 'Write `subtle.ConstantTimeCompare([]byte(given), []byte(key)) == 1`.',
  java: 'Use `MessageDigest.isEqual` on the bytes of both values, and treat null as empty.',
  php: 'Use `hash_equals($key, $_SERVER["HTTP_X_API_KEY"] ?? "")`: null is a `TypeError`.',
  laravel: 'Use `hash_equals($key, (string) $request->header("X-API-Key"))`: null is a `TypeError`.',
  ruby: 'Use `OpenSSL.secure_compare(given.to_s, key)`.',
  rails: 'Use `ActiveSupport::SecurityUtils.secure_compare(request.headers["X-API-Key"].to_s, key)`.',
  dotnet: 'Use `CryptographicOperations.FixedTimeEquals` on the bytes of both values.',
  rust: 'Use `ct_eq` from the crate `subtle` on digests of both values.',
};

/** Mistakes in how a receiver checks the API key, alone or together with the signature. */
export const API_KEY_MISTAKES = mistakes({
  'unchecked-key': {
    title: 'Does not check the value of the API key',
    seen:
      'Receivers that started with the signature only, and receivers that leave the key to a gateway that is not in ' +
      'the path.',
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
    severity: 'critical',
    cwe: 306,
    implies: FORGED_KEYS,
  },
  'unread-key': {
    title: 'Checks only that an API key is present',
    seen:
      'Unfinished placeholders such as `if (req.headers["x-api-key"]) next()`, and gateways with the rule "header ' +
      'present".',
    why: 'The endpoint looks protected in every test that leaves out the key, but accepts an invalid one.',
    fix: {
      rule: 'Compare the value with the stored key; the presence of a header proves nothing.',
      ...EXACT_COMPARISON,
      node:
        'Replace the test for presence: hash both sides with SHA-256 and compare the digests with ' +
        '`crypto.timingSafeEqual`.',
    },
    severity: 'critical',
    cwe: 287,
    implies: ids(
      'key-check-throws unset-key partial-key-comparison derived-key-comparison altered-key key-as-pattern',
      'key-as-property key-as-list key-in-sql named-expected-key one-credential-enough distinct-refusals',
      'remembered-before-checks optional-key failures-lock-out body-left-unread',
    ),
  },
  'optional-key': {
    title: 'Compares the API key only when it is present',
    seen:
      'Code such as `if (key && key !== stored) refuse`, middleware for optional authentication, and a proxy that ' +
      'removes the header named in Connection.',
    why: 'Leaving out the header, or letting a proxy remove it, is enough to get in.',
    fix: {
      rule:
        'Treat a missing header like an invalid key, in every place that checks it, and answer 401 before anything ' +
        'else.',
      express:
        'Write `if (req.get("X-API-Key") !== stored) return res.sendStatus(401)`, without a test for presence. Let ' +
        'a proxy remove hop-by-hop headers before it checks anything.',
      go: '`r.Header.Get` returns an empty string for a missing header: reject it before the comparison.',
    },
    severity: 'critical',
    cwe: 306,
    implies: ids(
      'key-from-other-place conditional-key-check key-exempt-claims key-checked-late remembered-before-checks',
      'distinct-refusals unset-key',
    ),
  },
  'unset-key': {
    title: 'Accepts a guessable API key when none is configured',
    seen:
      'An unset variable that is compared as empty text, "undefined" or "null", and defaults such as ' +
      '`process.env.KEY ?? "changeme"`.',
    why:
      'One deployment without the variable, or with a sample configuration, opens the endpoint, and no log reports ' +
      'it. Placeholders are in public repositories, and scanners try them first.',
    fix: {
      rule:
        'Read the key once at start-up, without a default, and stop if it is missing or empty. Reject an empty ' +
        'header before the comparison.',
      node:
        'Throw at start-up if `process.env.WEBHOOK_API_KEY` is empty or undefined, before you use it in a template ' +
        'literal, and delete the fallback after `??`.',
      spring:
        'Give the property placeholder no default after the colon: the context then fails to start without a value.',
    },
    severity: 'critical',
    cwe: 1188,
  },
  'partial-key-comparison': {
    title: 'Compares only a part of the API key',
    seen:
      '`startsWith`, `endsWith` or `includes` in either direction, `strncmp`, off-by-one loops, and lookups by a ' +
      'public prefix or by the last characters.',
    why:
      'An attacker needs only the compared part, which consoles, logs and tickets may show, or can guess it ' +
      'character by character. If the stored key is truncated, far more values match.',
    fix: {
      rule:
        'Compare the whole header with the whole key in constant time, even after a lookup by a part of the key. ' +
        'Check that the stored key was not truncated.',
      ...EXACT_COMPARISON,
      node:
        'Hash both sides with SHA-256 and compare the digests with `crypto.timingSafeEqual`, instead of ' +
        '`startsWith`, `endsWith` or `includes`.',
      python: `${EXACT_COMPARISON.python} \`given in keys\` on a string searches for a substring; make \`keys\` a set.`,
    },
    severity: 'high',
    cwe: 187,
    implies: ['altered-key', 'key-as-list', 'distinct-refusals'],
  },
  'derived-key-comparison': {
    title: 'Compares a property of the API key instead of the key',
    seen:
      'A comparison of lengths, of sums or counts of bytes, of seven-bit text, or of `String.hashCode()` or CRC-32 ' +
      'values.',
    why: 'Many other texts have the same property, and an attacker can easily find one.',
    fix: {
      rule: 'Compare the keys, or SHA-256 digests of them, in constant time.',
      ...EXACT_COMPARISON,
    },
    severity: 'critical',
    cwe: 1025,
    implies: ['partial-key-comparison'],
  },
  'altered-key': {
    title: 'Changes the received API key before the comparison',
    seen:
      'Lower-casing, removal of white space, quotes or a Bearer prefix, Base64 or percent-decoding, and a column ' +
      'with a case-insensitive collation.',
    why:
      'Several texts count as the key, while other components accept only one. Ignoring case also makes the key ' +
      'easier to guess.',
    fix: {
      rule:
        'Store the key as agreed, clean it up only where it is entered or loaded, and compare the header as ' +
        'received.',
      ...EXACT_COMPARISON,
      node:
        'Remove `toLowerCase`, `replace` and `decodeURIComponent`; hash both sides with SHA-256 and compare the ' +
        'digests with `crypto.timingSafeEqual`.',
      java: 'Use `MessageDigest.isEqual` on the bytes of both values, not `equalsIgnoreCase`.',
      rails: 'Compare with `secure_compare` after a lookup, or give the column a binary collation.',
      laravel: 'Compare with `hash_equals` after a lookup, or give the column a binary collation.',
    },
    severity: 'medium',
    cwe: 1289,
  },
  'key-as-pattern': {
    title: 'Matches the API key as a pattern instead of comparing it literally',
    seen:
      'Queries with LIKE or `$regex`, `new RegExp(given)`, cache lookups with `KEYS`, glob matching, and lists in ' +
      'which "*" means all.',
    why: 'A short text such as `%`, `*`, `.*` or a row of question marks matches every key, so an attacker needs none.',
    fix: {
      rule:
        'Compare literally: no character of the header, of the stored key or of an entry in a list may have a ' +
        'special meaning. In a query, use = and a bound parameter, ideally with a digest of the key.',
      ...EXACT_COMPARISON,
      node:
        'Use `Map.get(key)`, or `GET` instead of `KEYS`; delete the asterisk from lists, and compare digests with ' +
        '`crypto.timingSafeEqual`.',
      django: 'Use `filter(key=given)`, not `key__contains` or `key__like`.',
      rails: 'Use `find_by(key: given)`.',
      laravel: 'Use `where("key", $given)`, not `where("key", "like", $given)`.',
    },
    severity: 'critical',
    cwe: 155,
    implies: ['partial-key-comparison', 'key-in-sql'],
  },
  'key-as-property': {
    title: 'Looks up the API key as a property name of an object',
    seen: 'JavaScript such as `if (partners[key])`, where every object has inherited properties.',
    why: 'Names such as "constructor" and "toString" exist on every object, so they are valid keys.',
    fix: {
      rule: 'Look up keys in a map that contains only the keys.',
      node: 'Use a `Map`, or `Object.hasOwn(partners, key)`.',
    },
    severity: 'critical',
    cwe: 697,
  },
  'key-in-sql': {
    title: 'Inserts the API key into the text of an SQL query',
    seen: 'Lookups that build the query with + or a template string, often in scripts next to the real application.',
    why:
      'SQL injection: a key that adds a condition always matches, a broken query leads to a 500, and more than the ' +
      'check can be compromised.',
    fix: {
      rule: 'Bind the key as a parameter, and compare the result with the header again.',
      node: 'Write `db.query("... WHERE key = $1", [key])`.',
      python: 'Bind the key as a parameter of `execute`, never with an f-string.',
      go: 'Use `db.QueryRow("... WHERE key = $1", key)`; no `fmt.Sprintf`.',
      php: 'Bind the key in a prepared statement: `WHERE key = ?`.',
      laravel: 'Use `where("key", $given)`, not `whereRaw` with the value in it.',
      rails: 'Use `find_by(key: given)`, not a string with `#{}` in `where`.',
    },
    severity: 'critical',
    cwe: 89,
  },
  'key-as-list': {
    title: 'Does not treat the API key header as exactly one value',
    seen:
      '`header.split(",")` with a search for a match, `every` on an empty list, and multi-value maps of gateways ' +
      'and servlet containers.',
    why:
      'One request can try thousands of keys, or an empty list counts as valid. A repeated header can throw, or ' +
      'make two checks verify different keys.',
    fix: {
      rule: 'Compare the header as a whole, without splitting it, and answer 401 if the header occurs more than once.',
      express:
        'Replace `split` with a comparison of the whole header. Node joins repeated headers with a comma; with ' +
        '`req.headersDistinct` or a gateway event, check `length === 1`.',
      spring: 'Use `HttpHeaders.getOrEmpty(name)`, and reject a list whose length is not one.',
    },
    severity: 'high',
    cwe: 287,
  },
  'key-check-throws': {
    title: 'Throws while it checks a missing or malformed API key',
    seen:
      '`crypto.timingSafeEqual` without a length check, `hmac.compare_digest` on non-ASCII strings, and code that ' +
      'trims or indexes a missing header.',
    why:
      'The sender treats 500 as an outage and retries. An attacker can fill the log with errors, or stop a process ' +
      'in which the exception is not caught, without any credential.',
    fix: {
      rule:
        'Reject a missing or oversized header first, with 401. Then compare digests of both sides, or check the ' +
        'lengths of the byte buffers, not of the strings. Every exception of a request must lead to an answer.',
      ...EXACT_COMPARISON,
      node: `${EXACT_COMPARISON.node} Await every promise: Express 5 forwards rejections, Express 4 does not.`,
    },
    severity: 'high',
    cwe: 248,
    implies: ids(
      'optional-key unset-key partial-key-comparison derived-key-comparison key-as-pattern key-as-property',
      'key-as-list named-expected-key request-chooses-credentials key-from-other-place conditional-key-check',
      'distinct-refusals altered-key one-credential-enough key-exempt-claims uncaught-error',
      'remembered-before-checks key-in-sql key-checked-late',
    ),
  },
  'key-refused-by-framework': {
    title: 'Lets a gateway or framework choose the answer to an invalid or missing API key',
    seen:
      'Gateway key checks that answer 403, session guards that redirect to a login page, and required header ' +
      'parameters that answer 400.',
    why:
      'The sender recognises invalid credentials by 401 only. It treats any other status as a different failure, and ' +
      'a redirect to a login page with 200 counts as accepted.',
    fix: {
      rule:
        'Exclude the route from everything that logs in users, declare the header as optional, and answer 401 in ' +
        'your own check. Configure a gateway to answer 401.',
      express:
        'Use `res.sendStatus(401)` for an invalid and for a missing header, and mount the route before the session ' +
        'middleware. In a gateway, map the response for a missing key to 401.',
      django:
        'Do not use `login_required` on the view. In REST framework, give the authentication class an ' +
        '`authenticate_header`: without it 401 turns into 403.',
      nestjs: 'Throw `UnauthorizedException` in the guard: a guard that returns false answers 403.',
      fastapi: 'Pass `auto_error=False` to `APIKeyHeader`, which may answer 403, and raise `HTTPException(401)`.',
      spring:
        'Configure an `AuthenticationEntryPoint`: the default one answers 403. Write `@RequestHeader(required = ' +
        'false)`: otherwise, a missing header gets 400.',
      laravel: 'Register the route in `routes/api.php`: the `auth` guard redirects requests that do not ask for JSON.',
      dotnet:
        'Do not let the cookie scheme challenge on this route: it redirects. Do not mark the header parameter as ' +
        'required: validation answers 400 first.',
    },
    severity: 'medium',
    cwe: 393,
    implies: ['wrong-refusal-status', 'distinct-refusals'],
  },
  'key-refusal-hangs-up': {
    title: 'Closes the connection instead of answering an invalid API key',
    seen:
      'Proxies that drop unwanted requests (444 in nginx), intrusion prevention, and handlers that destroy the ' +
      'socket, for example before a large body is read.',
    why:
      'The sender sees a broken connection instead of invalid credentials, and retries: a configuration mistake ' +
      'looks like a network problem.',
    fix: {
      rule:
        'Answer 401, and let the server drain or close the connection. An invalid key may come from your sender ' +
        'after a rotation.',
      express: 'Use `res.sendStatus(401)`, and let the server end the connection; do not call `req.destroy()`.',
    },
    severity: 'medium',
    cwe: 392,
    implies: [...FORGED_KEYS, 'unchecked-key'],
  },
  'key-from-other-place': {
    title: 'Also takes the API key from places other than its header',
    seen:
      'Fallbacks after `??` or `||` to the query, the body, Authorization, a cookie or another header name, and ' +
      'library functions that search several of them.',
    why:
      'Gateway rules and log masks cover only the agreed header. Depending on the place, the key is written to ' +
      'logs or stored, browsers send it automatically, or another kind of credential is accepted instead.',
    fix: {
      rule:
        'Read the key only from the configured header, by its exact name, before the body is parsed. Remove every ' +
        'fallback, and rotate a key that was ever sent elsewhere.',
      express:
        'Use only `req.get("X-API-Key")`; delete every fallback after `??` or `||`, and mount session middleware ' +
        'on other routes only.',
      rails: 'Use `request.headers["X-API-Key"]`, not `params`.',
      php: 'Use `$_SERVER["HTTP_X_API_KEY"]`, not `$_REQUEST`.',
      laravel: 'Use `$request->header("X-API-Key")`, not `$request->input()` or `$request->get()`.',
      spring: 'Use `@RequestHeader`, not `getParameter`.',
    },
    severity: 'medium',
    cwe: 522,
  },
  'key-header-spelling': {
    title: 'Rejects a valid API key because of the spelling of its header',
    seen:
      'Function platforms and gateways that pass headers as a plain map, exact comparisons of header names, and ' +
      'values that keep surrounding spaces or tabs.',
    why:
      'HTTP ignores the case of names and whitespace around values. An HTTP/2 proxy writes names in lower case: if ' +
      'the receiver does not expect that, it answers every delivery through the proxy with 401.',
    fix: {
      rule:
        'Look up headers without regard to letter case. Trim spaces and tabs around the value if the server has ' +
        'not done so, and nothing else.',
      node:
        'Read `request.headers["x-api-key"]`: Node writes names in lower case. In a function, lower-case all names ' +
        'of `event.headers` first.',
      go: 'Use `r.Header.Get`; a direct index into the map needs the canonical spelling `X-Api-Key`.',
    },
    severity: 'high',
    cwe: 436,
    implies: ['header-lookup-by-exact-name'],
  },
  'conditional-key-check': {
    title: 'Checks the API key only for some of the requests that it handles',
    seen:
      'A check inside the JSON branch, the body parser or the handler of one type, and gateway rules for one path, ' +
      'method, framing, media type or size.',
    why:
      'An attacker changes one property of the request and needs no key, while every test with an ordinary ' +
      'delivery passes.',
    fix: {
      rule:
        'Check the key of every request in the receiver itself, in one place, before any part of the request ' +
        'decides how it is handled. Turn off method overriding for this route.',
      express:
        'Mount the check as middleware in front of every handler of the route and every body parser, without a ' +
        'condition: `app.post(path, checkKey, handle)`. Remove `methodOverride()`, or mount it in front of the ' +
        'check.',
      spring: 'Do not attach the check to a mapping with `consumes`: a second mapping without it bypasses the check.',
      rails: 'Remove Rack::MethodOverride from the middleware stack.',
      laravel: 'Middleware for the route sees the overridden method: let it cover every method.',
    },
    severity: 'critical',
    cwe: 288,
  },
  'key-exempt-claims': {
    title: 'Skips the API key check when the request claims to be trusted or to be a test',
    seen:
      'Switches for tests (`?test=true`, X-Skip-Verification), and exceptions by User-Agent or X-Forwarded-For for ' +
      'probes and internal calls.',
    why:
      'Any client can send the claim, and its name is easy to guess: an exception for it is an exception for ' +
      'everyone.',
    fix: {
      rule:
        'Delete the switch or exception, and send the key with test deliveries. Give health checks their own ' +
        'route.',
      express:
        'Remove `req.query`, `req.ip` and every other header from the condition of the check. With `trust proxy` ' +
        'set to true, the request decides the value of `req.ip`.',
      django: 'Do not trust `HTTP_X_FORWARDED_FOR`; only your own proxy may set it.',
    },
    severity: 'critical',
    cwe: 807,
  },
  'named-expected-key': {
    title: 'Compares the API key with one that the request itself names',
    seen:
      '`extract($_GET)` and register_globals in PHP, and settings merged with `req.query` or `req.body` by a ' +
      'spread or `Object.assign`.',
    why: 'An attacker sends any key, and names it as the expected one.',
    fix: {
      rule: 'Never merge parameters of a request into variables or settings.',
      express: 'Read individual fields of `req.query` and `req.body`, and do not spread or assign them.',
      php: 'Do not call `extract` on `$_GET`, `$_POST` or `$_REQUEST`.',
    },
    severity: 'critical',
    cwe: 915,
  },
  'key-checked-once-for-a-connection': {
    title: 'Remembers a valid API key for the whole connection',
    seen: 'Authentication that is stored with the socket or session, as in protocols with a login.',
    why: 'When a proxy is in front, requests of other clients share the connections that the sender opened.',
    fix: {
      rule: 'Check the key of each delivery; a connection says nothing about who sent a request on it.',
      node: 'Do not store any authentication state in `req.socket`.',
    },
    severity: 'critical',
    cwe: 287,
    implies: [...FORGED_KEYS, 'unchecked-key'],
  },
  'key-checked-late': {
    title: 'Parses the body before it checks the API key',
    seen: 'A global JSON parser before the authentication, which is the default of most frameworks.',
    why:
      'A malformed delivery without a key gets 400. Unauthenticated clients reach the parser, can keep it busy, ' +
      'and learn from the answer how the endpoint works.',
    fix: {
      rule: 'Check the key from the headers, before the body is parsed.',
      express: 'Mount the key check before `express.json()`.',
      fastify: 'Check in an `onRequest` hook: `preHandler` runs after the body is parsed.',
      spring: 'Check in a filter, which runs before the body is mapped to an argument.',
      dotnet: 'Check in middleware or an authorisation filter, which run before model binding.',
    },
    severity: 'low',
    cwe: 696,
    implies: ['conditional-key-check'],
  },
  'one-credential-enough': {
    title: 'Does not require both the API key and the signature',
    seen:
      '`if (keyOk || signatureOk) accept()`, `if (keyOk !== signatureOk) refuse()`, a branch per credential, and ' +
      'lists of authenticators of which one must succeed.',
    why:
      'One check replaces the other. An attacker who has seen the key can forge any body, or a revoked key still ' +
      'works; a comparison of the two results even accepts two failures.',
    fix: {
      rule:
        'If both are configured, require both: accept a delivery only after each check has passed on its own ' +
        'header. Check the key in the receiver as well as in a gateway.',
      express:
        'Use two middlewares on the same route, each with its own header and its own 401, or write `if (!keyOk || ' +
        '!signatureOk) return res.sendStatus(401)`.',
      spring:
        'Two filters that each set the authentication are combined with "or"; require both in the authorisation rule.',
      django:
        'REST framework treats authentication classes as alternatives: move one of the checks to a permission class.',
    },
    severity: 'critical',
    cwe: 303,
    implies: [
      ...UNSIGNED,
      ...ids(
        'key-from-other-place conditional-key-check partial-key-comparison unset-key key-exempt-claims altered-key',
        'raw-body-fallback signed-part-of-body absent-signature-passes key-as-pattern well-known-secret',
        'base64-variant signature-check-throws partial-comparison optional-key other-hmac-hash failures-lock-out',
        'confused-credentials body-left-unread key-as-list wrong-digest-encoding key-checked-late',
        'hash-instead-of-hmac foreign-signature-format converted-secret signature-used-as-pattern several-signatures',
        'lossy-body-text hand-written-comparison digest-handled-as-text named-expected-key key-in-sql',
        'key-as-property derived-key-comparison verification-fails-open verdict-kept-by-id unread-body-verified',
        'swapped-hmac-arguments surrounding-text-ignored signature-letter-case shortened-secret',
        'secret-with-extra-characters signature-treated-as-url-text serial-body-reads known-id-revealed',
        'imitated-body-format decoded-body body-as-c-string',
      ),
    ],
  },
  'request-chooses-credentials': {
    title: 'Requires only those credentials that the request presents',
    seen:
      'Receivers that check whatever is present, and modes such as "signature only" or "key only" that a missing ' +
      'header selects.',
    why:
      'Leaving out one or both headers disables every check, and a delivery without any valid credential is ' +
      'accepted. Most tests never leave out both.',
    fix: {
      rule:
        'Read from your configuration, at start-up, which credentials are required, never from the request. Reject ' +
        'by default: accept a delivery only after all required checks have passed.',
      express:
        'Use two middlewares on the same route, each of which answers 401 itself, even when its header is missing.',
    },
    severity: 'critical',
    cwe: 807,
    implies: ['one-credential-enough', 'distinct-refusals', 'remembered-before-checks'],
  },
});
