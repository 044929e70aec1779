const CODES = { SIGINT: 130, SIGTERM: 143 } as const;
type StopSignal = keyof typeof CODES;
const SIGNALS = Object.keys(CODES) as StopSignal[];

/** Resolves at the first SIGINT or SIGTERM. The second one, of either kind, ends the process at once with 130 or 143. */
export function firstStopSignal(): Promise<StopSignal> {
  let first = true;
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        // Not left to the default action of the signal: a process that is the first of a container has none.
        if (!first) process.exit(CODES[signal]);
        first = false;
        resolve(signal);
      });
    }
  });
}
