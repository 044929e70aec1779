/** Failed connections, such as to a port on which nothing is listening. */
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSender, deliver, deliverWithRetry, prepare } from '../../../harness/sender/index.ts';
import { buy } from '../sender/samples.ts';
import { certificate, httpsServer, largeRequest, listen, rawServer, replying, request } from './servers.ts';

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A time limit, in milliseconds, within which a busy machine can connect. */
const LIMIT_MS = 1000;

describe('a delivery that gets no answer says why', () => {
  it('nothing is listening', async () => {
    const port = await closedPort();
    const { answer, error, timings } = await deliver(request(`http://127.0.0.1:${port}/`));
    expect({ answer, error }).toEqual({
      answer: null,
      error: {
        kind: 'refused',
        phase: 'connect',
        code: 'ECONNREFUSED',
        message: `The connection was refused: nothing is listening on 127.0.0.1:${port}.`,
      },
    });
    expect(timings).toMatchObject({ connectMs: null, tlsMs: null, firstByteMs: null, reused: false });
  });

  it('nothing is listening on any address of the name', async () => {
    const { error } = await deliver(request(`http://localhost:${await closedPort()}/`));
    expect(error).toMatchObject({ kind: 'refused', phase: 'connect', code: 'ECONNREFUSED' });
  });

  it('nothing is listening, repeatedly', async () => {
    const sender = createSender();
    const waits: number[] = [];
    const { attempts } = await deliverWithRetry(
      sender,
      request(`http://127.0.0.1:${await closedPort()}/`),
      { attempts: 3, baseDelayMs: 100 },
      { random: () => 1, sleep: async (ms) => void waits.push(ms) },
    );
    sender.close();
    expect(attempts.map(({ error }) => error?.kind)).toEqual(['refused', 'refused', 'refused']);
    expect(waits).toEqual([100, 200]);
  });

  it('the name does not resolve', async () => {
    const { error } = await deliver(request('https://no-such-host.invalid/'));
    expect(error).toMatchObject({
      kind: 'dns',
      phase: 'dns',
      message: 'The host name no-such-host.invalid does not resolve.',
    });
  });

  it('the endpoint resets the connection', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect((await deliver(request(url))).error).toEqual({
      kind: 'reset',
      phase: 'answer',
      code: 'ECONNRESET',
      message: 'The endpoint closed the connection before it had sent a complete answer.',
    });
  });

  it('the endpoint closes the connection', async () => {
    const url = await rawServer((socket) => socket.once('data', () => socket.end()));
    expect((await deliver(request(url))).error).toMatchObject({ kind: 'reset', phase: 'answer' });
  });

  it('the endpoint resets while a large body is on its way', async () => {
    const url = await rawServer((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.resetAndDestroy();
      });
    });
    // Node's client writes the second request.
    for (const method of ['POST', 'OPTIONS']) {
      const { error } = await deliver({ ...largeRequest(url, 5_000_000), method });
      expect(error).toMatchObject({ kind: 'reset', phase: 'send' });
    }
  });

  it.each(['POST', 'OPTIONS'])('the endpoint never answers: %s', async (method) => {
    const url = await rawServer((socket) => socket.resume());
    const { error, timings } = await deliver({ ...request(url), method }, { timeoutMs: LIMIT_MS });
    expect(error).toEqual({
      kind: 'timeout',
      phase: 'answer',
      code: 'HOOKPROOF_TIMEOUT',
      message: 'The endpoint read the request but gave no complete answer within the time limit.',
    });
    expect(timings.totalMs).toBeGreaterThanOrEqual(LIMIT_MS - 1);
    expect(timings.connectMs).not.toBeNull();
  });

  it('the endpoint stops answering on a kept connection, which is closed; the request is not repeated', async () => {
    let requests = 0;
    let closed: Promise<unknown> | undefined;
    const url = await rawServer((socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 2) closed = new Promise((resolve) => socket.on('close', resolve));
        else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    const sender = createSender({ timeoutMs: LIMIT_MS });
    await sender.deliver(request(url));
    const { error, timings } = await sender.deliver(request(url));
    await closed;
    const { answer } = await sender.deliver(request(url));
    sender.close();
    expect([error?.kind, timings.reused, answer?.status]).toEqual(['timeout', true, 200]);
    expect(requests).toBe(3);
  });

  it('the endpoint does not read the request', async () => {
    const url = await rawServer((socket) => socket.pause());
    expect((await deliver(largeRequest(url, 20_000_000), { timeoutMs: LIMIT_MS })).error).toMatchObject({
      kind: 'timeout',
      phase: 'send',
    });
  });

  it('the endpoint does not finish the TLS handshake', async () => {
    const url = await rawServer((socket) => socket.resume());
    expect((await deliver(request(url.replace('http:', 'https:')), { timeoutMs: LIMIT_MS })).error).toMatchObject({
      kind: 'timeout',
      phase: 'tls',
    });
  });

  it('the caller breaks off, before and during', async () => {
    const url = await rawServer((socket) => socket.resume());
    const local = { kind: 'local', message: 'The caller aborted the delivery.' };
    expect((await deliver(request(url), { signal: AbortSignal.abort() })).error).toMatchObject(local);
    const controller = new AbortController();
    const running = deliver(request(url), { signal: controller.signal });
    controller.abort();
    expect((await running).error).toMatchObject(local);
  });
});

