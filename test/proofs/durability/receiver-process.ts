/** Starts and ends receivers in processes of their own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { HandlingPolicy } from '../../../receiver/index.ts';
import { SECRET } from './deliveries.ts';
import type { WrongWay } from './wrong-receivers.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/hookproof.js', import.meta.url));
const SCRIPT = fileURLToPath(new URL('receiver-script.ts', import.meta.url));
const BUNDLES = fileURLToPath(new URL('../../../node_modules/.cache/hookproof-durability/', import.meta.url));
const HANDLERS = fileURLToPath(new URL('recording-handlers.mjs', import.meta.url));

/** What a receiver counts itself: transactions, and the writes in them. */
export interface ReceiverCounts {
  commits: number;
  writes: number;
}

export interface ReceiverProcess {
  readonly pid: number;
  readonly url: string;
  /** SIGKILL, and gone. */
  kill(): Promise<void>;
  /** SIGTERM: gives its exit code, what it wrote to standard error, and what it has counted (the script only). */
  end(): Promise<{ readonly code: number | null; readonly words: string; readonly counts: ReceiverCounts | null }>;
}

export interface ReceiverSetup {
  /** `program`: the compiled command line, as a partner runs it. `script`: with the settings below. */
  readonly how: 'program' | 'script';
  readonly inbox: string;
  readonly folder: Folder;
  readonly handlerMs?: number;
  /** Without them, what is stored is done at once. The script only. */
  readonly withHandlers?: boolean;
  readonly wrong?: WrongWay;
  readonly handling?: Partial<HandlingPolicy>;
  readonly env?: NodeJS.ProcessEnv;
  /** Where it writes its log, when not into the folder. */
  readonly logFile?: string;
  /** Words in front of the command: `taskset -c 0`. */
  readonly under?: readonly string[];
}

/** Where the processes of one proof write. */
export interface Folder {
  readonly path: string;
  readonly handled: string;
  /** The log of every receiver of this folder. */
  log(): string;
  remove(): void;
}

export function openFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'hookproof-durability-'));
  const logFile = join(path, 'log');
  return {
    path,
    handled: join(path, 'handled'),
    log: () => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

export async function startReceiverProcess(setup: ReceiverSetup): Promise<ReceiverProcess> {
  const { how, inbox, folder, handlerMs = 0, withHandlers = true, wrong, handling, env = {}, under = [] } = setup;
  const command =
    how === 'program' ? [PROGRAM, 'receiver', '--port', '0', '--handlers', HANDLERS] : [await bundledScript()];
  const [first = '', ...rest] = [...under, process.execPath, ...command];
  const log = openSync(setup.logFile ?? join(folder.path, 'log'), 'a');
  const child = spawn(first, rest, {
    env: {
      ...process.env,
      HOOKPROOF_SECRET: SECRET,
      HOOKPROOF_INBOX: inbox,
      HANDLERS,
      HANDLED_FILE: folder.handled,
      HANDLER_MS: String(handlerMs),
      SETTINGS: JSON.stringify({ wrong, handling, withHandlers }),
      ...env,
    },
    stdio: ['ignore', log, 'pipe'],
  });
  closeSync(log);
  const ended = once(child, 'exit');
  // Later than the end of the process: what it has written last is read by then.
  const closed = once(child, 'close');
  // Nobody else ends it when a test is cut short.
  const onExit = () => child.kill('SIGKILL');
  process.on('exit', onExit);
  void ended.then(() => process.off('exit', onExit));
  let words = '';
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr as Readable }).on('line', (line) => {
      words += `${line}\n`;
      const [, listening] = /^listening at (\S+)$/.exec(line) ?? [];
      if (listening !== undefined) resolve(listening);
    });
    void ended.then(() => reject(new Error(`the receiver ended at its start: ${words}`)));
  });
  return {
    pid: child.pid ?? 0,
    url,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async end() {
      child.kill('SIGTERM');
      const [code] = (await closed) as [number | null];
      const [, counted] = /^counted (.*)$/m.exec(words) ?? [];
      return { code, words, counts: counted === undefined ? null : (JSON.parse(counted) as ReceiverCounts) };
    },
  };
}

let bundle: Promise<string> | undefined;

/**
 * The script as one file of JavaScript: it starts in a fifth of the time, and nothing of a compiler is in its memory.
 */
function bundledScript(): Promise<string> {
  bundle ??= (async () => {
    mkdirSync(BUNDLES, { recursive: true });
    const outfile = join(mkdtempSync(BUNDLES), 'receiver.mjs');
    process.once('exit', () => rmSync(join(outfile, '../..'), { recursive: true, force: true }));
    const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external', target: 'node20' } as const;
    await build({ ...options, entryPoints: [SCRIPT], outfile, external: [HANDLERS] });
    return outfile;
  })();
  return bundle;
}
