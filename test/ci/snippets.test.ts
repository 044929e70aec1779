/**
 * The files under docs/ci and docs/fleet: their shell steps run with the compiled program, as GitLab, Jenkins and
 * Kubernetes run them.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MAIN } from '../cli/hookproof.ts';
import { endReceivers, startedReceiver } from '../cli/receivers.ts';
import { lacks } from '../setup/programs.ts';

const read = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const readYaml = async (name: string) => parse(await read(name));
const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
const IMAGE = `registry.example/hookproof:${version}`;
const SECRET = 'made-for-this-test-and-nothing-else-0002';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-snippets-'));
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a script with a shell in a new folder, where `hookproof` on the PATH is this script. */
async function runScript(
  shell: readonly string[],
  { script, env, hookproof }: { script: string; env: Readonly<Record<string, string>>; hookproof: string },
) {
  const cwd = await mkdtemp(join(folder, 'job-'));
  await writeFile(join(cwd, 'hookproof.yaml'), 'suites: [signature]\n');
  await writeFile(join(cwd, 'script'), script);
  await mkdir(join(cwd, 'bin'));
  await writeFile(join(cwd, 'bin', 'hookproof'), `#!/bin/sh\n${hookproof}\n`);
  await chmod(join(cwd, 'bin', 'hookproof'), 0o755);
  const [program = 'sh', ...args] = shell;
  return new Promise<{ code: number; cwd: string; log: string }>((resolve) => {
    const child = execFile(
      program,
      [...args, join(cwd, 'script')],
      { cwd, env: { PATH: `${join(cwd, 'bin')}${delimiter}${process.env.PATH}`, ...env } },
      (_, stdout, stderr) => resolve({ code: child.exitCode ?? -1, cwd, log: stdout + stderr }),
    );
  });
}

const COMPILED = `exec "${process.execPath}" "${MAIN}" "$@"`;

/** Starts a receiver over TLS, and returns the environment for the snippets. */
async function receiver(...args: string[]) {
  const ca = join(await mkdtemp(join(folder, 'receiver-')), 'ca.pem');
  const tls = ['--tls-quick-start', '--tls-quick-start-ca', ca];
  const { url, stop } = await startedReceiver([...tls, ...args], { env: { HOOKPROOF_SECRET: SECRET }, cwd: folder });
  return { env: { HOOKPROOF_URL: url, HOOKPROOF_SECRET: SECRET, HOOKPROOF_CA: ca }, stop };
}

describe.skipIf(lacks('bash'))('the GitLab job', () => {
  const GITLAB = ['bash', '-eo', 'pipefail'];

  it('ends with the exit code of the run, and publishes a JUnit report', async () => {
    const { hookproof: job } = await readYaml('ci/gitlab-ci.yaml');
    const script = job.script.join('\n');
    const { env, stop } = await receiver('--fault', 'compares-first-8');
    const { code, cwd, log } = await runScript(GITLAB, { script, env, hookproof: COMPILED });
    await stop();
    expect([code, log.includes(SECRET), job.artifacts.when]).toEqual([1, false, 'always']);
    expect(await readFile(join(cwd, job.artifacts.reports.junit), 'utf8')).toContain('<failure');
  });

  it('reports that the secret is not set for the branch', async () => {
    const { hookproof: job } = await readYaml('ci/gitlab-ci.yaml');
    const env = { HOOKPROOF_URL: 'http://127.0.0.1:9/' };
    expect(await runScript(GITLAB, { script: job.script.join('\n'), env, hookproof: COMPILED })).toMatchObject({
      code: 2,
      log: 'HOOKPROOF_SECRET is not set for this branch\n',
    });
  });

  it('uses the image of the Dockerfile, like the pipeline for many partners', async () => {
    expect((await readYaml('ci/gitlab-ci.yaml')).hookproof.image.name).toBe(IMAGE);
    expect((await readYaml('fleet/gitlab-ci.yaml')).default.image.name).toBe(IMAGE);
  });
});

