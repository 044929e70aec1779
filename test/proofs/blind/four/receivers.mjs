// Webhook receivers: one correct (--fault none) and others with exactly one fault each.
// Usage: node receivers.mjs --list
//        node receivers.mjs --fault NAME --port N   (BLIND_SECRET and BLIND_API_KEY in the environment)
import crypto from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const PATH = '/hooks';
const MAX_BODY = 12 * 1024 * 1024;
const REFUSED = { status: 401, document: { error: 'unauthorized' } };
const ACCEPTED = { status: 200, document: { received: true } };

class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const malformed = (message) => new HttpError(400, message);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function sameText(given, expected) {
  const left = Buffer.from(given, 'latin1');
  const right = Buffer.from(expected, 'utf8');
  return left.length === right.length && crypto.timingSafeEqual(left, right);
}

// The value of a header that is present exactly once, or undefined.
function onlyHeader(req, name) {
  const values = req.headersDistinct[name] ?? [];
  return values.length === 1 ? values[0] : undefined;
}

// Required parts have to be present with the right kind; unknown types, statuses and fields pass.
function validate(payload) {
  const text = (owner, ...names) => {
    for (const name of names) {
      if (owner[name] !== undefined && owner[name] !== null && typeof owner[name] !== 'string') {
        throw malformed(`${name} is not text`);
      }
    }
  };
  const required = (owner, ...names) => {
    for (const name of names) {
      if (!Object.hasOwn(owner, name)) throw malformed(`${name} is missing`);
    }
    text(owner, ...names);
  };
  const object = (value, name) => {
    if (!isObject(value)) throw malformed(`${name} is not an object`);
    return value;
  };
  const part = (value, name) => (value === undefined || value === null ? {} : object(value, name));

  object(payload, 'the payload');
  required(payload, 'id', 'type');
  const at = payload.at ?? null;
  if (at !== null && typeof at !== 'string' && !Number.isInteger(at)) throw malformed('at');
  const data = object(payload.data, 'data');
  let metadata;
  switch (payload.type) {
    case 'CAAS':
      required(data, 'type', 'transactionId');
      text(data, 'providerId');
      metadata = object(data.metadata, 'metadata');
      text(
        metadata,
        'orderStatus',
        'orderType',
        'providerTransactionId',
        'providerTransactionRef',
        'providerTransactionStatus',
        'trackingStateDescription',
      );
      text(
        part(metadata.blockchainData, 'blockchainData'),
        'targetWalletAddress',
        'blockchainTransactionId',
        'blockchainMemo',
        'currency',
        'chain',
        'refundWalletAddress',
        'sourceWalletAddress',
      );
      break;
    case 'REFUND':
      required(data, 'transactionId', 'status');
      text(data, 'providerId');
      text(part(data.metadata, 'metadata'), 'blockchainTransactionId', 'amount', 'currency', 'walletAddress');
      break;
    case 'PAYMENT_METHOD':
      required(data, 'status', 'paymentMethodId');
      text(data, 'accountId', 'errorCode');
      break;
    case 'WALLET':
      required(data, 'customerId', 'walletAddress');
      text(data, 'operation', 'assetId', 'chain');
      break;
    case 'CAAS_BLOCKCHAIN':
      required(data, 'type');
      text(data, 'status', 'partnerTransactionId', 'customerId');
      metadata = object(data.metadata, 'metadata');
      text(metadata, 'sourceAddress', 'destinationAddress', 'blockchainTransactionId', 'blockchainTransctionId');
      text(object(metadata.asset, 'asset'), 'amount', 'currency');
      break;
    default:
      return;
  }
  text(part(data.errorData, 'errorData'), 'code', 'message');
}

// The correct receiver. A fault is a subclass that replaces one or two methods.
class Receiver {
  constructor(secret, apiKey) {
    this.secret = secret;
    this.apiKey = apiKey;
  }

  createServer() {
    const server = http.createServer({ keepAliveTimeout: 30000 }, (req, res) => this.handle(req, res));
    server.on('connect', (_req, socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    });
    return server;
  }

  async handle(req, res) {
    req.on('error', () => {});
    try {
      const raw = await this.readBody(req);
      const answer = await this.route(req, res, raw);
      this.reply(res, answer);
    } catch (error) {
      if (res.destroyed || res.headersSent) return;
      const status = error instanceof HttpError ? error.status : 500;
      if (status === 413) res.shouldKeepAlive = false;
      this.reply(res, { status, document: { error: status === 500 ? 'internal' : error.message } });
    }
  }

