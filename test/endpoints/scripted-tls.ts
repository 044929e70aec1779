/**
 * A TCP server that reads the ClientHello and answers according to a script: with prepared bytes, an alert, silence, or
 * by passing the connection to a real TLS server. It replaces protocols that OpenSSL no longer supports.
 */
import { connect, createServer, type Socket } from 'node:net';
import type { TlsVersion } from '../../contract/index.ts';
import { type ParsedHello, parseClientHello } from './client-hello.ts';
import { type Endpoint, listen } from './listen.ts';
import {
  alertRecord,
  certificateMessage,
  certificateRequest,
  certificateStatus,
  type HelloFields,
  records,
  serverHello,
  serverHelloDone,
} from './tls-bytes.ts';

export type ScriptedReply =
  /**
   * Sends these bytes, with one write for each piece, and then closes or resets the connection. By default, it stays
   * open.
   */
  | { readonly send: readonly Uint8Array[]; readonly andThen?: 'close' | 'reset' }
  /** Passes the connection, with the hello, to a server on this loopback port. */
  | { readonly handTo: number }
  | 'close'
  | 'reset'
  | 'silence';

export interface ScriptedTls extends Endpoint {
  /** The received hellos. */
  readonly hellos: readonly ParsedHello[];
}

export interface Script {
  accept(hello: ParsedHello): ScriptedReply;
}

/** Starts the server on a free loopback port. It closes the connection if it does not receive a ClientHello. */
export async function startScriptedTls({ accept }: Script): Promise<ScriptedTls> {
  const hellos: ParsedHello[] = [];
  const peers = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    let received = Buffer.alloc(0);
    const read = (piece: Buffer) => {
      received = Buffer.concat([received, piece]);
      const hello = parseClientHello(received);
      if (hello === null) return;
      socket.off('data', read);
      if (hello === 'no-hello') {
        socket.destroy();
        return;
      }
      hellos.push(hello);
      const reply = accept(hello);
      if (typeof reply === 'object' && 'handTo' in reply) {
        const peer = handOver(socket, received, reply.handTo);
        peers.add(peer);
        peer.on('close', () => peers.delete(peer));
      } else act(socket, reply);
    };
    socket.on('data', read);
  });
  const endpoint = await listen(server);
  return {
    ...endpoint,
    url: endpoint.url.replace('http:', 'https:'),
    hellos,
    async close() {
      for (const peer of peers) peer.destroy();
      await endpoint.close();
    },
  };
}

function act(socket: Socket, reply: Exclude<ScriptedReply, { readonly handTo: number }>): void {
  if (reply === 'silence') return;
  if (reply === 'close') return void socket.end();
  if (reply === 'reset') return void socket.resetAndDestroy();
  const [piece, ...rest] = reply.send;
  if (piece !== undefined) {
    // Each write waits for the previous one, so that each piece is a packet.
    socket.write(piece, () => setImmediate(() => act(socket, { ...reply, send: rest })));
  } else if (reply.andThen === 'close') socket.end();
  else if (reply.andThen === 'reset') socket.resetAndDestroy();
}

function handOver(socket: Socket, received: Buffer, port: number): Socket {
  socket.pause();
  const peer = connect({ port, host: '127.0.0.1', noDelay: true }, () => {
    peer.write(received);
    socket.pipe(peer).pipe(socket);
  });
  peer.on('error', () => socket.destroy());
  socket.on('close', () => peer.destroy());
  peer.on('close', () => socket.destroy());
  return peer;
}

export interface Grant extends HelloFields {
  readonly certificates?: readonly Uint8Array[];
  /** Requests a client certificate from these CAs (DER names). */
  readonly authorities?: readonly Uint8Array[];
  readonly stapled?: boolean;
  /** Maximum size of a record, in bytes. Default: one record for everything. */
  readonly recordSize?: number;
  /** Omits the end of the flight. */
  readonly unfinished?: boolean;
  /** Warnings (alert numbers) before the flight. */
  readonly warnings?: readonly number[];
}

/**
 * Returns the records of a flight that grants a version and a suite. For TLS 1.3, this is only the ServerHello, because
 * the rest is encrypted.
 */
export function flight(grant: Grant): Buffer[] {
  const { version, certificates = [], authorities, stapled, recordSize, unfinished, warnings = [] } = grant;
  const messages = [serverHello(grant)];
  if (version !== 'TLSv1.3') {
    if (certificates.length > 0) messages.push(certificateMessage(certificates));
    if (stapled) messages.push(certificateStatus());
    if (authorities !== undefined) messages.push(certificateRequest(authorities, version));
    if (!unfinished) messages.push(serverHelloDone());
  }
  return [...warnings.map((number) => alertRecord(number, 1, version)), ...records(messages, version, recordSize)];
}

/** Creates a reply that accepts the hello. */
export function grants(grant: Grant): ScriptedReply {
  return { send: flight(grant) };
}

/** Creates a reply that rejects the hello with a fatal alert and closes the connection. */
export function refuses(number: number, version: TlsVersion = 'TLSv1.2'): ScriptedReply {
  return { send: [alertRecord(number, 2, version)], andThen: 'close' };
}

const RENEGOTIATION_SCSV = 0x00ff;
const MODERN_SUITES: ReadonlySet<number> = new Set([
  0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0x009e, 0x009f,
]);

/**
 * Returns whether a correct client could have sent this hello: TLS 1.2 or 1.3, at least one modern suite, no
 * compression.
 */
function isModernHello({ version, versions, suites, compressions }: ParsedHello): boolean {
  const recent = version === 0x0303 && (versions.length === 0 || versions.some((number) => number >= 0x0303));
  return recent && compressions.every((method) => method === 0) && suites.some((suite) => MODERN_SUITES.has(suite));
}

/**
 * Starts a server that is correct except for `also`, which may answer hellos that no correct client sends. All other
 * connections go to the real server on `port`.
 */
export function startRightTlsThatAlso(
  port: number,
  also: (hello: ParsedHello) => ScriptedReply | null,
): Promise<ScriptedTls> {
  return startScriptedTls({ accept: (hello) => (isModernHello(hello) ? null : also(hello)) ?? { handTo: port } });
}

/** Returns a function for `also` that accepts the first of these suites that is offered. */
export function grantsSuite(suites: readonly number[], grant: Omit<Grant, 'suite'>) {
  return (hello: ParsedHello): ScriptedReply | null => {
    const suite = hello.suites.find((id) => id !== RENEGOTIATION_SCSV && suites.includes(id));
    return suite === undefined ? null : grants({ ...grant, suite });
  };
}
