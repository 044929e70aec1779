/** A TCP proxy to a port on loopback that delays every byte, so that a server on this machine seems far away. */
import { connect, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { type Endpoint, listen } from './listen.ts';

/**
 * Delays every byte by `oneWayMs` in each direction. The first bytes of a client take another round trip for the TCP
 * handshake, which loopback completes at once.
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

/** Runs each action after the delay, not before `notBefore`, and in the order in which they were added. */
function delayLine(delayMs: number, notBefore: number): DelayLine {
  const waiting: (() => void)[] = [];
  return (action) => {
    waiting.push(action);
    setTimeout(() => waiting.shift()?.(), Math.max(delayMs, notBefore - performance.now()));
  };
}

/** Forwards the data, the end and the failure of one socket to the other. */
function forward(from: Socket, to: Socket, later: DelayLine): void {
  from.on('data', (chunk) => later(() => to.writable && to.write(chunk)));
  from.on('end', () => later(() => to.end()));
  from.on('error', () => later(() => to.resetAndDestroy()));
  from.on('close', () => later(() => to.destroy()));
}
