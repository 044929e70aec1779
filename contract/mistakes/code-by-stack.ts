/**
 * Code that fixes several mistakes, by stack. A stack without an entry uses the code of its language or, if there is
 * none, the rule in words.
 */

/** Returns JavaScript code that parses a body and runs the statement `answer` unless the result is an object. */
const parsedBefore = (answer: string) =>
  '`let payload; try { payload = JSON.parse(String(body)) } catch {}`, and then `if (!(payload instanceof Object) || ' +
  `Array.isArray(payload)) ${answer}\``;

/** How to parse a body without an unhandled exception: everything except an object is answered with 400. */
export const GUARDED_PARSING = {
  express: `Write ${parsedBefore('return res.sendStatus(400)')}, even in an async handler.`,
  node:
    `Write ${parsedBefore('return res.writeHead(400).end()')} (in Koa, \`{ ctx.status = 400; return }\`). An ` +
    'exception in a listener ends the process.',
  fastify: `Write ${parsedBefore('return reply.code(400).send()')}.`,
  nestjs: `Write ${parsedBefore('throw new BadRequestException()')}.`,
  hono: `Write ${parsedBefore('return c.body(null, 400)')}.`,
  python:
    'Write `try: payload = json.loads(body.decode("utf-8"))`, and answer 400 in `except (ValueError, ' +
    'RecursionError)` and if `isinstance(payload, dict)` is false. `ValueError` includes the errors of decoding, of ' +
    'parsing and of pydantic.',
  java:
    'Catch the exceptions of the JSON parser and `StackOverflowError`, and answer 400 to them and to any value that ' +
    'is not an object.',
  spring:
    'Write `try { node = objectMapper.readTree(body); }`, answer 400 to `IOException` and if `node.isObject()` is ' +
    'false. Where Spring maps the body, handle `HttpMessageNotReadableException`.',
  ruby:
    'Write `payload = begin JSON.parse(body); rescue JSON::ParserError, EncodingError; end`, and answer 400 unless ' +
    '`payload.is_a?(Hash)`. The first class includes the error for deep nesting.',
  php:
    'Write `$payload = json_decode($body, true)`, which returns null for invalid JSON, and answer 400 unless ' +
    '`is_array($payload)`.',
  go:
    'Unmarshal into a pointer: after `var n *Notification`, write `if err := json.Unmarshal(body, &n); err != nil || ' +
    'n == nil`, answer 400 and return.',
  dotnet:
    'Write `try { document = JsonDocument.Parse(body); }`, and answer 400 to `JsonException` and if ' +
    '`RootElement.ValueKind` is not `Object`.',
  rust: 'Call `serde_json::from_slice::<Map<String, Value>>(&body)`, and answer 400 to its error.',
} as const;

/** How to read the received bytes of the body and parse them only after verification. */
export const RAW_BYTES = {
  express:
    'Use `express.raw({ type: () => true, inflate: false })` on this route, in front of any `express.json()`. ' +
    'Verify `const body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)`: without a body, `req.body` is ' +
    `undefined or \`{}\`. ${GUARDED_PARSING.express}`,
  node:
    'Mount no body parser on this route, and collect the chunks: `try { for await (const chunk of req) ' +
    'chunks.push(chunk) } catch { return }` (in Koa, of `ctx.req`; set `ctx.disableBodyParser = true` before ' +
    'koa-bodyparser). Verify `const body = Buffer.concat(chunks)`. ' +
    GUARDED_PARSING.node,
  fastify:
    "In a plugin with this route alone, call `app.removeAllContentTypeParsers()` and `app.addContentTypeParser('*', " +
    "{ parseAs: 'buffer' }, (request, body, done) => done(null, body))`. Verify `const body = request.body ?? " +
    `Buffer.alloc(0)\`. ${GUARDED_PARSING.fastify}`,
  nestjs:
    "Create the application with `bodyParser: false`, call `app.useBodyParser('raw', { type: () => true, inflate: " +
    'false })`, and verify `const body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)` in a guard. ' +
    '`rawBody: true` alone keeps the bytes of JSON and forms only, and only as long as no other parser is mounted. ' +
    `Take \`@Req() req\` instead of \`@Body() dto\`, which is a Buffer now. ${GUARDED_PARSING.nestjs}`,
  hono: `Verify \`const body = Buffer.from(await c.req.arrayBuffer())\`. ${GUARDED_PARSING.hono}`,
  python: `Verify what \`self.rfile.read(length)\` returns. ${GUARDED_PARSING.python}`,
  flask:
    'Use `body = request.get_data()` before anything touches `request.json` or `request.form`; answer 400 to ' +
    '`OSError`, which the development server raises for a broken chunked body. ' +
    GUARDED_PARSING.python,
  fastapi:
    'Declare `request: Request` as the parameter instead of a model, and verify `body = await request.body()`. ' +
    GUARDED_PARSING.python,
  django: `Use \`body = request.body\` before anything touches \`request.POST\`. ${GUARDED_PARSING.python}`,
  go: `Verify what \`io.ReadAll(r.Body)\` returns, and then parse it. ${GUARDED_PARSING.go}`,
  java:
    'Verify what `exchange.getRequestBody().readAllBytes()` returns; in a servlet, read `request.getInputStream()`, ' +
    `not \`getReader()\`. ${GUARDED_PARSING.java}`,
  spring:
    'Take the body as `@RequestBody(required = false) byte[]`, treat null as empty, and verify it. ' +
    GUARDED_PARSING.spring,
  php:
    'Verify `$body = file_get_contents("php://input")`. For multipart bodies it is empty: answer 415 to them. ' +
    GUARDED_PARSING.php,
  laravel: `Verify \`$body = $request->getContent()\`, which no middleware trims. ${GUARDED_PARSING.php}`,
  ruby: `Verify \`body = env['rack.input'].read\`. ${GUARDED_PARSING.ruby}`,
  rails: `Verify \`body = request.raw_post\`, and do not use \`params\`. ${GUARDED_PARSING.ruby}`,
  dotnet: `Call \`Request.EnableBuffering()\`, and read the stream before binding. ${GUARDED_PARSING.dotnet}`,
  rust: `Take the body as \`Bytes\` instead of \`Json<T>\`, and verify it. ${GUARDED_PARSING.rust}`,
} as const;

