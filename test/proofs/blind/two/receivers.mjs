// Webhook receivers with one fault each: bare node:http and Express 5.
//   node receivers.mjs --list
//   node receivers.mjs --fault NAME --port N      (NAME: none, none-express, or one of the list)
import crypto from 'node:crypto';
import http from 'node:http';
import querystring from 'node:querystring';
import { createRequire } from 'node:module';

const SECRET = process.env.BLIND_SECRET ?? '';
const API_KEY = process.env.BLIND_API_KEY ?? '';
const LIMIT = 12 * 1024 * 1024;
const TYPES = new Set(['CAAS', 'PAYMENT_METHOD', 'REFUND', 'CAAS_BLOCKCHAIN', 'WALLET']);

// ---------------------------------------------------------------- the correct parts

function digest(body, secret = SECRET) {
  return crypto.createHmac('sha256', secret).update(body).digest('base64');
}

// Both sides are hashed first, so that the lengths are equal whatever was sent.
function sameText(given, expected) {
  const left = crypto.createHash('sha256').update(String(given), 'latin1').digest();
  const right = crypto.createHash('sha256').update(expected, 'latin1').digest();
  return crypto.timingSafeEqual(left, right);
}

function readBody(req) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let size = 0;
    req.on('data', (chunk) => {
      size += chunk.length;
      if (size > LIMIT) resolve(null);
      else chunks.push(chunk);
    });
    req.on('end', () => resolve(Buffer.concat(chunks)));
    req.on('error', reject);
    req.on('close', () => reject(new Error('aborted')));
  });
}

function parse(body) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    return undefined;
  }
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value) => value === undefined || value === null || typeof value === 'string';
const textFields = (object, names) => names.every((name) => isText(object[name]));
const isErrorData = (value) =>
  value === undefined || value === null || (isObject(value) && textFields(value, ['code', 'message']));
const isAmount = (value) =>
  value === undefined || value === null || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value));

const DATA_CHECKS = new Map([
  ['CAAS', (data) => {
    if (typeof data.type !== 'string' || !isObject(data.metadata) || !isErrorData(data.errorData)) return false;
    if (!textFields(data, ['providerId', 'transactionId'])) return false;
    const { metadata } = data;
    if (data.type === 'ORDER_TRACKING') {
      return textFields(metadata, ['orderType', 'providerTransactionId', 'providerTransactionRef',
        'providerTransactionStatus', 'trackingStateDescription']);
    }
    if (data.type !== 'BUY' && data.type !== 'SELL') return true;
    const chain = metadata.blockchainData ?? {};
    return isText(metadata.orderStatus) && isObject(chain) && textFields(chain, ['targetWalletAddress',
      'blockchainTransactionId', 'blockchainMemo', 'currency', 'chain', 'refundWalletAddress', 'sourceWalletAddress']);
  }],
  ['REFUND', (data) => {
    const metadata = data.metadata ?? {};
    return textFields(data, ['providerId', 'transactionId', 'status']) && isErrorData(data.errorData)
      && isObject(metadata) && isAmount(metadata.amount)
      && textFields(metadata, ['blockchainTransactionId', 'currency', 'walletAddress']);
  }],
  ['PAYMENT_METHOD', (data) => textFields(data, ['status', 'paymentMethodId', 'accountId', 'errorCode'])],
  ['WALLET', (data) => textFields(data, ['operation', 'customerId', 'walletAddress', 'assetId', 'chain'])],
  ['CAAS_BLOCKCHAIN', (data) => {
    const metadata = data.metadata ?? {};
    const asset = metadata.asset ?? {};
    return textFields(data, ['type', 'status', 'partnerTransactionId', 'customerId']) && isObject(metadata)
      && textFields(metadata, ['sourceAddress', 'destinationAddress', 'blockchainTransactionId',
        'blockchainTransctionId']) && isObject(asset) && isAmount(asset.amount) && isText(asset.currency);
  }],
]);

