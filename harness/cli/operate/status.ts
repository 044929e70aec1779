/** `hookproof operate --status` and `--retry`: the queue, its workers, and the jobs that have failed for good. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { visible } from '../../../contract/visible.ts';
import { countJobs, deadLetters, listWorkers, openQueue, retryDeadLetter } from '../../operate/index.ts';
import { counted } from '../../report/index.ts';
import { outputLayout } from '../certify/output.ts';

/** Prints the state of the queue. Returns 1 if a job has failed for good, otherwise 0. */
export async function showStatus(url: string, json: boolean): Promise<number> {
  const pool = await openQueue(url, 2);
  try {
    const [queue, workers, dead] = [await countJobs(pool), await listWorkers(pool), await deadLetters(pool)];
    if (json) {
      process.stdout.write(`${JSON.stringify({ schemaVersion: 1, queue, workers, deadLetters: dead }, null, 2)}\n`);
      return dead.length > 0 ? 1 : 0;
    }
    const layout = outputLayout();
    const lines = [
      `queue    ${queue.running} running, ${queue.waiting} waiting, ${queue.later} later, ${queue.dead} failed`,
      `workers  ${workers.length === 0 ? 'none' : counted(workers.length, 'worker')}`,
      ...workers.map(({ host, id, running, seenSecondsAgo, version }) => {
        const doing = running.length === 0 ? 'idle' : running.map(({ key, task }) => key ?? task).join(', ');
        return `  ${id.slice(0, 8)}  ${host}  ${version}  seen ${seenSecondsAgo} s ago  ${doing}`;
      }),
      ...(dead.length === 0 ? [] : ['failed   put one back with `hookproof operate --retry ID`']),
      ...dead.map(({ attempts, error, id, key, since, task }) => {
        const why = (error ?? '').split('\n', 1)[0] ?? '';
        return `  ${id}  ${task}  ${key}  ${counted(attempts, 'attempt')}  ${since.toISOString()}  ${why}`;
      }),
    ];
    process.stdout.write(`${lines.map((line) => layout.safe(line)).join('\n')}\n`);
    return dead.length > 0 ? 1 : 0;
  } finally {
    await pool.end();
  }
}

/** Puts a job that has failed for good back into the queue. */
export async function retryCommand(url: string, id: string): Promise<number> {
  const pool = await openQueue(url, 2);
  try {
    if (!/^\d{1,18}$/.test(id) || !(await retryDeadLetter(pool, id))) {
      throw new HookproofError('OPERATE_RETRY', `no job that has failed for good has the id ${visible(id)}`, {
        hint: '`hookproof operate --status` lists them.',
      });
    }
    process.stdout.write(`job ${id} is in the queue again\n`);
    return 0;
  } finally {
    await pool.end();
  }
}
