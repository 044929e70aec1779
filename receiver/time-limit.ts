/** Waiting no longer than a time. */

/**
 * Runs something with a signal that is aborted when its time is over or when the signal that is given is. Rejects when it does, or when its
 * time is over: it cannot be stopped, only told. `timeLimitMs` in milliseconds.
 */
export async function withTimeLimit(
  timeLimitMs: number,
  ending: AbortSignal,
  run: (signal: AbortSignal) => Promise<void> | void,
): Promise<void> {
  const limited = new AbortController();
  // Not AbortSignal.any: what it ties to a signal that lives as long as the receiver, Node 20 never lets go.
  const end = () => limited.abort(ending.reason);
  if (ending.aborted) end();
  ending.addEventListener('abort', end, { once: true });
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`the handler took longer than ${timeLimitMs} ms`);
      // First: a handler that rejects because of the signal must not be what is reported.
      reject(error);
      limited.abort(error);
    }, timeLimitMs);
    // A handler that hangs does not keep the process alive when everything else has ended.
    timer.unref();
  });
  try {
    await Promise.race([run(limited.signal), overdue]);
  } finally {
    clearTimeout(timer);
    ending.removeEventListener('abort', end);
  }
}

/** Resolves when the promise does, or when the time is over. */
export async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([promise, over]);
  clearTimeout(timer);
}

/** What `work` gives, or a rejection when it throws or takes longer than `ms` milliseconds. It is not stopped then. */
export async function withinTime<T>(work: () => Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work(), limit]);
  } finally {
    clearTimeout(timer);
  }
}
