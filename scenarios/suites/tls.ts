/** Plain HTTP on the port of TLS: a hint that TLS is wanted, or nothing. */
import { accepted } from '../expectations.ts';
import type { Expectation, ProbeScenario, RequestHead, Suite } from '../scenario.ts';
import { tlsChain } from './tls-chain.ts';
import { tlsHandshakes } from './tls-handshake.ts';

const notServedInTheClear: Expectation = {
  text: '400, a redirect or a closed connection: nothing is served in the clear',
  authentic: false,
  pass: [400, 426, '3xx', 'closed', 'alert'],
  warn: [403, 404, 405],
  unclear: ['none'],
};

const NEEDED = new Set(['host', 'content-type', 'content-length']);

/** Credentials have no business on a connection that anybody can read. */
function bare(head: RequestHead): RequestHead {
  return { ...head, headers: head.headers.filter(([name]) => NEEDED.has(name.toLowerCase())) };
}

/** How the connection is made, apart from the handshake. Specification: TLS; Delivery endpoint. */
const tlsConnection: readonly ProbeScenario[] = [
  {
    id: 'tls/http-1-1',
    title: 'Accepts a delivery over a connection that offers HTTP/1.1 alone',
    level: 'must',
    requirements: ['tls-http1'],
    needs: ['https'],
    change: { connect: { label: 'the protocol http/1.1 and no other (ALPN)', alpn: ['http/1.1'] } },
    expect: accepted,
    why: 'The sender speaks HTTP/1.1. An endpoint that insists on HTTP/2 cannot be delivered to.',
    fix: 'Leave HTTP/1.1 switched on beside HTTP/2: Node `allowHTTP1: true`, or the protocol list of the proxy.',
  },
  {
    id: 'tls/no-protocol-offer',
    title: 'Accepts a delivery over a connection that offers no protocol (no ALPN)',
    level: 'should',
    requirements: ['tls-http1'],
    needs: ['https'],
    change: { connect: { label: 'no protocol offer (ALPN)', alpn: [] } },
    expect: accepted,
    why: 'Plain TLS clients name no protocol, and HTTP/1.1 is what they mean. Health checks and older proxies are among them.',
    fix: 'Fall back to HTTP/1.1 when no protocol was agreed on.',
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
    why: 'Every sender names the server. Without the name a shared server shows its default certificate, which is useful to know when one sees that certificate elsewhere.',
    fix: 'Nothing to mend.',
  },
  {
    id: 'tls/plain-http-refused',
    title: 'Serves nothing over plain HTTP on the port of TLS',
    level: 'must',
    requirements: ['tls-version'],
    needs: ['https'],
    change: {
      connect: { label: 'plain HTTP on the TLS port', plain: true },
      address: { label: 'no credentials', make: bare },
    },
    expect: notServedInTheClear,
    why: 'A port that takes both lets a misconfigured sender deliver in the clear, API key included, and nobody sees it.',
    fix: 'Speak TLS alone on this port; redirect port 80 or close it.',
  },
];

/** What the endpoint serves to everybody who connects. Specification: TLS. */
export const tlsSuite: Suite = {
  name: 'tls',
  title: 'HTTPS: versions, certificates and ciphers',
  scenarios: [...tlsChain, ...tlsHandshakes, ...tlsConnection],
};
