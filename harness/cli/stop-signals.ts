/**
 * Handles SIGINT (Ctrl-C) and SIGTERM: the first signal stops the command in an orderly way, the second ends it at
 * once.
 */

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof EXIT_CODES;
const SIGNALS = Object.keys(EXIT_CODES) as StopSignal[];

/** Resolves on the first signal. The second one, of either kind, ends the process with 130 or 143. */
export function firstStopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let stopping = false;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        // Exits explicitly, because signals have no default action in the first process of a container.
        if (stopping) process.exit(EXIT_CODES[signal]);
        stopping = true;
        resolve(signal);
      });
    }
  });
}

export interface Interruption {
  /** Aborted on the first signal, so that the run ends and writes its partial report. */
  readonly signal: AbortSignal;
  /** Returns 130 or 143 after a signal, otherwise null. */
  exitCode(): number | null;
  dispose(): void;
}

/** Starts to handle signals. `says` is printed on the first one. */
export function interruptible(says = 'interrupted: writing the partial report'): Interruption {
  const controller = new AbortController();
  let code: number | null = null;
  const handlers = SIGNALS.map((name) => {
    const handler = () => {
      if (code !== null) process.kill(process.pid, 'SIGKILL');
      code = EXIT_CODES[name];
      process.stderr.write(`\n${says} (interrupt again to stop at once)\n`);
      controller.abort();
    };
    process.on(name, handler);
    return { name, handler };
  });
  return {
    signal: controller.signal,
    exitCode: () => code,
    dispose: () => {
      for (const { name, handler } of handlers) process.off(name, handler);
    },
  };
}
