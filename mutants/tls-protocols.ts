/** Mutants that speak old TLS versions, weak ciphers or other protocols. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ConnectionFault } from './fault.ts';

/** What a ClientHello offers. */
interface OfferedHello {
  /** 0x0300 for SSL 3.0, 0x0303 for TLS 1.2 and above. */
  readonly version: number;
  /** Without the two signalling values. */
  readonly suites: readonly number[];
  readonly compressions: readonly number[];
}

interface ChosenHello {
  readonly suite: number;
  readonly compression?: number;
}

const HANDSHAKE = 22;

const SERVER_HELLO = 2;

const SERVER_HELLO_DONE = 14;

/** Signals: secure renegotiation, and a fallback to a lower version. */
const SIGNALS: readonly number[] = [0x00ff, 0x5600];

/**
 * Passes the first bytes of every connection to `take`, which returns whether it handles the connection; otherwise TLS
 * starts.
 */
function beforeTls(server: Server, take: (first: Buffer, socket: Socket) => boolean): void {
  // Node's own listener, the first one, starts TLS.
  const [beginTls] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (beginTls === undefined) return;
  server.off('connection', beginTls);
  server.prependListener('connection', (socket: Socket) => {
    const onError = () => socket.destroy();
    socket.on('error', onError);
    socket.once('readable', () => {
      const first: Buffer | null = socket.read();
      if (first === null) {
        socket.destroy();
      } else if (!take(first, socket)) {
        socket.off('error', onError);
        socket.unshift(first);
        beginTls.call(server, socket);
      }
    });
  });
}

/** Answers the hellos for which `choose` returns a suite, at the version that they offer. */
function answersHellos(server: Server, choose: (hello: OfferedHello) => ChosenHello | null): void {
  beforeTls(server, (first, socket) => {
    const hello = readHello(first);
    const chosen = hello === null ? null : choose(hello);
    if (hello === null || chosen === null) return false;
    socket.end(serverHello(hello.version, chosen));
    return true;
  });
}

/** Null if it is not a complete ClientHello. */
function readHello(bytes: Buffer): OfferedHello | null {
  try {
    if (bytes[0] !== HANDSHAKE) return null;
    let at = 5 + 4;
    const version = bytes.readUInt16BE(at);
    at += 2 + 32;
    at += 1 + bytes.readUInt8(at);
    const suitesEnd = at + 2 + bytes.readUInt16BE(at);
    const suites: number[] = [];
    for (at += 2; at < suitesEnd; at += 2) suites.push(bytes.readUInt16BE(at));
    const compressions = [...bytes.subarray(at + 1, at + 1 + bytes.readUInt8(at))];
    return { version, suites: suites.filter((suite) => !SIGNALS.includes(suite)), compressions };
  } catch {
    return null;
  }
}

function serverHello(version: number, { suite, compression = 0 }: ChosenHello): Buffer {
  const number = (value: number) => Buffer.from([value >> 8, value & 0xff]);
  const body = Buffer.concat([number(version), randomBytes(32), Buffer.of(0), number(suite), Buffer.of(compression)]);
  const messages = Buffer.concat([
    Buffer.of(SERVER_HELLO, 0, 0, body.length),
    body,
    Buffer.of(SERVER_HELLO_DONE, 0, 0, 0),
  ]);
  return Buffer.concat([Buffer.of(HANDSHAKE), number(version), number(messages.length), messages]);
}

const VERSION_FIX = {
  rule: 'Set the minimum version to TLS 1.2 wherever TLS ends: in the proxy or the load balancer, if there is one.',
  express:
    'Leave `minVersion` of `https.createServer` at its default, TLS 1.2, and remove `@SECLEVEL=0` from `ciphers`; ' +
    'behind nginx, `ssl_protocols TLSv1.2 TLSv1.3;`.',
  spring: 'Set `server.ssl.enabled-protocols=TLSv1.2,TLSv1.3`.',
  go: 'Leave `tls.Config.MinVersion` at its default or set it to `tls.VersionTLS12`.',
  dotnet: 'Set `SslProtocols.Tls12 | SslProtocols.Tls13` in the HTTPS options of Kestrel, or leave it to the system.',
} as const;

