/**
 * The receivers: what each consists of, how it is started and, written by hand, the main diagnosis that is true of it.
 */
export interface Receiver {
  /** The file in receivers/. Its extension shows the language. */
  readonly file: string;
  /** The packages that determine its answers. The document lists their versions. */
  readonly packages: readonly string[];
  readonly header?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set if the receiver also checks the API key. */
  readonly hasKey?: true;
  /** What the code does, and what was adapted. */
  readonly note: string;
  /**
   * The acceptable names of the main diagnosis. Empty if nothing fails, or if the catalogue has no name for the cause.
   */
  readonly faults: readonly string[];
}

const EXPRESS = ['express', 'body-parser'];
const FLASK = ['python3-flask', 'python3-werkzeug'];

const SHOPIFY = {
  header: 'X-Shopify-Hmac-Sha256',
  headers: {
    'X-Shopify-Topic': 'orders/create',
    'X-Shopify-Shop-Domain': 'shop.myshopify.com',
    'X-Shopify-API-Version': '2025-07',
    'X-Shopify-Webhook-Id': '7f0a54d2-0000-4000-8000-000000000001',
  },
} as const;

const GITHUB = {
  header: 'X-Hub-Signature-256',
  headers: { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': '7f0a54d2-0000-4000-8000-000000000002' },
} as const;

const LINE = { header: 'X-Line-Signature' } as const;

/** Faults that are true of a receiver which answers forgeries with this status. */
const OTHER_STATUS = {
  400: ['refuses-with-400', 'missing-signature-is-400'],
  403: ['refuses-with-403'],
  500: ['refuses-with-500'],
} as const;
const NOT_VERIFIED_AS_OTHER_TYPE = [
  'only-json-types-verified',
  'text-not-verified',
  'forms-not-verified',
  'untyped-not-verified',
  'empty-bodies-confirmed',
  'only-plain-json-verified',
];
const RESERIALISED = ['verifies-reserialised-json'];
const PARSES_FIRST = ['parsed-before-verified'];
/** Names for a receiver in which `createHmac().update()` throws for a body that was never read. */
const BODY_UNDEFINED = [
  'content-type-other-throws',
  'content-type-missing-throws',
  'fails-on-other-methods',
  'empty-body-answers-500',
];
const STACK_TRACES = [
  'shows-stack-trace-of-broken-json',
  'shows-stack-trace-of-large-bodies',
  'shows-stack-trace-of-other-content-types',
  'shows-message-of-json-parser',
  'shows-parser-message-to-strangers',
];
/** Names for a receiver that accepts the signature of an empty text for content types whose bodies it does not read. */
const UNREAD_BODY = ['other-types-verified-as-empty', 'unread-body-verified'];
/** Names for a receiver that verifies the body as text. */
const DECODES = ['replaces-invalid-bytes', 'strips-byte-order-mark'];
const LENGTH_THROWS = ['other-length-answers-500', 'missing-signature-answers-500'];
const BROKEN_JSON_THROWS = ['broken-json-answers-500', 'malformed-ends-in-5xx'];

export const RECEIVERS: readonly Receiver[] = [
  {
    file: 'express-json-verify.mjs',
    packages: EXPRESS,
    hasKey: true,
    note: '`express.json({ verify })` keeps the raw body; the handler checks key and signature',
    faults: [...PARSES_FIRST, ...BODY_UNDEFINED, ...STACK_TRACES],
  },
  {
    file: 'express-json-verify-throws.mjs',
    packages: EXPRESS,
    note: 'the check is the `verify` callback of `express.json`, which throws',
    faults: [...NOT_VERIFIED_AS_OTHER_TYPE, ...OTHER_STATUS[403]],
  },
  {
    file: 'express-json-urlencoded-verify.mjs',
    packages: EXPRESS,
    note: 'the same, with `express.urlencoded` and `express.text` behind it',
    faults: NOT_VERIFIED_AS_OTHER_TYPE,
  },
  {
    file: 'messenger-sample.mjs',
    packages: EXPRESS,
    note: '`verifyRequestSignature` of the Messenger samples, which only warns when there is none; SHA-256 in Base64',
    faults: ['missing-signature-accepted', 'falsy-signature-accepted', ...NOT_VERIFIED_AS_OTHER_TYPE],
  },
  {
    file: 'express-raw-unguarded.mjs',
    packages: EXPRESS,
    note: '`express.raw` and `timingSafeEqual` without a comparison of the lengths',
    faults: [...LENGTH_THROWS, ...BODY_UNDEFINED, ...BROKEN_JSON_THROWS],
  },
  {
    file: 'express-raw-guarded.mjs',
    packages: EXPRESS,
    note: '`express.raw`, `timingSafeEqual` in a `try`; answers 400 to forgeries',
    faults: [...OTHER_STATUS[400], ...BROKEN_JSON_THROWS, ...BODY_UNDEFINED],
  },
  {
    file: 'body-parser-raw.mjs',
    packages: EXPRESS,
    note: "`bodyParser.raw({ type: '*/*' })`, guarded throughout",
    faults: ['body-parser-by-content-type'],
  },
  {
    file: 'express-stringify.mjs',
    packages: EXPRESS,
    note: 'signs `JSON.stringify(req.body)`',
    faults: RESERIALISED,
  },
  {
    file: 'line-bot-sdk.mjs',
    packages: ['@line/bot-sdk', 'express'],
    ...LINE,
    note: '`middleware()` and the error handler of the guide',
    faults: [
      'base64-decoded-leniently',
      'shows-message-of-json-parser',
      'malformed-ends-in-5xx',
      'null-answers-500',
      'empty-body-answers-500',
      'echoes-headers-of-broken-json',
    ],
  },
  {
    file: 'line-bot-sdk-no-error-handler.mjs',
    packages: ['@line/bot-sdk', 'express'],
    ...LINE,
    note: '`middleware()` alone, as in the first sample: errors reach the default handler of Express',
    faults: [...OTHER_STATUS[500], ...BROKEN_JSON_THROWS, ...STACK_TRACES],
  },
  {
    file: 'linebot-parser.mjs',
    packages: ['linebot', 'express'],
    ...LINE,
    note: '`bot.parser()` in Express',
    faults: [
      ...DECODES,
      'missing-signature-kills',
      'cut-off-requests-end-the-process',
      'dies-and-is-restarted',
      'unverified-json-ends-the-process',
      ...OTHER_STATUS[400],
    ],
  },
  {
    file: 'linebot-listen.mjs',
    packages: ['linebot'],
    ...LINE,
    note: '`bot.listen()`, its own server',
    faults: [
      ...DECODES,
      'missing-signature-kills',
      'dies-and-is-restarted',
      'content-type-missing-ends-the-process',
      'unverified-json-ends-the-process',
      ...OTHER_STATUS[400],
    ],
  },
  {
    file: 'shopify-api-process.mjs',
    packages: ['@shopify/shopify-api', 'express'],
    ...SHOPIFY,
    note: '`webhooks.process` with `express.text`',
    faults: [...DECODES, 'missing-signature-is-400', 'large-bodies-answer-500', ...BROKEN_JSON_THROWS],
  },
  {
    file: 'shopify-api-validate.mjs',
    packages: ['@shopify/shopify-api', 'express'],
    ...SHOPIFY,
    note: '`webhooks.validate` with `express.text`; answers 400 to forgeries',
    faults: [...DECODES, ...BODY_UNDEFINED, ...OTHER_STATUS[400]],
  },
  {
    file: 'koa-shopify-webhooks.mjs',
    packages: ['@shopify/koa-shopify-webhooks', 'koa'],
    ...SHOPIFY,
    note: '`receiveWebhook`, which answers 202',
    faults: [...DECODES, 'other-2xx', 'accepts-with-another-2xx', ...PARSES_FIRST, ...BODY_UNDEFINED],
  },
  {
    file: 'verify-shopify-webhook.mjs',
    packages: ['verify-shopify-webhook', 'express'],
    ...SHOPIFY,
    note: 'the middleware of the README; answers 403 to forgeries',
    faults: [...OTHER_STATUS[403], 'unverified-json-answers-500'],
  },
  {
    file: 'tern-express.mjs',
    packages: ['@hookflo/tern', 'express'],
    ...SHOPIFY,
    note: '`createWebhookMiddleware` for the platform `shopify`; answers 400 to forgeries',
    faults: [...DECODES, ...OTHER_STATUS[400]],
  },
  {
    file: 'koa-bodyparser.mjs',
    packages: ['@koa/bodyparser', 'koa'],
    note: '`ctx.request.rawBody`',
    faults: [...DECODES, ...BODY_UNDEFINED, ...PARSES_FIRST],
  },
  {
    file: 'koa-body.mjs',
    packages: ['koa-body', 'koa'],
    note: '`includeUnparsed`',
    faults: [...DECODES, ...PARSES_FIRST, ...UNREAD_BODY],
  },
  {
    file: 'hono.mjs',
    packages: ['hono', '@hono/node-server'],
    hasKey: true,
    note: '`c.req.text()`, key and signature, `JSON.parse` without a guard',
    faults: [...DECODES, ...BROKEN_JSON_THROWS],
  },
  {
    file: 'h3.mjs',
    packages: ['h3'],
    note: '`readRawBody`, `JSON.parse` without a guard',
    faults: [...DECODES, ...BROKEN_JSON_THROWS, 'empty-body-answers-500'],
  },
  {
    file: 'hapi-raw.mjs',
    packages: ['@hapi/hapi'],
    note: "`payload: { output: 'data', parse: false }`, `JSON.parse` without a guard",
    faults: [...BROKEN_JSON_THROWS, 'empty-body-answers-500'],
  },
  {
    file: 'hapi-parsed.mjs',
    packages: ['@hapi/hapi'],
    note: 'signs `JSON.stringify(request.payload)`',
    faults: RESERIALISED,
  },
  {
    file: 'micro.mjs',
    packages: ['micro'],
    note: '`text(req)`, `JSON.parse` without a guard, no routes',
    faults: [...DECODES, ...BROKEN_JSON_THROWS, 'takes-every-method'],
  },
  {
    file: 'restify.mjs',
    packages: ['restify'],
    note: '`plugins.bodyParser()` and `req.rawBody`',
    faults: [...DECODES, ...UNREAD_BODY, 'decompression-unguarded', 'inflates-body-and-throws', ...PARSES_FIRST],
  },
  {
    file: 'fastify-raw-body.mjs',
    packages: ['fastify-raw-body', 'fastify'],
    hasKey: true,
    note: 'the options of the README, `runFirst`; key and signature',
    faults: [...DECODES, ...PARSES_FIRST, 'content-type-other-throws', 'shows-message-of-json-parser'],
  },
  {
    file: 'fastify-content-type-parser.mjs',
    packages: ['fastify'],
    note: '`addContentTypeParser` with the raw body',
    faults: [...PARSES_FIRST, ...BODY_UNDEFINED, ...STACK_TRACES],
  },
  {
    file: 'nestjs-raw-body.mjs',
    packages: ['@nestjs/core', '@nestjs/platform-express'],
    note: '`rawBody: true`',
    faults: [...PARSES_FIRST, ...BODY_UNDEFINED, ...STACK_TRACES],
  },
  {
    file: 'golevelup-raw-only.mjs',
    packages: ['@golevelup/nestjs-webhooks', '@nestjs/core'],
    note: '`applyRawBodyOnlyTo`; the payload is not parsed',
    faults: ['empty-body-answers-500', ...BODY_UNDEFINED],
  },
  {
    file: 'golevelup-configurable.mjs',
    packages: ['@golevelup/nestjs-webhooks', '@nestjs/core'],
    note: '`applyConfigurableRawBodyWebhookMiddleware`',
    faults: [...PARSES_FIRST, ...BODY_UNDEFINED, ...STACK_TRACES],
  },
  {
    file: 'octokit-webhooks.mjs',
    packages: ['@octokit/webhooks'],
    ...GITHUB,
    note: '`createNodeMiddleware`; wants `sha256=` and hexadecimal',
    faults: ['expects-prefixed-hex', 'expects-github-signature'],
  },
  {
    file: 'octokit-verify.mjs',
    packages: ['@octokit/webhooks', 'express'],
    ...GITHUB,
    note: '`webhooks.verify`; wants `sha256=` and hexadecimal',
    faults: ['expects-prefixed-hex', 'expects-github-signature'],
  },
  {
    file: 'svix.mjs',
    packages: ['svix', 'express'],
    header: 'Svix-Signature',
    note: '`Webhook.verify`; wants id, time and body signed together, so no valid delivery is accepted',
    faults: [
      'expects-svix-signature',
      'expects-standard-webhooks-signature',
      // Without the id and the time of its scheme, the library rejects before it compares.
      'rejected-before-verification',
      'refuses-right-credentials',
      'refuses-the-payload',
    ],
  },
  {
    file: 'standardwebhooks.mjs',
    packages: ['standardwebhooks', 'express'],
    header: 'Webhook-Signature',
    note: '`Webhook.verify`; the same scheme',
    faults: ['expects-standard-webhooks-signature', 'expects-svix-signature', 'refuses-right-credentials'],
  },
  {
    file: 'stripe.mjs',
    packages: ['stripe', 'express'],
    header: 'Stripe-Signature',
    note: '`constructEvent`; wants `t=...,v1=...` over time and body',
    faults: ['expects-stripe-signature', 'refuses-right-credentials'],
  },
  {
    file: 'square.mjs',
    packages: ['square', 'express'],
    header: 'X-Square-HmacSha256-Signature',
    note: '`WebhooksHelper.verifySignature`; wants the URL in front of the body',
    faults: ['verifies-url-and-body', 'expects-square-signature'],
  },
  {
    file: 'polka.mjs',
    packages: ['polka', 'raw-body'],
    note: '`raw-body` without a guard',
    faults: [
      ...DECODES,
      'cut-off-requests-end-the-process',
      'dies-and-is-restarted',
      'malformed-ends-in-5xx',
      'large-bodies-end-the-process',
      'large-bodies-answer-500',
    ],
  },
  {
    file: 'flask-get-data.py',
    packages: FLASK,
    hasKey: true,
    note: 'the `verify_webhook` of the Shopify documentation, which does not handle a missing header',
    faults: ['missing-signature-answers-500'],
  },
  {
    file: 'flask-json-dumps.py',
    packages: FLASK,
    note: 'signs `json.dumps(request.json)` without spaces',
    faults: ['verifies-python-compact-json', 'verifies-python-json', ...RESERIALISED],
  },
  {
    file: 'fastapi-body.py',
    packages: ['python3-fastapi', 'python3-uvicorn'],
    note: '`await request.body()`, then `request.json()` without a guard',
    faults: [...BROKEN_JSON_THROWS, 'missing-fields-answer-500', 'non-ascii-answers-500'],
  },
  {
    file: 'django-body.py',
    packages: ['python3-django'],
    note: '`request.body` in a view, `json.loads` without a guard; answers 403 to forgeries',
    faults: [...OTHER_STATUS[403], ...BROKEN_JSON_THROWS],
  },
  {
    file: 'aiohttp-read.py',
    packages: ['python3-aiohttp'],
    note: '`request.headers[...]` and `request.json()` without a guard',
    faults: ['missing-signature-answers-500', ...BROKEN_JSON_THROWS, 'missing-fields-answer-500'],
  },
  {
    file: 'tornado-body.py',
    packages: ['python3-tornado'],
    note: '`self.request.body`, `json_decode` without a guard',
    faults: [...BROKEN_JSON_THROWS, 'non-ascii-answers-500'],
  },
  {
    file: 'bottle-body.py',
    packages: ['python3-bottle'],
    note: '`request.body.read()` and `request.json`',
    faults: ['missing-fields-answer-500', 'non-ascii-answers-500', ...BROKEN_JSON_THROWS, 'content-type-other-throws'],
  },
  {
    file: 'falcon-wsgi.py',
    packages: ['python3-falcon'],
    note: '`req.bounded_stream.read()` in wsgiref; the payload is not parsed',
    faults: ['non-ascii-answers-500', 'reads-chunked-bodies-as-empty'],
  },
  {
    file: 'php-input.php',
    packages: ['php-cli'],
    note: 'the sample of the Shopify documentation: `php://input`, `hash_equals`',
    faults: [...UNREAD_BODY, 'missing-signature-answers-500', 'takes-every-method'],
  },
  {
    file: 'slim.php',
    packages: ['php-slim', 'php-cli'],
    note: '`$request->getBody()` and `getParsedBody()` of Slim 3',
    // PHP reads multipart/form-data itself, so `php://input` is empty and has the signature of an empty text. The
    // request of Slim 3 takes its method from X-Http-Method-Override.
    faults: [...UNREAD_BODY, 'malformed-ends-in-5xx', ...BROKEN_JSON_THROWS, 'takes-method-from-override'],
  },
  {
    file: 'sinatra.rb',
    packages: ['ruby-sinatra', 'puma'],
    note: 'the Shopify documentation sample with `Rack::Utils.secure_compare`, which does not handle a missing header',
    faults: ['missing-signature-answers-500'],
  },
  {
    file: 'rack.rb',
    packages: ['ruby-rack', 'ruby-webrick'],
    note: 'Rack on WEBrick, `JSON.parse` without a guard',
    faults: BROKEN_JSON_THROWS,
  },
  {
    file: 'net-http.go',
    packages: ['golang-go'],
    note: "`net/http` as in Stripe's sample: answers 503 above 64 kB, and 400 to forgeries",
    faults: [...OTHER_STATUS[400], 'fails-on-bodies-above-100-kb', 'large-bodies-answer-500', 'takes-every-method'],
  },
  {
    file: 'gin.go',
    packages: ['golang-github-gin-gonic-gin-dev'],
    hasKey: true,
    note: '`c.GetRawData()`, key and signature',
    faults: ['base64-decoded-leniently', 'spare-bits-ignored'],
  },
];
