/** Code that fixes several mistakes, by stack. Where a stack has none, the code of its language or the rule holds. */

const PARSED_IN_EXPRESS = '`try { payload = JSON.parse(body) } catch { return res.sendStatus(400) }`';

/** How to take the received bytes of the body. */
export const RAW_BYTES = {
  express:
    'Use `express.raw({ type: () => true, inflate: false })` on this route, in front of any `express.json()`. ' +
    'Compute the HMAC over `const body = Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)`, because without a ' +
    `body \`req.body\` is undefined, and then write ${PARSED_IN_EXPRESS}.`,
  node:
    'Collect the chunks before a body parser reads them: `for await (const chunk of req) chunks.push(chunk)` (in ' +
    'Koa, read `ctx.req` before koa-bodyparser). Verify `Buffer.concat(chunks)`, and then call `JSON.parse` in a ' +
    'try/catch that answers 400.',
  fastify:
    "In a plugin with this route alone, call `app.removeAllContentTypeParsers()` and `app.addContentTypeParser('*', " +
    "{ parseAs: 'buffer' }, (request, body, done) => done(null, body))`. Verify `request.body ?? Buffer.alloc(0)` " +
    'before `JSON.parse`.',
  nestjs:
    "Create the application with `bodyParser: false`, call `app.useBodyParser('raw', { type: () => true, inflate: " +
    'false })`, and verify `Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0)` in a guard, before `JSON.parse`. ' +
    '`rawBody: true` alone keeps the bytes of JSON and forms only, and only as long as no other parser is mounted. ' +
    'Take `@Req() req` instead of `@Body() dto`, which is a Buffer now: parse and validate `req.body` in the method, ' +
    'and answer 400 to errors of `JSON.parse`.',
  hono: 'Verify `Buffer.from(await c.req.arrayBuffer())` before `JSON.parse`.',
  python: 'Verify what `self.rfile.read(length)` returns, before `json.loads`.',
  flask:
    'Use `request.get_data()` before anything touches `request.json` or `request.form`. Parse it after verification, ' +
    'in a `try` that answers 400 to `(ValueError, RecursionError)`.',
  fastapi:
    'Declare `request: Request` as the parameter instead of a model, verify `await request.body()`, and parse these ' +
    'bytes afterwards, in a `try` that answers 400 to `(ValueError, RecursionError)`.',
  django:
    'Use `request.body` before anything touches `request.POST`, and parse after verification, in a `try` that ' +
    'answers 400 to `(ValueError, RecursionError)`.',
  go: 'Read the body with `io.ReadAll(r.Body)`, and unmarshal those bytes after verification.',
  java:
    'Verify what `exchange.getRequestBody().readAllBytes()` returns; of a servlet, read `request.getInputStream()`, ' +
    'not `getReader()`.',
  spring:
    'Take the body as `@RequestBody(required = false) byte[]`, treat null as empty, and map it with the ObjectMapper ' +
    'after verification.',
  php:
    'Use `file_get_contents("php://input")`, and decode after verification. For multipart bodies it is empty: answer ' +
    '415 to them.',
  laravel: 'Use `$request->getContent()`, which no middleware trims, and decode after verification.',
  ruby:
    "Verify what `env['rack.input'].read` returns. Then call `JSON.parse`, and answer 400 to `JSON::ParserError` and " +
    '`EncodingError`.',
  rails:
    'Use `request.raw_post` instead of `params`. Parse it after verification, and answer 400 to `JSON::ParserError` ' +
    'and `EncodingError`.',
  dotnet: 'Call `Request.EnableBuffering()`, and read the stream before model binding.',
  rust: 'Take the body as `Bytes` instead of `Json<T>`, and call `serde_json::from_slice` after verification.',
} as const;

/** How to find out that the receiver is not the part that changes the body. */
export const IN_FRONT =
  'If the receiver does this already, a gateway or forwarder in front of it changes the bytes: run hookproof against ' +
  "the receiver's own port to find out.";

/** How to parse a body without an exception that nothing handles. */
export const GUARDED_PARSING = {
  express: `Write ${PARSED_IN_EXPRESS}, also in an async handler: Express 4 handles none of its exceptions.`,
  node: 'Put `JSON.parse` into try/catch, and end the request with 400: an exception in a listener ends the process.',
  fastify: 'Write `try { payload = JSON.parse(body) } catch { return reply.code(400).send() }`.',
  nestjs: 'Write `try { payload = JSON.parse(body) } catch { throw new BadRequestException() }`.',
  hono: 'Write `try { payload = JSON.parse(body) } catch { return c.body(null, 400) }`.',
  python:
    'Write `try: payload = json.loads(body.decode("utf-8"))`, and answer 400 in `except (ValueError, ' +
    'RecursionError)`. `ValueError` includes the errors of decoding, of parsing and of pydantic.',
  spring:
    'Parse the bytes yourself after the verification, in `try { objectMapper.readTree(body) }`, and answer 400 to ' +
    '`IOException`. Where Spring maps the body, handle `HttpMessageNotReadableException`.',
  ruby: 'Rescue `JSON::ParserError`, which includes the error of deep nesting, and `EncodingError`.',
  php:
    'Write `try { $payload = json_decode($body, true, 512, JSON_THROW_ON_ERROR); } catch (JsonException) { ... }`, ' +
    'and answer 400 there.',
  go: 'Write `if err := json.Unmarshal(body, &n); err != nil`, answer 400 and return.',
  dotnet: 'Catch `JsonException`.',
} as const;

