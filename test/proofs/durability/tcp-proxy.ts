/** A TCP proxy in front of a database or of several receivers that can simulate network failures. */
import { once } from 'node:events';
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';

/**
 * - `through`: forwards everything
 * - `stalled`: keeps every connection open and forwards nothing
 * - `cut-answers`: forwards requests; when the server answers, both connections end and the answer is lost
 */
type ProxyMode = 'through' | 'stalled' | 'cut-answers';

export interface TcpProxy {
  readonly port: number;
  readonly counts: { cut: number };
  mode(mode: ProxyMode): void;
  close(): Promise<void>;
}

/** Starts a proxy that distributes connections to the targets in turn, and skips targets that are not listening. */
export async function startProxy(
  targets: readonly { readonly host: string; readonly port: number }[],
): Promise<TcpProxy> {
  const pairs = new Set<readonly [client: Socket, server: Socket]>();
  const counts = { cut: 0 };
  let mode: ProxyMode = 'through';
  let turn = 0;

  const connectToNext = async (): Promise<Socket | null> => {
    for (const _ of targets) {
      const socket = connectTo(targets[turn++ % targets.length] as { host: string; port: number });
      const connected = await once(socket, 'connect').then(
        () => true,
        () => false,
      );
      if (connected) return socket;
    }
    return null;
  };
  const join = (client: Socket, server: Socket) => {
    const pair = [client, server] as const;
    pairs.add(pair);
    const end = () => {
      client.destroy();
      server.destroy();
      pairs.delete(pair);
    };
    client.on('data', (chunk) => void server.write(chunk));
    server.on('data', (chunk) => {
      if (mode !== 'cut-answers') return void client.write(chunk);
      counts.cut += 1;
      end();
    });
    for (const socket of pair) socket.setNoDelay(true).on('error', end).on('close', end);
    if (mode === 'stalled') for (const socket of pair) socket.pause();
    else client.resume();
  };
  const listener = createServer({ pauseOnConnect: true }, (client) => {
    client.on('error', () => {});
    void connectToNext().then((server) => {
      if (server === null || client.destroyed) {
        client.destroy();
        server?.destroy();
      } else join(client, server);
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    counts,
    mode(next) {
      mode = next;
      for (const pair of pairs) for (const socket of pair) mode === 'stalled' ? socket.pause() : socket.resume();
    },
    async close() {
      listener.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
      await once(listener, 'close');
    },
  };
}

/** Returns the URL of a database through the proxy. */
export function throughProxy(url: string, { port }: TcpProxy): string {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}

export function addressOf(url: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
