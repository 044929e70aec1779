// Webhook receivers in Node (plain node:http) with exactly one fault each.
//
//   node receivers.mjs --list
//   node receivers.mjs --fault NAME --port N
//
// Secret and API key come from BLIND_SECRET and BLIND_API_KEY.

import crypto from 'node:crypto';
import http from 'node:http';
import zlib from 'node:zlib';

const MAX_BODY = 12 * 1024 * 1024;

const FAULTS = [
  [
    'object-key-lookup',
    'must',
    'Looks the API key up in a plain object, so inherited names such as constructor are valid keys.',
  ],
  [
    'undefined-secret',
    'must',
    'Also accepts the previous secret, which is not set: the text "undefined" works as a secret.',
  ],
  [
    'split-characters',
    'must',
    'Turns each piece of the body into text on its own: a multi-byte character over two pieces breaks the HMAC.',
  ],
  [
    'aborted-upload',
    'must',
    'Reads the body outside of any catch: a client that goes away in the middle of a body ends the process.',
  ],
  [
    'host-crash',
    'must',
    'Builds a URL from the Host header and request target without catch: a bad one ends the process.',
  ],
  ['expect-unverified', 'must', 'Requests with Expect: 100-continue go to a separate listener that verifies nothing.'],
  [
    'gzip-crash',
    'must',
    'Inflates gzip bodies before verification without error listener: a corrupt one ends the process.',
  ],
  ['form-payload', 'must', 'A form-encoded body with a payload field is processed without signature or key.'],
  [
    'path-case',
    'must',
    'The guard compares the path exactly, the router ignores case: /HOOKS is processed unverified.',
  ],
  ['trusted-connection', 'must', 'Verifies only the first request of a connection; later ones on it pass.'],
  [
    'cached-rejection',
    'must',
    'Remembers a 401 by notification id: the valid delivery with that id is then refused too.',
  ],
  [
    'backtracking-code',
    'must',
    'Checks error codes with a pattern of nested repetition: a long run of digits blocks the process.',
  ],
  [
    'date-range',
    'must',
    'Converts the time with toISOString before validation: out-of-range or unparsable times give 500.',
  ],
  [
    'header-case',
    'must',
    'Looks for X-Service-Signature in the raw headers in exactly this spelling, other letter case gets 401.',
  ],
  ['two-digit-code', 'must', 'Demands a three-digit middle group in error codes: 152-99-S2 gets 400.'],
  ['trailing-zero-amount', 'must', 'Compares refund amounts with their number form: 1.50 or 0.00000001 get 400.'],
  [
    'pool-leak',
    'must',
    'A database connection is not given back after a payload error: after ten of them nothing is answered.',
  ],
  [
    'validation-token',
    'must',
    'Answers any POST with ?validationToken= with 200 and the token, as subscription handshake.',
  ],
  [
    'ordered-compare',
    'must',
    'Takes the result of Buffer.compare for a truth value of the wrong sign: a greater signature passes.',
  ],
  [
    'session-cookie',
    'must',
    'Sets a session cookie on success, and a request with that cookie needs no signature or key.',
  ],
  [
    'last-key-kept',
    'must',
    'Keeps the API key in a module variable; a request without the header uses the one before.',
  ],
  [
    'bearer-skips',
    'must',
    'Any Authorization: Bearer header counts as checked by the gateway: no signature or key needed.',
  ],
  [
    'shared-credentials',
    'must',
    'Keeps the headers of the current request in a module variable: overlapping requests swap credentials.',
  ],
  ['charset-415', 'should', 'Refuses Content-Type with a charset parameter with 415.'],
];

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
if (args.includes('--list')) {
  for (const row of FAULTS) console.log(row.join('\t'));
  process.exit(0);
}
const fault = option('--fault') ?? 'none';
if (fault !== 'none' && !FAULTS.some(([name]) => name === fault)) {
  console.error('unknown fault');
  process.exit(2);
}
const is = (name) => fault === name;
const secret = process.env.BLIND_SECRET;
const apiKey = process.env.BLIND_API_KEY;
if (!secret || !apiKey) {
  console.error('BLIND_SECRET and BLIND_API_KEY must be set');
  process.exit(2);
}

class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function answer(res, status, message, headers = {}) {
  const text = `${JSON.stringify({ message })}\n`;
  const own = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
  res.writeHead(status, { ...own, ...headers });
  res.end(text);
}

// ------------------------------------------------------------------ body

