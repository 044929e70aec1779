/** Every workflow of this repository, and every one that it offers, looked at with actionlint. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wrongWithWorkflow } from './lint-workflows.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const OWN = readdirSync(join(ROOT, '.github/workflows')).map((name) => `.github/workflows/${name}`);
const OFFERED = ['docs/fleet/github-workflow.yaml', 'docs/ci/github-workflow.yaml', 'docs/ci/github-sharded.yaml'];

describe('workflows', () => {
  it.each([...OWN, ...OFFERED])('%s is right', async (path) => {
    expect(await wrongWithWorkflow(readFileSync(join(ROOT, path), 'utf8'), path)).toEqual([]);
  });

  const right = readFileSync(join(ROOT, OWN[0] ?? ''), 'utf8');
  it.each([
    ['permissions:\n  contents: read\n', '', 'it has no permissions'],
    ['actions/checkout@v4', 'actions/checkout@main', 'is not pinned'],
    ['timeout-minutes: 15', 'continue-on-error: false', 'has no timeout-minutes'],
    ['run: .ci/run', `run: echo \${{ github.event.pull_request.title }}`, 'potentially untrusted'],
    ['steps.right.outputs.verdict', 'steps.nobody.outputs.verdict', 'property "nobody" is not defined'],
    ['runs-on: ubuntu-latest', 'runs-on: ubuntu-1.04', 'label "ubuntu-1.04" is unknown'],
    ['if: always()', 'if: allways()', 'undefined function'],
  ])('%j as %j is found', async (good, bad, message) => {
    expect(right).toContain(good);
    expect((await wrongWithWorkflow(right.replace(good, bad), 'ci.yml')).join('\n')).toContain(message);
  });
});