const OPTIONAL_IN_ZOD = 'Declare optional fields `.nullish()`, not `.optional()`, which rejects null.';

/** How to check a payload before it is used. */
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
    '400 to `(ValueError, RecursionError)`. Declare optional fields `X | None = None`.',
  spring: 'Bind the verified bytes to a class with validation, and map its exceptions to 400.',
  php:
    'Test `is_array($payload)`, and then each value before it is used, as in `is_string($payload["id"] ?? null)`. ' +
    'Answer 400 otherwise: `TypeError` is not an `Exception`.',
  laravel:
    'Write `if (!is_array($payload) || Validator::make($payload, $rules)->fails()) return response("", 400)`: ' +
    '`$request->validate()` redirects a request that does not ask for JSON.',
  ruby: 'Test `payload.is_a?(Hash)`, and then each value, as in `payload["data"].is_a?(Hash)`: `dig` raises on text.',
  rails:
    'Parse `request.raw_post` with `JSON.parse`, rescue `JSON::ParserError` and `EncodingError` with 400, and test ' +
    '`payload.is_a?(Hash)`, then each value. `params` and the objects in it are not a Hash.',
  go: 'Unmarshal into a struct with pointers, and test them for nil.',
} as const;

/** Where the limit of the body is set. */
export const BODY_LIMIT = {
  fastify: 'Set `bodyLimit`.',
  hono: 'Use `bodyLimit({ maxSize })` of hono/body-limit.',
  nestjs: 'Pass `limit` to `app.useBodyParser(...)`.',
  python: 'Compare Content-Length with the limit before `self.rfile.read(length)`.',
  flask: 'Set `MAX_CONTENT_LENGTH`.',
  fastapi: 'Read `request.stream()`, and answer 413 at the limit.',
  django: 'Set `DATA_UPLOAD_MAX_MEMORY_SIZE`, and answer 413 to `RequestDataTooBig`.',
  go: 'Use `http.MaxBytesReader`, and answer 413 to its error.',
  spring: 'Set the limit of the server and of the codec (`spring.codec.max-in-memory-size`).',
  php: 'Set `post_max_size` in php.ini.',
  dotnet: 'Set `MaxRequestBodySize` of Kestrel, and the limit of IIS (`maxAllowedContentLength`).',
} as const;

/** How to handle each notification once. */
export const INSERTED_ONCE = {
  node: 'Insert the id with ON CONFLICT DO NOTHING, and handle the notification only where a row was inserted.',
  python: 'Insert the id with ON CONFLICT DO NOTHING, and test `cursor.rowcount`.',
  django: 'Use `get_or_create` with a unique field, and handle the notification only if `created` is true.',
  go: 'Insert the id with ON CONFLICT DO NOTHING, and test `RowsAffected`.',
  spring: 'Catch `DataIntegrityViolationException` of `saveAndFlush`, and answer 200 without further work.',
  php: 'Insert the id with ON CONFLICT DO NOTHING (INSERT IGNORE in MySQL), and test `rowCount()`.',
  laravel: 'Use `insertOrIgnore` with a unique key, and handle the notification only if it returns 1.',
  rails: 'Use `create!` with a unique index, and rescue `ActiveRecord::RecordNotUnique` with `head :ok`.',
  dotnet: 'Catch `DbUpdateException` for the unique key, and return `Ok()`.',
} as const;

/** How to read a value of an open set. */
export const OPEN_VALUES = {
  node: 'Use `z.string()` instead of `z.enum([...])`, and end each `switch` with a default that answers 200.',
  python: 'Declare the field as `str`, not as `Enum` or `Literal`, and look it up with `dict.get`.',
  spring: 'Jackson throws on an unknown enum constant: enable READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE.',
  laravel: 'Use the rule `string`, not `Rule::in` or `Rule::enum`, and `tryFrom` instead of `from` of an enum.',
  php: 'Use `tryFrom` instead of `from` of an enum, and give each `match` a default.',
  rails: 'Store the value as a string: an `enum` of Active Record raises on an unknown value.',
  dotnet: 'JsonStringEnumConverter throws on an unknown name: declare the field as string.',
} as const;
