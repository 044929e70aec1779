// Webhook receiver with switchable faults. Node 20, standard library only.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import http from 'node:http';
import { gunzipSync } from 'node:zlib';

const FAULTS = [
  [
    'length-throws',
    'must',
    'The comparison of the signature throws when the header has another length than expected; answer 500.',
  ],
  [
    'piecewise-text',
    'must',
    'Each piece of the body is decoded on its own, so a character split over two pieces spoils the HMAC.',
  ],
  [
    'padded-key',
    'must',
    'The API key is copied into a buffer of the stored length, so a longer key with the right beginning passes.',
  ],
  [
    'seen-first',
    'must',
    'A notification id that was processed before is answered 200 before signature and key are checked.',
  ],
  [
    'socket-trust',
    'must',
    'The API key is checked only until it was valid once on a connection; later requests on it need none.',
  ],
  [
    'shared-lockout',
    'must',
    'After 25 rejections in a row every sender, also with valid credentials, gets 429 for 15 seconds.',
  ],
  [
    'handler-table',
    'must',
    'The type is looked up in a plain object, so names of inherited properties crash the handler; answer 500.',
  ],
  [
    'moment',
    'must',
    'The time is converted with toISOString before any check, so a value that is not a time is answered 500.',
  ],
  [
    'crossed-signature',
    'must',
    "The signature header is kept in a variable of the module, so overlapping requests use each other's.",
  ],
  ['ping', 'must', 'A POST without Content-Length or with length 0 counts as a ping and is answered 200 unchecked.'],
  [
    'gunzip',
    'must',
    'A gzip-encoded body is unpacked before the credentials are checked; broken gzip data is answered 500.',
  ],
  [
    'raw-url',
    'must',
    'Credentials are checked only when the raw URL is exactly the hook path, so any query string skips them.',
  ],
  [
    'old-secret',
    'must',
    'The unset previous secret of a rotation is an empty text, so signatures with an empty key are accepted.',
  ],
  [
    'serial-queue',
    'must',
    'Requests are handled in a queue from their headers on; an unfinished upload blocks all others for 20 seconds.',
  ],
  ['refund-hash', 'must', 'A refund without blockchainTransactionId is answered 422 even when its status is FAIL.'],
  ['told-expected', 'should', 'The 401 for a wrong signature contains the signature that would have been right.'],
];

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
if (args.includes('--list')) {
  for (const row of FAULTS) console.log(row.join('\t'));
  process.exit(0);
}
const FAULT = option('--fault') ?? 'none';
const PORT = Number(option('--port'));
if ((FAULT !== 'none' && !FAULTS.some((f) => f[0] === FAULT)) || !Number.isInteger(PORT)) {
  console.error('usage: node receivers.mjs --list | --fault NAME --port N');
  process.exit(2);
}
const SECRET = process.env.BLIND_SECRET ?? '';
const API_KEY = process.env.BLIND_API_KEY ?? '';
if (!SECRET || !API_KEY) {
  console.error('BLIND_SECRET and BLIND_API_KEY must be set');
  process.exit(2);
}

const PATH = '/hooks';
const LIMIT = 10 * 1024 * 1024;
const DRAIN_LIMIT = 64 * 1024 * 1024;
const KEEP = 20000;
const fault = (name) => FAULT === name;

class Refused extends Error {
  constructor(status, message, extra = {}) {
    super(message);
    this.status = status;
    this.extra = extra;
  }
}

// ---------------------------------------------------------------- answers

function answer(req, res, status, body, headers = {}) {
  if (res.headersSent || res.destroyed) return;
  const text = Buffer.from(JSON.stringify(body));
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length, ...headers });
  res.end(req.method === 'HEAD' ? undefined : text);
}

// ---------------------------------------------------------------- body

