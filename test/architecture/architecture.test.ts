import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsIn, importsOf, ROOT, sourceFiles } from './imports.ts';
import { againstTheArrows, hasDefaultExport, isCatchAll, isKebabCase, pastTheFace } from './rules.ts';

const ROOMS = ['contract', 'receiver', 'scenarios', 'harness', 'certs'];
const FILES = sourceFiles(ROOMS);
const IMPORTS = FILES.flatMap(importsOf);
const show = ({ from, to }: { from: string; to: string }) => `${from} -> ${to}`;

describe('the house', () => {
  it('is seen: every room has files and imports', () => {
    const seen = ROOMS.map((room) => [
      FILES.some((file) => file.startsWith(`${room}/`)),
      IMPORTS.some(({ from }) => from.startsWith(`${room}/`)),
    ]);
    expect(seen).toEqual(ROOMS.map(() => [true, true]));
  });

  it('has arrows that run one way', () => {
    expect(IMPORTS.filter(againstTheArrows).map(show)).toEqual([]);
  });

  it('has one entry from the harness to the receiver', () => {
    const between = IMPORTS.filter(({ from, to }) => from.startsWith('harness/') && to.startsWith('receiver/'));
    expect([...new Set(between.map(({ from }) => from))]).toEqual(['harness/cli/receiver-entry.ts']);
  });

  it('imports other rooms through their public face', () => {
    expect(IMPORTS.filter(pastTheFace).map(show)).toEqual([]);
  });

  it('imports only files that exist', () => {
    const gone = IMPORTS.filter(({ to }) => /\.(?:ts|json)$/.test(to) && !existsSync(join(ROOT, to)));
    expect(gone.map(show)).toEqual([]);
  });

  it('has kebab-case names, no catch-all files and no default exports', () => {
    const all = [...FILES, ...sourceFiles(['test', 'docs'])];
    const wrong = all.filter(
      (file) => !isKebabCase(file) || isCatchAll(file) || hasDefaultExport(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('exports what exists, and only from its own rooms', async () => {
    const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const targets = Object.values(exports as Record<string, string | { default: string }>)
      .map((target) => (typeof target === 'string' ? target : target.default))
      .concat(Object.values(bin as Record<string, string>));
    const sources = targets.map((target) =>
      target === './dist/bin/hookproof.js'
        ? './harness/cli/main.ts'
        : target.replace(/^\.\/dist\/(.*)\.js$/, './$1.ts').replace(/\/\*$/, ''),
    );
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
    const faces = sources.filter((source) => source.endsWith('/index.ts'));
    const empty = [];
    for (const face of faces) {
      const names = Object.keys(await import(join(ROOT, face)));
      if (names.length === 0) empty.push(face);
    }
    expect({ empty, faces: faces.length }).toEqual({ empty: [], faces: 6 });
  });
});

describe('the rules', () => {
  const made = (from: string, to: string) => ({ from, to });

  it.each([
    ['contract/a.ts', 'scenarios/index.ts', true],
    ['receiver/a.ts', 'harness/sender/index.ts', true],
    ['receiver/a.ts', 'scenarios/index.ts', true],
    ['scenarios/a.ts', 'harness/judge/index.ts', true],
    ['harness/cli/a.ts', 'receiver/index.ts', true],
    ['harness/cli/receiver-entry.ts', 'receiver/start-receiver.ts', true],
    ['certs/a.ts', 'receiver/index.ts', true],
    ['harness/cli/receiver-entry.ts', 'receiver/index.ts', false],
    ['harness/cli/receiver-entry.ts', 'receiver/inbox/index.ts', false],
    ['harness/cli/receiver-entry.ts', 'receiver/faults/index.ts', false],
    ['receiver/a.ts', 'contract/index.ts', false],
    ['harness/run/a.ts', 'scenarios/index.ts', false],
    ['contract/a.ts', 'zod', false],
    ['contract/a.ts', 'contract/b.ts', false],
  ])('arrows: %s -> %s is refused: %s', (from, to, refused) => {
    expect(againstTheArrows(made(from, to))).toBe(refused);
  });

  it.each([
    ['receiver/a.ts', 'contract/shapes.ts', true],
    ['harness/run/a.ts', 'harness/sender/sign.ts', true],
    ['harness/cli/a.ts', 'contract/hookproof-error.ts', false],
    ['harness/run/a.ts', 'harness/sender/index.ts', false],
    ['harness/run/a.ts', 'harness/run/b.ts', false],
    ['scenarios/suites/a.ts', 'scenarios/scenario.ts', false],
    ['contract/a.ts', 'node:crypto', false],
  ])('public faces: %s -> %s is refused: %s', (from, to, refused) => {
    expect(pastTheFace(made(from, to))).toBe(refused);
  });

  it('see every kind of import', () => {
    const source = [
      "import { a } from './a.ts';",
      "import type { B } from '../b/index.ts';",
      "import './c.ts';",
      "export * from './d.ts';",
      "const e = await import('./e.ts');",
      "import {\n  f,\n} from 'zod';",
    ].join('\n');
    const seen = importsIn('room/x.ts', source).map(({ to }) => to);
    expect(seen).toEqual(['room/a.ts', 'b/index.ts', 'room/c.ts', 'room/d.ts', 'room/e.ts', 'zod']);
  });

  it('know names and default exports', () => {
    expect(['a/kebab-case.ts', 'a/x.test.ts', 'a/snake_case.ts', 'a/Camel.ts'].map(isKebabCase)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(['a/utils.ts', 'a/string-utils.ts', 'a/helpers.ts', 'a/utilisation.ts'].map(isCatchAll)).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(
      [`export ${'default'} 1;`, `export { a as ${'default'} };`, 'export const a = 1;'].map(hasDefaultExport),
    ).toEqual([true, true, false]);
  });
});
