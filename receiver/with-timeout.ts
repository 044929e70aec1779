/**
 * Settles as `work` does, or with the result of `onTimeout` when `work` takes longer than `ms` milliseconds. The work
 * is not cancelled.
 */
export async function withTimeout<T>(work: () => Promise<T>, ms: number, onTimeout: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work(), timeout.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
