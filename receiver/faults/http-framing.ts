import { refuse } from '../stages/stage.ts';
import type { ConnectionFault, StageFault } from './fault.ts';

const base = { area: 'http', severity: 'medium', forbidden: false } as const;

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

/** Receivers that understand one form of a request only. */
export const framingFaults: readonly (StageFault | ConnectionFault)[] = [
  {
    ...base,
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
    ...base,
    name: 'refuses-expectations',
    title: 'A delivery with Expect: 100-continue is answered 417.',
    seen: 'Old proxies and embedded servers, which know no expectation.',
    why: 'Clients that are built on curl or .NET send it by themselves with larger bodies. These never arrive.',
    fix: EXPECTATION,
    stage: 'connection',
    server: (server) => void server.on('checkContinue', (_req, res) => res.writeHead(417).end()),
  },
  {
    ...base,
    name: 'expectations-never-answered',
    title: 'A delivery with Expect: 100-continue is never answered.',
    seen: 'Servers with a listener of their own for expectations that takes the request and does not hand it on.',
    why: 'Clients that are built on curl or .NET send it by themselves with larger bodies. Each such delivery runs into the time limit.',
    fix: EXPECTATION,
    stage: 'connection',
    server: (server) => void server.on('checkContinue', () => {}),
  },
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
];
