import {
  AMOUNTS_IN_DJANGO,
  BODY_LIMIT,
  CHECKED_PAYLOAD,
  GUARDED_PARSING,
  RAW_BYTES,
  TIME_OF_BOTH_TYPES,
} from './code-by-stack.ts';
import { ids, mistakes } from './mistake.ts';

const NUMBERS_IN_DJANGO =
  '`json.loads` accepts NaN and returns Infinity for 1e400, which a JSONField rejects: pass `parse_constant`, and ' +
  `store the text of the body in a TextField. ${AMOUNTS_IN_DJANGO}`;

/** Mistakes in how a receiver reads a malformed, oversized, deeply nested or oddly typed payload. */
export const MALFORMED_MISTAKES = mistakes({
  'unguarded-parser': {
    title: 'Does not handle every error of decoding and parsing the body',
    seen:
      '`JSON.parse` in an async handler or a stream listener where nothing catches the exception, a handler for only ' +
      'one class of error, a strict decoder in front of a guarded parser, or a catch block that rethrows after the ' +
      'answer.',
    why:
      'A malformed body causes a 500, which the sender treats as an outage and retries, or it ends the process and ' +
      'all requests in progress.',
    fix: {
      rule:
        'Decode and parse in one try/catch for every error, answer 400 with a fixed text, and throw nothing after ' +
        'the answer. Then check each field before it is used.',
      ...GUARDED_PARSING,
    },
    severity: 'high',
    cwe: 248,
    implies: ids(
      'undecodable-body-throws lenient-parser empty-body-unhandled deep-nesting-unhandled remembered-before-checks',
      'state-outlives-request uncaught-error error-message-in-answer lossy-body-text decoded-body',
      'state-shared-by-requests',
    ),
  },
  'lenient-parser': {
    title: 'Parses the body with extensions to JSON or as another format',
    seen:
      'Parsers that accept `NaN` (Python), comments (JSON5, JSONC) or other formats (forms, XML), and parsers that ' +
      'turn text into dates (Json.NET, `JSON.parse` revivers).',
    why:
      'The parser creates values that JSON does not have, or accepts a body that is not JSON. Later code and the ' +
      'database do not expect them, and fail.',
    fix: {
      rule:
        'Parse every body with a strict JSON parser, without guessing the format, without extensions, and without ' +
        'recognition of dates.',
      node: 'Call `JSON.parse` without a reviver, and register no form or XML parser for the route.',
      python: 'Pass a `parse_constant` that raises `ValueError` to `json.loads`, and never use `eval`.',
      dotnet: 'Use System.Text.Json, or `DateParseHandling.None` in Json.NET.',
    },
    severity: 'medium',
    cwe: 1286,
  },
  'read-waits-for-more': {
    title: 'Waits for data that does not arrive while it reads the body',
    seen:
      'Readers that wait for a first chunk or for the end of a JSON value, and loops that read again whenever the ' +
      'last read filled the buffer.',
    why: 'The request gets no answer and holds a connection or a thread. A few hundred of them exhaust the receiver.',
    fix: {
      rule:
        'Stop at the end of the body (Content-Length or the end of the stream), set a timeout for reading, and treat ' +
        'an incomplete value as an error (400).',
      node: 'Let the framework read the body, or continue at the `end` event even without a chunk.',
      go: 'Use `io.ReadAll`, or stop at `io.EOF`.',
    },
    severity: 'medium',
    cwe: 400,
  },
  'empty-body-unhandled': {
    title: 'Does not handle an empty body like any other body',
    seen:
      'Frameworks that leave the body undefined, `{}` or null if there is none, code that reads a field of it, and ' +
      'an early return for empty bodies.',
    why:
      'Scanners and health checks constantly post empty bodies. Each one causes an internal error, or an answer ' +
      'without verification.',
    fix: {
      rule: 'Verify the signature of an empty body as well, and then answer 400 as for invalid JSON.',
      ...RAW_BYTES,
    },
    severity: 'low',
    cwe: 754,
  },
  'parsing-before-verification': {
    title: 'Decodes, parses or validates the body before it verifies the signature',
    seen:
      'A global body parser, a schema of the route or an attack scanner in front of the verification, and log lines, ' +
      'routers or lookups of the secret that read a field of the payload.',
    why:
      'Anyone can reach the parser without a secret: it answers 400, 415 or 422 where 401 is expected, an internal ' +
      'error fills the log, and an unhandled one ends the process.',
    fix: {
      rule: 'Verify the signature over the raw bytes first. Decode, parse, validate and log only a verified body.',
      ...RAW_BYTES,
      fastify:
        `Remove \`schema.body\` from the route. ${RAW_BYTES.fastify} Instead of the schema, call ` +
        '`request.validateInput(payload, schema)`.',
      fastapi:
        'Declare `request: Request` as the parameter instead of a model, because FastAPI validates parameters first ' +
        `and answers 422. Verify \`await request.body()\`. ${CHECKED_PAYLOAD.fastapi}`,
      laravel: `${RAW_BYTES.laravel} Verify in a middleware of the route, which runs before a \`FormRequest\`.`,
      rails:
        `${RAW_BYTES.rails} Verify in a \`before_action\`. In \`ActionController::Metal\`, invalid UTF-8 gets no 400 ` +
        'first: other controllers parse the body for their log.',
      dotnet: 'Verify in middleware: model binding and `[ApiController]` answer 400 before the action.',
    },
    severity: 'high',
    cwe: 696,
    implies: ids(
      'unguarded-parser payload-root-unchecked key-checked-late verification-per-type',
      'verification-per-content-type verification-per-framing verification-per-method own-http-parser',
      'lenient-parser empty-body-unhandled decoded-body conditional-key-check body-as-c-string decompressed-body',
      'unread-body-verified uncaught-error state-shared-by-requests state-outlives-request',
      'remembered-before-checks decompression-unguarded',
    ),
  },
  'payload-not-validated': {
    title: 'Uses the payload without validating it',
    seen:
      '`const { data } = JSON.parse(body)` followed by `data.metadata.orderStatus`, and handlers that leave every ' +
      'check to the database.',
    why:
      'Whatever a payload lacks, or has in another type, causes a 500. The sender treats a notification that ' +
      'can never succeed as an outage and retries it.',
    fix: {
      rule:
        'Validate the whole payload after the verification and before any code reads a field: an object with the id, ' +
        'the type and the data that its type needs. Let optional fields be absent or null. Answer 400 to everything ' +
        'else, and catch errors of the handler.',
      ...CHECKED_PAYLOAD,
      django: `${CHECKED_PAYLOAD.python} ${NUMBERS_IN_DJANGO}`,
    },
    severity: 'medium',
    cwe: 20,
    implies: ids(
      'unguarded-parser payload-root-unchecked nested-object-unchecked text-type-unchecked text-form-unchecked',
      'time-conversion-unchecked number-conversion-unchecked value-longer-than-column inherited-name-lookup',
      'payload-text-unencoded undecodable-body-throws uncaught-error missing-field-unchecked',
      'deep-nesting-unhandled lenient-parser state-shared-by-requests remembered-before-checks',
      'query-operators-from-payload lossy-body-text unstorable-characters state-outlives-request',
      'resource-not-released empty-body-unhandled decoded-body',
    ),
  },
  'invalid-payload-redirected': {
    title: 'Redirects invalid payloads instead of answering 400',
    seen: 'Validation of forms (`$request->validate()` of Laravel), which sends the user back to the form.',
    why: 'The sender does not follow redirects, and its log names a wrong URL as the reason instead of the payload.',
    fix: {
      rule: 'Answer 400 to an invalid payload, with a fixed text, and never redirect a delivery.',
      ...CHECKED_PAYLOAD,
      rails: 'Render `head :bad_request` where the validation fails, and no `redirect_to` or `redirect_back`.',
    },
    severity: 'medium',
    cwe: 393,
    implies: ids(
      'payload-not-validated text-type-unchecked unguarded-parser nested-object-unchecked missing-field-unchecked',
      'time-conversion-unchecked payload-root-unchecked deep-nesting-unhandled lenient-parser text-form-unchecked',
      'value-longer-than-column state-shared-by-requests remembered-before-checks query-operators-from-payload',
      'number-conversion-unchecked lossy-body-text unstorable-characters state-outlives-request',
      'resource-not-released payload-text-unencoded empty-body-unhandled decoded-body',
    ),
  },
  'payload-root-unchecked': {
    title: 'Does not check that the payload is an object',
    seen:
      '`req.body.id` on null, `if (payload)`, `typeof payload === "object"` (true for null and lists), class mappers ' +
      'that throw, and loops over a batch.',
    why:
      'A valid JSON value that is not a notification causes an internal error, or ends the process in a background ' +
      'task. The sender may treat it as an outage and retry.',
    fix: {
      rule:
        'Validate the payload against a schema whose root is an object, before any code reads a field. Accept ' +
        'exactly one notification per request, and answer 400 to everything else.',
      ...CHECKED_PAYLOAD,
    },
    severity: 'medium',
    cwe: 1287,
    implies: ['uncaught-error'],
  },
  'missing-field-unchecked': {
    title: 'Reads a required field without checking that it is present',
    seen:
      'Access by key that throws (`payload["at"]`, `fetch`), constructors that throw on null, a switch whose default ' +
      'throws, and NOT NULL columns as the only validation.',
    why:
      'The error occurs in the handler or in the database and becomes a 500. The sender treats a notification ' +
      'that can never succeed as an outage and retries.',
    fix: {
      rule: 'Require the fields that you need for this type in a schema, before the handler runs, and answer 400.',
      ...CHECKED_PAYLOAD,
    },
    severity: 'medium',
    cwe: 230,
  },
  'nested-object-unchecked': {
    title: 'Reads fields of a nested object without checking its shape',
    seen:
      '`data.metadata.orderStatus` without a schema, `typeof data === "object"` (true for null), `in` on a string, ' +
      'and casts by `data.type`.',
    why:
      'The envelope is valid, so the error occurs deep in the handler and becomes a 500. The sender treats it as an ' +
      'outage.',
    fix: {
      rule:
        'Validate every object on the way to a field against the shape for its type: an object, not a list or text. ' +
        'Optional fields (`errorData`, `blockchainData`, hashes, error codes) may be absent or null. Do not parse ' +
        'text as JSON a second time. Answer 400 to everything else.',
      ...CHECKED_PAYLOAD,
    },
    severity: 'medium',
    cwe: 237,
    implies: ['missing-field-unchecked', 'remembered-before-checks'],
  },
  'text-type-unchecked': {
    title: 'Uses a value as text without checking that it is text',
    seen:
      '`type.toLowerCase()`, `description.trim()`, `code.split("-")`, `TABLES.get(payload["type"])` with a list as ' +
      'the key (Python, PHP), and enums that treat a number as an index.',
    why:
      'A number, list, object or null makes the function or the lookup throw, usually as a 500. Where it is ' +
      'converted instead, a list of one entry equals its entry.',
    fix: {
      rule:
        'Check that a value is text before you compare, convert, look up or store it. Answer 400, or accept null ' +
        'where the field is optional.',
      ...CHECKED_PAYLOAD,
      python: 'Test `isinstance(value, str)` before the lookup, and answer 400 otherwise.',
    },
    severity: 'low',
    cwe: 241,
    implies: ['missing-field-unchecked', 'query-operators-from-payload'],
  },
  'text-form-unchecked': {
    title: 'Converts or splits text without checking its form',
    seen:
      'Conversions of empty text to an enum or a UUID (`valueOf("")`, `uuid.UUID("")`), `code.split("-")[2]`, and ' +
      'access to the first character.',
    why:
      'A check that the value is not null, or is text, passes, and the unguarded conversion after it throws: one ' +
      'string in a payload causes a 500.',
    fix: {
      rule: 'Require at least one character where you use the value, and check the form of a text before you split it.',
      node: 'Use `z.string().min(1)`, and optional access (`?.`) to the parts of a split text.',
      python:
        'Write `value[:1]`, which is empty for an empty text, and catch the `ValueError` that the conversion ' +
        'raises.',
      spring: 'Catch `IllegalArgumentException` from `valueOf` and `UUID.fromString`, and answer 400.',
    },
    severity: 'low',
    cwe: 1286,
  },
  'inherited-name-lookup': {
    title: 'Uses names from the payload as keys of a plain object, which has inherited properties',
    seen: '`handlers[payload.type]`, `transitions[status].from` and counters per type in JavaScript.',
    why:
      'The lookup finds `constructor` or `__proto__`, which is not an entry of the table: unknown names are ignored ' +
      'as intended, but these cause a 500 or change the prototype.',
    fix: {
      rule: 'Keep everything that is keyed by payload content in a map that contains only your own names.',
      node: 'Use a `Map`, an object without a prototype (`Object.create(null)`), or test with `Object.hasOwn`.',
    },
    severity: 'low',
    cwe: 470,
  },
  'query-operators-from-payload': {
    title: 'Passes an unchecked id to a database query',
    seen: 'Document databases, where an object in a query is an operator and not a value.',
    why:
      'A 500 shows that the object reached the query. `{ "$gt": "" }` matches every record, so the receiver finds or ' +
      'updates a transaction that the notification does not name.',
    fix: {
      rule: 'Check that the value for a lookup is text before it becomes part of a query.',
      node: 'Run `schema.safeParse(payload)` with `z.string()` for ids first, and enable `sanitizeFilter` in Mongoose.',
      spring: 'Bind to a class with `String` fields and validation, and map its exceptions to 400.',
      go: 'Unmarshal ids into `string` fields, and answer 400 if that fails.',
    },
    severity: 'high',
    cwe: 943,
  },
  'sql-from-payload-text': {
    title: 'Concatenates text from the payload into an SQL query',
    seen: 'Hand-written SQL with template strings that was tested with UUIDs, which contain no quotes.',
    why: 'The first value with an apostrophe causes a 500, and a text can change the query (SQL injection).',
    fix: {
      rule: 'Use bound parameters for all values in every query.',
      node: "Write `db.query('... WHERE id = $1', [id])`.",
    },
    severity: 'critical',
    cwe: 89,
    implies: ['body-content-filter'],
  },
  'payload-text-unencoded': {
    title: 'Uses text from the payload as a format, a header, a file name or a log line without encoding it',
    seen:
      'printf-like functions and templates with external text as the first argument, `X-Request-Id` from the id, and ' +
      'one file per notification.',
    why:
      'Line breaks, placeholders and paths cause an exception at best. Otherwise they split a header, forge a log ' +
      'line, write outside a directory, or read memory or run code in a format or template.',
    fix: {
      rule:
        'Pass payload text as an argument of a format, never as the format. Do not copy it into headers, name files ' +
        'by a hash, and escape it in logs.',
      node:
        'Write `logger.info({ id }, "accepted")`, generate the request id yourself, and name files by ' +
        "`createHash('sha256').update(id).digest('hex')`.",
    },
    severity: 'high',
    cwe: 116,
    implies: ['unstorable-characters', 'value-longer-than-column'],
  },
  'unstorable-characters': {
    title: 'Passes on text with characters that the database or the next encoder rejects',
    seen:
      'PostgreSQL with U+0000, MySQL with the three-byte character set utf8, UTF-8 encoders with unpaired ' +
      'surrogates, XML with control characters, and slices of bytes that cut a character in half.',
    why: 'Storing or encoding the text fails with a 500, so every attempt to deliver this notification fails.',
    fix: {
      rule:
        'Store text in a character set for all of Unicode, and cut it by characters. Replace U+0000, other control ' +
        'characters and unpaired surrogates where you store text or pass it on; in an id, answer 400.',
      node:
        "Write `text.toWellFormed().replaceAll('\\u0000', '')`, cut with `[...text].slice(0, 255).join(\"\")`, and " +
        'set `charset: "utf8mb4"` for a connection to MySQL.',
      python: 'Encode with `errors="replace"`.',
      php: 'Cut with `mb_substr`.',
      laravel: 'Set `charset` and `collation` to utf8mb4 in config/database.php, and convert the tables.',
      go: 'Cut at `utf8.RuneStart`.',
    },
    severity: 'medium',
    cwe: 176,
    implies: ['unstorable-body-text', 'body-chunks-as-text', 'valid-text-rejected'],
  },
  'names-from-payload-keys': {
    title: 'Creates properties, columns or metrics from the names in a payload',
    seen:
      'Payloads stored as they are in MongoDB before 5.0 or indexed in Elasticsearch, `json_decode` to an object in ' +
      'PHP, limits such as `max_input_vars`, and a metric or log field for each key.',
    why:
      'The systems that store the names have limits: on their number, length and characters (empty, dots, dollar ' +
      'signs, U+0000). One new field makes every notification fail, with an error that is not handled.',
    fix: {
      rule:
        'Read the fields that you know by name, and store the rest as text if at all. Use your own names for ' +
        'columns, logs and metrics.',
      node: 'Store `JSON.stringify(payload)` as text, or selected fields, instead of the payload key by key.',
      php: 'Use `json_decode($body, true)`, and read the array.',
    },
    severity: 'low',
    cwe: 235,
  },
  'value-longer-than-column': {
    title: 'Stores values without checking their length',
    seen:
      'Columns of 16, 36, 64 or 255 characters without a length check before the insert, and indexes with a maximum ' +
      'entry size (PostgreSQL) on a column without a limit.',
    why: 'The insert fails with a 500 on every attempt. A database that truncates instead makes two ids equal.',
    fix: {
      rule: 'Limit the length in the validation, at the size of the column and its index, and answer 400 above it.',
      node: 'Use `z.string().max(255)` for ids, currencies, chains and codes.',
      django: 'Call `full_clean()` before `save()`, which does not check lengths, and answer 400 to `ValidationError`.',
      laravel: 'Use the rule `max:255` in `Validator::make`.',
      rails: 'Use `validates :id, length: { maximum: 255 }`, and answer 400 if `save` returns false.',
    },
    severity: 'low',
    cwe: 1284,
  },
  'deep-nesting-unhandled': {
    title: 'Does not limit the nesting depth of a payload',
    seen:
      'Ruby (error above 100 levels), Python (`RecursionError`), native parsers without a limit, and deep copies, ' +
      'merges, validators and loggers that walk the payload recursively.',
    why:
      'The error handling of the parser misses the class of the depth error, or a recursive walk overflows the stack ' +
      'after parsing. The answer is a 500, or the process ends where this cannot be caught.',
    fix: {
      rule:
        'Limit the depth while parsing, handle that error like any other parser error (400), and do not walk the ' +
        'payload recursively.',
      node:
        '`JSON.parse` itself is safe; check the depth with a loop before a schema, a deep copy, a merge or ' +
        '`util.inspect`.',
      python: GUARDED_PARSING.python,
      spring: 'Use Jackson 2.15 or later, which limits the depth, and answer 400 to `StreamConstraintsException`.',
      php: GUARDED_PARSING.php,
      ruby: GUARDED_PARSING.ruby,
      go: '`json.Unmarshal` returns an error above 10,000 levels: check it.',
    },
    severity: 'high',
    cwe: 674,
    implies: ['uncaught-error'],
  },
  'oversized-body-unhandled': {
    title: 'Cuts, drops or fails on a large body instead of answering 413 above a limit',
    seen:
      'Buffers of 64 kB, default limits of body parsers, error handlers that answer 500, `req.destroy()`, and ' +
      'memory limits below the size of a body.',
    why:
      'Without a limit, anyone can fill the memory without a secret. Where the error of a limit is not handled, the ' +
      'sender sees an outage or an invalid signature, and retries a body that will always be too large.',
    fix: {
      rule:
        'Set the body limit to 256 kB or more in every component on the way, count the bytes while you read, and ' +
        'answer 413 above it. Never continue with a part of the body, and reject a missing signature header unread.',
      ...BODY_LIMIT,
      express:
        'Use `express.raw({ type: () => true, limit: "1mb" })`, and an error handler that answers with ' +
        '`error.status`. Do not call `req.destroy()`: answer 413, then close.',
    },
    severity: 'high',
    cwe: 770,
    implies: ids('body-left-unread valid-body-size-rejected body-consumed-twice uncaught-error deep-nesting-unhandled'),
  },
  'aborted-body-unhandled': {
    title: 'Does not handle a connection that ends before the end of the body',
    seen:
      'Request streams without a listener for errors, blocking reads without a timeout, and resources that are not ' +
      'released after an aborted request.',
    why:
      'Connections break. The error ends the process, or each aborted request holds a worker, a connection or a lock ' +
      'until none is left.',
    fix: {
      rule:
        'Use the body reader of the framework with a timeout, handle its errors, and release what a request holds in ' +
        'a finally block.',
      node: 'Let the framework read the body, or handle the events `error` and `close` of the request.',
    },
    severity: 'high',
    cwe: 755,
  },
  'decompression-unguarded': {
    title: 'Does not handle errors of Content-Encoding and decompression',
    seen:
      'Streams with a listener for the end but not for errors, tables of decoders that are indexed by the header, ' +
      'and decompression outside the error handling of the parser.',
    why:
      'A body that is not compressed as declared, or an unknown encoding, causes a 500 or leaves the request ' +
      'unanswered. Decompression often precedes the verification, so anyone can cause it.',
    fix: {
      rule:
        'Turn off decompression for the endpoint and answer 415, or handle its errors, including an early end, with ' +
        '400.',
      node:
        'Test `req.headers["content-encoding"]` before anything decodes, and use `stream.pipeline`, which reports ' +
        'errors, instead of `.pipe()`.',
    },
    severity: 'medium',
    cwe: 755,
  },
  'payload-merged-into-prototype': {
    title: 'Merges the payload into an object with a function that writes to the prototype',
    seen:
      'Old versions of popular merge functions, hand-written loops over the keys of a payload, and filters that ' +
      'block `__proto__` but not `constructor.prototype`.',
    why:
      'One processed delivery changes later ones until a restart: it can set a flag that makes an unsigned ' +
      'delivery count as verified.',
    fix: {
      rule:
        'Read the fields that you know; never merge a payload or copy its keys by name. Reject `__proto__`, ' +
        '`constructor` and `prototype` where you cannot avoid it.',
      node: 'Use a schema that drops unknown keys, and `Object.create(null)` or a `Map` for external keys.',
    },
    severity: 'critical',
    cwe: 1321,
    implies: ['state-shared-by-requests', 'failures-lock-out', 'serial-body-reads', 'body-left-unread'],
  },
  'payload-method-calls': {
    title: 'Calls methods of the payload that its fields can replace',
    seen: '`data.hasOwnProperty("errorData")`, texts such as `"" + data` in a log line, and `_.each(data)`.',
    why:
      'A field named `hasOwnProperty`, `toString` or `length` replaces the method or makes an object look like a ' +
      'list: one new field with such a name causes a 500.',
    fix: {
      rule: 'Use static functions on values from outside, and do not put objects into text.',
      node: 'Use `Object.hasOwn(data, name)` and `Object.keys(data)`, and enable `no-prototype-builtins`.',
    },
    severity: 'low',
    cwe: 843,
  },
  'class-from-payload': {
    title: 'Creates objects of a class that the payload names',
    seen:
      '`JSON.parse(text, create_additions: true)` in Ruby, default typing in Jackson, `TypeNameHandling` in .NET, ' +
      'and jsonpickle in Python.',
    why: 'The sender chooses which class is instantiated: an unknown one ends in a 500, and some known ones run code.',
    fix: {
      rule: 'Read JSON as plain values, and never create a class that the payload names.',
      node: 'Do not revive objects based on a field in the payload.',
      spring: 'Do not call `activateDefaultTyping`, and do not use `@JsonTypeInfo(use = CLASS)`.',
      python: 'Use `json.loads`, not jsonpickle.',
      ruby: 'Use `JSON.parse(text)`, not `JSON.load`, and no `create_additions`.',
      dotnet: 'Set `TypeNameHandling.None`.',
    },
    severity: 'critical',
    cwe: 502,
  },
  'number-conversion-unchecked': {
    title: 'Converts numbers and amounts without checking their form and range',
    seen:
      '`BigInt(amount)`, `new BigDecimal(amount)` and `int(amount)` on the value of the payload, conversions of ' +
      'Infinity, and parsers with a limit on digits (4,300 in Python).',
    why:
      'Text that only looks like a number, a fraction, or a number beyond the range makes the conversion throw: a ' +
      '500. Without an exception, the receiver books a rounded or misread amount.',
    fix: {
      rule:
        'Check that an amount is text of decimal digits before you convert it, and that a number is finite and in ' +
        'range. Answer 400 otherwise, and limit the size of the body.',
      node:
        'Use `z.string().regex(/^[0-9]{1,78}$/)` for atomic units, with an optional fraction elsewhere, and ' +
        '`z.number().int()`, which rejects Infinity: `JSON.parse` returns it for large numbers.',
      python:
        'Catch `ValueError` around `json.loads`, or pass `parse_int`. Catch errors of `int()` and `Decimal()`, or ' +
        'use `re.fullmatch(r"[0-9]+(\\.[0-9]+)?", value)` first.',
      django:
        'Catch `ValueError` around `json.loads` and `int()`, and `InvalidOperation` around `Decimal()`. ' +
        NUMBERS_IN_DJANGO,
      java: 'Use `value.matches("[0-9]+(\\.[0-9]+)?")`, and BigInteger or BigDecimal with at least NUMERIC(78, 0).',
      php:
        'Test `preg_match("/^[0-9]+(\\.[0-9]+)?$/D", $value)` before arithmetic or bcmath: for text that is not a ' +
        'number, `+` throws `TypeError`, and bcmath throws `ValueError`.',
      rails: 'Use `Integer(value, exception: false)` and `BigDecimal(value, exception: false)`, and answer 400 to nil.',
      go: 'Use math/big.',
      dotnet: 'Use BigInteger: decimal is limited to 28 digits.',
    },
    severity: 'medium',
    cwe: 704,
  },
  'time-conversion-unchecked': {
    title: 'Converts times without checking their type, form and range',
    seen:
      '`new Date(at).toISOString()`, which throws RangeError for an invalid date, `fromtimestamp()` and `strptime`, ' +
      'strict integer parsers, and unsigned or 32-bit columns.',
    why:
      'A time that is not a number or text, is out of range or does not exist makes the conversion throw: a 500 for ' +
      'each attempt of the sender.',
    fix: {
      rule:
        'Check that a time is a finite number in a plausible range, or text that denotes a real date. Catch errors ' +
        'of the conversion and answer 400, or store the time unchanged.',
      ...TIME_OF_BOTH_TYPES,
    },
    severity: 'medium',
    cwe: 704,
    implies: ['text-type-unchecked'],
  },
  'backtracking-pattern': {
    title: 'Matches payload text against a pattern with nested repetition',
    seen: 'Patterns such as `^([a-z0-9]+[-.]?)+$` or `^(\\d+[-_]?)+$` for addresses, codes, slugs and host names.',
    why:
      'The pattern takes hours to reject a text of 50 characters. One notification blocks a thread, or the whole ' +
      'process.',
    fix: {
      rule: 'Remove nested repetition, and limit the length before you match, or use a linear engine (RE2).',
      node:
        'Check the length first, and write `^[a-z0-9]+(?:[-.][a-z0-9]+)*$` (for codes `^\\d+(?:[-_]\\d+)*$`), or ' +
        'use the package re2.',
      python: 'Python has no time limit for `re`: limit the length first, or use google-re2.',
      dotnet: 'Pass a timeout or `RegexOptions.NonBacktracking` to Regex.',
    },
    severity: 'high',
    cwe: 1333,
  },
  'body-content-filter': {
    title: 'Filters the content of the body in a firewall or in middleware',
    seen:
      'Web application firewalls, such as ModSecurity with the OWASP rules, which inspect JSON bodies for scripts, ' +
      'SQL and paths. They answer 403 or HTML where the receiver itself answers 401 or JSON.',
    why: 'Ordinary text from a user or a provider causes the notification to be rejected on every attempt.',
    fix: {
      rule:
        'Exempt the endpoint from filters of the request body, in front of the receiver and in it: the body is ' +
        "verified by its signature. Run hookproof against the receiver's own port to see which part filters.",
      express: 'Remove the sanitising middleware from this route, and escape text where you display it.',
      laravel: 'Exclude the route from XSS middleware.',
    },
    severity: 'high',
    cwe: 440,
    implies: ['payload-text-unencoded'],
  },
});
