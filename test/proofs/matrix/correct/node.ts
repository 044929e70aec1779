/** Receivers on bare node:http: a minimal one, one without persistent connections, and some with different answers. */
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  type CorrectOptions,
  type CorrectReceiver,
  listenOn,
  type StartedReceiver,
  statusOf,
} from './correct-receiver.ts';

const same = (a: string, b: string) =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

async function bodyOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

async function statusFor(req: IncomingMessage, { secret, apiKey }: CorrectOptions): Promise<number> {
  const body = await bodyOf(req);
  if (req.method !== 'POST') return 405;
  const once = (name: string) => {
    const values = req.headersDistinct[name] ?? [];
    return values.length === 1 ? (values[0] ?? '') : '';
  };
  const due = createHmac('sha256', secret).update(body).digest('base64');
  if (!same(once('x-api-key'), apiKey) || !same(once('x-service-signature'), due)) return 401;
  return isObject(body.toString('utf8')) ? 200 : 400;
}

async function listen(
  options: CorrectOptions,
  reply: (res: ServerResponse, status: number) => void,
): Promise<StartedReceiver> {
  const server = createServer((req, res) => {
    statusFor(req, options).then(
      (status) => reply(res, status),
      () => res.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const bareNode: readonly CorrectReceiver[] = [
  {
    name: 'node-http',
    title: 'Bare node:http that checks both credentials at once and answers without a body.',
    start: (options) => listen(options, (res, status) => res.writeHead(status, { 'Content-Length': 0 }).end()),
  },
  {
    name: 'connection-close',
    title: 'Closes the connection after each answer.',
    start: (options) => listen(options, (res, status) => res.writeHead(status, { Connection: 'close' }).end('done')),
  },
];

/** Sends the answer for a status. Everything except the status may differ. */

type Reply = (res: ServerResponse, status: number, req: IncomingMessage) => void;

interface Style {
  /** Runs before the body is read. */
  readonly before?: (res: ServerResponse) => void;
  /** The status for malformed payloads. */
  readonly malformed?: number;
  readonly concurrency?: number;
}

/** Creates a receiver with its own answers. */
function answering(name: string, title: string, reply: Reply, style: Style = {}): CorrectReceiver {
  const { before, malformed, concurrency } = style;
  return {
    name,
    title,
    ...(concurrency !== undefined && { concurrency }),
    start: (options) =>
      listenOn(
        createServer((req, res) => {
          before?.(res);
          statusOf(req, options, malformed).then(
            (status) => reply(res, status, req),
            () => res.destroy(),
          );
        }),
      ),
  };
}

const text: Reply = (res, status) => {
  res.writeHead(status, { 'Content-Type': 'text/plain' }).end(status === 200 ? 'ok' : 'no');
};

/** Creates a page like that of a login wall or a framework, with a nonce for its script. */
function page(status: number): [policy: string, html: string] {
  const nonce = randomBytes(12).toString('base64');
  const words = STATUS_CODES[status] ?? '';
  return [
    `script-src 'nonce-${nonce}'`,
    `<!doctype html><html lang="en"><head><title>${status} ${words}</title></head>
    <body><h1>${words}</h1><p>You may have to <a href="/login">log in</a>.</p>
<script nonce="${nonce}">var a = 1;</script></body></html>`,
  ];
}

const html: Reply = (res, status) => {
  const [policy, body] = page(status);
  res.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy }).end(body);
};

/** Creates an id like those of tracing libraries, from the time and random letters and digits. */
function traceId(): string {
  return `01${randomBytes(15).toString('base64url').replace(/[-_]/g, 'Z').toUpperCase()}`;
}

const COMPRESSIBLE = JSON.stringify({ status: 'see the documentation of the endpoint '.repeat(20) });

export const answers: readonly CorrectReceiver[] = [
  answering(
    'http-1-0',
    'Answers in HTTP/1.0, without a length, and closes the connection.',
    ({ socket }, status, req) => {
      const body = req.method === 'HEAD' ? '' : 'done\n';
      socket?.end(`HTTP/1.0 ${status} ${STATUS_CODES[status]}\r\nContent-Type: text/plain\r\n\r\n${body}`);
    },
  ),
  answering('chunked-replies', 'Answers in chunks, the first one before the rest is known.', (res, status) => {
    res.writeHead(status, { 'Content-Type': 'application/json' });
    res.write('{"status":');
    setImmediate(() => res.end(`"${status === 200 ? 'accepted' : 'refused'}"}`));
  }),
  answering(
    'slow',
    'Needs 700 ms for each answer.',
    (res, status) => {
      setTimeout(() => res.writeHead(status).end(), 700);
    },
    { concurrency: 300 },
  ),
  answering('malformed-422', 'Answers 422 to malformed payloads.', text, { malformed: 422 }),
  answering('malformed-200', 'Accepts malformed payloads with 200 and sets them aside.', text, { malformed: 200 }),
  answering('html-pages', 'Answers with HTML pages, each with another nonce.', html),
  answering('www-authenticate', 'Sends WWW-Authenticate with each 401.', (res, status) => {
    if (status === 401) res.setHeader('WWW-Authenticate', 'ApiKey realm="webhooks", Signature headers="(body)"');
    res.writeHead(status, { 'Content-Type': 'application/json' }).end('{"error":null}');
  }),
  answering('early-continue', 'Sends 100 Continue at once, requested or not.', text, {
    before: (res) => res.writeContinue(),
  }),
  answering('early-hints', 'Sends 103 Early Hints before each answer.', (res, status, req) => {
    res.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
    text(res, status, req);
  }),
  answering('many-headers', 'Answers with a length and the headers of gateways.', (res, status) => {
    res.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': 2,
      'Cache-Control': 'no-store',
      Expires: new Date().toUTCString(),
      'Strict-Transport-Security': 'max-age=63072000; includeSubDomains; preload',
      'X-Content-Type-Options': 'nosniff',
      'X-Frame-Options': 'DENY',
      'X-Envoy-Upstream-Service-Time': String(Math.floor(Math.random() * 40)),
      'Alt-Svc': 'h3=":443"; ma=86400',
      'Access-Control-Allow-Origin': '*',
      Vary: 'Origin, Accept-Encoding',
    });
    res.end('{}');
  }),
  answering('sets-cookies', 'Sets two cookies with each answer, as session middleware does.', (res, status, req) => {
    const session = randomBytes(18).toString('base64url');
    res.setHeader('Set-Cookie', [`session=${session}; HttpOnly; Path=/`, `csrf=${randomUUID()}; SameSite=Lax`]);
    text(res, status, req);
  }),
  answering('names-itself', 'Names its server and framework in each answer.', (res, status, req) => {
    res.setHeader('Server', 'Apache/2.4.62 (Debian)').setHeader('X-Powered-By', 'PHP/8.2.20');
    text(res, status, req);
  }),
  answering('request-ids', 'Adds an id and the time to each answer, in headers and body.', (res, status) => {
    const id = traceId();
    const body = JSON.stringify({
      requestId: id,
      at: new Date().toISOString(),
      error: status === 200 ? null : 'refused',
    });
    res
      .writeHead(status, { 'Content-Type': 'application/json', 'X-Request-Id': randomUUID(), 'Request-Id': id })
      .end(body);
  }),
  answering('compresses', 'Compresses its answers on request.', (res, status, req) => {
    const asked = /\bgzip\b/.test(req.headers['accept-encoding'] ?? '');
    const headers = { 'Content-Type': 'application/json', Vary: 'Accept-Encoding' };
    if (asked) res.writeHead(status, { ...headers, 'Content-Encoding': 'gzip' }).end(gzipSync(COMPRESSIBLE));
    else res.writeHead(status, headers).end(COMPRESSIBLE);
  }),
  answering('no-reason-phrase', 'Omits the reason phrase, as servers behind HTTP/2 do.', (res, status) => {
    res.writeHead(status, ' ', { 'Content-Length': 0 }).end();
  }),
  answering('long-replies', 'Answers every request with 200 kB of HTML.', (res, status) => {
    res.writeHead(status, { 'Content-Type': 'text/html' }).end(`<p>${'A long page. '.repeat(16_000)}</p>`);
  }),
  answering('problem-details', 'Rejects with problem details (RFC 9457) and accepts with JSON.', (res, status) => {
    const problem = { type: 'about:blank', title: STATUS_CODES[status], status, instance: `urn:uuid:${randomUUID()}` };
    if (status === 200) res.writeHead(200, { 'Content-Type': 'application/json' }).end('{"received":true}');
    else res.writeHead(status, { 'Content-Type': 'application/problem+json' }).end(JSON.stringify(problem));
  }),
];