function readBody(req) {
  return new Promise((resolve, reject) => {
    const declared = Number(req.headers['content-length'] ?? 0);
    if (declared > DRAIN_LIMIT) {
      req.resume();
      reject(new Refused(413, 'body too large', { close: true }));
      return;
    }
    let pieces = [];
    let text = '';
    let size = 0;
    req.on('data', (piece) => {
      size += piece.length;
      if (size > DRAIN_LIMIT) {
        reject(new Refused(413, 'body too large', { close: true }));
      } else if (size > LIMIT) {
        pieces = [];
        text = '';
      } else if (fault('piecewise-text')) {
        text += piece;
      } else {
        pieces.push(piece);
      }
    });
    req.on('end', () => {
      if (size > LIMIT) reject(new Refused(413, 'body too large'));
      else resolve(fault('piecewise-text') ? Buffer.from(text) : Buffer.concat(pieces));
    });
    req.on('error', () => {});
    req.on('close', () => {
      if (!req.complete && !fault('serial-queue')) reject(new Refused(400, 'incomplete body', { gone: true }));
    });
  });
}

// ---------------------------------------------------------------- credentials

const digest = (bytes) => createHash('sha256').update(bytes).digest();
const KEY_BYTES = Buffer.from(API_KEY, 'utf8');
const KEY_DIGEST = digest(KEY_BYTES);
const SECRETS = fault('old-secret') ? [SECRET, process.env.BLIND_SECRET_PREVIOUS ?? ''] : [SECRET];
const trustedSockets = new WeakSet();
let currentSignature;

function single(req, name) {
  const values = req.headersDistinct[name];
  return values && values.length === 1 ? values[0] : undefined;
}

function keyMatches(value) {
  if (value === undefined || value === '') return false;
  const given = Buffer.from(value, 'latin1');
  if (fault('padded-key')) {
    const padded = Buffer.alloc(KEY_BYTES.length);
    given.copy(padded);
    return timingSafeEqual(padded, KEY_BYTES);
  }
  return timingSafeEqual(digest(given), KEY_DIGEST);
}

function signatureMatches(value, body) {
  if (value === undefined) return false;
  const given = Buffer.from(value, 'latin1');
  let matches = false;
  for (const secret of SECRETS) {
    const expected = Buffer.from(createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('base64'));
    if (fault('length-throws')) matches = timingSafeEqual(given, expected) || matches;
    else if (given.length === expected.length) matches = timingSafeEqual(given, expected) || matches;
  }
  return matches;
}

function checkCredentials(req, body) {
  const known = fault('socket-trust') && trustedSockets.has(req.socket);
  if (!known && !keyMatches(single(req, 'x-api-key'))) throw new Refused(401, 'unauthorized');
  trustedSockets.add(req.socket);
  const signature = fault('crossed-signature') ? currentSignature : single(req, 'x-service-signature');
  if (!signatureMatches(signature, body)) {
    const extra = fault('told-expected')
      ? { body: { expected: createHmac('sha256', SECRET).update(body).digest('base64'), received: signature ?? null } }
      : {};
    throw new Refused(401, 'unauthorized', extra);
  }
}

// ---------------------------------------------------------------- payload

const isObject = (v) => typeof v === 'object' && v !== null && !Array.isArray(v);
const isText = (v) => v === undefined || v === null || typeof v === 'string';
const isPart = (v) => v === undefined || v === null || isObject(v);
const has = (o, name) => Object.hasOwn(o, name);
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)$/i;

function need(condition, message) {
  if (!condition) throw new Refused(422, message);
}

function texts(part, where, ...names) {
  for (const name of names) need(isText(part[name]), `${where}.${name} must be a string`);
}

function checkError(data) {
  need(isPart(data.errorData), 'errorData must be an object');
  if (data.errorData) texts(data.errorData, 'errorData', 'code', 'message');
}

function checkCaas(data) {
  need(has(data, 'type'), 'data.type is missing');
  need(has(data, 'metadata') && isPart(data.metadata), 'metadata must be an object');
  texts(data, 'data', 'type', 'providerId', 'transactionId');
  const meta = data.metadata ?? {};
  texts(
    meta,
    'metadata',
    'orderStatus',
    'orderType',
    'providerTransactionId',
    'providerTransactionRef',
    'providerTransactionStatus',
    'trackingStateDescription',
  );
  need(isPart(meta.blockchainData), 'blockchainData must be an object');
  if (meta.blockchainData) {
    texts(
      meta.blockchainData,
      'blockchainData',
      'targetWalletAddress',
      'blockchainTransactionId',
      'blockchainMemo',
      'currency',
      'chain',
      'refundWalletAddress',
      'sourceWalletAddress',
    );
  }
  checkError(data);
  return { table: 'orders', key: data.transactionId };
}

