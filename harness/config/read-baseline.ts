/** Reads and renders baseline files. Loads the YAML parser and zod on demand, so that other runs do not need them. */

import { HookproofError } from '../../contract/index.ts';
import type { Baseline } from '../judge/index.ts';
import { MAX_DOCUMENT_BYTES, readFile, utf8Text } from './read-file.ts';

/**
 * Reads the baseline from a YAML or JSON file. `name` is the name of the file in messages and reports.
 *
 * @throws HookproofError BASELINE_NOT_READ, BASELINE_INVALID
 */
export async function readBaseline(path: string, name: string = path): Promise<Baseline> {
  const baseline = await readBaselineIfThere(path, name);
  if (baseline === null) throw notRead(name, 'does not exist');
  return baseline;
}

/** Like {@link readBaseline}, but returns null if the file does not exist. */
export async function readBaselineIfThere(path: string, name: string): Promise<Baseline | null> {
  const content = await readFile(path, MAX_DOCUMENT_BYTES);
  if ('reason' in content) {
    if (content.missing) return null;
    throw notRead(name, content.reason);
  }
  const text = utf8Text(content.bytes);
  if (text === undefined) throw notRead(name, 'is not UTF-8 text');
  const { parseBaseline } = await import('./baseline-file.ts');
  return parseBaseline(text, name);
}

function notRead(name: string, reason: string): HookproofError {
  return new HookproofError('BASELINE_NOT_READ', `the baseline ${name} ${reason}`, {
    hint: 'Check the path. `hookproof baseline update FILE` writes one from a run.',
  });
}

/** Returns the text of a baseline file. Loads the YAML parser on the first call. */
export async function renderBaseline(
  ...given: Parameters<typeof import('./baseline-file.ts').renderBaseline>
): Promise<string> {
  const { renderBaseline: render } = await import('./baseline-file.ts');
  return render(...given);
}
