import { once } from 'node:events';
import { access } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HeaderLine } from '../../../contract/index.ts';
import { createSender, deliver } from '../../../harness/sender/index.ts';
import { type BodyWriter, createConnections, exchange } from '../../../harness/transport/index.ts';
import { certificate, httpServer, largeRequest, rawServer, replying, request, resettingServer } from './servers.ts';

describe('an answer', () => {
  it('is recorded with status, header lines as they came, body and times', async () => {
    const url = await replying('HTTP/1.1 200 Fine\r\nX-One: 1\r\nx-one: 2\r\nContent-Length: 2\r\n\r\nok');
    const before = Date.now();
    const { answer, error, startedAt, timings } = await deliver(request(url));
    expect({ answer, error }).toEqual({
      answer: {
        status: 200,
        reasonPhrase: 'Fine',
        headers: [
          ['X-One', '1'],
          ['x-one', '2'],
          ['Content-Length', '2'],
        ],
        body: Buffer.from('ok'),
        truncated: false,
      },
      error: null,
    });
    expect(new Date(startedAt).toISOString()).toBe(startedAt);
    expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(before);
    expect(timings).toMatchObject({ tlsMs: null, reused: false });
    expect(timings.connectMs).toBeGreaterThan(0);
    expect(timings.firstByteMs).toBeGreaterThanOrEqual(timings.connectMs ?? Number.NaN);
    expect(timings.totalMs).toBeGreaterThanOrEqual(timings.firstByteMs ?? Number.NaN);
  });

  it('that redirects is not followed', async () => {
    let requests = 0;
    const url = await httpServer((_request, response) => {
      requests += 1;
      response.writeHead(302, { Location: url.replace('/hooks', '/elsewhere') }).end();
    });
    expect((await deliver(request(url))).answer?.status).toBe(302);
    expect(requests).toBe(1);
  });

  it('is the one that follows 1xx answers', async () => {
    const url = await replying(
      'HTTP/1.1 100 Continue\r\n\r\n' +
        'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n' +
        'HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n',
    );
    expect((await deliver(request(url))).answer?.status).toBe(401);
  });

  it('of 101 is an answer as well, although no upgrade was requested', async () => {
    const url = await replying('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nbytes');
    expect(await deliver(request(url))).toMatchObject({ answer: { status: 101, truncated: false }, error: null });
  });

  it.each([204, 304])('of %i has no body, whatever its length says', async (status) => {
    const answer = `HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\n`;
    const url = await rawServer((socket) => socket.once('data', () => socket.write(answer)));
    expect(await deliver(request(url))).toMatchObject({ answer: { status, body: Buffer.alloc(0) }, error: null });
  });

  it('may end with the connection', async () => {
    const url = await replying('HTTP/1.1 200 OK\r\n\r\nuntil the end');
    expect((await deliver(request(url))).answer?.body.toString()).toBe('until the end');
  });
});

