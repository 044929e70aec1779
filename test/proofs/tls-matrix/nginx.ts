/** Runs one nginx for all cells that need it. Each cell has a server block with its own port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../../setup/programs.ts';

/**
 * As root, nginx starts its workers as a user who cannot read the folder. Otherwise it ignores `user` with a warning.
 */
const USER = process.getuid?.() === 0 ? 'user root;' : '';

/** A server block. `lines` are its other directives. */
interface Site {
  readonly cert: string;
  readonly key: string;
  readonly lines: string;
  /** The CA of the clients. */
  readonly clientCa?: string;
  /** The revocation list of that CA. */
  readonly revocations?: string;
  readonly http2?: true;
}

export interface Nginx {
  /** Registers a server block. The returned function starts nginx, once for all blocks, and resolves with the port. */
  add(site: () => Promise<Site>): () => Promise<number>;
  close(): Promise<void>;
}

export function createNginx(): Nginx {
  const sites: (() => Promise<Site>)[] = [];
  let running: Promise<Running> | undefined;
  return {
    add(site) {
      const at = sites.push(site) - 1;
      return async () => {
        running ??= start(sites);
        return (await running).ports[at] ?? 0;
      };
    },
    async close() {
      await (await running)?.close();
    },
  };
}

interface Running {
  readonly ports: readonly number[];
  close(): Promise<void>;
}

async function start(makes: readonly (() => Promise<Site>)[]): Promise<Running> {
  const sites = await Promise.all(makes.map((make) => make()));
  return runNginx(sites.length, async (ports, folder) => {
    const blocks = await Promise.all(sites.map((site, at) => blockOf(site, at, ports[at] ?? 0, folder)));
    return blocks.join('\n');
  });
}

/** Runs one nginx on free ports. `blocks` returns the server blocks, and writes their files to the temporary folder. */
export async function runNginx(
  count: number,
  blocks: (ports: readonly number[], folder: string) => Promise<string>,
): Promise<Running> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-'));
  const sockets = await Promise.all(Array.from({ length: count + 1 }, bind));
  const [alive = 0, ...ports] = sockets.map((socket) => (socket.address() as AddressInfo).port);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/t;`);
  await writeFile(
    join(folder, 'nginx.conf'),
    `${USER} daemon off; worker_processes 1; pid nginx.pid; error_log stderr crit;
    events { worker_connections 1024; }
    http { access_log off; ${paths.join(' ')}
      server { listen 127.0.0.1:${alive}; return 204; } ${await blocks(ports, folder)} }`,
  );
  const nginx = spawnOn(folder, sockets);
  let stderr = '';
  nginx.stderr?.on('data', (piece: Buffer) => {
    stderr += piece.toString();
  });
  const exited = once(nginx, 'exit');
  const ended = exited.then(() => Promise.reject(new Error(`nginx ended: ${stderr.slice(-500)}`)));
  await Promise.race([firstAnswer(alive), ended]);
  ended.catch(() => {});
  return {
    ports,
    async close() {
      nginx.kill();
      await exited;
      await rm(folder, { recursive: true });
    },
  };
}

/**
 * Binds a port that the system chooses. nginx inherits the socket, because a closed port could be taken by another
 * process.
 */
async function bind(): Promise<Server> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/**
 * Starts nginx, which inherits the listening sockets through the variable NGINX, as in its upgrades. Without a master
 * process, it crashes.
 */
function spawnOn(folder: string, sockets: readonly Server[]): ChildProcess {
  // Node has no public API for it.
  const numbers = sockets.map((socket) => (socket as unknown as { _handle: { fd: number } })._handle.fd);
  const nginx = spawn(pathOf('nginx') ?? 'nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe', ...numbers],
    env: { ...process.env, NGINX: numbers.map((_, at) => `${at + 3};`).join('') },
  });
  for (const socket of sockets) socket.close();
  return nginx;
}

async function blockOf(site: Site, at: number, port: number, folder: string): Promise<string> {
  const { cert, key, lines, clientCa, revocations, http2 } = site;
  await writeFile(join(folder, `${at}.pem`), cert);
  await writeFile(join(folder, `${at}.key`), key, { mode: 0o600 });
  if (clientCa !== undefined) await writeFile(join(folder, `${at}-clients.pem`), clientCa);
  if (revocations !== undefined) await writeFile(join(folder, `${at}-revoked.pem`), revocations);
  return `server {
    listen 127.0.0.1:${port} ssl${http2 === true ? ' http2' : ''};
    ssl_certificate ${at}.pem; ssl_certificate_key ${at}.key;
    ${clientCa === undefined ? '' : `ssl_client_certificate ${at}-clients.pem;`}
    ${revocations === undefined ? '' : `ssl_crl ${at}-revoked.pem;`}
    ${lines}
  }`;
}

/** Resolves with the first answer, because the sockets accept connections before nginx reads from them. */
function firstAnswer(port: number): Promise<void> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1' }, (response) => {
      response.resume();
      resolve();
    }).on('error', () => {});
  });
}
