/** Starts and ends receivers in their own processes, each with an empty store. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { HandlingPolicy } from '../../../receiver/index.ts';
import { newDatabase } from '../../setup/postgres.ts';
import { SECRET } from './deliveries.ts';
import type { Fault } from './faulty-receivers.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/hookproof.js', import.meta.url));
const SCRIPT = fileURLToPath(new URL('receiver-script.ts', import.meta.url));
const BUNDLES = fileURLToPath(new URL('../../../node_modules/.cache/hookproof-durability/', import.meta.url));
const HANDLERS = fileURLToPath(new URL('recording-handlers.mjs', import.meta.url));

/** The transactions that a receiver has committed, and the writes in them. */
export interface ReceiverCounts {
  commits: number;
  writes: number;
}

export interface ReceiverProcess {
  readonly pid: number;
  readonly url: string;
  /** Returns the status of /readyz, which only the script serves. */
  readiness(): Promise<number>;
  /** Sends SIGKILL, and resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and resolves when the process has ended. Only the script returns counts. */
  end(): Promise<{ readonly code: number | null; readonly stderr: string; readonly counts: ReceiverCounts | null }>;
}

/** Settings of the effects record in a file. */
export interface EffectsSetup {
  readonly file: string;
  /** Probability that the handler fails before it records, and after it, from 0 to 1. */
  readonly failures: number;
  /** Set for a faulty receiver that records an effect again each time the handler runs. */
  readonly ignoresKeys?: true;
  /** How long the handler works before it records, and after it, in milliseconds. */
  readonly beforeMs?: number;
  readonly afterMs?: number;
  /** Serves an effects window on this port. */
  readonly windowPort?: number;
}

export interface ReceiverSetup {
  /** `program` is the compiled command line, as a partner runs it. `script` supports the settings below. */
  readonly how: 'program' | 'script';
  readonly inbox: string;
  readonly folder: Folder;
  /** A script other than `receiver-script.ts`. */
  readonly script?: string;
  readonly handlerMs?: number;
  /** False for no handlers, so that a stored notification is settled at once. Script only. */
  readonly withHandlers?: boolean;
  readonly fault?: Fault;
  readonly handling?: Partial<HandlingPolicy>;
  /** Settings of the effects record. Script only. */
  readonly effects?: EffectsSetup;
  readonly env?: NodeJS.ProcessEnv;
  /** The file for its log. Default: one in the folder. */
  readonly logFile?: string;
  /** A command prefix for the receiver: `taskset -c 0`. */
  readonly commandPrefix?: readonly string[];
}

/** The folder to which the processes of one proof write. */
export interface Folder {
  readonly path: string;
  readonly handled: string;
  /** Returns the logs of all receivers in this folder. */
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
  const {
    how,
    inbox,
    folder,
    handlerMs = 0,
    withHandlers = true,
    fault,
    handling,
    effects,
    env = {},
    commandPrefix = [],
    script = SCRIPT,
  } = setup;
  const command =
    how === 'program' ? [PROGRAM, 'receiver', '--port', '0', '--handlers', HANDLERS] : [await bundledScript(script)];
  const [first = '', ...rest] = [...commandPrefix, process.execPath, ...command];
  const log = openSync(setup.logFile ?? join(folder.path, 'log'), 'a');
  const child = spawn(first, rest, {
    env: {
      ...process.env,
      HOOKPROOF_SECRET: SECRET,
      HOOKPROOF_INBOX: inbox,
      HANDLERS,
      HANDLED_FILE: folder.handled,
      HANDLER_MS: String(handlerMs),
      SETTINGS: JSON.stringify({ fault, handling, withHandlers, effects }),
      ...env,
    },
    stdio: ['ignore', log, 'pipe'],
  });
  closeSync(log);
  const ended = once(child, 'exit');
  // `close` follows the exit of the process, when its last output has been read.
  const closed = once(child, 'close');
  // Ends the process even when a test is aborted.
  const onExit = () => child.kill('SIGKILL');
  process.on('exit', onExit);
  void ended.then(() => process.off('exit', onExit));
  let stderr = '';
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr as Readable }).on('line', (line) => {
      stderr += `${line}\n`;
      const [, url] = /^listening at (\S+)$/.exec(line) ?? [];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`the receiver did not start: ${stderr}`)));
  });
  const url = await listening.catch((error: Error) => {
    if (!error.message.includes('connection timeout')) throw error;
    return null;
  });
  // On a busy machine, the time for the first connection can pass. Then it is started again, as by a supervisor.
  if (url === null) return startReceiverProcess(setup);
  const [, adminUrl = ''] = /^health and metrics at (\S+)$/m.exec(stderr) ?? [];
  return {
    pid: child.pid ?? 0,
    url,
    readiness: async () => (await fetch(new URL('readyz', adminUrl))).status,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    async end() {
      child.kill('SIGTERM');
      const [code] = (await closed) as [number | null];
      const [, counted] = /^counted (.*)$/m.exec(stderr) ?? [];
      return { code, stderr, counts: counted === undefined ? null : (JSON.parse(counted) as ReceiverCounts) };
    },
  };
}

const bundles = new Map<string, Promise<string>>();

/** Bundles a script into one JavaScript file, which starts five times as fast and has no compiler in memory. */
export function bundledScript(script = SCRIPT): Promise<string> {
  const bundle = bundles.get(script) ?? bundleScript(script);
  bundles.set(script, bundle);
  return bundle;
}

async function bundleScript(script: string): Promise<string> {
  mkdirSync(BUNDLES, { recursive: true });
  const outfile = join(mkdtempSync(BUNDLES), 'receiver.mjs');
  process.once('exit', () => rmSync(dirname(outfile), { recursive: true, force: true }));
  const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external', target: 'node20' } as const;
  await build({ ...options, entryPoints: [script], outfile, external: [HANDLERS] });
  return outfile;
}

export interface Store {
  readonly name: 'SQLite' | 'PostgreSQL';
  readonly url: string;
  readonly folder: Folder;
}

export function sqliteStore(): Store {
  const folder = openFolder();
  return { name: 'SQLite', url: pathToFileURL(join(folder.path, 'inbox.db')).href, folder };
}

/** Returns a store with a new database. `server` is the URL of a server on which databases can be created. */
export async function postgresStore(server: string): Promise<Store> {
  return { name: 'PostgreSQL', url: await newDatabase(server), folder: openFolder() };
}
