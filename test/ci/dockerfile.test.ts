import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const ROOT = new URL('../..', import.meta.url).pathname;
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const TEXT = read('Dockerfile');
const { version, peerDependencies } = JSON.parse(read('package.json'));

/** The instructions of the last stage, continued lines joined. */
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
    const bases = TEXT.match(/^FROM .*/gm) ?? [];
    expect(bases).toHaveLength(2);
    for (const base of bases) expect(base).toMatch(/:\d[\w.-]*(?:@sha256:[0-9a-f]{64})?(?: AS \w+)?$/);
    expect([...argumentsOf('RUN'), ...argumentsOf('ADD')]).toEqual([]);
  });

  it('runs as a numeric user, and passes signals to the program', () => {
    expect(argumentsOf('USER').at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    for (const keyword of ['ENTRYPOINT', 'CMD']) expect(argumentsOf(keyword).at(-1)).toMatch(/^\[/);
  });

  it('installs the optional packages, except the SQLite that Node 22 has itself', () => {
    const installed = [...TEXT.matchAll(/ dependencies\.(\S+)=(\d+)/g)].map(([, name, major]) => [name, `^${major}`]);
    const { '@photostructure/sqlite': _, ...needed } = peerDependencies as Readonly<Record<string, string>>;
    expect(installed.toSorted()).toEqual(Object.entries(needed).map(([name, range]) => [name, range.split('.')[0]]));
  });

  it('contains no secret', () => {
    const set = TEXT.match(/^(?:ENV|ARG) .*/gm) ?? [];
    expect(set.filter((line) => /secret|password|token|api_?key/i.test(line))).toEqual([]);
  });

  it('makes the image that the Kubernetes Job runs, with the same version and user', () => {
    const pod = parse(read('docs/fleet/kubernetes-job.yaml')).spec.template.spec;
    const image = `registry.example/hookproof:${version}`;
    expect(argumentsOf('USER').at(-1)).toBe(`${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`);
    expect(pod.containers[0].image).toBe(image);
    expect(TEXT).toContain(`docker build -t ${image} .`);
    expect(TEXT).toContain(`org.opencontainers.image.version="${version}"`);
  });
});

it('the build context contains only the sources and the build files', () => {
  const [first, ...kept] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('**');
  const paths = kept.map((line) => line.replace(/^!/, ''));
  expect(paths.toSorted()).toEqual([
    ...['.npmrc', 'LICENSE', 'README.md', 'build.ts', 'certs', 'contract', 'harness', 'package-lock.json'],
    ...['package.json', 'receiver', 'scenarios', 'tsconfig.build.json', 'tsconfig.json'],
  ]);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
