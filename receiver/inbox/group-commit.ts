/** Collects what arrives while the database is busy, and writes it at once. Nothing waits while the database is idle. */

/**
 * Gives the function that writes one item. `write` gets several, and gives one result for each in their order, or rejects for all of them.
 * `parallel` is how many writes may be under way; `sizeOf` and `maxSize` bound one write in bytes.
 */
export function groupCommit<Item, Result>(options: {
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly parallel: number;
  readonly maxItems: number;
  readonly maxSize: number;
  readonly sizeOf: (item: Item) => number;
}): { write(item: Item): Promise<Result>; settled(): Promise<void> } {
  const { write, parallel, maxItems, maxSize, sizeOf } = options;
  const waiting: { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }[] = [];
  const underWay = new Set<Promise<void>>();
  let scheduled = false;

  const take = () => {
    let size = 0;
    let count = 0;
    while (count < waiting.length && count < maxItems) {
      const next = waiting[count];
      size += next === undefined ? 0 : sizeOf(next.item);
      if (count > 0 && size > maxSize) break;
      count += 1;
    }
    return waiting.splice(0, count);
  };
  const start = () => {
    scheduled = false;
    while (waiting.length > 0 && underWay.size < parallel) {
      const batch = take();
      const writing = write(batch.map(({ item }) => item))
        .then((results) => {
          for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
        })
        .catch((error: unknown) => {
          for (const { reject } of batch) reject(error);
        })
        .finally(() => {
          underWay.delete(writing);
          start();
        });
      underWay.add(writing);
    }
  };
  return {
    write(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (scheduled || underWay.size >= parallel) return;
        // What else came in this turn of the event loop goes along.
        scheduled = true;
        setImmediate(start);
      });
    },
    async settled() {
      while (waiting.length + underWay.size > 0) {
        await new Promise(setImmediate);
        await Promise.all(underWay);
      }
    },
  };
}
