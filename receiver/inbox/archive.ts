/**
 * An inbox as seen from outside, beside the receivers that use it: to look into it, to put entries back, to remove what is over. Nothing here takes
 * longer than a page of entries at a time, so that no receiver waits for it.
 */
import { countEntries, type EntryDatabase, listEntries, listSummaries, replayEntries } from './entries.ts';
import type { EntryFilter, EntryPage, EntryState, EntrySummary, InboxEntry } from './inbox.ts';

export interface InboxArchive {
  /** How many entries are in each state. */
  count(filter: EntryFilter): Promise<ReadonlyMap<EntryState, number>>;
  summaries(filter: EntryFilter, page: EntryPage): Promise<EntrySummary[]>;
  entries(filter: EntryFilter, page: EntryPage): Promise<InboxEntry[]>;
  /**
   * Every entry that is there now, once, in the order of arrival; each as it is when its page is read. Of what comes meanwhile there is nothing.
   */
  everything(filter: EntryFilter): AsyncGenerator<InboxEntry, void, undefined>;
  /** Makes entries due again, with all their attempts before them. What is running is left alone. Gives how many it were. */
  replay(filter: EntryFilter): Promise<number>;
  /** Removes what has been done or superseded since before a time, and what is known of its orders. Gives how many entries it were. */
  prune(before: Date): Promise<number>;
  close(): Promise<void>;
}

/** Entries in one page with their bodies, each of which may be as large as the limit of the receiver. */
const PAGE_WITH_BODIES = 50;
/** Rows that are changed in one transaction. */
const PAGE_OF_CHANGES = 200;

export function inboxArchive(database: EntryDatabase & { close(): Promise<void> }): InboxArchive {
  const { dialect, read, write } = database;
  const newest = async () => {
    const [row] = await read('SELECT MAX(seq) AS newest FROM hookproof_inbox');
    return Number(row?.newest ?? 0);
  };
  async function* pages(filter: EntryFilter): AsyncGenerator<readonly string[], void, undefined> {
    const all = { ...filter, upToSeq: await newest() };
    let afterSeq = 0;
    while (true) {
      const page = await listSummaries(database, all, { limit: PAGE_OF_CHANGES, afterSeq });
      const last = page.at(-1);
      if (last === undefined) return;
      afterSeq = last.seq;
      yield page.map(({ id }) => id);
    }
  }
  /** What is known of orders of which there is no entry any more. */
  async function pruneOrders(before: Date): Promise<void> {
    const p = dialect.parameter;
    while (true) {
      // Found without a lock, and only then removed.
      const rows = await read(
        `SELECT order_key FROM hookproof_orders WHERE at < ${p(1)} AND
          SUBSTR(order_key, CASE WHEN order_key LIKE 'CAAS_BUY %' THEN 10 ELSE 11 END)
            NOT IN (SELECT transaction_id FROM hookproof_inbox WHERE transaction_id IS NOT NULL)
         LIMIT ${PAGE_OF_CHANGES}`,
        [before.getTime()],
      );
      if (rows.length === 0) return;
      const keys = rows.map((row) => String(row.order_key));
      await write(
        `DELETE FROM hookproof_orders WHERE order_key IN (${keys.map((_, at) => p(at + 1)).join(', ')})`,
        keys,
      );
    }
  }
  return {
    count: (filter) => countEntries(database, filter),
    summaries: (filter, page) => listSummaries(database, filter, page),
    entries: (filter, page) => listEntries(database, filter, page),
    async *everything(filter) {
      const all = { ...filter, upToSeq: await newest() };
      let afterSeq = 0;
      while (true) {
        const page = await listEntries(database, all, { limit: PAGE_WITH_BODIES, afterSeq });
        yield* page;
        const last = page.at(-1);
        if (last === undefined) return;
        afterSeq = last.seq;
      }
    },
    async replay(filter) {
      let replayed = 0;
      for await (const ids of pages(filter)) replayed += await replayEntries(database, { ...filter, ids });
      return replayed;
    },
    async prune(before) {
      let pruned = 0;
      for await (const ids of pages({ states: ['done', 'superseded'], settledBefore: before })) {
        const places = ids.map((_, at) => dialect.parameter(at + 1)).join(', ');
        // It may have been put back meanwhile.
        const sql = `DELETE FROM hookproof_inbox WHERE id IN (${places}) AND state IN ('done', 'superseded')`;
        pruned += (await write(sql, ids)).changes;
      }
      await pruneOrders(before);
      return pruned;
    },
    close: () => database.close(),
  };
}