  readBody(req) {
    return new Promise((resolve, reject) => {
      const chunks = [];
      let size = 0;
      req.on('data', (chunk) => {
        size += chunk.length;
        if (size <= MAX_BODY) chunks.push(chunk);
        if (size > 4 * MAX_BODY) reject(new HttpError(413, 'too large'));
      });
      req.on('end', () => (size > MAX_BODY ? reject(new HttpError(413, 'too large')) : resolve(Buffer.concat(chunks))));
      req.on('error', reject);
      req.on('close', () => reject(new Error('closed')));
    });
  }

  reply(res, { status, document, headers = {} }) {
    const text = Buffer.from(JSON.stringify(document));
    res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': text.length, ...headers });
    res.end(text);
  }

  route(req, res, raw) {
    if (req.url.split('?')[0] !== PATH) throw new HttpError(404, 'not found');
    if (req.method !== 'POST') {
      return { status: 405, document: { error: 'not allowed' }, headers: { Allow: 'POST' } };
    }
    return this.respond(req, res, raw);
  }

  respond(req, res, raw) {
    if (!this.authentic(req, raw)) return this.refusal(req, raw);
    return this.consume(req, res, raw);
  }

  async consume(_req, res, raw) {
    const payload = this.parse(raw);
    validate(payload);
    return (await this.process(payload, res)) ?? ACCEPTED;
  }

  refusal() {
    return REFUSED;
  }

  authentic(req, raw) {
    const keyOk = this.keyOk(onlyHeader(req, 'x-api-key'));
    const signatureOk = this.signatureOk(onlyHeader(req, 'x-service-signature'), raw, req);
    return keyOk && signatureOk;
  }

  keyOk(given) {
    return given !== undefined && sameText(given, this.apiKey);
  }

  signatureOk(given, raw) {
    return given !== undefined && sameText(given, this.signature(raw));
  }

  signature(raw, secret = this.secret) {
    return crypto.createHmac('sha256', secret).update(raw).digest('base64');
  }

  parse(raw) {
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw));
    } catch {
      throw malformed('not JSON');
    }
  }

  // Effects of an accepted notification; may return another answer.
  process() {}
}

// Faults ---------------------------------------------------------------------------------------------------------

const faults = new Map();
const fault = (name, label, what, receiverClass) => faults.set(name, { label, what, receiverClass });

fault(
  'chunks-as-text',
  'must',
  'The body is collected with text += chunk, so a multi-byte character that is split over two chunks is damaged and ' +
    'the valid delivery is refused.',
  class extends Receiver {
    async readBody(req) {
      let text = '';
      let size = 0;
      for await (const chunk of req) {
        size += chunk.length;
        if (size <= MAX_BODY) text += chunk;
      }
      if (size > MAX_BODY) throw new HttpError(413, 'too large');
      return Buffer.from(text);
    }
  },
);

fault(
  'body-in-module-variable',
  'must',
  'The chunks of the body are collected in one variable for all requests, so two overlapping deliveries mix and are ' +
    'refused.',
  class extends Receiver {
    readBody(req) {
      this.chunks = [];
      return new Promise((resolve, reject) => {
        let size = 0;
        req.on('data', (chunk) => {
          size += chunk.length;
          if (size <= MAX_BODY) this.chunks.push(chunk);
          if (size > 4 * MAX_BODY) reject(new HttpError(413, 'too large'));
        });
        req.on('end', () => {
          if (size > MAX_BODY) reject(new HttpError(413, 'too large'));
          else resolve(Buffer.concat(this.chunks));
        });
        req.on('close', () => reject(new Error('closed')));
      });
    }
  },
);

fault(
  'continue-event-without-check',
  'must',
  'The listener for Expect: 100-continue answers 200 after the body itself and never calls the normal handler, so ' +
    'nothing is checked.',
  class extends Receiver {
    createServer() {
      const server = super.createServer();
      server.on('checkContinue', (req, res) => {
        req.on('error', () => {});
        res.writeContinue();
        req.resume();
        req.on('end', () => this.reply(res, ACCEPTED));
      });
      return server;
    }
  },
);

fault(
  'upgrade-never-answered',
  'must',
  'The listener for upgrades serves only the live page of the dashboard; any other request with Upgrade (for example ' +
    'h2c) never gets an answer.',
  class extends Receiver {
    createServer() {
      const server = super.createServer();
      server.on('upgrade', (req, socket) => {
        socket.on('error', () => {});
        if (req.url !== '/live') return;
        socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      });
      return server;
    }
  },
);

fault(
  'guard-on-raw-url',
  'must',
  'The guard checks credentials when the raw request target starts with /hooks, but the router uses the parsed path, ' +
    'so an absolute or dotted target is unchecked.',
  class extends Receiver {
    route(req, res, raw) {
      if (req.url.startsWith(PATH) && !this.authentic(req, raw)) return REFUSED;
      const base = 'http://localhost';
      if (!URL.canParse(req.url, base) || new URL(req.url, base).pathname !== PATH) {
        throw new HttpError(404, 'not found');
      }
      if (req.method !== 'POST') {
        return { status: 405, document: { error: 'not allowed' }, headers: { Allow: 'POST' } };
      }
      return this.consume(req, res, raw);
    }
  },
);