function validate(payload) {
  if (!isObject(payload) || typeof payload.id !== 'string' || payload.id === '') return false;
  if (typeof payload.type !== 'string' || !isObject(payload.data)) return false;
  if (typeof payload.at !== 'string' && !Number.isInteger(payload.at)) return false;
  if (['CAAS', 'PAYMENT_METHOD', 'REFUND'].includes(payload.type) && !Number.isInteger(payload.at)) return false;
  if (['WALLET', 'CAAS_BLOCKCHAIN'].includes(payload.type) && typeof payload.at !== 'string') return false;
  const check = DATA_CHECKS.get(payload.type);
  return check ? check(payload.data) : true;
}

const events = new Map();
function handle(payload) {
  if (events.size > 10000) events.clear();
  events.set(payload.id, payload.type);
}

const BODIES = { 200: 'ok', 400: 'malformed', 401: 'unauthorized', 413: 'too large' };
function reply(res, status, extra = {}) {
  const text = JSON.stringify({ status: BODIES[status] ?? 'refused' });
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...extra });
  res.end(text);
}

const base = {
  handle,
  validate,
  readBody,
  // true when the request has been answered before its body was read
  before() { return false; },
  // a status that is answered before the credentials are looked at
  screen() { return 0; },
  keyMatches(req) { return sameText(req.headers['x-api-key'] ?? '', API_KEY); },
  signatureMatches(req, body) { return sameText(req.headers['x-service-signature'] ?? '', digest(body)); },
  process(payload) {
    if (!this.validate(payload)) return 400;
    this.handle(payload);
    return 200;
  },
  decide(req, body) {
    const early = this.screen(req, body);
    if (early) return early;
    const keyOk = this.keyMatches(req);
    const signatureOk = this.signatureMatches(req, body);
    if (!keyOk || !signatureOk) return 401;
    const payload = parse(body);
    return payload === undefined ? 400 : this.process(payload);
  },
  // Express only
  parser(express) { return express.raw({ type: () => true, limit: LIMIT, inflate: false }); },
  bodyOf(req) { return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0); },
  answer(req, res) { reply(res, this.decide(req, this.bodyOf(req))); },
  configure(app, express) {
    app.enable('case sensitive routing');
    app.enable('strict routing');
    app.post('/hooks', this.parser(express), (req, res) => this.answer(req, res));
    app.all('/hooks', (req, res) => reply(res, 405, { Allow: 'POST' }));
  },
};

// ---------------------------------------------------------------- the two servers

async function bareRequest(steps, req, res) {
  if (req.url.split('?')[0] !== '/hooks') return reply(res, 404);
  if (req.method !== 'POST') return reply(res, 405, { Allow: 'POST' });
  if (steps.before(req, res)) return undefined;
  const body = await steps.readBody(req);
  if (body === null) return reply(res, 413, { Connection: 'close' });
  return reply(res, steps.decide(req, body));
}

function bareServer(steps) {
  return http.createServer((req, res) => {
    bareRequest(steps, req, res).catch((error) => {
      if (error.message === 'aborted' || res.headersSent) res.destroy();
      else reply(res, 500);
    });
  });
}

function expressServer(steps) {
  const express = createRequire(process.cwd() + '/package.json')('express');
  const app = express();
  app.disable('x-powered-by');
  steps.configure(app, express);
  app.use((req, res) => reply(res, 404));
  app.use((error, req, res, next) => {
    if (res.headersSent) return next(error);
    return reply(res, error.status >= 400 && error.status < 500 ? error.status : 500);
  });
  return http.createServer(app);
}

// ---------------------------------------------------------------- the faults

const faults = new Map();
function fault(name, label, server, what, change) {
  faults.set(name, { label, server, what, change });
}

fault('plus-as-space', 'must', bareServer,
  'The signature header is form-decoded, so a "+" in its Base64 becomes a space and the delivery is refused.', {
    signatureMatches(req, body) {
      const given = querystring.unescape((req.headers['x-service-signature'] ?? '').replace(/\+/g, ' '));
      return sameText(given, digest(body));
    },
  });

