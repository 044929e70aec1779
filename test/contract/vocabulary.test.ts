import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

describe('a module that the command line loads at once', () => {
  const directory = new URL('../../contract/', import.meta.url);
  const importsOf = (file: string) =>
    [
      ...readFileSync(new URL(file, directory), 'utf8').matchAll(/^(?:import|export)(?! type)[^;]*? from '([^']+)';/gm),
    ].map(([, from]) => from ?? '');

  /** Returns the modules that a file of the contract loads, including the file itself. */
  function loadedBy(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    for (const from of importsOf(file)) {
      if (from.startsWith('./')) loadedBy(from.slice(2), seen);
      else seen.add(from);
    }
    return seen;
  }

  it.each([
    ['delivery.ts', false],
    ['hookproof-error.ts', false],
    ['error-codes.ts', false],
    ['kinds.ts', false],
    ['amounts.ts', false],
    ['secret-spellings.ts', false],
    ['read-notification.ts', true],
  ])('%s loads zod: %s', (file, loads) => {
    expect(loadedBy(file).has('zod')).toBe(loads);
  });
});
