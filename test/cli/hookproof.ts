import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly input?: string;
}

/** The compiled program. */
export const MAIN = new URL('../../dist/bin/hookproof.js', import.meta.url).pathname;

const HOST = new URL('program-host.mjs', import.meta.url).pathname;
/** Maximum number of concurrent runs in one test worker. */
const MAX_HOSTS = 3;

const idle: ChildProcess[] = [];
const waiting: ((host: ChildProcess) => void)[] = [];
let hosts = 0;

/**
 * Runs the compiled program without the configuration of this process. Reuses a process of an earlier run if there is
 * one.
 */
export async function hookproof(args: readonly string[], options: ProgramOptions = {}): Promise<Finished> {
  const host = await availableHost();
  const { cwd = tmpdir(), input } = options;
  const printed: Buffer[] = [];
  const keep = (data: Buffer) => void printed.push(data);
  const over = new AbortController();
  host.stderr?.on('data', keep);
  try {
    const finished = once(host, 'message', over) as Promise<[Finished]>;
    const ended = once(host, 'close', over) as Promise<[number | null]>;
    host.send({ args, env: environment(options), cwd, input });
    return await Promise.race([
      finished.then(([{ code, stdout, stderr }]) => ({ code, stdout, stderr: stderr + Buffer.concat(printed) })),
      ended.then(([code]) => ({ code: code ?? -1, stdout: '', stderr: String(Buffer.concat(printed)) })),
    ]);
  } finally {
    over.abort();
    host.stderr?.off('data', keep);
    release(host);
  }
}

async function availableHost(): Promise<ChildProcess> {
  const host = idle.pop();
  if (host !== undefined) return host;
  if (hosts < MAX_HOSTS) return startHost();
  return new Promise((resolve) => waiting.push(resolve));
}

function startHost(): ChildProcess {
  hosts++;
  const host = fork(HOST, [MAIN], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  // The host ends with this process, and does not keep it running.
  host.unref();
  host.channel?.unref();
  return host;
}

/** Makes a host available for the next run. If the host has ended, the next run gets a new one. */
function release(host: ChildProcess): void {
  const isAlive = host.connected;
  if (!isAlive) hosts--;
  const next = waiting.shift();
  if (next !== undefined) next(isAlive ? host : startHost());
  else if (isAlive) idle.push(host);
}

function environment({ env }: ProgramOptions): NodeJS.ProcessEnv {
  const { PATH, HOME, XDG_STATE_HOME } = process.env;
  return { PATH, HOME, XDG_STATE_HOME, ...env };
}
