/** What can happen to the file of a SQLite inbox: it is removed, replaced, damaged, or left by a killed receiver. */
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSqlite, type SqliteDatabase } from '../../../receiver/inbox/sqlite-database.ts';
import { type DurableInbox, openInbox } from '../../../receiver/index.ts';
import { filledInbox, received } from './stores.ts';

let folder: string;
let file: string;
const opened: DurableInbox[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookproof-file-'));
  file = join(folder, 'inbox.db');
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((inbox) => inbox.close()));
  rmSync(folder, { recursive: true });
});

async function open(path = file): Promise<DurableInbox> {
  const inbox = await openInbox(`file:${path}`);
  opened.push(inbox);
  return inbox;
}

async function withDatabase<T>(path: string, use: (database: SqliteDatabase) => T): Promise<T> {
  const { DatabaseSync } = await loadSqlite();
  const database = new DatabaseSync(path);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

it('an inbox that is closed while another process writes finishes what is under way', async () => {
  const inbox = await openInbox(`file:${file}`);
  const { DatabaseSync } = await loadSqlite();
  const other = new DatabaseSync(file);
  other.exec('BEGIN IMMEDIATE');
  const stored = inbox.put(received('BUY', { id: 'late' }));
  const closed = inbox.close();
  // This runs only if closing does not block the event loop.
  setTimeout(() => {
    other.exec('COMMIT');
    other.close();
  }, 20);
  expect(await stored).toBe('stored');
  await closed;
  const count = 'SELECT count(*) AS stored FROM hookproof_inbox';
  expect(await withDatabase(file, (database) => database.prepare(count).all())).toEqual([{ stored: 1 }]);
});

/** Copies the files to another folder, in the state that a kill of the receiver at this moment would leave. */
function afterKill(): string {
  const copy = join(mkdtempSync(join(folder, 'killed-')), 'inbox.db');
  for (const end of ['', '-wal']) copyFileSync(`${file}${end}`, `${copy}${end}`);
  return copy;
}

describe('the file of a running receiver', () => {
  const aside = () => join(folder, 'aside');
  const put = (inbox: DurableInbox, id: string) => inbox.put(received('BUY', { id }));
  const moves: readonly [what: string, move: () => void, back: (() => void) | null][] = [
    ['is removed', () => rmSync(file), null],
    ['is moved', () => renameSync(file, aside()), () => renameSync(aside(), file)],
    [
      'is replaced by a copy',
      () => {
        renameSync(file, aside());
        copyFileSync(aside(), file);
      },
      () => renameSync(aside(), file),
    ],
    ['loses its log', () => renameSync(`${file}-wal`, aside()), () => renameSync(aside(), `${file}-wal`)],
  ];
  for (const [what, move, back] of moves) {
    it(`${what}: nothing is acknowledged, and it is not ready, until it is back`, async () => {
      const inbox = await open();
      await put(inbox, 'before');
      await inbox.ping();
      move();
      await expect(inbox.ping()).rejects.toThrow(file);
      for (const id of ['first', 'second']) await expect(put(inbox, id)).rejects.toThrow(/inbox\.db.*restart/);
      await expect(inbox.ping()).rejects.toThrow(/removed or replaced/);
      await expect(inbox.claim(10, 60_000)).rejects.toThrow(/removed or replaced/);
      if (back === null) return;
      back();
      await inbox.ping();
      expect(['stored', 'duplicate']).toContain(await put(inbox, 'first'));
      // The failed claim has had no effect.
      expect((await inbox.claim(10, 60_000)).map(({ id, attempt }) => [id, attempt])).toContainEqual(['before', 1]);
    });
  }

  it('is found missing when a link names another file', async () => {
    symlinkSync(join(folder, 'real.db'), file);
    writeFileSync(join(folder, 'real.db'), '');
    writeFileSync(join(folder, 'other.db'), '');
    const inbox = await open();
    await put(inbox, 'before');
    rmSync(file);
    symlinkSync(join(folder, 'other.db'), file);
    await expect(put(inbox, 'after')).rejects.toThrow(/removed or replaced/);
  });
});

const PAGE = 4096;
/** Returns the number of the last page of this type: 13 is a leaf of a table, and 10 a leaf of an index. */
function lastPage(bytes: Buffer, type: number): number {
  for (let at = bytes.length - PAGE; at > 0; at -= PAGE) {
    if (bytes[at] === type && bytes.readUInt16BE(at + 3) > 10 - type / 2) return at;
  }
  throw new Error('there is no such page');
}
function flip(bytes: Buffer, at: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ 0x53;
}
const TABLE_LEAF = 13;
const INDEX_LEAF = 10;

const DAMAGES: Readonly<Record<string, (bytes: Buffer) => Buffer | undefined>> = {
  'its freelist': (bytes) => void bytes.writeUInt32BE(999, 36),
  'its page size': (bytes) => void bytes.writeUInt16BE(8192, 16),
  'its schema': (bytes) => void bytes.fill(0, 100, PAGE),
  'a zeroed page of entries': (bytes) => void bytes.fill(0, lastPage(bytes, TABLE_LEAF), bytes.length),
  'flipped bits in entries': (bytes) => {
    const at = lastPage(bytes, TABLE_LEAF);
    for (let n = 200; n < 3000; n += 7) flip(bytes, at + n);
    return bytes;
  },
  'a zeroed page of the ids': (bytes) => {
    const at = lastPage(bytes, INDEX_LEAF);
    return bytes.fill(0, at, at + PAGE);
  },
  'one id in the index of ids': (bytes) => {
    const at = bytes.indexOf('done-', lastPage(bytes, INDEX_LEAF));
    flip(bytes, at + 5);
    return bytes;
  },
  'an id missing in the index of ids': (bytes) => {
    const at = lastPage(bytes, INDEX_LEAF) + 3;
    bytes.writeUInt16BE(bytes.readUInt16BE(at) - 1, at);
    return bytes;
  },
  'its last page cut off': (bytes) => bytes.subarray(0, -PAGE),
  'its second half cut off': (bytes) => bytes.subarray(0, Math.floor(bytes.length / PAGE / 2) * PAGE),
  'the end of its last page cut off': (bytes) => bytes.subarray(0, -1000),
  'other bytes in its last pages': (bytes) => bytes.fill('garbage', bytes.length - 3 * PAGE),
};

describe('a damaged file', () => {
  let intact: Buffer;
  beforeEach(async () => {
    const inbox = await open();
    await filledInbox(inbox, 300);
    const copy = afterKill();
    await withDatabase(copy, (database) => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all());
    intact = readFileSync(copy);
  });

  for (const [what, damage] of Object.entries(DAMAGES)) {
    it(`is an error at the start that says what to do: ${what}`, async () => {
      const path = join(folder, 'damaged.db');
      const bytes = Buffer.from(intact);
      writeFileSync(path, damage(bytes) ?? bytes);
      // The second start rejects it as well.
      for (let start = 0; start < 2; start += 1) {
        await expect(openInbox(`file:${path}`)).rejects.toMatchObject({
          code: 'INBOX_DAMAGED',
          message: expect.stringContaining(path),
          hint: expect.stringContaining('.recover'),
        });
      }
    });
  }

  it('whose index is damaged is repaired by what the error says', async () => {
    const path = join(folder, 'damaged.db');
    const damage = DAMAGES['one id in the index of ids'];
    const bytes = Buffer.from(intact);
    writeFileSync(path, damage?.(bytes) ?? bytes);
    await withDatabase(path, (database) => database.exec('REINDEX'));
    const inbox = await open(path);
    expect(await inbox.list({}, { limit: 1000 })).toHaveLength(307);
    expect(await inbox.put(received('BUY', { id: 'done-3' }))).toBe('duplicate');
  });

  it('whose first bytes are damaged is an error that names it', async () => {
    const path = join(folder, 'text.db');
    writeFileSync(path, Buffer.from(intact).fill('x', 0, 16));
    await expect(openInbox(`file:${path}`)).rejects.toMatchObject({
      code: 'INBOX_OPEN',
      message: expect.stringContaining(path),
    });
  });

  it('is one whose log is left without it: the log holds entries', async () => {
    const killed = afterKill();
    for (const leave of [() => rmSync(killed), () => writeFileSync(killed, '')]) {
      leave();
      const size = readFileSync(`${killed}-wal`).length;
      await expect(openInbox(`file:${killed}`)).rejects.toMatchObject({
        code: 'INBOX_DAMAGED',
        message: expect.stringContaining(`${killed}-wal`),
      });
      expect(readFileSync(`${killed}-wal`)).toHaveLength(size);
    }
  });
});

describe('a damaged log', () => {
  const HEADER = 32;
  const FRAME = 24 + PAGE;
  let killed: string;
  let log: Buffer;
  const idsAt = async (path: string) => (await (await open(path)).list({}, { limit: 1000 })).map(({ id }) => id);

  beforeEach(async () => {
    const inbox = await open();
    for (let n = 0; n < 20; n += 1) await inbox.put(received('BUY', { id: `id-${n}` }));
    killed = afterKill();
    log = readFileSync(`${killed}-wal`);
    expect((log.length - HEADER) % FRAME).toBe(0);
  });

  const frames = () => (log.length - HEADER) / FRAME;
  const damages: readonly [string, () => void][] = [
    ['a page in its middle', () => flip(log, HEADER + FRAME * Math.floor(frames() / 2) + 1000)],
    ['a checksum', () => flip(log, HEADER + FRAME * 5 + 20)],
    ['a salt', () => flip(log, HEADER + FRAME * 5 + 9)],
    ['its first page', () => void log.fill(0, HEADER, HEADER + FRAME)],
    ['its header', () => flip(log, 17)],
    ['its magic number', () => void log.fill(0, 0, 8)],
  ];
  for (const [what, damage] of damages) {
    it(`is an error at the start, because what follows would be lost: ${what}`, async () => {
      damage();
      for (let start = 0; start < 2; start += 1) {
        writeFileSync(`${killed}-wal`, log);
        await expect(openInbox(`file:${killed}`)).rejects.toMatchObject({
          code: 'INBOX_DAMAGED',
          message: expect.stringContaining(`${killed}-wal`),
          hint: expect.stringContaining('wal_checkpoint(TRUNCATE)'),
        });
        expect(readFileSync(`${killed}-wal`).equals(log)).toBe(true);
      }
      // The checkpoint is what the hint recommends.
      await withDatabase(killed, (database) => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all());
      expect((await idsAt(killed)).length).toBeLessThan(20);
    });
  }

  it('is not one whose last transaction was torn by the kill', async () => {
    for (const cut of [1, FRAME - 1, FRAME, 3 * FRAME + 100]) {
      truncateSync(`${killed}-wal`, log.length - cut);
      const copy = join(mkdtempSync(join(folder, 'torn-')), 'inbox.db');
      for (const end of ['', '-wal']) copyFileSync(`${killed}${end}`, `${copy}${end}`);
      expect((await idsAt(copy)).length).toBeGreaterThanOrEqual(18);
    }
  });

  it('is not one that was begun again after a checkpoint', async () => {
    const inbox = opened[0]!;
    await withDatabase(file, (database) => database.prepare('PRAGMA wal_checkpoint(RESTART)').all());
    await inbox.put(received('BUY', { id: 'last' }));
    expect(await idsAt(afterKill())).toHaveLength(21);
  });
});

describe('what a killed receiver was handling', () => {
  /** Simulates a clock that is set back by an hour at the restart. */
  const anHourBack = (path: string) =>
    withDatabase(path, (database) =>
      database.exec(`UPDATE hookproof_inbox SET lease_until = lease_until + 3600000, due_at = due_at + 3600000,
        received_at = received_at + 3600000`),
    );

  it('is handled again at once, whatever the clock shows', async () => {
    const inbox = await open();
    for (const id of ['runs', 'waits']) await inbox.put(received('BUY', { id, transactionId: id }));
    await inbox.put({ ...received('REFUND', { id: 'refund' }), waitMs: 600_000 });
    for (const at of [2, 3]) {
      await inbox.put(received('BUY', { id: `behind-${at}`, transactionId: 'runs', at: 1_700_000_000 + at }));
    }
    // The claim also sets aside the entries that cannot run yet.
    expect(await inbox.claim(1, 60_000)).toHaveLength(1);
    expect((await inbox.claim(10, 60_000)).map(({ id }) => id)).toEqual(['waits']);
    const killed = afterKill();
    await anHourBack(killed);
    const next = await open(killed);
    expect(await next.recover(10)).toBe(2);
    const claims = await next.claim(10, 60_000);
    expect(claims.map(({ id, attempt }) => [id, attempt])).toEqual([
      ['runs', 2],
      ['waits', 2],
    ]);
    await next.settle({ claim: claims[0]!, state: 'done', order: null });
    expect((await next.claim(10, 60_000)).map(({ id }) => id)).toEqual(['behind-2']);
  });

  it('stays claimed while its receiver has the file open', async () => {
    const inbox = await open();
    await inbox.put(received('BUY', { id: 'runs' }));
    await inbox.claim(1, 60_000);
    const other = await open();
    expect(await other.recover(10)).toBe(0);
    expect(await other.claim(10, 60_000)).toEqual([]);
    expect(existsSync(file)).toBe(true);
  });
});
