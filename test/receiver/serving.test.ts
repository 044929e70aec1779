/** Listening, HTTPS, and the end of it. */
import { request as httpsRequest } from 'node:https';
import { connect as tlsConnect } from 'node:tls';
import { generate } from 'selfsigned';
import { describe, expect, it } from 'vitest';
import { type QuickStartCertificate, quickStartCertificate } from '../../certs/index.ts';
import { HookproofError } from '../../contract/index.ts';
import { type ServerOptions, startReceiver } from '../../receiver/index.ts';
import { buy, headersFor, SECRET } from './deliveries.ts';
import { openRaw, rawPost } from './raw-http.ts';

const certificates: Promise<QuickStartCertificate> = quickStartCertificate();

function deliver(url: string, options: object): Promise<number | string> {
  const body = JSON.stringify(buy());
  return new Promise((resolve) => {
    const request = httpsRequest(
      url,
      { method: 'POST', agent: false, headers: headersFor(body), ...options },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code} ${error.message}`));
    request.end(body);
  });
}

async function codeOf(options: ServerOptions): Promise<string> {
  try {
    const running = await startReceiver({ open: true, ...options });
    await running.close();
    return 'started';
  } catch (error) {
    expect(error).toBeInstanceOf(HookproofError);
    return (error as HookproofError).code;
  }
}

describe('listening', () => {
  it('says where, path included', async () => {
    const first = await startReceiver({ open: true, path: '/hooks' });
    expect(first.url).toBe(`http://127.0.0.1:${first.port}/hooks`);
    const body = JSON.stringify(buy());
    expect((await fetch(first.url, { method: 'POST', body, headers: headersFor(body) })).status).toBe(200);
    expect(await codeOf({ port: first.port })).toBe('RECEIVER_LISTEN');
    await first.close();
    expect(await codeOf({ host: '192.0.2.1' })).toBe('RECEIVER_LISTEN');
  });
});

describe('HTTPS', () => {
  it('serves the quick-start certificate to those who trust its authority, from TLS 1.2 on', async () => {
    const { ca, ...server } = await certificates;
    const receiver = await startReceiver({ signing: { secrets: [SECRET] }, tls: server });
    expect(receiver.url).toBe(`https://127.0.0.1:${receiver.port}/`);
    expect(await deliver(receiver.url, { ca: ca.cert })).toBe(200);
    expect(await deliver(receiver.url.replace('127.0.0.1', 'localhost'), { ca: ca.cert, family: 4 })).toBe(200);
    expect(await deliver(receiver.url, { ca: ca.cert, maxVersion: 'TLSv1.2' })).toBe(200);
    expect(await deliver(receiver.url, { ca: ca.cert, minVersion: 'TLSv1.3' })).toBe(200);
    expect(await deliver(receiver.url, {})).toMatch(/^UNABLE_TO_VERIFY_LEAF_SIGNATURE/);
    const old = { ca: ca.cert, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' };
    expect(await deliver(receiver.url, old)).toMatch(/tlsv1 alert protocol version/);
    await receiver.close();
  });

  it('plain HTTP on its port does no harm', async () => {
    const { ca, ...server } = await certificates;
    const receiver = await startReceiver({ open: true, tls: server });
    const plain = await openRaw(receiver.port);
    await plain.write('POST / HTTP/1.1\r\nHost: x\r\n\r\n');
    await plain.ended;
    expect(await deliver(receiver.url, { ca: ca.cert })).toBe(200);
    await receiver.close();
  });

  it('answers a broken request inside TLS too', async () => {
    const { ca, ...server } = await certificates;
    const receiver = await startReceiver({ open: true, tls: server });
    const socket = tlsConnect({ port: receiver.port, host: '127.0.0.1', ca: ca.cert });
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString();
    });
    socket.write('garbage\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    await receiver.close();
  });

  it('with mutual TLS takes only certificates of the given authority', async () => {
    const [{ ca, ...server }, rogue] = await Promise.all([certificates, quickStartCertificate()]);
    const client = (authority: QuickStartCertificate['ca']) =>
      generate([{ name: 'commonName', value: 'client' }], {
        keyType: 'ec',
        algorithm: 'sha256',
        ca: authority,
        extensions: [{ name: 'extKeyUsage', clientAuth: true }],
      });
    const [right, wrong] = await Promise.all([client(ca), client(rogue.ca)]);
    const receiver = await startReceiver({
      open: true,
      tls: { ...server, ca: ca.cert, clientCertificate: 'required' },
    });
    const trust = { ca: ca.cert };
    expect(await deliver(receiver.url, { ...trust, cert: right.cert, key: right.private })).toBe(200);
    for (const credentials of [{}, { cert: wrong.cert, key: wrong.private }]) {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3']) {
        expect(await deliver(receiver.url, { ...trust, ...credentials, maxVersion })).toMatch(
          /^(ECONNRESET|EPROTO|EPIPE|ERR_SSL_)/,
        );
      }
    }
    await receiver.close();
  });

  it('material that cannot be used is a usage error', async () => {
    const [{ ca: _ca, ...server }, other] = await Promise.all([certificates, quickStartCertificate()]);
    expect(await codeOf({ tls: { cert: server.cert, key: 'no key' } })).toBe('RECEIVER_TLS');
    expect(await codeOf({ tls: { cert: server.cert, key: other.key } })).toBe('RECEIVER_TLS');
    expect(await codeOf({ tls: { ...server, clientCertificate: 'required' } })).toBe('RECEIVER_TLS');
    expect(await codeOf({ tls: server })).toBe('started');
  });
});

