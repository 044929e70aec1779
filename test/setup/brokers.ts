/** Starts NATS and RabbitMQ in temporary folders, for tests and measurements. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../endpoints/listen.ts';
import { pathOf } from './programs.ts';

export interface BrokerServer {
  readonly url: string;
  /**
   * Whether a stream or queue survives a kill. RabbitMQ 3.10 writes the registration of a new quorum queue about three
   * seconds later. When it is killed before, the queue never has a leader again, and no message is confirmed.
   */
  isOnDisk(name: string): boolean;
  /** Ends the broker with SIGKILL, and resolves when it has ended. */
  kill(): Promise<void>;
  /** Starts the broker again with the same port and data. */
  start(): Promise<void>;
  /** Ends the broker and removes its folder. */
  remove(): Promise<void>;
}

/** Starts NATS with JetStream. */
export async function startNats(): Promise<BrokerServer> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-nats-'));
  const port = await freePort();
  const command = [pathOf('nats-server') ?? '', '-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder];
  return { ...(await startBroker(`nats://127.0.0.1:${port}`, folder, [{ command, port }])), isOnDisk: () => true };
}

/**
 * RabbitMQ's own program. Debian's program on the PATH changes the user and the folder; this one runs as any user in
 * any folder.
 */
const DEBIAN_RABBITMQ = '/usr/lib/rabbitmq/bin/rabbitmq-server';

/** Starts RabbitMQ without plugins, and the name server that Erlang needs. */
export async function startRabbitmq(): Promise<BrokerServer> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-rabbitmq-'));
  const [port, namesPort, peersPort] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const env = {
    PATH: process.env.PATH,
    // Erlang stores its cookie in HOME.
    HOME: folder,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(namesPort),
    // This replaces the shell script with the server, so that signals reach the server.
    RABBITMQ_ALLOW_INPUT: '1',
    RABBITMQ_CONFIG_FILE: file('rabbitmq.conf', `listeners.tcp.1 = 127.0.0.1:${port}\n`),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_DIST_PORT: String(peersPort),
    RABBITMQ_ENABLED_PLUGINS_FILE: file('enabled_plugins', '[].'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_NODENAME: 'hookproof@localhost',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
  };
  const program = existsSync(DEBIAN_RABBITMQ) ? DEBIAN_RABBITMQ : (pathOf('rabbitmq-server') ?? '');
  const broker = await startBroker(`amqp://guest:guest@127.0.0.1:${port}`, folder, [
    { command: ['epmd', '-port', String(namesPort), '-address', '127.0.0.1'], port: namesPort },
    { command: [program, '-noinput'], port, env },
  ]);
  const registry = join(folder, env.RABBITMQ_NODENAME, 'quorum', env.RABBITMQ_NODENAME, 'names.dets');
  return { ...broker, isOnDisk: (name) => readFileSync(registry).includes(name) };
}

interface Server {
  readonly command: readonly string[];
  /** The server is ready when it accepts connections on this port. */
  readonly port: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** Starts the servers in sequence. */
async function startBroker(url: string, folder: string, servers: readonly Server[]) {
  let running: { kill(): Promise<void> }[] = [];
  const kill = async () => {
    await Promise.all(running.map((server) => server.kill()));
    running = [];
  };
  const start = async () => {
    for (const server of servers) running.push(await startServer(server, folder));
  };
  const remove = async () => {
    await kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  };
  await start().catch(async (error) => {
    await remove();
    throw error;
  });
  return { url, kill, start, remove };
}

async function startServer({ command, port, env = process.env }: Server, folder: string) {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => output.push(String(bytes)));
  const ended = once(child, 'exit');
  // Ends the process even when a test is aborted.
  const onExit = () => child.kill('SIGKILL');
  process.on('exit', onExit);
  void ended.finally(() => process.off('exit', onExit)).catch(() => {});
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const deadline = performance.now() + 240_000;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      await kill();
      throw new Error(`${program} does not start: ${output.join('')}`);
    }
    await pause(50);
  }
  return { kill };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
