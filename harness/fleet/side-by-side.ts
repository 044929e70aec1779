/** Works through a list with several hands at a time, and few at the same host. */

export interface Limits<T> {
  /** How many at the same time. */
  readonly parallel: number;
  /** How many at the same time of one group. */
  readonly perGroup: number;
  readonly groupOf: (item: T) => string;
  /** Once it is aborted nothing more is begun; what is under way is waited for. */
  readonly signal: AbortSignal;
}

/**
 * Begins the items in order, but passes over those whose group is busy. Ends when everything that was begun has ended. `work` is to settle
 * its own errors: the first that it throws is thrown on, after the others have ended.
 */
export async function sideBySide<T>(
  items: readonly T[],
  { parallel, perGroup, groupOf, signal }: Limits<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const busy = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const next = () => waiting.findIndex((item) => (busy.get(groupOf(item)) ?? 0) < perGroup);
  for (;;) {
    for (let at = next(); at >= 0 && running.size < parallel && !signal.aborted && failures.length === 0; at = next()) {
      const [item] = waiting.splice(at, 1) as [T];
      const group = groupOf(item);
      busy.set(group, (busy.get(group) ?? 0) + 1);
      const one = work(item)
        .catch((error: unknown) => {
          failures.push(error);
        })
        .then(() => {
          busy.set(group, (busy.get(group) ?? 1) - 1);
          running.delete(one);
        });
      running.add(one);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  if (failures.length > 0) throw failures[0];
}
