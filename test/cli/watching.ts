/**
 * A session of `hookproof run --watch` in a pseudo-terminal, and its endpoint: the recipe for Express, which a
 * supervisor restarts when its file changes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recipeOf } from '../../contract/index.ts';
import { accepting, freePort } from '../endpoints/listen.ts';
import { MAIN } from './hookproof.ts';

/**
 * Types what it reads from standard input. At the end, it prints the exit code and whether the terminal was restored.
 */
const TERMINAL = `
import fcntl, json, os, pty, select, struct, subprocess, sys, termios
end, child_end = pty.openpty()
fcntl.ioctl(child_end, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
before = termios.tcgetattr(child_end)
child = subprocess.Popen(sys.argv[1:], stdin=child_end, stdout=child_end, stderr=child_end, start_new_session=True,
    preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
inputs = [end, 0]
while True:
    ready, _, _ = select.select(inputs, [], [], 0.05)
    if end in ready:
        sys.stdout.buffer.write(os.read(end, 65536))
        sys.stdout.flush()
    if 0 in ready:
        typed = os.read(0, 1024)
        if typed:
            os.write(end, typed)
        else:
            inputs.remove(0)
            child.terminate()
    if not ready and child.poll() is not None:
        break
restored = termios.tcgetattr(child_end) == before
sys.stderr.write(json.dumps({'code': child.returncode, 'restored': restored}))
`;

const SUPERVISOR = `
import { fork } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
const [file, beforeMs, downMs, starts] = process.argv.slice(2);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, Number(ms)));
const read = () => readFileSync(file, 'utf8');
let child;
process.on('SIGTERM', () => {
  child.kill('SIGKILL');
  process.exit();
});
for (;;) {
  const code = read();
  child = fork(file, { silent: true });
  child.stdout.on('data', (text) => String(text).includes('listening') && appendFileSync(starts, Date.now() + '\\n'));
  while (read() === code) await pause(20);
  await pause(beforeMs);
  child.kill('SIGKILL');
  await pause(downMs);
}
`;

/** The line of the recipe for Express that each fault replaces. */
const CHECK = '  return isKeyValid && (secrets.length === 0 || matches.includes(true));';
const RECIPES = new URL('../../recipes/', import.meta.url);
const NODE_MODULES = new URL('../../node_modules', import.meta.url).pathname;

/** Faults, each with a check that fails with this fault but not with the other two. */
export const FAULTS = {
  'signature/missing': `  const given = req.get('X-Service-Signature');
  return isKeyValid && (given === undefined || isSame(given, signature(secrets[0])));`,
  'signature/empty': `  const given = req.get('X-Service-Signature');
  return isKeyValid && (given === '' || isSame(given, signature(secrets[0])));`,
  'raw-body/spaces': `  let text = rawBody;
  try { text = JSON.stringify(JSON.parse(rawBody)); } catch {}
  const made = createHmac('sha256', WEBHOOK_SECRET).update(text).digest('base64');
  return isKeyValid && isSame(req.get('X-Service-Signature'), made);`,
} as const;

/** Matches the end of the output about a repetition. */
export const OUTCOME = /(?:\d+ checks? fails?; .*|\bgives\s+the\s+verdict\.|\bCONFORMANT\n.*not applicable.*)\n/;

export interface WatchedEndpoint {
  readonly folder: string;
  readonly url: string;
  readonly secret: string;
  /** Writes the receiver, either correct or with this line replaced. Returns the time, in milliseconds since 1970. */
  write(line?: string): Promise<number>;
  /** Returns the time at which the receiver last began to listen, in milliseconds since 1970. */
  lastStart(): Promise<number>;
  close(): Promise<void>;
}