async function readBody(req) {
  if (Number(req.headers['content-length']) > MAX_BODY) throw new Problem(413, 'too large');
  let stream = req;
  if (is('gzip-crash') && /gzip/i.test(req.headers['content-encoding'] ?? '')) {
    stream = new EventStream(req.pipe(zlib.createGunzip()));
  }
  if (is('split-characters')) {
    let text = '';
    for await (const chunk of req) {
      text += chunk;
      if (text.length > MAX_BODY) throw new Problem(413, 'too large');
    }
    return Buffer.from(text);
  }
  const chunks = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Problem(413, 'too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// Reads a stream by its data and end events, as older code does; there is no listener for errors.
class EventStream {
  constructor(source) {
    this.source = source;
  }

  async *[Symbol.asyncIterator]() {
    const chunks = [];
    await new Promise((resolve) => {
      this.source.on('data', (chunk) => chunks.push(chunk));
      this.source.on('end', resolve);
    });
    yield* chunks;
  }
}

// ------------------------------------------------------------------ credentials

const sessions = new Set();
const rejectedIds = new Set();
const keys = { [apiKey]: 'partner' };
let lastKey = '';
let current = {};

function sameText(expected, given) {
  const a = Buffer.from(expected);
  const b = Buffer.from(given);
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

const hmac = (body, key) => crypto.createHmac('sha256', key).update(body).digest('base64');

function signatureValid(req, headers, body) {
  let given = headers['x-service-signature'] ?? '';
  if (is('header-case')) {
    const place = req.rawHeaders.indexOf('X-Service-Signature');
    given = place < 0 ? '' : req.rawHeaders[place + 1];
  }
  if (is('ordered-compare')) {
    return !(Buffer.compare(Buffer.from(hmac(body, secret)), Buffer.from(given)) > 0);
  }
  if (is('undefined-secret')) {
    const secrets = [secret, `${process.env.BLIND_PREVIOUS_SECRET}`];
    return secrets.some((one) => sameText(hmac(body, one), given));
  }
  return sameText(hmac(body, secret), given);
}

function keyValid(headers) {
  const given = headers['x-api-key'];
  if (is('object-key-lookup')) return Boolean(keys[given]);
  if (is('last-key-kept')) {
    lastKey = given ?? lastKey;
    return sameText(apiKey, lastKey);
  }
  return sameText(apiKey, given ?? '');
}

function authorised(req, body) {
  const headers = is('shared-credentials') ? current : req.headers;
  if (is('bearer-skips') && /^Bearer \S/i.test(headers.authorization ?? '')) return true;
  if (is('trusted-connection') && req.socket.verified) return true;
  if (is('session-cookie')) {
    const cookie = /(?:^|;\s*)sid=([0-9a-f]+)/.exec(headers.cookie ?? '');
    if (cookie && sessions.has(cookie[1])) return true;
  }
  const signature = signatureValid(req, headers, body);
  const key = keyValid(headers);
  if (is('trusted-connection') && signature && key) req.socket.verified = true;
  return signature && key;
}

// ------------------------------------------------------------------ payload

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function need(condition, message) {
  if (!condition) throw new Problem(400, message);
}

function texts(object, ...names) {
  need(isObject(object), 'an object is expected');
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? object[name] : null;
    need(value === null || typeof value === 'string', `${name} must be a string`);
  }
}

function checkCode(code) {
  if (typeof code !== 'string' || code === '') return;
  if (is('two-digit-code')) need(/^\d{3}-\d{3}-[A-Z]\d$/.test(code), 'bad error code');
  if (is('backtracking-code') && !/^((\d+-?)+)-([A-Z]\d)$/.test(code)) console.error('unusual error code');
}

function checkTime(type, at) {
  if (['CAAS', 'PAYMENT_METHOD', 'REFUND'].includes(type)) need(Number.isSafeInteger(at), 'at must be an integer');
  if (['WALLET', 'CAAS_BLOCKCHAIN'].includes(type)) {
    const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
    need(typeof at === 'string' && form.test(at), 'at must be a timestamp');
  }
}

function validate(note) {
  need(isObject(note), 'malformed payload');
  const { type, data } = note;
  need(typeof type === 'string' && type !== '', 'type must be a string');
  need(Object.hasOwn(note, 'id'), 'id is missing');
  need(isObject(data), 'data must be an object');
  texts(note, 'id');
  if (is('date-range')) {
    const time = new Date(typeof note.at === 'number' ? note.at * 1000 : note.at);
    note.receivedFor = time.toISOString();
  }
  checkTime(type, note.at);
  if (data.errorData !== undefined && data.errorData !== null) {
    texts(data.errorData, 'code', 'message');
    checkCode(data.errorData.code);
  }
  const { metadata } = data;
  if (type === 'CAAS') {
    need(typeof data.type === 'string' && isObject(metadata), 'data.type and data.metadata are required');
    texts(data, 'providerId', 'transactionId');
    texts(
      metadata,
      'orderStatus',
      'orderType',
      'providerTransactionId',
      'providerTransactionRef',
      'providerTransactionStatus',
      'trackingStateDescription',
    );
    texts(
      metadata.blockchainData ?? {},
      'targetWalletAddress',
      'blockchainTransactionId',
      'blockchainMemo',
      'currency',
      'chain',
      'refundWalletAddress',
      'sourceWalletAddress',
    );
  } else if (type === 'REFUND') {
    texts(data, 'providerId', 'transactionId', 'status');
    texts(metadata, 'blockchainTransactionId', 'amount', 'currency', 'walletAddress');
    const { amount } = metadata;
    if (typeof amount === 'string') {
      need(/^\d+(\.\d+)?$/.test(amount), 'amount must be decimal text');
      if (is('trailing-zero-amount')) need(String(Number(amount)) === amount, 'amount must be a number');
    }
  } else if (type === 'PAYMENT_METHOD') {
    texts(data, 'status', 'paymentMethodId', 'accountId', 'errorCode');
    checkCode(data.errorCode);
  } else if (type === 'WALLET') {
    texts(data, 'operation', 'customerId', 'walletAddress', 'assetId', 'chain');
  } else if (type === 'CAAS_BLOCKCHAIN') {
    texts(data, 'type', 'status', 'partnerTransactionId', 'customerId');
    texts(metadata, 'sourceAddress', 'destinationAddress', 'blockchainTransactionId', 'blockchainTransctionId');
    texts(metadata.asset, 'amount', 'currency');
    if (typeof metadata.asset.amount === 'string') need(/^\d+$/.test(metadata.asset.amount), 'bad amount');
  }
}

function parse(body) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    throw new Problem(400, 'malformed payload');
  }
}