describe('the Jenkinsfile', () => {
  it('ends with the exit code of the run, and archives its files', async () => {
    const text = await read('ci/Jenkinsfile');
    expect(text).toContain(`image '${IMAGE}'`);
    const [, script = ''] = /sh '''([\s\S]*?)'''/.exec(text) ?? [];
    const { env, stop } = await receiver();
    // Jenkins starts a shell script in this way.
    const { code, cwd, log } = await runScript(['sh', '-xe'], { script, env, hookproof: COMPILED });
    await stop();
    expect([code, log.includes(SECRET)]).toEqual([0, false]);
    const [, results = ''] = /testResults: '([^']+)'/.exec(text) ?? [];
    expect(await readFile(join(cwd, results), 'utf8')).toContain('<testsuites');
  });

  it('lets Groovy interpolate no value', async () => {
    expect((await read('ci/Jenkinsfile')).match(/"[^"\n]*\$[^"\n]*"/g)).toBeNull();
  });
});

describe('the Kubernetes Job', () => {
  /** The arguments of hookproof in the container with this index. */
  async function argumentsOf(index: number): Promise<string[]> {
    const { spec } = await readYaml('fleet/kubernetes-job.yaml');
    const [container] = spec.template.spec.containers;
    const given = container.env.map(({ name, value }: { name: string; value: string }) => [name, value]);
    const env = { ...Object.fromEntries(given), FLEET_OUT: folder, JOB_COMPLETION_INDEX: String(index) };
    const [shell, ...options] = container.command;
    expect(options).toEqual(['-c']);
    const hookproof = 'printf "%s\\n" "$@"';
    return (await runScript([shell], { script: container.args[0], env, hookproof })).log.trimEnd().split('\n');
  }

  it('has as many indexes as shards, and as few privileges as it needs', async () => {
    const { apiVersion, kind, spec } = await readYaml('fleet/kubernetes-job.yaml');
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const shards = container.env.find(({ name }: { name: string }) => name === 'FLEET_SHARDS').value;
    expect([apiVersion, kind, spec.completionMode, String(spec.completions)]).toEqual([
      ...['batch/v1', 'Job', 'Indexed'],
      shards,
    ]);
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
    const mounted = container.volumeMounts.map(({ name }: { name: string }) => name).toSorted();
    expect(mounted).toEqual(pod.volumes.map(({ name }: { name: string }) => name).toSorted());
  });

  it.skipIf(lacks('grep'))('runs the shard of its index, and resumes what an earlier pod has begun', async () => {
    expect(await argumentsOf(3)).toEqual([
      ...['certify', '--partners', '/partners', '--key', '/key/key.pem'],
      ...['--output-dir', join(folder, 'shard-3'), '--shard', '4/4'],
    ]);
    const document = join(folder, 'shard-0', 'fleet.json');
    await mkdir(join(folder, 'shard-0'));
    await writeFile(document, JSON.stringify({ complete: false, partners: [] }, null, 1));
    expect((await argumentsOf(0)).slice(-3)).toEqual(['--shard', '1/4', '--resume']);
    await writeFile(document, JSON.stringify({ complete: true, partners: [] }, null, 1));
    expect((await argumentsOf(0)).slice(-2)).toEqual(['--shard', '1/4']);
  });
});

it('the pipelines for many partners run one shard per job, and merge them', async () => {
  const { jobs } = await readYaml('fleet/github-workflow.yaml');
  const scriptOf = ({ steps }: { steps: { run?: string }[] }) => steps.map(({ run = '' }) => run).join('\n');
  expect(scriptOf(jobs.certify)).toContain(`--shard "$SHARD/${jobs.certify.strategy.matrix.shard.length}"`);
  expect(scriptOf(jobs.join)).toContain('hookproof certify merge shards/shard-*');
  const pipeline = await readYaml('fleet/gitlab-ci.yaml');
  expect(pipeline.certify.parallel).toBe(4);
  expect(pipeline.certify.script.join('\n')).toContain('--shard "$CI_NODE_INDEX/$CI_NODE_TOTAL"');
});
