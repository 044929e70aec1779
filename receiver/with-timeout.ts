/**
 * Settles as `work` does, or as `onTimeout` does when `work` takes longer than `ms` milliseconds. The work itself
 * continues.
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
