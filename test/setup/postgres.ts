/** Starts a PostgreSQL server in a temporary folder, for tests and measurements. */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { freePort } from '../endpoints/listen.ts';
import { pathOf } from './programs.ts';

export interface PostgresServer {
  /** The URL of its first database, including the password. */
  readonly url: string;
  /** Returns the id of its first process. */
  pid(): number;
  /** Kills the server like a crash, and resolves when it has ended. */
  kill(): Promise<void>;
  /** Restarts the server with the same port and data. */
  start(): Promise<void>;
  /** Stops the server and removes its folder. */
  remove(): Promise<void>;
}

/** The user for PostgreSQL, which refuses to run as root. Debian's package creates this user. */
const UNPRIVILEGED = 'postgres';

/**
 * Starts a server. Resolves with null if PostgreSQL is not installed. Rejects if it is installed but does not start.
 */
export async function startPostgres(): Promise<PostgresServer | null> {
  const program = pathOf('postgres');
  if (program === null) return null;
  const programs = dirname(program);
  const asRoot = process.getuid?.() === 0;
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-postgres-'));
  const data = join(folder, 'data');
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password);
  const command = (program: string, args: readonly string[]): [string, string[]] => {
    const path = join(programs, program);
    return asRoot ? ['runuser', ['-u', UNPRIVILEGED, '--', path, ...args]] : [path, [...args]];
  };
  if (asRoot) execFileSync('chown', ['-R', UNPRIVILEGED, folder]);
  chmodSync(passwordFile, 0o600);
  const options = ['-D', data, '-U', 'tester', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`, '-N', '-E', 'UTF8'];
  execFileSync(...command('initdb', [...options, '--locale=C']), { stdio: 'ignore', cwd: folder });
  const port = await freePort();
  const url = (database: string) => `postgres://tester:${password}@127.0.0.1:${port}/${database}`;

  let ended: Promise<unknown> = Promise.resolve();
  let pid = 0;
  const start = async () => {
    const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=60'];
    const [program, args] = command('postgres', ['-D', data, ...settings.flatMap((each) => ['-c', each])]);
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
    ended = once(child, 'exit');
    child.stderr.resume();
    await ready(url('postgres'), child);
    const [first = ''] = execFileSync('cat', [join(data, 'postmaster.pid')], { encoding: 'utf8' }).split('\n');
    pid = Number(first);
  };
  await start();
  return {
    url: url('postgres'),
    pid: () => pid,
    start,
    async kill() {
      // pg_ctl calls this "immediate": no message to clients, and a recovery at the next start.
      process.kill(pid, 'SIGQUIT');
      await ended;
    },
    async remove() {
      process.kill(pid, 'SIGQUIT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a new database on the server of a URL, and returns its URL. `options` are those of `CREATE DATABASE`. */
export async function newDatabase(serverUrl: string, options = ''): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(serverUrl, `CREATE DATABASE ${name} ${options}`);
  const url = new URL(serverUrl);
  url.pathname = name;
  return url.href;
}

async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function ready(url: string, child: ReturnType<typeof spawn>): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (true) {
    try {
      return await onServer(url, 'SELECT 1');
    } catch (error) {
      if (performance.now() > deadline || child.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
