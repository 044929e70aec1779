/** The connections of a sender: how many there are, which requests wait or continue, and what is observed. */
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSender, type Sender } from '../../../harness/sender/index.ts';
import type { Attempt } from '../../../harness/transport/index.ts';
import { certificate, httpServer, httpsServer, ok, type Pair, rawServer, replying, request } from './servers.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/** Starts a server that holds back its answers until they are released. */
async function holding() {
  const held: ServerResponse[] = [];
  let arrived = () => {};
  const listener: RequestListener = (incoming, response) => {
    incoming.resume().on('end', () => {
      held.push(response);
      arrived();
    });
  };
  const url = await httpServer(listener);
  return {
    url,
    async has(count: number) {
      while (held.length < count) {
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
      }
    },
    release(count = held.length) {
      for (const response of held.splice(0, count)) response.end();
    },
  };
}

const statuses = async (running: readonly Promise<Attempt>[]) =>
  (await Promise.all(running)).map(({ answer, error }) => answer?.status ?? error?.code);

describe('the connections to an endpoint', () => {
  it('are bounded; deliveries wait in their order, and their number is bounded as well', async () => {
    const { url, has, release } = await holding();
    const sender = createSender({ maxSockets: 2, maxWaiting: 3 });
    const running = Array.from({ length: 6 }, () => sender.deliver(request(url)));
    await has(2);
    expect(sender.state()).toEqual({ open: 2, idle: 0, waiting: 3 });
    const order: number[] = [];
    for (const [at, one] of running.entries()) void one.then(() => order.push(at));
    for (let round = 0; round < 5; round++) {
      await has(1);
      release(1);
      await running[round];
    }
    expect(await statuses(running)).toEqual([200, 200, 200, 200, 200, 'HOOKPROOF_QUEUE_FULL']);
    expect((await running[5])?.error).toMatchObject({
      kind: 'local',
      message: expect.stringMatching(/waiting for a connection/),
    });
    expect(order).toHaveLength(6);
    expect(sender.state()).toEqual({ open: 2, idle: 2, waiting: 0 });
    sender.close();
  });

  it('are counted for each endpoint alone', async () => {
    const [one, other] = [await holding(), await holding()];
    const sender = createSender({ maxSockets: 1 });
    const running = [one.url, other.url, one.url].map((url) => sender.deliver(request(url)));
    await Promise.all([one.has(1), other.has(1)]);
    expect(sender.state()).toEqual({ open: 2, idle: 0, waiting: 1 });
    one.release();
    other.release();
    await one.has(1);
    one.release();
    expect(await statuses(running)).toEqual([200, 200, 200]);
    sender.close();
  });

  it('are replaced for deliveries that wait when one is lost', async () => {
    let connections = 0;
    const url = await rawServer((socket) => {
      connections += 1;
      const answers = connections > 2;
      socket.on('data', () => (answers ? socket.write(OK) : socket.resetAndDestroy()));
    });
    const sender = createSender({ maxSockets: 1 });
    const running = Array.from({ length: 4 }, () => sender.deliver(request(url)));
    expect(await statuses(running)).toEqual(['ECONNRESET', 'ECONNRESET', 200, 200]);
    sender.close();
  });

  it('stay idle when another one is lost', async () => {
    let connections = 0;
    const url = await rawServer((socket) => {
      connections += 1;
      const answers = connections === 1;
      socket.on('data', () => (answers ? socket.write(OK) : setTimeout(() => socket.resetAndDestroy(), 50)));
    });
    const sender = createSender();
    const running = [sender.deliver(request(url)), sender.deliver(request(url))];
    expect(new Set(await statuses(running))).toEqual(new Set([200, 'ECONNRESET']));
    while (sender.state().open > 1) await new Promise(setImmediate);
    expect(sender.state()).toEqual({ open: 1, idle: 1, waiting: 0 });
    sender.close();
  });

  it('serve any number of deliveries that share a signal, without a warning about a leak', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on('warning', onWarning);
    const { url, has } = await holding();
    const sender = createSender({ maxSockets: 3 });
    const stop = new AbortController();
    const running = Array.from({ length: 20 }, () => sender.deliver(request(url), { signal: stop.signal }));
    const waiting = Array.from({ length: 20 }, () => sender.ready(url, stop.signal));
    await has(3);
    stop.abort();
    expect(new Set(await statuses(running))).toEqual(new Set(['ABORT_ERR']));
    await Promise.all(waiting);
    await new Promise(setImmediate);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    sender.close();
  });

  it('let a delivery that is aborted while it waits go at once', async () => {
    const { url, has, release } = await holding();
    const sender = createSender({ maxSockets: 1 });
    const first = sender.deliver(request(url));
    await has(1);
    const controller = new AbortController();
    const second = sender.deliver(request(url), { signal: controller.signal });
    controller.abort();
    expect((await second).error).toMatchObject({ kind: 'local', code: 'ABORT_ERR' });
    expect(sender.state().waiting).toBe(0);
    release();
    expect((await first).answer?.status).toBe(200);
    sender.close();
  });

  it.each([
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n', true],
    ['without a body', 'Content-Length: 0\r\n\r\n', true],
    ['that announces its end', 'Connection: close\r\nContent-Length: 2\r\n\r\nok', false],
    ['in chunks that announces its end', 'Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', false],
    ['that leaves a second', 'Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n', false],
    ['in chunks that leaves a second', 'Keep-Alive: timeout=1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', false],
    ['that leaves five seconds', 'Keep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n', true],
  ])('are kept after an answer %s: %s', async (_what, rest, isKept) => {
    const url = await rawServer((socket) => socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`)));
    const sender = createSender();
    await sender.deliver(request(url));
    // Node returns a connection to the pool after the answer.
    await new Promise(setImmediate);
    const { answer, timings } = await sender.deliver(request(url));
    expect([answer?.status, timings.reused]).toEqual([200, isKept]);
    while (sender.state().open > Number(isKept)) await new Promise(setImmediate);
    sender.close();
  });

  it('carry an answer in two pieces, and one in many', async () => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello, world';
    for (const pieces of [[text.length - 12], Array.from({ length: text.length - 1 }, (_, at) => at + 1)]) {
      const url = await rawServer((socket) => {
        socket.setNoDelay(true);
        socket.on('data', async () => {
          for (const [at, from] of [0, ...pieces].entries()) {
            socket.write(text.slice(from, pieces[at]));
            await new Promise(setImmediate);
          }
        });
      });
      const sender = createSender();
      for (const isReused of [false, true]) {
        const { answer, timings } = await sender.deliver(request(url));
        expect([answer?.body.toString(), timings.reused]).toEqual(['hello, world', isReused]);
        await new Promise(setImmediate);
      }
      sender.close();
    }
  });

  it('resume their TLS session, and do not when each delivery has its own', async () => {
    const leaf = await certificate('localhost');
    const resumed: boolean[] = [];
    const port = await httpsServer({ ...leaf, maxVersion: 'TLSv1.2' }, (incoming, response) => {
      resumed.push((incoming.socket as TLSSocket).isSessionReused());
      response.setHeader('Connection', 'close');
      ok(incoming, response);
    });
    for (const keepAlive of [true, false]) {
      const sender = createSender({ tls: { ca: leaf.cert }, keepAlive });
      for (let turn = 0; turn < 2; turn++) await sender.deliver(request(`https://localhost:${port}/hooks`));
      sender.close();
    }
    expect(resumed).toEqual([false, true, false, false]);
  });

  it('keep no process alive while they are idle, and keep it alive while they are used', async () => {
    const { url, has, release } = await holding();
    const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;
    const sender = createSender();
    const first = sender.deliver(request(url));
    await has(1);
    const busy = sockets();
    release();
    await first;
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const idle = sockets();
    const second = sender.deliver(request(url));
    await has(1);
    expect([busy - idle, sockets() - idle]).toEqual([1, 1]);
    release();
    expect((await second).timings.reused).toBe(true);
    sender.close();
  });
});

