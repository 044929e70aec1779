/** Plays subjects in several processes side by side. */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Played } from './played.ts';

export interface PlayOptions {
  /** Default: one a core. */
  readonly processes?: number;
  /** Subjects at the same time in one process: while one waits for a receiver that hangs, the others go on. */
  readonly atOnce?: number;
  readonly progress?: (done: number, played: Played) => void;
}

/** What a worker answers. */
type Answer = Played | { readonly name: string; readonly error: string };

/** Plays each name once and gives them in the order of the names. Rejects when one of them cannot be played. */
export async function playAll(names: readonly string[], options: PlayOptions = {}): Promise<readonly Played[]> {
  const { processes = availableParallelism(), atOnce = 2, progress = () => {} } = options;
  const queue = [...names];
  const played = new Map<string, Played>();
  const worker = new URL('./worker.ts', import.meta.url);

  function work(): Promise<void> {
    const child = fork(worker, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    let underWay = 0;
    return new Promise<void>((resolve, reject) => {
      const next = () => {
        const name = queue.shift();
        if (name !== undefined) {
          underWay++;
          child.send(name);
        } else if (underWay === 0) resolve();
      };
      child.on('message', (answer: Answer) => {
        underWay--;
        if ('error' in answer) return reject(new Error(`${answer.name}: ${answer.error}`));
        played.set(answer.name, answer);
        progress(played.size, answer);
        next();
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => reject(new Error(`a process of the matrix ended (${code ?? signal})`)));
      for (let at = 0; at < atOnce; at++) next();
    }).finally(() => child.kill());
  }
  const workers = Array.from({ length: Math.min(processes, names.length) }, work);
  await Promise.all(workers);
  return names.flatMap((name) => played.get(name) ?? []);
}
