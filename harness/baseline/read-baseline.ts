/** Reads and writes the file of a baseline. */
import { readFile } from 'node:fs/promises';
import { HookproofError } from '../../contract/index.ts';
import type { Baseline } from './baseline.ts';

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown error');

/**
 * The baseline in a file, YAML or JSON; `name` is what messages and reports call it. Throws {@link HookproofError}: `BASELINE_NOT_READ`
 * or `BASELINE_INVALID`.
 */
export async function readBaseline(path: string, name: string = path): Promise<Baseline> {
  // YAML and zod are only for those who have a baseline.
  const { parseBaseline } = await import('./parse-baseline.ts');
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const what = codeOf(cause) === 'ENOENT' ? 'does not exist' : `cannot be read (${codeOf(cause)})`;
    throw new HookproofError('BASELINE_NOT_READ', `the baseline ${name} ${what}`, {
      hint: 'Check the path. `hookproof baseline update FILE` writes one from a run.',
      cause,
    });
  }
  return parseBaseline(text, name);
}

/** The same, or null when there is no such file. */
export async function readBaselineIfThere(path: string, name: string): Promise<Baseline | null> {
  try {
    return await readBaseline(path, name);
  } catch (error) {
    if (error instanceof HookproofError && codeOf(error.cause) === 'ENOENT') return null;
    throw error;
  }
}
