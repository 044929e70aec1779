// Sixty webhook receivers with one fault each, and the correct receiver they are derived from.
//   node receivers.mjs --list
//   node receivers.mjs --fault NAME --port N      (environment: BLIND_SECRET, BLIND_API_KEY)
// NAME `none` is the correct receiver on node:http; `none-express`, `none-fastify` and `none-koa` are the correct
// receivers on the three frameworks, from which the faults of those frameworks are derived.
// Every fault replaces one function (or one branch) of a correct receiver; see the three tables below.
import http from 'node:http';
import zlib from 'node:zlib';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';

const SECRET = process.env.BLIND_SECRET ?? '';
const API_KEY = process.env.BLIND_API_KEY ?? '';
const LIMIT = 12 * 1024 * 1024;
const load = (name) => createRequire(process.cwd() + '/package.json')(name);

// ---------------------------------------------------------------------------------------------------------------
// Shared by all correct receivers
// ---------------------------------------------------------------------------------------------------------------
const problem = (status, text) => Object.assign(new Error(text), { status, statusCode: status });

function sameText(a, b) {
  const digest = (text) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

const sign = (content, secret = SECRET) => createHmac('sha256', secret).update(content).digest('base64');

function keyAccepted(req) {
  const given = req.headers['x-api-key'];
  return given !== undefined && sameText(given, API_KEY);
}

function signatureAccepted(req, raw) {
  const given = req.headers['x-service-signature'];
  return given !== undefined && sameText(given, sign(raw));
}

function parse(raw) {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    throw problem(400, 'malformed payload');
  }
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const need = (condition, text) => {
  if (!condition) throw problem(400, text);
};
const isText = (value) => typeof value === 'string' || value === null; // null where the text is unknown
const isOptionalText = (value) => value === undefined || isText(value);
const isOptionalObject = (value) => value === undefined || value === null || isObject(value);

function checkErrorData(errorData) {
  need(isOptionalObject(errorData), 'errorData');
  if (errorData) need(isText(errorData.code) && isOptionalText(errorData.message), 'errorData fields');
}

function checkCaas(data) {
  need(isText(data.type) && isText(data.providerId) && isText(data.transactionId), 'data fields');
  need(isObject(data.metadata), 'metadata');
  const { orderStatus, orderType, providerTransactionStatus, blockchainData } = data.metadata;
  need([orderStatus, orderType, providerTransactionStatus].every(isOptionalText), 'metadata fields');
  if (data.type === 'BUY' || data.type === 'SELL') need(isText(orderStatus), 'orderStatus');
  if (data.type === 'ORDER_TRACKING') need(isText(providerTransactionStatus), 'providerTransactionStatus');
  need(isOptionalObject(blockchainData), 'blockchainData');
  if (blockchainData) {
    for (const name of ['targetWalletAddress', 'blockchainTransactionId', 'blockchainMemo', 'currency', 'chain']) {
      need(isOptionalText(blockchainData[name]), name);
    }
  }
  checkErrorData(data.errorData);
}

function checkRefund(data) {
  need(isText(data.providerId) && isText(data.transactionId) && isText(data.status), 'data fields');
  need(isOptionalObject(data.metadata), 'metadata');
  for (const name of ['blockchainTransactionId', 'amount', 'currency', 'walletAddress']) {
    need(isOptionalText(data.metadata?.[name]), name);
  }
  checkErrorData(data.errorData);
}

function checkPaymentMethod(data) {
  need(isText(data.status) && isText(data.paymentMethodId) && isText(data.accountId), 'data fields');
  need(isOptionalText(data.errorCode), 'errorCode');
}

function checkWallet(data) {
  for (const name of ['operation', 'customerId', 'walletAddress', 'assetId', 'chain']) need(isText(data[name]), name);
}

function checkDeposit(data) {
  for (const name of ['type', 'status', 'partnerTransactionId', 'customerId']) need(isText(data[name]), name);
  const { metadata } = data;
  need(isObject(metadata) && isText(metadata.sourceAddress) && isText(metadata.destinationAddress), 'metadata');
  need(isObject(metadata.asset) && isText(metadata.asset.amount) && isText(metadata.asset.currency), 'asset');
  const { blockchainTransactionId, blockchainTransctionId } = metadata;
  need(isOptionalText(blockchainTransactionId) && isOptionalText(blockchainTransctionId), 'transaction hash');
}

const dataChecks = new Map(Object.entries({
  CAAS: checkCaas, REFUND: checkRefund, PAYMENT_METHOD: checkPaymentMethod, WALLET: checkWallet,
  CAAS_BLOCKCHAIN: checkDeposit,
}));

function checkTime({ type, at }) {
  const epoch = Number.isInteger(at);
  const iso = at === null || (typeof at === 'string' && !Number.isNaN(Date.parse(at)));
  if (['CAAS', 'PAYMENT_METHOD', 'REFUND'].includes(type)) need(epoch, 'at');
  else if (['WALLET', 'CAAS_BLOCKCHAIN'].includes(type)) need(iso, 'at');
  else need(epoch || iso, 'at');
}

function check(envelope) {
  need(isObject(envelope), 'no object');
  need(typeof envelope.id === 'string' && envelope.id !== '', 'id');
  need(typeof envelope.type === 'string' && envelope.type !== '', 'type');
  need(isObject(envelope.data), 'data');
  checkTime(envelope);
  dataChecks.get(envelope.type)?.(envelope.data);
}

const store = new Map(); // id -> notification; the same id again changes nothing
function keep(envelope) {
  if (store.has(envelope.id)) return;
  const { metadata } = envelope.data;
  const hash = metadata?.blockchainTransactionId ?? metadata?.blockchainTransctionId;
  store.set(envelope.id, { ...envelope, hash });
}

// ---------------------------------------------------------------------------------------------------------------
// Correct receiver on node:http
// ---------------------------------------------------------------------------------------------------------------
const plainParts = {
  pathOf: (req) => req.url.split('?')[0],
  async readBody(req) {
    const chunks = [];
    let size = 0;
    for await (const chunk of req) {
      size += chunk.length;
      if (size <= LIMIT) chunks.push(chunk);
    }
    if (size > LIMIT) throw problem(413, 'too large');
    return Buffer.concat(chunks);
  },
  authorised: (req, raw, part) => part.keyAccepted(req) && part.signatureAccepted(req, raw),
  keyAccepted,
  signatureAccepted,
  before: () => {}, // after the authorisation, before parsing
  parse,
  check,
  keep,
  accept(res) {
    res.writeHead(200, { 'Content-Type': 'text/plain' });
    res.end('ok');
  },
  refuse(res, status, text) {
    res.writeHead(status, { 'Content-Type': 'text/plain' });
    res.end(text);
  },
  guard: (promise, res, part) => promise.catch((error) => {
    if (res.headersSent) res.destroy();
    else part.refuse(res, error.status ?? 500, error.status ? error.message : 'internal error');
  }),
};

function plain(change = {}, prepare = () => {}) {
  const part = { ...plainParts, ...change };
  async function deliver(req, res) {
    const raw = await part.readBody(req);
    if (!part.authorised(req, raw, part)) return part.refuse(res, 401, 'unauthorised');
    await part.before(req, raw);
    const envelope = part.parse(raw);
    part.check(envelope);
    await part.keep(envelope);
    return part.accept(res, envelope);
  }
  const server = http.createServer((req, res) => {
    const path = part.pathOf(req);
    if (path !== '/hooks') return part.refuse(res, 404, 'not found');
    if (req.method !== 'POST') return part.refuse(res, 405, 'method not allowed');
    return part.guard(deliver(req, res), res, part);
  });
  prepare(server);
  return server;
}

// ---------------------------------------------------------------------------------------------------------------
// Correct receiver on Express 5
// ---------------------------------------------------------------------------------------------------------------
const expressParts = {
  parsers: (express) => [express.raw({ type: () => true, limit: LIMIT, inflate: false })],
  rawOf: (req) => req.body ?? Buffer.alloc(0),
  keyAccepted,
  signatureAccepted,
  authorised: (req, part) => part.keyAccepted(req) && part.signatureAccepted(req, part.rawOf(req)),
  async authenticate(req, res, next, part) {
    if (part.authorised(req, part)) return next();
    return part.refuse(res);
  },
  refuse: (res) => res.status(401).send('unauthorised'),
  inspect: () => {}, // the raw body, after the authentication
  parse,
  check,
  keep,
  accept: (res) => res.status(200).send('ok'),
  routes(app, authenticate, deliver) {
    app.post('/hooks', authenticate, deliver);
  },
};

function onExpress(change = {}) {
  const express = load('express');
  const part = { ...expressParts, ...change };
  const app = express();
  app.disable('x-powered-by');
  for (const parser of part.parsers(express)) app.use(parser);
  const authenticate = (req, res, next) => part.authenticate(req, res, next, part);
  async function deliver(req, res) {
    const raw = part.rawOf(req);
    part.inspect(raw);
    const envelope = part.parse(raw);
    part.check(envelope);
    await part.keep(envelope);
    part.accept(res, envelope);
  }
  part.routes(app, authenticate, deliver, part);
  app.use((req, res) => res.status(404).send('not found'));
  app.use((error, req, res, next) => {
    if (res.headersSent) return next(error);
    const status = error.status ?? 500;
    return res.status(status).send(status < 500 ? 'refused' : 'internal error');
  });
  return http.createServer(app);
}

// ---------------------------------------------------------------------------------------------------------------
// Correct receiver on Fastify
// ---------------------------------------------------------------------------------------------------------------
const fastifyParts = {
  options: {},
  authorised: (request, raw) => keyAccepted(request) && signatureAccepted(request, raw),
  errorHandler(error, request, reply) {
    const status = error.statusCode ?? 500;
    reply.code(status).send(status < 500 ? 'refused' : 'internal error');
  },
  check,
  keep,
  accept: (reply) => reply.code(200).send('ok'),
};

async function onFastify(change = {}) {
  const fastify = load('fastify');
  const part = { ...fastifyParts, ...change };
  const app = fastify({ bodyLimit: 5 * LIMIT, ...part.options }); // above LIMIT the whole body is read, then 413
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    done(body.length > LIMIT ? problem(413, 'too large') : null, body);
  });
  app.setErrorHandler(part.errorHandler);
  app.addHook('preHandler', async (request) => {
    if (!part.authorised(request, request.body ?? Buffer.alloc(0))) throw problem(401, 'unauthorised');
  });
  app.post('/hooks', (request, reply) => {
    const envelope = parse(request.body ?? Buffer.alloc(0));
    part.check(envelope);
    part.keep(envelope);
    part.accept(reply, envelope);
  });
  await app.ready();
  return app.server;
}

