/**
 * A TCP relay to a loopback port that counts connections and bytes. With TLS, it counts the bytes of the TLS records.
 */
import { connect, createServer } from 'node:net';
import { listen } from '../../endpoints/listen.ts';

export interface Traffic {
  readonly connections: number;
  /** Number of bytes from the client. */
  readonly sentBytes: number;
  /** Number of bytes to the client. */
  readonly receivedBytes: number;
}

export interface CountingRelay {
  readonly port: number;
  /** Returns the traffic since the start. */
  traffic(): Traffic;
  close(): Promise<void>;
}

export async function startCountingRelay(targetPort: number): Promise<CountingRelay> {
  let [connections, sentBytes, receivedBytes] = [0, 0, 0];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    connections += 1;
    const target = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    client.on('data', (chunk) => {
      sentBytes += chunk.length;
    });
    target.on('data', (chunk) => {
      receivedBytes += chunk.length;
    });
    client.pipe(target).pipe(client);
    client.on('error', () => target.resetAndDestroy());
    target.on('error', () => client.resetAndDestroy());
  });
  const { port, close } = await listen(server);
  return { port, traffic: () => ({ connections, sentBytes, receivedBytes }), close };
}