fault('last-byte-counts', 'must', bareServer,
  'The hand-made comparison assigns the difference instead of collecting it, so only the last character counts.', {
    signatureMatches(req, body) {
      const given = Buffer.from(req.headers['x-service-signature'] ?? '', 'latin1');
      const expected = Buffer.from(digest(body), 'latin1');
      if (given.length !== expected.length) return false;
      let difference = 0;
      for (let i = 0; i < expected.length; i += 1) difference = given[i] ^ expected[i];
      return difference === 0;
    },
  });

fault('first-64k-signed', 'must', bareServer,
  'The signature is computed over the first 65536 bytes only, while the whole body is processed.', {
    signatureMatches(req, body) {
      return sameText(req.headers['x-service-signature'] ?? '', digest(body.subarray(0, 65536)));
    },
  });

const partners = { [API_KEY]: { name: 'platform' } };
fault('inherited-key', 'must', expressServer,
  'The API key is looked up as a property of a plain object, so inherited names such as "constructor" are keys.', {
    keyMatches(req) {
      const partner = partners[req.get('X-API-KEY')];
      return Boolean(partner);
    },
  });

fault('length-in-characters', 'must', bareServer,
  'Lengths are compared in characters, the buffers are UTF-8: a 44-character signature with "é" throws, answer 500.', {
    signatureMatches(req, body) {
      const given = req.headers['x-service-signature'] ?? '';
      const expected = digest(body);
      if (given.length !== expected.length) return false;
      return crypto.timingSafeEqual(Buffer.from(given), Buffer.from(expected));
    },
  });

fault('text-parser', 'must', expressServer,
  'The body is read with express.text(), the signature is checked over the decoded text: other bytes also pass.', {
    parser(express) { return express.text({ type: () => true, limit: LIMIT, inflate: false }); },
    bodyOf(req) { return Buffer.from(typeof req.body === 'string' ? req.body : ''); },
  });

fault('chunks-as-strings', 'must', bareServer,
  'Each chunk is turned into a string on its own, so a character that is split over two packets is destroyed.', {
    readBody(req) {
      return new Promise((resolve, reject) => {
        let text = '';
        req.on('data', (chunk) => {
          if (text !== null) text += chunk;
          if (text !== null && text.length > LIMIT) text = null;
          if (text === null) resolve(null);
        });
        req.on('end', () => resolve(Buffer.from(text ?? '')));
        req.on('error', reject);
        req.on('close', () => reject(new Error('aborted')));
      });
    },
  });

fault('guard-by-exact-path', 'must', expressServer,
  'The guard compares the path exactly, the router ignores letter case and a trailing slash: /HOOKS is not guarded.', {
    configure(app, express) {
      app.use(this.parser(express), (req, res, next) => {
        if (req.path !== '/hooks') return next();
        if (this.keyMatches(req) && this.signatureMatches(req, this.bodyOf(req))) return next();
        return reply(res, 401);
      });
      app.post('/hooks', (req, res) => {
        const payload = parse(this.bodyOf(req));
        reply(res, payload === undefined ? 400 : this.process(payload));
      });
      app.all('/hooks', (req, res) => reply(res, 405, { Allow: 'POST' }));
    },
  });

fault('override-after-guard', 'must', expressServer,
  'The guard looks at POST only, then X-HTTP-Method-Override is applied: PUT with override POST is not checked.', {
    configure(app, express) {
      app.enable('case sensitive routing');
      app.enable('strict routing');
      app.use(this.parser(express), (req, res, next) => {
        if (req.method !== 'POST' || req.path !== '/hooks') return next();
        if (this.keyMatches(req) && this.signatureMatches(req, this.bodyOf(req))) return next();
        return reply(res, 401);
      });
      app.use((req, res, next) => {
        const wanted = (req.get('X-HTTP-Method-Override') ?? '').toUpperCase();
        if (http.METHODS.includes(wanted)) req.method = wanted;
        next();
      });
      app.post('/hooks', (req, res) => {
        const payload = parse(this.bodyOf(req));
        reply(res, payload === undefined ? 400 : this.process(payload));
      });
      app.all('/hooks', (req, res) => reply(res, 405, { Allow: 'POST' }));
    },
  });