describe('the body of an answer', () => {
  const body = (length: number) =>
    replying(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`);

  it.each([
    ['a length', 'Content-Length: 100\r\n\r\n', ''],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n64\r\n', '\r\n0\r\n\r\n'],
  ])('is whole up to the cap, the cap included, with %s', async (_what, before, after) => {
    const url = await replying(`HTTP/1.1 200 OK\r\n${before}${'x'.repeat(100)}${after}`);
    const { answer } = await deliver(request(url), { bodyCapBytes: 100 });
    expect([answer?.body.length, answer?.truncated]).toEqual([100, false]);
  });

  it('is cut one byte above the cap', async () => {
    const { answer } = await deliver(request(await body(101)), { bodyCapBytes: 100 });
    expect([answer?.body.length, answer?.truncated]).toEqual([100, true]);
  });

  it('that never ends is cut at once, and its connection closed', async () => {
    let closed: Promise<unknown> | undefined;
    const url = await rawServer((socket) => {
      closed = new Promise((resolve) => socket.on('close', resolve));
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const more = () => {
          while (socket.writable && socket.write('x'.repeat(16_384)));
        };
        socket.on('drain', more);
        more();
      });
    });
    const sender = createSender({ timeoutMs: 15_000 });
    const { answer, error, timings } = await sender.deliver(request(url));
    expect({ error, length: answer?.body.length, truncated: answer?.truncated }).toEqual({
      error: null,
      length: 65_536,
      truncated: true,
    });
    expect(timings.totalMs).toBeLessThan(5_000);
    await closed;
    sender.close();
  });

  it('that drips past the time limit is a timeout of the answer', async () => {
    const url = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const timer = setInterval(() => socket.write('x'), 5);
        socket.on('close', () => clearInterval(timer));
      });
    });
    const { answer, error, timings } = await deliver(request(url), { timeoutMs: 80 });
    expect({ answer, error }).toMatchObject({
      answer: null,
      error: { kind: 'timeout', phase: 'answer', code: 'HOOKPROOF_TIMEOUT' },
    });
    expect(timings.firstByteMs).not.toBeNull();
  });

  it('with a tab behind its length is not HTTP, and with a space it is', async () => {
    const behind = async (blank: string) =>
      await deliver(request(await replying(`HTTP/1.1 200 OK\r\nContent-Length: 2${blank}\r\n\r\nok`)));
    expect((await behind('\t')).error?.code).toBe('HPE_INVALID_CONTENT_LENGTH');
    expect((await behind(' ')).answer?.status).toBe(200);
  });

  it('that ends before its stated length is a reset', async () => {
    const url = await replying('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort');
    expect(await deliver(request(url))).toMatchObject({ answer: null, error: { kind: 'reset', phase: 'answer' } });
  });
});

describe('an early answer', () => {
  it.each([
    ['and the connection is closed with the rest unread', true],
    ['and the connection stays open, unread', false],
  ])('to a body of 5 MB that is still being written counts, %s', async (_what, close) => {
    const url = await rawServer((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig', () => {
          if (close) socket.destroy();
        });
      });
    });
    const attempt = await deliver(largeRequest(url, 5_000_000), { timeoutMs: 5_000 });
    expect(attempt).toMatchObject({ answer: { status: 413, body: Buffer.from('big') }, error: null });
  });

  it('whose own body is cut by the reset counts with what came of it', async () => {
    const url = await rawServer((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 401 No\r\nContent-Length: 100\r\n\r\npart', () => socket.destroy());
      });
    });
    const attempt = await deliver(largeRequest(url, 5_000_000));
    expect(attempt).toMatchObject({ answer: { status: 401, body: Buffer.from('part'), truncated: true }, error: null });
  });
});

describe.each(['TCP', 'TLS'])('an early answer over %s, unread when a write fails,', (protocol) => {
  const TOO_LARGE = 'HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig';
  const large = { answer: { status: 413, body: Buffer.from('big') }, error: null };

  async function startResetting() {
    const root = await certificate('root', { isCa: true });
    const isSecure = protocol === 'TLS';
    const server = await resettingServer(isSecure ? await certificate('localhost', { ca: root }) : undefined);
    const url = isSecure ? `https://localhost:${server.port}/` : `http://127.0.0.1:${server.port}/`;
    return { server, url, tls: { ca: root.cert } };
  }

  it("counts in an exchange of Node's HTTP client", async () => {
    const { server, url, tls } = await startResetting();
    const connections = createConnections({ keepAlive: false, tls });
    const write: BodyWriter = async (outgoing, body) => {
      const reads = server.reads();
      outgoing.write(body.subarray(0, 10));
      await reads;
      server.answerAndReset(TOO_LARGE);
      outgoing.end(body.subarray(10));
    };
    const attempt = await exchange(largeRequest(url, 1_000_000), { agent: connections.agentFor(url), write });
    expect(attempt).toMatchObject(large);
  });

  it('counts in a delivery of the sender on a kept connection', async () => {
    const { server, url, tls } = await startResetting();
    const sender = createSender({ tls });
    onTestFinished(() => sender.close());
    const reads = server.reads();
    const first = sender.deliver(request(url));
    await reads;
    server.answer('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect((await first).answer?.status).toBe(200);
    // In the same phase of the event loop, Node writes the body of a request over TLS before it reads again.
    await new Promise<void>((resolve) => access('/', () => resolve()));
    const second = sender.deliver(largeRequest(url, 1_000_000));
    server.answerAndReset(TOO_LARGE);
    expect(await second).toMatchObject(large);
  });

  it('is a reset before the whole request was read if there is none', async () => {
    const { server, url, tls } = await startResetting();
    const connections = createConnections({ keepAlive: false, tls });
    const write: BodyWriter = async (outgoing, body) => {
      const reads = server.reads();
      outgoing.write(body.subarray(0, 10));
      await reads;
      server.answerAndReset('');
      outgoing.end(body.subarray(10));
    };
    const attempt = await exchange(largeRequest(url, 1_000_000), { agent: connections.agentFor(url), write });
    expect(attempt).toMatchObject({ answer: null, error: { kind: 'reset', phase: 'send' } });
  });
});

describe('an early answer of which the rest does not come', () => {
  it('is a timeout', async () => {
    const url = await rawServer((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 100\r\n\r\npart');
      });
    });
    const { answer, error } = await deliver(largeRequest(url, 5_000_000), { timeoutMs: 300 });
    expect({ answer, kind: error?.kind }).toEqual({ answer: null, kind: 'timeout' });
  });
});

