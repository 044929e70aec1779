/**
 * Set-ups between the run and a receiver: nothing, nginx with default settings, our proxy, or a network with jitter.
 */
import { connect, createServer, type Socket } from 'node:net';
import { createTap, startRelay } from '../../../harness/proxy/index.ts';
import { reportWriteErrorsLate } from '../../../harness/transport/index.ts';
import { runNginx } from '../tls-matrix/nginx.ts';
import { listenOn, type StartedReceiver } from './correct/correct-receiver.ts';

export const SET_UPS = ['loopback', 'nginx', 'proxy', 'jitter'] as const;
export type SetUp = (typeof SET_UPS)[number];

const MAX_DELAY_MS = 200;

/** Puts a receiver behind a set-up. nginx and the proxy forward HTTP, so a receiver over TLS cannot be behind them. */
export async function behind(setUp: SetUp, receiver: StartedReceiver): Promise<StartedReceiver> {
  if (setUp === 'loopback') return receiver;
  const front = await STARTS[setUp](receiver.url);
  return {
    url: front.url,
    close: async () => {
      await front.close();
      await receiver.close();
    },
  };
}

const STARTS = { nginx: startNginx, proxy: startProxy, jitter: startJitter };

/** Starts the proxy as `hookproof proxy` runs it, with a tap that reads everything. */
async function startProxy(url: string): Promise<StartedReceiver> {
  const { hostname, port, pathname } = new URL(url);
  const relay = await startRelay({
    host: '127.0.0.1',
    port: 0,
    upstream: { host: hostname, port: Number(port) },
    maxConnections: 1000,
    tap: createTap({ budget: { take: () => true, release() {} }, maxRequestBytes: 2 ** 24, report() {} }),
  });
  return { url: `http://127.0.0.1:${relay.port}${pathname}`, close: () => relay.close() };
}

async function startNginx(url: string): Promise<StartedReceiver> {
  const { origin, pathname } = new URL(url);
  const nginx = await runNginx(1, async ([port]) => {
    return `server { listen 127.0.0.1:${port}; location / { proxy_pass ${origin}; } }`;
  });
  return { url: `http://127.0.0.1:${nginx.ports[0]}${pathname}`, close: () => nginx.close() };
}

/** Starts a relay that forwards bytes in order and delays each piece by up to 200 ms. */
async function startJitter(url: string): Promise<StartedReceiver> {
  const target = new URL(url);
  const port = Number(target.port);
  const front = await listenOn(
    createServer({ allowHalfOpen: true }, (client) => {
      const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      forward(client, server);
      forward(server, client);
    }),
  );
  target.port = new URL(front.url).port;
  return { url: target.href, close: front.close };
}

function forward(from: Socket, to: Socket): void {
  let last = Promise.resolve();
  const later = (act: () => void) => {
    const time = new Promise<void>((resolve) => setTimeout(resolve, Math.random() * MAX_DELAY_MS));
    last = last.then(() => time).then(act);
  };
  from.setNoDelay(true);
  reportWriteErrorsLate(from);
  from.on('data', (piece: Buffer) => later(() => void (to.writable && to.write(piece))));
  from.on('end', () => later(() => void to.end()));
  from.on('error', () => later(() => void to.destroy()));
  from.on('close', () => later(() => void to.destroySoon()));
}
