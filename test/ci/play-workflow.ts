/** Plays one job of a GitHub workflow by hand: its shell steps and its composite actions, as a runner does, with the files and variables of a runner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { type Contexts, evaluate, holds, readAssignments } from './expressions.ts';

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, unknown>>;
  readonly 'working-directory'?: string;
  readonly 'continue-on-error'?: boolean;
}

interface PlayedStep {
  readonly name: string;
  readonly outcome: 'success' | 'failure' | 'skipped';
  readonly outputs: Readonly<Record<string, string>>;
  /** Both streams of its shell. */
  readonly log: string;
  /** What it wrote for the page of the run. */
  readonly summary: string;
}

export interface PlayedJob {
  readonly success: boolean;
  readonly steps: readonly PlayedStep[];
  /** What a step asked the runner to hide in the log. */
  readonly masks: readonly string[];
}

export interface Stage {
  /** The checkout. */
  readonly workspace: string;
  /** The folder of the runner: RUNNER_TEMP. */
  readonly temporary: string;
  /** Shell steps that were done before, by their text. */
  readonly done?: readonly string[];
  readonly tell?: (line: string) => void;
}

/** One step may take so long, in milliseconds. */
const LONGEST = 180_000;

/** Actions of others, which a runner would bring, and what there is to see to in their place. */
const STAND_INS: Readonly<Record<string, (input: Readonly<Record<string, string>>) => void>> = {
  'actions/checkout': () => undefined,
  'actions/setup-node': () => undefined,
  'actions/upload-artifact': ({ path = '' }) => {
    const missing = path.split('\n').filter((line) => line.trim() !== '' && !existsSync(line.trim()));
    if (path.trim() === '' || missing.length > 0) throw new Error(`nothing to upload at ${JSON.stringify(missing)}`);
  },
};

const SHELLS: Readonly<Record<string, readonly string[]>> = {
  // What GitHub starts when no shell is named, and when bash is.
  none: ['bash', '-e'],
  bash: ['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail'],
};

const DONE = { outcome: 'success', outputs: {}, log: '', summary: '' } as const;
const SKIPPED = { ...DONE, outcome: 'skipped' } as const;

class Player {
  readonly stage: Stage;
  readonly masks: string[] = [];
  readonly groups: number[] = [];
  variables: Record<string, string>;

  constructor(stage: Stage) {
    this.stage = stage;
    this.variables = {
      PATH: process.env.PATH ?? '',
      HOME: stage.temporary,
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_WORKSPACE: stage.workspace,
      RUNNER_TEMP: stage.temporary,
    };
  }

  /** Runs the steps one after the other; `good` when none failed that counts. `contexts.steps` is filled on the way. */
  async steps(steps: readonly Step[], contexts: Contexts & { steps: Record<string, unknown> }, action?: string) {
    const played: PlayedStep[] = [];
    let good = true;
    for (const step of steps) {
      const name = step.name ?? step.uses ?? step.run?.split('\n')[0] ?? '';
      const result = holds(step.if, !good) ? await this.step(step, contexts, action) : SKIPPED;
      const { outcome, outputs } = result;
      const forgiven = step['continue-on-error'] === true;
      if (outcome === 'failure' && !forgiven) good = false;
      const conclusion = outcome === 'failure' && forgiven ? 'success' : outcome;
      if (step.id !== undefined) contexts.steps[step.id] = { outcome, conclusion, outputs };
      played.push({ name, ...result });
      if (action === undefined) this.stage.tell?.(`${outcome.padEnd(7)}  ${name}`);
    }
    return { good, played };
  }

  private async step(step: Step, contexts: Contexts, action?: string): Promise<Omit<PlayedStep, 'name'>> {
    if (step.run !== undefined) return this.shell(step, contexts, action);
    const given = Object.fromEntries(
      Object.entries(step.with ?? {}).map(([name, value]) => [name, evaluate(value, contexts)]),
    );
    const uses = step.uses ?? '';
    if (uses.startsWith('./')) return this.composite(resolve(this.stage.workspace, uses), given);
    const standIn = STAND_INS[uses.split('@')[0] ?? ''];
    if (standIn === undefined) throw new Error(`this player has nothing in the place of ${uses}`);
    standIn(given);
    return DONE;
  }

