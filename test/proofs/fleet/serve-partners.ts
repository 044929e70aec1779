/** A process that serves many partners of a test fleet, each on its own port. A message defines what it serves. */
import { subscribe } from 'node:diagnostics_channel';
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createRawTls, type TLSSocket } from 'node:tls';
import { FAULTS, startFaultyReceiver } from '../../../mutants/index.ts';
import { startReceiver } from '../../../receiver/index.ts';
import type { Kind } from './kinds.ts';

export interface ToServe {
  readonly kinds: readonly Kind[];
  readonly secrets: readonly string[];
  readonly tls: { readonly cert: string; readonly key: string };
  /** The loopback address of each partner. */
  readonly addresses: readonly string[];
}

/** Statistics of the partners at one address. */
export interface AtAddress {
  /** Maximum number of partners that had open connections at the same time. */
  mostPartners: number;
  /** The time and the ports of this maximum, for debugging. */
  detail: string;
  connections: number;
}

const seen = new Map<string, AtAddress>();
const open = new Map<string, Map<number, number>>();

/** Counts the partners of each address that have an open connection. */
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  const { localAddress = '', localPort = 0 } = socket;
  const ports = open.get(localAddress) ?? new Map<number, number>();
  open.set(localAddress, ports);
  const at = seen.get(localAddress) ?? { mostPartners: 0, detail: '', connections: 0 };
  seen.set(localAddress, at);
  ports.set(localPort, (ports.get(localPort) ?? 0) + 1);
  at.connections += 1;
  if (ports.size > at.mostPartners) {
    at.mostPartners = ports.size;
    at.detail = `${new Date().toISOString()} ports ${[...ports.keys()].join(', ')}`;
  }
  socket.once('close', () => {
    const left = (ports.get(localPort) ?? 1) - 1;
    if (left > 0) ports.set(localPort, left);
    else ports.delete(localPort);
  });
});

const NASTY = '\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>=HYPERLINK("http://x")\u202e]]>\r\n::error::x';

function listening(server: Server | HttpsServer, address: string): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, address, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Starts a TLS server without HTTP. `talk` handles each connection. */
function raw(tls: ToServe['tls'], address: string, talk: (socket: TLSSocket) => void): Promise<number> {
  return listening(
    createRawTls(tls, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => talk(socket));
    }),
    address,
  );
}

/**
 * A port on which nothing is listening, because the system assigns no ports below 1024. A port that was just free could
 * be assigned to another partner or connection.
 */
const CLOSED_PORT = 9;

async function serve({ behaviour, fault }: Kind, secret: string, tls: ToServe['tls'], address: string) {
  switch (behaviour) {
    case 'closed':
      return CLOSED_PORT;
    case 'silent':
      return listening(
        createServer((socket) => socket.on('error', () => {})),
        address,
      );
    case 'mute-tls':
      return listening(
        createTlsServer(tls, () => {}),
        address,
      );
    case 'escapes':
      return raw(tls, address, (socket) => {
        const body = NASTY.repeat(50);
        const head = `HTTP/1.1 500 \x1b[31mNo\r\nX-Nasty: <img src=x>\r\nContent-Length: ${Buffer.byteLength(body)}`;
        socket.end(`${head}\r\n\r\n${body}`);
      });
    case 'garbage':
      return raw(tls, address, (socket) => socket.end(`\x00\xff${NASTY.repeat(20)}`));
    case 'endless':
      return raw(tls, address, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
        const pour = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on('drain', pour);
        pour();
      });
    case 'huge-headers':
      return raw(tls, address, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const pour = () => {
          while (!socket.destroyed && socket.write(`X-A: ${'y'.repeat(4000)}\r\n`));
        };
        socket.on('drain', pour);
        pour();
      });
    case 'drip':
      return raw(tls, address, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('X'), 100);
        socket.on('close', () => clearInterval(timer));
      });
    default: {
      const options = { signing: { secrets: [secret] }, tls, host: address, port: 0 };
      const found = FAULTS.find(({ name }) => name === fault);
      if (fault !== undefined && found === undefined) throw new Error(`no fault ${fault}`);
      const { url } = found === undefined ? await startReceiver(options) : await startFaultyReceiver(found, options);
      return Number(new URL(url).port);
    }
  }
}

process.on('message', async (order: ToServe | 'seen') => {
  if (order === 'seen') return process.send?.([...seen]);
  const { addresses, kinds, secrets, tls } = order;
  const ports: number[] = [];
  for (const [at, kind] of kinds.entries()) ports.push(await serve(kind, secrets[at]!, tls, addresses[at]!));
  return process.send?.(ports);
});
process.on('disconnect', () => process.exit());