function checkRefund(data) {
  texts(data, 'data', 'providerId', 'transactionId', 'status');
  need(isPart(data.metadata), 'metadata must be an object');
  const meta = data.metadata ?? {};
  texts(meta, 'metadata', 'blockchainTransactionId', 'amount', 'currency', 'walletAddress');
  need(typeof meta.amount !== 'string' || /^-?\d+(\.\d+)?$/.test(meta.amount), 'amount must be a decimal');
  if (fault('refund-hash')) need(meta.blockchainTransactionId, 'blockchainTransactionId is missing');
  checkError(data);
  return { table: 'refunds', key: data.transactionId };
}

function checkPaymentMethod(data) {
  texts(data, 'data', 'status', 'paymentMethodId', 'accountId', 'errorCode');
  return { table: 'paymentMethods', key: data.paymentMethodId };
}

function checkWallet(data) {
  texts(data, 'data', 'operation', 'customerId', 'walletAddress', 'assetId', 'chain');
  return { table: 'wallets', key: data.walletAddress };
}

function checkDeposit(data) {
  texts(data, 'data', 'type', 'status', 'partnerTransactionId', 'customerId');
  need(isPart(data.metadata), 'metadata must be an object');
  const meta = data.metadata ?? {};
  texts(meta, 'metadata', 'sourceAddress', 'destinationAddress', 'blockchainTransactionId', 'blockchainTransctionId');
  need(isPart(meta.asset), 'asset must be an object');
  const asset = meta.asset ?? {};
  texts(asset, 'asset', 'amount', 'currency');
  need(typeof asset.amount !== 'string' || /^\d+$/.test(asset.amount), 'amount must be a whole number');
  return { table: 'deposits', key: data.partnerTransactionId };
}

const HANDLERS = {
  CAAS: checkCaas,
  REFUND: checkRefund,
  PAYMENT_METHOD: checkPaymentMethod,
  WALLET: checkWallet,
  CAAS_BLOCKCHAIN: checkDeposit,
};
const SECONDS = new Set(['CAAS', 'REFUND', 'PAYMENT_METHOD']);
const checkOther = (data) => ({ table: 'others', key: data.id });

const tables = {
  orders: new Map(),
  refunds: new Map(),
  paymentMethods: new Map(),
  wallets: new Map(),
  deposits: new Map(),
  others: new Map(),
};
const processed = new Map();

function keep(map, key, value) {
  map.set(key, value);
  if (map.size > KEEP) map.delete(map.keys().next().value);
}

function checkTime(payload) {
  const { at, type } = payload;
  if (fault('moment')) {
    payload.receivedAt = new Date(typeof at === 'number' ? at * 1000 : at).toISOString();
  }
  need(at !== undefined, 'at is missing');
  if (at === null) return;
  if (SECONDS.has(type)) need(Number.isInteger(at), 'at must be an integer');
  else if (type === 'WALLET' || type === 'CAAS_BLOCKCHAIN') need(typeof at === 'string', 'at must be a string');
  if (typeof at === 'string') need(MOMENT.test(at), 'at must be a timestamp');
  else need(Number.isInteger(at), 'at must be an integer');
}

function parse(body) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new Refused(400, 'not JSON');
  }
}

function processPayload(payload) {
  if (!isObject(payload)) throw new Refused(400, 'not an object');
  for (const name of ['id', 'type', 'data']) need(has(payload, name), `${name} is missing`);
  need(isText(payload.id) && payload.id !== '', 'id must be a string');
  need(isText(payload.type), 'type must be a string');
  need(isObject(payload.data), 'data must be an object');
  checkTime(payload);
  const handler = fault('handler-table')
    ? (HANDLERS[payload.type] ?? checkOther)
    : has(HANDLERS, payload.type)
      ? HANDLERS[payload.type]
      : checkOther;
  const row = handler(payload.data);
  if (payload.id !== null) {
    if (processed.has(payload.id)) return 'duplicate';
    keep(processed, payload.id, payload.type);
  }
  keep(tables[row.table], row.key, payload.id);
  return 'accepted';
}

