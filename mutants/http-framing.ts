/** Mutants that handle methods, paths, framing, broken requests and body limits incorrectly. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NextFunction, Request, Response } from 'express';
import { answer, type DeliveryState, refuse, type Stage } from '../receiver/stages/stage.ts';
import type { ConnectionFault, FaultParts, StageFault } from './fault.ts';

/** Runs before all other request handlers of a server. `pass` forwards the request to them. */
function intercept(
  server: Server,
  before: (req: IncomingMessage, res: ServerResponse, pass: () => void) => void,
): void {
  const handlers = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (req, res) => {
    before(req, res, () => {
      for (const handle of handlers) handle.call(server, req, res);
    });
  });
}

/**
 * Reads the head of each request in front of the parser of Node, which removes the white space around values. Returns
 * the names, in lower case, of the lines in the last head of a connection that have no space after the colon.
 */
function namesWithoutSpace(server: Server): (socket: Duplex) => readonly string[] {
  const found = new WeakMap<Duplex, readonly string[]>();
  const watch = (socket: Socket) =>
    void socket.prependListener('data', (chunk: Buffer) => {
      const [head = ''] = chunk.toString('latin1').split('\r\n\r\n', 1);
      if (!/^[A-Z]+ \S+ HTTP\/1/.test(head)) return;
      const names = Array.from(head.matchAll(/^([\w-]+):(?! )/gm), ([, name = '']) => name.toLowerCase());
      found.set(socket, names);
    });
  server.on('connection', watch).on('secureConnection', watch);
  return (socket) => found.get(socket) ?? [];
}

/** Replaces the handling of requests that the parser of the server rejects. */
function onBrokenRequest(server: Server, handle: (error: NodeJS.ErrnoException, socket: Duplex) => void): void {
  server.removeAllListeners('clientError');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    socket.on('error', () => socket.destroy());
    handle(error, socket);
  });
}