const CIPHER_FIX = {
  rule: 'Use the cipher list of a current server or a current policy of the load balancer, and remove additions to it.',
  express:
    'Leave `ciphers` of `https.createServer` unchanged, without `ALL` and `@SECLEVEL=0`; behind nginx, use a ' +
    'currently recommended `ssl_ciphers` line.',
} as const;

type Text = Pick<ConnectionFault, 'title' | 'seen' | 'why'> & Partial<ConnectionFault>;

function weak(name: string, text: Text): ConnectionFault {
  return { name, area: 'tls', fix: CIPHER_FIX, severity: 'medium', forbidden: false, stage: 'connection', ...text };
}

/**
 * Accepts a TLS 1.2 hello that offers only these suites, which OpenSSL in Node no longer supports. Other clients get a
 * better suite.
 */
function takes(suites: readonly number[]): Pick<ConnectionFault, 'server'> {
  return {
    server: (server) =>
      answersHellos(server, (hello) => {
        const [suite] = hello.suites;
        const only = hello.suites.every((offered) => suites.includes(offered));
        return hello.version === 0x0303 && suite !== undefined && only ? { suite } : null;
      }),
  };
}

export const tlsProtocolsFaults: readonly ConnectionFault[] = [
  // Withdrawn TLS versions.
  {
    name: 'speaks-ssl-3-0',
    area: 'tls',
    title: 'Supports SSL 3.0',
    seen: 'Appliances and load balancers with software from before 2015 (CVE-2014-3566, known as POODLE).',
    why: 'A man in the middle can downgrade a connection to it and read an API key byte by byte.',
    fix: VERSION_FIX,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    // Node does not support it: the first flight is imitated.
    server: (server) =>
      answersHellos(server, ({ version, suites: [suite] }) =>
        version === 0x0300 && suite !== undefined ? { suite } : null,
      ),
  },
  {
    name: 'speaks-tls-1-0',
    area: 'tls',
    title: 'Supports TLS 1.0 and TLS 1.1',
    seen: 'Load balancers with an old compatibility policy, and Java or Windows servers with their original settings.',
    why:
      'Both versions use broken hashes and were withdrawn (RFC 8996), and a man in the middle can downgrade a ' +
      'connection to them.',
    fix: VERSION_FIX,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    options: { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
  },
  {
    name: 'speaks-tls-1-1',
    area: 'tls',
    title: 'Supports TLS 1.1, but not TLS 1.0',
    seen: 'Configurations that were hardened when card payments banned TLS 1.0, and not since.',
    why: 'TLS 1.1 was withdrawn together with TLS 1.0 (RFC 8996) and has the same weak hashes.',
    fix: VERSION_FIX,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    options: { minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  },
  // Cipher suites, and compression, that reveal plaintext.
  weak('takes-rc4', {
    title: 'Supports cipher suites with RC4',
    seen: 'Servers that prefer RC4, recommended in 2011 against another attack, and old Windows servers.',
    why: 'RC4 leaks data that is sent repeatedly, such as an API key (RFC 7465 forbids it).',
    ...takes([0x0004, 0x0005, 0xc007, 0xc011]),
  }),
  weak('takes-triple-des', {
    title: 'Supports cipher suites with triple DES',
    seen:
      'Java and Windows servers with old defaults, and cipher lists with `HIGH` on old OpenSSL (CVE-2016-2183, ' +
      'known as SWEET32).',
    why: 'Its small blocks repeat on a long connection, and the repetitions reveal plaintext.',
    ...takes([0x000a, 0x0016, 0xc008, 0xc012]),
  }),
  weak('takes-export-ciphers', {
    title: 'Supports export-grade cipher suites',
    seen: 'Appliances and embedded servers that enable every suite of their library (CVE-2015-0204, known as FREAK).',
    why: 'Such keys can be broken within minutes, and a man in the middle can downgrade a connection to them.',
    ...takes([0x0003, 0x0006, 0x0008, 0x0014, 0x0017]),
  }),
  weak('takes-null-ciphers', {
    title: 'Supports cipher suites without encryption',
    seen: 'Cipher lists with `ALL:eNULL`, left over from debugging.',
    why:
      'Everyone on the network path can read the API key and the payload, while both ends believe that they use ' +
      'TLS.',
    options: { ciphers: 'ALL:!aNULL:eNULL:@SECLEVEL=0' },
  }),
  weak('takes-anonymous-ciphers', {
    title: 'Supports cipher suites without a certificate',
    seen: 'Cipher lists with `ALL`, which in OpenSSL includes the anonymous suites unless `!aNULL` follows.',
    why: 'Without a certificate, the sender cannot recognise a man in the middle.',
    options: { ciphers: 'ALL:@SECLEVEL=0' },
  }),
  weak('compresses-tls', {
    title: 'Compresses the TLS connection',
    seen: 'Servers with OpenSSL builds from before 2013 with zlib (CVE-2012-4929, known as CRIME).',
    why: 'The compressed length reveals secrets in headers to an attacker who can trigger requests.',
    fix: {
      rule: 'Disable TLS compression, or update the TLS library: no current one enables it.',
      express: 'Node has no TLS compression: check the proxy (`SSLCompression off` in Apache).',
    },
    server: (server) =>
      answersHellos(server, ({ version, suites: [suite], compressions }) =>
        version === 0x0303 && suite !== undefined && compressions.includes(1) ? { suite, compression: 1 } : null,
      ),
  }),
  // Protocols on top of TLS, or next to it.
  {
    name: 'answers-plain-http-on-tls-port',
    area: 'tls',
    title: 'Answers plain HTTP on the HTTPS port',
    seen:
      'Servers that detect the protocol by the first byte, development servers in production, and load balancers ' +
      'with a TCP listener that falls back.',
    why:
      'A sender with http:// in its URL by mistake delivers in plain text, including the API key, and it goes ' +
      'unnoticed.',
    fix: {
      rule: 'Accept only TLS on this port. On an HTTP port, answer with a redirect, or close it.',
      express: 'Serve the app with `https.createServer` only, and remove protocol detection.',
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
    title: 'Supports only HTTP/2',
    seen:
      'gRPC gateways and HTTP/2 servers in Node without `allowHTTP1`, and proxies with only h2 in their protocol ' +
      'list.',
    why:
      'The sender uses HTTP/1.1, so the handshake ends with the alert no_application_protocol and nothing is ' +
      'delivered.',
    fix: {
      rule: 'Offer http/1.1 in addition to h2 in the protocol list (ALPN).',
      express: 'Use `https.createServer`, or `http2.createSecureServer({ allowHTTP1: true })`.',
      go: 'Do not set `NextProtos` to h2 alone; `http.Server` offers both by default.',
    },
    severity: 'critical',
    forbidden: false,
    stage: 'connection',
    options: { ALPNProtocols: ['h2'] },
  },
  {
    name: 'insists-on-protocol-offer',
    area: 'tls',
    title: 'Closes connections that offer no application protocol (ALPN)',
    seen: 'HTTP/2 servers and proxies that select the handler by the negotiated protocol and have none without it.',
    why:
      'Plain TLS clients, health checks and older proxies use HTTP/1.1 without ALPN and are disconnected without an ' +
      'error.',
    fix: {
      rule: 'Use HTTP/1.1 if no protocol was negotiated.',
      express: 'With `http2.createSecureServer`, set `allowHTTP1: true`, and do not handle `unknownProtocol` yourself.',
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
