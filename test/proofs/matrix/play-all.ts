/** Plays subjects in several processes. */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Played } from './play.ts';

interface PlayOptions<T> {
  /** The module of the worker processes, which receive tasks and answer each with its result. */
  readonly worker?: URL;
  /** Number of processes. Default: one per core. */
  readonly processes?: number;
  /** Number of simultaneous subjects per process. While one waits for a hanging receiver, the others continue. */
  readonly atOnce?: number;
  readonly progress?: (done: number, played: T) => void;
}

export interface Task {
  /** The name of a subject. */
  readonly name: string;
  /** The scenarios to play. Default: all. */
  readonly only?: readonly string[] | undefined;
}

/** The answer of a worker. */
type Answer<T> = T | { readonly name: string; readonly error: string };

/**
 * Plays each task once and returns the results in the same order. Rejects at the end if one of them failed. Put long
 * tasks first, so that every core has work until the end.
 */
export async function playAll<T extends { readonly name: string } = Played>(
  tasks: readonly Task[],
  options: PlayOptions<T> = {},
): Promise<readonly T[]> {
  const { processes = availableParallelism(), atOnce = 3, progress = () => {} } = options;
  const { worker = new URL('./worker.ts', import.meta.url) } = options;
  const queue = [...tasks];
  const played = new Map<string, T>();
  const errors: string[] = [];

  function work(): Promise<void> {
    const child = fork(worker, { execArgv: ['--import', 'tsx'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    let underWay = 0;
    return new Promise<void>((resolve, reject) => {
      const next = () => {
        const task = queue.shift();
        if (task !== undefined) {
          underWay++;
          child.send(task);
        } else if (underWay === 0) resolve();
      };
      child.on('message', (answer: Answer<T>) => {
        underWay--;
        if ('error' in answer) errors.push(`${answer.name}: ${answer.error}`);
        else {
          played.set(answer.name, answer);
          progress(played.size, answer);
        }
        next();
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => reject(new Error(`a process of the matrix ended (${code ?? signal})`)));
      for (let at = 0; at < atOnce; at++) next();
    }).finally(() => child.kill());
  }
  await Promise.all(Array.from({ length: Math.min(processes, tasks.length) }, work));
  if (errors.length > 0) throw new Error(`these could not be run:\n${errors.join('\n')}`);
  return tasks.flatMap(({ name }) => played.get(name) ?? []);
}
