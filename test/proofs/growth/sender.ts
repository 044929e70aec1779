/**
 * Measures how the sender core grows with endpoints and connections, and what idle connections and waiting deliveries
 * take.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { makeCertificate } from '../../../certs/index.ts';
import { listen } from '../../endpoints/listen.ts';
import { ask, compile, message, PINNED, start, stop } from '../bench/processes.ts';
import { sampleOf } from '../bench/rounds.ts';
import { startCountingRelay } from './counting-relay.ts';
import { note } from './progress.ts';
import type { Held, Load, Order } from './sender-process.ts';

const SLICES = 8;
const COUNTED_DELIVERIES_MS = 500;
const IDLE_AT_AN_ENDPOINT = 100;

interface Settings {
  readonly endpoints: readonly number[];
  /** Numbers of connections to each endpoint. */
  readonly connections: readonly number[];
  readonly warmUpMs: number;
  readonly sliceMs: number;
  /** Numbers of idle connections, in multiples of 100. The first number warms up each process. */
  readonly idle: readonly number[];
  /** Numbers of waiting deliveries. The first number warms up each process. */
  readonly waiting: readonly number[];
}

type Scheme = 'http' | 'https';
const SCHEMES: readonly Scheme[] = ['http', 'https'];

interface RateAt {
  readonly scheme: Scheme;
  readonly endpoints: number;
  /** Number of connections to each endpoint. */
  readonly connections: number;
  /** Deliveries per second. */
  readonly rate: number;
  readonly cpuUs: number;
}

interface HeldBy {
  readonly count: number;
  readonly held: Held;
}

export interface SenderMeasured {
  readonly rates: readonly RateAt[];
  readonly idle: Readonly<Record<Scheme, readonly HeldBy[]>>;
  readonly waiting: readonly HeldBy[];
  /** Bytes per delivery on kept connections, without the headers of TCP and IP. */
  readonly wire: Readonly<Record<Scheme, { readonly sentBytes: number; readonly receivedBytes: number }>>;
}

const nameOf = (endpoint: number) => `endpoint-${endpoint}.test`;
const urlsOf = (scheme: Scheme, port: number, endpoints: number) =>
  Array.from({ length: endpoints }, (_, at) => `${scheme}://${nameOf(at + 1)}:${port}/hooks`);

/** Returns the maximum number of endpoints that are used at once. */
function endpointsIn({ endpoints, idle }: Settings): number {
  return Math.max(...endpoints, ...idle.map((connections) => connections / IDLE_AT_AN_ENDPOINT));
}

