/**
 * Introduces a fault into a receiver and removes it again, three times, under a supervisor that takes a second, with
 * `run --watch` in a terminal. Prints the times from the save, and from the endpoint's return, to the printed outcome.
 * Fails if an outcome does not match the code on disk.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { FAULTS, OUTCOME, startSession, startWatched } from '../../cli/watching.ts';
import { markdownTable } from '../../setup/markdown-table.ts';

const DOWN_MS = 1_000;
const rows: string[][] = [];
let isCorrect = true;

const endpoint = await startWatched({ downMs: DOWN_MS });
const session = startSession(endpoint, ['--watch', ...process.argv.slice(2)]);
const measure = async (edit: string, savedMs: number, expected: RegExp) => {
  const outcome = await session.shows(OUTCOME);
  const nowMs = Date.now();
  const isTrue = expected.test(outcome);
  isCorrect &&= isTrue;
  const fromReturn = nowMs - (await endpoint.lastStart());
  rows.push([edit, `${nowMs - savedMs} ms`, `${fromReturn} ms`, isTrue ? 'of the new code' : 'WRONG']);
  if (!isTrue) console.error(outcome);
};
try {
  await session.shows(/Watching .*\n/);
  for (const [id, line] of Object.entries(FAULTS)) {
    await measure(`fault: ${id}`, await endpoint.write(line), new RegExp(`${id}: observed `));
    // A person does not save twice at the same moment.
    await pause(200);
    await measure('fixed', await endpoint.write(), /Every check that failed passes now/);
    await pause(200);
  }
  session.type('q');
  const { code, restored } = await session.ended();
  console.log(`The endpoint takes ${DOWN_MS} ms to restart. Exit code ${code}, terminal restored: ${restored}\n`);
  console.log(markdownTable(['edit', 'save to outcome', 'return to outcome', 'outcome'], rows));
  isCorrect &&= code === 0 && restored === true;
} finally {
  session.close();
  await endpoint.close();
}
process.exitCode = isCorrect ? 0 : 1;
