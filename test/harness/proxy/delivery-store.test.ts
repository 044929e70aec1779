import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  defaultStoreFolder,
  listStored,
  openStore,
  readAnswers,
  readStored,
  whyNothingStored,
} from '../../../harness/proxy/index.ts';

async function newFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'hookproof-store-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  return join(parent, 'deliveries');
}

const ANSWER = { status: 200, answered: 'correct' } as const;
const LIMITS = { maxFiles: 100, maxBytes: 1e6 };

describe('the store of deliveries', () => {
  it('keeps the exact bytes for this user alone', async () => {
    const folder = await newFolder();
    const store = await openStore(folder, LIMITS);
    const raw = Buffer.from([0, 255, 13, 10, 128]);
    store.add('abcdef-1', raw, ANSWER);
    await store.settled();
    expect(await readStored(folder, 'abcdef-1')).toEqual(raw);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect((await stat(join(folder, 'abcdef-1.request'))).mode & 0o777).toBe(0o600);
  });

  it('removes the oldest first, by number and by bytes, those of earlier processes too, and nothing else', async () => {
    const folder = await newFolder();
    const first = await openStore(folder, LIMITS);
    for (let number = 1; number <= 12; number += 1) first.add(`aaaaaa-${number}`, Buffer.alloc(10), ANSWER);
    await first.settled();
    // Files of two processes can have the same time, because the clock of a file system is coarse.
    const before = new Date(Date.now() - 1000);
    for (const { id } of await listStored(folder)) await utimes(join(folder, `${id}.request`), before, before);
    await writeFile(join(folder, 'notes.txt'), 'mine');
    const second = await openStore(folder, { maxFiles: 3, maxBytes: 1e6 });
    second.add('bbbbbb-1', Buffer.alloc(10), ANSWER);
    await second.settled();
    const ids = async () => (await listStored(folder)).map(({ id }) => id);
    expect(await ids()).toEqual(['aaaaaa-11', 'aaaaaa-12', 'bbbbbb-1']);
    const third = await openStore(folder, { maxFiles: 100, maxBytes: 25 });
    third.add('cccccc-1', Buffer.alloc(10), ANSWER);
    await third.settled();
    expect(await ids()).toEqual(['bbbbbb-1', 'cccccc-1']);
    expect(await readdir(folder)).toContain('notes.txt');
  });

  it('keeps the answers in another file, for this user alone, and forgets those of removed deliveries', async () => {
    const folder = await newFolder();
    const store = await openStore(folder, { maxFiles: 2, maxBytes: 1e6 });
    store.add('abcdef-1', Buffer.from('x'), { status: 200, answered: 'unsafe' });
    store.add('abcdef-2', Buffer.from('x'), { status: undefined, answered: undefined });
    await store.settled();
    const file = join(folder, 'answers.ndjson');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect([...(await readAnswers(folder))]).toEqual([
      ['abcdef-1', { status: 200, answered: 'unsafe' }],
      ['abcdef-2', { status: undefined, answered: undefined }],
    ]);
    expect(String(await readStored(folder, 'abcdef-1'))).toBe('x');
    // The file contains lines of earlier proxies, and one incomplete line.
    const old = Array.from({ length: 3000 }, (_, at) => `{"id":"aaaaaa-${at}","status":200}\n`).join('');
    await appendFile(file, `${old}{"id":"aaaaaa-1","sta`);
    const second = await openStore(folder, { maxFiles: 2, maxBytes: 1e6 });
    second.add('bbbbbb-1', Buffer.from('x'), ANSWER);
    second.add('bbbbbb-2', Buffer.from('x'), ANSWER);
    await second.settled();
    const left = String(await readFile(file))
      .trimEnd()
      .split('\n');
    expect(left.length).toBeLessThan(5);
    expect((await readAnswers(folder)).get('bbbbbb-2')).toEqual(ANSWER);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('says why there is nothing: no folder, an empty one, or another one', async () => {
    const folder = await newFolder();
    expect(await whyNothingStored(folder, true)).toMatch(/^The folder does not exist\. `hookproof proxy/);
    expect(await whyNothingStored(folder, false)).toMatch(/^The folder does not exist\. Omit `--store`/);
    await openStore(folder, LIMITS);
    expect(await whyNothingStored(folder, true)).toMatch(/^The folder is empty\. `hookproof proxy/);
    expect(await whyNothingStored(folder, false)).toContain(`with \`--store ${folder}\``);
    await writeFile(join(folder, 'notes.txt'), 'mine');
    expect(await whyNothingStored(folder, false)).toMatch(/^The folder contains other files, but no deliveries\./);
    expect(await whyNothingStored(join(folder, 'notes.txt'), false)).toMatch(/^It is not a folder\./);
  });

  it('does not write what newer deliveries would remove at once', async () => {
    const folder = await newFolder();
    const store = await openStore(folder, { maxFiles: 3, maxBytes: 1e6 });
    // Writing this request fails, because a folder has the name of its file.
    await mkdir(join(folder, 'aaaaaa-500.request.new'));
    for (let number = 1; number <= 1000; number += 1) store.add(`aaaaaa-${number}`, Buffer.alloc(10), ANSWER);
    await store.settled();
    const kept = (await listStored(folder)).map(({ id }) => id);
    expect([kept, store.missed()]).toEqual([['aaaaaa-998', 'aaaaaa-999', 'aaaaaa-1000'], 0]);
  });

  it('refuses a folder that others may read, and what is not a folder', async () => {
    const folder = await newFolder();
    await mkdir(folder);
    await chmod(folder, 0o755);
    await expect(openStore(folder, LIMITS)).rejects.toMatchObject({ code: 'STORE_UNUSABLE', kind: 'usage' });
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(openStore(file, LIMITS)).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
  });

  it('names the newest when an id is unknown, and reads nothing outside the folder', async () => {
    const folder = await newFolder();
    const store = await openStore(folder, LIMITS);
    store.add('abcdef-7', Buffer.from('x'), ANSWER);
    await store.settled();
    await expect(readStored(folder, 'abcdef-8')).rejects.toMatchObject({ hint: expect.stringContaining('abcdef-7') });
    await expect(readStored(folder, '../deliveries/abcdef-7')).rejects.toMatchObject({ code: 'DELIVERY_UNKNOWN' });
  });

  it('counts what it could not write, and goes on', async () => {
    const folder = await newFolder();
    const store = await openStore(folder, LIMITS);
    await store.settled();
    await rm(folder, { recursive: true });
    store.add('abcdef-1', Buffer.from('x'), ANSWER);
    store.add('abcdef-2', Buffer.alloc(33 * 1024 * 1024), ANSWER);
    await store.settled();
    expect(store.missed()).toBe(2);
    await mkdir(folder, { mode: 0o700 });
    store.add('abcdef-3', Buffer.from('x'), ANSWER);
    await store.settled();
    expect((await listStored(folder)).map(({ id }) => id)).toEqual(['abcdef-3']);
  });

  it('is by default where the system keeps the state of programs', () => {
    expect(defaultStoreFolder({ HOME: '/h' }, 'linux')).toBe('/h/.local/state/hookproof/deliveries');
    expect(defaultStoreFolder({ HOME: '/h', XDG_STATE_HOME: '/s' }, 'linux')).toBe('/s/hookproof/deliveries');
    expect(defaultStoreFolder({ HOME: '/h' }, 'darwin')).toBe('/h/Library/Application Support/hookproof/deliveries');
  });
});
