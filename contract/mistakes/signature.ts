import { NO_SLASH_IN_DJANGO, RAW_BYTES } from './code-by-stack.ts';
import { FORGED_SIGNATURES, UNSIGNED } from './consequences.ts';
import { ids, mistakes } from './mistake.ts';

const IS_AWAITED = 'Is the verification awaited? A promise or coroutine that is not awaited counts as true.';

const COMPARED_IN_PYTHON =
  'Call `hmac.compare_digest(received.encode("utf-8", "replace"), expected.encode())`: it raises TypeError for text ' +
  'outside ASCII.';

/** Mistakes in how a receiver computes and compares signatures, and rejects invalid ones. */
export const SIGNATURE_MISTAKES = mistakes({
  'no-signature-verification': {
    title: 'Does not verify the signature',
    seen: 'Placeholder handlers, and routes that were added next to the verified one.',
    why: 'An attacker who knows the URL can forge every notification, such as a deposit or a refund.',
    fix: {
      rule:
        'Compute HMAC-SHA256 over the raw body, compare it with the header in constant time, and answer 401 if the ' +
        `header is missing or differs. ${IS_AWAITED}`,
      express: 'Mount a verification middleware on this route, before the handler.',
      fastify: 'Verify in a `preValidation` hook of the route, and send the 401 there.',
      nestjs: 'Verify in a guard (`@UseGuards`), and throw `UnauthorizedException` in it.',
      fastapi: 'Verify in the handler or in a dependency (`Depends`), and raise `HTTPException(401)`.',
      laravel: 'Assign a middleware to the route that answers `response("", 401)`.',
      rails: 'Verify in a `before_action` that ends with `head :unauthorized`.',
      spring:
        'Verify in the handler, over the bytes of the body: a filter that reads them leaves none for the handler.',
    },
    severity: 'critical',
    cwe: 347,
    implies: FORGED_SIGNATURES,
  },
  'verification-not-enforced': {
    title: 'Verifies the signature but does not act on the result',
    seen:
      'A promise that is not awaited, so that `if (!verify(...))` never rejects, or a dry run whose branch for ' +
      'invalid signatures only logs.',
    why: 'The code looks complete and accepts every forgery.',
    fix: {
      rule: `${IS_AWAITED} End the request with 401 unless its result is exactly true.`,
      node:
        'Write `if ((await verify(request)) !== true)`, answer 401 there, and enable the lint rule against unawaited ' +
        'promises in conditions.',
      nestjs: 'Await the verification in the guard: `return await this.verify(request)`, without a catch block.',
    },
    severity: 'critical',
    cwe: 347,
    implies: [
      ...UNSIGNED,
      ...ids(
        'no-signature-verification raw-body-fallback signed-part-of-body well-known-secret base64-variant',
        'signature-check-throws partial-comparison other-hmac-hash confused-credentials absent-signature-passes',
        'wrong-digest-encoding hash-instead-of-hmac foreign-signature-format converted-secret',
        'signature-used-as-pattern several-signatures lossy-body-text hand-written-comparison digest-handled-as-text',
        'verification-fails-open verdict-kept-by-id unread-body-verified swapped-hmac-arguments',
        'surrounding-text-ignored signature-letter-case shortened-secret secret-with-extra-characters',
        'one-credential-enough cached-verification signature-treated-as-url-text signature-format-only',
        'serial-body-reads known-id-revealed imitated-body-format failures-lock-out decoded-body body-left-unread',
        'body-as-c-string',
      ),
    ],
  },
  'verification-fails-open': {
    title: 'Accepts deliveries unverified after an error, after failures or under load',
    seen:
      'A `catch` block that only logs, a circuit breaker that fails open, sampling, or load shedding that leaves out ' +
      'the verification.',
    why:
      'An attacker causes the condition, for example with a signature of another length or with repeated requests, ' +
      'and then sends forgeries.',
    fix: {
      rule:
        'Verify every delivery, and reject in every case other than "equal". Under load, answer 503 or let requests ' +
        'wait: an HMAC takes microseconds.',
      node:
        'Answer 401 in the `catch` block and return. Remove sampling, circuit breakers and load conditions around ' +
        'the verification.',
      java: 'Do not swallow `GeneralSecurityException` around `MessageDigest.isEqual`: reject instead.',
    },
    severity: 'critical',
    cwe: 636,
    implies: [...UNSIGNED, 'signature-check-throws', 'other-hmac-hash', 'absent-signature-passes'],
  },
  'signature-format-only': {
    title: 'Checks only that a signature is present or well-formed',
    seen: 'A gateway rule "header present", a pattern for the header, or a comparison of lengths without the contents.',
    why:
      'The format is public, so an attacker writes any text that meets it. A test without the header passes and ' +
      'gives false confidence.',
    fix: {
      rule: `Compare the header with the HMAC of the body, and use the result. ${IS_AWAITED}`,
      node: 'Without a promise, write `if (a.length !== b.length || !timingSafeEqual(a, b))`, and answer 401 there.',
      php: 'Write `if (!hash_equals($expected, $signature))` in addition to `isset()`, and answer 401.',
    },
    severity: 'critical',
    cwe: 347,
    implies: ids(
      'partial-comparison hand-written-comparison base64-variant signature-letter-case digest-handled-as-text',
      'other-hmac-hash hash-instead-of-hmac swapped-hmac-arguments confused-credentials unset-secret',
      'well-known-secret secret-with-extra-characters shortened-secret converted-secret unread-body-verified',
      'cached-verification lookup-before-verification signed-part-of-body raw-body-fallback lossy-body-text',
      'verification-per-type verification-fails-open state-outlives-request failures-lock-out distinct-refusals',
      'serial-body-reads body-as-c-string signature-check-throws state-shared-by-requests verdict-kept-by-id',
      'verification-per-framing verification-per-content-type request-overwrites-state remembered-before-checks',
      'parsing-before-verification one-credential-enough known-id-revealed imitated-body-format decoded-body',
      'body-left-unread signature-used-as-pattern',
    ),
  },
  'absent-signature-passes': {
    title: 'Accepts a missing or empty signature',
    seen:
      '`if (signature && !valid)`, a comparison of as many bytes as the header has, or a word such as "null" that ' +
      'stands for an absent header.',
    why:
      'An attacker needs no secret: a delivery with no signature, or with an empty one, can report a completed ' +
      'sale.',
    fix: {
      rule:
        'Treat a missing or empty signature like an invalid one: answer 401, and do not replace it with a default ' +
        'value.',
      node: 'Write `if (!signature || !isValid(signature, body))`, answer 401 there, and verify unconditionally.',
      python:
        'Write `received = headers.get("X-Service-Signature", "")`, and compare it without `if received and`. ' +
        COMPARED_IN_PYTHON,
      php: 'Write `if (!hash_equals($expected, $_SERVER["HTTP_X_SERVICE_SIGNATURE"] ?? ""))`, and answer 401.',
      laravel:
        'Write `if (!hash_equals($expected, (string) $request->header("X-Service-Signature")))`, and answer 401.',
      rails: 'Compare `request.headers["X-Service-Signature"].to_s`, without `if signature.present?`.',
      go: 'Write `if !hmac.Equal([]byte(r.Header.Get("X-Service-Signature")), []byte(expected))`, without `!= "" &&`.',
    },
    severity: 'critical',
    cwe: 347,
    implies: UNSIGNED,
  },
  'signature-check-throws': {
    title: 'Answers 500 to a missing or malformed signature, because the check throws',
    seen:
      'A constant-time comparison of unequal lengths, a strict Base64 decoder, non-ASCII text, or a property of an ' +
      'absent header.',
    why:
      'The sender treats the rejection as an outage and retries, and an attacker fills the error log with stack ' +
      'traces.',
    fix: {
      rule:
        'Check that the header is present, treat a Base64 decoding error as an invalid signature, ' +
        'compare the lengths of the two byte buffers (not of the strings) before the contents, and answer 401 when ' +
        'the check throws.',
      node:
        'Write `const a = Buffer.from(request.headers["x-service-signature"] ?? ""), b = Buffer.from(expected)`, ' +
        'then `if (a.length !== b.length || !timingSafeEqual(a, b))`, and answer 401 there.',
      python: `Use \`received = headers.get("X-Service-Signature", "")\`. ${COMPARED_IN_PYTHON}`,
      django:
        'Use `request.headers.get("X-Service-Signature", "")` and `constant_time_compare(received, expected)`, which ' +
        `takes any text. ${NO_SLASH_IN_DJANGO}`,
      php: 'Write `hash_equals($expected, $_SERVER["HTTP_X_SERVICE_SIGNATURE"] ?? "")`: null is a `TypeError`.',
      laravel:
        'Write `hash_equals($expected, (string) $request->header("X-Service-Signature"))`: null is a `TypeError`.',
      ruby:
        "Use `OpenSSL.secure_compare(env['HTTP_X_SERVICE_SIGNATURE'].to_s, expected)`, which takes any length; " +
        '`OpenSSL.fixed_length_secure_compare` raises.',
      rails:
        'Use `request.headers["X-Service-Signature"].to_s`, and `ActiveSupport::SecurityUtils.secure_compare`, which ' +
        'takes any length; `fixed_length_secure_compare` raises.',
      go: '`r.Header.Get` returns an empty string for an absent header; do not index the slice in `r.Header`.',
      java:
        'Treat a null header as empty, and compare the bytes of the Base64 texts with `MessageDigest.isEqual`: ' +
        '`Base64.getDecoder().decode` throws on other text.',
      spring:
        'Write `@RequestHeader(name = "X-Service-Signature", required = false)`, treat null as empty, and compare ' +
        'the Base64 texts with `MessageDigest.isEqual`.',
      dotnet:
        'Use `Convert.TryFromBase64String`. `CryptographicOperations.FixedTimeEquals` returns false for unequal ' +
        'lengths and needs no guard.',
    },
    severity: 'medium',
    cwe: 755,
    implies: [
      ...UNSIGNED,
      ...ids(
        'absent-signature-passes partial-comparison digest-handled-as-text confused-credentials hash-instead-of-hmac',
        'signature-treated-as-url-text wrong-digest-encoding decompression-unguarded base64-variant',
        'several-signatures foreign-signature-format signature-used-as-pattern surrounding-text-ignored',
      ),
    ],
  },
  'verification-ends-process': {
    title: 'Ends the process when a signature is missing or malformed',
    seen:
      'An exception in a `data` or `end` callback, or in a promise that is not awaited, where no framework catches ' +
      'it.',
    why: 'One unauthenticated request stops the receiver, and every delivery until a restart is lost.',
    fix: {
      rule: 'Check presence and length before the comparison, and run the verification where exceptions are caught.',
      node:
        'Verify inside the handler, not in a `data` or `end` callback, and put it into try/catch: Express 5 turns ' +
        'a rejected handler into a 500, Express 4 does not.',
    },
    severity: 'critical',
    cwe: 248,
    implies: [
      ...UNSIGNED,
      ...ids('signature-check-throws uncaught-error error-message-in-answer absent-signature-passes'),
    ],
  },
  'wrong-refusal-status': {
    title: 'Answers missing or invalid credentials with a status other than 401',
    seen:
      'A header that the framework requires as a parameter (400), a validation step before the check, or an ' +
      'exception in the check (500).',
    why: 'A sender recognises invalid credentials by 401. After another status it may retry, or report another cause.',
    fix: {
      rule: 'Answer 401 to missing and invalid credentials, both if the check fails and if it throws.',
      express:
        'Answer 401 in the branch for a missing header too, and call `res.sendStatus(401)` in the `catch` block of ' +
        'the check.',
      fastify: 'Leave the header out of `schema.headers`, which answers 400, and use `reply.code(401).send()`.',
      nestjs: 'Throw `UnauthorizedException` in the guard: a guard that returns false answers 403.',
      flask:
        'Use `request.headers.get("X-Service-Signature", "")` and `abort(401)`: indexing a missing header gives 400.',
      fastapi:
        'Declare `x_service_signature: str = Header("")`: without the default, a missing header gets 422. Raise ' +
        '`HTTPException(401)`, and pass `auto_error=False` to `APIKeyHeader`, which may answer 403.',
      django: 'Return `HttpResponse(status=401)`: `PermissionDenied` answers 403, and `SuspiciousOperation` 400.',
      php: 'Call `http_response_code(401)` before any output, and `exit`.',
      laravel: 'Write `abort(401)` in the middleware: `abort_unless(..., 403)` and `$this->authorize()` answer 403.',
      rails: 'Write `head :unauthorized`, not `:forbidden`, and `skip_forgery_protection`, whose failure is a 422.',
      go: 'Write `http.Error(w, "unauthorized", http.StatusUnauthorized)`, and return.',
      spring: 'Write `@RequestHeader(required = false)`: otherwise, a missing header gets 400.',
    },
    severity: 'medium',
    cwe: 393,
    implies: ['distinct-refusals', 'own-http-parser'],
  },
  'refused-with-success': {
    title: 'Answers 200 to deliveries that it rejects, with an error in the text',
    seen:
      '`res.json({ error })` without a status, PHP that prints a warning before it sets the status, and routers that ' +
      'answer 200 when no rule matches.',
    why: 'The sender treats the delivery as accepted and never repeats it, and an incorrect secret goes unnoticed.',
    fix: {
      rule: 'Set the status before any output: 401 for invalid credentials, 400 for an invalid payload.',
      express: 'Write `return res.status(401).json({ error: "unauthorized" })`.',
      fastify: 'Write `return reply.code(401).send()`.',
      nestjs: 'Throw `UnauthorizedException`: an object that is returned answers 200 or 201.',
      hono: 'Write `return c.text("unauthorized", 401)`.',
      flask: 'Write `return "unauthorized", 401`.',
      fastapi: 'Raise `HTTPException(401)`: `return {...}, 401` answers 200 with a list.',
      django: 'Return `HttpResponse(status=401)`, or pass `status=401` to `JsonResponse`.',
      go: 'Write `http.Error(w, "unauthorized", 401)` and return: what is written first sends 200.',
      spring: 'Return `ResponseEntity.status(401).build()`.',
      php:
        'Set `display_errors=0` and `output_buffering=4096`, and call `http_response_code(401)` before any output: ' +
        'after a warning is printed, PHP cannot change the status.',
      laravel: 'Pass the status: `response()->json(["error" => "unauthorized"], 401)`.',
      rails: 'Pass the status: `render json: { error: "unauthorized" }, status: :unauthorized`.',
    },
    severity: 'critical',
    cwe: 393,
    implies: [
      ...UNSIGNED,
      ...ids(
        'no-signature-verification unchecked-key wrong-refusal-status raw-body-fallback one-credential-enough',
        'signed-part-of-body well-known-secret partial-key-comparison base64-variant signature-check-throws',
        'partial-comparison key-from-other-place altered-key unset-key other-hmac-hash confused-credentials',
        'conditional-key-check absent-signature-passes wrong-digest-encoding key-as-pattern hash-instead-of-hmac',
        'foreign-signature-format failures-lock-out converted-secret body-left-unread unread-body-verified',
        'signature-used-as-pattern several-signatures request-chooses-credentials lossy-body-text key-exempt-claims',
        'key-check-throws hand-written-comparison digest-handled-as-text verification-fails-open verdict-kept-by-id',
        'swapped-hmac-arguments surrounding-text-ignored signature-letter-case shortened-secret',
        'secret-with-extra-characters optional-key key-as-list cached-verification signature-format-only',
        'signature-treated-as-url-text serial-body-reads known-id-revealed imitated-body-format decoded-body',
        'body-as-c-string unread-key named-expected-key key-in-sql key-checked-late key-as-property',
        'derived-key-comparison',
      ),
    ],
  },
  'partial-comparison': {
    title: 'Compares only a part of the signature',
    seen: 'A prefix, a fixed length or a loop over the shorter value: `startsWith`, `slice(0, 8)`, `zip`.',
    why: 'An attacker needs to guess only the compared part; with one character, 64 attempts are enough.',
    fix: {
      rule:
        'Compare the complete values (32 bytes, 44 characters in Base64) with a constant-time function from your ' +
        'library.',
      node:
        'Use `a.length === b.length && timingSafeEqual(a, b)` on two buffers. Remove ' +
        '`expected.startsWith(received)`, `expected.includes(received)`, `.slice(7)` and `.subarray(0, 16)`.',
      python: COMPARED_IN_PYTHON,
    },
    severity: 'critical',
    cwe: 187,
    implies: ids(
      'hand-written-comparison base64-variant surrounding-text-ignored signature-used-as-pattern distinct-refusals',
      'several-signatures absent-signature-passes',
    ),
  },
  'surrounding-text-ignored': {
    title: 'Accepts text before or after the valid signature',
    seen: '`received.includes(expected)`, `startsWith`, `endsWith`, a slice from the end, or a split of the header.',
    why:
      'Countless headers count as the same signature, including some that a gateway in front of the receiver treats ' +
      'differently.',
    fix: {
      rule: 'Compare the complete header with the expected text, with a constant-time function from your library.',
      node:
        'Replace `received.startsWith(expected)`, `endsWith` and `includes`. Use `a.length === b.length && ' +
        'timingSafeEqual(a, b)` on two buffers.',
    },
    severity: 'low',
    cwe: 187,
    implies: ['several-signatures', 'foreign-signature-format', 'base64-variant'],
  },
  'hand-written-comparison': {
    title: 'Compares signatures with a faulty hand-written loop',
    seen:
      '`diff = a ^ b` instead of `diff |= a ^ b`, an off-by-one error, sums of bytes, or comparisons of sets or ' +
      'sorted bytes.',
    why: 'Differences overwrite each other, cancel out or are left out, so values other than the valid signature pass.',
    fix: {
      rule: "Replace the loop with your library's constant-time comparison function.",
      node: 'Use `a.length === b.length && timingSafeEqual(a, b)` on two buffers.',
      python: COMPARED_IN_PYTHON,
    },
    severity: 'critical',
    cwe: 697,
    implies: ['base64-variant'],
  },
  'signature-used-as-pattern': {
    title: 'Uses the received signature as a pattern or as part of the text of a query',
    seen:
      '`expected.match(received)`, an unquoted `[[ $expected == $received ]]` in a shell, LIKE, or SQL text that ' +
      'includes the header.',
    why: "One value, such as `*`, `.*`, `%` or `' OR '1'='1`, is a valid signature for every body.",
    fix: {
      rule:
        'Compare the two texts literally, in your own code. In a shell, quote the variable; in a query, use "=" with ' +
        'a bound parameter.',
      node:
        'Replace `expected.match(received)` with `timingSafeEqual` on two buffers, and compare in the process, not ' +
        'in a script or a query.',
    },
    severity: 'critical',
    cwe: 138,
  },
  'signature-letter-case': {
    title: 'Ignores or changes the letter case of the signature',
    seen:
      'A habit from hexadecimal signatures (`.toLowerCase()`, `equalsIgnoreCase`), or a gateway rule that ' +
      'lower-cases header values.',
    why:
      'In Base64 the letter case is data. Where it is ignored, each body has trillions of signatures; where it is ' +
      'changed, valid signatures no longer match.',
    fix: {
      rule: 'Keep the letter case of both values, and compare them exactly.',
      node: 'Remove `.toLowerCase()` on both sides.',
      java: 'Use `MessageDigest.isEqual`, not `equalsIgnoreCase`.',
      dotnet: 'Use `CryptographicOperations.FixedTimeEquals`, not `StringComparison.OrdinalIgnoreCase`.',
    },
    severity: 'high',
    cwe: 178,
  },
  'digest-handled-as-text': {
    title: 'Handles the digest or the signature as text that loses bytes or bits',
    seen:
      'Decoding as UTF-8 (`atob`, `toString("utf8")`, `decode()`), conversion to ASCII, or `strcmp` on binary ' +
      'digests.',
    why:
      'Text functions replace invalid bytes, stop at a zero byte or clear a bit: other digests count as valid, or a ' +
      'valid one no longer matches.',
    fix: {
      rule:
        'Keep the digest as bytes until it is encoded in Base64. Compare the Base64 texts, or the bytes with a ' +
        'function that takes a length (`memcmp`, `CRYPTO_memcmp`).',
      node: 'Pass buffers to `crypto.timingSafeEqual`, not `.toString("utf8")`.',
    },
    severity: 'high',
    cwe: 704,
  },
  'base64-variant': {
    title: 'Uses or accepts forms of Base64 other than the standard one with padding',
    seen:
      'Lenient decoders that skip unknown characters or unused bits, the URL-safe alphabet of web tokens, and code ' +
      'that removes padding or quotes.',
    why:
      'Another form does not match where texts are compared. Where it is accepted, several headers count as the same ' +
      'signature.',
    fix: {
      rule:
        'Write the digest in standard Base64 with padding, and compare this text with the text of the header instead ' +
        'of decoding the header.',
      node:
        'Use `digest("base64")`, compare the lengths, then `Buffer.from(header)` with `Buffer.from(expectedBase64)`. ' +
        'Remove replacements of "-", "_", "=" and quotes.',
      java: 'Compare texts: even `Base64.getDecoder()` accepts a value without its padding.',
      python:
        'Use `base64.b64encode`, not `urlsafe_b64encode`, and compare texts: even `base64.b64decode(value, ' +
        'validate=True)` ignores unused bits.',
      php: 'Compare texts: even `base64_decode($value, true)` accepts a value without its padding.',
      ruby: 'Use `Base64.strict_encode64`, not `urlsafe_encode64`.',
      go: 'Use `base64.StdEncoding`, not `RawStdEncoding`, and `base64.StdEncoding.Strict()` to decode.',
      dotnet: 'Use `Convert.ToBase64String`, and compare texts.',
    },
    severity: 'low',
    cwe: 1286,
  },
  'wrong-digest-encoding': {
    title: 'Uses or accepts hexadecimal or a second encoding of the digest',
    seen:
      '`hexdigest`, `digest("hex")` and HMAC functions that return hexadecimal by default, or a loop that decodes ' +
      'until a value matches.',
    why:
      'Where only the other encoding is used, every valid signature is rejected. Where it is also accepted, ' +
      'values that the sender never sends are valid.',
    fix: {
      rule:
        'Ask the HMAC function for raw bytes, encode them once in standard Base64 with padding, and accept no other ' +
        'encoding.',
      node:
        'Use `digest("base64")` only. Remove `digest("hex")`, the branch on `signature.length === 64` and a second ' +
        '`Buffer.from(value, "base64")`.',
      python: 'Use `base64.b64encode(mac.digest()).decode()` instead of `mac.hexdigest()`.',
      php: 'Use `base64_encode(hash_hmac("sha256", $body, $secret, true))`: the fourth argument requests bytes.',
      ruby: 'Use `Base64.strict_encode64(OpenSSL::HMAC.digest("SHA256", secret, body))` instead of `hexdigest`.',
      java: 'Use `Base64.getEncoder().encodeToString(mac.doFinal(body))`, not `HexFormat`.',
      go: 'Use `base64.StdEncoding.EncodeToString` instead of `hex.EncodeToString`, and remove the branch with `hex`.',
      rust: 'Use `STANDARD.encode(...)` of the crate `base64` instead of `hex::encode`.',
      dotnet: 'Use `Convert.ToBase64String` instead of `Convert.ToHexString`.',
    },
    severity: 'medium',
    cwe: 172,
  },
  'signature-treated-as-url-text': {
    title: 'Encodes or decodes the signature like a part of a URL or a form',
    seen:
      '`decodeURIComponent`, `urldecode`, `unquote_plus`, and gateways that copy the header into a query ' +
      'parameter.',
    why:
      'The characters +, / and = change. Many decoders turn + into a space, and about half of all valid signatures ' +
      'contain one.',
    fix: {
      rule: 'Send, read and compare the Base64 text as it is: a header is not part of a URL.',
      node: 'Remove `decodeURIComponent` and `querystring.unescape` from the code that reads the header.',
      php: 'Do not use `urldecode()`, which turns + into a space.',
      python: 'Do not use `unquote_plus()`.',
    },
    severity: 'high',
    cwe: 177,
  },
  'changed-signature-value': {
    title: 'Uses a signature value that was cut, extended or changed on the way',
    seen: 'Logs, columns and terminals that cut values, text copied with its label or quotes, and joined header lines.',
    why: 'The header value is compared as a whole, so a value that differs in one character is not the signature.',
    fix: {
      rule: 'Pass on the whole value and nothing else: its letter case, its padding and no characters around it.',
    },
    severity: 'low',
    cwe: 222,
  },
  'untrimmed-signature': {
    title: 'Rejects a valid signature that has spaces or tabs around it',
    seen: 'Code that reads raw header lines, where neither the server nor the code trims the value.',
    why: 'In HTTP, whitespace around a value is not part of it. If a proxy adds some, every notification is rejected.',
    fix: {
      rule: 'Let the HTTP server trim the value, or trim spaces and tabs where you read raw headers.',
      express: 'Read the header with `req.get("X-Service-Signature")`.',
      flask:
        'Use `request.headers.get("X-Service-Signature", "").strip(" \\t")`, or serve the app with gunicorn, which ' +
        'trims the value: the development server (Werkzeug) does not.',
    },
    severity: 'low',
    cwe: 440,
  },
  'foreign-signature-format': {
    title: 'Uses or accepts the signature format of another service',
    seen:
      'Code for "sha256=" and hexadecimal or for "v1," headers, copied from a receiver of another sender or shared ' +
      'with it.',
    why:
      'Where only the other format is used, every valid signature is rejected. Where it is also accepted, values ' +
      'that the sender never sends are valid.',
    fix: {
      rule:
        'The header holds the Base64 of the HMAC-SHA256 of the body and nothing else: compare it as a whole. Give ' +
        'each sender its own route and verification.',
      node: 'Use `digest("base64")`, and remove code that cuts a prefix, such as `signature.replace(/^\\w+[=,]/, "")`.',
    },
    severity: 'medium',
    cwe: 358,
  },
  'several-signatures': {
    title: 'Mishandles a list of signatures or a repeated signature header',
    seen:
      '`header.split(",").some(isValid)`, `every` on an empty list, or code that expects one string and gets an ' +
      'array.',
    why:
      'Depending on the code, an attacker tries many signatures in one request, bypasses the comparison or causes a ' +
      '500.',
    fix: {
      rule:
        'This sender sends exactly one signature: require a single string, compare it as a whole, and answer 401 ' +
        'otherwise.',
      express:
        'Check `typeof header === "string"`, detect repeated headers with `req.headersDistinct`, do not split the ' +
        'value, and continue only when `isValid(header)` is true.',
    },
    severity: 'high',
    cwe: 235,
    implies: ['foreign-signature-format'],
  },
  'other-signature-place': {
    title: 'Takes the signature from a place other than the agreed header',
    seen:
      'Lists of header names of several senders, and functions that look up a name in headers, cookies, the query ' +
      'and the body alike.',
    why: 'Rules of a gateway for the agreed header do not cover the other place.',
    fix: {
      rule:
        'Read only the agreed header by its exact name, and answer 401 when it is absent. Let the server drop header ' +
        'names with underscores, as nginx does by default.',
      express:
        'Use `req.get("X-Service-Signature")` only. Remove `?? req.query.signature`, `?? req.get("Authorization")`, ' +
        '`?? req.cookies.signature` and `const { signature, ...rest } = req.body`.',
      php: 'Use `$_SERVER["HTTP_X_SERVICE_SIGNATURE"]`, not `$_REQUEST`.',
      laravel: 'Use `$request->header(...)`, not `$request->input(...)`.',
    },
    severity: 'medium',
    cwe: 348,
  },
  'algorithm-from-request': {
    title: 'Lets the request choose the algorithm of the signature',
    seen:
      'Verifiers for several senders that derive the algorithm from a prefix ("sha1="), a header or the length of ' +
      'the signature.',
    why:
      'An attacker chooses how strictly a request is verified: by the weakest algorithm, or not at all where "none" ' +
      'is supported.',
    fix: {
      rule: 'Name HMAC-SHA256 in the code, and read no algorithm and no version from a request.',
      node:
        'Delete the parser for "algorithm=value", and do not derive the first argument of `createHmac` from a ' +
        'header.',
      php: 'Do not pass a part of the header to `hash_hmac` as its first argument.',
      java: 'Do not pass a part of the header to `Mac.getInstance`.',
    },
    severity: 'critical',
    cwe: 757,
    implies: ['other-hmac-hash', 'foreign-signature-format'],
  },
  'other-hmac-hash': {
    title: 'Uses or accepts an HMAC with a hash function other than SHA-256',
    seen: 'Libraries with another default, code for other services, and fallbacks for older senders.',
    why:
      'Where only the other function is used, every valid signature is rejected. As a fallback, it lets an attacker ' +
      'choose the weakest one.',
    fix: {
      rule: 'Name SHA-256 in the code, and remove every fallback.',
      node: 'Use `createHmac("sha256", secret)` only.',
    },
    severity: 'high',
    cwe: 327,
  },
  'hash-instead-of-hmac': {
    title: 'Uses or accepts a hash or a checksum instead of an HMAC',
    seen:
      '`createHash` instead of `createHmac`, Content-MD5 or CRC-32, and schemes that hash the secret and the body ' +
      'together.',
    why:
      'An attacker can compute a hash of the body without the secret. Hashing the secret with the body allows ' +
      'attacks that HMAC prevents.',
    fix: {
      rule:
        "Use the platform's HMAC function with SHA-256, the secret as its key and the body as its message, and " +
        'accept nothing else.',
      node:
        'Replace `createHash("sha256")` with `createHmac("sha256", secret)`, and remove `update(secret + body)` and ' +
        '`update(body + secret)`.',
    },
    severity: 'critical',
    cwe: 325,
  },
  'swapped-hmac-arguments': {
    title: 'Passes the arguments of the HMAC in the wrong order, or accepts both orders',
    seen:
      'HMAC functions of several languages order key and message differently, and in helpers both are plain ' +
      'strings.',
    why:
      'The result differs from the signature of the sender. A receiver that accepts it accepts values that ' +
      'no sender makes.',
    fix: {
      rule: 'Look up the order of the arguments, and keep one call: the secret is the key, the body is the message.',
      node: 'Pass the secret to `createHmac` and the body to `update`.',
      python: '`hmac.new(key, msg, sha256)`: the secret comes first.',
      php: '`hash_hmac("sha256", $body, $secret)`: the secret comes last.',
    },
    severity: 'medium',
    cwe: 683,
  },
  'confused-credentials': {
    title: 'Mixes up the secret, the API key and the signature',
    seen:
      'One list of valid credentials for all purposes, two swapped settings, and middleware for tokens on the ' +
      'signature header.',
    why:
      'A signature that is made with another credential does not match. Where a fixed value or the API key is ' +
      'enough, the body is not protected.',
    fix: {
      rule:
        'Configure the secret and the API key separately. Key the HMAC with the secret only, and compare the ' +
        'signature header with the HMAC of the body only.',
      express:
        'Pass the secret to the verification by name, not a list of credentials. Remove `if (signature === secret)` ' +
        'and token middleware from this route.',
    },
    severity: 'critical',
    cwe: 345,
  },
  'unset-secret': {
    title: 'Uses an empty or undefined secret, or skips the check, when no secret is found',
    seen:
      '`process.env.SECRET ?? ""`, a missing setting in a template string, or a table by tenant, host or type ' +
      'without an entry.',
    why: 'An attacker signs with an empty secret or with a word such as "undefined", or needs no signature at all.',
    fix: {
      rule:
        'Fail at start-up when the secret is unset, empty or one of the words "undefined", "null" and "None". Answer ' +
        '401 when no secret is found for a request, and leave empty entries out of lists of secrets.',
      node:
        'Write `if (!process.env.WEBHOOK_SECRET) throw new Error(...)` at start-up, without `?? ""` or template ' +
        'literals. Use one secret, regardless of what the headers, the host and the body name.',
      go: '`os.Getenv` returns "" for an unset variable: use `os.LookupEnv`, and stop if it is missing or empty.',
      python: 'Use `os.environ["WEBHOOK_SECRET"]`: `get` returns None, which `str()` turns into the word None.',
      php: '`getenv()` returns false for an unset variable, which is an empty key: throw at start-up.',
      laravel:
        'Throw if `config("services.webhook.secret")` is empty: `env()` returns null once configuration is cached.',
      rails: 'Use `ENV.fetch("WEBHOOK_SECRET")`, which raises, instead of `ENV[...].to_s`.',
      spring:
        'Give the property placeholder no default after the colon: the context then fails to start without a value.',
    },
    severity: 'critical',
    cwe: 1188,
    implies: ['well-known-secret'],
  },
  'well-known-secret': {
    title: 'Accepts a default, sample, test or masked value as the secret',
    seen:
      '`process.env.WEBHOOK_SECRET || "secret"`, copied sample configurations, test constants, and settings ' +
      'saved from a masked form.',
    why: 'The value is in public code or samples, or is easy to guess, and an attacker tries it first.',
    fix: {
      rule:
        'Verify only with a random secret of at least 32 characters that is agreed with the operator. Have no ' +
        'default: a missing secret or a placeholder is an error at start-up.',
      node:
        'Remove the default after `||`, delete constants and test modes from production code, and leave the secret ' +
        'out of an update when the form still contains the mask.',
    },
    severity: 'critical',
    cwe: 1392,
  },
  'secret-with-extra-characters': {
    title: 'Adds or removes whitespace, quotes or a byte order mark at the ends of the secret',
    seen:
      'Secrets from files, `echo`, env files or copied text, where one tool keeps a line feed or quotes and another ' +
      'removes them.',
    why:
      'Different keys produce different signatures, so valid ones do not match. A receiver that tries both forms ' +
      'accepts signatures that the sender never makes.',
    fix: {
      rule:
        'Agree on a secret without whitespace or quotes at its ends, trim it once where it is read, and use only ' +
        "that value. Write secret files with `printf '%s'`.",
      node:
        'Write `readFileSync(path, "utf8").trim()`, and compute one HMAC with this value: delete the one with the ' +
        'untrimmed text.',
    },
    severity: 'high',
    cwe: 138,
  },
  'shortened-secret': {
    title: 'Uses or accepts only a part of the secret',
    seen: 'A database column, form field or cipher key of fixed size, or a hand-written HMAC that cuts keys.',
    why: 'A shorter key produces other signatures, and is easier to guess where it is accepted.',
    fix: {
      rule:
        "Store and use the whole secret, and compare its length with the agreed one at start-up. The platform's " +
        'HMAC function takes keys of any length.',
      node: 'Widen the column, and remove `secret.slice(0, 32)`.',
    },
    severity: 'high',
    cwe: 222,
  },
  'converted-secret': {
    title: 'Decodes, encodes, hashes or otherwise changes the secret before it is used as the key',
    seen:
      'Libraries for schemes with Base64 secrets or prefixes, default charsets, settings that change the letter ' +
      'case, and secrets that are stored hashed.',
    why:
      'Signatures made with the secret itself do not match. Where the changed form is accepted, it can be easier to ' +
      'guess or to obtain than the secret.',
    fix: {
      rule:
        'Use the UTF-8 bytes of the secret as the key of the HMAC: decode, convert or change nothing, even if it ' +
        'looks like Base64. Store it encrypted, not hashed.',
      node: 'Pass the string to `createHmac`, without `Buffer.from(secret, "base64")`.',
      dotnet: 'Use `Encoding.UTF8.GetBytes(secret)`, not `Encoding.ASCII` or `Encoding.Unicode`.',
    },
    severity: 'high',
    cwe: 172,
  },
  'unread-body-verified': {
    title: 'Signs or verifies an empty or placeholder text instead of the body',
    seen:
      '`JSON.stringify(req.body)` or `req.rawBody ?? ""` where no parser has kept the raw body, or another ' +
      'reader has consumed it.',
    why: 'Valid signatures do not match, and the signature of the placeholder is valid for every body of that kind.',
    fix: {
      rule:
        'Keep the raw bytes when the body is first read, pass them to the function that signs or verifies, and ' +
        'reject a delivery without them.',
      ...RAW_BYTES,
    },
    severity: 'high',
    cwe: 354,
    implies: ['body-parser-by-content-type'],
  },
  'event-time-as-sending-time': {
    title: 'Rejects valid notifications as replays because of the time of the event',
    seen: 'Libraries for schemes that sign the time of sending; here the time says when the event happened.',
    why: 'Delayed deliveries are rejected on every retry, until they are lost.',
    fix: {
      rule: 'Remove the time window, and detect replays by the id, which the signature covers.',
      node: 'Remove the tolerance on `at` from the verification.',
    },
    severity: 'medium',
    cwe: 1025,
    implies: ['time-compared-with-clock', 'local-calendar-time'],
  },
});
