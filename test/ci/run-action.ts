/** Runs the script of the action as a runner starts it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const CHECKOUT = new URL('../..', import.meta.url).pathname;

interface ActionRun {
  /** The folder of the test. */
  readonly folder: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** The folder of the job. Default: a new one. */
  readonly cwd?: string | undefined;
  /** Cancels the job when it resolves. */
  readonly cancel?: Promise<unknown> | undefined;
  /** The checkout of the action. Default: this one. */
  readonly checkout?: string | undefined;
}

export async function runAction({ folder, inputs, cwd, cancel, checkout = CHECKOUT }: ActionRun) {
  const here = cwd ?? (await mkdtemp(join(folder, 'act-')));
  const temp = await mkdtemp(join(folder, 'temp-'));
  const files = { GITHUB_OUTPUT: join(here, 'outputs'), GITHUB_STEP_SUMMARY: join(here, 'summary') };
  await Promise.all(Object.values(files).map((file) => writeFile(file, '')));
  const given = Object.entries({ strict: 'false', open: 'false', ...inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase().replaceAll('-', '_')}`,
    value,
  ]);
  const { PATH } = process.env;
  const env = {
    PATH,
    GITHUB_ACTIONS: 'true',
    GITHUB_WORKSPACE: here,
    RUNNER_TEMP: temp,
    ...files,
    ...Object.fromEntries(given),
  };
  const { code, log } = await new Promise<{ code: number; log: string }>((done) => {
    const child = execFile(
      process.execPath,
      [join(checkout, 'action/main.mjs')],
      { env, cwd: here },
      (_, stdout, stderr) => done({ code: child.exitCode ?? -1, log: stdout + stderr }),
    );
    void cancel?.then(() => child.kill('SIGINT'));
  });
  const [outputs, summary] = await Promise.all(Object.values(files).map((file) => readFile(file, 'utf8')));
  return {
    here,
    code,
    log,
    outputs: readAssignments(outputs ?? ''),
    written: outputs ?? '',
    summary,
    left: await readdir(temp),
  };
}

/** The outputs that a step has written: `name<<END`, then lines up to the line `END`. */
export function readAssignments(text: string): Record<string, string> {
  const found = text.matchAll(/^([^=<\n]+)<<(.+)\n([\s\S]*?)\n\2\n/gm);
  return Object.fromEntries(Array.from(found, ([, name = '', , value = '']) => [name, value]));
}
