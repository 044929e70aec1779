/** One process of the matrix: is sent names of subjects and answers with what a run said of each. */
import { makeMaterial } from './material.ts';
import { playedOf, runAgainst } from './play.ts';
import { findSubject } from './subject.ts';

const made = makeMaterial();

process.on('message', async (name: string) => {
  try {
    const subject = findSubject(name);
    process.send?.(playedOf(subject, await runAgainst(subject, await made)));
  } catch (error) {
    process.send?.({ name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
