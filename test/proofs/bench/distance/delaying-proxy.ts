/**
 * A TCP proxy to BENCH_TARGET_PORT of loopback that makes the way longer: every byte takes BENCH_DELAY_MS in each
 * direction. What a client sends first takes a round trip more, for the TCP handshake that loopback makes in no time.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { announce } from '../servers/serve-variant.ts';

const target = Number(process.env.BENCH_TARGET_PORT);
const delayMs = Number(process.env.BENCH_DELAY_MS);

/** Runs what it is given after the delay, never before `notBefore`, and in the order in which it was given. */
function delayLine(notBefore: number): (action: () => void) => void {
  const waiting: (() => void)[] = [];
  return (action) => {
    waiting.push(action);
    setTimeout(() => waiting.shift()?.(), Math.max(delayMs, notBefore - performance.now()));
  };
}

/** Carries bytes, end and failure of one side to the other. */
function carry(from: Socket, to: Socket, later: (action: () => void) => void): void {
  from.on('data', (chunk) => later(() => to.writable && to.write(chunk)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => later(() => to.resetAndDestroy()));
}

const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const receiver = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  carry(client, receiver, delayLine(performance.now() + 3 * delayMs));
  carry(receiver, client, delayLine(0));
});
server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));
