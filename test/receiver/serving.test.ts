/** Listening and closing. */
import { connect as tlsConnect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { quickStartCertificate } from '../../certs/index.ts';
import { startReceiver } from '../../receiver/index.ts';
import { buy, headersFor } from './deliveries.ts';
import { exchange, openRaw, rawPost, receiverForTest, validPost } from './raw-http.ts';

describe('a receiver that listens', () => {
  it('has a URL with its path, and reports a port or host that cannot be used', async () => {
    const first = await receiverForTest({ open: true, path: '/hooks' });
    expect(first.url).toBe(`http://127.0.0.1:${first.port}/hooks`);
    const body = JSON.stringify(buy());
    expect((await fetch(first.url, { method: 'POST', body, headers: headersFor(body) })).status).toBe(200);
    for (const options of [{ port: first.port }, { host: '192.0.2.1' }]) {
      await expect(startReceiver({ open: true, ...options })).rejects.toMatchObject({ code: 'RECEIVER_LISTEN' });
    }
  });

  it('has an https URL with TLS, and responds to malformed HTTP over TLS', async () => {
    const { ca, ...tls } = await quickStartCertificate();
    const receiver = await receiverForTest({ open: true, tls });
    expect(receiver.url).toBe(`https://127.0.0.1:${receiver.port}/`);
    const socket = tlsConnect({ port: receiver.port, host: '127.0.0.1', ca: ca.cert });
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.write('garbage\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
  });
});

describe('a receiver that closes', () => {
  it('finishes requests in progress, closes idle connections and accepts no new ones', async () => {
    let handled = 0;
    const receiver = await receiverForTest({
      open: true,
      handlers: {
        CAAS_BUY: async () => {
          await new Promise((resolve) => setImmediate(resolve));
          handled += 1;
        },
      },
    });
    const fresh = await openRaw(receiver.port);
    const idle = await openRaw(receiver.port);
    await idle.write(validPost());
    expect((await idle.answer()).status).toBe(200);

    const busy = await openRaw(receiver.port);
    const body = JSON.stringify(buy());
    const bytes = rawPost(body, { ...headersFor(body), Expect: '100-continue' });
    const head = bytes.length - Buffer.byteLength(body);
    await busy.write(bytes.subarray(0, head));
    expect((await busy.answer()).status).toBe(100);

    const closing = receiver.close();
    expect(receiver.close()).toBeInstanceOf(Promise);
    expect([await idle.ended, await fresh.ended]).toEqual(['closed', 'closed']);
    await expect(fetch(receiver.url, { method: 'POST' })).rejects.toThrow();

    await busy.write(bytes.subarray(head));
    const answer = await busy.answer();
    expect([answer.status, answer.headers.includes('Connection: close')]).toEqual([200, true]);
    await closing;
    await busy.ended;
    expect(handled).toBe(2);
  });

  it('waits for handlers that still run after the response', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const receiver = await receiverForTest({ open: true, handlers: { CAAS_BUY: () => released } });
    expect((await exchange(receiver.port)).status).toBe(200);
    let closed = false;
    const closing = receiver.close().then(() => {
      closed = true;
    });
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(false);
    release();
    await closing;
  });

  it('finishes a request of which it has read half of the head', async () => {
    const receiver = await receiverForTest({ open: true });
    const connection = await openRaw(receiver.port);
    const bytes = validPost();
    // When the first request is answered, the receiver has also read the bytes that follow it.
    await connection.write(Buffer.concat([bytes, bytes.subarray(0, 30)]));
    expect((await connection.answer()).status).toBe(200);
    const closing = receiver.close();
    await connection.write(bytes.subarray(30));
    const answer = await connection.answer();
    expect([answer.status, answer.headers.includes('Connection: close')]).toEqual([200, true]);
    await closing;
  });

  it('cuts off requests and handlers that do not end in time', async () => {
    const handlers = { CAAS_BUY: () => new Promise<void>(() => {}) };
    const receiver = await receiverForTest({ open: true, timeouts: { closeMs: 100 }, handlers });
    expect((await exchange(receiver.port)).status).toBe(200);
    const stuck = await openRaw(receiver.port);
    await stuck.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n');
    await stuck.answer();
    await receiver.close();
    await stuck.ended;
  });

  it('does not wait for TLS connections without a handshake or a request', async () => {
    const { ca, ...tls } = await quickStartCertificate();
    // A receiver that waits for these connections exceeds the time limit of this test.
    const receiver = await receiverForTest({ open: true, tls, timeouts: { closeMs: 600_000 } });
    const silent = await openRaw(receiver.port);
    const connected = tlsConnect({ port: receiver.port, host: '127.0.0.1', ca: ca.cert });
    await new Promise((resolve) => connected.once('session', resolve));
    const closed = new Promise((resolve) => connected.once('close', resolve));
    connected.on('error', () => {}).resume();
    await receiver.close();
    await Promise.all([silent.ended, closed]);
  });
});