/** Ends a connection with an answer without a body. */
function endWithStatus(socket: Duplex, status: number, words: string): void {
  if (socket.writable) socket.end(`HTTP/1.1 ${status} ${words}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  else socket.destroy();
}

// Rejecting other methods is good practice, not a rule of the specification.
const METHOD = { area: 'http', severity: 'low', forbidden: false, stage: 'accept' } as const;

const POST_ONLY = {
  rule: 'Register the handler for POST only, and answer 405 with Allow: POST to other methods.',
  express:
    'Use `app.post(path, handler)`, then `app.all(path, (req, res) => res.set("Allow", "POST").sendStatus(405))`.',
  django: 'Use `@require_POST` on the view.',
  python: 'Answer 405 in `do_GET` and the other methods, or do not define them.',
  fastapi: 'Use `@app.post(...)`, not `@app.api_route(...)`.',
  php: 'Compare `$_SERVER["REQUEST_METHOD"]` with POST first, and answer 405.',
  laravel: 'Use `Route::post(...)`, not `Route::any(...)`.',
  flask: 'Name the methods in the route: `methods=["POST"]`.',
  spring: 'Use `@PostMapping` instead of `@RequestMapping`.',
  go: 'Write the method into the pattern: `mux.HandleFunc("POST /webhooks", handle)`.',
} as const;

const FRAMING = { area: 'http', severity: 'medium', forbidden: false } as const;

const ANY_FRAMING = {
  rule: 'Read the body until the stream ends instead of by Content-Length, or let the proxy buffer it first.',
  express: 'Use `express.raw()`, which handles Content-Length. In nginx, keep `proxy_request_buffering on`.',
  python: 'Read chunk by chunk, or answer 411: `http.server` does not decode chunks.',
  flask: 'Use a WSGI server that sets `wsgi.input_terminated` (gunicorn, not the development server).',
  django: 'Without Content-Length, Django reads no body under WSGI: use ASGI, or let the proxy buffer requests.',
  php: 'PHP behind FastCGI needs Content-Length: let the web server buffer requests.',
} as const;

const EXPECTATION = {
  rule: 'Leave Expect to the server: it sends 100 and then reads the body.',
  express: 'Do not listen for `checkContinue` on the server; Node then answers by itself.',
} as const;

const BROKEN_REQUEST = { area: 'http', severity: 'low', forbidden: false, stage: 'connection' } as const;

const PLAIN_400 = {
  rule: 'Answer 400 to invalid HTTP, close the connection, and pass nothing of it to code that expects a request.',
  express:
    'Handle `clientError` of the server with `socket.end("HTTP/1.1 400 Bad Request\\r\\n\\r\\n")` and no other work.',
} as const;

const HEADER_LIMIT = {
  rule: 'Answer 431 to headers over your limit, and close the connection.',
  express: 'Check `error.code` in the handler of `clientError`: for HPE_HEADER_OVERFLOW there is no request object.',
} as const;

const BODY_LIMIT = { area: 'http', severity: 'high', forbidden: true, stage: 'readBody' } as const;

const LIMIT = {
  rule: 'Set the body limit to 256 kB or more in every component on the way, and answer 413 above it.',
  express:
    'Use `express.raw({ type: () => true, limit: "1mb" })`, and an error handler that answers with `error.status`.',
  fastify: 'Set `bodyLimit`.',
  nestjs: 'Pass `limit` to `app.useBodyParser(...)`.',
  hono: 'Use `bodyLimit({ maxSize })` of hono/body-limit.',
  python: 'Compare Content-Length with the limit before `self.rfile.read(length)`.',
  fastapi: 'Read `request.stream()`, and answer 413 at the limit.',
  django: 'Set `DATA_UPLOAD_MAX_MEMORY_SIZE`, and answer 413 to `RequestDataTooBig`.',
  flask: 'Set `MAX_CONTENT_LENGTH`.',
  spring: 'Set the limit of the server and of the codec (`spring.codec.max-in-memory-size`).',
  php: 'Set `post_max_size` in php.ini.',
  go: 'Use `http.MaxBytesReader`, and answer 413 to its error.',
  dotnet: 'Set `MaxRequestBodySize` of Kestrel, and the limit of IIS (`maxAllowedContentLength`).',
} as const;

const queryOf = (req: Request): string => req.url.split('?').slice(1).join('?');

/** Reads the body correctly, but handles a larger one differently. */
function above(
  bytes: number,
  otherwise: (
    parts: FaultParts,
    res: Response<unknown, DeliveryState>,
    next: NextFunction,
    req: Request,
    body: Buffer,
  ) => void,
): (parts: FaultParts) => Stage {
  return (parts) => (req, res, next) =>
    parts.correct.readBody(req, res, (...failed) => {
      const body = res.locals.rawBody;
      if (failed.length > 0 || body === undefined || body.length <= bytes) next(...failed);
      else otherwise(parts, res, next, req, body);
    });
}

const EIGHT_MB = 8 * 1024 * 1024;

const BEFORE_CHECKS = { area: 'http', forbidden: true, stage: 'accept' } as const;

export const httpFramingFaults: readonly (StageFault | ConnectionFault)[] = [
  // Receivers that accept methods other than POST, or fail on them.
  {
    ...METHOD,
    name: 'takes-every-method',
    title: 'Accepts every method, so a delivery by PUT or DELETE is accepted like one by POST',
    seen: 'Routes registered for all methods, and functions behind a gateway that never check the method.',
    why: 'Firewall rules and limits are usually made for POST, so the other methods are not monitored.',
    fix: POST_ONLY,
    replace: () => (_req, _res, next) => next(),
  },
  {
    ...METHOD,
    name: 'greets-get-with-200',
    title: 'Answers 200 to GET and HEAD at the endpoint',
    seen: 'Health pages ("webhook is up") at the path of the endpoint, and start pages that answer every GET.',
    why:
      'A client that turns a redirected POST into a GET takes the page for acceptance, and a wrong URL looks ' +
      'correct in the browser.',
    fix: { ...POST_ONLY, rule: 'Answer 404 or 405 to GET at this path, and use another one for the health check.' },
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.method === 'GET' || req.method === 'HEAD' ? answer(res, 200, { up: true }) : correct.accept(req, res, next),
  },
  {
    ...METHOD,
    name: 'fails-on-other-methods',
    title: 'Answers 500 to a method other than POST',
    seen: 'Handler tables indexed by the method, and handlers that read a body which a GET does not have.',
    why: 'Scanners and link checkers visit every day, and each visit logs an exception and triggers an alert.',
    fix: POST_ONLY,
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.method === 'POST'
          ? correct.accept(req, res, next)
          : next(new TypeError('handlers[method] is not a function')),
  },
  {
    ...METHOD,
    name: 'fails-on-options',
    title: 'Answers 500 to OPTIONS',
    seen: 'CORS code that parses the Origin header without checking that it is present.',
    why: 'Scanners send OPTIONS everywhere, and each request logs an exception.',
    fix: {
      rule: 'Answer OPTIONS with 204 or 405, and keep browser code off this route: no delivery comes from a browser.',
      express: 'Mount `cors()` only on routes for browsers, not on the whole application.',
    },
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.method === 'OPTIONS' ? next(new TypeError('Invalid URL')) : correct.accept(req, res, next),
  },
  {
    ...METHOD,
    name: 'hangs-on-head',
    title: 'Never answers HEAD',
    seen:
      'Handlers that wait for a body which a HEAD does not have, and frameworks whose GET handler streams without ' +
      'an end.',
    why: 'Every link checker and monitor that uses HEAD holds a connection and a worker until it times out.',
    fix: { ...POST_ONLY, rule: 'Answer 405 to HEAD, before anything waits for a body.' },
    replace:
      ({ correct }) =>
      (req, res, next) => {
        if (req.method !== 'HEAD') correct.accept(req, res, next);
      },
  },
  {
    ...METHOD,
    name: 'takes-method-from-override',
    title: 'Lets X-HTTP-Method-Override decide the method, so a GET that claims to be a POST is accepted',
    seen: 'Middleware for HTML forms, which can send only GET and POST, mounted before all routes.',
    why: 'Firewalls, limits and caches use the real method. A GET may be repeated, and its answer may be cached.',
    fix: {
      rule: 'Disable method overriding for this route, or let it change only POST.',
      express:
        'Do not mount `method-override` here; by default it changes only POST, so keep `methods` unchanged elsewhere.',
    },
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.headers['x-http-method-override'] === 'POST' ? next() : correct.accept(req, res, next),
  },
  // Receivers that support only one form of a request.
  {
    ...FRAMING,
    name: 'reads-chunked-bodies-as-empty',
    title: 'Reads a chunked body as empty, so a valid signature gets 401',
    seen: 'Code that reads as many bytes as Content-Length says (0 if it is missing), and CGI-like interfaces.',
    why: 'The answer reports a wrong signature, so the search for the fault starts at the secret.',
    fix: ANY_FRAMING,
    stage: 'readBody',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        correct.readBody(req, res, (...failed) => {
          if (req.headers['transfer-encoding'] !== undefined) res.locals.rawBody = Buffer.alloc(0);
          next(...failed);
        }),
  },
  {
    ...FRAMING,
    name: 'refuses-expectations',
    title: 'Answers 417 to a delivery with Expect: 100-continue',
    seen: 'Old proxies and embedded servers, which do not support expectations.',
    why: 'Clients based on curl or .NET send this header with larger bodies, and these never arrive.',
    fix: EXPECTATION,
    stage: 'connection',
    server: (server) => void server.on('checkContinue', (_req, res) => res.writeHead(417).end()),
  },
  {
    ...FRAMING,
    name: 'expectations-never-answered',
    title: 'Never answers a delivery with Expect: 100-continue',
    seen: 'Servers with their own listener for expectations that does not pass the request on.',
    why: 'Clients based on curl or .NET send this header with larger bodies, and each such delivery times out.',
    fix: EXPECTATION,
    forbidden: true,
    stage: 'connection',
    server: (server) => void server.on('checkContinue', () => {}),
  },
  {
    ...FRAMING,
    name: 'refuses-http-1-0',
    title: 'Answers 426 to a delivery in HTTP/1.0',
    seen: 'Service meshes and gateways that accept only HTTP/1.1 and later, which is their default.',
    why: 'A proxy that uses HTTP/1.0 for its backend stops every delivery.',
    fix: {
      rule: 'Accept HTTP/1.0 behind a proxy, or configure the proxy to use HTTP/1.1.',
      express: 'Nothing to do in Node. In nginx, set `proxy_http_version 1.1`; in Envoy, `accept_http_10: true`.',
    },
    severity: 'low',
    stage: 'accept',
    replace:
      ({ correct }) =>
      (req, res, next) =>
        req.httpVersion === '1.0'
          ? refuse(res, 426, 'upgrade-required', { headers: { Upgrade: 'HTTP/1.1' } })
          : correct.accept(req, res, next),
  },
  {
    ...FRAMING,
    name: 'upgrade-taken-for-websocket',
    title: 'Passes a delivery with an Upgrade header to the WebSocket code, which closes the connection',
    seen: 'A WebSocket server on the same port that takes every request with the header, whatever protocol it names.',
    why:
      'Some HTTP clients offer HTTP/2 this way with every plain request. Their deliveries are dropped without an ' +
      'answer.',
    fix: {
      rule: 'Handle an upgrade only for the path and protocol that you serve, and ignore the header otherwise.',
      express:
        'In Node, a listener for `upgrade` takes all of them: use a separate port or server object for the ' +
        'WebSocket server.',
    },
    severity: 'low',
    stage: 'connection',
    server: (server) => void server.on('upgrade', (_req, socket) => socket.destroy()),
  },
  {
    ...FRAMING,
    name: 'upgrade-never-answered',
    title: 'Never answers a delivery with an Upgrade header',
    seen: 'A listener for upgrades that handles its own path and returns without an answer for every other one.',
    why: 'HttpClient of Java offers HTTP/2 this way with every plain request. Its deliveries wait until they time out.',
    fix: {
      rule: 'Handle an upgrade only for the path and protocol that you serve, and ignore the header otherwise.',
      express:
        'In Node, a listener for `upgrade` takes all of them: use a separate port or server object for the ' +
        'WebSocket server.',
    },
    severity: 'medium',
    forbidden: true,
    stage: 'connection',
    server: (server) => void server.on('upgrade', (_req, socket) => socket.on('error', () => {})),
  },
  {
    ...FRAMING,
    name: 'whole-url-answers-500',
    title: 'Answers 500 to a request whose target is an absolute URL',
    seen: 'Code that concatenates protocol, Host and target and parses the result as a URL.',
    why: 'Scanners for open proxies send it every day, and each request logs an exception.',
    fix: {
      rule:
        'Take the path from the framework. If you parse the target yourself, pass it with a base URL to the ' +
        'parser.',
      express: 'Use `req.path`, or `new URL(req.url, "http://localhost")`.',
    },
    severity: 'low',
    stage: 'accept',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) => {
        // Throws TypeError if the target is not a path: http://host:80http://host:80/...
        new URL(`http://${req.headers.host}${req.url}`);
        return correct.accept(req, res, next);
      },
  },
  {
    ...FRAMING,
    name: 'broken-query-answers-500',
    title: 'Answers 500 to a query with an invalid percent escape',
    seen: 'Unguarded decoding of all parameters for a log or a filter, before the handler.',
    why: 'Scanners send such queries every day, and each request logs an exception.',
    fix: {
      rule: 'Do not decode the query of a webhook, or answer 400 if it is invalid.',
      express: 'Catch the URIError of `decodeURIComponent`; `req.query` does not throw.',
    },
    severity: 'low',
    stage: 'accept',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) => {
        decodeURIComponent(queryOf(req));
        return correct.accept(req, res, next);
      },
  },
  {
    ...FRAMING,
    name: 'bare-query-answers-500',
    title: 'Answers 500 to a query with a name that has no value',
    seen: 'Hand-written parsers that split each parameter at `=` and read the second part.',
    why: 'Scanners send such queries every day, and each request logs an exception.',
    fix: {
      rule: 'Leave the query to the URL parser of the platform.',
      express: 'Use `req.query` or `URLSearchParams`.',
    },
    severity: 'low',
    stage: 'accept',
    forbidden: true,
    replace:
      ({ correct }) =>
      (req, res, next) => {
        const query = queryOf(req);
        if (query !== '' && query.split('&').some((pair) => !pair.includes('='))) throw new TypeError('undefined');
        return correct.accept(req, res, next);
      },
  },
  // Receivers that fail on invalid HTTP, which scanners send every day.
  {
    ...BROKEN_REQUEST,
    name: 'broken-http-ends-the-process',
    severity: 'critical',
    forbidden: true,
    title: 'Ends the process on a request that is not valid HTTP',
    seen: 'Hand-written servers, and parser error handlers that use a request object which does not exist.',
    why: 'Every scanner stops the receiver, and with it all deliveries in progress.',
    fix: PLAIN_400,
    server: (server, { crash }) => onBrokenRequest(server, () => crash(100)),
  },
  {
    ...BROKEN_REQUEST,
    name: 'broken-chunks-never-answered',
    title: 'Never answers a body with invalid chunks and leaves the connection open',
    seen: 'Hand-written readers that wait for a valid chunk size, and error handlers that only log.',
    why: 'Connections pile up until the limit for open files is reached, and then no delivery is accepted.',
    fix: PLAIN_400,
    server: (server) =>
      onBrokenRequest(server, ({ code }, socket) => {
        // Node closes the connection without a listener; a listener that does nothing leaves it open.
        if (code !== 'HPE_INVALID_CHUNK_SIZE') endWithStatus(socket, 400, 'Bad Request');
      }),
  },
  {
    ...BROKEN_REQUEST,
    name: 'broken-http-answers-500',
    title: 'Answers 500 to a request that is not valid HTTP',
    seen: 'Gateways and servers that treat a parser error like any other exception.',
    why: 'Monitoring counts scans as outages, so real ones are overlooked.',
    fix: PLAIN_400,
    server: (server) =>
      onBrokenRequest(server, ({ code }, socket) =>
        code === 'HPE_HEADER_OVERFLOW'
          ? endWithStatus(socket, 431, 'Request Header Fields Too Large')
          : endWithStatus(socket, 500, 'Internal Server Error'),
      ),
  },
  {
    ...BROKEN_REQUEST,
    name: 'long-headers-answer-500',
    severity: 'medium',
    forbidden: true,
    title: 'Answers 500 to headers over the limit',
    seen: 'Error handlers that know only one kind of parser error, and proxies whose header buffer overflows.',
    why: 'The sender takes it for an outage and sends the same headers again.',
    fix: HEADER_LIMIT,
    server: (server) =>
      onBrokenRequest(server, ({ code }, socket) =>
        code === 'HPE_HEADER_OVERFLOW'
          ? endWithStatus(socket, 500, 'Internal Server Error')
          : endWithStatus(socket, 400, 'Bad Request'),
      ),
  },
  {
    ...BROKEN_REQUEST,
    name: 'missing-host-answers-500',
    title: 'Answers 500 to a request without Host',
    seen: 'Code that builds the URL of the request from the Host header, for a log, a redirect or a signature.',
    why: 'Health checks and scanners with HTTP/1.0 do not send it, and each request logs an exception.',
    fix: {
      rule: 'Answer 400 to HTTP/1.1 without Host, as the standard requires, and do not derive URLs from the header.',
      express: 'Leave `requireHostHeader` of `http.createServer` at its default.',
      django: 'Set `ALLOWED_HOSTS`; `request.get_host()` then answers 400 by itself.',
    },
    server(server) {
      Object.assign(server, { requireHostHeader: false });
      intercept(server, (req, res, pass) => {
        if (req.headers.host === undefined) res.writeHead(500).end();
        else pass();
      });
    },
  },
  {
    ...BROKEN_REQUEST,
    name: 'header-needs-space-after-colon',
    severity: 'medium',
    forbidden: true,
    title: 'Finds a header only if there is a space after its colon',
    seen: 'Hand-written servers that split header lines at ": ", and patterns that are matched against the whole head.',
    why: 'The space is optional in HTTP. Behind a proxy that leaves it out, every delivery is rejected.',
    fix: {
      rule: 'Leave the parsing of requests to a maintained server. Otherwise split at ":", and trim spaces and tabs.',
      express: 'Use `req.get(name)` or `req.headers`.',
    },
    server(server) {
      const missing = namesWithoutSpace(server);
      intercept(server, (req, _res, pass) => {
        const lost = missing(req.socket);
        const lines = Array.from({ length: req.rawHeaders.length / 2 }, (_, at) =>
          req.rawHeaders.slice(2 * at, 2 * at + 2),
        );
        const kept = lines.filter(([name = '']) => !lost.includes(name.toLowerCase())).flat();
        if (kept.length < req.rawHeaders.length) req.rawHeaders.splice(0, Number.POSITIVE_INFINITY, ...kept);
        pass();
      });
    },
  },
  // Receivers with a body limit that is too small, or that exceed it incorrectly.
  {
    ...BODY_LIMIT,
    name: 'cuts-bodies-at-64-kb',
    title: 'Reads only the first 64 kB of a larger body, so a valid signature gets 401',
    seen: 'Fixed-size buffers, and copies of the raw body in a column or variable of 64 kB.',
    why: 'The answer reports a wrong signature, and only for the largest notifications.',
    fix: {
      ...LIMIT,
      rule: 'Read to the end of the body, or answer 413; never continue with a part of it.',
    },
    replace: above(65_535, (_parts, res, next, _req, body) => {
      res.locals.rawBody = body.subarray(0, 65_535);
      next();
    }),
  },
  {
    ...BODY_LIMIT,
    name: 'fails-on-bodies-above-100-kb',
    title: 'Answers 500 to a body over the default limit of the body parser (100 kB)',
    seen: 'Error handlers that answer 500 to every error, including the "too large" error of the body parser.',
    why: 'The sender takes it for an outage and retries for hours. Anyone can fill the log.',
    fix: LIMIT,
    replace: above(102_400, (_parts, _res, next) => next(new Error('request entity too large'))),
  },
  {
    ...BODY_LIMIT,
    name: 'cuts-connection-above-100-kb',
    title: 'Closes the connection without an answer on a body over 100 kB',
    seen: 'Handlers that count bytes and then call `req.destroy()`, as in many tutorials, and proxies that reset.',
    why: 'The sender sees a network problem instead of a limit, and retries for hours.',
    fix: {
      ...LIMIT,
      express: `${LIMIT.express} Do not call \`req.destroy()\`: answer 413, then close.`,
    },
    replace: above(102_400, (_parts, res) => void res.socket?.destroy()),
  },
  // Receivers that fail before any credential is checked.
  {
    ...BEFORE_CHECKS,
    name: 'unparsable-target-ends-the-process',
    title: 'Ends the process on a request target that is not a valid URL',
    seen: '`new URL(req.url, base)` in the listener of a server, outside of any error handling.',
    why: 'The target `//` is enough to stop the receiver, and scanners send it every day.',
    fix: {
      rule: 'Parse the request target inside the error handling, and answer 400 to one that is not a URL.',
      express: 'Use `req.path`, or `URL.canParse` before `new URL(req.url, base)`.',
    },
    severity: 'critical',
    replace:
      ({ correct, crash }) =>
      (req, res, next) =>
        URL.canParse(req.url, 'http://receiver.example') ? correct.accept(req, res, next) : crash(100),
  },
  {
    ...BEFORE_CHECKS,
    name: 'allocates-announced-length',
    title: 'Answers 500 to a huge Content-Length, because it tries to allocate that many bytes',
    seen: 'Buffer.alloc(length), bytearray(length) and make([]byte, length) with the value of the header.',
    why: 'Anyone can cause internal errors or, with a smaller number, exhaust the memory.',
    fix: {
      rule: 'Compare Content-Length with the limit before you allocate, and let the buffer grow with the body.',
      express: 'Use `express.raw({ limit })`.',
    },
    severity: 'high',
    replace:
      ({ correct }) =>
      (req, res, next) => {
        Buffer.alloc(Number(req.headers['content-length'] ?? 0));
        return correct.accept(req, res, next);
      },
  },
  {
    ...BEFORE_CHECKS,
    name: 'bodies-above-8-mb-end-the-process',
    title: 'Ends the process on a body of more than 8 MB',
    seen: 'A limit of the memory (memory_limit of PHP, limits of containers) below what a body may take.',
    why: 'One large request without credentials stops the receiver, and anyone can send it again.',
    fix: { ...LIMIT, rule: 'Count the bytes while you read, stop at your limit, and answer 413.' },
    severity: 'critical',
    replace:
      ({ correct, crash }) =>
      (req, res, next) => {
        if (!(Number(req.headers['content-length']) > EIGHT_MB)) return correct.accept(req, res, next);
        let bytes = 0;
        req.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > EIGHT_MB) crash(100);
        });
      },
  },
];