describe('closing', () => {
  it('lets a request under way finish, closes idle connections, takes no new ones, and waits for the handlers', async () => {
    let handled = 0;
    const receiver = await startReceiver({
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
    const body = JSON.stringify(buy());
    await idle.write(rawPost(body, headersFor(body)));
    expect((await idle.answer()).status).toBe(200);

    const busy = await openRaw(receiver.port);
    const inFlight = JSON.stringify(buy());
    const bytes = rawPost(inFlight, { ...headersFor(inFlight), Expect: '100-continue' });
    const head = bytes.length - Buffer.byteLength(inFlight);
    await busy.write(bytes.subarray(0, head));
    expect((await busy.answer()).status).toBe(100);

    const closing = receiver.close();
    expect(receiver.close()).toBeInstanceOf(Promise);
    expect(await idle.ended).toBe('closed');
    expect(await fresh.ended).toBe('closed');
    await expect(fetch(receiver.url, { method: 'POST' })).rejects.toThrow();

    await busy.write(bytes.subarray(head));
    const answer = await busy.answer();
    expect([answer.status, answer.headers.includes('Connection: close')]).toEqual([200, true]);
    await closing;
    await busy.ended;
    expect(handled).toBe(2);
  });

  it('waits for handlers that are still at work', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const receiver = await startReceiver({ open: true, handlers: { CAAS_BUY: () => gate } });
    const connection = await openRaw(receiver.port);
    const body = JSON.stringify(buy());
    await connection.write(rawPost(body, headersFor(body)));
    expect((await connection.answer()).status).toBe(200);
    let closed = false;
    const closing = receiver.close().then(() => {
      closed = true;
    });
    await connection.ended;
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(false);
    release();
    await closing;
  });

  it('lets a request finish whose head was only half there', async () => {
    const receiver = await startReceiver({ open: true });
    const connection = await openRaw(receiver.port);
    const body = JSON.stringify(buy());
    const bytes = rawPost(body, headersFor(body));
    // A whole request first, so that what follows is known to have been read when its first half is.
    await connection.write(Buffer.concat([bytes, bytes.subarray(0, 30)]));
    expect((await connection.answer()).status).toBe(200);
    const closing = receiver.close();
    await connection.write(bytes.subarray(30));
    const answer = await connection.answer();
    expect([answer.status, answer.headers.includes('Connection: close')]).toEqual([200, true]);
    await closing;
  });

  it('cuts what does not end in time', async () => {
    const receiver = await startReceiver({
      open: true,
      timeouts: { closeMs: 100 },
      handlers: { CAAS_BUY: () => new Promise(() => {}) },
    });
    const body = JSON.stringify(buy());
    const done = await openRaw(receiver.port);
    await done.write(rawPost(body, headersFor(body)));
    await done.answer();
    const stuck = await openRaw(receiver.port);
    await stuck.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n');
    await stuck.answer();
    await receiver.close();
    await stuck.ended;
  });

  it('does not wait for a TLS connection without a handshake, or without a request', async () => {
    const { ca, ...server } = await certificates;
    const receiver = await startReceiver({ open: true, tls: server });
    const silent = await openRaw(receiver.port);
    const shaken = tlsConnect({ port: receiver.port, host: '127.0.0.1', ca: ca.cert });
    await new Promise((resolve) => shaken.once('session', resolve));
    const closed = new Promise((resolve) => shaken.once('close', resolve));
    shaken.on('error', () => {}).resume();
    const startedAt = performance.now();
    await receiver.close();
    await Promise.all([silent.ended, closed]);
    // The time limit is 10 s.
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });
});
