/** Collects what arrives while the database is busy, and writes it at once. Nothing waits while the database is idle. */

/**
 * Gives the function that writes one item. `write` gets several, and gives one result for each in their order, or rejects for all of them.
 * `parallel` is how many writes may be under way; `sizeOf` and `maxSize` bound one write in bytes. What takes longer than `patienceMs` milliseconds,
 * its wait included, is rejected; when its write is under way it may still be written.
 */
export function groupCommit<Item, Result>(options: {
  readonly write: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly parallel: number;
  readonly patienceMs?: number;
  readonly maxItems: number;
  readonly maxSize: number;
  readonly sizeOf: (item: Item) => number;
}): { write(item: Item): Promise<Result>; settled(): Promise<void> } {
  const { write, parallel, patienceMs, maxItems, maxSize, sizeOf } = options;
  const waiting: Waiting<Item, Result>[] = [];
  const underWay = new Set<Promise<void>>();
  let scheduled = false;

  const giveUp = (entry: Waiting<Item, Result>) => {
    const at = waiting.indexOf(entry);
    if (at >= 0) waiting.splice(at, 1);
    entry.reject(new Error('the database did not answer in time'));
  };
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
        const entry = { item, resolve, reject };
        waiting.push(patienceMs === undefined ? entry : impatient(entry, patienceMs, giveUp));
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

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** The same entry, given up after a while. */
function impatient<Item, Result>(
  { item, resolve, reject }: Waiting<Item, Result>,
  patienceMs: number,
  giveUp: (entry: Waiting<Item, Result>) => void,
): Waiting<Item, Result> {
  const timer = setTimeout(() => giveUp(entry), patienceMs);
  const entry: Waiting<Item, Result> = {
    item,
    resolve(result) {
      clearTimeout(timer);
      resolve(result);
    },
    reject(error) {
      clearTimeout(timer);
      reject(error);
    },
  };
  return entry;
}
