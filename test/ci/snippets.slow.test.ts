/**
 * The files under docs/ci and docs/fleet: their shell steps run with the compiled program, as GitLab, Jenkins and
 * Kubernetes run them.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MAIN } from '../cli/hookproof.ts';
import { endReceivers, startedReceiver } from '../cli/receivers.ts';
import { lacks } from '../setup/programs.ts';
import { inTurn } from '../setup/turn.ts';
import { MANIFESTS, WORKLOADS, type Workload, workload } from './manifests.ts';

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

/** Runs a script with a shell in a new folder. `hookproof` on the PATH is the given script. */
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

  it('starts the receiver of the repository, and keeps a SARIF report', async () => {
    const { receiver: job } = await readYaml('ci/gitlab-ci.yaml');
    const { url, stop } = await startedReceiver(['--fault', 'compares-first-8'], {
      env: { HOOKPROOF_SECRET: SECRET },
      cwd: folder,
    });
    const { code, cwd, log } = await runScript(GITLAB, {
      // The steps that install and start software are not part of the test.
      script: [
        'npm() { :; }',
        'curl() { :; }',
        "echo '{failures: [], version: 1}' > known-failures.yaml",
        ...job.script,
      ].join('\n'),
      env: { ...job.variables, HOOKPROOF_URL: url, HOOKPROOF_SECRET: SECRET },
      hookproof: COMPILED,
    });
    await stop();
    expect([code, log.includes(SECRET)]).toEqual([1, false]);
    expect(await readFile(join(cwd, job.artifacts.reports.junit), 'utf8')).toContain('<failure');
    expect(await readFile(join(cwd, 'hookproof-run/hookproof.sarif'), 'utf8')).toContain('src/webhook.ts');
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

describe('the Kubernetes manifests', () => {
  it.each(WORKLOADS.map((one) => [one.metadata.name, one] as const))(
    '%s has as few privileges as it needs',
    (_, one) => {
      const { containers, volumes, ...pod } = one.spec.template.spec;
      const [{ securityContext, volumeMounts }] = containers;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(volumeMounts.map(({ name }) => name).toSorted()).toEqual(volumes.map(({ name }) => name).toSorted());
      for (const { secret } of volumes) expect([undefined, 0o440]).toContain(secret?.defaultMode);
      // Not every container runtime can mount a volume inside another one.
      const paths = volumeMounts.map(({ mountPath }) => mountPath);
      expect(paths.filter((path) => paths.some((other) => path.startsWith(`${other}/`)))).toEqual([]);
    },
  );

  it('claim volumes that pods on several nodes can write to', () => {
    const claimed = WORKLOADS.flatMap(({ spec }) =>
      spec.template.spec.volumes.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []),
    );
    const claims = MANIFESTS.filter(({ kind }) => kind === 'PersistentVolumeClaim');
    expect(claims.map(({ metadata }) => metadata.name)).toEqual([...new Set(claimed)]);
    for (const { spec } of claims) expect(spec).toMatchObject({ accessModes: ['ReadWriteMany'] });
  });
});

describe.skipIf(lacks('grep'))('the Kubernetes Jobs that certify once', () => {
  /** The arguments of hookproof in the container with this index. */
  async function argumentsOf(job: Workload, index: number): Promise<string[]> {
    const [{ args, command = [], env: given = [] }] = job.spec.template.spec.containers;
    const variables = Object.fromEntries(given.map(({ name, value = '' }) => [name, value]));
    const env = { ...variables, FLEET_OUT: folder, FLEET_RUN: 'run', JOB_COMPLETION_INDEX: String(index) };
    const [shell = '', ...options] = command;
    expect(options).toEqual(['-c']);
    const hookproof = 'printf "%s\\n" "$@"';
    return (await runScript([shell], { script: args[0] ?? '', env, hookproof })).log.trimEnd().split('\n');
  }
  const run = () => join(folder, 'run');

  it('runs the shard of its index, and resumes what an earlier pod has begun', async () => {
    const job = workload('hookproof-certify');
    const [{ env = [] }] = job.spec.template.spec.containers;
    expect(env.find(({ name }) => name === 'FLEET_SHARDS')?.value).toBe(String(job.spec.completions));
    expect(await argumentsOf(job, 3)).toEqual([
      ...['certify', '--partners', '/fleet/partners', '--key', '/fleet/key/key.pem'],
      ...['--output-dir', join(run(), 'shard-3'), '--shard', '4/4', '--exit-on', 'harness'],
    ]);
    const document = join(run(), 'shard-0', 'fleet.json');
    await mkdir(join(run(), 'shard-0'), { recursive: true });
    await writeFile(document, JSON.stringify({ complete: false, partners: [] }, null, 1));
    expect((await argumentsOf(job, 0)).slice(-3)).toEqual(['--exit-on', 'harness', '--resume']);
    await writeFile(document, JSON.stringify({ complete: true, partners: [] }, null, 1));
    expect((await argumentsOf(job, 0)).at(-1)).toBe('harness');
  });

  it('merges the shards of the same run, over what an evicted pod has left, but not over a result', async () => {
    const merge = workload('hookproof-merge');
    const runOf = (job: Workload) => job.spec.template.spec.containers[0].env?.find(({ name }) => name === 'FLEET_RUN');
    expect(runOf(merge)).toEqual(runOf(workload('hookproof-certify')));
    for (const name of ['shard-0', 'shard-1', 'whole/acme']) await mkdir(join(run(), name), { recursive: true });
    expect(await argumentsOf(merge, 0)).toEqual([
      ...['certify', 'merge', join(run(), 'shard-0'), join(run(), 'shard-1'), '--key', '/fleet/key/key.pub.pem'],
      ...['--output-dir', join(run(), 'whole'), '--exit-on', 'harness'],
    ]);
    expect(existsSync(join(run(), 'whole'))).toBe(false);
    await mkdir(join(run(), 'whole', 'acme'), { recursive: true });
    await writeFile(join(run(), 'whole', 'fleet.json'), '{}');
    await argumentsOf(merge, 0);
    expect(existsSync(join(run(), 'whole', 'acme'))).toBe(true);
  });
});

describe('the scheduled jobs', () => {
  it('recheck a certificate, and end with the exit code: a workflow, a pipeline and cron', async () => {
    const { jobs } = await readYaml('ci/github-schedule.yaml');
    const { recheck } = await readYaml('ci/gitlab-schedule.yaml');
    expect(recheck.image.name).toBe(IMAGE);
    const [, line = ''] = /^(?:\S+ ){5}(cd .*)$/m.exec(await read('continuous-integration.md')) ?? [];
    const scripts: string[] = [jobs.recheck.steps.at(-1).run, recheck.script.join('\n'), line];

    // A public endpoint needs no --allow-private.
    const hookproof = `${COMPILED} --allow-private 127.0.0.1`;
    const { env, stop } = await receiver();
    const certify = 'hookproof certify --profile staging --yes --key hookproof-certify.pem --output-dir .';
    const { cwd, ...certified } = await runScript(['sh', '-e'], {
      script: `rm hookproof.yaml\n"${process.execPath}" "${MAIN}" certify keygen\n${certify}`,
      env,
      hookproof,
    });
    expect(certified.code, certified.log).toBe(0);
    await writeFile(join(cwd, 'secret.txt'), SECRET);
    const recheckAll = () =>
      Promise.all(
        scripts.map((script) => {
          const here = `cd '${cwd}'\n${script.replace('cd /srv/hookproof && ', '')}`;
          return runScript(['sh', '-e'], { script: here, env, hookproof });
        }),
      );
    for (const { code, log } of await recheckAll()) expect([code, log.includes('DRIFTED')]).toEqual([0, false]);
    await stop();
    const codes = (await recheckAll()).map(({ code }) => code);
    // The line for cron prints the result, and cron ignores its exit code.
    expect(codes).toEqual([3, 3, 0]);
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

const PIPELINES = [
  ['GitHub', 'fleet/github-workflow.yaml', 'cd out'],
  ['GitLab', 'fleet/gitlab-ci.yaml', 'cd shards'],
] as const;

it.each(inTurn(PIPELINES, 2))(
  'a broken file of a partner, and a shard without one, do not stop the pipeline of %s',
  async (_, file, into) => {
    const { jobs, ...pipeline } = await readYaml(file);
    const certify = jobs?.certify.steps.find(({ run = '' }) => run.includes('certify --partners')).run;
    const script = [
      'hookproof certify keygen',
      'export HOOKPROOF_CERTIFY_KEY=hookproof-certify.pem CI_NODE_TOTAL=4',
      'mkdir partners && echo "url: https://acme.example/" > partners/acme.yaml && echo "oops: 1" > partners/lima.yaml',
      'for n in 1 2 3 4; do export SHARD=$n CI_NODE_INDEX=$n',
      `${certify ?? pipeline.certify.script.join('\n')}\ndone; ${into}`,
      'hookproof certify merge shard-* --key ../hookproof-certify.pub.pem --output-dir whole || echo "joined: $?"',
      'ls whole',
    ];
    const ran = await runScript(['sh', '-e'], { script: script.join('\n'), env: {}, hookproof: COMPILED });
    expect([ran.code, ran.log]).toEqual([0, expect.stringMatching(/joined: 2\n[\s\S]*fleet\.html/)]);
  },
);
