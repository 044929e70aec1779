/** Which connections and listeners the sender keeps, and which ones it releases. */
import { getEventListeners, once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createSender, deliver } from '../../../harness/sender/index.ts';
import { createConnections, exchange } from '../../../harness/transport/index.ts';
import { certificate, httpServer, httpsServer, largeRequest, ok, rawServer, replying, request } from './servers.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Returns the options of an agent, which Node's types do not include. */
const optionsOf = (agent: http.Agent) => (agent as unknown as { options: https.AgentOptions }).options;

describe('connections', () => {
  it('have one agent for http and one for https', () => {
    const { agentFor, close } = createConnections({ maxSockets: 3 });
    const [plain, secure] = [agentFor('http://a.example/'), agentFor('https://a.example/')];
    expect(plain).toBe(agentFor('http://b.example/'));
    expect(secure).toBe(agentFor('https://b.example/'));
    expect(plain).not.toBeInstanceOf(https.Agent);
    expect(secure).toBeInstanceOf(https.Agent);
    for (const agent of [plain, secure]) {
      expect(agent).toBeInstanceOf(http.Agent);
      expect(agent.maxSockets).toBe(3);
      expect(optionsOf(agent)).toMatchObject({ keepAlive: true, autoSelectFamilyAttemptTimeout: 1_000 });
    }
    close();
  });

  it('have no limit unless one is given, and keep TLS sessions unless each delivery has its own connection', () => {
    const cached = (keepAlive: boolean) =>
      optionsOf(createConnections({ keepAlive }).agentFor('https://a.example/')).maxCachedSessions;
    expect(createConnections().agentFor('http://a.example/').maxSockets).toBe(Number.POSITIVE_INFINITY);
    expect([cached(true), cached(false)]).toEqual([undefined, 0]);
  });

  it('resolve names with the given function', async () => {
    const url = await replying(OK);
    const lookup: LookupFunction = (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
    const named = url.replace('127.0.0.1', 'partner.example');
    const { answer } = await exchange(request(named), { agent: createConnections({ lookup }).agentFor(named) });
    expect(answer?.status).toBe(200);
  });

  it('leave from the given address', async () => {
    const from: (string | undefined)[] = [];
    const url = await httpServer((incoming, response) => {
      from.push(incoming.socket.remoteAddress);
      ok(incoming, response);
    });
    const { agentFor, close } = createConnections({ keepAlive: false });
    await exchange(request(url), { agent: agentFor(url) });
    await exchange(request(url), { agent: agentFor(url), localAddress: '127.0.0.2' });
    close();
    expect(from).toEqual(['127.0.0.1', '127.0.0.2']);
  });

  it('can be closed before there are any', () => {
    expect(() => createConnections().close()).not.toThrow();
  });

  it('to one endpoint are dropped without those to another', async () => {
    const open = { one: 0, other: 0 };
    const serve = (name: 'one' | 'other') =>
      rawServer((socket) => {
        const isFirst = open[name] === 0;
        open[name] += 1;
        let requests = 0;
        socket.on('data', () => {
          requests += 1;
          if (name === 'one' && isFirst && requests === 2) socket.resetAndDestroy();
          else socket.write(OK);
        });
      });
    const [one, other] = [await serve('one'), await serve('other')];
    const sender = createSender();
    for (const url of [one, other, one]) await sender.deliver(request(url));
    expect((await sender.deliver(request(other))).timings.reused).toBe(true);
    expect(open).toEqual({ one: 2, other: 1 });
    sender.close();
  });

  it.each(['http', 'https'])('over %s are closed with the sender', async (protocol) => {
    const leaf = await certificate('localhost');
    const sockets: Socket[] = [];
    const listener: http.RequestListener = (incoming, response) => {
      sockets.push(incoming.socket);
      ok(incoming, response);
    };
    const url =
      protocol === 'http' ? await httpServer(listener) : `https://localhost:${await httpsServer(leaf, listener)}/hooks`;
    const sender = createSender({ tls: { ca: leaf.cert } });
    expect((await sender.deliver(request(url))).answer?.status).toBe(200);
    expect(sockets[0]?.destroyed).toBe(false);
    const gone = once(sockets[0]!, 'close');
    sender.close();
    await gone;
  });

  it.each([
    ['a length', OK],
    ['chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ])('of a single delivery are closed after an answer in %s', async (_what, answer) => {
    let closed: Promise<unknown> | undefined;
    const url = await rawServer((socket) => {
      closed = once(socket, 'close');
      socket.on('data', () => socket.write(answer));
    });
    expect((await deliver(request(url))).answer?.status).toBe(200);
    await closed;
  });
});

describe('a delivery', () => {
  it('leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    const url = await httpServer(ok);
    for (let turn = 0; turn < 3; turn++) await deliver(request(url), { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each([
    ['http://127.0.0.1:9/', 'connect'],
    ['http://[::1]:9/', 'connect'],
    ['http://localhost:9/', 'dns'],
  ])('that is broken off at once was in the first phase: %s', async (url, phase) => {
    const controller = new AbortController();
    const running = deliver(request(url), { signal: controller.signal });
    controller.abort();
    expect((await running).error).toMatchObject({ kind: 'local', code: 'ABORT_ERR', phase });
  });

  it.each([
    ['while the name is looked up', 'EMFILE', 'dns'],
    ['while the connection is made', null, 'connect'],
  ])('that ends %s was in that phase', async (_what, code, phase) => {
    const controller = new AbortController();
    const agent = new http.Agent({
      lookup: (_name, _options, found) =>
        setImmediate(() => {
          if (code !== null) return found(Object.assign(new Error('no'), { code }), []);
          found(null, [{ address: '127.0.0.1', family: 4 }]);
          controller.abort();
        }),
    } as http.AgentOptions);
    const { error } = await exchange(request('http://partner.example:9/'), { agent, signal: controller.signal });
    expect(error).toMatchObject({ kind: 'local', code: code ?? 'ABORT_ERR', phase });
  });

  it('that is broken off before it began says so by the code of the signal', async () => {
    const { error, timings } = await deliver(request('http://127.0.0.1:9/'), { signal: AbortSignal.abort() });
    expect(error).toMatchObject({ kind: 'local', phase: 'dns', code: 'AbortError' });
    expect(timings).toMatchObject({ connectMs: null, tlsMs: null, firstByteMs: null, reused: false });
  });

  it('has its time limit once, also when a kept connection turns out to be closed', async () => {
    let connections = 0;
    const url = await rawServer((socket) => {
      connections += 1;
      let requests = 0;
      const first = connections === 1;
      socket.on('data', () => {
        requests += 1;
        if (!first) return;
        if (requests === 1) socket.write(OK);
        else setTimeout(() => socket.resetAndDestroy(), 500);
      });
    });
    const sender = createSender({ timeoutMs: 1_500 });
    await sender.deliver(request(url));
    const began = performance.now();
    const { error, timings } = await sender.deliver(request(url));
    expect(error).toMatchObject({ kind: 'timeout' });
    expect(connections).toBe(2);
    expect(timings.totalMs).toBeLessThan(1_400);
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_490);
    sender.close();
  });

  it('is not repeated when a byte of the answer had come, time ran out, or the connection was new', async () => {
    const count = async (second: (socket: Socket) => void, first = OK) => {
      let requests = 0;
      const url = await rawServer((socket) => {
        socket.on('data', () => {
          requests += 1;
          if (requests === 1 && first !== '') socket.write(first);
          else second(socket);
        });
      });
      const sender = createSender({ timeoutMs: 300 });
      if (first !== '') await sender.deliver(request(url));
      const { error, timings } = await sender.deliver(request(url));
      sender.close();
      // A second exchange would have begun later, with only the remaining time.
      if (error?.kind === 'timeout') expect(timings.totalMs).toBeGreaterThanOrEqual(299);
      return [error?.kind, requests];
    };
    expect(await count((socket) => socket.write('HTTP/1.1 2', () => socket.resetAndDestroy()))).toEqual(['reset', 2]);
    expect(await count(() => undefined)).toEqual(['timeout', 2]);
    expect(await count((socket) => socket.resetAndDestroy(), '')).toEqual(['reset', 1]);
  });
});

describe('the limits that are the default', () => {
  it('are 16 KiB of headers', async () => {
    const headers = (length: number) =>
      replying(`HTTP/1.1 200 OK\r\nX-Filler: ${'x'.repeat(length)}\r\nContent-Length: 0\r\n\r\n`);
    expect((await deliver(request(await headers(16_000)))).answer?.status).toBe(200);
    expect((await deliver(request(await headers(16_500)))).error?.kind).toBe('headers-too-large');
  });

  it('are 64 KiB of the body', async () => {
    const body = (length: number) =>
      replying(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`);
    const cut = async (length: number) => {
      const { answer } = await deliver(request(await body(length)));
      return [answer?.body.length, answer?.truncated];
    };
    expect(await cut(65_536)).toEqual([65_536, false]);
    expect(await cut(65_537)).toEqual([65_536, true]);
  });
});

describe('a body', () => {
  it.each([16_384, 16_385])('of %i bytes arrives as it is', async (length) => {
    let text = '';
    const url = await httpServer((incoming, response) => {
      incoming.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      incoming.on('end', () => response.end());
    });
    const { body, ...rest } = largeRequest(url, length);
    const every = Buffer.from(body.map((_, at) => at % 256));
    // The body is a view into a larger buffer. The surrounding bytes are not part of it.
    const around = Buffer.concat([Buffer.from('before'), every, Buffer.from('behind')]);
    const view = around.subarray(6, 6 + length);
    expect((await deliver({ ...rest, body: view })).answer?.status).toBe(200);
    expect(text).toBe(every.toString('latin1'));
  });

  it('of a small delivery goes out with the head, in one piece', async () => {
    let first = '';
    const url = await rawServer((socket) =>
      socket.once('data', (data) => {
        first = data.toString('latin1');
        socket.end(OK);
      }),
    );
    const prepared = request(url);
    await deliver(prepared);
    expect(first.endsWith(Buffer.from(prepared.body).toString('latin1'))).toBe(true);
  });
});
