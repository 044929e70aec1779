import { appendFile, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Effect, type EffectsRecord, fileEffects, memoryEffects } from '../../../receiver/index.ts';

async function newFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hookproof-effects-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return join(folder, 'effects.ndjson');
}

const KINDS: Record<string, () => Promise<EffectsRecord>> = {
  'in memory': async () => memoryEffects(),
  'in a file': async () => fileEffects(await newFile()),
};

async function opened(start: () => Promise<EffectsRecord>): Promise<EffectsRecord> {
  const record = await start();
  onTestFinished(() => record.close());
  return record;
}

const effect = (notification: string, values: Partial<Effect['handled']> = {}, rank = 0, at = 0): Effect => ({
  handled: { notification, kind: 'CAAS_BUY', ...values },
  place: { rank, at },
});

describe.each(Object.entries(KINDS))('a record %s', (_name, start) => {
  it('records a key once, also when both come at the same time', async () => {
    const record = await opened(start);
    const results = await Promise.all([1, 2, 3].map(() => record.apply(effect('a'), 'a')));
    expect(results.sort()).toEqual([false, false, true]);
    expect(await record.apply(effect('a'), 'a')).toBe(false);
    expect(await record.apply(effect('a'), 'another key')).toBe(true);
    const { handled } = effect('a');
    expect(await record.answer({ notifications: ['a'] })).toEqual({ total: 2, handled: [handled, handled] });
  });

  it('answers in the order of handling, each id once, and nothing for an unknown one', async () => {
    const record = await opened(start);
    for (const id of ['c', 'a', 'b']) await record.apply(effect(id), id);
    const { handled, total } = await record.answer({ notifications: ['b', 'a', 'unknown', 'c', 'a'] });
    expect(handled.map(({ notification }) => notification)).toEqual(['c', 'a', 'b']);
    expect(total).toBe(3);
    expect(await record.answer({ transaction: 'x' })).toEqual({ total: 3, handled: [], current: null });
  });

  it('keeps the furthest status and a known hash of a transaction', async () => {
    const record = await opened(start);
    const apply = (status: string, rank: number, at: number, hash: string | null = null) =>
      record.apply(effect(`${status} ${at}`, { transaction: 't', status, hash }, rank, at), `${status} ${at}`);
    const current = async () => (await record.answer({ transaction: 't' })).current;
    await apply('PENDING', 2, 10);
    expect(await current()).toEqual({ status: 'PENDING', hash: null });
    await apply('ON_HOLD', 0, 20);
    expect(await current()).toEqual({ status: 'ON_HOLD', hash: null });
    await apply('BLOCKCHAIN_ACCEPTED', 3, 30, '0xabc');
    await apply('COMPLETED', 4, 40);
    expect(await current()).toEqual({ status: 'COMPLETED', hash: '0xabc' });
    await apply('PENDING', 2, 50);
    await apply('ON_HOLD', 0, 60);
    await apply('FAILED', 4, 30, '0xlate');
    expect(await current()).toEqual({ status: 'COMPLETED', hash: '0xabc' });
    expect((await record.answer({ transaction: 't' })).handled).toHaveLength(7);
  });

  it('keeps the states of an order, its steps and its refund apart', async () => {
    const record = await opened(start);
    const apply = (kind: string, status: string, hash: string | null, rank = 0) =>
      record.apply(effect(kind, { kind, transaction: 't', status, hash }, rank, 1), kind);
    await apply('CAAS_ORDER_TRACKING', 'PROCESSING', null);
    expect((await record.answer({ transaction: 't' })).current).toEqual({ status: 'PROCESSING', hash: null });
    await apply('CAAS_SELL', 'FAILED', null, 4);
    await apply('REFUND', 'SUCCESS', '0xrefund');
    expect((await record.answer({ transaction: 't' })).current).toEqual({ status: 'FAILED', hash: null });
  });
});

describe('a record in a file', () => {
  it('shows nothing that could be lost: not before it is on disk, and not after a failed write', async () => {
    const file = await newFile();
    const record = await opened(() => fileEffects(file));
    const total = async () => (await record.answer({ notifications: ['a'] })).total;
    const probe = await open(file, 'r');
    const prototype: { datasync(): Promise<void> } = Object.getPrototypeOf(probe);
    await probe.close();
    const failing = vi.spyOn(prototype, 'datasync').mockRejectedValueOnce(new Error('EIO'));
    onTestFinished(() => failing.mockRestore());
    const both = [record.apply(effect('a'), 'a'), record.apply(effect('a'), 'a')];
    for (const one of both) await expect(one).rejects.toThrow('EIO');
    expect(await total()).toBe(0);
    const again = record.apply(effect('b'), 'b');
    expect(await total()).toBe(0);
    expect([await again, await total()]).toEqual([true, 1]);
    // The incomplete line of the failed write is gone.
    expect((await readFile(file, 'utf8')).split('\n').map((line) => line.slice(0, 10))).toEqual(['{"key":"b"', '']);
  });

  it('is there again after a restart, with its keys', async () => {
    const file = await newFile();
    const first = await fileEffects(file);
    await Promise.all(
      Array.from({ length: 50 }, (_, n) => first.apply(effect(`n-${n}`, { transaction: 't' }), `${n}`)),
    );
    const before = await first.answer({ transaction: 't' });
    await first.close();
    const second = await opened(() => fileEffects(file));
    expect(await second.answer({ transaction: 't' })).toEqual(before);
    expect(before.total).toBe(50);
    expect(await second.apply(effect('n-1'), '1')).toBe(false);
  });

  it('removes a last line that was cut off at any place', async () => {
    const file = await newFile();
    const record = await fileEffects(file);
    await record.apply(effect('a'), 'a');
    await record.close();
    const whole = await readFile(file);
    const line = JSON.stringify({ key: 'b', ...effect('b') });
    for (const length of [1, 20, line.length]) {
      await writeFile(file, whole);
      await appendFile(file, line.slice(0, length));
      const again = await fileEffects(file);
      expect((await again.answer({ notifications: ['a', 'b'] })).handled).toHaveLength(1);
      expect(await again.apply(effect('b'), 'b')).toBe(true);
      await again.close();
      expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(3);
    }
  });

  it('is not opened when another line is damaged', async () => {
    const file = await newFile();
    await writeFile(file, 'not a record\n{}\n');
    await expect(fileEffects(file)).rejects.toMatchObject({
      code: 'EFFECTS_FILE',
      message: expect.stringMatching(/^Line 1 /),
    });
    expect(await readFile(file, 'utf8')).toBe('not a record\n{}\n');
  });

  it.each(['no line of a record', '{"other":', '{"key":"a"}\nand more'])(
    'leaves a file of somebody else as it was: %j',
    async (text) => {
      const file = await newFile();
      await writeFile(file, text);
      await expect(fileEffects(file)).rejects.toMatchObject({ code: 'EFFECTS_FILE' });
      expect(await readFile(file, 'utf8')).toBe(text);
    },
  );

  it('is opened once at a time', async () => {
    const file = await newFile();
    const record = await fileEffects(file);
    await expect(fileEffects(file)).rejects.toMatchObject({ code: 'EFFECTS_FILE_IN_USE' });
    await record.close();
    await (await fileEffects(file)).close();
  });

  it('cannot be opened in a folder that does not exist', async () => {
    await expect(fileEffects('/does/not/exist')).rejects.toMatchObject({ code: 'EFFECTS_FILE' });
  });
});
