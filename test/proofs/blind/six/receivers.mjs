// Webhook receivers with one fault each. Run: node receivers.mjs --list | --fault NAME --port N

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';

const FAULTS = [
  [
    'empty-previous-secret-still-accepted',
    'must',
    'For key rotation a previous secret is tried too; it is not set, so a signature made with an empty key passes.',
  ],
  [
    'unhandled-type-acknowledged-before-auth',
    'must',
    'Notifications of a type without a handler are answered 200 before the credentials are checked.',
  ],
  [
    'empty-batch-passes-every-check',
    'must',
    'Credentials are checked with every() per event of a batch, so the unsigned body [] is answered 200.',
  ],
  [
    'signature-checked-only-in-json-parser',
    'must',
    'Credentials are checked only when Content-Type is JSON; with another type an unsigned body is accepted.',
  ],
  [
    'broken-gzip-stream-kills-process',
    'must',
    'A gzip body is piped through gunzip without an error listener, so a body that is not gzip kills the process.',
  ],
  [
    'aborted-upload-kills-process',
    'must',
    'A connection closed in the middle of the body rejects an unhandled promise, which kills the process.',
  ],
  [
    'api-key-looked-up-with-like',
    'must',
    'The API key is looked up with SQL LIKE, so the wildcards % and _ in the header match the stored key.',
  ],
  [
    'api-key-written-to-log',
    'blind',
    'Every delivery writes all its headers, with the API key and the signature, to the log.',
  ],
  [
    'type-looked-up-in-object-prototype',
    'must',
    'Validators are looked up by type in a plain object, so types such as constructor or __proto__ end in 500.',
  ],
  [
    'tracking-text-checked-with-exponential-regex',
    'must',
    'trackingStateDescription is tested with a regex of exponential time; a sentence with punctuation blocks all.',
  ],
  [
    'notification-id-must-be-uuid-version-4',
    'must',
    'The notification id is accepted only as a UUID of version 4; other versions get 400.',
  ],
  [
    'refund-of-failed-order-refused',
    'must',
    'A failed order is treated as closed, so the REFUND that follows a failed SELL is answered 409.',
  ],
  [
    'missing-hash-polled-before-answer',
    'must',
    'BLOCKCHAIN_ACCEPTED without a hash is polled for 12 seconds before the answer is sent.',
  ],
  [
    'private-address-in-x-forwarded-for-trusted',
    'must',
    'A private or loopback address in X-Forwarded-For counts as internal and skips the credentials.',
  ],
  [
    'request-without-user-agent-refused',
    'must',
    'A bot filter answers 403 to requests that carry no User-Agent header, also to valid deliveries.',
  ],
  [
    'content-type-compared-as-whole-string',
    'should',
    'Content-Type has to be exactly application/json; with a charset parameter the answer is 415.',
  ],
];

const PATH = '/hooks';
const LIMIT = 12 * 1024 * 1024;
const DRAIN_LIMIT = 64 * 1024 * 1024;
const SECRET = process.env.BLIND_SECRET ?? '';
const API_KEY = process.env.BLIND_API_KEY ?? '';

let fault = 'none';
let port = 0;
const args = process.argv.slice(2);
for (let i = 0; i < args.length; i++) {
  if (args[i] === '--list') {
    console.log(FAULTS.map((f) => f.join('\t')).join('\n'));
    process.exit(0);
  } else if (args[i] === '--fault') fault = args[++i];
  else if (args[i] === '--port') port = Number(args[++i]);
}
if (fault !== 'none' && !FAULTS.some(([name]) => name === fault)) {
  console.error(`unknown fault ${fault}`);
  process.exit(2);
}
const has = (name) => fault === name;

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}
const check = (condition, message) => {
  if (!condition) throw new Refused(400, message);
};

// ---------------------------------------------------------------- credentials

const sameText = (a, b) =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

const hmac = (secret, raw) => createHmac('sha256', secret).update(raw).digest('base64');

function isApiKeyValid(given) {
  if (given === undefined) return false;
  if (has('api-key-looked-up-with-like')) {
    const pattern = given
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/%+/g, '.*')
      .replaceAll('_', '.');
    return given.length <= 200 && new RegExp(`^${pattern}$`).test(API_KEY);
  }
  return sameText(given, API_KEY);
}

function isSignatureValid(given, raw) {
  if (given === undefined) return false;
  if (has('empty-previous-secret-still-accepted')) {
    const secrets = [SECRET, process.env.BLIND_PREVIOUS_SECRET ?? ''];
    return secrets.some((secret) => sameText(given, hmac(secret, raw)));
  }
  return sameText(given, hmac(SECRET, raw));
}