describe('the connection of an early answer', () => {
  it('is closed, because the rest of the request is not read', async () => {
    let closed: Promise<unknown> | undefined;
    const url = await rawServer((socket) => {
      closed = new Promise((resolve) => socket.on('close', resolve));
      socket.once('data', () => {
        socket.pause();
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
      });
      resume = () => {
        // Reads only the bytes that have arrived: a sender that continued would fill the connection again.
        socket.on('data', (data) => {
          read += data.length;
        });
        socket.resume();
      };
    });
    let read = 0;
    let resume = () => {};
    const sender = createSender();
    expect((await sender.deliver(largeRequest(url, 50_000_000))).answer?.status).toBe(413);
    resume();
    await closed;
    expect(read).toBeLessThan(50_000_000);
    sender.close();
  });
});

describe('a body writer', () => {
  async function send(write: BodyWriter, old = '', line: HeaderLine = ['', '']) {
    const bodies: string[] = [];
    const url = await httpServer(async (incoming, response) => {
      let text = '';
      incoming.on('error', () => undefined);
      for await (const chunk of incoming) text += String(chunk);
      bodies.push(`${incoming.headers['transfer-encoding'] ?? incoming.headers['content-length']} ${text}`);
      response.end();
    });
    const prepared = request(url);
    const headers = prepared.headers.map((given) => (given[0] === old ? line : given));
    const connections = createConnections({ keepAlive: false });
    const attempt = await exchange(
      { ...prepared, headers },
      { agent: connections.agentFor(url), write, timeoutMs: 3_000 },
    );
    return { attempt, bodies, text: prepared.body.toString() };
  }

  it('can send the body in chunks', async () => {
    const { attempt, bodies, text } = await send(
      async (outgoing, body) => {
        outgoing.write(body.subarray(0, 10));
        outgoing.end(body.subarray(10));
      },
      'Content-Length',
      ['Transfer-Encoding', 'chunked'],
    );
    expect(attempt.answer?.status).toBe(200);
    expect(bodies).toEqual([`chunked ${text}`]);
  });

  it('can wait for 100 Continue', async () => {
    const { attempt, bodies, text } = await send(
      async (outgoing, body, signal) => {
        outgoing.flushHeaders();
        await once(outgoing, 'continue', { signal });
        outgoing.end(body);
      },
      'Content-Type',
      ['Expect', '100-continue'],
    );
    expect(attempt.answer?.status).toBe(200);
    expect(bodies).toEqual([`${Buffer.byteLength(text)} ${text}`]);
  });

  it('can cut the request off, which is a reset', async () => {
    const { attempt } = await send(async (outgoing, body) => {
      await new Promise<void>((resolve) => outgoing.write(body.subarray(0, 10), () => resolve()));
      outgoing.destroy();
    });
    expect(attempt).toMatchObject({ answer: null, error: { kind: 'reset' } });
  });

  it('that throws is a fault of ours', async () => {
    const { attempt } = await send(async () => {
      throw new Error('broken writer');
    });
    expect(attempt).toMatchObject({ answer: null, error: { kind: 'local' } });
  });

  it('is notified when the exchange has ended', async () => {
    let aborted = false;
    const url = await replying('HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n');
    const write: BodyWriter = (outgoing, body, signal) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      outgoing.write(body.subarray(0, 10));
      return new Promise(() => undefined);
    };
    const agent = createConnections({ keepAlive: false }).agentFor(url);
    expect((await exchange(request(url), { agent, write })).answer?.status).toBe(401);
    expect(aborted).toBe(true);
  });
});
