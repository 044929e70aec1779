/** The manifests under docs/fleet: parsed, and the command of the Kubernetes Job run as its shell would run it. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const read = async (name: string) =>
  parse(await readFile(new URL(`../../docs/fleet/${name}`, import.meta.url), 'utf8'));
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-job-'));
  // It stands in for the program, and says what it was asked for.
  await writeFile(join(folder, 'hookproof'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  await chmod(join(folder, 'hookproof'), 0o755);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the Kubernetes Job', () => {
  /** Its container's command with its own environment and this index. */
  async function ask(index: number): Promise<string[]> {
    const { spec } = await read('kubernetes-job.yaml');
    const [container] = spec.template.spec.containers;
    const env = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    const [shell, ...rest] = [...container.command, ...container.args];
    const { stdout } = await promisify(execFile)(shell, rest, {
      env: {
        ...env,
        FLEET_OUT: folder,
        JOB_COMPLETION_INDEX: String(index),
        PATH: `${folder}${delimiter}${process.env.PATH}`,
      },
    });
    return stdout.trimEnd().split('\n');
  }

  it('is indexed, with as many completions as shards, and as little privilege as it needs', async () => {
    const { apiVersion, kind, spec } = await read('kubernetes-job.yaml');
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const shards = container.env.find(({ name }: { name: string }) => name === 'FLEET_SHARDS').value;
    expect([apiVersion, kind, spec.completionMode, String(spec.completions)]).toEqual([
      'batch/v1',
      'Job',
      'Indexed',
      shards,
    ]);
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    const mounted = container.volumeMounts.map(({ name }: { name: string }) => name).toSorted();
    expect(mounted).toEqual(pod.volumes.map(({ name }: { name: string }) => name).toSorted());
  });

  it('asks for the shard of its index, and goes on with what a pod before it has begun', async () => {
    const asked = await ask(3);
    expect(asked).toEqual([
      ...['certify', '--partners', '/partners', '--key', '/key/key.pem'],
      ...['--output-dir', join(folder, 'shard-3'), '--shard', '4/4'],
    ]);
    await mkdir(join(folder, 'shard-0'));
    await writeFile(join(folder, 'shard-0', 'fleet.json'), JSON.stringify({ complete: false, partners: [] }, null, 1));
    expect((await ask(0)).slice(-3)).toEqual(['--shard', '1/4', '--resume']);
    await writeFile(join(folder, 'shard-0', 'fleet.json'), JSON.stringify({ complete: true, partners: [] }, null, 1));
    expect((await ask(0)).slice(-2)).toEqual(['--shard', '1/4']);
  });
});

it('the GitHub workflow and the GitLab pipeline have a matrix of shards and join them', async () => {
  const { jobs } = await read('github-workflow.yaml');
  const script = jobs.certify.steps.map(({ run = '' }) => run).join('\n');
  expect(script).toContain(`--shard "$SHARD/${jobs.certify.strategy.matrix.shard.length}"`);
  // Nothing of the workflow's own expressions is ever put into a script.
  expect(script).not.toContain('${{');
  expect(jobs.join.steps.map(({ run = '' }) => run).join('\n')).toContain('hookproof certify merge shards/shard-*');
  const pipeline = await read('gitlab-ci.yaml');
  expect(pipeline.certify.parallel).toBe(4);
  expect(pipeline.certify.script.join('\n')).toContain('--shard "$CI_NODE_INDEX/$CI_NODE_TOTAL"');
});