fault('every-of-nothing', 'must', bareServer,
  'The header is a comma list of which every entry must match; a header of commas alone is an empty list and passes.', {
    signatureMatches(req, body) {
      const header = req.headers['x-service-signature'];
      if (!header) return false;
      const expected = digest(body);
      return header.split(',').map((part) => part.trim()).filter(Boolean).every((part) => sameText(part, expected));
    },
  });

fault('previous-secret-empty', 'must', bareServer,
  'For rotation the previous secret is accepted too; it is not configured, so its default, the empty text, signs.', {
    signatureMatches(req, body) {
      const secrets = [SECRET, process.env.BLIND_SECRET_PREVIOUS ?? ''];
      return secrets.some((secret) => sameText(req.headers['x-service-signature'] ?? '', digest(body, secret)));
    },
  });

fault('key-check-not-awaited', 'must', bareServer,
  'The API key check became asynchronous and is not awaited, so its promise counts as true for every key.', {
    async keyMatches(req) {
      const known = await Promise.resolve(API_KEY);
      return sameText(req.headers['x-api-key'] ?? '', known);
    },
  });

fault('foreign-types-first', 'must', bareServer,
  'Notifications of an unknown type are ignored with 200 before any credential is checked.', {
    screen(req, body) {
      const payload = parse(body);
      return isObject(payload) && typeof payload.type === 'string' && !TYPES.has(payload.type) ? 200 : 0;
    },
  });

fault('large-body-later', 'must', bareServer,
  'Bodies over 256 KiB are put aside for a later check and answered with 200 at once, without a check of the sender.', {
    before(req, res) {
      if (!(Number(req.headers['content-length']) > 256 * 1024)) return false;
      const later = [];
      req.on('data', (chunk) => later.push(chunk.length));
      req.on('end', () => reply(res, 200));
      req.on('error', () => res.destroy());
      return true;
    },
  });

const goodSignatures = new Set();
fault('signature-cache', 'must', bareServer,
  'Good signatures are cached without their body, so a signature seen once is good for every other body.', {
    signatureMatches(req, body) {
      const given = req.headers['x-service-signature'] ?? '';
      if (goodSignatures.has(given)) return true;
      const good = sameText(given, digest(body));
      if (good) goodSignatures.add(given);
      return good;
    },
  });

let sharedChunks = [];
fault('shared-chunks', 'must', bareServer,
  'The chunks of the body are kept in one variable of the module, so two requests at the same time mix.', {
    readBody(req) {
      return new Promise((resolve, reject) => {
        let size = 0;
        sharedChunks = [];
        req.on('data', (chunk) => {
          size += chunk.length;
          if (size > LIMIT) resolve(null);
          else sharedChunks.push(chunk);
        });
        req.on('end', () => resolve(Buffer.concat(sharedChunks)));
        req.on('error', reject);
        req.on('close', () => reject(new Error('aborted')));
      });
    },
  });

fault('validated-after-answer', 'must', bareServer,
  'The answer is 200 at once, the payload is validated later, outside of any handler: a bad one ends the process.', {
    process(payload) {
      setImmediate(() => {
        if (!this.validate(payload)) throw new Error('unexpected payload');
        this.handle(payload);
      });
      return 200;
    },
  });

