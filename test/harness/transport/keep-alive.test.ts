import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSender } from '../../../harness/sender/index.ts';
import { createConnections, exchange } from '../../../harness/transport/index.ts';
import { httpServer, largeRequest, ok, rawServer, request } from './servers.ts';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';

/**
 * Starts a server that answers as many requests on each connection as `answers` says, and closes it on the next one.
 */
async function closing(answers: readonly number[]) {
  let connections = 0;
  let requests = 0;
  const url = await rawServer((socket) => {
    let left = answers[connections] ?? 0;
    connections += 1;
    socket.on('data', () => {
      requests += 1;
      left -= 1;
      if (left >= 0) socket.write(OK);
      else socket.resetAndDestroy();
    });
  });
  return { url, seen: () => ({ connections, requests }) };
}

describe('a kept connection', () => {
  it('is used again', async () => {
    let connections = 0;
    const url = await httpServer(ok);
    const sender = createSender();
    const seen = [];
    for (let turn = 0; turn < 3; turn++) {
      const { answer, timings } = await sender.deliver(request(url));
      if (timings.connectMs !== null) connections += 1;
      seen.push([answer?.status, timings.reused]);
    }
    sender.close();
    expect(seen).toEqual([
      [200, false],
      [200, true],
      [200, true],
    ]);
    expect(connections).toBe(1);
  });

  it('that the endpoint has closed in the meantime does not count: the request goes out once more', async () => {
    const { url, seen } = await closing([1, 1]);
    const sender = createSender();
    const first = await sender.deliver(request(url));
    const second = await sender.deliver(request(url));
    sender.close();
    expect([first.answer?.status, second.answer?.status]).toEqual([200, 200]);
    expect([first.timings.reused, second.timings.reused]).toEqual([false, false]);
    expect(second.resetInUse).toBe(true);
    expect(seen()).toEqual({ connections: 2, requests: 3 });
  });

  it('that is closed after a pause counts as an idle connection', async () => {
    const { url } = await closing([1, 1]);
    const sender = createSender();
    await sender.deliver(request(url));
    await delay(250);
    const { answer, resetInUse } = await sender.deliver(request(url));
    sender.close();
    expect([answer?.status, resetInUse]).toEqual([200, undefined]);
  });

  it('is not replaced when its end is to be seen', async () => {
    const { url, seen } = await closing([1, 1]);
    const sender = createSender();
    await sender.deliver(request(url));
    const { error } = await sender.deliver(largeRequest(url, 20_000_000), { replaceClosed: false });
    sender.close();
    expect(error).toMatchObject({ kind: 'reset', phase: 'send' });
    expect(seen()).toEqual({ connections: 1, requests: 2 });
  });

  it('is given up after the second time', async () => {
    const { url, seen } = await closing([1, 0, 1]);
    const sender = createSender();
    await sender.deliver(request(url));
    const { answer, error } = await sender.deliver(request(url));
    sender.close();
    expect({ answer, kind: error?.kind }).toEqual({ answer: null, kind: 'reset' });
    expect(seen()).toEqual({ connections: 2, requests: 3 });
  });

  it('takes the other idle connections with it', async () => {
    const sockets: Socket[] = [];
    let broken = false;
    const url = await rawServer((socket) => {
      sockets.push(socket);
      const old = sockets.length <= 3;
      socket.on('data', () => (old && broken ? socket.resetAndDestroy() : socket.write(OK)));
    });
    const sender = createSender();
    await Promise.all([1, 2, 3].map(() => sender.deliver(request(url))));
    broken = true;
    const { answer } = await sender.deliver(request(url));
    expect(answer?.status).toBe(200);
    await Promise.all(sockets.slice(0, 3).map((socket) => socket.destroyed || once(socket, 'close')));
    expect(sockets.length).toBe(4);
    sender.close();
  });

  it('is not repeated by a single exchange, which says that the connection was a kept one', async () => {
    const { url, seen } = await closing([2, 1]);
    const connections = createConnections();
    const agent = connections.agentFor(url);
    for (const isReused of [false, true]) {
      const { answer, timings } = await exchange(request(url), { agent });
      expect([answer?.status, timings.reused]).toEqual([200, isReused]);
    }
    const { error, timings } = await exchange(request(url), { agent });
    connections.close();
    expect([error?.kind, timings.reused]).toEqual(['reset', true]);
    expect(seen()).toEqual({ connections: 1, requests: 3 });
  });
});

describe('a new connection', () => {
  it('that is reset is not tried again', async () => {
    const { url, seen } = await closing([0]);
    const sender = createSender();
    expect((await sender.deliver(request(url))).error?.kind).toBe('reset');
    sender.close();
    expect(seen()).toEqual({ connections: 1, requests: 1 });
  });
});

describe('a sender', () => {
  it('delivers at the same time, on as many connections as it takes', async () => {
    const waiting: (() => void)[] = [];
    const url = await httpServer((incoming, response) => {
      incoming.resume().on('end', () => {
        waiting.push(() => response.end());
        // No request is answered before all have arrived, so one connection is not enough.
        if (waiting.length === 12) for (const answer of waiting) answer();
      });
    });
    const sender = createSender({ timeoutMs: 5_000 });
    const attempts = await Promise.all(Array.from({ length: 12 }, () => sender.deliver(request(url))));
    sender.close();
    expect(attempts.map(({ answer }) => answer?.status)).toEqual(Array(12).fill(200));
  });

  it('delivers one after the other when it is allowed one connection', async () => {
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
    const sender = createSender({ maxSockets: 1 });
    const attempts = await Promise.all(Array.from({ length: 12 }, () => sender.deliver(request(url))));
    sender.close();
    expect(attempts.map(({ answer }) => answer?.status)).toEqual(Array(12).fill(200));
    expect(attempts.map(({ timings }) => timings.reused)).toEqual([false, ...Array(11).fill(true)]);
    expect(most).toBe(1);
  });

  it('leaves no timer and no busy socket behind', async () => {
    const active = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const url = await httpServer(ok);
    const before = active();
    const sender = createSender({ timeoutMs: 60_000 });
    for (let turn = 0; turn < 20; turn++) await sender.deliver(request(url));
    expect(active()).toBeLessThanOrEqual(before);
    sender.close();
  });

  it('that is closed ends what is under way', async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const url = await rawServer((socket) => socket.on('data', () => arrived()));
    const sender = createSender();
    const running = sender.deliver(request(url));
    await arrival;
    sender.close();
    expect((await running).error?.kind).toBe('reset');
  });
});
