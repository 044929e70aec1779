/** Starts the receivers of the corpus, one process each, in whatever language they are written. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { basename, join } from 'node:path';

export type Language = 'node' | 'python' | 'php' | 'ruby' | 'go';

export interface Running {
  readonly port: number;
  /** Waits until the process listens again if it has ended since the last call; whether it had. */
  readonly revive: () => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

const FOLDER = new URL('./receivers/', import.meta.url).pathname;
/** The interpreter that sees Debian's packages, which need not be the first on the PATH. */
const PYTHON = '/usr/bin/python3';
const START_MS = 20_000;

/** The command that serves `file` on `port`. `scratch` is a folder for what has to be compiled. */
function commandOf(language: Language, file: string, port: number, scratch: string): [string, string[]] {
  const path = join(FOLDER, file);
  const flags = ['--port', String(port)];
  if (language === 'node') return [process.execPath, [path, ...flags]];
  if (language === 'python') return [PYTHON, ['-B', path, ...flags]];
  if (language === 'ruby') return ['ruby', [path, ...flags]];
  if (language === 'php') return ['php', ['-d', 'include_path=/usr/share/php', '-S', `127.0.0.1:${port}`, path]];
  return [join(scratch, basename(file, '.go')), flags];
}

/** Why a receiver cannot run here; null when it can. Compiles what has to be compiled. */
export function whyUnavailable(language: Language, file: string, packages: readonly string[], scratch: string) {
  const missing = packages.filter((name) => versionOf(name, language) === null);
  if (missing.length > 0) {
    return language === 'node'
      ? `${missing.join(', ')} not installed`
      : `needs the Debian packages ${missing.join(', ')}`;
  }
  if (language !== 'go') return null;
  const binary = join(scratch, basename(file, '.go'));
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };
  const sources = [join(FOLDER, file), join(FOLDER, 'start.go')];
  const built = spawnSync('go', ['build', '-o', binary, ...sources], { env, encoding: 'utf8' });
  return built.status === 0 ? null : `does not compile: ${built.stderr.trim().slice(0, 200)}`;
}

/** The installed version of an npm package of the corpus, or of a Debian package; null when there is none. */
export function versionOf(name: string, language: Language): string | null {
  if (language === 'node') {
    try {
      const file = new URL(`./node_modules/${name}/package.json`, import.meta.url);
      return String(JSON.parse(readFileSync(file, 'utf8')).version);
    } catch {
      return null;
    }
  }
  const { stdout } = spawnSync('dpkg-query', ['--status', name], { encoding: 'utf8' });
  return stdout?.includes('Status: install ok installed') ? (/^Version: (.*)$/m.exec(stdout)?.[1] ?? null) : null;
}

/** Starts a receiver, waits until it accepts connections, and starts it again whenever its process ends. */
export async function startReceiver(
  { file, language }: { readonly file: string; readonly language: Language },
  credentials: { readonly secret: string; readonly apiKey: string },
  scratch: string,
): Promise<Running> {
  const port = await freePort();
  const [program, args] = commandOf(language, file, port, scratch);
  const env = { ...process.env, RECEIVER_SECRET: credentials.secret, RECEIVER_API_KEY: credentials.apiKey };
  let child: ChildProcess;
  let ready: Promise<void>;
  let deaths = 0;
  let stopping = false;
  const begin = (): Promise<void> => {
    const started = spawn(program, args, { env, stdio: 'ignore', cwd: scratch });
    child = started;
    started.once('exit', () => {
      if (stopping) return;
      deaths += 1;
      // A receiver that cannot start at all fails the first time.
      if (hasStarted) setTimeout(() => !stopping && begin(), 50);
    });
    ready = listening(port, started);
    ready.catch(() => {});
    return ready;
  };
  let hasStarted = false;
  await begin();
  hasStarted = true;
  return {
    port,
    revive: async () => {
      const hadDied = deaths > 0;
      while (deaths > 0 && (child.exitCode !== null || child.signalCode !== null)) await pause(20);
      if (hadDied) await ready.catch(() => {});
      deaths = 0;
      return hadDied;
    },
    stop: () => {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
      return new Promise((resolve) => {
        child.once('exit', () => resolve());
        child.kill('SIGKILL');
      });
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  const end = Date.now() + START_MS;
  while (Date.now() < end) {
    if (child.exitCode !== null) throw new Error(`the receiver ended at its start with ${child.exitCode}`);
    if (await isOpen(port)) return;
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error(`the receiver did not listen within ${START_MS} ms`);
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