const writers = {
  CAAS: (data) => ({ table: 'orders', key: data.transactionId }),
  REFUND: (data) => ({ table: 'refunds', key: data.transactionId }),
  PAYMENT_METHOD: (data) => ({ table: 'methods', key: data.paymentMethodId }),
  WALLET: (data) => ({ table: 'wallets', key: data.walletAddress }),
  CAAS_BLOCKCHAIN: (data) => ({ table: 'deposits', key: data.partnerTransactionId }),
};
fault('inherited-handler', 'must', expressServer,
  'The handler is looked up in a plain object, so a type such as "constructor" finds an inherited one: answer 500.', {
    handle(payload) {
      const writer = writers[payload.type];
      if (!writer) return;
      const row = writer(payload.data);
      events.set(row.table.concat('/', row.key), payload.id);
    },
  });

fault('safe-integer-amount', 'must', bareServer,
  'A deposit amount has to be a safe integer of the language, so amounts in atomic units over 2^53 are refused.', {
    validate(payload) {
      if (!validate(payload)) return false;
      const amount = payload.type === 'CAAS_BLOCKCHAIN' ? payload.data.metadata?.asset?.amount : undefined;
      return amount === undefined || amount === null || Number.isSafeInteger(Number(amount));
    },
  });

fault('description-pattern', 'must', bareServer,
  'A nested pattern is tried on the tracking description; a sentence with a full stop blocks the process for long.', {
    handle(payload) {
      const text = payload.data.metadata?.trackingStateDescription;
      const plain = typeof text !== 'string' || /^(\w+\s?)*$/.test(text);
      events.set(payload.id, plain ? text : encodeURIComponent(text.toWellFormed?.() ?? ''));
    },
  });

fault('word-filter', 'must', expressServer,
  'A home-made filter refuses every body with words of SQL or with a tag, also in free text: answer 403.', {
    screen(req, body) {
      return /\b(select|insert|update|delete|drop|union)\b|<[a-z!/]/i.test(body.toString('latin1')) ? 403 : 0;
    },
  });

fault('authorization-first', 'must', expressServer,
  'The key is taken from Authorization when that header exists, so a custom Authorization header leads to 401.', {
    keyMatches(req) {
      const given = req.get('Authorization') ?? req.get('X-API-KEY') ?? '';
      return sameText(given.replace(/^Bearer /i, ''), API_KEY);
    },
  });

fault('reformatted-also', 'must', bareServer,
  'When the raw body does not match, the reformatted JSON is tried as well, so changed bytes pass.', {
    signatureMatches(req, body) {
      const given = req.headers['x-service-signature'] ?? '';
      if (sameText(given, digest(body))) return true;
      const payload = parse(body);
      return payload !== undefined && sameText(given, digest(JSON.stringify(payload)));
    },
  });

fault('decoded-signature', 'should', expressServer,
  'The header is decoded leniently before the comparison: URL alphabet, missing padding and stray characters pass.', {
    signatureMatches(req, body) {
      const given = Buffer.from(req.get('X-Service-Signature') ?? '', 'base64');
      const expected = Buffer.from(digest(body), 'base64');
      return given.length === expected.length && crypto.timingSafeEqual(given, expected);
    },
  });

fault('no-return-after-401', 'blind', expressServer,
  'A return is missing after the 401, so the refused notification is stored all the same.', {
    answer(req, res) {
      const body = this.bodyOf(req);
      if (!this.keyMatches(req) || !this.signatureMatches(req, body)) reply(res, 401);
      const payload = parse(body);
      const status = payload === undefined ? 400 : this.process(payload);
      if (!res.headersSent) reply(res, status);
    },
  });

// ---------------------------------------------------------------- command line

function option(name) {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : process.argv[at + 1];
}

if (process.argv.includes('--list')) {
  for (const [name, { label, what }] of faults) console.log([name, label, what].join('\t'));
} else {
  faults.set('none', { server: bareServer, change: {} });
  faults.set('none-express', { server: expressServer, change: {} });
  const chosen = faults.get(option('--fault') ?? 'none');
  if (!chosen) {
    console.error('no such fault');
    process.exit(2);
  }
  const steps = Object.assign(Object.create(base), chosen.change);
  chosen.server(steps).listen(Number(option('--port')), '127.0.0.1', () => console.log('listening'));
}
