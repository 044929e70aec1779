/**
 * For mutants whose TLS is worse than what OpenSSL in Node can do: looks at the first bytes of a connection, and answers by hand what the
 * library would refuse. Only the first flight is imitated; who cannot be answered so goes to the library as if nothing had happened.
 */
import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

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
export function beforeTls(server: Server, take: (first: Buffer, socket: Socket) => boolean): void {
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
export function answersHellos(server: Server, choose: (hello: OfferedHello) => ChosenHello | null): void {
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
