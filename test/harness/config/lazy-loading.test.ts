import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const ROOM = new URL('../../../harness/config/', import.meta.url);

/** The modules that a file of the room loads at once: no types, and no `import()`. */
function imports(file: string): string[] {
  const source = readFileSync(new URL(file, ROOM), 'utf8');
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

  it('is all that the room has, and every file of it is used', () => {
    const entries = ['index.ts', 'parse-config-file.ts', 'file-schema.ts'];
    const used = new Set([
      ...entries,
      ...entries.flatMap((file) => [...reachable(file)].map((name) => name.replace('./', ''))),
    ]);
    const typesOnly = ['config.ts'];
    expect(readdirSync(ROOM).filter((file) => !used.has(file) && !typesOnly.includes(file))).toEqual([]);
  });
});
