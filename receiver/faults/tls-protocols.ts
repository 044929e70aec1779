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
  /** Without the two that are signals and no suites. */
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

/** Hands the first bytes of every connection to `take`, which says whether it has taken the connection over; if not, TLS begins. */
function beforeTls(server: Server, take: (first: Buffer, socket: Socket) => boolean): void {
  // The listener that begins TLS is Node's own, and so the first.
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

/** Answers the hellos for which `choose` gives a suite, at the version that they offer. */
function answersHellos(server: Server, choose: (hello: OfferedHello) => ChosenHello | null): void {
  beforeTls(server, (first, socket) => {
    const hello = readHello(first);
    const chosen = hello === null ? null : choose(hello);
    if (hello === null || chosen === null) return false;
    socket.end(serverHello(hello.version, chosen));
    return true;
  });
}

/** Null for what is no ClientHello, or not a whole one. */
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
  rule: 'Set the lowest version to TLS 1.2 wherever TLS ends: in the proxy or the load balancer, if there is one.',
  express:
    'Leave `minVersion` of `https.createServer` at its default, TLS 1.2, and take `@SECLEVEL=0` out of `ciphers`; behind nginx, `ssl_protocols TLSv1.2 TLSv1.3;`.',
  spring: 'Set `server.ssl.enabled-protocols=TLSv1.2,TLSv1.3`.',
  go: 'Leave `tls.Config.MinVersion` at its default or set it to `tls.VersionTLS12`.',
  dotnet: 'Set `SslProtocols.Tls12 | SslProtocols.Tls13` in the HTTPS options of Kestrel, or leave them to the system.',
} as const;

const CIPHER_FIX = {
  rule: 'Use the cipher list of a current server or a current policy of the load balancer, and remove whatever adds to it.',
  express:
    'Leave `ciphers` of `https.createServer` alone, above all no `ALL` and no `@SECLEVEL=0`; behind nginx, take an `ssl_ciphers` line of a current recommendation.',
} as const;

type Text = Pick<ConnectionFault, 'title' | 'seen' | 'why'> & Partial<ConnectionFault>;

function weak(name: string, text: Text): ConnectionFault {
  return { name, area: 'tls', fix: CIPHER_FIX, severity: 'medium', forbidden: false, stage: 'connection', ...text };
}

/** Takes a hello of TLS 1.2 that offers nothing but these suites, which OpenSSL in Node no longer has. Who offers better ones gets those. */
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
  // Versions of TLS that were withdrawn.
  {
    name: 'speaks-ssl-3-0',
    area: 'tls',
    title: 'The endpoint still speaks SSL 3.0.',
    seen: 'Appliances and load balancers whose software is from before 2015 (CVE-2014-3566, known as POODLE).',
    why: 'An attacker in between can bring a connection down to it, and read an API key byte by byte.',
    fix: VERSION_FIX,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    // Node cannot speak it: the first flight is imitated.
    server: (server) =>
      answersHellos(server, ({ version, suites: [suite] }) =>
        version === 0x0300 && suite !== undefined ? { suite } : null,
      ),
  },
  {
    name: 'speaks-tls-1-0',
    area: 'tls',
    title: 'The endpoint still speaks TLS 1.0 and TLS 1.1.',
    seen: 'Load balancers with a compatibility policy of years ago, and Java or Windows servers that were never told otherwise.',
    why: 'Both versions rest on hashes that can be forged and were withdrawn (RFC 8996), and an attacker in between can push a connection down to them.',
    fix: VERSION_FIX,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    options: { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' },
  },
  {
    name: 'speaks-tls-1-1',
    area: 'tls',
    title: 'The endpoint still speaks TLS 1.1, though no longer TLS 1.0.',
    seen: 'Configurations that were hardened when card payments banned TLS 1.0, and not since.',
    why: 'TLS 1.1 was withdrawn together with TLS 1.0 (RFC 8996), and has the same weak hashes.',
    fix: VERSION_FIX,
    severity: 'high',
    forbidden: true,
    stage: 'connection',
    options: { minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  },
  // Cipher suites, and compression, that give away what they should hide.
  weak('takes-rc4', {
    title: 'The endpoint takes cipher suites with RC4.',
    seen: 'Servers that were told to prefer RC4 in 2011, when it was the advice against another attack, and old Windows servers.',
    why: 'RC4 leaks what is sent again and again, as an API key is (RFC 7465 forbids it).',
    ...takes([0x0004, 0x0005, 0xc007, 0xc011]),
  }),
  weak('takes-triple-des', {
    title: 'The endpoint takes cipher suites with triple DES.',
    seen: 'Java and Windows servers with their old defaults, and cipher lists with `HIGH` on old OpenSSL (CVE-2016-2183, known as SWEET32).',
    why: 'Its blocks are so small that they repeat on a long connection, and repetitions give away what was sent.',
    ...takes([0x000a, 0x0016, 0xc008, 0xc012]),
  }),
  weak('takes-export-ciphers', {
    title: 'The endpoint takes export-grade cipher suites.',
    seen: 'Appliances and embedded servers that list every suite that their library knows (CVE-2015-0204, known as FREAK).',
    why: 'Such keys are broken within minutes, and an attacker in between can push a connection towards them.',
    ...takes([0x0003, 0x0006, 0x0008, 0x0014, 0x0017]),
  }),
  weak('takes-null-ciphers', {
    title: 'The endpoint takes cipher suites that do not encrypt.',
    seen: 'Cipher lists with `ALL:eNULL`, left over from looking at the traffic while debugging.',
    why: 'Everybody on the way reads the API key and the payload, and both ends believe that they use TLS.',
    options: { ciphers: 'ALL:!aNULL:eNULL:@SECLEVEL=0' },
  }),
  weak('takes-anonymous-ciphers', {
    title: 'The endpoint takes cipher suites that need no certificate.',
    seen: 'Cipher lists with `ALL`, which in OpenSSL holds the anonymous suites unless `!aNULL` follows.',
    why: 'Without a certificate the sender cannot tell the endpoint from somebody in between.',
    options: { ciphers: 'ALL:@SECLEVEL=0' },
  }),
  weak('compresses-tls', {
    title: 'The endpoint compresses the TLS connection.',
    seen: 'Servers on OpenSSL builds of before 2013 with zlib compiled in (CVE-2012-4929, known as CRIME).',
    why: 'The length of what is compressed gives away secrets in the headers to who can have requests repeated.',
    fix: {
      rule: 'Switch TLS compression off, or update the TLS library: none of today has it on.',
      express: 'Node has no TLS compression: look at the proxy in front (`SSLCompression off` in Apache).',
    },
    server: (server) =>
      answersHellos(server, ({ version, suites: [suite], compressions }) =>
        version === 0x0303 && suite !== undefined && compressions.includes(1) ? { suite, compression: 1 } : null,
      ),
  }),
  // What is spoken over the connection, or beside it.
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
