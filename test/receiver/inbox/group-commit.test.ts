import { describe, expect, it } from 'vitest';
import { groupCommit } from '../../../receiver/inbox/group-commit.ts';

function gated() {
  const written: string[][] = [];
  const gates: (() => void)[] = [];
  const write = async (items: readonly string[]) => {
    written.push([...items]);
    await new Promise<void>((resolve) => void gates.push(resolve));
    return items.map((item) => `${item} written`);
  };
  return { written, gates, write };
}
const limits = { parallel: 1, maxItems: 2, maxSize: 100, sizeOf: (item: string) => item.length };

describe('a group commit', () => {
  it('writes together what arrives during a write, up to its limit', async () => {
    const { written, gates, write } = gated();
    const group = groupCommit({ write, ...limits });
    const results = ['a', 'b', 'c'].map((item) => group.write(item));
    await expect.poll(() => written.length).toBe(1);
    results.push(group.write('d'));
    gates[0]?.();
    await expect.poll(() => written.length).toBe(2);
    gates[1]?.();
    expect(await Promise.all(results)).toEqual(['a written', 'b written', 'c written', 'd written']);
    expect(written).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('gives up after its time limit: what waits is never written', async () => {
    const written: string[] = [];
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const write = async ([item = '']: readonly string[]) => {
      written.push(item);
      if (item === 'in progress') await gate;
      return [`${item} written`];
    };
    const group = groupCommit({ write, ...limits, maxItems: 1, timeoutMs: 500 });
    const results = await Promise.allSettled(['in progress', 'waits'].map((item) => group.write(item)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    open();
    expect(await group.write('next')).toBe('next written');
    expect(written).toEqual(['in progress', 'next']);
    await group.settled();
  });

  it('rejects all items of a failed write, and continues', async () => {
    let fails = true;
    const write = async (items: readonly string[]) => {
      if (fails) throw new Error('broke');
      return items;
    };
    const group = groupCommit({ write, ...limits });
    const results = await Promise.allSettled(['a', 'b'].map((item) => group.write(item)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await group.write('c')).toBe('c');
  });
});
