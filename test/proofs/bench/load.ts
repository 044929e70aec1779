/**
 * The process that generates the load. It signs its requests once, before anything is measured, and then runs the
 * phases that arrive on its channel.
 */
import { createHmac } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { createHistogram, performance } from 'node:perf_hooks';
import { buyNotification, idOf } from './notification.ts';
import { stayAwake } from './servers/server-process.ts';

export interface LoadSettings {
  readonly requests: number;
  readonly credentials: Credentials;
}

export interface Phase {
  readonly port: number;
  readonly connections: number;
  /** How long new requests are started, in milliseconds. The phase ends when the last one has been answered. */
  readonly durationMs: number;
  /** The number of the first request. After the last one, the load continues with the first. */
  readonly from: number;
  /**
   * True if the load stays awake between answers, which occupies a whole core. In a virtual machine, waking another
   * process is the most expensive part of a write, and the server would be charged for it.
   */
  readonly awake: boolean;
  /** True if the ids ascend. Otherwise, their order looks random, like that of a real sender. */
  readonly ascending: boolean;
}

export interface PhaseResult {
  readonly count: number;
  /** Time from the first request to the last answer, in milliseconds. */
  readonly elapsedMs: number;
  /** The time from a request to its answer, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** Maximum size of an answer. Answers to these requests have a few hundred bytes. */
const MAX_ANSWER_BYTES = 16 * 1024;

/** A prime that does not divide the number of requests: each of them is sent once before the first is sent again. */
const SCATTER = 61_843;

const settings = JSON.parse(process.env.BENCH_LOAD ?? '{}') as LoadSettings;
const requests = signedRequests(settings.requests, settings.credentials);
process.on('message', async (phase: Phase) => process.send?.(await runPhase(phase)));
process.on('disconnect', () => process.exit());
process.send?.('ready');

/** Opens the connections, and throws when an answer is not 200: rejections are cheap and would look fast. */
async function runPhase(phase: Phase): Promise<PhaseResult> {
  const latency = createHistogram();
  let next = phase.from;
  let count = 0;
  const start = performance.now();
  const end = start + phase.durationMs;
  let last = start;

  const take = () => {
    const number = next++;
    return requests.at((phase.ascending ? number : number * SCATTER) % requests.count);
  };
  const connection = async () => {
    let sentAt = performance.now();
    await openConnection(phase.port, take(), (status) => {
      if (status !== 200) throw new Error(`load: answered ${status}`);
      last = performance.now();
      latency.record(Math.max(1, Math.round((last - sentAt) * 1e6)));
      sentAt = last;
      count += 1;
      return last < end ? take() : undefined;
    });
  };
  const sleepless = phase.awake ? stayAwake() : undefined;
  await Promise.all(Array.from({ length: phase.connections }, connection));
  sleepless?.();
  return {
    count,
    elapsedMs: last - start,
    p50: latency.percentile(50) / 1e6,
    p99: latency.percentile(99) / 1e6,
  };
}

/** Called with the status of each complete answer; returns the next request, or undefined to end the connection. */
type OnAnswer = (status: number) => Uint8Array | undefined;

/**
 * Opens a connection, sends `first`, and then a request after each answer. Resolves when the connection has ended
 * because there is nothing more to send. It does as little work as possible, because the load must not be the limit.
 */
function openConnection(port: number, first: Uint8Array, onAnswer: OnAnswer): Promise<void> {
  return new Promise((resolve, reject) => {
    const answer = Buffer.allocUnsafe(MAX_ANSWER_BYTES);
    let filled = 0;
    let done = false;
    const fail = (why: string) => {
      done = true;
      socket.destroy();
      reject(new Error(`load: ${why}`));
    };

    function read(length: number, chunk: Uint8Array): boolean {
      if (filled + length > MAX_ANSWER_BYTES) {
        fail('the answer is too long');
        return false;
      }
      // One buffer for all reads, instead of a new one for each.
      answer.set(length === chunk.length ? chunk : chunk.subarray(0, length), filled);
      filled += length;
      const size = answerLength(answer, filled);
      if (size === undefined || filled < size) return true;
      if (filled > size) {
        fail('received more than one answer to one request');
        return false;
      }
      filled = 0;
      const next = onAnswer(statusOf(answer));
      if (next !== undefined) socket.write(next);
      else {
        done = true;
        socket.end();
      }
      return true;
    }

    const socket: Socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: { buffer: Buffer.allocUnsafe(MAX_ANSWER_BYTES), callback: read },
    });
    socket.once('connect', () => socket.write(first));
    socket.once('error', (error) => fail(error.message));
    socket.once('close', () => {
      if (done) resolve();
      else fail('the server closed the connection');
    });
  });
}

/** Returns the length of the whole answer in bytes. Undefined until its head is complete. */
function answerLength(answer: Buffer, filled: number): number | undefined {
  const end = answer.indexOf(HEAD_END);
  if (end === -1 || end + HEAD_END.length > filled) return undefined;
  const declared = /\r\ncontent-length: *(\d+)/i.exec(answer.toString('latin1', 0, end))?.[1];
  if (declared === undefined) throw new Error('load: the answer has no Content-Length');
  return end + HEAD_END.length + Number(declared);
}

/** Returns the number in the three digits after `HTTP/1.1 `. */
function statusOf(answer: Buffer): number {
  const digit = (at: number) => (answer[at] ?? 0) - 48;
  return digit(9) * 100 + digit(10) * 10 + digit(11);
}

interface Credentials {
  readonly secret: string;
  readonly apiKey: string;
}

/** Complete requests, head and body, consecutive in one buffer. */
interface Requests {
  readonly count: number;
  /** Returns the bytes of one request. All requests have the same length. */
  at(index: number): Uint8Array;
}

/** Creates `count` deliveries, each with its own id and signature. */
function signedRequests(count: number, { secret, apiKey }: Credentials): Requests {
  const length = request(0, secret, apiKey).length;
  const slab = Buffer.allocUnsafe(count * length);
  for (let index = 0; index < count; index++) {
    slab.write(request(index, secret, apiKey), index * length, 'latin1');
  }
  return { count, at: (index) => slab.subarray(index * length, (index + 1) * length) };
}

/** Writes a request with the lines of the sender core. */
function request(number: number, secret: string, apiKey: string): string {
  const body = JSON.stringify(buyNotification(idOf(number)));
  return [
    'POST /hooks HTTP/1.1',
    'Host: 127.0.0.1:8080',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `X-Service-Signature: ${createHmac('sha256', secret).update(body).digest('base64')}`,
    `X-API-Key: ${apiKey}`,
    'Connection: keep-alive',
    '',
    body,
  ].join('\r\n');
}
