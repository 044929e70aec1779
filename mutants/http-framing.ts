/** Mutants that handle methods, paths, framing, broken requests and body limits incorrectly. */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { NextFunction, Request, Response } from 'express';
import { required } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { ConnectionFault, FaultParts, StageFault } from './fault.ts';
import { rewriteBody } from './raw-body-replacements.ts';
import { exceptFor, type Handle, withAnswer, withCrash, withError, withRefusal } from './stage-changes.ts';

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
 * Reads the head of each request before Node's parser, which removes the whitespace around values. Returns the
 * lower-case names of those lines in the last head of a connection that have no space after the colon.
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

/** Replaces how the server handles requests that its parser rejects. */
function onBrokenRequest(
  handle: (code: string | undefined, socket: Duplex, parts: FaultParts) => void,
): Pick<ConnectionFault, 'server'> {
  return {
    server(server, parts) {
      server.removeAllListeners('clientError');
      server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
        socket.on('error', () => socket.destroy());
        handle(code, socket, parts);
      });
    },
  };
}

/** Ends a connection with an answer that has no body. */
function endWithStatus(socket: Duplex, status: number): void {
  if (!socket.writable) return void socket.destroy();
  const reason = STATUS_CODES[status];
  socket.end(`HTTP/1.1 ${status} ${reason}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}

const queryOf = (req: Request): string => req.url.split('?').slice(1).join('?');

/** Reads the body correctly, but answers a body over 100 kB with `otherwise`. */
function above100kB(otherwise: (res: Response, next: NextFunction) => void): StageFault['replace'] {
  return ({ correct }) =>
    (req, res, next) =>
      correct.readBody(req, res, (error?: unknown) => {
        if (error !== undefined || required(res, 'rawBody').length <= 102_400) next(error);
        else otherwise(res, next);
      });
}

const EIGHT_MB = 8 * 1024 * 1024;

const crashAbove8MB: Handle = (req, _res, _next, { crash }) => {
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > EIGHT_MB) crash(100);
  });
};

const pass: Handle = (_req, _res, next) => next();

const withoutAnswer: Handle = () => {};

/** Mutants that accept methods other than POST, or fail on them. The specification does not forbid accepting them. */
const methods = family<StageFault>(
  { area: 'http', stage: 'accept', mistake: 'method-not-restricted' },
  {
    'takes-every-method': [
      'Accepts every method, so a delivery by PUT or DELETE is accepted like one by POST',
      () => (_req, _res, next) => next(),
      { forbidden: false },
    ],
    'greets-get-with-200': [
      'Answers 200 to GET and HEAD at the endpoint',
      exceptFor('accept', ({ method }) => method === 'GET' || method === 'HEAD', withAnswer(200, { up: true })),
      { forbidden: false, note: 'A client that turns a redirected POST into a GET takes the page for acceptance.' },
    ],
    'fails-on-other-methods': [
      'Answers 500 to a method other than POST',
      exceptFor('accept', ({ method }) => method !== 'POST', withError('handlers[method] is not a function')),
      { forbidden: false },
    ],
    'fails-on-options': [
      'Answers 500 to OPTIONS',
      exceptFor('accept', ({ method }) => method === 'OPTIONS', withError('Invalid URL')),
      { forbidden: false, note: 'CORS code parses the Origin header without checking that it is present.' },
    ],
    'hangs-on-head': [
      'Never answers HEAD',
      exceptFor('accept', ({ method }) => method === 'HEAD', withoutAnswer),
      { forbidden: false },
    ],
    'takes-method-from-override': [
      'Lets X-HTTP-Method-Override decide the method, so a GET that claims to be a POST is accepted',
      exceptFor('accept', ({ headers }) => headers['x-http-method-override'] === 'POST', pass),
      { forbidden: false },
    ],
  },
);

/** Mutants that support only one form of a request. */
const framing = family<StageFault | ConnectionFault>(
  { area: 'http', stage: 'accept', mistake: 'optional-http-features' },
  {
    'reads-chunked-bodies-as-empty': [
      'Reads a chunked body as empty, so a valid signature gets 401',
      rewriteBody((body, { headers }) => (headers['transfer-encoding'] === undefined ? body : Buffer.alloc(0))),
      'trusted-content-length',
      {
        forbidden: false,
        stage: 'readBody',
        note: 'The answer reports an invalid signature, so the search starts at the secret.',
      },
    ],
    'refuses-expectations': [
      'Answers 417 to a delivery with Expect: 100-continue',
      {
        stage: 'connection',
        server: (server) => void server.on('checkContinue', (_req, res) => res.writeHead(417).end()),
      },
      { forbidden: false },
    ],
    'expectations-never-answered': [
      'Never answers a delivery with Expect: 100-continue',
      { stage: 'connection', server: (server) => void server.on('checkContinue', () => {}) },
      { forbidden: false },
    ],
    'refuses-http-1-0': [
      'Answers 426 to a delivery in HTTP/1.0',
      exceptFor(
        'accept',
        ({ httpVersion }) => httpVersion === '1.0',
        withRefusal(426, 'upgrade-required', { Upgrade: 'HTTP/1.1' }),
      ),
      { forbidden: false },
    ],
    'upgrade-taken-for-websocket': [
      'Passes a delivery with an Upgrade header to the WebSocket code, which closes the connection',
      {
        forbidden: false,
        stage: 'connection',
        server: (server) => void server.on('upgrade', (_req, socket) => socket.destroy()),
      },
    ],
    'upgrade-never-answered': [
      'Never answers a delivery with an Upgrade header',
      {
        stage: 'connection',
        server: (server) => void server.on('upgrade', (_req, socket) => socket.on('error', () => {})),
      },
      { forbidden: false },
    ],
    'whole-url-answers-500': [
      'Answers 500 to a request whose target is an absolute URL',
      ({ correct }) =>
        (req, res, next) => {
          // Throws TypeError if the target is a whole URL instead of a path, as the result is
          // http://host:80http://host:80/...
          new URL(`http://${req.headers.host}${req.url}`);
          return correct.accept(req, res, next);
        },
      'request-target-unguarded',
      { forbidden: false },
    ],
    'broken-query-answers-500': [
      'Answers 500 to a query with an invalid percent escape',
      ({ correct }) =>
        (req, res, next) => {
          decodeURIComponent(queryOf(req));
          return correct.accept(req, res, next);
        },
      'request-target-unguarded',
      { forbidden: false },
    ],
    'bare-query-answers-500': [
      'Answers 500 to a query parameter without a value',
      ({ correct }) =>
        (req, res, next) => {
          const query = queryOf(req);
          if (query !== '' && query.split('&').some((pair) => !pair.includes('='))) throw new TypeError('undefined');
          return correct.accept(req, res, next);
        },
      'request-target-unguarded',
      { forbidden: false },
    ],
  },
);

