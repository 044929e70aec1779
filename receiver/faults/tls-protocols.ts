import { createServer } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { beforeTls } from './answer-hello.ts';
import type { ConnectionFault } from './fault.ts';

const HANDSHAKE = 22;

/** What is spoken over the connection, or beside it. */
export const wrongProtocols: readonly ConnectionFault[] = [
  {
    name: 'answers-plain-http-on-tls-port',
    area: 'tls',
    title: 'The port of HTTPS also answers plain HTTP.',
    seen: 'Servers that look at the first byte to tell the protocols apart, development servers in production, and load balancers with a TCP listener that falls back.',
    why: 'A sender with http:// in its URL by mistake delivers in the clear, API key included, and since it works nobody notices.',
    fix: {
      rule: 'Speak TLS alone on this port. On a port for HTTP answer with a redirect, or close it.',
      express: 'Serve the app with `https.createServer` only, and remove what multiplexes both protocols on one port.',
    },
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    server(server) {
      const plain = createServer((req, res) => server.emit('request', req, res));
      beforeTls(server, (first, socket) => {
        if (first[0] === HANDSHAKE) return false;
        socket.unshift(first);
        plain.emit('connection', socket);
        return true;
      });
    },
  },
  {
    name: 'speaks-http-2-only',
    area: 'tls',
    title: 'The endpoint agrees to HTTP/2 and to nothing else.',
    seen: 'gRPC gateways and HTTP/2 servers in Node without `allowHTTP1`, and proxies whose protocol list holds only h2.',
    why: 'The sender speaks HTTP/1.1, so the handshake ends with the alert no_application_protocol and nothing is delivered.',
    fix: {
      rule: 'Offer http/1.1 beside h2 in the protocol list (ALPN).',
      express: 'Use `https.createServer`, or `http2.createSecureServer({ allowHTTP1: true })`.',
      go: 'Do not set `NextProtos` to h2 alone; `http.Server` offers both by itself.',
    },
    severity: 'critical',
    forbidden: true,
    stage: 'connection',
    options: { ALPNProtocols: ['h2'] },
  },
  {
    name: 'insists-on-protocol-offer',
    area: 'tls',
    title: 'The endpoint closes connections that offer no protocol (ALPN).',
    seen: 'HTTP/2 servers and proxies that choose the handler by the agreed protocol and have none for no agreement.',
    why: 'Plain TLS clients, health checks and older proxies name no protocol and mean HTTP/1.1; they are cut off without a word.',
    fix: {
      rule: 'Where no protocol was agreed on, speak HTTP/1.1.',
      express: 'With `http2.createSecureServer` set `allowHTTP1: true` and handle no `unknownProtocol` yourself.',
    },
    severity: 'low',
    forbidden: false,
    stage: 'connection',
    server(server) {
      server.prependListener('secureConnection', (socket: TLSSocket) => {
        if (!socket.alpnProtocol) socket.destroy();
      });
    },
  },
];
