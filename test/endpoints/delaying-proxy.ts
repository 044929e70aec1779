/** A TCP proxy to a loopback port that delays every byte, so that a local server seems distant. */
import { connect, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type Endpoint, listen } from './listen.ts';

/**
 * Delays every byte by `oneWayMs` in each direction. The first bytes of a client are delayed by another round trip, for
 * the TCP handshake that loopback completes at once.
 */
export function startDelayingProxy(targetPort: number, oneWayMs: number): Promise<Endpoint> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    forward(client, target, delayLine(oneWayMs, performance.now() + 3 * oneWayMs));
    forward(target, client, delayLine(oneWayMs, 0));
  });
  return listen(server);
}

type DelayLine = (action: () => void) => void;

/** Runs actions after the delay, but not before `notBefore`, in the order in which they were added. */
function delayLine(delayMs: number, notBefore: number): DelayLine {
  const waiting: (() => void)[] = [];
  return (action) => {
    waiting.push(action);
    setTimeout(() => waiting.shift()?.(), Math.max(delayMs, notBefore - performance.now()));
  };
}

/** Forwards data, end and failure of one socket to the other. */
function forward(from: Socket, to: Socket, later: DelayLine): void {
  from.on('data', (chunk) => later(() => to.writable && to.write(chunk)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => later(() => to.resetAndDestroy()));
  from.on('close', () => later(() => to.destroy()));
}
