/** The inbox fails under load and recovers. `npm run proofs -- durability` tests more failures. */
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, it } from 'vitest';
import { loadSqlite } from '../../../receiver/inbox/sqlite-database.ts';
import { openInbox } from '../../../receiver/index.ts';
import {
  answersCut,
  diskFull,
  fileMoved,
  openSmallDisk,
  serverKilled,
  storeOn,
} from '../../proofs/durability/failures.ts';
import { type OutageOptions, outage } from '../../proofs/durability/outage.ts';
import {
  openFolder,
  postgresStore,
  sqliteStore,
  startReceiverProcess,
} from '../../proofs/durability/receiver-process.ts';
import { addressOf, startProxy, throughProxy } from '../../proofs/durability/tcp-proxy.ts';
import { startPostgres } from '../../setup/postgres.ts';
import { lacks } from '../../setup/programs.ts';
import { received } from '../inbox/stores.ts';
import { CANNOT_START_READ_ONLY, startReadOnly } from './read-only-start.ts';

const skip = inject('postgresUrl') === null;
const setup = { how: 'script', handling: { leaseMs: 1000, pollMs: 100 } } as const;

async function expectNothingLost(options: OutageOptions) {
  const result = await outage(options);
  expect(result.refused).toBeGreaterThanOrEqual(options.refusals);
  expect(result).toMatchObject({ otherwise: 0, acknowledgedWithoutRow: 0, duplicates: 0, unhandled: 0 });
  expect(result).toMatchObject({ sameProcess: true, secretInLog: false });
  // The log has one line when the inbox fails, and one when it recovers.
  expect(new Set(result.logLines).size).toBe(result.logLines.length);
  return result;
}

describe.concurrent('an inbox that fails under load', () => {
  it.skipIf(lacks('prlimit'))('on a full disk causes a 503 until there is space', async () => {
    const store = sqliteStore();
    const disk = openSmallDisk(store.folder.path);
    const inside = { ...setup, commandPrefix: disk.commandPrefix };
    const options = { store: storeOn(store, disk), failure: diskFull(disk), setup: inside, refusals: 40 };
    await expectNothingLost(options).finally(() => {
      disk.remove();
      store.folder.remove();
    });
  });

  for (const replacement of ['nothing', 'a copy'] as const) {
    it(`on a file that ${replacement} replaces causes a 503 until it is back`, async () => {
      const store = sqliteStore();
      const options = { store, failure: fileMoved(store, replacement), setup, refusals: 40 };
      await expectNothingLost(options).finally(() => store.folder.remove());
    });
  }

  it.skipIf(skip)('on a server that ends causes a 503 until it is back', async () => {
    const server = await startPostgres();
    if (server === null) throw new Error('PostgreSQL is not installed');
    try {
      const store = await postgresStore(server.url);
      await expectNothingLost({ store, failure: serverKilled(server), setup, refusals: 40 });
      store.folder.remove();
    } finally {
      await server.remove();
    }
  });

  it.skipIf(skip)('whose responses are lost has stored what got a 503, which is handled once', async () => {
    const store = await postgresStore(inject('postgresUrl') ?? '');
    const proxy = await startProxy([addressOf(store.url)]);
    const options = { store, inbox: throughProxy(store.url, proxy), failure: answersCut(proxy), setup, refusals: 40 };
    expect(await expectNothingLost(options).finally(() => proxy.close())).toMatchObject({ handledAgain: 0 });
    expect(proxy.counts.cut).toBeGreaterThan(0);
    store.folder.remove();
  });
});

describe('an inbox that is closed while another connection keeps the write lock', () => {
  it('rejects what waits, does not block, and loses nothing that it has stored', async () => {
    const { folder, url } = sqliteStore();
    const inbox = await openInbox(url);
    expect(await inbox.put(received('BUY', { id: 'acknowledged' }))).toBe('stored');
    const { DatabaseSync } = await loadSqlite();
    const other = new DatabaseSync(fileURLToPath(url));
    other.exec('BEGIN IMMEDIATE');
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    let turns = 0;
    let most = 0;
    const counting = setInterval(() => {
      turns += 1;
      most = Math.max(most, timers());
    }, 50);
    const waiting = Array.from({ length: 600 }, (_, at) => inbox.put(received('BUY', { id: `waiting-${at}` })));
    const closed = inbox.close();
    const results = await Promise.allSettled(waiting);
    await closed;
    most = Math.max(most, timers());
    clearInterval(counting);
    expect(new Set(results.map((each) => (each.status === 'rejected' ? each.reason.message : each.value)))).toEqual(
      new Set(['database is locked']),
    );
    // One timer is for the next attempt, and one counts the timers.
    expect({ blocks: turns === 0, pilesUpTimers: most - before > 2 }).toEqual({ blocks: false, pilesUpTimers: false });
    other.exec('COMMIT');
    expect(other.prepare('SELECT id FROM hookproof_inbox').all()).toEqual([{ id: 'acknowledged' }]);
    other.close();
    folder.remove();
  });
});

describe('a path that cannot be written', () => {
  it.skipIf(CANNOT_START_READ_ONLY)('is reported at the start', () => {
    const folder = openFolder();
    const results = startReadOnly(folder);
    expect(results.length).toBeGreaterThanOrEqual(2);
    for (const { code, stderr, path } of results) {
      expect([code, stderr]).toEqual([2, expect.stringMatching(/INBOX_OPEN/)]);
      expect(stderr).toContain(path);
    }
    folder.remove();
  });

  it('for the log does not affect the receiver', async () => {
    const { folder, url } = sqliteStore();
    const receiver = await startReceiverProcess({ how: 'program', inbox: url, folder, logFile: '/dev/full' });
    for (let round = 0; round < 5; round += 1) expect((await fetch(receiver.url, { method: 'POST' })).status).toBe(401);
    expect((await receiver.end()).code).toBe(0);
    folder.remove();
  });
});