  private async composite(folder: string, given: Readonly<Record<string, string>>) {
    const manifest = parse(await readFile(join(folder, 'action.yml'), 'utf8'));
    if (manifest.runs.using !== 'composite') throw new Error(`${folder} is no composite action`);
    const unknown = Object.keys(given).filter((name) => !Object.hasOwn(manifest.inputs, name));
    if (unknown.length > 0) throw new Error(`${folder} has no input ${unknown.join(', ')}`);
    const inputs = Object.fromEntries(
      Object.entries(manifest.inputs as Record<string, { default?: string }>).map(([name, input]) => [
        name,
        given[name] ?? input.default ?? '',
      ]),
    );
    const contexts = { inputs, steps: {} };
    const { good, played } = await this.steps(manifest.runs.steps, contexts, folder);
    const outputs = Object.fromEntries(
      Object.entries(manifest.outputs as Record<string, { value: string }>).map(([name, { value }]) => [
        name,
        evaluate(value, contexts),
      ]),
    );
    const joined = (key: 'log' | 'summary') => played.map((one) => one[key]).join('');
    const outcome = good ? ('success' as const) : ('failure' as const);
    return { outcome, outputs, log: joined('log'), summary: joined('summary') };
  }

  private async shell(step: Step, contexts: Contexts, action?: string): Promise<Omit<PlayedStep, 'name'>> {
    const { done = [], temporary, workspace } = this.stage;
    if (done.includes(step.run ?? '')) return DONE;
    const folder = await mkdtemp(join(temporary, 'step-'));
    const files = Object.fromEntries(
      ['GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH', 'GITHUB_STEP_SUMMARY', 'script', 'log'].map((name) => [
        name,
        join(folder, name),
      ]),
    ) as Record<string, string>;
    await Promise.all(Object.values(files).map((file) => writeFile(file, '')));
    const { script = '', log = '', ...commands } = files;
    await writeFile(script, evaluate(step.run, contexts));
    const own = Object.entries(step.env ?? {}).map(([name, value]) => [name, evaluate(value, contexts)]);
    const [program, ...args] = SHELLS[step.shell ?? 'none'] ?? [];
    if (program === undefined) throw new Error(`this player has no shell ${step.shell}`);
    const output = await open(log, 'a');
    const child = spawn(program, [...args, script], {
      cwd: resolve(workspace, evaluate(step['working-directory'] ?? '.', contexts)),
      env: {
        ...this.variables,
        ...commands,
        ...(action && { GITHUB_ACTION_PATH: action }),
        ...Object.fromEntries(own),
      },
      stdio: ['ignore', output.fd, output.fd],
      // A group of its own: what it leaves running is ended with the job, as a runner does.
      detached: true,
    });
    if (child.pid !== undefined) this.groups.push(child.pid);
    const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST);
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    await output.close();
    const read = (name: string) => readFile(files[name] ?? '', 'utf8');
    Object.assign(this.variables, readAssignments(await read('GITHUB_ENV')));
    const paths = (await read('GITHUB_PATH')).split('\n').filter((line) => line !== '');
    this.variables.PATH = [...paths.toReversed(), this.variables.PATH].join(delimiter);
    const text = await read('log');
    this.masks.push(...[...text.matchAll(/^::add-mask::(.+)$/gm)].map(([, mask = '']) => mask));
    return {
      outcome: code === 0 ? 'success' : 'failure',
      outputs: readAssignments(await read('GITHUB_OUTPUT')),
      log: text,
      summary: await read('GITHUB_STEP_SUMMARY'),
    };
  }

  end(): void {
    for (const group of this.groups) {
      try {
        process.kill(-group, 'SIGKILL');
      } catch {
        // It has ended, as it should.
      }
    }
  }
}

/** Plays a job of a workflow file. Throws for whatever it does not know how to play. */
export async function playJob(file: string, job: string, stage: Stage): Promise<PlayedJob> {
  const { jobs } = parse(await readFile(file, 'utf8'));
  const temporary = join(stage.temporary, 'runner');
  await mkdir(temporary, { recursive: true });
  const player = new Player({ ...stage, temporary });
  try {
    const { good, played } = await player.steps(jobs[job].steps, { steps: {}, runner: { temp: temporary } });
    return { success: good, steps: played, masks: player.masks };
  } finally {
    player.end();
    await rm(temporary, { recursive: true, force: true });
  }
}