const pool = { free: 10, waiting: [] };

async function connect() {
  if (pool.free === 0) await new Promise((resolve) => pool.waiting.push(resolve));
  pool.free -= 1;
}

function release() {
  pool.free += 1;
  pool.waiting.shift()?.();
}

async function processNote(body) {
  if (is('pool-leak')) {
    await connect();
    const note = parse(body);
    validate(note);
    release();
    return;
  }
  validate(parse(body));
}

function idOf(body) {
  try {
    return JSON.parse(body.toString()).id;
  } catch {
    return undefined;
  }
}

// ------------------------------------------------------------------ server

async function work(req, res, body, verified = false) {
  if (is('cached-rejection') && rejectedIds.has(idOf(body))) throw new Problem(401, 'unauthorized');
  if (!verified && !authorised(req, body)) {
    const id = idOf(body);
    if (id !== undefined) rejectedIds.add(id);
    throw new Problem(401, 'unauthorized');
  }
  if (is('charset-415')) need415(req.headers['content-type'] === 'application/json');
  await processNote(body);
  const headers = {};
  if (is('session-cookie')) {
    const sid = crypto.randomBytes(16).toString('hex');
    sessions.add(sid);
    headers['Set-Cookie'] = `sid=${sid}; HttpOnly; Path=/`;
  }
  answer(res, 200, 'ok', headers);
}

function need415(condition) {
  if (!condition) throw new Problem(415, 'application/json expected');
}

function fail(req, res, error) {
  if (res.headersSent || res.destroyed) return;
  const status = error instanceof Problem ? error.status : 500;
  if (status === 500) console.error(error.message);
  if (req.complete) answer(res, status, status === 500 ? 'internal error' : error.message);
  else answer(res, status, error.message, { Connection: 'close' });
}

async function serve(req, res, verified = false) {
  const [path, query = ''] = req.url.split('?', 2);
  if (is('shared-credentials')) current = req.headers;
  const route = is('path-case') ? path.toLowerCase() : path;
  if (is('path-case') && path !== '/hooks') verified = true;
  if (route !== '/hooks') throw new Problem(404, 'not found');
  if (req.method !== 'POST') {
    res.setHeader('Allow', 'POST');
    throw new Problem(405, 'method not allowed');
  }
  if (is('validation-token')) {
    const token = new URLSearchParams(query).get('validationToken');
    if (token) {
      res.writeHead(200, { 'Content-Type': 'text/plain' });
      res.end(token);
      return;
    }
  }
  let body = await readBody(req);
  if (is('form-payload') && /x-www-form-urlencoded/i.test(req.headers['content-type'] ?? '')) {
    const payload = new URLSearchParams(body.toString()).get('payload');
    if (payload !== null) {
      body = Buffer.from(payload);
      verified = true;
    }
  }
  await work(req, res, body, verified);
}

function listener(req, res) {
  if (is('host-crash')) {
    req.url = new URL(req.url, `http://${req.headers.host}`).href.replace(/^https?:\/\/[^/]*/, '');
  }
  if (is('aborted-upload')) {
    void readBody(req).then((body) => {
      if (req.url.split('?')[0] !== '/hooks') return answer(res, 404, 'not found');
      if (req.method !== 'POST') return answer(res, 405, 'method not allowed', { Allow: 'POST' });
      return work(req, res, body).catch((error) => fail(req, res, error));
    });
    return;
  }
  serve(req, res).catch((error) => fail(req, res, error));
}

const server = http.createServer(listener);
if (is('expect-unverified')) {
  server.on('checkContinue', (req, res) => {
    res.writeContinue();
    serve(req, res, true).catch((error) => fail(req, res, error));
  });
}
server.listen(Number(option('--port') ?? 8080), '127.0.0.1', () => console.log('listening'));
