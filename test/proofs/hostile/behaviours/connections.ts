/** Endpoints that accept, keep and end connections in unusual ways, or answer just in time. */
import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '../../../endpoints/listen.ts';
import { answer, type Behaviour, onConnection, onRequests, type RunningEndpoint } from '../behaviour.ts';

const OK = answer(200);
const ignore = () => {};

/** Answers every request with 200. */
function accepting(socket: Socket): void {
  onRequests(socket, () => socket.write(OK));
}

/** Crashes after this many requests, and listens on the same port again after a delay, or never. */
async function crashesAfter(requests: number, backAfterMs: number | null): Promise<RunningEndpoint> {
  let seen = 0;
  const sockets = new Set<Socket>();
  const make = (): Server =>
    createServer((socket) => {
      sockets.add(socket);
      socket.on('error', ignore);
      socket.on('close', () => sockets.delete(socket));
      onRequests(socket, () => {
        seen += 1;
        if (seen === requests) crash();
        else socket.write(OK);
      });
    });
  let server = make();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const crash = () => {
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
    if (backAfterMs === null) return;
    timer = setTimeout(() => {
      server = make();
      server.on('error', ignore);
      server.listen(port, '127.0.0.1');
    }, backAfterMs);
  };
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    close: async () => {
      clearTimeout(timer);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export const CONNECTIONS: readonly Behaviour[] = [
  {
    name: 'nothing-listens',
    what: 'the port is closed',
    start: async () => {
      const endpoint = await onConnection('', '', ignore).start({} as never);
      await endpoint.close();
      return { ...endpoint, close: async () => {} };
    },
  },
  onConnection('closes-at-once', 'accepts the connection and closes it', (socket) => socket.end()),
  onConnection('resets-at-once', 'accepts the connection and resets it', (socket) => socket.resetAndDestroy()),
  onConnection('never-answers', 'reads everything and never answers', (socket) => socket.resume()),
  onConnection('never-reads', 'accepts the connection and never reads from it', (socket) => socket.pause()),
  onConnection('half-closes', 'half-closes the connection at once, and keeps reading', (socket) => {
    socket.resume();
    socket.end();
  }),
  onConnection('resets-in-head', 'resets in the middle of the head of its answer', (socket) =>
    onRequests(socket, () => socket.write('HTTP/1.1 200 OK\r\nContent-', () => socket.resetAndDestroy())),
  ),
  onConnection('closes-in-body', 'closes in the middle of the body of its answer', (socket) =>
    onRequests(socket, () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')),
  ),
  onConnection('resets-after-answer', 'answers 200 and then resets the connection', (socket) =>
    onRequests(socket, () => socket.write(OK, () => setTimeout(() => socket.resetAndDestroy(), 1))),
  ),
  onConnection('answers-before-request', 'sends a 200 before any request', (socket) => {
    socket.write(OK);
    accepting(socket);
  }),
  onConnection('differs-per-connection', 'differs by connection: 200, reset, silence, not HTTP, 500', (socket, nth) => {
    const kind = nth % 5;
    if (kind === 1) socket.resetAndDestroy();
    else if (kind === 2) socket.resume();
    else if (kind === 3) onRequests(socket, () => socket.end('SSH-2.0-nonsense\r\n\r\n'));
    else onRequests(socket, () => socket.write(kind === 0 ? OK : answer(500)));
  }),
  onConnection(
    'silent-after-a-while',
    'answers on nine connections, then accepts more and never answers',
    (socket, nth) => {
      let left = nth < 9 ? 6 : 0;
      onRequests(socket, () => {
        left -= 1;
        if (left >= 0) socket.write(OK);
      });
    },
  ),
  {
    name: 'falls-and-comes-back',
    what: 'crashes at the 60th request and is back after 150 ms',
    start: () => crashesAfter(60, 150),
  },
  { name: 'falls-for-good', what: 'crashes at the 60th request and stays down', start: () => crashesAfter(60, null) },
];

/** Answers everything with 200 after a delay, so that a whole run would take hours. */
function slowly(afterMs: number): Behaviour['start'] {
  return () =>
    listen(
      createServer((socket) =>
        onRequests(socket, () => {
          setTimeout(() => socket.writable && socket.write(answer(200)), afterMs);
        }),
      ),
    );
}

export const PACE: readonly Behaviour[] = [
  {
    name: 'just-in-time',
    what: 'accepts everything after three quarters of the time limit; the run is limited to 8 s',
    flags: ['--max-time', '8s'],
    start: slowly(300),
  },
  {
    name: 'every-other-in-time',
    what: 'accepts every other request at once, and the others just too late',
    start: () => {
      let nth = 0;
      return listen(
        createServer((socket) =>
          onRequests(socket, () => {
            nth += 1;
            setTimeout(() => socket.writable && socket.write(answer(200)), nth % 2 === 0 ? 450 : 0);
          }),
        ),
      );
    },
  },
];
