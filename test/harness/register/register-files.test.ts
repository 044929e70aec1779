/** The register in files: concurrent writers, killed writers, incomplete and foreign lines. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeRecord, openRegister } from '../../../harness/register/index.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-register-'));
});
afterEach(() => rm(folder, { recursive: true }));

const recordOf = (partner: string) =>
  makeRecord({ partner, event: 'failed', catalogue: 'sha256:abc', version: '0.1.0', reason: 'x'.repeat(500) });
const stored = async () => (await (await openRegister(folder)).read()).records.map(({ partner }) => partner).toSorted();

it('keeps what several writers add at the same time, and joins their files', async () => {
  const writers = await Promise.all(Array.from({ length: 4 }, () => openRegister(folder)));
  await Promise.all(
    writers.map(async (writer, at) => {
      for (let count = 0; count < 25; count++) await writer.append([recordOf(`p${at}-${count}`)]);
    }),
  );
  expect(await stored()).toHaveLength(100);
  await Promise.all(writers.map((writer) => writer.close()));
  expect(new Set(await stored()).size).toBe(100);
});

it('has one file after its writers have closed one after the other', async () => {
  for (const partner of ['a', 'b']) {
    const writer = await openRegister(folder);
    await writer.append([recordOf(partner)]);
    await writer.close();
  }
  expect(await readdir(folder)).toEqual(['register.ndjson']);
  expect(await stored()).toEqual(['a', 'b']);
});

it('loses nothing and believes nothing torn when a writer is killed', async () => {
  const other = await openRegister(folder);
  const child = fork(new URL('append-forever.ts', import.meta.url).pathname, [folder], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let acknowledged = 0;
  const isEnough = new Promise<void>((resolve) => {
    child.on('message', (count: number) => {
      acknowledged = count;
      if (count > 20) resolve();
    });
  });
  await isEnough;
  await other.append([recordOf('other')]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const partners = await stored();
  expect(partners.filter((name) => name.startsWith('killed')).length).toBeGreaterThanOrEqual(acknowledged);
  expect(partners).toContain('other');
});

it('ignores a torn last line and a foreign line, with a note for each, and goes on behind them', async () => {
  await mkdir(folder, { recursive: true });
  const whole = JSON.stringify(recordOf('a'));
  await writeFile(join(folder, 'register.ndjson'), `${whole}\n{"schemaVersion":9}\n${whole.slice(0, 80)}`);
  const register = await openRegister(folder);
  const { records, notes } = await register.read();
  expect(records.map(({ partner }) => partner)).toEqual(['a']);
  expect(notes).toEqual([
    expect.stringMatching(/register\.ndjson:2: not a record that this version of hookproof can read/),
    expect.stringMatching(/register\.ndjson:3: an unfinished line, left by a killed writer, is ignored/),
  ]);
  await register.append([recordOf('b')]);
  await register.close();
  expect(await stored()).toEqual(['a', 'b']);
});

it('reads a record that is in two files once', async () => {
  const line = `${JSON.stringify(recordOf('a'))}\n`;
  await writeFile(join(folder, 'register.ndjson'), line);
  await appendFile(join(folder, 'register-00000000-0000-4000-8000-000000000000.ndjson'), line);
  expect(await stored()).toEqual(['a']);
});

it('removes the lock of a killed writer after a while', async () => {
  const lock = join(folder, 'register.lock');
  const addOne = async (partner: string) => {
    const writer = await openRegister(folder);
    await writer.append([recordOf(partner)]);
    await writer.close();
  };
  await mkdir(lock);
  await addOne('a');
  expect((await readdir(folder)).some((name) => /^register-.*ndjson$/.test(name))).toBe(true);
  await utimes(lock, new Date(0), new Date(0));
  await addOne('b');
  expect(await readFile(join(folder, 'register.ndjson'), 'utf8')).toContain('"partner":"b"');
  expect(await stored()).toEqual(['a', 'b']);
});

it.each([['mysql://host/db'], ['https://example.test']])('refuses %s', async (place) => {
  await expect(openRegister(place)).rejects.toMatchObject({ code: 'REGISTER_PLACE' });
});