// ---------------------------------------------------------------------------------------------------------------
// Correct receiver on Koa
// ---------------------------------------------------------------------------------------------------------------
const koaParts = {
  failed(ctx, error) {
    ctx.status = error.status ?? 500;
    ctx.body = error.status ? 'refused' : 'internal error';
  },
  authorised: (ctx, raw) => keyAccepted(ctx) && signatureAccepted(ctx, raw),
  handle: (envelope) => {
    keep(envelope);
    return 'ok';
  },
};

function onKoa(change = {}) {
  const Koa = load('koa');
  const part = { ...koaParts, ...change };
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      part.failed(ctx, error);
    }
  });
  app.use(async (ctx) => {
    if (ctx.path !== '/hooks') return;
    if (ctx.method !== 'POST') throw problem(405, 'method not allowed');
    const raw = await plainParts.readBody(ctx.req);
    if (!part.authorised(ctx, raw)) throw problem(401, 'unauthorised');
    const envelope = parse(raw);
    check(envelope);
    ctx.body = await part.handle(envelope);
  });
  return http.createServer(app.callback());
}

// ---------------------------------------------------------------------------------------------------------------
// Faults on node:http
// ---------------------------------------------------------------------------------------------------------------
const faults = [];
const fault = (name, label, what, build) => faults.push({ name, label, what, build });

