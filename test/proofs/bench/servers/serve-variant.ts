/** What every server of the benchmark does: it listens, tells its port, and says what it has used so far. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The credentials with which the load was signed. */
export const SECRET = process.env.BENCH_SECRET ?? '';
export const API_KEY = process.env.BENCH_API_KEY ?? '';

/** What a server says when it is asked. */
export interface Usage {
  /** User and system time of all threads of the process since it started, in microseconds. */
  readonly cpuUs: number;
  /** Transactions committed to disk since it started. */
  readonly commits: number;
}

/** Listens on a free port of loopback and tells it to the process that started this one. */
export function serveVariant(server: Server): void {
  server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));
}

/** Tells the port of a server that listens already. */
export function announce(port: number, commits: () => number = () => 0): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    const usage: Usage = { cpuUs: user + system, commits: commits() };
    process.send?.(usage);
  });
  process.on('disconnect', () => process.exit());
  process.send?.({ port });
}