/** Starts an HTTPS server that answers while this thread is busy. Each answer arrives in this many pieces. */
async function independentServer(pair: Pair, pieces: 1 | 2): Promise<number> {
  const program = `
    const { parentPort, workerData } = require('node:worker_threads');
    const server = require('node:tls').createServer({ ...workerData.pair, noDelay: true }, (socket) => {
      socket.on('error', () => socket.destroy());
      socket.on('data', () => {
        const [first, ...rest] = workerData.answer;
        socket.write(first);
        for (const piece of rest) setTimeout(() => socket.write(piece), 200);
      });
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const answer = pieces === 1 ? [whole] : [whole.slice(0, -1), whole.slice(-1)];
  const worker = new Worker(program, { eval: true, workerData: { pair, answer } });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, 'message');
  return port as number;
}

const BUSY_MS = 100;

/**
 * Sends from a timer, and keeps this thread busy until the answer has arrived. Node then reads the answer before it
 * reports the write.
 */
async function sendBeforeLongWork(send: () => Promise<Attempt>): Promise<Attempt> {
  return await new Promise((resolve) => {
    setTimeout(() => {
      void send().then(resolve);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
    });
  });
}

describe('a connection whose answer is read before Node reports that the request was written', () => {
  it.each([1, 2] as const)('is kept, with an answer in %s pieces', async (pieces) => {
    const root = await certificate('root', { isCa: true });
    const port = await independentServer(await certificate('localhost', { ca: root }), pieces);
    const sender = createSender({ tls: { ca: root.cert } });
    onTestFinished(() => sender.close());
    const send = () => sender.deliver(request(`https://localhost:${port}/`));
    await send();
    const attempts = [await sendBeforeLongWork(send), await sendBeforeLongWork(send), await send()];
    expect(attempts.map(({ answer, timings }) => [answer?.status, answer?.body.length, timings.reused])).toEqual([
      [200, 2, true],
      [200, 2, true],
      [200, 2, true],
    ]);
    expect(sender.state()).toEqual({ open: 1, idle: 1, waiting: 0 });
  });
});

