/** Settles like `work`, or like `onTimeout` when `work` takes longer than `ms` milliseconds. The work continues. */
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
