/**
 * Endpoints that accept correctly signed deliveries, so that the run continues, and do something hostile to each forged
 * one, hundreds of times in a run.
 */
import type { Socket } from 'node:net';
import { hmacOf } from '../../../endpoints/verifying.ts';
import { answer, type Behaviour, flood, onConnection, onRequests } from '../behaviour.ts';

export function isCorrectlySigned(piece: Buffer, secret: string): boolean {
  const [head = '', body = ''] = piece.toString('latin1').split('\r\n\r\n');
  const [, signature] = /^x-service-signature: (\S+)\r?$/im.exec(head) ?? [];
  return signature === hmacOf(secret, Buffer.from(body, 'latin1')).toString('base64');
}

function toForgeries(name: string, what: string, act: (socket: Socket) => void): Behaviour {
  return onConnection(name, `accepts correctly signed deliveries, and ${what}`, (socket, _nth, { secret }) =>
    onRequests(socket, (_count, piece) => {
      if (isCorrectlySigned(piece, secret)) socket.write(answer(200));
      else act(socket);
    }),
  );
}

const CHUNKED = 'HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n';

export const FORGERIES: readonly Behaviour[] = [
  toForgeries('forgeries-silence', 'never answers others', () => {}),
  toForgeries('forgeries-drip', 'rejects others with a byte every 50 ms', (socket) => {
    socket.write('HTTP/1.1 401 No\r\nContent-Length: 100000\r\n\r\n');
    flood(socket, 'x', 50);
  }),
  toForgeries('forgeries-endless-headers', 'rejects others with endless headers', (socket) => {
    socket.write('HTTP/1.1 401 No\r\n');
    flood(socket, 'X-More: and more\r\n'.repeat(500));
  }),
  toForgeries('forgeries-interim', 'sends 100 Continue endlessly to others', (socket) =>
    flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(500)),
  ),
  toForgeries('forgeries-endless-body', 'rejects others with an endless body', (socket) => {
    socket.write('HTTP/1.1 401 No\r\n\r\n');
    flood(socket, Buffer.alloc(65_536, 'x'));
  }),
  toForgeries('forgeries-chunks', 'rejects others with endless chunks of one byte', (socket) => {
    socket.write(CHUNKED);
    flood(socket, '1\r\nc\r\n'.repeat(2_000));
  }),
  toForgeries('forgeries-blank-lines', 'sends endless blank lines to others', (socket) =>
    flood(socket, '\r\n'.repeat(8_192)),
  ),
  toForgeries('forgeries-junk', 'answers others with 60 kB of random bytes', (socket) =>
    socket.end(Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7919) % 256))),
  ),
  toForgeries('forgeries-upgrade', 'answers others with 101 and a flood', (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n');
    flood(socket, Buffer.alloc(16_384, 0x81));
  }),
  toForgeries('forgeries-reset', 'resets the connection of others', (socket) => socket.resetAndDestroy()),
  toForgeries('forgeries-half-answers', 'rejects others with half an answer', (socket) =>
    socket.end('HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\nhalf'),
  ),
  toForgeries('forgeries-redirect', 'redirects others to the cloud metadata service', (socket) =>
    socket.write(answer(302, '', ['Location: http://169.254.169.254/latest/meta-data/'])),
  ),
  toForgeries('forgeries-poison', 'rejects others, and sends an unexpected 200 afterwards', (socket) => {
    socket.write(answer('401 No', ''));
    setTimeout(() => socket.writable && socket.write(answer(200, '')), 5);
  }),
];
