/** Receivers whose connections end in other ways. A receiver may close a connection whenever it has answered. */
import { createServer, type RequestListener, type Server } from 'node:http';
import { type CorrectOptions, type CorrectReceiver, listenOn, statusOf } from './correct-receiver.ts';

function connected(name: string, title: string, make: (options: CorrectOptions) => Server): CorrectReceiver {
  return { name, title, start: (options) => listenOn(make(options)) };
}

/** Creates a receiver that answers after `delay` milliseconds, and then changes the connection. */
function answering(options: CorrectOptions, after: RequestListener = () => {}, delay = () => 0): RequestListener {
  return (req, res) => {
    const reply = (status: number) => {
      res.once('finish', () => after(req, res));
      res.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    };
    statusOf(req, options).then(
      (status) => {
        const wait = delay();
        if (wait === 0) reply(status);
        else setTimeout(reply, wait, status);
      },
      () => res.destroy(),
    );
  };
}

export const connections: readonly CorrectReceiver[] = [
  connected(
    'closes-unannounced',
    'Closes the connection after each answer without announcing it in a header.',
    (options) => createServer(answering(options, ({ socket }) => socket.end())),
  ),
  connected('impatient', 'Closes connections after 5 ms of idle time without announcing it.', (options) => {
    const decide = answering(options);
    const server = createServer((req, res) => {
      // By default, Node announces its keep-alive timeout.
      res.setHeader('Connection', 'keep-alive');
      decide(req, res);
    });
    server.keepAliveTimeout = 5;
    return server;
  }),
  connected('three-requests', 'Closes each connection with the third answer.', (options) => {
    const server = createServer(answering(options));
    server.maxRequestsPerSocket = 3;
    return server;
  }),
  connected('uneven', 'Needs up to 30 ms for an answer, so that answers overtake each other.', (options) =>
    createServer(answering(options, undefined, () => Math.floor(Math.random() * 30))),
  ),
  connected('many-writes', 'Sends each answer byte by byte.', (options) =>
    createServer((req, res) => {
      statusOf(req, options).then(
        (status) => {
          res.socket?.setNoDelay(true);
          res.writeHead(status, { 'Content-Type': 'text/plain', 'Content-Length': 8 });
          for (const letter of 'answered') res.write(letter);
          res.end();
        },
        () => res.destroy(),
      );
    }),
  ),
];
