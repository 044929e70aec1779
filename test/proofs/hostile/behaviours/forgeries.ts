/**
 * Endpoints that accept what is rightly signed, so that the run goes on, and do something hostile to each forged
 * delivery: the whole catalogue meets it, hundreds of times.
 */
import type { Socket } from 'node:net';
import { hmacOf } from '../../../endpoints/verifying.ts';
import { answer, type Behaviour, flood, onConnection, onRequests } from '../behaviour.ts';

function isRight(piece: Buffer, secret: string): boolean {
  const [head = '', body = ''] = piece.toString('latin1').split('\r\n\r\n');
  const [, signature] = /^x-service-signature: (\S+)\r?$/im.exec(head) ?? [];
  return signature === hmacOf(secret, Buffer.from(body, 'latin1')).toString('base64');
}

function toForgeries(name: string, what: string, act: (socket: Socket) => void): Behaviour {
  return onConnection(name, `accepts what is rightly signed, and ${what}`, (socket, _nth, { secret }) =>
    onRequests(socket, (_count, piece) => {
      if (isRight(piece, secret)) socket.write(answer(200));
      else act(socket);
    }),
  );
}

const CHUNKED = 'HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n';

export const FORGERIES: readonly Behaviour[] = [
  toForgeries('forgeries-silence', 'leaves everything else without an answer', () => {}),
  toForgeries('forgeries-drip', 'refuses everything else a byte every 50 ms', (socket) => {
    socket.write('HTTP/1.1 401 No\r\nContent-Length: 100000\r\n\r\n');
    flood(socket, 'x', 50);
  }),
  toForgeries('forgeries-endless-headers', 'refuses everything else with headers without end', (socket) => {
    socket.write('HTTP/1.1 401 No\r\n');
    flood(socket, 'X-More: and more\r\n'.repeat(500));
  }),
  toForgeries('forgeries-interim', 'says 100 Continue to everything else, without end', (socket) =>
    flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(500)),
  ),
  toForgeries('forgeries-endless-body', 'refuses everything else with a body that does not end', (socket) => {
    socket.write('HTTP/1.1 401 No\r\n\r\n');
    flood(socket, Buffer.alloc(65_536, 'x'));
  }),
  toForgeries('forgeries-chunks', 'refuses everything else with chunks of one byte without end', (socket) => {
    socket.write(CHUNKED);
    flood(socket, '1\r\nc\r\n'.repeat(2_000));
  }),
  toForgeries('forgeries-blank-lines', 'sends blank lines to everything else, without end', (socket) =>
    flood(socket, '\r\n'.repeat(8_192)),
  ),
  toForgeries('forgeries-junk', 'answers everything else with 60 kB of noise', (socket) =>
    socket.end(Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7919) % 256))),
  ),
  toForgeries('forgeries-upgrade', 'answers everything else with 101 and a flood', (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n');
    flood(socket, Buffer.alloc(16_384, 0x81));
  }),
  toForgeries('forgeries-reset', 'resets the connection of everything else', (socket) => socket.resetAndDestroy()),
  toForgeries('forgeries-half-answers', 'refuses everything else with half an answer', (socket) =>
    socket.end('HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\nhalf'),
  ),
  toForgeries('forgeries-redirect', 'redirects everything else to the metadata of the cloud', (socket) =>
    socket.write(answer(302, '', ['Location: http://169.254.169.254/latest/meta-data/'])),
  ),
  toForgeries('forgeries-poison', 'rejects everything else, and sends an unexpected 200 afterwards', (socket) => {
    socket.write(answer('401 No', ''));
    setTimeout(() => socket.writable && socket.write(answer(200, '')), 5);
  }),
];
