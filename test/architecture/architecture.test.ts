import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Import, importsIn, importsOf, ROOT, sourceFiles } from './imports.ts';
import {
  bypassesEntryPoint,
  findCycle,
  hasDefaultExport,
  isCatchAll,
  isKebabCase,
  isWrongWay,
  longLines,
  MODULES,
  moduleOf,
  RECEIVER_ENTRY,
  readsConfiguration,
  unusedEntryPoints,
} from './rules.ts';

const FILES = sourceFiles(['contract', 'receiver', 'mutants', 'scenarios', 'harness', 'certs']);
const IMPORTS = FILES.flatMap(importsOf);
const show = ({ from, to }: Import) => `${from} -> ${to}`;

describe('the architecture', () => {
  it('lists every module', () => {
    expect([...new Set(FILES.map(moduleOf))].toSorted()).toEqual(Object.keys(MODULES).toSorted());
    expect(IMPORTS.length).toBeGreaterThan(FILES.length);
  });

  it('has imports in one direction only', () => {
    expect(IMPORTS.filter(isWrongWay).map(show)).toEqual([]);
  });

  it('has one import from the harness to the receiver', () => {
    const entries = IMPORTS.filter(({ from, to }) => from.startsWith('harness/') && to.startsWith('receiver/'));
    expect([...new Set(entries.map(({ from }) => from))]).toEqual([RECEIVER_ENTRY]);
  });

  it('has a judge that does not depend on the configuration', () => {
    expect(IMPORTS.filter(readsConfiguration).map(show)).toEqual([]);
    expect(readsConfiguration({ from: 'harness/judge/a.ts', to: 'harness/config/b.ts' })).toBe(true);
  });

  it('has no import cycles', () => {
    expect(findCycle(IMPORTS)).toEqual([]);
  });

  it('imports other modules through their entry points', () => {
    expect(IMPORTS.filter(bypassesEntryPoint).map(show)).toEqual([]);
    expect(unusedEntryPoints(IMPORTS)).toEqual([]);
  });

  it('imports only files that exist', () => {
    const missing = IMPORTS.filter(({ to }) => /\.(?:ts|json)$/.test(to) && !existsSync(join(ROOT, to)));
    expect(missing.map(show)).toEqual([]);
  });

  it('has kebab-case names, no catch-all files and no default exports', () => {
    const wrong = [...FILES, ...sourceFiles(['test', 'docs'])].filter(
      (file) => !isKebabCase(file) || isCatchAll(file) || hasDefaultExport(readFileSync(join(ROOT, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });

  it('has lines of at most 120 characters in every code file', () => {
    const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
    const files = tracked.filter((file) => file !== '' && existsSync(join(ROOT, file)));
    expect(files.length).toBeGreaterThan(FILES.length);
    expect(files.flatMap((file) => longLines(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
  });
});

describe('the package', () => {
  const { exports, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const targets: string[] = Object.values(exports as Record<string, string | { default: string }>)
    .map((target) => (typeof target === 'string' ? target : target.default))
    .concat(Object.values(bin as Record<string, string>));
  const sources = targets.map((target) =>
    target === './dist/bin/hookproof.js'
      ? './harness/cli/main.ts'
      : target.replace(/^\.\/dist\/(.*)\.js$/, './$1.ts').replace(/\/\*$/, ''),
  );

  it('exports files that exist', () => {
    expect(sources.filter((source) => !existsSync(join(ROOT, source)))).toEqual([]);
  });

  it('exports modules that are not empty', async () => {
    const indexes = sources.filter((source) => source.endsWith('/index.ts'));
    const counts = await Promise.all(indexes.map(async (one) => Object.keys(await import(join(ROOT, one))).length));
    expect(counts).toHaveLength(7);
    expect(counts).not.toContain(0);
  });

  it('has at most 20 scripts', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(Object.keys(scripts).length).toBeLessThanOrEqual(20);
  });
});

describe('the architecture rules', () => {
  it.each([
    ['contract/a.ts', 'scenarios/index.ts', true],
    ['receiver/a.ts', 'harness/sender/index.ts', true],
    ['receiver/a.ts', 'scenarios/index.ts', true],
    ['scenarios/a.ts', 'harness/judge/index.ts', true],
    ['certs/a.ts', 'receiver/index.ts', true],
    ['harness/cli/a.ts', 'receiver/index.ts', true],
    [RECEIVER_ENTRY, 'receiver/index.ts', false],
    ['receiver/a.ts', 'contract/index.ts', false],
    ['harness/run/a.ts', 'scenarios/index.ts', false],
    ['contract/a.ts', 'zod', false],
    ['contract/a.ts', 'contract/b.ts', false],
  ])('direction: %s -> %s is wrong: %s', (from, to, wrong) => {
    expect(isWrongWay({ from, to })).toBe(wrong);
  });

  it.each([
    ['receiver/a.ts', 'contract/shapes.ts', true],
    ['harness/run/a.ts', 'harness/sender/compose.ts', true],
    [RECEIVER_ENTRY, 'receiver/start-receiver.ts', true],
    ['harness/cli/a.ts', 'contract/hookproof-error.ts', false],
    ['harness/run/a.ts', 'harness/sender/index.ts', false],
    ['harness/run/a.ts', 'harness/run/b.ts', false],
    ['scenarios/suites/a.ts', 'scenarios/scenario.ts', false],
    ['contract/a.ts', 'node:crypto', false],
  ])('entry points: %s -> %s bypasses one: %s', (from, to, wrong) => {
    expect(bypassesEntryPoint({ from, to })).toBe(wrong);
  });

  it('find a cycle', () => {
    const chain = [
      { from: 'a.ts', to: 'b.ts' },
      { from: 'b.ts', to: 'c.ts' },
    ];
    expect(findCycle(chain)).toEqual([]);
    expect(findCycle([...chain, { from: 'c.ts', to: 'b.ts' }])).toEqual(['b.ts', 'c.ts', 'b.ts']);
  });

  it('find every kind of import', () => {
    const source = [
      "import { a } from './a.ts';",
      "import type { B } from '../b/index.ts';",
      "import './c.ts';",
      "export * from './d.ts';",
      "const e = await import('./e.ts');",
      "import {\n  f,\n} from 'zod';",
    ].join('\n');
    const seen = importsIn('folder/x.ts', source).map(({ to }) => to);
    expect(seen).toEqual(['folder/a.ts', 'b/index.ts', 'folder/c.ts', 'folder/d.ts', 'folder/e.ts', 'zod']);
  });

  it('find long lines of code', () => {
    const source = `${'a'.repeat(120)}\n${'\u{1f600}'.repeat(120)}\n${'a'.repeat(121)}\n`;
    expect(longLines('a/b.ts', source)).toEqual(['a/b.ts:3']);
    expect(longLines('.ci/run', source)).toEqual(['.ci/run:3']);
    expect(longLines('a/b.md', source)).toEqual([]);
  });

  it('find invalid names and default exports', () => {
    const names = ['a/kebab-case.ts', 'a/x.slow.test.ts', 'a/snake_case.ts', 'a/Camel.ts'];
    expect(names.filter(isKebabCase)).toEqual(names.slice(0, 2));
    const files = ['a/utils.ts', 'a/string-utils.ts', 'a/helpers.ts', 'a/utilisation.ts'];
    expect(files.filter(isCatchAll)).toEqual(files.slice(0, 3));
    const sources = [`export ${'default'} 1;`, `export { a as ${'default'} };`, 'export const a = 1;'];
    expect(sources.filter(hasDefaultExport)).toEqual(sources.slice(0, 2));
  });
});
