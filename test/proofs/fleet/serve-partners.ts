/** A process that serves many partners of a test fleet, each on its own port. A message tells it what to serve. */
import { createServer as createTlsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { createServer as createRawTls, type TLSSocket } from 'node:tls';
import { FAULTS, startFaultyReceiver } from '../../../mutants/index.ts';
import { startReceiver } from '../../../receiver/index.ts';
import type { Kind } from './kinds.ts';

export interface ToServe {
  readonly kinds: readonly Kind[];
  readonly secrets: readonly string[];
  readonly tls: { readonly cert: string; readonly key: string };
}

const NASTY = '\x1b[2J\x1b]0;owned\x07<script>alert(1)</script>=HYPERLINK("http://x")\u202e]]>\r\n::error::x';

function listening(server: Server | HttpsServer): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** A TLS server that does not speak HTTP by itself. */
function raw(tls: ToServe['tls'], talk: (socket: TLSSocket) => void): Promise<number> {
  return listening(
    createRawTls(tls, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => talk(socket));
    }),
  );
}

/**
 * A port on which nothing is listening: the system assigns no ports below 1024. A port that was just free may be
 * assigned to another partner or connection.
 */
const CLOSED_PORT = 9;

async function serve({ behaviour, fault }: Kind, secret: string, tls: ToServe['tls']): Promise<number> {
  switch (behaviour) {
    case 'closed':
      return CLOSED_PORT;
    case 'silent':
      return listening(createServer((socket) => socket.on('error', () => {})));
    case 'mute-tls':
      return listening(createTlsServer(tls, () => {}));
    case 'escapes':
      return raw(tls, (socket) => {
        const body = NASTY.repeat(50);
        const head = `HTTP/1.1 500 \x1b[31mNo\r\nX-Nasty: <img src=x>\r\nContent-Length: ${Buffer.byteLength(body)}`;
        socket.end(`${head}\r\n\r\n${body}`);
      });
    case 'garbage':
      return raw(tls, (socket) => socket.end(`\x00\xff${NASTY.repeat(20)}`));
    case 'endless':
      return raw(tls, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        const piece = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
        const pour = () => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on('drain', pour);
        pour();
      });
    case 'huge-headers':
      return raw(tls, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const pour = () => {
          while (!socket.destroyed && socket.write(`X-A: ${'y'.repeat(4000)}\r\n`));
        };
        socket.on('drain', pour);
        pour();
      });
    case 'drip':
      return raw(tls, (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const timer = setInterval(() => socket.write('X'), 100);
        socket.on('close', () => clearInterval(timer));
      });
    default: {
      const options = { signing: { secrets: [secret] }, tls, host: '127.0.0.1', port: 0 };
      const found = FAULTS.find(({ name }) => name === fault);
      if (fault !== undefined && found === undefined) throw new Error(`no fault ${fault}`);
      const { url } = found === undefined ? await startReceiver(options) : await startFaultyReceiver(found, options);
      return Number(new URL(url).port);
    }
  }
}

process.on('message', async ({ kinds, secrets, tls }: ToServe) => {
  const ports: number[] = [];
  for (const [at, kind] of kinds.entries()) ports.push(await serve(kind, secrets[at]!, tls));
  process.send?.(ports);
});
process.on('disconnect', () => process.exit());
