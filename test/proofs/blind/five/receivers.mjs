// Webhook receivers with one fault each; plain node:http, no packages.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import { parseArgs } from 'node:util';

const FAULTS = [
  [
    'hmac-over-restringified-json',
    'must',
    'The HMAC is computed over JSON.stringify of the parsed body, so spacing, escapes and numbers as sent are lost.',
  ],
  [
    'chunks-joined-as-text',
    'must',
    'Chunks are joined as text, so a character of several bytes split between two chunks is destroyed.',
  ],
  [
    'key-list-is-one-string',
    'must',
    'The list of keys is one string, and includes() finds any part of the API key, an empty value too.',
  ],
  [
    'key-looked-up-in-plain-object',
    'must',
    'The API key is looked up in an object literal, so inherited names such as constructor are keys.',
  ],
  [
    'global-regexp-keeps-position',
    'must',
    'A regular expression with the g flag checks the shape of the signature; every second delivery is answered 401.',
  ],
  [
    'socket-verified-once',
    'must',
    'After one good delivery the connection is trusted, and later requests on it are not checked.',
  ],
  [
    'body-in-module-variable',
    'must',
    'The chunks are kept in one variable of the module that each new request empties, so overlapping requests mix.',
  ],
  [
    'expect-continue-unguarded',
    'must',
    'The listener for Expect: 100-continue goes to the handler without authentication.',
  ],
  [
    'forwarded-for-loopback-trusted',
    'must',
    'The first address of X-Forwarded-For is taken for the client, and loopback needs no key and no signature.',
  ],
  [
    'challenge-echoed-unsigned',
    'must',
    'A query with validationToken or hub.challenge is answered 200 with its value, unauthenticated.',
  ],
  [
    'header-name-matched-by-case',
    'must',
    'The signature is searched in the raw header names spelled exactly X-Service-Signature.',
  ],
  [
    'expired-tracking-never-answered',
    'must',
    'The branch for ORDER_TRACKING with EXPIRED returns without ending the answer, so the request hangs.',
  ],
  [
    'content-length-counts-characters',
    'must',
    'The answer repeats the tracking description with a Content-Length in characters, too short for non-ASCII text.',
  ],
  [
    'bad-host-ends-process',
    'must',
    'The URL is built from the Host header outside any try; a Host that cannot be part of a URL ends the process.',
  ],
  [
    'backtracking-on-description',
    'must',
    'A regular expression on the tracking description backtracks without bound on a long text with an odd character.',
  ],
  ['expected-signature-in-answer', 'must', 'The 401 for a wrong signature contains the signature that was expected.'],
  [
    'order-status-from-table-only',
    'must',
    'Only the four order statuses of the table are accepted; COMPLETED and FAILED are answered 400.',
  ],
  [
    'base64-decoded-leniently',
    'should',
    'The signature is decoded with Buffer.from, which skips foreign characters and accepts the URL alphabet.',
  ],
  ['unknown-field-refused', 'should', 'A field of the envelope other than id, type, at and data is answered 400.'],
  ['key-written-to-log', 'blind', 'The API key of each request is written to the log.'],
];

const MAX_BODY = 12 * 1024 * 1024;
const CHAIN = [
  'targetWalletAddress',
  'blockchainTransactionId',
  'blockchainMemo',
  'currency',
  'chain',
  'refundWalletAddress',
  'sourceWalletAddress',
].map((name) => `metadata.blockchainData.${name}`);
const TEXT_FIELDS = new Map(
  Object.entries({
    CAAS: [
      'type',
      'providerId',
      'transactionId',
      'metadata.orderStatus',
      ...CHAIN,
      'metadata.orderType',
      'metadata.providerTransactionId',
      'metadata.providerTransactionRef',
      'metadata.providerTransactionStatus',
      'metadata.trackingStateDescription',
      'errorData.code',
      'errorData.message',
    ],
    REFUND: [
      'providerId',
      'transactionId',
      'status',
      'metadata.blockchainTransactionId',
      'metadata.amount',
      'metadata.currency',
      'metadata.walletAddress',
      'errorData.code',
      'errorData.message',
    ],
    PAYMENT_METHOD: ['status', 'paymentMethodId', 'accountId', 'errorCode'],
    WALLET: ['operation', 'customerId', 'walletAddress', 'assetId', 'chain'],
    CAAS_BLOCKCHAIN: [
      'type',
      'status',
      'partnerTransactionId',
      'customerId',
      'metadata.sourceAddress',
      'metadata.destinationAddress',
      'metadata.asset.amount',
      'metadata.asset.currency',
      'metadata.blockchainTransactionId',
      'metadata.blockchainTransctionId',
    ],
  }),
);
const REQUIRED_FIELDS = new Map(
  Object.entries({
    CAAS: ['type', 'transactionId'],
    REFUND: ['transactionId', 'status'],
    PAYMENT_METHOD: ['status', 'paymentMethodId'],
    WALLET: ['operation', 'walletAddress'],
    CAAS_BLOCKCHAIN: ['type', 'status'],
  }),
);

