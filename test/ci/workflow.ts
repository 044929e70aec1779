/**
 * Plays the job `action` of the project's own workflow by hand, where no runner of GitHub is: the action of this repository, against the reference
 * receiver and against a wrong one. It needs the built program.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { playJob } from './play-workflow.ts';

const workspace = new URL('../..', import.meta.url).pathname;
const temporary = await mkdtemp(join(tmpdir(), 'hookproof-workflow-'));
try {
  const { masks, steps, success } = await playJob(join(workspace, '.github/workflows/ci.yml'), 'action', {
    workspace,
    temporary,
    done: ['npm ci'],
    tell: (line) => console.log(line),
  });
  console.log(steps.find(({ name }) => name === 'What the action said')?.log.trimEnd());
  // The lines that ask for it are for the runner, and are in no log.
  const logs = steps.map(({ log, summary }) => log.replaceAll(/^::add-mask::.*$/gm, '') + summary).join('\n');
  const shown = masks.filter((mask) => logs.includes(mask));
  const annotations = logs.match(/^::(?:error|warning|notice) /gm)?.length ?? 0;
  console.log(`${annotations} annotations, ${masks.length} masked, ${shown.length} of these in a log`);
  if (!success || shown.length > 0 || masks.length === 0) {
    for (const { log, name, outcome } of steps) if (outcome === 'failure') console.error(`\n${name}\n${log}`);
    process.exitCode = 1;
  }
} finally {
  await rm(temporary, { recursive: true, force: true });
}