fault('retired-empty-secret', 'must',
  'During key rotation the old secret is accepted too; it is not configured, so a signature with an empty key passes.',
  () => plain({
    signatureAccepted(req, raw) {
      const secrets = [SECRET, process.env.BLIND_SECRET_PREVIOUS ?? ''];
      const given = req.headers['x-service-signature'] ?? '';
      return secrets.some((secret) => sameText(given, sign(raw, secret)));
    },
  }));

fault('signature-cache', 'must',
  'Signatures that were valid once are remembered without the body, and pass for any other body afterwards.',
  () => {
    const verified = new Set();
    return plain({
      signatureAccepted(req, raw) {
        const given = req.headers['x-service-signature'];
        if (verified.has(given)) return true;
        const ok = signatureAccepted(req, raw);
        if (ok) verified.add(given);
        return ok;
      },
    });
  });

fault('connection-stays-trusted', 'must',
  'After one authorised delivery every later request on the same connection passes without key and signature.',
  () => plain({
    authorised(req, raw, part) {
      if (req.socket.trusted) return true;
      req.socket.trusted = part.keyAccepted(req) && part.signatureAccepted(req, raw);
      return req.socket.trusted;
    },
  }));

fault('empty-signature-list', 'must',
  'The header is read as a comma-separated list and every entry is checked, so a header without entries passes.',
  () => plain({
    signatureAccepted(req, raw) {
      const header = req.headers['x-service-signature'];
      if (header === undefined) return false;
      const list = header.split(',').map((entry) => entry.trim()).filter(Boolean);
      return list.every((entry) => sameText(entry, sign(raw)));
    },
  }));