/** Starts a correct receiver. The supervisor waits before it ends the old process, and before it starts the new one. */
export async function startWatched({ beforeMs = 0, downMs = 0 } = {}): Promise<WatchedEndpoint> {
  const base = await mkdtemp(join(tmpdir(), 'hookproof-watch-'));
  const folder = join(base, 'project');
  const file = join(folder, 'receiver.mjs');
  const starts = join(base, 'starts');
  const supervisor = join(base, 'supervisor.mjs');
  const secret = randomBytes(32).toString('base64');
  const port = await freePort();
  await mkdir(folder);
  const recipe = await readFile(new URL('express/receiver.mjs', RECIPES), 'utf8');
  for (const name of recipeOf('express').shared) await copyFile(new URL(name, RECIPES), join(folder, name));
  if (!recipe.includes(CHECK)) throw new Error('the recipe for Express has another line that checks the signature');
  await symlink(NODE_MODULES, join(folder, 'node_modules'));
  const write = async (line: string = CHECK) => {
    const now = Date.now();
    await writeFile(
      file,
      recipe.replace(CHECK, () => line),
    );
    return now;
  };
  await write();
  await writeFile(supervisor, SUPERVISOR);
  const child = spawn(process.execPath, [supervisor, file, String(beforeMs), String(downMs), starts], {
    env: { WEBHOOK_SECRET: secret, PORT: String(port), WEBHOOK_JOURNAL: join(base, 'journal.ndjson') },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await accepting(port, child);
  return {
    folder,
    url: `http://127.0.0.1:${port}/hooks`,
    secret,
    write,
    lastStart: async () => Number((await readFile(starts, 'utf8')).trimEnd().split('\n').at(-1)),
    close: async () => {
      const ended = once(child, 'close');
      child.kill('SIGTERM');
      await ended;
      await rm(base, { recursive: true, force: true });
    },
  };
}

export interface WatchSession {
  /** Waits until the screen shows this after the previous match, and returns the screen between the two. */
  shows(pattern: RegExp): Promise<string>;
  type(keys: string): void;
  signal(name: NodeJS.Signals): void;
  /** Waits for the end of the session. `restored` is null if the session has no terminal. */
  ended(): Promise<{ code: number; restored: boolean | null }>;
  close(): void;
}

/** Starts `hookproof run --watch` on the endpoint, in a terminal of 100 columns unless `terminal` is false. */
export function startSession(
  { folder, secret, url }: Pick<WatchedEndpoint, 'folder' | 'secret' | 'url'>,
  args: readonly string[],
  { terminal = true } = {},
): WatchSession {
  const { PATH, HOME, XDG_STATE_HOME } = process.env;
  const program = [process.execPath, MAIN, 'run', url, ...args];
  const [command = '', ...words] = terminal ? ['python3', '-c', TERMINAL, ...program] : program;
  const child: ChildProcess = spawn(command, words, {
    cwd: folder,
    env: { PATH, HOME, XDG_STATE_HOME, TERM: 'xterm', LANG: 'C.UTF-8', NO_COLOR: '1', HOOKPROOF_SECRET: secret },
    stdio: [terminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  let screen = '';
  let errors = '';
  let from = 0;
  let wake = () => {};
  child.stdout?.on('data', (data) => {
    // A terminal ends lines with CR LF.
    screen += String(data).replaceAll('\r', '');
    wake();
  });
  child.stderr?.on('data', (data) => {
    errors += data;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  void closed.then(() => wake());
  return {
    shows: async (pattern) => {
      for (;;) {
        const rest = screen.slice(from);
        const found = pattern.exec(rest);
        if (found !== null) {
          const end = found.index + found[0].length;
          from += end;
          return rest.slice(0, end);
        }
        if (child.exitCode !== null) throw new Error(`ended before ${pattern}: ${rest}\n${errors}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    type: (keys) => void child.stdin?.write(keys),
    signal: (name) => void child.kill(name),
    ended: async () => {
      const [code] = await closed;
      if (!terminal) return { code: code ?? -1, restored: null };
      return JSON.parse(errors) as { code: number; restored: boolean };
    },
    close: () => {
      if (terminal) child.stdin?.end();
      else child.kill('SIGKILL');
    },
  };
}
