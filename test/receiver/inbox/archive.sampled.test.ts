/** Access to an inbox while a receiver has it open. */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type DurableInbox, type EntryFilter, type InboxArchive, openArchive } from '../../../receiver/index.ts';
import { newDatabase } from '../../setup/postgres.ts';
import { filledInbox, onEveryDatabase, onPostgres, received, STORES, type Store } from './stores.ts';

onEveryDatabase('an archive', (name) => {
  let store: Store;
  let inbox: DurableInbox;
  let bodies: Map<string, Buffer>;
  let archive: InboxArchive;
  const idsOf = async (filter: EntryFilter) =>
    (await archive.summaries(filter, { limit: 1000, newestFirst: true })).map(({ id }) => id);

  beforeAll(async () => {
    store = await STORES[name]();
    inbox = (await store.open()) as DurableInbox;
    bodies = await filledInbox(inbox);
    archive = await openArchive(store.url ?? '', { readOnly: true });
  });
  afterAll(async () => {
    await archive.close();
    await inbox.close();
    store.remove();
  });

  it.each<[EntryFilter, string[]]>([
    [{ states: ['dead'] }, ['dead-wallet', 'dead-buy']],
    [{ states: ['dead', 'superseded'], kinds: ['CAAS_BUY'] }, ['late', 'dead-buy']],
    [{ kinds: ['REFUND'] }, ['waits']],
    [{ transactionId: 'order-2' }, ['runs']],
    [{ states: ['running'], since: new Date(0) }, ['runs']],
    [{ states: ['running'], since: new Date('2100-01-01') }, []],
    [{ states: ['running'], until: new Date('2100-01-01') }, ['runs']],
    [{ states: ['running'], until: new Date(0) }, []],
    [{ ids: ['waits', 'late', 'unknown'] }, ['waits', 'late']],
    [{ idPrefix: 'dead' }, ['dead-wallet', 'dead-buy']],
    [{ idPrefix: 'DEAD' }, []],
    [{ idPrefix: '%' }, []],
    [{ ids: ["x' OR '1'='1"] }, []],
    [{ states: [] }, []],
  ])('lists and counts the entries for %j', async (filter, expected) => {
    expect(await idsOf(filter)).toEqual(expected);
    const counts = await archive.count(filter);
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(expected.length);
  });

  it('finds an id by its original and by its stored form', async () => {
    const id = '"quoted"';
    await inbox.put({ ...received('WALLET', { id }), handle: false });
    const [stored] = await idsOf({ kinds: ['WALLET'] });
    expect(stored).not.toBe(id);
    expect([await idsOf({ ids: [id] }), await idsOf({ ids: [stored ?? ''] })]).toEqual([[stored], [stored]]);
    bodies.set(stored ?? '', received('WALLET', { id }).rawBody);
  });

  it('returns pages from both ends, without bodies', async () => {
    const [first, second] = await archive.summaries({}, { limit: 2 });
    expect([first?.id, second?.id]).toEqual(['dead-buy', 'dead-wallet']);
    expect(first).not.toHaveProperty('rawBody');
    expect(first?.bodyBytes).toBe(bodies.get('dead-buy')?.length);
    const [third] = await archive.summaries({}, { limit: 1, afterSeq: second?.seq ?? 0 });
    expect(third?.id).toBe('runs');
    const [before] = await archive.summaries({}, { limit: 1, newestFirst: true, afterSeq: second?.seq ?? 0 });
    expect(before?.id).toBe('dead-buy');
  });

  it('exports every entry once and byte for byte while a receiver writes', async () => {
    const got = new Map<string, Buffer>();
    let written = 0;
    for await (const { id, rawBody } of archive.everything({})) {
      expect(got.has(id)).toBe(false);
      got.set(id, rawBody);
      if (written < 300) await inbox.put({ ...received('WALLET', { id: `new-${written}` }), handle: false });
      written += 1;
    }
    expect([...got.keys()]).toEqual([...bodies.keys()]);
    for (const [id, body] of bodies) if (id !== '"\\"quoted\\""') expect(got.get(id)?.equals(body)).toBe(true);
    expect(written).toBe(bodies.size);
  });

  it('does not block a receiver while an export is open', async () => {
    const everything = archive.everything({});
    await everything.next();
    await expect(inbox.put({ ...received('WALLET', { id: 'meanwhile' }), handle: false })).resolves.toBe('stored');
    await everything.return();
  });

  it('changes nothing when it is read-only', async () => {
    await expect(archive.replay({ states: ['dead'] })).rejects.toThrow(/read-?only/);
    await expect(archive.prune(new Date())).rejects.toThrow(/read-?only/);
    expect(await idsOf({ states: ['dead'] })).toEqual(['dead-wallet', 'dead-buy']);
  });

  it('replays all pages, except what is running', async () => {
    const writing = await openArchive(store.url ?? '', { readOnly: false });
    const others = (await archive.count({})).get('done') ?? 0;
    expect(others).toBeGreaterThan(500);
    expect(await writing.replay({ states: ['done', 'running'] })).toBe(others);
    expect((await archive.count({})).get('running')).toBe(1);
    expect(await writing.replay({ states: ['running'] })).toBe(0);
    expect(await writing.replay({ ids: ['dead-buy'] })).toBe(1);
    const [replayed] = await archive.summaries({ ids: ['dead-buy'] }, { limit: 1 });
    // The last error is kept until the entry is handled.
    expect(replayed).toMatchObject({
      state: 'pending',
      attempts: 0,
      settledAt: null,
      lastError: expect.stringContaining('broke'),
    });
    await writing.close();
  });

  it('prunes finished entries and the progress of their orders only', async () => {
    const writing = await openArchive(store.url ?? '', { readOnly: false });
    const refund = received('REFUND', { id: 'kept refund', transactionId: 'kept', status: 'FAIL' });
    await inbox.put(received('SELL', { id: 'gone', transactionId: 'pruned' }));
    await inbox.put(received('SELL', { id: 'kept sell', transactionId: 'kept' }));
    await inbox.put({ ...refund, waitMs: 600_000 });
    for (let claims = await inbox.claim(200, 60_000); claims.length > 0; claims = await inbox.claim(200, 60_000)) {
      const settle = (claim: (typeof claims)[number]) => {
        const key = { gone: 'CAAS_SELL pruned', 'kept sell': 'CAAS_SELL kept' }[claim.id];
        const order = key === undefined ? null : { key, rank: 4, at: 1, failed: false };
        return inbox.settle({ claim, state: 'done', order });
      };
      await Promise.all(claims.map(settle));
    }
    expect(await writing.prune(new Date(Date.now() - 3_600_000))).toBe(0);
    const over = (await archive.count({ states: ['done', 'superseded'] })).values();
    const all = [...over].reduce((sum, count) => sum + count, 0);
    expect(await writing.prune(new Date(Date.now() + 3_600_000))).toBe(all);
    expect((await idsOf({})).toSorted()).toEqual(['dead-wallet', 'kept refund', 'runs', 'waits']);
    // The pruned order starts again. The order that a REFUND waits for keeps its progress.
    await inbox.put(received('SELL', { id: 'again', transactionId: 'pruned' }));
    await inbox.put(received('SELL', { id: 'goes on', transactionId: 'kept' }));
    const claims = await inbox.claim(10, 60_000);
    expect(claims.map(({ id, progress }) => [id, progress?.rank ?? null])).toEqual([
      ['again', null],
      ['goes on', 4],
    ]);
    await writing.close();
  });
});

