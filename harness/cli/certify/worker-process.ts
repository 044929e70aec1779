/** The workers as the asking process sees them: made when needed, used again, ended when they do not obey. */
import { type ChildProcess, fork } from 'node:child_process';
import type { EndpointIdentity, Refusal } from '../../certify/index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import type { RunFacts } from '../../fleet.ts';

/** How the process ended without a word. */
export type Answer = Reply | { readonly kind: 'gone'; readonly how: string };

export interface Workers {
  /** Has one partner certified. `timedOut`: it was told to stop because its time was over. Never rejects. */
  run(order: Extract<Order, { kind: 'run' }>, limits: RunLimits): Promise<{ answer: Answer; timedOut: boolean }>;
  /** Ends all processes. */
  close(): void;
}

interface RunLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** How long a worker may take from being told to stop to its last word. */
const GRACE_MS = 5000;
/** The heap of a worker, in megabytes: four times what a whole run needs. */
const HEAP_MB = 512;
/** A process is ended after so many partners, so that nothing can pile up in it. */
const MOST_PARTNERS = 40;

/** `program` is what is started: this program itself, as a worker. */
export function createWorkers(program = process.argv[1] ?? '', graceMs = GRACE_MS): Workers {
  const idle: { child: ChildProcess; served: number }[] = [];
  const all = new Set<ChildProcess>();

  function start() {
    const child = fork(program, [WORKER], {
      serialization: 'advanced',
      // What a worker has to say it says over the channel; its own streams would mix with ours.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [...process.execArgv, `--max-old-space-size=${HEAP_MB}`],
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
          // A process that is gone is told by its exit.
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
        const settle = (answer: Answer) => {
          clearTimeout(limit);
          clearTimeout(kill);
          signal.removeEventListener('abort', halt);
          child.removeAllListeners('message').removeAllListeners('error').off('exit', onExit);
          child.on('error', () => {});
          if (answer.kind === 'done' && served + 1 < MOST_PARTNERS) idle.push({ child, served: served + 1 });
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

/** What the processes of a certification of many partners say to each other, over the channel that Node makes between them. */

/** To the worker: certify this partner, or stop what is under way and say what is known. */
export type Order =
  | { readonly kind: 'run'; readonly config: ResolvedConfig; readonly folder: string }
  | { readonly kind: 'stop' };

/** From the worker. Everything in it is redacted. */
export type Reply =
  | {
      readonly kind: 'done';
      readonly facts: RunFacts;
      readonly refusals: readonly Refusal[];
      readonly identity: EndpointIdentity | null;
      readonly files: readonly string[];
    }
  /** Nothing was sent: what the partner gave cannot be delivered to. */
  | { readonly kind: 'refused'; readonly message: string; readonly fix: string }
  | { readonly kind: 'broken'; readonly message: string };

/** The first word of the command line that makes the program a worker. It is not for people. */
const WORKER = '--fleet-worker';