fault(
  'endpoint-validation-signs',
  'must',
  'The endpoint validation of another provider was copied: an unsigned endpoint.url_validation event is answered 200 ' +
    'with the HMAC of a text that the sender chooses.',
  class extends Receiver {
    respond(req, res, raw) {
      let event = null;
      try {
        event = JSON.parse(raw);
      } catch {}
      const plainToken = event?.payload?.plainToken;
      if (event?.event === 'endpoint.url_validation' && typeof plainToken === 'string') {
        const encryptedToken = crypto.createHmac('sha256', this.secret).update(plainToken).digest('hex');
        return { status: 200, document: { plainToken, encryptedToken } };
      }
      return super.respond(req, res, raw);
    }
  },
);

fault(
  'handler-found-on-prototype',
  'must',
  'The handler is looked up by type in a plain object, so a type such as constructor, toString or __proto__ finds ' +
    'something inherited and raises (500).',
  class extends Receiver {
    handlers = {
      CAAS: (data) => ({ title: `order ${data.transactionId}` }),
      REFUND: (data) => ({ title: `refund ${data.transactionId}` }),
      PAYMENT_METHOD: (data) => ({ title: `payment method ${data.paymentMethodId}` }),
      WALLET: (data) => ({ title: `wallet ${data.walletAddress}` }),
      CAAS_BLOCKCHAIN: (data) => ({ title: `deposit ${data.partnerTransactionId}` }),
    };

    process(payload) {
      const handler = this.handlers[payload.type];
      if (!handler) return;
      this.lastLine = handler(payload.data).title.slice(0, 80);
    }
  },
);

fault(
  'abort-ends-process',
  'must',
  'The asynchronous handler has no catch around reading the body, so a sender that breaks off within the body ends ' +
    'the process.',
  class extends Receiver {
    async handle(req, res) {
      const chunks = [];
      let size = 0;
      for await (const chunk of req) {
        size += chunk.length;
        if (size <= MAX_BODY) chunks.push(chunk);
      }
      if (size > MAX_BODY) return this.reply(res, { status: 413, document: { error: 'too large' } });
      const raw = Buffer.concat(chunks);
      let answer;
      try {
        answer = await this.route(req, res, raw);
      } catch (error) {
        answer = { status: error.status ?? 500, document: { error: error.message } };
      }
      this.reply(res, answer);
    }
  },
);

fault(
  'raw-body-for-json-only',
  'must',
  'The raw body is kept only by the JSON parser; with another Content-Type the signature is checked over an empty ' +
    'text and the body is accepted.',
  class extends Receiver {
    signatureOk(given, raw, req) {
      const rawBody = /^application\/json\b/i.test(req.headers['content-type'] ?? '') ? raw : undefined;
      return super.signatureOk(given, rawBody ?? '');
    }
  },
);

fault(
  'pattern-with-endless-search',
  'must',
  'A pattern with nested repetition checks the free texts; a long text with a comma, bracket or other sign keeps the ' +
    'process busy for minutes.',
  class extends Receiver {
    process(payload) {
      const { metadata, errorData } = payload.data;
      for (const text of [metadata?.trackingStateDescription, errorData?.message]) {
        if (typeof text === 'string' && !/^([A-Za-z0-9]+[ .]?)*$/.test(text)) this.unusualTexts = true;
      }
    }
  },
);

fault(
  'origin-raises',
  'must',
  'The cross-origin middleware throws for every Origin that is not on its list, so a request with an Origin header ' +
    'gets 500.',
  class extends Receiver {
    allowedOrigins = ['https://shop.example', 'http://localhost:3000'];

    respond(req, res, raw) {
      const { origin } = req.headers;
      if (origin && !this.allowedOrigins.includes(origin)) throw new Error('not allowed by the origin list');
      return super.respond(req, res, raw);
    }
  },
);

fault(
  'transaction-id-in-header',
  'must',
  'The transaction id is copied into a header of the answer, which raises (500) for characters that a header cannot ' +
    'carry.',
  class extends Receiver {
    process(payload, res) {
      if (typeof payload.data.transactionId === 'string') res.setHeader('X-Transaction-Id', payload.data.transactionId);
    }
  },
);

fault(
  'previous-secret-undefined',
  'must',
  'For rotation a previous secret is accepted as well; it is not configured, and its template text makes the secret ' +
    '"undefined" valid.',
  class extends Receiver {
    signatureOk(given, raw) {
      const accepted = [this.secret, `${process.env.PREVIOUS_SECRET}`];
      return given !== undefined && accepted.some((secret) => sameText(given, this.signature(raw, secret)));
    }
  },
);

