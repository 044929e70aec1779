/** The sender must read an answer as Node's HTTP client does, because it reads most answers without that client. */
import { createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { createSender } from '../../../harness/sender/index.ts';
import { type Attempt, createConnections, exchange, type Prepared } from '../../../harness/transport/index.ts';
import { edited, type FuzzTarget, fuzzTarget, must } from './target.ts';

const LIMITS = { bodyCapBytes: 200, maxHeaderBytes: 1_000 };

const ORDINARY = [
  'HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 2\r\nDate: x\r\n' +
    'Connection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\nok',
  'HTTP/1.1 401 Unauthorized\r\nX-Empty:\r\nX-Blank:  \t a b \t\r\nX-High: \xff\xe9\r\nContent-Length: 0\r\n' +
    'Connection: close\r\n\r\n',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n',
  `HTTP/1.1 200 OK\r\nContent-Length: 210\r\n\r\n${'x'.repeat(210)}`,
  'HTTP/1.1 500\r\ncontent-length: 5\r\n\r\nhello',
  'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
];

const WORDS = [
  ...['\r\n', '\r\n\r\n', '\n', '\r', ' ', '\t', ':', '\0', '\x7f', '\xff', 'x', '9', '0', '-', '+', ','],
  ...['Content-Length: 2\r\n', 'Content-Length: 0\r\n', 'Content-Length: 1e1\r\n', 'content-length: 5\r\n'],
  ...['Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip\r\n', 'Upgrade: x\r\n', 'Trailer: X-A\r\n'],
  ...[
    'Connection: upgrade\r\n',
    'Connection: close, keep-alive\r\n',
    'Keep-Alive: timeout=1\r\n',
    'X-A : b\r\n',
    ' b\r\n',
  ],
  ...[
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 304 Not Modified\r\n',
    'HTTP/1.1 099 \r\n',
    'HTTP/2.0 200 OK\r\n',
    'HTTP/1.1  200',
  ],
];

const sender = fuzzTarget(
  {
    name: 'sender-answer',
    shows: "an HTTP answer as the sender reads it and as Node's HTTP client does: the same answer, or the same error",
    shortRuns: 200,
  },
  async () => {
    let bytes = Buffer.alloc(0);
    let cut = 0;
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => {});
      socket.setNoDelay(true);
      socket.once('data', async () => {
        socket.write(bytes.subarray(0, cut));
        await nextTurn();
        socket.end(bytes.subarray(cut));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const prepared: Prepared = {
      url: `http://127.0.0.1:${port}/hooks`,
      method: 'POST',
      target: '/hooks',
      headers: [
        ['Host', `127.0.0.1:${port}`],
        ['Content-Length', '2'],
      ],
      body: Buffer.from('{}'),
    };
    const ours = createSender(LIMITS);
    const nodes = createConnections();
    return {
      input: fc.record({
        bytes: edited(fc.constantFrom(...ORDINARY.map((text) => Buffer.from(text, 'latin1'))), WORDS.map(latin1), 4),
        cut: fc.oneof(fc.constant(0), fc.nat(300)),
      }),
      async check(given) {
        bytes = Buffer.from(given.bytes);
        cut = Math.min(given.cut, bytes.length);
        const [one, other] = [
          await ours.deliver(prepared),
          await exchange(prepared, { agent: nodes.agentFor(prepared.url), ...LIMITS }),
        ];
        must(shown(one) === shown(other), `the sender: ${shown(one)}; Node: ${shown(other)}`);
      },
      stop() {
        ours.close();
        nodes.close();
        for (const socket of sockets) socket.destroy();
        server.close();
      },
    };
  },
);

function latin1(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function shown({ answer, error }: Attempt): string {
  const body = answer === null ? null : Buffer.from(answer.body).toString('latin1');
  return JSON.stringify({ answer: answer && { ...answer, body }, error });
}

export const SENDER_TARGETS: readonly FuzzTarget[] = [sender];
