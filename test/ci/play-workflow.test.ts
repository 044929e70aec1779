/** The player of workflows: what it plays it plays as a runner does, and whatever else there is it refuses. */
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { evaluate, holds, readAssignments } from './expressions.ts';
import { playJob } from './play-workflow.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-player-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function play(steps: readonly object[], action?: object) {
  const file = join(folder, 'workflow.yml');
  await writeFile(file, stringify({ jobs: { job: { steps } } }));
  await mkdir(join(folder, 'own'), { recursive: true });
  if (action !== undefined) await writeFile(join(folder, 'own', 'action.yml'), stringify(action));
  return playJob(file, 'job', { workspace: folder, temporary: folder, done: ['npm ci'] });
}

/** An expression, as it stands in a file. */
const the = (expression: string) => `\${{ ${expression} }}`;

describe('expressions', () => {
  const contexts = { inputs: { url: 'http://a.example' }, steps: { one: { outputs: { x: 'y' } } } };

  it('are looked up, and nothing else is done to them', () => {
    expect(evaluate(`${the('inputs.url')}/\${{steps.one.outputs.x}}`, contexts)).toBe('http://a.example/y');
    expect(evaluate(the('inputs.url'), { inputs: { url: `$& ${the('inputs.url')}` } })).toBe(`$& ${the('inputs.url')}`);
    expect(evaluate(true, contexts)).toBe('true');
  });

  it.each(['inputs.nothing', 'steps.one.outputs', "inputs.url || 'x'", 'toJSON(inputs)', 'inputs.toString', '1'])(
    '%s is refused',
    (expression) => {
      expect(() => evaluate(the(expression), contexts)).toThrow();
    },
  );

  it('conditions are the three that there are', () => {
    const both = (condition: unknown) => [false, true].map((failed) => holds(condition, failed));
    expect([undefined, 'always()', 'failure()'].map(both)).toEqual([
      [true, false],
      [true, true],
      [false, true],
    ]);
    expect(() => holds("github.ref == 'x'", false)).toThrow();
  });

  it('read outputs of one and of several lines', () => {
    expect(readAssignments('a=1=2\nb<<END\nx=1\n\nEND \nEND\nc=\n')).toEqual({ a: '1=2', b: 'x=1\n\nEND ', c: '' });
    expect(() => readAssignments('b<<END\nx\n')).toThrow('does not end');
    expect(() => readAssignments('nonsense\n')).toThrow('no assignment');
  });
});

describe('a job', () => {
  it('hands outputs, variables and paths on, and ends what it left running', async () => {
    const { steps, success } = await play([
      {
        id: 'a',
        run: 'echo "x=one two" >> "$GITHUB_OUTPUT"; echo "V=3" >> "$GITHUB_ENV"; sleep 1000 & echo "pid=$!" >> "$GITHUB_OUTPUT"',
      },
      {
        run: 'echo "$X and $V in $PWD"; kill -0 "$PID"',
        env: { X: the('steps.a.outputs.x'), PID: the('steps.a.outputs.pid') },
      },
    ]);
    expect(success).toBe(true);
    expect(steps[1]?.log).toBe(`one two and 3 in ${folder}\n`);
    const pid = Number(steps[0]?.outputs.pid);
    // Killed with its group; whoever takes its exit code in may take a moment for it.
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it('goes on after a failure only where that is said', async () => {
    const { steps, success } = await play([
      { run: 'false', 'continue-on-error': true },
      { run: 'exit 3' },
      { run: 'true' },
      { run: 'true', if: 'always()' },
    ]);
    expect(steps.map(({ outcome }) => outcome)).toEqual(['failure', 'failure', 'skipped', 'success']);
    expect(success).toBe(false);
  });

  it('gives an action its inputs, and has its outputs even when it fails', async () => {
    const action = {
      inputs: { a: { default: 'usual' }, b: {} },
      outputs: { said: { value: the('steps.in.outputs.said') } },
      runs: {
        using: 'composite',
        steps: [
          {
            id: 'in',
            shell: 'bash',
            env: { A: the('inputs.a'), B: the('inputs.b') },
            run: 'echo "said=$A $B $GITHUB_ACTION_PATH" >> "$GITHUB_OUTPUT"; false | true; echo never',
          },
        ],
      },
    };
    const { steps } = await play([{ uses: './own', with: { b: 'given' } }], action);
    const said = `usual given ${join(folder, 'own')}`;
    expect(steps[0]).toMatchObject({ outcome: 'failure', outputs: { said }, log: '' });
    await expect(play([{ uses: './own', with: { c: '' } }], action)).rejects.toThrow('has no input c');
  });

  it.each([
    [{ uses: 'someone/else@v1' }, 'nothing in the place of'],
    [{ run: 'true', shell: 'pwsh' }, 'no shell pwsh'],
    [{ uses: 'actions/upload-artifact@v4', with: { path: '/nowhere/at/all' } }, 'nothing to upload'],
  ])('%j is refused', async (step, message) => {
    await expect(play([step])).rejects.toThrow(message);
  });
});

/** A zombie is not alive, though it has a process id until its exit code is taken in. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
}
