/** Receivers with the checks in another order, by other means, or with other limits. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  bodyOf,
  type CorrectOptions,
  type CorrectReceiver,
  idOf,
  isAuthentic,
  listenOn,
  onlyHeader,
  sameText,
  signatureOf,
} from './correct-receiver.ts';

type Decide = (req: IncomingMessage, res: ServerResponse, options: CorrectOptions) => Promise<number> | number;

/** Creates a receiver that decides the status in its own way. `make` runs once at the start, and may keep state. */
function deciding(name: string, title: string, make: () => Decide): CorrectReceiver {
  return {
    name,
    title,
    start: (options) => {
      const decide = make();
      return listenOn(
        createServer(async (req, res) => {
          try {
            const status = await decide(req, res, options);
            res.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
          } catch {
            res.destroy();
          }
        }),
      );
    },
  };
}

/** Compares HMACs under a random key instead of the values themselves. */
function equalByDoubleHmac(a: string, b: string): boolean {
  const key = randomBytes(32);
  const digest = (value: string) => createHmac('sha256', key).update(value).digest('hex');
  return digest(a) === digest(b);
}

/** Reads up to `limit` bytes. If there are more, discards everything and returns undefined. */
async function bodyUpTo(req: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req) {
    length += (chunk as Buffer).length;
    if (length <= limit) chunks.push(chunk as Buffer);
  }
  return length <= limit ? Buffer.concat(chunks) : undefined;
}

function isJsonType({ headers }: IncomingMessage): boolean {
  return /^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '');
}

/** Checks in the usual order. `refusal` may reject an authentic delivery. */
const usual = (refusal: (req: IncomingMessage) => number | undefined): Decide => {
  return async (req, res, options) => {
    const body = await bodyOf(req);
    if (req.method !== 'POST') {
      res.setHeader('Allow', 'POST');
      return 405;
    }
    if (!isAuthentic(req, body, options)) return 401;
    return refusal(req) ?? (idOf(body) === undefined ? 400 : 200);
  };
};