const isAuthentic = (req, raw) =>
  isApiKeyValid(req.headers['x-api-key']) && isSignatureValid(req.headers['x-service-signature'], raw);

function isInternal(req) {
  const client = (req.headers['x-forwarded-for'] ?? '').split(',')[0].trim();
  return /^(127\.|10\.|192\.168\.|::1$)/.test(client);
}

function areCredentialsRequired(req) {
  if (has('signature-checked-only-in-json-parser')) {
    return /^application\/(json|[^;]*\+json)\s*(;|$)/i.test(req.headers['content-type'] ?? '');
  }
  if (has('private-address-in-x-forwarded-for-trusted')) return !isInternal(req);
  return true;
}

// ---------------------------------------------------------------- payload

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isTextOrNull = (value) => value === undefined || value === null || typeof value === 'string';

function needObject(value, name) {
  check(isObject(value), `${name} is not an object`);
  return value;
}

function texts(holder, ...keys) {
  for (const key of keys) check(holder[key] !== undefined, `${key} is missing`);
  optionalTexts(holder, ...keys);
}

function optionalTexts(holder, ...keys) {
  for (const key of keys) check(isTextOrNull(holder[key]), `${key} is not a string`);
}

function errorData(data) {
  if (data.errorData !== undefined && data.errorData !== null) {
    optionalTexts(needObject(data.errorData, 'errorData'), 'code', 'message');
  }
}

const VALIDATORS = {
  CAAS: {
    check(data) {
      texts(data, 'type', 'providerId', 'transactionId');
      const metadata = needObject(data.metadata, 'metadata');
      optionalTexts(
        metadata,
        'orderStatus',
        'orderType',
        'providerTransactionId',
        'providerTransactionRef',
        'providerTransactionStatus',
        'trackingStateDescription',
      );
      if (metadata.blockchainData !== undefined && metadata.blockchainData !== null) {
        optionalTexts(
          needObject(metadata.blockchainData, 'blockchainData'),
          'targetWalletAddress',
          'chain',
          'blockchainTransactionId',
          'blockchainMemo',
          'currency',
          'refundWalletAddress',
          'sourceWalletAddress',
        );
      }
      errorData(data);
    },
  },
  REFUND: {
    check(data) {
      texts(data, 'providerId', 'transactionId', 'status');
      if (data.metadata !== undefined && data.metadata !== null) {
        optionalTexts(
          needObject(data.metadata, 'metadata'),
          'blockchainTransactionId',
          'amount',
          'currency',
          'walletAddress',
        );
      }
      errorData(data);
    },
  },
  PAYMENT_METHOD: {
    check(data) {
      texts(data, 'status', 'paymentMethodId', 'accountId');
      optionalTexts(data, 'errorCode');
    },
  },
  WALLET: {
    check(data) {
      texts(data, 'operation', 'customerId', 'walletAddress');
      optionalTexts(data, 'assetId', 'chain');
    },
  },
  CAAS_BLOCKCHAIN: {
    check(data) {
      texts(data, 'type', 'status', 'partnerTransactionId', 'customerId');
      const metadata = needObject(data.metadata, 'metadata');
      optionalTexts(
        metadata,
        'sourceAddress',
        'destinationAddress',
        'blockchainTransactionId',
        'blockchainTransctionId',
      );
      if (metadata.asset !== undefined && metadata.asset !== null) {
        const asset = needObject(metadata.asset, 'asset');
        optionalTexts(asset, 'amount', 'currency');
        check(/^[0-9]*$/.test(asset.amount ?? ''), 'amount is not a whole number');
      }
    },
  },
};

function validatorFor(type) {
  if (has('type-looked-up-in-object-prototype')) return VALIDATORS[type];
  return Object.hasOwn(VALIDATORS, type) ? VALIDATORS[type] : undefined;
}

function parse(raw) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
  } catch {
    throw new Refused(400, 'malformed JSON');
  }
}

const UUID_4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

function validate(root) {
  needObject(root, 'notification');
  check(typeof root.id === 'string' && root.id.trim() !== '', 'id is not a filled string');
  if (has('notification-id-must-be-uuid-version-4')) check(UUID_4.test(root.id), 'id is not a UUID');
  check(typeof root.type === 'string' && root.type.trim() !== '', 'type is not a filled string');
  check(root.at === null || typeof root.at === 'string' || Number.isInteger(root.at), 'at has a wrong type');
  needObject(root.data, 'data');
  const validator = validatorFor(root.type);
  if (validator) validator.check(root.data);
}