/** How to check whether a proxy, gateway or middleware in front of the receiver changes the body. */
export const IN_FRONT =
  'If the receiver already verifies the bytes that arrived, a gateway or forwarder in front of it changes them: run ' +
  "hookproof against the receiver's own port to find out.";

const OPTIONAL_IN_ZOD = 'Declare optional fields `.nullish()`, not `.optional()`, which rejects null.';

/** How to check a payload before using it. */
export const CHECKED_PAYLOAD = {
  node: `Run \`schema.safeParse(payload)\` (zod) first, and answer 400 unless \`success\` is true. ${OPTIONAL_IN_ZOD}`,
  fastify: 'Write `if (!request.validateInput(payload, schema)) return reply.code(400).send()` after the verification.',
  nestjs:
    'Write `if (!schema.safeParse(payload).success) throw new BadRequestException()` after the verification. ' +
    OPTIONAL_IN_ZOD,
  python:
    'Test `isinstance(payload, dict)`, and then each value before it is used, as in ' +
    '`isinstance(payload.get("data"), dict)`. Answer 400 otherwise.',
  fastapi:
    'Call `Model.model_validate_json(body)` (pydantic 1: `Model.parse_raw(body)`) after the verification, and answer ' +
    '400 to `(ValueError, RecursionError)`. Make a model for each shape of data and metadata: optional fields are ' +
    '`X | None = None`, all others have no default, because pydantic 1 accepts `[]` as `{}`.',
  spring: 'Bind the verified bytes to a class with validation, and map its exceptions to 400.',
  php:
    'Test `is_array($payload)`, and then each value before it is used, as in `is_string($payload["id"] ?? null)`. ' +
    'Answer 400 otherwise: `TypeError` is not an `Exception`.',
  laravel:
    'Write `if (!is_array($payload) || Validator::make($payload, $rules)->fails()) return response("", 400)`: ' +
    '`$request->validate()` redirects a request that does not ask for JSON.',
  ruby: 'Test `payload.is_a?(Hash)`, and then each value, as in `payload["data"].is_a?(Hash)`: `dig` raises on text.',
  rails:
    `Take \`body = request.raw_post\`: \`params\` and the objects in it are not a Hash. ${GUARDED_PARSING.ruby} ` +
    'Then test each value, as in `payload["data"].is_a?(Hash)`: `dig` raises on text.',
  go: 'Unmarshal into a struct with pointers, and test them for nil.',
} as const;

