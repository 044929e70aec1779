import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const FOLDER = new URL('../../../harness/config/', import.meta.url);

/** Returns the modules that a file of the folder loads immediately: neither types nor `import()`. */
function imports(file: string): string[] {
  const source = readFileSync(new URL(file, FOLDER), 'utf8');
  return [...source.matchAll(/^(?:import|export) (?!type )(?:[^'";]*from )?'([^']+)';/gm)].map(([, name]) => name!);
}

function reachable(file: string, seen: Set<string> = new Set()): Set<string> {
  for (const name of imports(file)) {
    if (seen.has(name)) continue;
    seen.add(name);
    if (name.startsWith('./')) reachable(name.slice(2), seen);
  }
  return seen;
}

describe('the configuration without a file', () => {
  it('loads neither the YAML parser nor the schema library', () => {
    const loaded = reachable('index.ts');
    expect(loaded).toContain('./load-config.ts');
    expect([...loaded].filter((name) => name === 'yaml' || name.startsWith('zod'))).toEqual([]);
  });

  it('loads them with a file', () => {
    expect([...reachable('parse-config-file.ts')]).toEqual(expect.arrayContaining(['yaml', 'zod']));
  });

  it('has the table of settings with little else, for the help of every command', () => {
    expect([...reachable('settings.ts')].toSorted()).toEqual([
      '../../contract/amounts.ts',
      '../../contract/stacks.ts',
      '../../scenarios/profiles.ts',
      '../report/reporters.ts',
    ]);
  });
});
