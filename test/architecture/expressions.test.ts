/** Finds regular expressions that take quadratic time on some text that anyone can send. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenizer } from 'acorn';
import { transformSync } from 'esbuild';
import { analyse } from 'scslre';
import { describe, expect, it } from 'vitest';
import { ROOT, sourceFiles } from './imports.ts';

/** The files with an expression of this form, and why the text that it matches is short or trusted. */
const BOUNDED: Readonly<Record<string, string>> = {
  'harness/cli/receiver/receiver-tls.ts': 'a flag of the user',
  'harness/cli/sent-bytes.ts': 'what hookproof sends',
  'harness/doctor/credential-shape.ts': 'a credential of the user, at most 64 KiB',
  'harness/judge/judge-effects.ts': 'at most 300 characters',
  'harness/judge/uniform.ts': 'longer runs of digits are taken by the alternatives before',
  'harness/log/echoes.ts': 'at most 200 characters',
  'harness/run/oracle.ts': 'what hookproof sends',
  'mutants/effects-values.ts': 'an amount of the catalogue',
  'scenarios/changes/addressing.ts': 'what hookproof sends',
};

/** Returns the expressions in a program that can take quadratic or exponential time. */
function slowIn(code: string): string[] {
  const options = { loader: 'ts', format: 'esm', tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } };
  const script = transformSync(code, options as Parameters<typeof transformSync>[1]).code;
  return [...tokenizer(script, { ecmaVersion: 'latest', sourceType: 'module' })].flatMap((token) => {
    if (token.type.label !== 'regexp' || !('value' in token)) return [];
    const { pattern: source, flags } = token.value as { readonly pattern: string; readonly flags: string };
    return analyse({ source, flags }).reports.length === 0 ? [] : [`/${source}/${flags}`];
  });
}

describe('expressions', () => {
  it('are linear, or read text whose length is bounded', () => {
    const files = sourceFiles(['certs', 'contract', 'harness', 'mutants', 'receiver', 'recipes', 'scenarios']);
    const found = files.filter((file) => slowIn(readFileSync(join(ROOT, file), 'utf8')).length > 0);
    expect(found.toSorted()).toEqual(Object.keys(BOUNDED));
  });

  it.each([
    "all.replace(/^[ \\t\\r\\n]+|[ \\t\\r\\n]+$/g, '')",
    "value.replace(/[\\t ]+$/, '')",
    "amount.replace(/\\.?0*$/, '')",
    '/^\\s*(?:identity)?\\s*$/i.test(encoding)',
    '/^(a+)+$/.test(text)',
  ])('would be found: %s', (code) => expect(slowIn(code)).toHaveLength(1));
});