describe('ready', () => {
  it('is there at once, and later when a connection is free', async () => {
    const { url, has, release } = await holding();
    const sender = createSender({ maxSockets: 2 });
    await sender.ready(url);
    const running = [sender.deliver(request(url)), sender.deliver(request(url))];
    await has(2);
    let isThere = false;
    const free = sender.ready(url).then(() => {
      isThere = true;
    });
    await new Promise(setImmediate);
    expect(isThere).toBe(false);
    release(1);
    await free;
    release();
    await Promise.all(running);
    sender.close();
  });

  it('bounds what is in flight from a source of any length', async () => {
    let now = 0;
    let most = 0;
    const url = await httpServer((incoming, response) => {
      now += 1;
      most = Math.max(most, now);
      incoming.resume().on('end', () =>
        setImmediate(() => {
          now -= 1;
          response.end();
        }),
      );
    });
    const sender = createSender({ maxSockets: 3, maxWaiting: 0 });
    const running: Promise<Attempt>[] = [];
    for (let at = 0; at < 40; at++) {
      await sender.ready(url);
      running.push(sender.deliver(request(url)));
    }
    expect(new Set(await statuses(running))).toEqual(new Set([200]));
    expect(most).toBeLessThanOrEqual(3);
    sender.close();
  });

  it('is not waited for when the signal is aborted or the sender closed', async () => {
    const wait = async (end: (sender: Sender, controller: AbortController) => void) => {
      const { url, has } = await holding();
      // The end of the delivery that uses the connection would end the wait as well.
      const sender = createSender({ maxSockets: 1, timeoutMs: 600_000 });
      void sender.deliver(request(url));
      await has(1);
      const controller = new AbortController();
      const free = sender.ready(url, controller.signal);
      end(sender, controller);
      await free;
      sender.close();
    };
    await wait((_sender, controller) => controller.abort());
    await wait((sender) => sender.close());
  });
});

describe('a closed sender', () => {
  it('ends what waits, and begins nothing', async () => {
    const { url, has } = await holding();
    const sender = createSender({ maxSockets: 1 });
    const running = [sender.deliver(request(url)), sender.deliver(request(url))];
    await has(1);
    sender.close();
    expect(await statuses(running)).toEqual(['ECONNRESET', 'ECONNRESET']);
    expect((await sender.deliver(request(url))).error).toMatchObject({ kind: 'local', code: 'HOOKPROOF_CLOSED' });
    expect(sender.state()).toMatchObject({ idle: 0, waiting: 0 });
  });
});

describe('every attempt', () => {
  it('is observed once, also the failed one of a request that is sent again', async () => {
    let requests = 0;
    const url = await rawServer((socket) => {
      let mine = 0;
      socket.on('data', () => {
        requests += 1;
        mine += 1;
        if (requests === 2 && mine === 2) socket.resetAndDestroy();
        else socket.write(OK);
      });
    });
    const seen: string[] = [];
    const sender = createSender({
      onAttempt: ({ answer, error, sentAgain }, { body }) =>
        seen.push(`${answer?.status ?? error?.kind}${sentAgain === true ? ' again' : ''} ${body.length > 0}`),
    });
    const first = await sender.deliver(request(url));
    const second = await sender.deliver(request(url));
    sender.close();
    expect(seen).toEqual(['200 true', 'reset true', '200 again true']);
    expect([first.sentAgain, second.sentAgain, second.resetInUse]).toEqual([undefined, true, true]);
  });
});

describe('an endpoint that has no connection', () => {
  it('is forgotten when there are very many, and reached again', async () => {
    const url = await replying(OK);
    const sender = createSender({ keepAlive: false });
    const closed = (port: number) => request(`http://127.0.0.2:${port}/`);
    for (let port = 1; port <= 1_010; port++) {
      const { error } = await sender.deliver(closed(port));
      expect(error?.kind).toBe('refused');
    }
    const { answer } = await sender.deliver(request(url));
    expect(answer?.status).toBe(200);
    expect((await sender.deliver(closed(1))).error?.kind).toBe('refused');
    sender.close();
  });
});

it('a large body is written behind its head, and the connection kept', async () => {
  let received = 0;
  const url = await httpServer((incoming, response) => {
    incoming.on('data', (piece: Buffer) => {
      received += piece.length;
    });
    incoming.on('end', () => response.end('ok'));
  });
  const sender = createSender();
  const prepared = request(url);
  const body = Buffer.alloc(3_000_000, 'a');
  const headers = prepared.headers.map(([name, value]): [string, string] => [
    name,
    name === 'Content-Length' ? String(body.length) : value,
  ]);
  for (const isReused of [false, true]) {
    const { answer, timings } = await sender.deliver({ ...prepared, headers, body });
    expect([answer?.status, timings.reused]).toEqual([200, isReused]);
  }
  expect(received).toBe(6_000_000);
  sender.close();
});
