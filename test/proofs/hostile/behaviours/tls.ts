/** Endpoints that are hostile in TLS. */
import { createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { listen } from '../../../endpoints/listen.ts';
import { answer, type Behaviour, flood, onConnection, onRequests, onSecureConnection } from '../behaviour.ts';

const secure = (name: string, what: string, serve: Parameters<typeof onConnection>[2]): Behaviour =>
  onConnection(name, what, serve, true);
const after = (socket: Parameters<typeof flood>[0], act: () => void) => socket.once('data', act);

/** A handshake record with the beginning of an endless message. */
const HALF_CERTIFICATE = Buffer.concat([Buffer.from('16030340000bffffff00ffff', 'hex'), Buffer.alloc(0x4000 - 7)]);
const EMPTY_RECORD = Buffer.from('1603030000', 'hex');
const WARNING = Buffer.from('15030300020164', 'hex');
const FATAL = Buffer.from('15030300020228', 'hex');

/** Sends the certificate of the server 200 times. */
const hugeChain: Behaviour = {
  name: 'tls-huge-chain',
  what: 'serves its certificate 200 times as its chain',
  start: ({ cert, key, ...rest }) =>
    onSecureConnection('', '', (socket) => onRequests(socket, () => socket.write(answer(200)))).start({
      ...rest,
      key,
      cert: cert.repeat(200),
    }),
};

/** Wraps the TCP socket itself, so that it can write bytes past TLS. */
const garbageAfterHandshake: Behaviour = {
  name: 'tls-garbage-after-handshake',
  what: 'finishes the handshake and then sends bytes that are not records',
  start: async ({ cert, key }) => {
    const { port, close } = await listen(
      createServer((raw) => {
        const socket = new TLSSocket(raw, { isServer: true, cert, key });
        socket.on('error', () => {});
        socket.on('data', () => raw.write(Buffer.alloc(20_000, 0xaa)));
      }),
    );
    return { url: `https://127.0.0.1:${port}/hooks`, close };
  },
};

export const TLS: readonly Behaviour[] = [
  secure('tls-junk', 'answers a hello with 16 kB of garbage', (socket) =>
    after(socket, () => socket.write(Buffer.alloc(16_384, 0x77))),
  ),
  secure('tls-silence', 'accepts a hello and never answers', (socket) => socket.resume()),
  secure('tls-drip', 'answers a hello a byte every 50 ms', (socket) =>
    after(socket, () => flood(socket, Buffer.from([0x16]), 50)),
  ),
  secure('tls-plain-http', 'answers plain HTTP instead of TLS', (socket) =>
    after(socket, () => socket.end(answer('400 Bad Request'))),
  ),
  secure('tls-closes', 'closes after a hello', (socket) => after(socket, () => socket.end())),
  secure('tls-resets', 'resets after a hello', (socket) => after(socket, () => socket.resetAndDestroy())),
  secure('tls-fatal-alert', 'answers a hello with a fatal alert', (socket) => after(socket, () => socket.write(FATAL))),
  secure('tls-warnings', 'answers a hello with endless warnings', (socket) =>
    after(socket, () => flood(socket, Buffer.concat(Array<Buffer>(500).fill(WARNING)))),
  ),
  secure('tls-empty-records', 'answers a hello with endless empty records', (socket) =>
    after(socket, () => flood(socket, Buffer.concat(Array<Buffer>(500).fill(EMPTY_RECORD)))),
  ),
  secure('tls-endless-message', 'answers a hello with an endless message of 16 MB', (socket) =>
    after(socket, () => flood(socket, HALF_CERTIFICATE)),
  ),
  hugeChain,
  garbageAfterHandshake,
  onSecureConnection('tls-never-answers', 'finishes the handshake, reads, and never answers', (socket) =>
    socket.resume(),
  ),
  onSecureConnection('tls-closes-after-handshake', 'finishes the handshake and closes', (socket) => socket.end()),
  onSecureConnection('tls-endless-body', 'accepts over TLS with an endless body', (socket) =>
    onRequests(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      flood(socket, Buffer.alloc(65_536, 'x'));
    }),
  ),
  onSecureConnection(
    'tls-renegotiates',
    'requests a new handshake repeatedly (TLS 1.2)',
    (socket) => {
      const again = () => {
        if (!socket.destroyed) socket.renegotiate({}, () => setTimeout(again, 1));
      };
      again();
      onRequests(socket, () => socket.write(answer(200)));
    },
    { maxVersion: 'TLSv1.2' },
  ),
  onSecureConnection('tls-accepts-all', 'accepts everything over TLS', (socket) =>
    onRequests(socket, () => socket.write(answer(200))),
  ),
];
