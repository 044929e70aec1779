/** Plays mutants in several processes side by side. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import type { Played } from './worker.ts';

/** Plays each name once and gives them in the order of the names. Rejects when one of them cannot be played. */
export async function playAll(
  names: readonly string[],
  progress: (done: number) => void = () => {},
): Promise<readonly Played[]> {
  const queue = [...names];
  const played = new Map<string, Played>();
  const worker = new URL('./worker.ts', import.meta.url);

  async function work(): Promise<void> {
    const child = fork(worker, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    try {
      for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
        child.send(name);
        const [answer] = (await once(child, 'message')) as [Played | { name: string; error: string }];
        if ('error' in answer) throw new Error(`${answer.name}: ${answer.error}`);
        played.set(name, answer);
        progress(played.size);
      }
    } finally {
      child.kill();
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), names.length) }, work));
  return names.flatMap((name) => played.get(name) ?? []);
}