fault('body-as-latin1', 'must',
  'The signature is computed over the body decoded as Latin-1, so valid bodies with non-ASCII text are refused.',
  () => plain({ signatureAccepted: (req, raw) => signatureAccepted(req, raw.toString('latin1')) }));

fault('chunks-joined-as-text', 'must',
  'Received chunks are appended to a string, so a UTF-8 character split between two chunks is destroyed.',
  () => plain({
    async readBody(req) {
      let body = '';
      for await (const chunk of req) {
        if (body.length <= LIMIT) body += chunk;
      }
      if (body.length > LIMIT) throw problem(413, 'too large');
      return Buffer.from(body);
    },
  }));

fault('signature-over-decoded-text', 'must',
  'The signature covers the body decoded as UTF-8: all invalid bytes become U+FFFD, so another body matches too.',
  () => plain({ signatureAccepted: (req, raw) => signatureAccepted(req, raw.toString('utf8')) }));

fault('pool-leak-on-malformed', 'must',
  'A database connection is taken before parsing and not given back on a parse error; after five of them all hangs.',
  () => {
    let free = 5;
    return plain({
      async before() {
        if (free === 0) await new Promise(() => {}); // waits for a free connection
        free -= 1;
      },
      keep(envelope) {
        keep(envelope);
        free += 1;
      },
    });
  });

fault('character-length-guard', 'must',
  'The length guard before the constant-time comparison counts characters, so a non-ASCII signature gives a 500.',
  () => plain({
    signatureAccepted(req, raw) {
      const given = req.headers['x-service-signature'] ?? '';
      const expected = sign(raw);
      if (given.length !== expected.length) return false;
      return timingSafeEqual(Buffer.from(given), Buffer.from(expected));
    },
  }));

fault('key-from-object-lookup', 'must',
  'The API key is looked up as a property of a plain object, so inherited names such as `constructor` pass as a key.',
  () => {
    const partners = { [API_KEY]: 'platform' };
    return plain({ keyAccepted: (req) => Boolean(partners[req.headers['x-api-key']]) });
  });

fault('authorization-wins', 'must',
  'If an Authorization header is present it is taken as the API key, so a delivery with such a custom header fails.',
  () => plain({
    keyAccepted(req) {
      const given = req.headers.authorization?.replace(/^Bearer /, '') ?? req.headers['x-api-key'] ?? '';
      return sameText(given, API_KEY);
    },
  }));

fault('header-name-exact-case', 'must',
  'The signature is searched in the raw headers under one spelling, so another letter case of the name is refused.',
  () => plain({
    signatureAccepted(req, raw) {
      const position = req.rawHeaders.indexOf('X-Service-Signature');
      return position >= 0 && sameText(req.rawHeaders[position + 1], sign(raw));
    },
  }));

fault('query-skips-authorisation', 'must',
  'The route ignores the query, but the check compares the whole URL, so /hooks?x=1 needs no key and no signature.',
  () => plain({
    authorised: (req, raw, part) => (req.url === '/hooks' ? plainParts.authorised(req, raw, part) : true),
  }));

fault('request-target-crash', 'must',
  'The request target goes into the URL constructor outside of any error handling; the target // ends the process.',
  () => plain({ pathOf: (req) => new URL(req.url, 'http://receiver.example').pathname }));

fault('gunzip-without-error-handling', 'must',
  'A body with Content-Encoding gzip is unpacked before the checks and without error handling: garbage gives a 500.',
  () => plain({
    async readBody(req) {
      const raw = await plainParts.readBody(req);
      if (req.headers['content-encoding'] !== 'gzip') return raw;
      return zlib.gunzipSync(raw, { maxOutputLength: LIMIT });
    },
  }));

fault('buffer-of-announced-size', 'must',
  'A buffer of the announced Content-Length is created before anything is checked; a huge announcement gives a 500.',
  () => plain({
    async readBody(req) {
      const announced = req.headers['content-length'];
      if (announced === undefined) return plainParts.readBody(req);
      const buffer = Buffer.alloc(Number(announced));
      let position = 0;
      for await (const chunk of req) position += chunk.copy(buffer, position);
      if (position > LIMIT) throw problem(413, 'too large');
      return buffer.subarray(0, position);
    },
  }));