// ---------------------------------------------------------------- lock-out (fault only)

const lock = { failures: 0, until: 0 };

function checkLock() {
  if (Date.now() < lock.until) throw new Refused(429, 'too many failed attempts', { headers: { 'Retry-After': '15' } });
}

function countFailure() {
  lock.failures += 1;
  if (lock.failures >= 25) {
    lock.failures = 0;
    lock.until = Date.now() + 15000;
  }
}

// ---------------------------------------------------------------- requests

let tail = Promise.resolve();

function enqueue() {
  const before = tail;
  let release;
  tail = new Promise((resolve) => {
    release = resolve;
  });
  const watchdog = setTimeout(release, 20000);
  return {
    before,
    release: () => {
      clearTimeout(watchdog);
      release();
    },
  };
}

function pathOf(url) {
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url);
  const rest = absolute ? url.slice(absolute[0].length) : url;
  return rest.split('?', 1)[0];
}

function seenBefore(body) {
  try {
    const payload = JSON.parse(body.toString('utf8'));
    return typeof payload.id === 'string' && processed.has(payload.id);
  } catch {
    return false;
  }
}

async function receive(req, res) {
  if (pathOf(req.url) !== PATH) {
    await readBody(req);
    throw new Refused(404, 'not found');
  }
  if (req.method !== 'POST') {
    await readBody(req);
    throw new Refused(405, 'method not allowed', { headers: { Allow: 'POST' } });
  }
  if (fault('crossed-signature')) currentSignature = single(req, 'x-service-signature');
  let body = await readBody(req);
  if (fault('shared-lockout')) checkLock();
  if (fault('ping') && !Number(req.headers['content-length'])) {
    answer(req, res, 200, { status: 'pong' });
    return;
  }
  let encoding = (req.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (fault('gunzip') && encoding === 'gzip') {
    body = gunzipSync(body, { maxOutputLength: LIMIT });
    encoding = '';
  }
  if (fault('seen-first') && seenBefore(body)) {
    answer(req, res, 200, { status: 'duplicate' });
    return;
  }
  if (!fault('raw-url') || req.url === PATH) checkCredentials(req, body);
  lock.failures = 0;
  if (encoding !== '' && encoding !== 'identity') throw new Refused(415, 'unsupported content encoding');
  const media = (req.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
  if (media !== 'application/json') throw new Refused(415, 'unsupported media type');
  answer(req, res, 200, { status: processPayload(parse(body)) });
}

async function serve(req, res) {
  res.on('error', () => {});
  const place = fault('serial-queue') ? enqueue() : undefined;
  try {
    if (place) await place.before;
    await receive(req, res);
  } catch (error) {
    if (!(error instanceof Refused)) {
      answer(req, res, 500, { error: 'internal error' });
    } else if (!error.extra.gone) {
      if (error.status === 401 && fault('shared-lockout')) countFailure();
      const headers = { ...error.extra.headers };
      if (error.extra.close) {
        headers.Connection = 'close';
        setTimeout(() => req.socket.destroy(), 2000).unref();
      }
      answer(req, res, error.status, { error: error.message, ...error.extra.body }, headers);
    }
  } finally {
    place?.release();
  }
}

function raw(socket, line, extra = '') {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.on('error', () => {});
  socket.end(`HTTP/1.1 ${line}\r\n${extra}Content-Length: 0\r\nConnection: close\r\n\r\n`);
  setTimeout(() => socket.destroy(), 1000).unref();
}

const server = http.createServer({ maxHeaderSize: 32 * 1024, noDelay: true, keepAliveTimeout: 60000 }, serve);
server.on('connect', (_request, socket) => raw(socket, '405 Method Not Allowed', 'Allow: POST\r\n'));
server.on('clientError', (error, socket) => {
  if (error.code === 'ECONNRESET') socket.destroy();
  else if (error.code === 'HPE_HEADER_OVERFLOW') raw(socket, '431 Request Header Fields Too Large');
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') raw(socket, '408 Request Timeout');
  else raw(socket, '400 Bad Request');
});
server.listen({ port: PORT, host: '127.0.0.1', backlog: 511 }, () => {
  console.log(`listening on http://127.0.0.1:${PORT}${PATH}`);
});