/** Mutants that fail on invalid HTTP, which scanners send every day. */
const brokenRequests = family<ConnectionFault>(
  { area: 'http', stage: 'connection', mistake: 'malformed-http-error' },
  {
    'broken-http-ends-the-process': [
      'Ends the process on a request that is not valid HTTP',
      onBrokenRequest((_code, _socket, { crash }) => crash(100)),
    ],
    'broken-chunks-never-answered': [
      'Never answers a body with invalid chunks and leaves the connection open',
      onBrokenRequest((code, socket) => {
        // Without a listener, Node closes the connection. A listener that does nothing leaves it open.
        if (code !== 'HPE_INVALID_CHUNK_SIZE') endWithStatus(socket, 400);
      }),
      { forbidden: false },
    ],
    'broken-http-answers-500': [
      'Answers 500 to a request that is not valid HTTP',
      onBrokenRequest((code, socket) => endWithStatus(socket, code === 'HPE_HEADER_OVERFLOW' ? 431 : 500)),
      { forbidden: false },
    ],
    'long-headers-answer-500': [
      'Answers 500 to headers over the limit',
      onBrokenRequest((code, socket) => endWithStatus(socket, code === 'HPE_HEADER_OVERFLOW' ? 500 : 400)),
      { forbidden: false },
    ],
    'missing-host-answers-500': [
      'Answers 500 to a request without Host',
      {
        server: (server) => {
          Object.assign(server, { requireHostHeader: false });
          intercept(server, (req, res, pass) => {
            if (req.headers.host === undefined) res.writeHead(500).end();
            else pass();
          });
        },
      },
      'request-target-unguarded',
      { forbidden: false },
    ],
    'header-needs-space-after-colon': [
      'Finds a header only if there is a space after its colon',
      {
        server: (server) => {
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
      'own-http-parser',
    ],
  },
);

/** Mutants that truncate a large body, or fail on it. */
const bodyLimits = family<StageFault>(
  { area: 'http', stage: 'readBody', mistake: 'oversized-body-unhandled' },
  {
    'cuts-bodies-at-64-kb': [
      'Reads only the first 64 kB of a larger body, so a valid signature gets 401',
      rewriteBody((body) => body.subarray(0, 65_535)),
      { forbidden: false },
    ],
    'fails-on-bodies-above-100-kb': [
      'Answers 500 to a body over the default limit of the body parser (100 kB)',
      above100kB((_res, next) => next(new Error('request entity too large'))),
      { forbidden: false },
    ],
    'cuts-connection-above-100-kb': [
      'Closes the connection without an answer on a body over 100 kB',
      above100kB((res) => void res.socket?.destroy()),
    ],
  },
);

/** Mutants that fail before any credential is checked. */
const beforeChecks = family<StageFault>(
  { area: 'http', stage: 'accept' },
  {
    'unparsable-target-ends-the-process': [
      'Ends the process on a request target that is not a valid URL',
      exceptFor('accept', ({ url }) => !URL.canParse(url, 'http://receiver.example'), withCrash),
      'request-target-unguarded',
      { note: 'The target `//` is enough to stop the receiver.' },
    ],
    'allocates-announced-length': [
      'Answers 500 to a huge Content-Length, because it tries to allocate that many bytes',
      ({ correct }) =>
        (req, res, next) => {
          Buffer.alloc(Number(req.headers['content-length'] ?? 0));
          return correct.accept(req, res, next);
        },
      'trusted-content-length',
      { forbidden: false },
    ],
    'bodies-above-8-mb-end-the-process': [
      'Ends the process on a body of more than 8 MB',
      exceptFor('accept', ({ headers }) => Number(headers['content-length']) > EIGHT_MB, crashAbove8MB),
      'oversized-body-unhandled',
      { note: 'One large request without credentials stops the receiver.' },
    ],
  },
);

export const httpFramingFaults: readonly (StageFault | ConnectionFault)[] = [
  ...methods,
  ...framing,
  ...brokenRequests,
  ...bodyLimits,
  ...beforeChecks,
];