fault('aborted-upload-ends-process', 'must',
  'The promise of the handler is not caught, so a client that disconnects in the middle of a body ends the process.',
  () => plain({ guard: (promise, res, part) => promise.catch((error) => {
    if (!error.status) throw error; // only the own errors are answered
    part.refuse(res, error.status, error.message);
  }) }));

fault('expect-continue-unchecked', 'must',
  'The listener for Expect: 100-continue takes the body and answers 200 itself, without any check.',
  () => plain({}, (server) => server.on('checkContinue', async (req, res) => {
    res.writeContinue();
    await plainParts.readBody(req).catch(() => {});
    plainParts.accept(res);
  })));

fault('no-content-length-no-signature', 'must',
  'A request without Content-Length is taken for an empty one that needs no signature, so chunked bodies pass.',
  () => plain({
    signatureAccepted(req, raw) {
      const length = Number(req.headers['content-length'] ?? 0);
      if (length === 0) return true;
      return signatureAccepted(req, raw);
    },
  }));

fault('shared-chunk-list', 'must',
  'The list of received chunks is one module variable, so two requests that arrive interleaved mix their bodies.',
  () => {
    let chunks = [];
    return plain({
      async readBody(req) {
        chunks = [];
        for await (const chunk of req) chunks.push(chunk);
        const raw = Buffer.concat(chunks);
        if (raw.length > LIMIT) throw problem(413, 'too large');
        return raw;
      },
    });
  });

fault('answer-length-in-characters', 'must',
  'The answer repeats the tracking text with a Content-Length counted in characters, too short for non-ASCII text.',
  () => plain({
    accept(res, envelope) {
      const note = envelope.data.metadata?.trackingStateDescription ?? '';
      const text = JSON.stringify({ status: 'ok', note });
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      res.end(text);
    },
  }));

fault('id-in-answer-header', 'must',
  'The notification id is copied into an answer header unchecked; an id with a line break or an emoji gives a 500.',
  () => plain({
    accept(res, envelope) {
      res.setHeader('X-Notification-Id', envelope.id);
      plainParts.accept(res);
    },
  }));

fault('global-lock-out', 'must',
  'After ten refused requests from anywhere the receiver answers 401 to every delivery until it is restarted.',
  () => {
    let failures = 0;
    return plain({
      authorised(req, raw, part) {
        if (failures >= 10) return false;
        const ok = plainParts.authorised(req, raw, part);
        if (!ok) failures += 1;
        return ok;
      },
    });
  });

fault('queue-never-drained', 'must',
  'Accepted deliveries go into a queue of 40 places that nothing empties; the forty-first and all later ones get 503.',
  () => {
    const queue = [];
    return plain({
      keep(envelope) {
        if (queue.length >= 40) throw problem(503, 'queue full');
        queue.push(envelope.id);
      },
    });
  });

fault('secret-cache-fails-open', 'must',
  'The secret is cached for 5 seconds; while it is fetched again, signatures are not checked at all.',
  () => {
    let cached = SECRET;
    let loadedAt = Date.now();
    let loading = false;
    async function refresh() {
      loading = true;
      await delay(50); // the secret store answers
      cached = SECRET;
      loadedAt = Date.now();
      loading = false;
    }
    return plain({
      signatureAccepted(req, raw) {
        if (Date.now() - loadedAt > 5000) cached = undefined;
        if (!cached && !loading) refresh();
        if (!cached) return true; // do not lose deliveries while the secret store is slow
        return sameText(req.headers['x-service-signature'] ?? '', sign(raw, cached));
      },
    });
  });

fault('ping-needs-no-credentials', 'must',
  'A body whose type is PING or TEST is answered with 200 before key and signature are checked.',
  () => {
    const isPing = (envelope) => ['PING', 'TEST'].includes(envelope?.type);
    return plain({
      authorised(req, raw, part) {
        try {
          if (isPing(JSON.parse(raw.toString()))) return true;
        } catch {
          // malformed payloads take the ordinary way
        }
        return plainParts.authorised(req, raw, part);
      },
      check: (envelope) => isPing(envelope) || check(envelope),
      keep: (envelope) => isPing(envelope) || keep(envelope),
    });
  });

