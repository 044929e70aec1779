/** How notifications are isolated from a faulty one, and when the inbox reports that it cannot store anything. */
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { type DurableInbox, type Inbox, memoryInbox, openInbox } from '../../../receiver/index.ts';
import { query } from '../../proofs/durability/stored-state.ts';
import { newDatabase } from '../../setup/postgres.ts';
import { onEveryDatabase, onPostgres, received, STORES, type Store } from './stores.ts';

let store: Store;
let inbox: DurableInbox;

/**
 * Makes the database reject rows, as it does when it cannot represent a value, or when a page of an index is damaged.
 */
async function rejectRows(name: 'sqlite' | 'postgres', when: 'INSERT' | 'UPDATE', condition: string): Promise<void> {
  const url = store.url ?? '';
  if (name === 'sqlite') {
    const trigger = `CREATE TRIGGER bad BEFORE ${when} ON hookproof_inbox WHEN ${condition}`;
    await query(url, `${trigger} BEGIN SELECT RAISE(ABORT, 'a bad row'); END`);
    return;
  }
  const body = "BEGIN RAISE EXCEPTION 'a bad row' USING ERRCODE = '22P05'; END";
  await query(url, `CREATE FUNCTION bad() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`);
  const trigger = `CREATE TRIGGER bad BEFORE ${when} ON hookproof_inbox FOR EACH ROW WHEN (${condition})`;
  await query(url, `${trigger} EXECUTE FUNCTION bad()`);
}
const acceptRows = (name: 'sqlite' | 'postgres') =>
  query(store.url ?? '', name === 'sqlite' ? 'DROP TRIGGER bad' : 'DROP TRIGGER bad ON hookproof_inbox');
const ids = (count: number) => Array.from({ length: count }, (_, index) => `id-${index}`);

/**
 * Does something for each id, and again for those that only the time limit rejected, as senders deliver again. Returns
 * the ids whose rows the database rejects.
 */
async function rejectedOf(given: readonly string[], act: (id: string) => Promise<unknown>): Promise<string[]> {
  const reasons = await Promise.all(
    given.map((id) =>
      act(id).then(
        () => null,
        (error: Error) => error.message,
      ),
    ),
  );
  const late = given.filter((_, index) => reasons[index]?.includes('did not respond in time'));
  const again = late.length === 0 ? [] : await rejectedOf(late, act);
  return given.filter((id, index) => again.includes(id) || (reasons[index] !== null && !late.includes(id)));
}

onEveryDatabase('an inbox', (name) => {
  beforeEach(async () => {
    store = await STORES[name]();
    inbox = (await store.open()) as DurableInbox;
  });
  afterEach(async () => {
    await inbox.close();
    store.remove();
  });

  it('stores the neighbours of rows that the database rejects', async () => {
    await rejectRows(name, 'INSERT', "NEW.id IN ('id-17', 'id-60', 'id-61', 'id-119')");
    const given = ids(120);
    const put = (id: string) => inbox.put(received('BUY', { id }));
    expect(await rejectedOf(given, put)).toEqual(['id-17', 'id-60', 'id-61', 'id-119']);
    expect((await inbox.list({}, { limit: 200 })).length).toBe(116);
    await acceptRows(name);
    expect(await inbox.put(received('BUY', { id: 'id-17' }))).toBe('stored');
    expect(await inbox.put(received('BUY', { id: 'id-18' }))).toBe('duplicate');
  });

  it('ends the neighbours of claims whose end the database rejects', async () => {
    await Promise.all(ids(20).map((id) => inbox.put(received('BUY', { id }))));
    const claims = await inbox.claim(20, 60_000);
    await rejectRows(name, 'UPDATE', "OLD.id = 'id-7' AND NEW.state = 'done'");
    const settled: string[] = [];
    const settle = async (id: string) => {
      const claim = claims.find((each) => each.id === id)!;
      if (await inbox.settle({ claim, state: 'done', order: null })) settled.push(id);
    };
    const given = claims.map(({ id }) => id);
    expect(await rejectedOf(given, settle)).toEqual(['id-7']);
    expect(settled.toSorted()).toEqual(given.filter((id) => id !== 'id-7').toSorted());
    await acceptRows(name);
    expect(await rejectedOf(given, settle)).toEqual([]);
    expect(settled).toHaveLength(given.length);
    expect(settled.at(-1)).toBe('id-7');
  });

  it('is not ready after a failed write, until one succeeds: without traffic, one that it tries itself', async () => {
    await inbox.put(received('BUY'));
    await rejectRows(name, 'INSERT', '1 = 1');
    await expect(inbox.put(received('BUY'))).rejects.toThrow('a bad row');
    await expect(inbox.ping()).rejects.toThrow('a bad row');
    await expect(Promise.all([inbox.ping(), inbox.ping()])).rejects.toThrow('a bad row');
    await acceptRows(name);
    await inbox.ping();
    expect(await inbox.list({}, { limit: 10 })).toHaveLength(1);
    expect(await inbox.put(received('BUY'))).toBe('stored');
    await inbox.ping();
  });

  it('stores what a text column cannot hold', async () => {
    const odd = ['\0', 'a\0b', '\ud800', '\udfff\ud800', '\ufffe\uffff', '\u0001', 'x'.repeat(70_000)];
    const values = odd.map((text, index) => ({ id: `odd-${index}`, transactionId: text, status: text }));
    for (const each of values) expect(await inbox.put(received('BUY', each))).toBe('stored');
    for (const at of [0, 8.64e12]) expect(await inbox.put(received('BUY', { at }))).toBe('stored');
    const claims = await inbox.claim(100, 60_000);
    expect(claims).toHaveLength(odd.length + 2);
    for (const claim of claims) {
      expect(await inbox.settle({ claim, state: 'dead', error: 'Error: \ud83d and \uffff' })).toBe(true);
    }
  });
});

describe('an inbox in memory', () => {
  it('is not ready while it accepts nothing', async () => {
    const memory: Inbox = memoryInbox({ maxWaiting: 1 });
    await memory.ping();
    await memory.put(received('BUY'));
    await expect(memory.ping()).rejects.toThrow('too many notifications are waiting');
    const [claim] = await memory.claim(1, 0);
    await memory.settle({ claim: claim!, state: 'done', order: null });
    await memory.ping();
  });
});

onPostgres('a PostgreSQL database whose encoding is not UTF8', () => {
  for (const encoding of ['LATIN1', 'SQL_ASCII']) {
    it(`is an error at the start: ${encoding}`, async () => {
      const options = `ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`;
      const url = await newDatabase(inject('postgresUrl') ?? '', options);
      await expect(openInbox(url)).rejects.toMatchObject({
        code: 'INBOX_ENCODING',
        message: expect.stringContaining(encoding),
        hint: expect.stringContaining("ENCODING 'UTF8' TEMPLATE template0"),
      });
      const [row] = await query<{ found: string | null }>(url, "SELECT to_regclass('hookproof_inbox') AS found");
      expect(row?.found).toBeNull();
    });
  }
});
