/** The release of a version: the workflow and its steps, package.json, and the updates of dependencies. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { lacks } from '../setup/programs.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const MANIFEST = JSON.parse(read('package.json'));
const [, REPOSITORY = ''] = /^git\+https:\/\/github\.com\/(.+)\.git$/.exec(MANIFEST.repository.url) ?? [];

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly run?: string; readonly uses?: string; readonly with?: object }[];
}
const { jobs } = parse(read('.github/workflows/release.yml')) as { jobs: Readonly<Record<'build' | 'publish', Job>> };
const commandsOf = ({ steps }: Job) => steps.flatMap(({ run }) => run ?? []);

describe('the release workflow', () => {
  it('publishes from a job with rights that runs no code of a dependency', () => {
    expect(jobs.build.permissions).toBeUndefined();
    expect(jobs.publish.permissions).toEqual({ contents: 'write', 'id-token': 'write', attestations: 'write' });
    expect(commandsOf(jobs.publish)).toEqual([
      '.ci/release tag',
      `npm config set "$(npm config get registry | cut -d: -f2):_authToken=\\\${NODE_AUTH_TOKEN}"`,
      'npm publish --provenance --access public --ignore-scripts ./release/hookproof-*.tgz',
      '.ci/release publish',
    ]);
    const used = jobs.publish.steps.flatMap(({ uses }) => uses ?? []);
    expect(used.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
    const attested = jobs.publish.steps.filter(({ uses = '' }) => uses.startsWith('actions/attest@'));
    expect(attested.map(({ with: inputs }) => inputs)).toEqual([
      { 'subject-path': 'release/*' },
      { 'subject-path': expect.stringContaining('hookproof.cjs'), 'sbom-path': 'release/sbom.cdx.json' },
    ]);
  });

  it('calls scripts that exist, like the other workflows', () => {
    const workflows = readdirSync(join(ROOT, '.github/workflows')).map((name) => read(`.github/workflows/${name}`));
    const called = [...workflows.join('\n').matchAll(/run: (?:(\.ci\/\S+)|npm run (\S+)(?: -- (\S+))?)/g)];
    expect(called.length).toBeGreaterThan(6);
    const proofs = read('test/proofs/run.ts');
    for (const [, file, script, argument = ''] of called) {
      if (file !== undefined) expect(existsSync(join(ROOT, file)), file).toBe(true);
      else expect(Object.keys(MANIFEST.scripts)).toContain(script);
      if (script === 'proofs') expect(proofs).toContain(`name: '${argument}'`);
    }
  });
});

it('one repository is named everywhere', () => {
  expect(MANIFEST).toMatchObject({
    author: 'The hookproof authors',
    bugs: { url: `https://github.com/${REPOSITORY}/issues` },
    homepage: `https://github.com/${REPOSITORY}#readme`,
  });
  const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|ya?ml)$/.test(name))
    .map((name) => read(`docs/${name}`));
  const used = [read('README.md'), ...documents].flatMap((text) => text.match(/(?<=uses: )\S+\/hookproof@\S+/g) ?? []);
  expect(new Set(used)).toEqual(new Set([`${REPOSITORY}@v${MANIFEST.version}`]));
});

it('Dependabot updates packages, actions and the base image, and keeps Node 20', () => {
  const { updates } = parse(read('.github/dependabot.yml')) as {
    updates: {
      'package-ecosystem': string;
      ignore?: { 'dependency-name': string; versions?: [string]; 'update-types'?: [string] }[];
    }[];
  };
  expect(updates.map((update) => update['package-ecosystem'])).toEqual(['npm', 'github-actions', 'docker']);
  const numbers = (version: string) =>
    /(\d+)(?:\.(\d+))?/
      .exec(version)
      ?.slice(1)
      .map((part = '0') => Number(part)) ?? [];
  const ranges = { ...MANIFEST.devDependencies, ...MANIFEST.dependencies };
  for (const { 'dependency-name': name, versions: [ignored = ''] = [''] } of updates[0]?.ignore ?? []) {
    expect(ranges, name).toHaveProperty([name]);
    const [[ours = 0, minor = 0], [major = 0, ignoredMinor = 0]] = [numbers(ranges[name]), numbers(ignored)];
    expect(ours < major || (ours === major && minor < ignoredMinor), `${name} ${ranges[name]} ${ignored}`).toBe(true);
  }
});

describe.skipIf(lacks('bash'))('the steps of a release', () => {
  let folder = '';
  let clone = '';
  const version = '1.2.3';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hookproof-release-'));
    clone = join(folder, 'clone');
    await command('git', 'init', '--quiet', '--bare', join(folder, 'origin.git'));
    await command('git', 'init', '--quiet', '--initial-branch=main', clone);
    for (const path of ['.ci/release', '.gitignore', 'action', 'action.yml', 'package.json'])
      await cp(join(ROOT, path), join(clone, path), { recursive: true });
    await write('package.json', JSON.stringify({ ...MANIFEST, version }));
    await write(
      'CHANGELOG.md',
      `# Changelog\n\n## [${version}] - unreleased\n\n- New.\n\n## [1.0.0] - 2026-01-01\n\n- Old.\n`,
    );
    for (const name of ['hookproof.cjs', 'hookproof-linux-x64', 'third-party-licences.txt'])
      await write(`bundle/${name}`, `this is ${name}`);
    await write('reports/sbom.cdx.json', '{}');
    await writeFile(
      join(folder, 'gh'),
      `#!/bin/sh\nprintf '%s\\n' "$*" >>"${folder}/asked"\n[ "$1" = auth ] || cat >>"${folder}/notes"\n`,
    );
    await chmod(join(folder, 'gh'), 0o755);
    await git('remote', 'add', 'origin', join(folder, 'origin.git'));
    await git('add', '.');
    await git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--quiet', '-m', 'main');
    await git('push', '--quiet', 'origin', 'main');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function write(path: string, text: string): Promise<void> {
    await mkdir(join(clone, path, '..'), { recursive: true });
    await writeFile(join(clone, path), text);
  }

  function command(program: string, ...args: string[]): Promise<{ code: number; output: string }> {
    const env = {
      ...process.env,
      PATH: `${folder}${delimiter}${process.env.PATH}`,
      HOME: folder,
      GITHUB_REPOSITORY: REPOSITORY,
    };
    return new Promise((resolve) => {
      const child = execFile(program, args, { cwd: existsSync(clone) ? clone : folder, env }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, output: (stdout + stderr).trim() }),
      );
    });
  }
  const git = async (...args: string[]) => (await command('git', ...args)).output;
  const release = (step: string) => command('bash', '.ci/release', step);

  it('end at a version that is not ready, and publish a tag with the bundle that main does not have', async () => {
    expect(await release('check')).toMatchObject({ code: 1, output: expect.stringContaining('has no section') });
    await write(
      'CHANGELOG.md',
      (await readFile(join(clone, 'CHANGELOG.md'), 'utf8')).replace('unreleased', '2026-12-01'),
    );
    expect(await release('check')).toEqual({ code: 0, output: '' });

    expect((await release('collect')).code).toBe(0);
    const files = ['hookproof.cjs', 'third-party-licences.txt', 'hookproof-linux-x64.gz', `hookproof-${version}.tgz`];
    for (const name of [...files, 'sbom.cdx.json'])
      expect(await readFile(join(clone, 'release/SHA256SUMS'), 'utf8')).toContain(`  ${name}\n`);
    const packed = await command('tar', '-xzOf', `release/hookproof-${version}.tgz`, 'package/package.json');
    expect(JSON.parse(packed.output).scripts).not.toHaveProperty('prepare');
    expect(await git('diff', '--name-only', 'package.json')).toBe('');

    expect(await release('tag')).toEqual({ code: 0, output: '' });
    const inTag = await git('ls-tree', '-r', '--name-only', `v${version}`);
    expect(inTag.split('\n')).toEqual(
      expect.arrayContaining([
        'action.yml',
        'action/main.mjs',
        'bundle/hookproof.cjs',
        'bundle/third-party-licences.txt',
      ]),
    );
    expect(inTag).not.toContain('linux');
    expect(await git('ls-tree', '-r', '--name-only', 'main')).not.toContain('bundle');
    expect(await git('ls-remote', 'origin', `refs/tags/v${version}`)).not.toBe('');
    expect(await release('check')).toMatchObject({ code: 1, output: expect.stringContaining('is released already') });

    expect((await release('publish')).code).toBe(0);
    expect(await readFile(join(folder, 'notes'), 'utf8')).toBe('\n- New.\n\n');
    const asked = await readFile(join(folder, 'asked'), 'utf8');
    for (const name of files) expect(asked).toContain(`release/${name}`);
    expect(await git('rev-parse', 'v1')).toBe(await git('rev-parse', `v${version}`));
    expect((await git('ls-remote', 'origin', 'refs/tags/v1')).split('\t')[0]).toBe(await git('rev-parse', 'v1'));
  });

  it('end in a copy of the repository, where npm would reject the provenance', async () => {
    await write(
      'package.json',
      JSON.stringify({ ...MANIFEST, version, repository: { url: 'git+https://a.example/b.git' } }),
    );
    expect(await release('check')).toMatchObject({
      code: 1,
      output: expect.stringContaining('names another repository'),
    });
  });
});