describe('an answer that is none', () => {
  it('is not HTTP', async () => {
    const url = await replying('220 mail.example ESMTP\r\n');
    expect((await deliver(request(url))).error).toMatchObject({
      kind: 'invalid-http',
      phase: 'answer',
      message: 'The endpoint sent something that is not an HTTP answer.',
    });
  });

  it('has 10 MB of headers', async () => {
    const line = `X-Filler: ${'x'.repeat(1000)}\r\n`;
    const url = await rawServer((socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${line.repeat(10_000)}\r\n`));
    });
    expect((await deliver(request(url))).error).toEqual({
      kind: 'headers-too-large',
      phase: 'answer',
      code: 'HPE_HEADER_OVERFLOW',
      message: 'The headers of the answer are larger than the limit of the sender.',
    });
  });

  it('has headers above the limit that is given, and below it has not', async () => {
    const url = await replying(`HTTP/1.1 200 OK\r\nX-Filler: ${'x'.repeat(2_000)}\r\nContent-Length: 0\r\n\r\n`);
    expect((await deliver(request(url), { maxHeaderBytes: 1_000 })).error?.kind).toBe('headers-too-large');
    expect((await deliver(request(url), { maxHeaderBytes: 3_000 })).answer?.status).toBe(200);
  });

  it('comes from a TLS server that was addressed with http', async () => {
    const port = await httpsServer(await certificate('localhost'));
    expect((await deliver(request(`http://127.0.0.1:${port}/`))).error?.kind).toMatch(/^(invalid-http|reset)$/);
    const alert = await replying(Uint8Array.of(21, 3, 3, 0, 2, 2, 10));
    expect((await deliver(request(alert))).error).toMatchObject({
      kind: 'invalid-http',
      message: 'The endpoint speaks TLS on this port: use an https URL.',
    });
  });
});

describe('a request that cannot be sent is a fault of ours', () => {
  it.each([
    ['a line break in a value', [['X-Bad', 'one\r\ntwo']]],
    ['a character above U+00FF', [['X-Bad', '€']]],
    ['a name that is not a token', [['X Bad', 'value']]],
  ] as const)('%s', async (_what, headers) => {
    const url = await rawServer((socket) => socket.resume());
    const { error } = await deliver(prepare(buy(), { url, headers }));
    expect(error).toMatchObject({ kind: 'local' });
    expect(error?.message).not.toMatch(/one|two|value/);
  });

  it('a URL that is none', async () => {
    const prepared = { ...request('http://127.0.0.1/'), url: 'nonsense' };
    expect((await deliver(prepared)).error?.kind).toBe('local');
  });
});
