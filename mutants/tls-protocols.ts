/** Mutants that support old TLS versions, weak ciphers or other protocols. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { family } from './family.ts';
import type { ConnectionFault } from './fault.ts';

/** What a ClientHello offers. */
interface OfferedHello {
  /** 0x0300 for SSL 3.0, 0x0303 for TLS 1.2 and above. */
  readonly version: number;
  /** Ids of cipher suites, without the two signalling values. */
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

/** Signalling values: secure renegotiation, and a fallback to a lower version. */
const SIGNALS: readonly number[] = [0x00ff, 0x5600];

/**
 * Passes the first bytes of every connection to `take`. If it returns true, it handles the connection; otherwise TLS
 * starts.
 */
function beforeTls(server: Server, take: (first: Buffer, socket: Socket) => boolean): void {
  // The first listener is Node's own, which starts TLS.
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

/** Answers the hellos for which `choose` returns a suite, with the version that they offer. */
function answersHellos(server: Server, choose: (hello: OfferedHello) => ChosenHello | null): void {
  beforeTls(server, (first, socket) => {
    const hello = readHello(first);
    const chosen = hello === null ? null : choose(hello);
    if (hello === null || chosen === null) return false;
    socket.end(serverHello(hello.version, chosen));
    return true;
  });
}

/** Reads a ClientHello. Returns null if the bytes do not contain a complete one. */
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

/**
 * Accepts a TLS 1.2 hello that offers only these suites, which Node's OpenSSL no longer supports. All other hellos get
 * a better suite.
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

const CONNECTION = { area: 'tls', stage: 'connection' } as const;

export const tlsProtocolsFaults: readonly ConnectionFault[] = [
  ...family<ConnectionFault>(
    { ...CONNECTION, mistake: 'obsolete-tls-version' },
    {
      // Withdrawn TLS versions.
      'speaks-ssl-3-0': [
        'Supports SSL 3.0',
        {
          // Node does not support SSL 3.0, so this imitates the first flight.
          server: (server) =>
            answersHellos(server, ({ version, suites: [suite] }) =>
              version === 0x0300 && suite !== undefined ? { suite } : null,
            ),
        },
        { note: 'A downgrade lets a man in the middle read an API key byte by byte (CVE-2014-3566, POODLE).' },
      ],
      'speaks-tls-1-0': [
        'Supports TLS 1.0 and TLS 1.1',
        { options: { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } },
      ],
      'speaks-tls-1-1': [
        'Supports TLS 1.1, but not TLS 1.0',
        { options: { minVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } },
      ],
    },
  ),
  // Cipher suites, and compression, that reveal plaintext.
  ...family<ConnectionFault>(
    { ...CONNECTION, forbidden: false, mistake: 'outdated-cipher-suites' },
    {
      'takes-rc4': ['Supports cipher suites with RC4', takes([0x0004, 0x0005, 0xc007, 0xc011])],
      'takes-triple-des': [
        'Supports cipher suites with triple DES',
        takes([0x000a, 0x0016, 0xc008, 0xc012]),
        { note: '`HIGH` includes it on old OpenSSL (CVE-2016-2183, SWEET32).' },
      ],
      'takes-export-ciphers': [
        'Supports export-grade cipher suites',
        takes([0x0003, 0x0006, 0x0008, 0x0014, 0x0017]),
        { note: 'Such keys can be broken within minutes (CVE-2015-0204, FREAK).' },
      ],
      'takes-null-ciphers': [
        'Supports cipher suites without encryption',
        { options: { ciphers: 'ALL:!aNULL:eNULL:@SECLEVEL=0' } },
      ],
      'takes-anonymous-ciphers': [
        'Supports cipher suites without a certificate',
        { options: { ciphers: 'ALL:@SECLEVEL=0' } },
        { note: '`ALL` includes the anonymous suites in OpenSSL unless `!aNULL` follows.' },
      ],
      'compresses-tls': [
        'Compresses the TLS connection',
        {
          server: (server) =>
            answersHellos(server, ({ version, suites: [suite], compressions }) =>
              version === 0x0303 && suite !== undefined && compressions.includes(1) ? { suite, compression: 1 } : null,
            ),
        },
        'tls-level-compression',
      ],
    },
  ),
  // Protocols on top of TLS, or next to it.
  ...family<ConnectionFault>(
    { ...CONNECTION, mistake: 'http-1-1-not-offered' },
    {
      'answers-plain-http-on-tls-port': [
        'Answers plain HTTP on the HTTPS port',
        {
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
        'plain-http-served',
      ],
      'speaks-http-2-only': ['Supports only HTTP/2', { options: { ALPNProtocols: ['h2'] } }, { forbidden: false }],
      'insists-on-protocol-offer': [
        'Closes connections that offer no application protocol (ALPN)',
        {
          server(server) {
            server.prependListener('secureConnection', (socket: TLSSocket) => {
              if (!socket.alpnProtocol) socket.destroy();
            });
          },
        },
        {
          note: 'The sender is not affected; health checks and older proxies without ALPN are disconnected.',
          forbidden: false,
        },
      ],
    },
  ),
];
