/**
 * The parent's side of worker processes: starts them on demand, reuses them, and kills those that do not stop. Parent
 * and worker communicate over Node's channel.
 */
import { type ChildProcess, fork } from 'node:child_process';
import type { EndpointIdentity, Refusal } from '../../certify/index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import type { RunFacts } from '../../fleet.ts';
import { listedVariables } from '../../start-command.ts';

/** An order to the worker: certify this partner, or stop and report the results so far. */
export type Order =
  | {
      readonly kind: 'run';
      readonly config: ResolvedConfig;
      readonly folder: string;
    }
  | { readonly kind: 'stop' };

/** A reply from the worker. Everything in it is redacted. */
export type Reply =
  | {
      readonly kind: 'done';
      readonly facts: RunFacts;
      readonly refusals: readonly Refusal[];
      readonly identity: EndpointIdentity | null;
      readonly files: readonly string[];
    }
  /** Nothing was sent, because the partner's configuration does not allow it. */
  | { readonly kind: 'refused'; readonly message: string; readonly fix: string }
  | { readonly kind: 'broken'; readonly message: string };

/** The reply of a worker, or how it ended without one. */
export type WorkerEnd = Reply | { readonly kind: 'gone'; readonly how: string };

export interface Workers {
  /** Certifies one partner. `timedOut` is true if the run was stopped at its time limit. Never rejects. */
  run(order: Extract<Order, { kind: 'run' }>, limits: RunLimits): Promise<{ answer: WorkerEnd; timedOut: boolean }>;
  /** Ends all processes. */
  close(): void;
}

interface RunLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The first argument that starts the program as a worker. Not documented for users. */
const WORKER = '--fleet-worker';
/** How long a worker may take to reply after it was asked to stop. */
const GRACE_MS = 5000;
/** The heap of a worker in megabytes: four times what a whole run needs. */
const HEAP_MB = 512;
/** A process is replaced after this many partners, so that leaks cannot add up. */
const MAX_PARTNERS = 40;

/**
 * The environment variables of a worker: those through which Node finds its options, libraries, CAs, language and time
 * zone. No other variable is passed on, so that a worker never has the signing key, its passphrase, or the secrets of
 * other partners. The order to the worker contains the secrets of its partner.
 */
export const WORKER_VARIABLES: readonly string[] = [
  ...['SystemRoot', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ'],
  ...['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'NODE_TLS_REJECT_UNAUTHORIZED'],
  ...['OPENSSL_CONF', 'OPENSSL_MODULES', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'LD_LIBRARY_PATH'],
];

/** Whether this program is a single executable that contains Node. */
const isExecutable = process.getBuiltinModule('node:sea')?.isSea() === true;

/** Creates the workers, which run `program`. Default: this program itself. */
export function createWorkers(program = process.argv[1] ?? '', graceMs = GRACE_MS): Workers {
  const idle: { child: ChildProcess; served: number }[] = [];
  const all = new Set<ChildProcess>();

  function start() {
    const env = listedVariables(WORKER_VARIABLES);
    const heap = `--max-old-space-size=${HEAP_MB}`;
    // A single executable passes all arguments to the program, so Node's own options are in a variable.
    const [started, args, execArgv] = isExecutable
      ? [WORKER, [], []]
      : [program, [WORKER], [...process.execArgv, heap]];
    if (isExecutable) env.NODE_OPTIONS = `${env.NODE_OPTIONS ?? ''} ${heap}`.trim();
    const child = fork(started, args, {
      env,
      serialization: 'advanced',
      // Workers report only over the channel; their output would mix with the parent's.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv,
    });
    all.add(child);
    child.once('exit', () => all.delete(child));
    return { child, served: 0 };
  }

  return {
    run: (order, { timeoutMs, signal }) =>
      new Promise((resolve) => {
        let worker = idle.pop();
        while (worker !== undefined && !worker.child.connected) worker = idle.pop();
        const { child, served } = worker ?? start();
        let timedOut = false;
        let kill: NodeJS.Timeout | undefined;
        const send = (message: Order) => {
          // If the process has ended, its exit event settles the promise.
          if (child.connected) child.send(message, () => {});
        };
        const halt = () => {
          send({ kind: 'stop' });
          kill ??= setTimeout(() => child.kill('SIGKILL'), graceMs);
        };
        const limit = setTimeout(() => {
          timedOut = true;
          halt();
        }, timeoutMs);
        const settle = (answer: WorkerEnd) => {
          clearTimeout(limit);
          clearTimeout(kill);
          signal.removeEventListener('abort', halt);
          child.removeAllListeners('message').removeAllListeners('error').off('exit', onExit);
          child.on('error', () => {});
          if (answer.kind === 'done' && served + 1 < MAX_PARTNERS) idle.push({ child, served: served + 1 });
          else child.kill('SIGKILL');
          resolve({ answer, timedOut });
        };
        const onExit = (code: number | null, name: string | null) => {
          settle({ kind: 'gone', how: name === null ? `exit code ${code}` : `signal ${name}` });
        };
        child.on('message', (reply: Reply) => settle(reply));
        child.on('error', (error) => settle({ kind: 'gone', how: error.message }));
        child.on('exit', onExit);
        signal.addEventListener('abort', halt, { once: true });
        send(order);
        if (signal.aborted) halt();
      }),
    close() {
      for (const child of all) child.kill('SIGKILL');
    },
  };
}