export async function measureSender(settings: Settings): Promise<SenderMeasured> {
  await compile(['servers/sink.ts']);
  await compile(['sender-process.ts'], 'test/proofs/growth');
  const ca = await makeCertificate({ subject: 'CN=CA of the endpoints', authority: true });
  const { cert, key } = await makeCertificate({
    subject: 'CN=endpoints',
    issuer: ca,
    hosts: Array.from({ length: endpointsIn(settings) }, (_, at) => nameOf(at + 1)),
    usages: ['serverAuth'],
  });
  const client: NodeJS.ProcessEnv = {
    GROWTH_SECRET: randomBytes(32).toString('base64'),
    GROWTH_API_KEY: randomBytes(24).toString('base64url'),
    GROWTH_CA: ca.cert,
  };
  const server = (scheme: Scheme): NodeJS.ProcessEnv => ({
    ...(scheme === 'https' && { BENCH_CERT: cert, BENCH_KEY: key }),
    ...(PINNED && { BENCH_AWAKE: '1' }),
  });
  const rates: RateAt[] = [];
  const idle: Partial<Record<Scheme, HeldBy[]>> = {};
  const wire: Partial<Record<Scheme, { sentBytes: number; receivedBytes: number }>> = {};
  for (const scheme of SCHEMES) {
    await withSender(client, server(scheme), async (send, port) => {
      const relay = await startCountingRelay(port);
      wire[scheme] = await countWire(send, `${scheme}://${nameOf(1)}:${relay.port}/hooks`, relay);
      await relay.close();
    });
    for (const endpoints of settings.endpoints) {
      for (const connections of settings.connections) {
        note(`sender over ${scheme.toUpperCase()}: ${endpoints} x ${connections}`);
        await withSender(client, server(scheme), async (send, port) => {
          const urls = urlsOf(scheme, port, endpoints);
          const phase = (ms: number) => send<Load>({ kind: 'deliver', endpoints: urls, connections, ms });
          // A thousand handshakes take longer than the warm-up, which is for deliveries on open connections.
          await phase(0);
          await phase(settings.warmUpMs);
          const slices: Load[] = [];
          while (slices.length < SLICES) slices.push(await phase(settings.sliceMs));
          const opened = slices.reduce((total, slice) => total + slice.opened, 0);
          if (opened > 0)
            throw new Error(`${opened} connections were made while deliveries on kept ones were measured`);
          const { rate, cpuUs } = sampleOf(slices);
          rates.push({ scheme, endpoints, connections, rate, cpuUs });
        });
      }
    }
    note(`sender over ${scheme.toUpperCase()}: idle connections`);
    idle[scheme] = await heldBy(settings.idle, client, server(scheme), (port, connections) => {
      const endpoints = urlsOf(scheme, port, connections / IDLE_AT_AN_ENDPOINT);
      return { kind: 'idle', endpoints, connections: IDLE_AT_AN_ENDPOINT };
    });
  }
  note('sender: waiting deliveries');
  const silent = await listen(createServer(() => {}));
  let waiting: HeldBy[] = [];
  try {
    const endpoint = `http://${nameOf(1)}:${silent.port}/hooks`;
    waiting = await heldBy(settings.waiting, client, {}, (_port, deliveries) => {
      return { kind: 'waiting', endpoint, deliveries };
    });
  } finally {
    await silent.close();
  }
  return { rates, idle: idle as SenderMeasured['idle'], waiting, wire: wire as SenderMeasured['wire'] };
}

type Send = <T>(order: Order) => Promise<T>;

/** Starts a new process with a sender, and a new server on the other core. */
async function withSender(
  client: NodeJS.ProcessEnv,
  server: NodeJS.ProcessEnv,
  work: (send: Send, port: number) => Promise<void>,
): Promise<void> {
  const sink = start('servers/sink.ts', 1, server);
  const { port } = await message<{ port: number }>(sink);
  const sender = start('sender-process.ts', 0, client);
  try {
    await message(sender);
    await work((order) => ask(sender, order), port);
  } finally {
    await Promise.all([stop(sender), stop(sink)]);
  }
}

/** Counts the bytes of a delivery on a connection that is already open. */
async function countWire(send: Send, url: string, relay: Awaited<ReturnType<typeof startCountingRelay>>) {
  const order: Order = { kind: 'deliver', endpoints: [url], connections: 1, ms: COUNTED_DELIVERIES_MS };
  await send<Load>(order);
  const before = relay.traffic();
  const { count } = await send<Load>(order);
  const after = relay.traffic();
  return {
    sentBytes: (after.sentBytes - before.sentBytes) / count,
    receivedBytes: (after.receivedBytes - before.receivedBytes) / count,
  };
}

/** Measures each count in a new process, which measures the first one beforehand to warm up its code and caches. */
async function heldBy(
  counts: readonly number[],
  client: NodeJS.ProcessEnv,
  server: NodeJS.ProcessEnv,
  orderFor: (port: number, count: number) => Order,
): Promise<HeldBy[]> {
  const [first = 0, ...others] = counts;
  const rows: HeldBy[] = [];
  for (const count of others) {
    await withSender(client, server, async (send, port) => {
      await send<Held>(orderFor(port, first));
      rows.push({ count, held: await send<Held>(orderFor(port, count)) });
    });
  }
  return rows;
}
