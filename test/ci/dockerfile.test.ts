import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { packagedFiles } from '../../bundle.ts';
import { filesOf, recipeOf, STACKS } from '../../contract/stacks.ts';
import { MODULES } from '../architecture/rules.ts';
import { WORKLOADS } from './manifests.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const TEXT = read('Dockerfile');
const { version, peerDependencies } = JSON.parse(read('package.json'));

/** The instructions of the last stage, with continued lines joined. */
const LAST_STAGE = TEXT.slice(TEXT.lastIndexOf('\nFROM ') + 1)
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n');
const argumentsOf = (keyword: string) =>
  LAST_STAGE.filter((line) => line.startsWith(`${keyword} `)).map((line) => line.slice(keyword.length + 1));

describe('the Dockerfile', () => {
  it('is valid', () => {
    expect(validate(TEXT, {}).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`)).toEqual([]);
  });

  it('builds in one stage and runs in another, both on a pinned base', () => {
    expect(TEXT.match(/^FROM .*/gm)).toEqual(['FROM $BASE AS build', 'FROM $BASE']);
    expect(TEXT.match(/^ARG .*/gm)).toEqual([
      expect.stringMatching(/^ARG BASE=\S+:\d[\w.-]*(?:@sha256:[0-9a-f]{64})?$/),
    ]);
    expect([...argumentsOf('RUN'), ...argumentsOf('ADD')]).toEqual([]);
  });

  it('runs as a numeric user, and passes signals to the program', () => {
    expect(argumentsOf('USER').at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    for (const keyword of ['ENTRYPOINT', 'CMD']) expect(argumentsOf(keyword).at(-1)).toMatch(/^\[/);
  });

  it('installs the optional packages, except the SQLite that Node 22 has itself and what only tests need', () => {
    const installed = [...TEXT.matchAll(/ dependencies\.(\S+)=(\d+)/g)].map(([, name, major]) => [name, `^${major}`]);
    const { '@photostructure/sqlite': _, vitest: __, ...needed } = peerDependencies as Readonly<Record<string, string>>;
    expect(installed.toSorted()).toEqual(Object.entries(needed).map(([name, range]) => [name, range.split('.')[0]]));
  });

  it('contains no secret', () => {
    const set = TEXT.match(/^(?:ENV|ARG) .*/gm) ?? [];
    expect(set.filter((line) => /secret|password|token|api_?key/i.test(line))).toEqual([]);
  });

  it('makes the image that the Kubernetes manifests run, with the same version and user', () => {
    const image = `registry.example/hookproof:${version}`;
    expect(WORKLOADS.length).toBeGreaterThan(1);
    for (const { metadata, spec } of WORKLOADS) {
      const { securityContext, containers } = spec.template.spec;
      const user = `${securityContext.runAsUser}:${securityContext.runAsGroup}`;
      expect([metadata.name, user, containers[0].image]).toEqual([metadata.name, argumentsOf('USER').at(-1), image]);
    }
    expect(TEXT).toContain(`docker build -t ${image} .`);
    expect(TEXT).toContain(`org.opencontainers.image.version="${version}"`);
  });
});

it('the image contains every file that the program reads', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const [{ files }] = JSON.parse(packed) as [{ files: readonly { path: string }[] }];
  const contained = new Set(files.map(({ path }) => path));
  const recipes = STACKS.flatMap((stack) => filesOf(recipeOf(stack)).map(({ from }) => `recipes/${from}`));
  expect(recipes.length).toBeGreaterThan(50);
  expect([...recipes, ...packagedFiles()].filter((path) => !contained.has(path))).toEqual([]);
  const context: readonly string[] = read('.dockerignore').match(/(?<=^!).*/gm) ?? [];
  expect(packagedFiles().filter((path) => !context.includes(path.split('/')[0] ?? ''))).toEqual([]);
  expect(TEXT).toContain('npm pack --ignore-scripts');
});

it('the build context contains the modules, the files of the package and the build files, and nothing else', () => {
  const [first, ...kept] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('**');
  const paths = kept.map((line) => line.replace(/^!/, ''));
  const modules = new Set(Object.keys(MODULES).map((path) => path.split('/')[0]));
  const buildFiles = [
    '.npmrc',
    'build.ts',
    'package-lock.json',
    'package.json',
    'tsconfig.build.json',
    'tsconfig.json',
  ];
  expect(paths.toSorted()).toEqual([...buildFiles, 'LICENSE', 'README.md', 'recipes', ...modules].toSorted());
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
