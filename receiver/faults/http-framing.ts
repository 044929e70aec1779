/** Mutants that handle methods, paths, framing, broken requests and body limits incorrectly. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { NextFunction, Request, Response } from 'express';
import { answer, type DeliveryState, refuse, type Stage } from '../stages/stage.ts';
import type { Fault, FaultParts } from './fault.ts';

/** Puts code in front of everything that handles the requests of a server. `pass` hands the request on. */
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

/** Replaces what happens to requests that the parser of the server refuses. */
function onBrokenRequest(server: Server, handle: (error: NodeJS.ErrnoException, socket: Duplex) => void): void {
  server.removeAllListeners('clientError');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    socket.on('error', () => socket.destroy());
    handle(error, socket);
  });
}

/** Ends a connection with an answer that has no body. */
function endWithStatus(socket: Duplex, status: number, words: string): void {
  if (socket.writable) socket.end(`HTTP/1.1 ${status} ${words}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  else socket.destroy();
}

// That other methods are no deliveries is good practice, and not a rule of the specification.
const METHOD = { area: 'http', severity: 'low', forbidden: false, stage: 'accept' } as const;

const POST_ONLY = {
  rule: 'Register the handler for POST alone, and answer 405 with Allow: POST to the rest.',
  express:
    'Use `app.post(path, handler)`, and behind it `app.all(path, (req, res) => res.set("Allow", "POST").sendStatus(405))`.',
  django: 'Put `@require_POST` on the view.',
  flask: 'Name the methods in the route: `methods=["POST"]`.',
  spring: 'Use `@PostMapping` in place of `@RequestMapping`.',
  go: 'Write the method into the pattern: `mux.HandleFunc("POST /webhooks", handle)`.',
} as const;

const FRAMING = { area: 'http', severity: 'medium', forbidden: false } as const;

const ANY_FRAMING = {
  rule: 'Read the body until the stream ends, and not by Content-Length; or let the proxy in front collect it first.',
  express: 'Use `express.raw()`; leave Content-Length to it. In nginx, keep `proxy_request_buffering on`.',
  django: 'Serve with a WSGI server that sets `wsgi.input_terminated` (gunicorn, not the development server).',
  laravel: 'PHP behind FastCGI needs Content-Length: let the web server buffer requests.',
} as const;

const EXPECTATION = {
  rule: 'Leave Expect to the server: it sends 100 and then reads the body.',
  express: 'Do not listen for `checkContinue` on the server; Node then answers by itself.',
} as const;

const BROKEN_REQUEST = { area: 'http', severity: 'low', forbidden: false, stage: 'connection' } as const;

const PLAIN_400 = {
  rule: 'Answer 400 to what is not HTTP, close the connection, and let nothing of it reach code that expects a request.',
  express:
    'Handle `clientError` of the server: `socket.end("HTTP/1.1 400 Bad Request\\r\\n\\r\\n")`, with no other work in it.',
} as const;

const HEADER_LIMIT = {
  rule: 'Answer 431 to headers beyond your limit, and close the connection.',
  express: 'Look at `error.code` in the handler of `clientError`: for HPE_HEADER_OVERFLOW there is no request object.',
} as const;

const BODY_LIMIT = { area: 'http', severity: 'high', forbidden: true, stage: 'readBody' } as const;

const LIMIT = {
  rule: 'Set the limit for the body yourself, to 256 kB or more, in every component on the way, and answer 413 beyond it.',
  express:
    'Use `express.raw({ type: () => true, limit: "1mb" })`, and an error handler that answers with `error.status`.',
  fastify: 'Set `bodyLimit`.',
  django: 'Set `DATA_UPLOAD_MAX_MEMORY_SIZE`, and answer 413 to `RequestDataTooBig`.',
  flask: 'Set `MAX_CONTENT_LENGTH`.',
  spring: 'Set the limit of the server and of the codec (`spring.codec.max-in-memory-size`).',
  laravel: 'Set `post_max_size` in php.ini.',
  go: 'Use `http.MaxBytesReader`, and answer 413 to its error.',
  dotnet: 'Set `MaxRequestBodySize` of Kestrel, and the limit of IIS (`maxAllowedContentLength`).',
} as const;

/** Reads the body rightly, and does something else when it is larger than this. */
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
    parts.right.readBody(req, res, (...failed) => {
      const body = res.locals.rawBody;
      if (failed.length > 0 || body === undefined || body.length <= bytes) next(...failed);
      else otherwise(parts, res, next, req, body);
    });
}

export const httpFramingFaults: readonly Fault[] = [
  // Receivers that do not take POST alone.
  {
    ...METHOD,
    name: 'takes-every-method',
    title: 'The handler runs for every method, and a delivery by PUT or DELETE is accepted like one by POST.',
    seen: 'Routes that were registered for all methods, and functions behind a gateway that never look at the method.',
    why: 'Rules of firewalls and limits are mostly made for POST, so there is a second way in that nobody watches.',
    fix: POST_ONLY,
    replace: () => (_req, _res, next) => next(),
  },
  {
    ...METHOD,
    name: 'greets-get-with-200',
    title: 'GET and HEAD at the endpoint are answered 200.',
    seen: 'Health pages ("webhook is up") at the very path of the endpoint, and start pages that answer every GET.',
    why: 'A client that turns a redirected POST into a GET takes the greeting for acceptance, and a wrong URL looks right in the browser.',
    fix: { ...POST_ONLY, rule: 'Answer 404 or 405 to GET at this path, and put the health check at another one.' },
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.method === 'GET' || req.method === 'HEAD' ? answer(res, 200, { up: true }) : right.accept(req, res, next),
  },
  {
    ...METHOD,
    name: 'fails-on-other-methods',
    title: 'A method other than POST is answered 500.',
    seen: 'Tables of handlers that are indexed by the method, and handlers that read a body which a GET does not have.',
    why: 'Scanners and link checkers come by every day. Each visit is an exception in the log and an alarm in the monitoring.',
    fix: POST_ONLY,
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.method === 'POST'
          ? right.accept(req, res, next)
          : next(new TypeError('handlers[method] is not a function')),
  },
  {
    ...METHOD,
    name: 'fails-on-options',
    title: 'OPTIONS is answered 500.',
    seen: 'Code for cross-origin requests that parses the Origin header without asking whether there is one.',
    why: 'Scanners send OPTIONS to everything, and each of them is an exception in the log.',
    fix: {
      rule: 'Answer OPTIONS with 204 or 405, and leave code for browsers off this route: no delivery comes from one.',
      express: 'Mount `cors()` on the routes for browsers only, not on the whole application.',
    },
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.method === 'OPTIONS' ? next(new TypeError('Invalid URL')) : right.accept(req, res, next),
  },
  {
    ...METHOD,
    name: 'hangs-on-head',
    title: 'HEAD is never answered.',
    seen: 'Handlers that wait for a body which a HEAD does not have, and frameworks whose handler for GET streams without an end.',
    why: 'Every link checker and monitor that asks with HEAD holds a connection and a worker until its time limit.',
    fix: { ...POST_ONLY, rule: 'Answer 405 to HEAD, before anything waits for a body.' },
    replace:
      ({ right }) =>
      (req, res, next) => {
        if (req.method !== 'HEAD') right.accept(req, res, next);
      },
  },
  {
    ...METHOD,
    name: 'takes-method-from-override',
    title: 'X-HTTP-Method-Override decides what the method is, so a GET that claims to be a POST is accepted.',
    seen: 'Middleware for HTML forms, which can send GET and POST only, that stands before all routes.',
    why: 'Firewalls, limits and caches look at the real method. A GET is repeated at will, and its answer may be kept.',
    fix: {
      rule: 'Leave overriding off for this route, or let it change POST only.',
      express:
        'Do not mount `method-override` here; its default changes POST only, so leave `methods` alone elsewhere.',
    },
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.headers['x-http-method-override'] === 'POST' ? next() : right.accept(req, res, next),
  },
  // Receivers that understand one form of a request only.
  {
    ...FRAMING,
    name: 'reads-chunked-bodies-as-empty',
    title: 'A chunked body is read as an empty one, so a right signature gets 401.',
    seen: 'Code that reads as many bytes as Content-Length says (0 when it is missing), and CGI-like interfaces.',
    why: 'The answer says "wrong signature" about a right one, and whoever looks for the fault looks at the secret.',
    fix: ANY_FRAMING,
    stage: 'readBody',
    replace:
      ({ right }) =>
      (req, res, next) =>
        right.readBody(req, res, (...failed) => {
          if (req.headers['transfer-encoding'] !== undefined) res.locals.rawBody = Buffer.alloc(0);
          next(...failed);
        }),
  },
  {
    ...FRAMING,
    name: 'refuses-expectations',
    title: 'A delivery with Expect: 100-continue is answered 417.',
    seen: 'Old proxies and embedded servers, which know no expectation.',
    why: 'Clients that are built on curl or .NET send it by themselves with larger bodies. These never arrive.',
    fix: EXPECTATION,
    stage: 'connection',
    server: (server) => void server.on('checkContinue', (_req, res) => res.writeHead(417).end()),
  },
  {
    ...FRAMING,
    name: 'expectations-never-answered',
    title: 'A delivery with Expect: 100-continue is never answered.',
    seen: 'Servers with a listener of their own for expectations that takes the request and does not hand it on.',
    why: 'Clients that are built on curl or .NET send it by themselves with larger bodies. Each such delivery runs into the time limit.',
    fix: EXPECTATION,
    stage: 'connection',
    server: (server) => void server.on('checkContinue', () => {}),
  },
  {
    ...FRAMING,
    name: 'refuses-http-1-0',
    title: 'A delivery in HTTP/1.0 is answered 426.',
    seen: 'Service meshes and gateways that take HTTP/1.1 and later only, which is their default.',
    why: 'A proxy that is put in front and speaks HTTP/1.0 to what is behind it stops every delivery.',
    fix: {
      rule: 'Accept HTTP/1.0 where a proxy stands in front, or make the proxy speak HTTP/1.1.',
      express: 'Nothing to do in Node. In nginx, set `proxy_http_version 1.1`; in Envoy, `accept_http_10: true`.',
    },
    severity: 'low',
    stage: 'accept',
    replace:
      ({ right }) =>
      (req, res, next) =>
        req.httpVersion === '1.0'
          ? refuse(res, 426, 'upgrade-required', { headers: { Upgrade: 'HTTP/1.1' } })
          : right.accept(req, res, next),
  },
  {
    ...FRAMING,
    name: 'upgrade-taken-for-websocket',
    title: 'A delivery with an Upgrade header is taken by the code for WebSockets, and its connection is closed.',
    seen: 'A WebSocket server on the same port that takes every request with the header, whatever protocol it names.',
    why: 'Some HTTP clients offer HTTP/2 in that way with every plain request. Their deliveries are dropped without an answer.',
    fix: {
      rule: 'Take an upgrade for the path and the protocol that you serve, and handle every other request as if the header were not there.',
      express:
        'In Node a listener for `upgrade` takes all of them: let the WebSocket server have a port or a server object of its own.',
    },
    severity: 'low',
    stage: 'connection',
    server: (server) => void server.on('upgrade', (_req, socket) => socket.destroy()),
  },
  {
    ...FRAMING,
    name: 'whole-url-answers-500',
    title: 'A request whose target is a whole URL is answered 500.',
    seen: 'Code that glues protocol, Host and target together to a URL and parses the result.',
    why: 'Scanners that look for open proxies send it every day, and each of them is an exception in the log.',
    fix: {
      rule: 'Take the path from the framework. When you parse the target yourself, give it and a base to the parser.',
      express: 'Use `req.path`, or `new URL(req.url, "http://localhost")`.',
    },
    severity: 'low',
    stage: 'accept',
    replace:
      ({ right }) =>
      (req, res, next) => {
        // Throws TypeError when the target is no path: http://host:80http://host:80/...
        new URL(`http://${req.headers.host}${req.url}`);
        return right.accept(req, res, next);
      },
  },
  {
    ...FRAMING,
    name: 'broken-query-answers-500',
    title: 'A query with a broken escape is answered 500.',
    seen: 'Decoding of all parameters for a log or a filter, in front of the handler and without a guard.',
    why: 'Scanners send such queries every day, and each of them is an exception in the log.',
    fix: {
      rule: 'Do not decode the query of a webhook, or answer 400 where it cannot be decoded.',
      express: 'Guard `decodeURIComponent`, which throws URIError; `req.query` does not throw.',
    },
    severity: 'low',
    stage: 'accept',
    replace:
      ({ right }) =>
      (req, res, next) => {
        decodeURIComponent(req.url.split('?').slice(1).join('?'));
        return right.accept(req, res, next);
      },
  },
  // Receivers that trip over requests which are not well-formed HTTP. Scanners send them every day.
  {
    ...BROKEN_REQUEST,
    name: 'broken-http-ends-the-process',
    severity: 'critical',
    forbidden: true,
    title: 'A request that is not well-formed HTTP ends the process.',
    seen: 'Home-made servers, and handlers of parser errors that use a request object which is not there.',
    why: 'Every scanner that passes by stops the receiver, and with it the deliveries of all others.',
    fix: PLAIN_400,
    server: (server, { crash }) => onBrokenRequest(server, () => crash(100)),
  },
  {
    ...BROKEN_REQUEST,
    name: 'broken-chunks-never-answered',
    title: 'A body in broken chunks is not answered, and its connection is left open.',
    seen: 'Home-made readers that wait for a size they can read, and error handlers that log and do nothing else.',
    why: 'Connections pile up until the limit for open files is reached, and then nobody can deliver.',
    fix: PLAIN_400,
    server: (server) =>
      onBrokenRequest(server, ({ code }, socket) => {
        // Node closes the connection when nobody listens; a listener that does nothing is what leaves it open.
        if (code !== 'HPE_INVALID_CHUNK_SIZE') endWithStatus(socket, 400, 'Bad Request');
      }),
  },
  {
    ...BROKEN_REQUEST,
    name: 'broken-http-answers-500',
    title: 'A request that is not well-formed HTTP is answered 500.',
    seen: 'Gateways and servers that treat an error of their parser like any other exception.',
    why: 'Monitoring counts scans as outages, and real ones are overlooked.',
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
    title: 'Headers beyond the limit are answered 500.',
    seen: 'Error handlers that know one kind of parser error, and proxies whose buffer for headers overflows.',
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
    title: 'A request without Host is answered 500.',
    seen: 'Code that builds the URL of the request from the Host header, for a log, a redirect or a signature.',
    why: 'Health checks and scanners in HTTP/1.0 send none, and each of them is an exception in the log.',
    fix: {
      rule: 'Answer 400 to HTTP/1.1 without Host, as the standard asks, and do not derive URLs from the header.',
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
  // Receivers with a limit for the body that is too small, or that do the wrong thing beyond it.
  {
    ...BODY_LIMIT,
    name: 'cuts-bodies-at-64-kb',
    title:
      'Of a body of more than 64 kB the beginning is read and the rest thrown away, so a right signature gets 401.',
    seen: 'Reads into a buffer of a fixed size, and copies of the raw body in a column or a variable that holds 64 kB.',
    why: 'The answer says "wrong signature" about a right one, and only for the largest notifications.',
    fix: {
      ...LIMIT,
      rule: 'Read until the end of the body, or answer 413; never go on with a part of it.',
    },
    replace: above(65_535, (_parts, res, next, _req, body) => {
      res.locals.rawBody = body.subarray(0, 65_535);
      next();
    }),
  },
  {
    ...BODY_LIMIT,
    name: 'fails-on-bodies-above-100-kb',
    title: 'A body above the default limit of the body parser (100 kB) is answered 500.',
    seen: 'Error handlers that answer 500 to every error, also to the one with which the body parser says "too large".',
    why: 'The sender takes it for an outage and repeats the delivery for hours. Anyone can fill the log.',
    fix: LIMIT,
    replace: above(102_400, (_parts, _res, next) => next(new Error('request entity too large'))),
  },
  {
    ...BODY_LIMIT,
    name: 'cuts-connection-above-100-kb',
    title: 'On a body of more than 100 kB the connection is cut without an answer.',
    seen: 'Handlers that count bytes and then call `req.destroy()`, which is in many tutorials, and proxies that reset.',
    why: 'The sender sees a broken network and not a limit, and repeats the delivery for hours.',
    fix: {
      ...LIMIT,
      express: `${LIMIT.express} Do not call \`req.destroy()\`: answer 413, and then close.`,
    },
    replace: above(102_400, (_parts, res) => void res.socket?.destroy()),
  },
];