fault('lenient-base64', 'should',
  'The signature header is decoded before the comparison, so URL-safe or unpadded Base64 and stray characters pass.',
  () => plain({
    signatureAccepted(req, raw) {
      const given = Buffer.from(req.headers['x-service-signature'] ?? '', 'base64');
      const expected = createHmac('sha256', SECRET).update(raw).digest();
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  }));

fault('content-type-exact', 'should',
  'The content type must be exactly application/json; with a charset parameter a valid delivery gets 415.',
  () => plain({
    before(req) {
      if (req.headers['content-type'] !== 'application/json') throw problem(415, 'unsupported media type');
    },
  }));

fault('ordinary-comparison', 'blind',
  'Key and signature are compared with the ordinary string operator instead of in constant time.',
  () => plain({
    keyAccepted: (req) => req.headers['x-api-key'] === API_KEY,
    signatureAccepted: (req, raw) => req.headers['x-service-signature'] === sign(raw),
  }));

fault('credentials-in-log', 'blind',
  'For each refused request the received headers and the expected signature are written to the log of the process.',
  () => plain({
    authorised(req, raw, part) {
      const ok = plainParts.authorised(req, raw, part);
      if (!ok) console.error('refused', { headers: req.headers, expected: sign(raw) });
      return ok;
    },
  }));

// ---------------------------------------------------------------------------------------------------------------
// Faults on Express 5
// ---------------------------------------------------------------------------------------------------------------
fault('verify-callback-only-for-json', 'must',
  'The signature is checked in the verify callback of the JSON parser; the same text sent as text/plain avoids it.',
  () => onExpress({
    parsers: (express) => [
      express.json({
        limit: LIMIT,
        verify(req, res, raw) {
          if (!signatureAccepted(req, raw)) throw problem(401, 'unauthorised');
        },
      }),
      express.text({ type: 'text/plain', limit: LIMIT }),
    ],
    authorised: (req) => keyAccepted(req),
    rawOf: (req) => req.body ?? '',
    parse: (body) => (typeof body === 'string' ? parse(Buffer.from(body)) : body),
  }));

fault('signature-over-serialised-object', 'must',
  'The signature is computed over JSON.stringify of the parsed body instead of over the bytes that were received.',
  () => onExpress({
    signatureAccepted(req, raw) {
      try {
        return signatureAccepted(req, JSON.stringify(JSON.parse(raw.toString())));
      } catch {
        return false;
      }
    },
  }));

fault('refund-amount-as-big-integer', 'must',
  'The refund amount is converted with BigInt, which throws for decimal text such as 12.50: a 500.',
  () => onExpress({
    keep(envelope) {
      const amount = envelope.type === 'REFUND' ? BigInt(envelope.data.metadata?.amount ?? 0) : 0n;
      keep({ ...envelope, amount });
    },
  }));

fault('comparison-error-passes', 'must',
  'The constant-time comparison throws for another length; the catch block logs that and lets the request through.',
  () => onExpress({
    signatureAccepted(req, raw) {
      try {
        return timingSafeEqual(Buffer.from(req.get('X-Service-Signature') ?? ''), Buffer.from(sign(raw)));
      } catch (error) {
        console.error('verification not possible:', error.message);
        return true;
      }
    },
  }));

fault('status-without-send', 'must',
  'On refusal the status 401 is set, but the answer is never sent, so the sender waits for ever.',
  () => onExpress({ refuse: (res) => res.status(401) }));

fault('exact-path-guard-loose-route', 'must',
  'The check guards the exact path /hooks, but the route also serves /HOOKS and /hooks/, which are not guarded.',
  () => onExpress({
    routes(app, authenticate, deliver) {
      app.use((req, res, next) => (req.path === '/hooks' ? authenticate(req, res, next) : next()));
      app.post('/hooks', deliver);
    },
  }));

fault('forwarded-for-loopback', 'must',
  'A request whose X-Forwarded-For starts with a loopback address counts as internal and needs no credentials.',
  () => onExpress({
    authorised(req, part) {
      const client = req.get('X-Forwarded-For')?.split(',')[0].trim();
      if (['127.0.0.1', '::1', 'localhost'].includes(client)) return true;
      return expressParts.authorised(req, part);
    },
  }));

fault('large-body-unsigned', 'must',
  'For speed the signature is only computed for bodies up to 1 MiB; larger bodies pass with the API key alone.',
  () => onExpress({
    signatureAccepted: (req, raw) => raw.length > 1024 * 1024 || signatureAccepted(req, raw),
  }));

fault('only-post-is-guarded', 'must',
  'The check is registered for POST, the handler for all methods, so PUT or PATCH need no credentials.',
  () => onExpress({
    routes(app, authenticate, deliver) {
      app.post('/hooks', authenticate);
      app.all('/hooks', deliver);
    },
  }));

fault('shared-authorisation-flag', 'must',
  'The result of the check lies in app.locals during a lookup; a forged request next to a valid one passes.',
  () => onExpress({
    async authenticate(req, res, next, part) {
      req.app.locals.authorised = part.authorised(req, part);
      await delay(60); // lookup of the partner's settings
      if (req.app.locals.authorised) return next();
      return part.refuse(res);
    },
  }));

fault('duplicate-check-before-authorisation', 'must',
  'The duplicate check runs before the credentials are checked: an unsigned body with a known id gets 200.',
  () => onExpress({
    authenticate(req, res, next, part) {
      let id;
      try {
        id = JSON.parse(part.rawOf(req).toString())?.id;
      } catch {
        id = undefined;
      }
      if (store.has(id)) return part.accept(res);
      return expressParts.authenticate(req, res, next, part);
    },
  }));

fault('blockchain-accepted-is-final', 'must',
  'BLOCKCHAIN_ACCEPTED counts as a final order status, so the announced next notification of the order gets 409.',
  () => {
    const finished = new Map(); // transactionId -> id of the notification that finished it
    return onExpress({
      keep(envelope) {
        if (envelope.type !== 'CAAS') return keep(envelope);
        const { transactionId, metadata } = envelope.data;
        const before = finished.get(transactionId);
        if (before !== undefined && before !== envelope.id) throw problem(409, 'order is finished');
        if (metadata.orderStatus === 'BLOCKCHAIN_ACCEPTED') finished.set(transactionId, envelope.id);
        return keep(envelope);
      },
    });
  });

fault('one-wallet-per-customer', 'must',
  'The wallet table has the customer id as its key; a second asset of the same customer is a constraint error, 500.',
  () => {
    const wallets = new Map(); // customerId -> notification id
    return onExpress({
      keep(envelope) {
        if (envelope.type === 'WALLET') {
          const { customerId } = envelope.data;
          const before = wallets.get(customerId) ?? envelope.id;
          if (before !== envelope.id) throw new Error('UNIQUE constraint failed: wallets.customer_id');
          wallets.set(customerId, envelope.id);
        }
        keep(envelope);
      },
    });
  });

fault('regular-expression-with-state', 'must',
  'The id is tested with a regular expression that has the g flag and keeps its position: every second one fails.',
  () => {
    const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/gi;
    return onExpress({
      check(envelope) {
        check(envelope);
        need(uuid.test(envelope.id), 'id');
      },
    });
  });

fault('word-filter', 'must',
  'A filter against SQL injection and scripts answers 403 to signed bodies with ordinary words such as "update".',
  () => onExpress({
    inspect(raw) {
      if (/\b(select|union|insert|update|delete|drop)\b|<script|' or /i.test(raw.toString())) {
        throw problem(403, 'forbidden content');
      }
    },
  }));

fault('only-correct-spelling-of-hash', 'must',
  'For a deposit blockchainTransactionId is required; the misspelt key of the sample, or none, gets 400.',
  () => onExpress({
    check(envelope) {
      check(envelope);
      if (envelope.type === 'CAAS_BLOCKCHAIN') {
        need(isText(envelope.data.metadata.blockchainTransactionId), 'blockchainTransactionId');
      }
    },
  }));

fault('backtracking-expression', 'must',
  'The free text of order tracking is tested with a nested quantifier; longer text with punctuation hangs the server.',
  () => onExpress({
    keep(envelope) {
      const text = envelope.data.metadata?.trackingStateDescription;
      const plainWords = typeof text === 'string' && /^(\w+\s?)+$/.test(text);
      keep({ ...envelope, plainWords });
    },
  }));

fault('duplicate-gets-409', 'should',
  'A notification whose id was stored before is answered with 409 instead of 200.',
  () => onExpress({
    keep(envelope) {
      if (store.has(envelope.id)) throw problem(409, 'duplicate');
      keep(envelope);
    },
  }));

fault('parsed-before-authorisation', 'should',
  'The body is parsed before the credentials are checked, so an unsigned malformed body gets 400 instead of 401.',
  () => onExpress({
    authenticate(req, res, next, part) {
      parse(part.rawOf(req));
      return expressParts.authenticate(req, res, next, part);
    },
  }));

fault('random-support-token', 'blind',
  'A header with a support token (24 random bytes, made at start, never sent) lets unsigned requests through.',
  () => {
    const token = randomBytes(24).toString('hex');
    return onExpress({
      authorised: (req, part) => req.get('X-Support-Token') === token || expressParts.authorised(req, part),
    });
  });

// ---------------------------------------------------------------------------------------------------------------
// Faults on Fastify and Koa
// ---------------------------------------------------------------------------------------------------------------
fault('double-slash-unguarded', 'must',
  'The router ignores duplicate slashes, but the hook guards only URLs that start with /hooks: //hooks is unguarded.',
  () => onFastify({
    options: { routerOptions: { ignoreDuplicateSlashes: true } },
    authorised: (request, raw) => !request.url.startsWith('/hooks') || fastifyParts.authorised(request, raw),
  }));

fault('framework-errors-become-500', 'must',
  'The error handler answers only its own errors; those of the framework (unsupported content type) become a 500.',
  () => onFastify({
    errorHandler(error, request, reply) {
      const status = error.code?.startsWith('FST_') ? 500 : error.status ?? 500;
      reply.code(status).send('error');
    },
  }));

fault('expired-branch-without-answer', 'must',
  'The branch for an expired order tracking returns without sending an answer, so the sender waits for ever.',
  () => onFastify({
    accept(reply, envelope) {
      if (envelope.data.metadata?.providerTransactionStatus === 'EXPIRED') return; // nothing to book
      fastifyParts.accept(reply);
    },
  }));

fault('error-code-three-digits', 'must',
  'Error codes must have three digits in the middle group, so the listed code 152-99-S2 gets 400.',
  () => onFastify({
    check(envelope) {
      check(envelope);
      const code = envelope.data.errorData?.code ?? envelope.data.errorCode;
      if (code) need(/^\d{3}-\d{3}-[SE]\d$/.test(code), 'error code');
    },
  }));

fault('unknown-field-refused', 'should',
  'A field of the envelope that is not in the list (id, type, at, data) leads to 400.',
  () => onFastify({
    check(envelope) {
      check(envelope);
      need(Object.keys(envelope).every((name) => ['id', 'type', 'at', 'data'].includes(name)), 'unknown field');
    },
  }));

fault('misspelt-hash-dropped', 'blind',
  'A deposit with the misspelt hash key is accepted, but its hash is not stored.',
  () => onFastify({
    keep(envelope) {
      if (!store.has(envelope.id)) {
        store.set(envelope.id, { ...envelope, hash: envelope.data.metadata?.blockchainTransactionId });
      }
    },
  }));

fault('errors-answered-with-200', 'must',
  'The error middleware turns every error into 200 with {"ok":false}, so forged requests get 200 as well.',
  () => onKoa({
    failed(ctx, error) {
      ctx.status = 200; // the sender must not repeat the delivery
      ctx.body = { ok: false, error: error.message };
    },
  }));

fault('verified-cookie', 'must',
  'After an accepted delivery the cookie verified=yes is set; a request with that cookie needs no credentials.',
  () => onKoa({
    authorised(ctx, raw) {
      if (ctx.cookies.get('verified') === 'yes') return true;
      const ok = koaParts.authorised(ctx, raw);
      if (ok) ctx.cookies.set('verified', 'yes');
      return ok;
    },
  }));

fault('empty-result-becomes-204', 'must',
  'The handler for PAYMENT_METHOD returns nothing, which the framework turns into 204 instead of 200.',
  () => onKoa({
    handle(envelope) {
      if (envelope.type !== 'PAYMENT_METHOD') return koaParts.handle(envelope);
      return keep(envelope);
    },
  }));

fault('refund-booked-before-answer', 'should',
  'A refund is booked in a slow downstream system before the answer is sent, which takes about six seconds.',
  () => onKoa({
    async handle(envelope) {
      if (envelope.type === 'REFUND') await delay(6000);
      return koaParts.handle(envelope);
    },
  }));

// ---------------------------------------------------------------------------------------------------------------
// Command line
// ---------------------------------------------------------------------------------------------------------------
const correct = {
  none: () => plain(), 'none-express': () => onExpress(), 'none-fastify': () => onFastify(), 'none-koa': () => onKoa(),
};

const argument = (name) => {
  const position = process.argv.indexOf(name);
  return position < 0 ? undefined : process.argv[position + 1];
};

if (process.argv.includes('--list')) {
  for (const { name, label, what } of faults) console.log([name, label, what].join('\t'));
} else {
  const name = argument('--fault');
  const port = Number(argument('--port'));
  const build = correct[name] ?? faults.find((entry) => entry.name === name)?.build;
  if (!build || !port || !SECRET || !API_KEY) {
    console.error('usage: receivers.mjs --list | --fault NAME --port N  (with BLIND_SECRET and BLIND_API_KEY)');
    process.exit(2);
  }
  const server = await build();
  server.listen(port, '127.0.0.1', () => console.log('listening'));
}
