import type { ConnectionFault } from './fault.ts';
import { endWithStatus, intercept, onBrokenRequest } from './intercepted-requests.ts';

const base = { area: 'http', severity: 'low', forbidden: false, stage: 'connection' } as const;

const PLAIN_400 = {
  rule: 'Answer 400 to what is not HTTP, close the connection, and let nothing of it reach code that expects a request.',
  express:
    'Handle `clientError` of the server: `socket.end("HTTP/1.1 400 Bad Request\\r\\n\\r\\n")`, with no other work in it.',
} as const;

const HEADER_LIMIT = {
  rule: 'Answer 431 to headers beyond your limit, and close the connection.',
  express: 'Look at `error.code` in the handler of `clientError`: for HPE_HEADER_OVERFLOW there is no request object.',
} as const;

/** Receivers that trip over requests which are not well-formed HTTP. Scanners send them every day. */
export const brokenRequestFaults: readonly ConnectionFault[] = [
  {
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
    ...base,
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
];