// ---------------------------------------------------------------- processing

const failedOrders = new Set();

async function process_(root) {
  const { type, data } = root;
  if (has('tracking-text-checked-with-exponential-regex') && type === 'CAAS' && data.type === 'ORDER_TRACKING') {
    const text = data.metadata.trackingStateDescription ?? '';
    if (!/^(\w+\s?)*$/.test(text)) data.metadata.trackingStateDescription = text.replace(/[^\w\s]/g, '');
  }
  if (has('refund-of-failed-order-refused')) {
    if (type === 'CAAS' && data.metadata.orderStatus === 'FAILED') failedOrders.add(data.transactionId);
    if (type === 'REFUND' && failedOrders.has(data.transactionId)) {
      throw new Refused(409, 'transaction is already closed');
    }
  }
  if (
    has('missing-hash-polled-before-answer') &&
    type === 'CAAS' &&
    data.metadata.orderStatus === 'BLOCKCHAIN_ACCEPTED' &&
    !data.metadata.blockchainData?.blockchainTransactionId
  ) {
    for (let attempt = 1; attempt <= 4; attempt++) await sleep(3000);
  }
}

// ---------------------------------------------------------------- one request

async function readBody(req) {
  const chunks = [];
  let size = 0;
  for await (const chunk of req) {
    size += chunk.length;
    if (size <= LIMIT) chunks.push(chunk);
    if (size > DRAIN_LIMIT) break;
  }
  if (size > LIMIT) throw new Refused(413, 'payload too large');
  return Buffer.concat(chunks);
}

function readGzipBody(req) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let size = 0;
    const gunzip = zlib.createGunzip();
    gunzip.on('data', (chunk) => {
      size += chunk.length;
      if (size <= LIMIT) chunks.push(chunk);
      else reject(new Refused(413, 'payload too large'));
    });
    gunzip.on('end', () => resolve(Buffer.concat(chunks)));
    req.pipe(gunzip);
  });
}

async function answer(req, raw) {
  if (req.url.split('?')[0] !== PATH) return [404, 'not found'];
  if (req.method !== 'POST') return [405, 'method not allowed'];
  if (has('request-without-user-agent-refused') && !req.headers['user-agent']) return [403, 'forbidden'];
  if (has('content-type-compared-as-whole-string') && req.headers['content-type'] !== 'application/json') {
    return [415, 'unsupported media type'];
  }
  if (has('api-key-written-to-log')) console.error(JSON.stringify(req.headers));

  if (has('unhandled-type-acknowledged-before-auth')) {
    let type;
    try {
      type = JSON.parse(raw.toString()).type;
    } catch {
      /* refused below */
    }
    if (typeof type === 'string' && !Object.hasOwn(VALIDATORS, type)) return [200, 'ignored'];
  }
  if (has('empty-batch-passes-every-check')) {
    let batch = [null];
    try {
      batch = [].concat(JSON.parse(raw.toString()));
    } catch {
      /* refused below */
    }
    if (!batch.every(() => isAuthentic(req, raw))) return [401, 'unauthorized'];
    if (batch.length === 0) return [200, 'ok'];
  } else if (areCredentialsRequired(req) && !isAuthentic(req, raw)) return [401, 'unauthorized'];

  const root = parse(raw);
  validate(root);
  await process_(root);
  return [200, 'ok'];
}

function send(res, status, text) {
  const body = `${text}\n`;
  res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}

async function handle(req, res) {
  let raw;
  if (has('aborted-upload-kills-process')) raw = await readBody(req);
  try {
    if (has('broken-gzip-stream-kills-process') && req.headers['content-encoding'] === 'gzip') {
      raw = await readGzipBody(req);
    }
    raw ??= await readBody(req);
    send(res, ...(await answer(req, raw)));
  } catch (error) {
    if (req.destroyed && !req.complete) return;
    if (!(error instanceof Refused)) console.error(`unexpected: ${error}`);
    if (error instanceof Refused) send(res, error.status, error.message);
    else send(res, 500, 'internal error');
  }
}

const server = http.createServer(handle);
server.keepAliveTimeout = 65_000;
server.on('connect', (_req, socket) => {
  socket.on('error', () => {});
  socket.end('HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
});
server.listen(port, '127.0.0.1', () => console.log('listening'));
