/** The files under docs/ci: read, and their shell steps run with the compiled program, as GitLab and Jenkins would run them. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MAIN } from '../cli/hookproof.ts';
import { endReceivers, startedReceiver } from '../cli/receivers.ts';
import { lacks } from '../setup/programs.ts';
import { readJenkinsfile } from './jenkinsfile.ts';

const read = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
const SECRET = 'made-for-this-test-and-nothing-else-0002';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-snippets-'));
  await writeFile(join(folder, 'hookproof'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  await chmod(join(folder, 'hookproof'), 0o755);
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a script with this shell in a folder of its own, in which hookproof runs one suite only. */
async function play(shell: readonly string[], script: string, env: Readonly<Record<string, string>>) {
  const cwd = await mkdtemp(join(folder, 'job-'));
  await writeFile(join(cwd, 'hookproof.yaml'), 'suites: [signature]\n');
  await writeFile(join(cwd, 'script'), script);
  const [program = 'sh', ...args] = shell;
  return new Promise<{ code: number; cwd: string; log: string }>((done) => {
    const child = execFile(
      program,
      [...args, join(cwd, 'script')],
      { cwd, env: { PATH: `${folder}${delimiter}${process.env.PATH}`, ...env } },
      (_, stdout, stderr) => done({ code: child.exitCode ?? -1, cwd, log: stdout + stderr }),
    );
  });
}

async function receiver(...args: string[]) {
  const authority = join(await mkdtemp(join(folder, 'receiver-')), 'ca.pem');
  const tls = ['--tls-quick-start', '--tls-quick-start-ca', authority];
  const started = await startedReceiver([...tls, ...args], { env: { HOOKPROOF_SECRET: SECRET }, cwd: folder });
  const env = { HOOKPROOF_URL: started.url, HOOKPROOF_SECRET: SECRET, HOOKPROOF_CA: authority };
  return { env, stop: started.stop };
}

describe.skipIf(lacks('bash'))('GitLab', () => {
  const GITLAB = ['bash', '-eo', 'pipefail'];

  it('has the report that GitLab shows, the image of the Dockerfile, and ends with the exit code of the run', async () => {
    const { hookproof } = parse(await read('ci/gitlab-ci.yaml'));
    expect(hookproof.image.name).toBe(`registry.example/hookproof:${version}`);
    const script = hookproof.script.join('\n');
    const { env, stop } = await receiver('--fault', 'compares-first-8');
    const { code, cwd, log } = await play(GITLAB, script, env);
    expect([code, log.includes(SECRET)]).toEqual([1, false]);
    expect(hookproof.artifacts.when).toBe('always');
    const junit = await readFile(join(cwd, hookproof.artifacts.reports.junit), 'utf8');
    expect(junit).toContain('<failure');
    await stop();

    const { HOOKPROOF_SECRET: _, ...without } = env;
    expect(await play(GITLAB, script, without)).toMatchObject({
      code: 2,
      log: 'HOOKPROOF_SECRET is not set for this branch\n',
    });
  });

  it('and the pipeline for many partners uses the same image', async () => {
    const pipeline = parse(await read('fleet/gitlab-ci.yaml'));
    expect(pipeline.default.image.name).toBe(`registry.example/hookproof:${version}`);
  });
});

describe('Jenkins', () => {
  it('has its blocks, no secret in a command, and ends with the exit code of the run', async () => {
    const text = await read('ci/Jenkinsfile');
    const { blocks, interpolated, scripts } = readJenkinsfile(text);
    expect(blocks).toEqual([
      ...['pipeline', 'pipeline.agent', 'pipeline.agent.docker', 'pipeline.parameters', 'pipeline.options'],
      ...['pipeline.stages', 'pipeline.stages.stage', 'pipeline.stages.stage.steps'],
      ...['pipeline.stages.stage.steps.HOOKPROOF_CLIENT_KEY'].map((name) =>
        name.replace('HOOKPROOF_CLIENT_KEY', 'variable'),
      ),
      ...['pipeline.post', 'pipeline.post.always'],
    ]);
    expect([interpolated, scripts.length]).toEqual([[], 1]);
    expect(text).toContain(`image 'registry.example/hookproof:${version}'`);
    const { env, stop } = await receiver();
    // Jenkins starts a shell script in this way.
    const { code, cwd, log } = await play(['sh', '-xe'], scripts[0] ?? '', env);
    expect([code, log.includes(SECRET)]).toEqual([0, false]);
    expect(await readFile(join(cwd, 'hookproof-run/junit.xml'), 'utf8')).toContain('<testsuites');
    await stop();
    for (const place of text.match(/hookproof-run\/[\w.*]+/g) ?? []) expect(place).toMatch(/junit\.xml$|\*\*$/);
  });

  it.each([
    ['pipeline { agent any', 'does not close'],
    ["pipeline { sh 'x }", "a ' does not close"],
    ['pipeline { a(] }', 'closes what is not open'],
    ['}', 'closes what is not open'],
  ])('%j is none', (text, message) => {
    expect(() => readJenkinsfile(text)).toThrow(message);
  });

  it('a text into which Groovy puts a value is seen', () => {
    const text = `pipeline { sh "curl $SECRET"; sh '''echo $SECRET'''; echo "no" } // "$x"`;
    expect(readJenkinsfile(text)).toEqual({
      blocks: ['pipeline'],
      scripts: ['curl $SECRET', 'echo $SECRET'],
      interpolated: ['curl $SECRET'],
    });
  });
});