const { values: options } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    fault: { type: 'string', default: 'none' },
    port: { type: 'string', default: '8080' },
  },
});
const SECRET = process.env.BLIND_SECRET ?? '';
const API_KEY = process.env.BLIND_API_KEY ?? '';
const is = (name) => options.fault === name;

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value) => value === undefined || value === null || typeof value === 'string';
const sign = (raw) => createHmac('sha256', SECRET).update(raw).digest('base64');

function sameText(given, wanted) {
  const digest = (text) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

function answer(res, status, text, headers = {}) {
  const body = `${JSON.stringify({ result: text })}\n`;
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), ...headers });
  res.end(body);
}

// --- body ---

let sharedChunks = []; // fault body-in-module-variable

// Gives the whole body as a Buffer, null when it is too large, undefined when the client went away.
function readBody(req) {
  return new Promise((resolve) => {
    let chunks = [];
    let text = '';
    let size = 0;
    if (is('body-in-module-variable')) sharedChunks = [];
    req.on('data', (chunk) => {
      size += chunk.length;
      if (size > MAX_BODY) {
        chunks = [];
        resolve(null);
      } else if (is('body-in-module-variable')) {
        sharedChunks.push(chunk);
      } else if (is('chunks-joined-as-text')) {
        text += chunk;
      } else {
        chunks.push(chunk);
      }
    });
    req.on('end', () => {
      if (is('body-in-module-variable')) resolve(Buffer.concat(sharedChunks));
      else if (is('chunks-joined-as-text')) resolve(Buffer.from(text));
      else resolve(Buffer.concat(chunks));
    });
    req.on('error', () => resolve(undefined));
    req.on('close', () => resolve(undefined));
  });
}

// --- authentication ---

const PARTNERS = { [API_KEY]: 'platform' };
const SHAPE = /^[A-Za-z0-9+/]{43}=$/g;

function keyGood(req) {
  const given = req.headers['x-api-key'];
  if (given === undefined) return false;
  if (is('key-list-is-one-string')) return API_KEY.includes(given);
  if (is('key-looked-up-in-plain-object')) return Boolean(PARTNERS[given]);
  if (is('key-written-to-log')) console.error('request with key', given);
  return sameText(given, API_KEY);
}

function sentSignature(req) {
  if (is('header-name-matched-by-case')) {
    const place = req.rawHeaders.findIndex((text, index) => index % 2 === 0 && text === 'X-Service-Signature');
    return place < 0 ? undefined : req.rawHeaders[place + 1];
  }
  return req.headers['x-service-signature'];
}

function signatureGood(req, raw) {
  const given = sentSignature(req);
  if (given === undefined) return false;
  if (is('global-regexp-keeps-position') && !SHAPE.test(given)) return false;
  if (is('hmac-over-restringified-json')) {
    try {
      return sameText(given, sign(JSON.stringify(JSON.parse(raw))));
    } catch {
      return false;
    }
  }
  if (is('base64-decoded-leniently')) {
    const decoded = Buffer.from(given, 'base64');
    const wanted = Buffer.from(sign(raw), 'base64');
    return decoded.length === wanted.length && timingSafeEqual(decoded, wanted);
  }
  return sameText(given, sign(raw));
}

function authorised(req, raw) {
  if (is('socket-verified-once') && req.socket.verified) return true;
  if (is('forwarded-for-loopback-trusted')) {
    const client = (req.headers['x-forwarded-for'] ?? '').split(',')[0].trim();
    if (client === '127.0.0.1' || client === '::1') return true;
  }
  const key = keyGood(req);
  const signature = signatureGood(req, raw);
  if (key && signature) req.socket.verified = true;
  return key && signature;
}

