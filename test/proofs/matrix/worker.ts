/** A process of the matrix. It receives tasks, and answers each with the outcomes that it has played. */
import { findSubject, makeMaterial, playedOf, runAgainst } from './play.ts';
import type { Task } from './play-all.ts';

const made = makeMaterial();

process.on('message', async ({ name, only }: Task) => {
  try {
    const subject = findSubject(name);
    process.send?.(playedOf(subject, await runAgainst(subject, await made, only)));
  } catch (error) {
    process.send?.({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
