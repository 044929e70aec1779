import { accepted } from '../expectations.ts';
import type { Expectation, ProbeScenario, RequestHead, Suite } from '../scenario.ts';
import { tlsChain } from './tls-chain.ts';
import { tlsHandshakes } from './tls-handshake.ts';

/** Plain HTTP on the TLS port: an error or a redirect to HTTPS, or nothing. */
const notServedUnencrypted: Expectation = {
  text: '400, a redirect or a closed connection',
  authentic: false,
  pass: [400, 426, '3xx', 'closed', 'alert'],
  warn: [403, 404, 405],
  unclear: ['none'],
};

const NEEDED = new Set(['host', 'content-type', 'content-length']);

/** Without credentials: the connection is not encrypted. */
function bare(head: RequestHead): RequestHead {
  return { ...head, headers: head.headers.filter(([name]) => NEEDED.has(name.toLowerCase())) };
}

/** The connection apart from the handshake. Specification: TLS; Delivery endpoint. */
const tlsConnection: readonly ProbeScenario[] = [
  {
    id: 'tls/http-1-1',
    title: 'Accepts a delivery over a connection that offers HTTP/1.1 only',
    level: 'should',
    requirements: ['tls-http1'],
    needs: ['https'],
    change: { connect: { label: 'only the protocol http/1.1 (ALPN)', alpn: ['http/1.1'] } },
    expect: accepted,
    why: 'The sender uses HTTP/1.1. It cannot deliver to an endpoint that requires HTTP/2.',
    fix: 'Enable HTTP/1.1 as well as HTTP/2: Node `allowHTTP1: true`, or the protocol list of the proxy.',
  },
  {
    id: 'tls/no-protocol-offer',
    title: 'Accepts a delivery over a connection without ALPN',
    level: 'should',
    requirements: ['tls-http1'],
    needs: ['https'],
    change: { connect: { label: 'no protocol offer (ALPN)', alpn: [] } },
    expect: accepted,
    why: 'Simple TLS clients, health checks and older proxies offer no protocol and use HTTP/1.1.',
    fix: 'Fall back to HTTP/1.1 when no protocol was negotiated.',
  },
  {
    id: 'tls/no-server-name',
    title: 'Records whether a delivery without a server name (SNI) is accepted',
    level: 'info',
    requirements: ['tls-trusted'],
    needs: ['https'],
    change: { connect: { label: 'no server name (SNI)', serverName: false } },
    expect: {
      text: 'recorded: whether the endpoint needs the server name',
      authentic: true,
      pass: [200],
      note: ['2xx', '3xx', '4xx', '5xx', 'closed', 'alert', 'untrusted'],
      unclear: ['none'],
    },
    why:
      'Every sender sends the name. Without it, a shared server shows its default certificate, which may appear ' +
      'elsewhere.',
    fix: 'No change needed.',
  },
  {
    id: 'tls/plain-http-refused',
    title: 'Rejects plain HTTP on the TLS port',
    level: 'must',
    requirements: ['tls-version'],
    needs: ['https'],
    change: {
      connect: { label: 'plain HTTP on the TLS port', plain: true },
      address: { label: 'no credentials', make: bare },
    },
    expect: notServedUnencrypted,
    why:
      'If the port also accepts plain HTTP, a misconfigured sender sends everything unencrypted, including the ' +
      'API key.',
    fix: 'Serve only TLS on this port, and redirect or close port 80.',
  },
];

/** What the endpoint serves to every client. Specification: TLS. */
export const tlsSuite: Suite = {
  name: 'tls',
  title: 'HTTPS: versions, certificates and ciphers',
  scenarios: [...tlsChain, ...tlsHandshakes, ...tlsConnection],
};