// --- payload ---

// Walks a dotted path; throws when something on the way is not an object.
function walk(data, path) {
  let found = data;
  for (const part of path.split('.')) {
    if (found === undefined || found === null) return undefined;
    if (!isObject(found)) throw new Error('not an object');
    found = Object.hasOwn(found, part) ? found[part] : undefined;
  }
  return found;
}

function parse(raw) {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
}

function wellFormed(payload) {
  if (!isObject(payload)) return false;
  if (!['id', 'type', 'at', 'data'].every((name) => Object.hasOwn(payload, name))) return false;
  const { id, type, at, data } = payload;
  if (!isText(id) || !isText(type) || !isObject(data)) return false;
  if (!isText(at) && !Number.isInteger(at)) return false;
  if (!(REQUIRED_FIELDS.get(type) ?? []).every((name) => Object.hasOwn(data, name))) return false;
  if (!(TEXT_FIELDS.get(type) ?? []).every((path) => isText(walk(data, path)))) return false;
  if (is('unknown-field-refused') && Object.keys(payload).length > 4) return false;
  if (is('order-status-from-table-only') && type === 'CAAS') {
    const status = walk(data, 'metadata.orderStatus');
    const table = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED', 'CONFIRMED'];
    if (typeof status === 'string' && !table.includes(status)) return false;
  }
  return true;
}

// --- requests ---

function process_(payload, res) {
  const { type, data } = payload;
  if (type === 'CAAS' && data.type === 'ORDER_TRACKING') {
    const description = walk(data, 'metadata.trackingStateDescription') ?? '';
    if (is('expired-tracking-never-answered') && walk(data, 'metadata.providerTransactionStatus') === 'EXPIRED') {
      return;
    }
    if (is('backtracking-on-description')) {
      res.plainDescription = /^([\w.,;:'"()/-]+\s?)+$/.test(description);
    }
    if (is('content-length-counts-characters')) {
      const body = `${JSON.stringify({ result: 'ok', description })}\n`;
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
      res.end(body);
      return;
    }
  }
  answer(res, 200, 'ok');
}

async function handle(req, res, guarded) {
  const [path, query = ''] = req.url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
  if (path !== '/hooks') return answer(res, 404, 'not found');
  if (is('challenge-echoed-unsigned')) {
    const parameters = new URLSearchParams(query);
    const challenge = parameters.get('validationToken') ?? parameters.get('hub.challenge');
    if (challenge !== null) {
      res.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
      return res.end(challenge);
    }
  }
  if (req.method !== 'POST') return answer(res, 405, 'method not allowed', { Allow: 'POST' });

  const raw = await readBody(req);
  if (raw === undefined) return undefined;
  if (raw === null) return answer(res, 413, 'body too large', { Connection: 'close' });
  if (guarded && !authorised(req, raw)) {
    if (is('expected-signature-in-answer') && keyGood(req)) {
      return answer(res, 401, `signature mismatch, expected ${sign(raw)}`);
    }
    return answer(res, 401, 'unauthorized');
  }

  let payload;
  try {
    payload = parse(raw);
    if (!wellFormed(payload)) return answer(res, 400, 'malformed payload');
  } catch {
    return answer(res, 400, 'malformed payload');
  }
  return process_(payload, res);
}

function start(req, res, guarded = true) {
  if (is('bad-host-ends-process')) {
    req.fullUrl = new URL(req.url, `http://${req.headers.host}`);
  }
  handle(req, res, guarded).catch(() => {
    if (!res.headersSent) answer(res, 500, 'internal error');
  });
}

if (options.list) {
  for (const row of FAULTS) console.log(row.join('\t'));
} else if (options.fault !== 'none' && !FAULTS.some(([name]) => name === options.fault)) {
  console.error('unknown fault:', options.fault);
  process.exitCode = 2;
} else {
  const server = http.createServer((req, res) => start(req, res));
  if (is('expect-continue-unguarded')) {
    server.on('checkContinue', (req, res) => {
      res.writeContinue();
      start(req, res, false);
    });
  }
  server.listen(Number(options.port), '127.0.0.1', () => console.log('listening'));
}