export const orders: readonly CorrectReceiver[] = [
  deciding(
    'key-before-body',
    'Rejects an invalid API key before reading the body, and keeps the connection open.',
    () => {
      return async (req, _res, options) => {
        if (req.method !== 'POST') return 405;
        if (!sameText(onlyHeader(req, 'x-api-key'), options.apiKey)) return 401;
        const body = await bodyOf(req);
        if (!isAuthentic(req, body, options)) return 401;
        return idOf(body) === undefined ? 400 : 200;
      };
    },
  ),
  deciding(
    'key-before-body-closing',
    'Rejects an invalid API key before reading the body, and closes the connection.',
    () => {
      return async (req, res, options) => {
        const keyed = sameText(onlyHeader(req, 'x-api-key'), options.apiKey);
        if (req.method !== 'POST' || !keyed) {
          res.shouldKeepAlive = false;
          return req.method === 'POST' ? 401 : 405;
        }
        const body = await bodyOf(req);
        if (!isAuthentic(req, body, options)) return 401;
        return idOf(body) === undefined ? 400 : 200;
      };
    },
  ),
  deciding('signature-before-key', 'Checks the signature first and the API key last.', () => {
    return async (req, _res, { secret, apiKey }) => {
      const body = await bodyOf(req);
      if (req.method !== 'POST') return 405;
      if (!sameText(onlyHeader(req, 'x-service-signature'), signatureOf(body, secret))) return 401;
      if (!sameText(onlyHeader(req, 'x-api-key'), apiKey)) return 401;
      return idOf(body) === undefined ? 400 : 200;
    };
  }),
  deciding('json-type-only', 'Answers 415 to every content type other than JSON, after the credentials.', () =>
    usual((req) => (isJsonType(req) ? undefined : 415)),
  ),
  deciding('uncompressed-only', 'Answers 415 to every Content-Encoding.', () =>
    usual(({ headers }) => (headers['content-encoding'] === undefined ? undefined : 415)),
  ),
  deciding('one-path', 'Answers 404 on other paths, and 405 with Allow to other methods.', () => {
    const decide = usual(() => undefined);
    return (req, res, options) => {
      if (req.url?.replace(/\?.*/, '') === '/hooks') return decide(req, res, options);
      return 404;
    };
  }),
  deciding('not-found-for-methods', 'Answers 404 to other methods, like routers with only a POST route.', () => {
    const decide = usual(() => undefined);
    return (req, res, options) => (req.method === 'POST' ? decide(req, res, options) : 404);
  }),
  deciding('limit-100-kb', 'Answers 413 above 100 kB, before checking the credentials.', () => {
    return async (req, _res, options) => {
      if (req.method !== 'POST') return 405;
      const body = await bodyUpTo(req, 100 * 1024);
      if (body === undefined) return 413;
      if (!isAuthentic(req, body, options)) return 401;
      return idOf(body) === undefined ? 400 : 200;
    };
  }),
  {
    ...deciding(
      'length-required',
      'Rejects by Content-Length before reading: 413 above 256 kB, 411 without one.',
      () => {
        return async (req, res, options) => {
          if (req.method !== 'POST') return 405;
          const length = req.headers['content-length'];
          if (length === undefined || Number(length) > 256 * 1024) {
            res.shouldKeepAlive = false;
            return length === undefined ? 411 : 413;
          }
          const body = await bodyOf(req);
          if (!isAuthentic(req, body, options)) return 401;
          return idOf(body) === undefined ? 400 : 200;
        };
      },
    ),
    // The receiver closes the connection while nginx is still sending. nginx then answers 502 to the sender.
    trueWarnings: ['http/after-refused-key', 'http/after-refused-signature'],
  },
  deciding('remembers-ids', 'Records accepted ids, and answers 200 to duplicates without work.', () => {
    const seen = new Set<string>();
    return async (req, _res, options) => {
      const body = await bodyOf(req);
      if (req.method !== 'POST') return 405;
      if (!isAuthentic(req, body, options)) return 401;
      const id = idOf(body);
      if (id === undefined) return 400;
      seen.add(id);
      return 200;
    };
  }),
  deciding('stores-first', 'Waits for its storage before it answers.', () => {
    const decide = usual(() => undefined);
    return async (req, res, options) => {
      const status = await decide(req, res, options);
      // The delay simulates a commit to disk.
      if (status === 200) await new Promise((resolve) => setTimeout(resolve, 2));
      return status;
    };
  }),
  deciding('two-secrets', 'Accepts signatures of two secrets, the old and the new one, during a rotation.', () => {
    const old = randomBytes(32).toString('base64');
    return async (req, _res, { secret, apiKey }) => {
      const body = await bodyOf(req);
      if (req.method !== 'POST') return 405;
      const given = onlyHeader(req, 'x-service-signature');
      const signed = [old, secret].map((one) => sameText(given, signatureOf(body, one))).includes(true);
      if (!signed || !sameText(onlyHeader(req, 'x-api-key'), apiKey)) return 401;
      return idOf(body) === undefined ? 400 : 200;
    };
  }),
  deciding('double-hmac', 'Compares by a second HMAC under a random key.', () => {
    return async (req, _res, { secret, apiKey }) => {
      const body = await bodyOf(req);
      if (req.method !== 'POST') return 405;
      const signed = equalByDoubleHmac(onlyHeader(req, 'x-service-signature'), signatureOf(body, secret));
      const keyed = equalByDoubleHmac(onlyHeader(req, 'x-api-key'), apiKey);
      if (!signed || !keyed) return 401;
      return idOf(body) === undefined ? 400 : 200;
    };
  }),
  deciding('streaming-hmac', 'Hashes the body chunk by chunk while it arrives.', () => {
    return async (req, _res, { secret, apiKey }) => {
      if (req.method !== 'POST') return 405;
      const hmac = createHmac('sha256', secret);
      const chunks: Buffer[] = [];
      for await (const chunk of req) {
        hmac.update(chunk as Buffer);
        chunks.push(chunk as Buffer);
      }
      const given = Buffer.from(onlyHeader(req, 'x-service-signature'), 'latin1');
      const due = Buffer.from(hmac.digest('base64'), 'latin1');
      if (given.length !== due.length || !timingSafeEqual(given, due)) return 401;
      if (!sameText(onlyHeader(req, 'x-api-key'), apiKey)) return 401;
      return idOf(Buffer.concat(chunks)) === undefined ? 400 : 200;
    };
  }),
  deciding('header-list', 'Looks up headers in the raw list, in any letter case.', () => {
    const find = ({ rawHeaders }: IncomingMessage, name: string): string => {
      const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
      return values.length === 1 ? (values[0] ?? '') : '';
    };
    return async (req, _res, { secret, apiKey }) => {
      const body = await bodyOf(req);
      if (req.method !== 'POST') return 405;
      const signed = sameText(find(req, 'x-service-signature'), signatureOf(body, secret));
      if (!signed || !sameText(find(req, 'x-api-key'), apiKey)) return 401;
      return idOf(body) === undefined ? 400 : 200;
    };
  }),
];
