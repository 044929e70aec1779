/** Groups items that arrive while the database is busy into one write. No item waits while the database is idle. */
import { withTimeout } from '../with-timeout.ts';

/**
 * Returns a function that writes one item. `options.write` receives a batch, and resolves with one result per item in
 * the same order, or rejects for the whole batch. `parallel` limits the number of concurrent writes; `maxItems` and
 * `maxSize` (in the unit of `sizeOf`) limit a batch. When a batch is rejected with an error that a single item may have
 * caused (`isCausedByOneItem`), its halves are written one after the other, so that only that item is rejected. An item
 * that takes longer than `timeoutMs` milliseconds, including its wait, is rejected but may still be written.
 */
export function groupCommit<Item, Result>(options: {
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly parallel: number;
  readonly timeoutMs?: number;
  readonly maxItems: number;
  readonly maxSize: number;
  readonly sizeOf: (item: Item) => number;
  readonly isCausedByOneItem?: (error: unknown) => boolean;
}): { write(item: Item): Promise<Result>; settled(): Promise<void> } {
  const { write, parallel, timeoutMs, isCausedByOneItem = () => false } = options;
  const waiting: Waiting<Item, Result>[] = [];
  const underWay = new Set<Promise<void>>();
  let scheduled = false;

  /** Never rejects. */
  const writeBatch = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await write(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length > 1 && isCausedByOneItem(error)) {
        const half = Math.ceil(batch.length / 2);
        await writeBatch(batch.slice(0, half));
        await writeBatch(batch.slice(half));
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  };
  const start = () => {
    scheduled = false;
    while (waiting.length > 0 && underWay.size < parallel) {
      const batch = waiting.splice(0, countFitting(waiting, options));
      const writing = writeBatch(batch).finally(() => {
        underWay.delete(writing);
        start();
      });
      underWay.add(writing);
    }
  };
  return {
    write(item) {
      let withdraw = () => {};
      const written = new Promise<Result>((resolve, reject) => {
        const entry = { item, resolve, reject };
        waiting.push(entry);
        withdraw = () => {
          const at = waiting.indexOf(entry);
          if (at >= 0) waiting.splice(at, 1);
        };
        if (scheduled || underWay.size >= parallel) return;
        // The batch will include everything that arrives in this turn of the event loop.
        scheduled = true;
        setImmediate(start);
      });
      if (timeoutMs === undefined) return written;
      return withTimeout(
        () => written,
        timeoutMs,
        () => {
          withdraw();
          throw new Error('the database did not respond in time');
        },
      );
    },
    async settled() {
      while (waiting.length + underWay.size > 0) {
        await new Promise(setImmediate);
        await Promise.all(underWay);
      }
    },
  };
}

/** Counts how many of the first items fit into one batch. At least one always does. */
function countFitting<Item>(
  waiting: readonly { readonly item: Item }[],
  { maxItems, maxSize, sizeOf }: { maxItems: number; maxSize: number; sizeOf: (item: Item) => number },
): number {
  let size = 0;
  let count = 0;
  for (const { item } of waiting.slice(0, maxItems)) {
    size += sizeOf(item);
    if (count > 0 && size > maxSize) break;
    count += 1;
  }
  return count;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}