/** How to limit the size of the body. */
export const BODY_LIMIT = {
  fastify: 'Set `bodyLimit`.',
  hono: 'Use `bodyLimit({ maxSize })` of hono/body-limit.',
  nestjs: 'Pass `limit` to `app.useBodyParser(...)`.',
  python: 'Compare Content-Length with the limit before `self.rfile.read(length)`.',
  flask:
    'Set `MAX_CONTENT_LENGTH`. Before Werkzeug 2.3 it does not limit `get_data()`: answer 413 if ' +
    '`request.content_length` is above it.',
  fastapi: 'Read `request.stream()`, and answer 413 at the limit.',
  django: 'Set `DATA_UPLOAD_MAX_MEMORY_SIZE`, and answer 413 to `RequestDataTooBig`.',
  go: 'Use `http.MaxBytesReader`, and answer 413 to its error.',
  spring: 'Set the limit of the server and of the codec (`spring.codec.max-in-memory-size`).',
  php:
    'Set `client_max_body_size` in nginx or `LimitRequestBody` in Apache, or compare `$_SERVER["CONTENT_LENGTH"]`: ' +
    '`post_max_size` does not limit `php://input`.',
  dotnet: 'Set `MaxRequestBodySize` of Kestrel, and the limit of IIS (`maxAllowedContentLength`).',
} as const;

/** How to handle each notification once. */
export const INSERTED_ONCE = {
  node: 'Insert the id with ON CONFLICT DO NOTHING, and handle the notification only if a row was inserted.',
  python: 'Insert the id with ON CONFLICT DO NOTHING, and test `cursor.rowcount`.',
  django: 'Use `get_or_create` with a unique field, and handle the notification only if `created` is true.',
  go: 'Insert the id with ON CONFLICT DO NOTHING, and test `RowsAffected`.',
  spring: 'Catch `DataIntegrityViolationException` from `saveAndFlush`, and answer 200 without further work.',
  php: 'Insert the id with ON CONFLICT DO NOTHING (INSERT IGNORE in MySQL), and test `rowCount()`.',
  laravel: 'Use `insertOrIgnore` with a unique key, and handle the notification only if it returns 1.',
  rails: 'Use `create!` with a unique index, and rescue `ActiveRecord::RecordNotUnique` with `head :ok`.',
  dotnet: 'Catch `DbUpdateException` for the unique key, and return `Ok()`.',
} as const;

/** How to read values that may be unlisted. */
export const OPEN_VALUES = {
  node: 'Use `z.string()` instead of `z.enum([...])`, and end each `switch` with a default that answers 200.',
  python: 'Declare the field as `str`, not as `Enum` or `Literal`, and look it up with `dict.get`.',
  spring: 'Jackson throws on an unknown enum constant: enable READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE.',
  laravel: "Use the rule `string`, not `Rule::in` or `Rule::enum`, and the enum's `tryFrom` instead of `from`.",
  php: "Use the enum's `tryFrom` instead of `from`, and give each `match` a default.",
  rails: 'Store the value as a string: an `enum` of Active Record raises on an unknown value.',
  dotnet: 'JsonStringEnumConverter throws on an unknown name: declare the field as string.',
} as const;

/** How to store amounts of any size. */
export const AMOUNTS_IN_DJANGO =
  'A DecimalField raises `Rounded` or `Overflow` above `max_digits`, even where a query adds to it: store amounts in ' +
  'a TextField, and add them with `Context(prec=78).add`.';

/** How to answer 404 to the path without its trailing slash. */
export const NO_SLASH_IN_DJANGO =
  'Set `APPEND_SLASH = False`: with DEBUG, it raises for a POST without the final slash.';

/** How to read a time that is either a number of seconds or an ISO 8601 timestamp. */
export const TIME_OF_BOTH_TYPES = {
  node:
    "Write `const time = new Date(typeof at === 'number' ? at * 1000 : at)`, and answer 400 when " +
    '`Number.isNaN(time.getTime())`.',
  python:
    'Write `datetime.fromisoformat(at)` for a `str` (3.11 or later), else `fromtimestamp(at, tz=timezone.utc)`, and ' +
    'answer 400 to `(TypeError, ValueError, OverflowError, OSError)`.',
  spring:
    'Map `at` to JsonNode, use `Instant.ofEpochSecond` or `OffsetDateTime.parse` depending on its type, and answer ' +
    '400 to `DateTimeException`.',
  go:
    'Unmarshal `at` into json.RawMessage, try an int64 and then a string with `time.RFC3339Nano`, and answer 400 if ' +
    'both fail.',
  dotnet: 'Write a JsonConverter that accepts a number as well as text (`DateTimeOffset.Parse`).',
} as const;

/** A hint for failures that depend on connections or on load, which Werkzeug's server causes by itself. */
export const DEVELOPMENT_SERVER =
  'If `flask run` or `app.run` serves the receiver, repeat the run with gunicorn or waitress: the failure may come ' +
  'from the development server.';
