/**
 * Shared code of the server processes of the benchmark: they listen, report their port, and report the resources that
 * they have used.
 */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The credentials with which the load was signed. */
export const SECRET = process.env.BENCH_SECRET ?? '';
export const API_KEY = process.env.BENCH_API_KEY ?? '';

/** The answer of a server process to a message. */
export interface Usage {
  /** User and system time of all threads of the process since it started, in microseconds. */
  readonly cpuUs: number;
  /** Transactions committed to disk since it started. */
  readonly commits: number;
}

/** Listens on a free loopback port, and reports it to the parent process. */
export function serveVariant(server: Server): void {
  server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));
}

/** Reports the port of a server that is already listening. */
export function announce(port: number, commits: () => number = () => 0): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const usage: Usage = { cpuUs: user + system, commits: commits() };
    process.send?.(usage);
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ port });
}

const ids = new Set<string>();

/** Remembers an id, and returns whether it is new. A receiver without a store remembers nothing else. */
export function remember(id: string): 'stored' | 'duplicate' {
  if (ids.has(id)) return 'duplicate';
  ids.add(id);
  return 'stored';
}

/** Keeps the event loop busy until the returned function is called. */
export function stayAwake(): () => void {
  let turn = setImmediate(function again() {
    turn = setImmediate(again);
  });
  return () => clearImmediate(turn);
}
