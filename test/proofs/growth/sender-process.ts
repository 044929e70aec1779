/**
 * The sender core in a process, for the measurements of its growth: deliveries to several endpoints at once, idle
 * connections, and deliveries that wait. It executes the commands on its channel, one after another.
 */
import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createSender, prepare, type Sender, type SenderOptions } from '../../../harness/sender/index.ts';
import { buyNotification, idOf } from '../bench/notification.ts';

export type Order =
  /**
   * Keeps this many deliveries in flight to each endpoint, on as many connections, with at least one delivery on each.
   */
  | {
      readonly kind: 'deliver';
      readonly endpoints: readonly string[];
      readonly connections: number;
      readonly ms: number;
    }
  /**
   * Opens this many connections to each endpoint, each with one delivery, and measures the resources that they take.
   */
  | { readonly kind: 'idle'; readonly endpoints: readonly string[]; readonly connections: number }
  /** Lets this many deliveries wait behind one that is not answered, and measures the resources that they take. */
  | { readonly kind: 'waiting'; readonly endpoint: string; readonly deliveries: number };

export interface Load {
  readonly count: number;
  readonly elapsedMs: number;
  /** User and system time of the whole process, in microseconds. */
  readonly cpuUs: number;
  /** Number of deliveries for which a connection was opened. */
  readonly opened: number;
}

/** Growth of the memory of the process, in bytes, after a garbage collection; and the CPU time. */
export interface Held {
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly cpuUs: number;
}

const { GROWTH_SECRET: secret = '', GROWTH_API_KEY: apiKey = '', GROWTH_CA: ca } = process.env;
/**
 * Time limit, in milliseconds. Thousands of handshakes at once and waiting deliveries take longer than the default
 * limit.
 */
const LONG_TIMEOUT_MS = 120_000;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Resolves every name to this machine, so that one server serves as several endpoints. */
const LOOKUP: SenderOptions['lookup'] = (_host, _options, callback) =>
  process.nextTick(callback, null, [{ address: '127.0.0.1', family: 4 }]);

function senderWith(options: SenderOptions): Sender {
  return createSender({
    ...options,
    timeoutMs: LONG_TIMEOUT_MS,
    lookup: LOOKUP,
    ...(ca !== undefined && { tls: { ca } }),
  });
}

let number = 0;
/** Returns a function that sends deliveries to a URL. Each one has its own id, and is serialised and signed. */
const nextTo = (url: string) =>
  prepare(buyNotification(idOf(number++)), { url, signing: { secret }, apiKey: { value: apiKey } });

let current: { readonly key: string; readonly sender: Sender } | undefined;

async function deliver({ endpoints, connections, ms }: Extract<Order, { kind: 'deliver' }>): Promise<Load> {
  const key = `${endpoints.join()} ${connections}`;
  if (current?.key !== key) {
    current?.sender.close();
    current = { key, sender: senderWith({ maxSockets: connections, maxWaiting: connections }) };
  }
  const { sender } = current;
  const before = process.cpuUsage();
  const start = performance.now();
  const end = start + ms;
  let count = 0;
  let opened = 0;
  const lane = async (url: string) => {
    do {
      const { answer, error, timings } = await sender.deliver(nextTo(url));
      if (answer?.status !== 200) throw new Error(`a delivery ended with ${answer?.status ?? error?.message}`);
      count += 1;
      if (!timings.reused) opened += 1;
    } while (performance.now() < end);
  };
  await Promise.all(endpoints.flatMap((url) => Array.from({ length: connections }, () => lane(url))));
  const { user, system } = process.cpuUsage(before);
  return { count, elapsedMs: performance.now() - start, cpuUs: user + system, opened };
}

async function hold(fill: (sender: Sender) => Promise<unknown>, options: SenderOptions): Promise<Held> {
  const sender = senderWith(options);
  await settle();
  const before = process.memoryUsage();
  const cpuBefore = process.cpuUsage();
  const filled = await fill(sender);
  const { user, system } = process.cpuUsage(cpuBefore);
  await settle();
  const after = process.memoryUsage();
  sender.close();
  await filled;
  return {
    heapBytes: after.heapUsed + after.external - before.heapUsed - before.external,
    residentBytes: after.rss - before.rss,
    cpuUs: user + system,
  };
}

/** Collects garbage until only the needed memory is left. */
async function settle(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function idle({ endpoints, connections }: Extract<Order, { kind: 'idle' }>): Promise<Held> {
  const open = async (sender: Sender) => {
    // One endpoint after another: a server has a short queue of connections that it has not accepted.
    for (const url of endpoints) {
      const attempts = await Promise.all(Array.from({ length: connections }, () => sender.deliver(nextTo(url))));
      const failed = attempts.find(({ answer }) => answer?.status !== 200);
      if (failed !== undefined) throw new Error(`a delivery ended with ${failed.error?.message}`);
    }
    const [kept, opened] = [sender.state().idle, endpoints.length * connections];
    if (kept !== opened) throw new Error(`${kept} of ${opened} connections are kept`);
  };
  return hold(open, { maxSockets: connections });
}

function waiting({ endpoint, deliveries }: Extract<Order, { kind: 'waiting' }>): Promise<Held> {
  const queue = async (sender: Sender) => {
    const all = Array.from({ length: deliveries + 1 }, () => sender.deliver(nextTo(endpoint)));
    if (sender.state().waiting !== deliveries) throw new Error(`${sender.state().waiting} deliveries wait`);
    // The deliveries are not awaited here, because they end when the sender is closed.
    return { ended: Promise.all(all) };
  };
  return hold(queue, { maxSockets: 1, maxWaiting: deliveries });
}

function follow(order: Order): Promise<Load | Held> {
  if (order.kind === 'deliver') return deliver(order);
  return order.kind === 'idle' ? idle(order) : waiting(order);
}

process.on('message', async (order: Order) => process.send?.(await follow(order)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
