/**
 * A sender in a process: it keeps 64 deliveries in flight for the requested duration, and reports their number and
 * their cost. BENCH_CLIENT names the client library.
 */
import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { performance } from 'node:perf_hooks';
import { buyNotification, idOf } from './notification.ts';

export interface ClientPhase {
  readonly durationMs: number;
}

export interface ClientResult {
  readonly count: number;
  readonly elapsedMs: number;
  /** User and system time of the whole process, in microseconds. */
  readonly cpuUs: number;
}

export type ClientName = 'node' | 'ours' | 'undici' | 'fetch';

/** Starts the delivery with this number, and calls `done` with the status when the whole answer has arrived. */
type Deliver = (number: number, done: (status: number) => void) => void;

const IN_FLIGHT = 64;
const { BENCH_URL = '', BENCH_SECRET: secret = '', BENCH_API_KEY: apiKey = '', BENCH_CLIENT = '' } = process.env;
const target = new URL(BENCH_URL);

/** The body that every client except ours delivers. It is serialised and signed before the measurement. */
const readyBody = JSON.stringify(buyNotification(idOf(0)));
const readyHeaders = {
  'Content-Type': 'application/json',
  'Content-Length': String(readyBody.length),
  'X-Service-Signature': createHmac('sha256', secret).update(readyBody).digest('base64'),
  'X-API-Key': apiKey,
};

/** Each client loads only its own library. */
const CLIENTS: Readonly<Record<ClientName, () => Promise<Deliver>>> = {
  async node() {
    const { request, Agent } = target.protocol === 'https:' ? https : http;
    const { hostname, port, pathname: path } = target;
    const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
    const options = { agent, hostname, port, path, method: 'POST', headers: readyHeaders };
    return (_number, done) => {
      const sent = request(options, (response) => {
        response.on('data', () => {});
        response.on('end', () => done(response.statusCode ?? 0));
      });
      sent.end(readyBody);
    };
  },
  /** Our sender core as it is used: each delivery has its own id, and is serialised, signed and sent. */
  async ours() {
    const { createSender, prepare } = await import('../../../harness/sender/index.ts');
    const sender = createSender();
    const partner = { url: BENCH_URL, signing: { secret }, apiKey: { value: apiKey } };
    return (number, done) =>
      void sender
        .deliver(prepare(buyNotification(idOf(number)), partner))
        .then(({ answer }) => done(answer?.status ?? 0));
  },
  async undici() {
    const { Pool } = await import('undici');
    const pool = new Pool(target.origin, { connections: IN_FLIGHT });
    const options = { path: target.pathname, method: 'POST', headers: readyHeaders, body: readyBody } as const;
    return (_number, done) =>
      void pool.request(options).then(async ({ statusCode, body }) => {
        await body.dump();
        done(statusCode);
      });
  },
  async fetch() {
    return (_number, done) =>
      void fetch(BENCH_URL, { method: 'POST', headers: readyHeaders, body: readyBody }).then(async (response) => {
        await response.arrayBuffer();
        done(response.status);
      });
  },
};

const deliver = await CLIENTS[BENCH_CLIENT as ClientName]();
let next = 0;
process.on('message', ({ durationMs }: ClientPhase) => {
  const before = process.cpuUsage();
  const start = performance.now();
  const end = start + durationMs;
  let count = 0;
  let inFlight = IN_FLIGHT;
  const deliverNext = () => deliver(next++, done);
  const done = (status: number) => {
    if (status !== 200) throw new Error(`client: answered ${status}`);
    count += 1;
    const now = performance.now();
    if (now < end) return deliverNext();
    inFlight -= 1;
    if (inFlight > 0) return;
    const { user, system } = process.cpuUsage(before);
    const result: ClientResult = { count, elapsedMs: now - start, cpuUs: user + system };
    process.send?.(result);
  };
  for (let started = 0; started < IN_FLIGHT; started++) deliverNext();
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