describe('openArchive', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-no-inbox-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'text.db'), 'this is not a database, but long enough to look like one'.repeat(50));
  writeFileSync(join(folder, 'empty.db'), '');

  it.each<[string, string, string]>([
    ['a mistyped path', `file:${folder}/inbx.db`, 'INBOX_MISSING'],
    ['a folder', `file:${folder}`, 'INBOX_MISSING'],
    ['another file', `file:${folder}/text.db`, 'INBOX_OPEN'],
    ['an empty file', `file:${folder}/empty.db`, 'INBOX_MISSING'],
    ['another scheme', 'mysql://localhost/x', 'INBOX_URL'],
    ['no file', 'file:', 'INBOX_URL'],
    ['an unreachable server', 'postgres://someone@127.0.0.1:1/x', 'INBOX_OPEN'],
  ])('reports %s, and creates nothing', async (_what, url, code) => {
    for (const readOnly of [true, false]) {
      await expect(openArchive(url, { readOnly })).rejects.toMatchObject({ code, kind: 'usage' });
    }
    expect(readdirSync(folder).toSorted()).toEqual(['empty.db', 'text.db']);
    expect(statSync(join(folder, 'empty.db')).size).toBe(0);
  });

  onPostgres('an archive of a database', () => {
    it('reports a database without an inbox, and creates no table', async () => {
      const url = await newDatabase(inject('postgresUrl') ?? '');
      for (const readOnly of [true, false]) {
        await expect(openArchive(url, { readOnly })).rejects.toMatchObject({ code: 'INBOX_MISSING' });
      }
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query("SELECT 1 FROM pg_tables WHERE tablename LIKE 'hookproof%'");
      await client.end();
      expect(rows).toEqual([]);
    });
  });
});
