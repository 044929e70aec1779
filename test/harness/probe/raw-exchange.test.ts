import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { rawExchange } from '../../../harness/probe/raw-exchange.ts';
import { type Endpoint, listen } from '../../endpoints/listen.ts';

const open: Endpoint[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((endpoint) => endpoint.close()));
});

async function exchanged(reply: (socket: Socket, received: Buffer) => void, options = {}) {
  const endpoint = await listen(createServer((socket) => socket.once('data', (data) => reply(socket, data))));
  open.push(endpoint);
  const bytes = Buffer.from('POST / HTTP/1.1\r\nBad Line\r\n\r\n');
  const limits = { timeoutMs: 1000, bodyCapBytes: 10, ...options };
  const { answer, error } = await rawExchange(endpoint.url, { url: endpoint.url }, bytes, limits);
  const { status, headers, truncated } = answer ?? {};
  return { status, headers, body: answer?.body.toString(), truncated, error: error?.kind ?? null };
}

const attemptWith = (status: number, body: string, headers: [string, string][] = [], truncated = false) => ({
  status,
  headers,
  body,
  truncated,
  error: null,
});
const none = (error: string) => ({
  status: undefined,
  headers: undefined,
  body: undefined,
  truncated: undefined,
  error,
});

describe('rawExchange', () => {
  it('sends exactly the bytes', async () => {
    let sent = '';
    await exchanged((socket, data) => {
      sent = data.toString();
      socket.end('HTTP/1.1 200 OK\r\n\r\n');
    });
    expect(sent).toBe('POST / HTTP/1.1\r\nBad Line\r\n\r\n');
  });

  it('ends its half of the connection where asked, and still reads the answer', async () => {
    const got = await exchanged(
      (socket) => {
        socket.on('end', () => socket.end('HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n'));
        socket.resume();
      },
      { end: true },
    );
    expect(got.status).toBe(400);
  });

  it('reads an answer with Content-Length without waiting for the end of the connection', async () => {
    const got = await exchanged((socket) =>
      socket.write('HTTP/1.1 400 Bad\r\nContent-Length: 2\r\nX-A:  b \r\n\r\nhi'),
    );
    expect(got).toEqual(
      attemptWith(400, 'hi', [
        ['Content-Length', '2'],
        ['X-A', 'b'],
      ]),
    );
  });

  it('reads an answer that arrives byte by byte, and one without reason or length', async () => {
    const bytes = Buffer.from('HTTP/1.0 431\r\n\r\nlong');
    const got = await exchanged((socket) => {
      const next = (at: number): void => {
        if (at === bytes.length) socket.end();
        else socket.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1));
      };
      next(0);
    });
    expect(got).toEqual(attemptWith(431, 'long'));
  });

  it('skips interim answers', async () => {
    const got = await exchanged((socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 No\r\n\r\n'));
    expect(got).toEqual(attemptWith(401, ''));
  });

  it('truncates a long body', async () => {
    const got = await exchanged((socket) => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(100)}`));
    expect(got).toEqual(attemptWith(200, 'x'.repeat(10), [], true));
  });

  it.each<[string, (socket: Socket) => void, string]>([
    ['a closed connection', (socket) => socket.end(), 'reset'],
    ['a reset', (socket) => socket.resetAndDestroy(), 'reset'],
    ['no answer', () => {}, 'timeout'],
    ['an answer that stops in its head', (socket) => socket.write('HTTP/1.1 200 OK\r\n'), 'timeout'],
    ['half a head', (socket) => socket.end('HTTP/1.1 200 OK\r\n'), 'invalid-http'],
    ['no HTTP', (socket) => socket.end('SSH-2.0-x\r\n\r\n'), 'invalid-http'],
    ['a status that is none', (socket) => socket.end('HTTP/1.1 20 OK\r\n\r\n'), 'invalid-http'],
  ])('%s', async (_, reply, error) => {
    expect(await exchanged(reply, { timeoutMs: 150 })).toEqual(none(error));
  });

  it('reports a refused connection', async () => {
    const endpoint = await listen(createServer());
    await endpoint.close();
    const { error } = await rawExchange(endpoint.url, { url: endpoint.url }, Buffer.from('x'), {
      timeoutMs: 1000,
      bodyCapBytes: 10,
    });
    expect(error?.kind).toBe('refused');
  });

  it('ends at once when the signal is aborted', async () => {
    const closing = new AbortController();
    expect(await exchanged(() => closing.abort(), { signal: closing.signal, timeoutMs: 15_000 })).toEqual(
      none('reset'),
    );
    expect(await exchanged(() => {}, { signal: closing.signal, timeoutMs: 15_000 })).toEqual(none('reset'));
  });
});
