/** The Dockerfile: parsed, and held against what an image of ours has to be. `npm run image` builds and runs it by hand. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { filesOfContext } from './docker-context.ts';
import { readStages, wrongWithDockerfile } from './dockerfile.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const text = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

describe('the Dockerfile', () => {
  it('is right', () => {
    expect(wrongWithDockerfile(text)).toEqual([]);
    expect(text).toContain(`org.opencontainers.image.version="${version}"`);
  });

  it.each([
    ['USER 65532:65532', 'USER node', 'the user node is no number'],
    ['USER 65532:65532', 'USER 0', 'the user 0 is no number, or root'],
    ['USER 65532:65532', '', 'the user root is no number'],
    ['ENTRYPOINT ["hookproof"]', 'ENTRYPOINT hookproof', 'ENTRYPOINT is not in exec form'],
    ['CMD ["--help"]', 'CMD --help', 'CMD is not in exec form'],
    ['FROM node:22-bookworm-slim\n', 'FROM node:latest\n', 'the base node:latest has no tag with a version'],
    ['WORKDIR /data', 'RUN chmod -R 777 /opt', 'RUN in the final stage'],
    ['ENV NODE_ENV=production', 'ENV HOOKPROOF_SECRET=abc', 'looks like a secret'],
    ['COPY . .', 'COPPY . .', 'line '],
  ])('with %j as %j it is not', (right, changed, message) => {
    expect(text).toContain(right);
    expect(wrongWithDockerfile(text.replace(right, changed)).join('\n')).toContain(message);
  });

  it('is what the Kubernetes Job runs: the same image, user and folders', async () => {
    const { spec } = parse(await readFile(join(ROOT, 'docs/fleet/kubernetes-job.yaml'), 'utf8'));
    const pod = spec.template.spec;
    const [container] = pod.containers;
    const last = readStages(text).at(-1)?.instructions ?? [];
    const user = last.find(({ keyword }) => keyword === 'USER')?.text;
    expect(user).toBe(`${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`);
    expect(container.image).toBe(`registry.example/hookproof:${version}`);
    expect(text).toContain(`docker build -t ${container.image} .`);
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
  });
});

describe('what a build sees', () => {
  it('is what .dockerignore keeps, and nothing else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookproof-context-'));
    const files = [
      'package.json',
      '.env',
      'server.key',
      '.git/config',
      'contract/a.ts',
      'contract/b/c.ts',
      'contracts/a.ts',
      'test/a.ts',
    ];
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), '');
    }
    const seen = (ignore: string) => filesOfContext(folder, ignore);
    expect(seen('**\n!contract\n# a comment\n!package.json\n')).toEqual([
      'contract/a.ts',
      'contract/b/c.ts',
      'package.json',
    ]);
    expect(seen('**\n!contract/b\n')).toEqual(['contract/b/c.ts']);
    expect(seen('')).toHaveLength(files.length);
    expect(() => seen('*.ts\n')).toThrow('does not know');
    await rm(folder, { recursive: true });
  });

  it('is the sources, and what builds them', async () => {
    const seen = filesOfContext(ROOT, await readFile(join(ROOT, '.dockerignore'), 'utf8'));
    const places = new Set(seen.map((file) => file.replace(/\/.*/, '/')));
    expect([...places].toSorted()).toEqual([
      ...['.npmrc', 'LICENSE', 'README.md', 'certs/', 'contract/', 'harness/', 'package-lock.json', 'package.json'],
      ...['receiver/', 'scenarios/', 'tsconfig.build.json', 'tsconfig.json'],
    ]);
  });
});