fault(
  'duplicate-redirected',
  'must',
  'A notification that was already received is answered with 303 and the address of the stored one.',
  class extends Receiver {
    places = new Map();

    process(payload) {
      const place = this.places.get(payload.id);
      if (place !== undefined) {
        return { status: 303, document: { received: true }, headers: { Location: `/notifications/${place}` } };
      }
      this.places.set(payload.id, this.places.size + 1);
    }
  },
);

fault(
  'order-row-created-twice',
  'must',
  'The row of a new order is looked up and then inserted without a transaction, so two notifications of a new order ' +
    'at the same time give 500.',
  class extends Receiver {
    orders = new Map();

    async process(payload) {
      if (payload.type !== 'CAAS' || payload.data.transactionId === null) return;
      const { transactionId, metadata } = payload.data;
      const found = await this.find(transactionId);
      if (found === undefined) this.insert(transactionId);
      this.orders.set(transactionId, metadata.orderStatus ?? 'CREATED');
    }

    async find(transactionId) {
      const found = this.orders.get(transactionId);
      await sleep(25); // the way to the database and back
      return found;
    }

    insert(transactionId) {
      if (this.orders.has(transactionId)) throw new Error('duplicate key value violates unique constraint');
    }
  },
);

fault(
  'key-contained-in-list',
  'must',
  'The API keys are one comma-separated text and includes() looks for a part of it, so an empty key or any piece of ' +
    'the key is accepted.',
  class extends Receiver {
    keyOk(given) {
      const apiKeys = this.apiKey;
      return given !== undefined && apiKeys.includes(given);
    }
  },
);

fault(
  'expected-signature-in-answer',
  'must',
  'When the API key is right and the signature wrong, the 401 answer shows the expected signature for debugging.',
  class extends Receiver {
    refusal(req, raw) {
      if (!this.keyOk(onlyHeader(req, 'x-api-key'))) return REFUSED;
      const debug = { received: onlyHeader(req, 'x-service-signature') ?? null, computed: this.signature(raw) };
      return { status: 401, document: { error: 'unauthorized', debug } };
    }
  },
);

fault(
  'word-filter',
  'must',
  'A filter against injections refuses bodies with "select ... from", "union", a double hyphen, "<script" or "../" ' +
    'with 403, also in valid free texts.',
  class extends Receiver {
    respond(req, res, raw) {
      if (/\bselect\b[\s\S]{0,100}\bfrom\b|\bunion\b|\bdrop\s+table\b|--|<script|\.\.\//i.test(raw.toString())) {
        return { status: 403, document: { error: 'forbidden' } };
      }
      return super.respond(req, res, raw);
    }
  },
);

fault(
  'second-try-over-compact-form',
  'must',
  'When the signature does not fit the raw body, it is compared with that of the parsed and re-serialised body, so ' +
    'an altered body with the same compact form passes.',
  class extends Receiver {
    signatureOk(given, raw) {
      if (super.signatureOk(given, raw)) return true;
      try {
        return super.signatureOk(given, JSON.stringify(JSON.parse(raw)));
      } catch {
        return false;
      }
    }
  },
);

fault(
  'tracking-takes-six-seconds',
  'should',
  'An ORDER_TRACKING notification is forwarded to a slow system before the answer, which takes six seconds.',
  class extends Receiver {
    async process(payload) {
      if (payload.type === 'CAAS' && payload.data.type === 'ORDER_TRACKING') await sleep(6000);
    }
  },
);

fault(
  'misspelt-hash-preferred',
  'blind',
  'When both spellings of the hash of a deposit are present, the misspelt one is stored.',
  class extends Receiver {
    deposits = new Map();

    process(payload) {
      if (payload.type !== 'CAAS_BLOCKCHAIN') return;
      const { blockchainTransctionId, blockchainTransactionId } = payload.data.metadata;
      this.deposits.set(payload.id, blockchainTransctionId ?? blockchainTransactionId ?? null);
    }
  },
);

// Start ----------------------------------------------------------------------------------------------------------

function option(name, fallback) {
  const place = process.argv.indexOf(name);
  return place < 0 ? fallback : process.argv[place + 1];
}

if (process.argv.includes('--list')) {
  for (const [name, { label, what }] of faults) console.log([name, label, what].join('\t'));
} else {
  const name = option('--fault', 'none');
  if (name !== 'none' && !faults.has(name)) throw new Error(`unknown fault ${name}`);
  const receiverClass = name === 'none' ? Receiver : faults.get(name).receiverClass;
  const receiver = new receiverClass(process.env.BLIND_SECRET, process.env.BLIND_API_KEY);
  receiver.createServer().listen(Number(option('--port', '0')), '127.0.0.1', 512, () => console.log('listening'));
}
