/** Ctrl-C and SIGTERM: the first ends the run and writes the partial report, the second ends the process at once. */

const CODES = { SIGINT: 130, SIGTERM: 143 } as const;

export interface Interruption {
  readonly signal: AbortSignal;
  /** 130 or 143 after a signal, else null. */
  exitCode(): number | null;
  dispose(): void;
}

export function interruptible(): Interruption {
  const controller = new AbortController();
  let code: number | null = null;
  const handlers = Object.entries(CODES).map(([name, value]) => {
    const handler = () => {
      if (code !== null) process.kill(process.pid, 'SIGKILL');
      code = value;
      process.stderr.write('\ninterrupted: writing what is known (again to stop at once)\n');
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
