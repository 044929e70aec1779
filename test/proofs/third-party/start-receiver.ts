/** Starts the receivers of the corpus, each in its own process and language. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { accepting, freePort } from '../../endpoints/listen.ts';
import type { Receiver } from './corpus.ts';

export interface Running {
  readonly port: number;
  /** If the process has ended since the last call, waits until it listens again. Resolves with whether it had ended. */
  readonly revive: () => Promise<boolean>;
  readonly stop: () => Promise<void>;
}

const FOLDER = new URL('./receivers/', import.meta.url).pathname;
/** The interpreter that finds Debian's packages. It may not be the first one on the PATH. */
const PYTHON = '/usr/bin/python3';

const isNode = (file: string) => extname(file) === '.mjs';

/** Returns the command that serves `file` on `port`. `scratch` is a folder for compiled programs. */
function commandOf(file: string, port: number, scratch: string): [string, string[]] {
  const path = join(FOLDER, file);
  const flags = ['--port', String(port)];
  switch (extname(file)) {
    case '.mjs':
      return [process.execPath, [path, ...flags]];
    case '.py':
      return [PYTHON, ['-B', path, ...flags]];
    case '.rb':
      return ['ruby', [path, ...flags]];
    case '.php':
      return ['php', ['-d', 'include_path=/usr/share/php', '-S', `127.0.0.1:${port}`, path]];
    default:
      return [join(scratch, basename(file, '.go')), flags];
  }
}

/** Returns why a receiver cannot run here. Null if it can. Compiles the receiver if necessary. */
export function whyUnavailable({ file, packages }: Receiver, scratch: string): string | null {
  const missing = packages.filter((name) => versionOf(name, file) === null);
  if (missing.length > 0) {
    return isNode(file) ? `${missing.join(', ')} not installed` : `needs the Debian packages ${missing.join(', ')}`;
  }
  if (extname(file) !== '.go') return null;
  const binary = join(scratch, basename(file, '.go'));
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };
  const sources = [join(FOLDER, file), join(FOLDER, 'start.go')];
  const built = spawnSync('go', ['build', '-o', binary, ...sources], { env, encoding: 'utf8' });
  return built.status === 0 ? null : `does not compile: ${built.stderr.trim().slice(0, 200)}`;
}

/**
 * Returns the installed version of a package of the receiver in `file`, from npm or from Debian. Null if it is not
 * installed.
 */
export function versionOf(name: string, file: string): string | null {
  if (isNode(file)) {
    try {
      const manifest = new URL(`./node_modules/${name}/package.json`, import.meta.url);
      return String(JSON.parse(readFileSync(manifest, 'utf8')).version);
    } catch {
      return null;
    }
  }
  const { stdout } = spawnSync('dpkg-query', ['--status', name], { encoding: 'utf8' });
  return stdout?.includes('Status: install ok installed') ? (/^Version: (.*)$/m.exec(stdout)?.[1] ?? null) : null;
}

/** Starts a receiver, waits until it accepts connections, and starts it again whenever its process ends. */
export async function startReceiver(
  { file }: Receiver,
  credentials: { readonly secret: string; readonly apiKey: string },
  scratch: string,
): Promise<Running> {
  const port = await freePort();
  const [program, args] = commandOf(file, port, scratch);
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
    ready = accepting(port, started);
    ready.catch(() => started.kill('SIGKILL'));
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
