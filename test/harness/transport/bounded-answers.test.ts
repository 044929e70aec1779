/** Reading an answer is bounded in every respect, and ends long before the time limit. */
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSender, deliver } from '../../../harness/sender/index.ts';
import { createConnections, exchange } from '../../../harness/transport/index.ts';
import { rawServer, replying, request } from './servers.ts';

/** Writes as fast as the other side reads. */
function flood(socket: Socket, piece: string): void {
  const next = (): void => {
    if (socket.destroyed) return;
    if (socket.write(piece)) setImmediate(next);
    else socket.once('drain', next);
  };
  next();
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const TIMEOUT_MS = 15_000;

async function outcomeOf(answer: (socket: Socket) => void) {
  const url = await rawServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  const sender = createSender({ timeoutMs: TIMEOUT_MS });
  const { answer: got, error, timings } = await sender.deliver(request(url));
  sender.close();
  expect(timings.totalMs).toBeLessThan(TIMEOUT_MS / 2);
  return { status: got?.status, truncated: got?.truncated, error: error?.kind };
}

describe('an answer without end', () => {
  const cut = { status: 200, truncated: true, error: undefined };
  const none = (error: string) => ({ status: undefined, truncated: undefined, error });
  it.each<[string, string, string, object]>([
    ['of interim answers', '', 'HTTP/1.1 100 Continue\r\n\r\n', none('headers-too-large')],
    ['of blank lines', '', '\r\n'.repeat(1_000), none('headers-too-large')],
    ['of headers', 'HTTP/1.1 200 OK\r\n', 'X-A: b\r\n', none('headers-too-large')],
    ['of trailers', `${CHUNKED}0\r\n`, 'X-A: b\r\n', none('headers-too-large')],
    ['of one chunk extension', `${CHUNKED}1;`, 'e'.repeat(1_000), none('invalid-http')],
    ['of chunk extensions', CHUNKED, `1;${'e'.repeat(1_000)}\r\nx\r\n`, cut],
    ['of zeros for a chunk size', CHUNKED, '0'.repeat(1_000), cut],
    ['of chunks of one byte', CHUNKED, '1\r\nx\r\n'.repeat(500), cut],
    ['of a body', 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(1_000), cut],
  ])('%s', async (_, head, piece, expected) => {
    expect(
      await outcomeOf((socket) => {
        socket.write(head);
        flood(socket, piece);
      }),
    ).toEqual(expected);
  });

  it('of 900 lines of headers is read, and about 256 of them are kept', async () => {
    const url = await replying(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${'A: 1\r\n'.repeat(900)}\r\nok`);
    const { answer } = await deliver(request(url));
    expect(answer?.body.toString()).toBe('ok');
    expect(answer?.headers.length).toBeGreaterThanOrEqual(256);
    expect(answer?.headers.length).toBeLessThan(300);
  });

  it.each([
    [16, 200, undefined],
    [17, undefined, 'headers-too-large'],
  ])('of %i interim answers before the last', async (count, status, error) => {
    const answer = `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(count)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`;
    expect(await outcomeOf((socket) => socket.write(answer))).toMatchObject({ status, error });
  });

  it.each([
    [10_000, false],
    [10_001, true],
  ])('of %i chunks', async (count, truncated) => {
    const url = await replying(`${CHUNKED}${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`);
    const { answer } = await deliver(request(url), { timeoutMs: TIMEOUT_MS });
    expect({ body: answer?.body.toString(), truncated: answer?.truncated }).toEqual({
      body: 'x'.repeat(count),
      truncated,
    });
  });

  it.each([
    [0, true],
    [1, false],
  ])('of %i bytes above the limit on the wire', async (more, complete) => {
    const limits = { maxHeaderBytes: 200, bodyCapBytes: 10 };
    const [start, end] = [`${CHUNKED}1;`, '\r\nx\r\n0\r\n\r\n'];
    const length = 4 * limits.maxHeaderBytes + 8 * limits.bodyCapBytes + more;
    const url = await replying(`${start}${'e'.repeat(length - start.length - end.length)}${end}`);
    const { answer } = await deliver(request(url), { ...limits, timeoutMs: TIMEOUT_MS });
    expect(answer?.truncated === false).toBe(complete);
  });

  it('may have more headers than its body may have bytes', async () => {
    const url = await replying(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(5_000)}\r\nContent-Length: 2\r\n\r\nok`);
    const { answer } = await deliver(request(url), { bodyCapBytes: 100 });
    expect([answer?.body.length, answer?.truncated]).toEqual([2, false]);
  });

  it('in another protocol: the connection is closed', async () => {
    let closed: Promise<unknown> | undefined;
    const outcome = await outcomeOf((socket) => {
      closed = new Promise((resolve) => socket.on('close', resolve));
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
      flood(socket, 'x'.repeat(1_000));
    });
    await closed;
    expect(outcome.status).toBe(101);
  });
});

describe('unsolicited bytes on a kept connection', () => {
  it.each(['a sender', 'an agent'])('are not the answer to the next request of %s', async (way) => {
    let connections = 0;
    let poisoned: () => void = () => {};
    const sent = new Promise<void>((resolve) => {
      poisoned = resolve;
    });
    const url = await rawServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      socket.on('data', () => {
        socket.write('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n');
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'), 5);
        socket.on('close', poisoned);
      });
    });
    const [sender, agents] = [createSender({ timeoutMs: TIMEOUT_MS }), createConnections()];
    const send = () =>
      way === 'a sender'
        ? sender.deliver(request(url))
        : exchange(request(url), { agent: agents.agentFor(url), timeoutMs: TIMEOUT_MS });
    const first = await send();
    await sent;
    const second = await send();
    sender.close();
    agents.close();
    expect([first.answer?.status, second.answer?.status, connections]).toEqual([401, 401, 2]);
  });
});
