/** A baseline as the text of its file. */
import { stringify } from 'yaml';
import type { BaselineEntry } from './baseline.ts';

const HEAD = `# Known failures: each is put up with until its day of expiry. A run with \`--baseline\` fails for every other failure, and for an
# entry that passes, names no check, or is expired. \`hookproof baseline update\` writes this file and keeps reasons, owners and days.
`;

/** JSON when the name of the file ends so, else YAML. Ends with a newline. */
export function renderBaseline(entries: readonly BaselineEntry[], file: string): string {
  const content = { version: 1, failures: entries };
  if (file.endsWith('.json')) return `${JSON.stringify(content, null, 2)}\n`;
  return `${HEAD}${stringify(content, { lineWidth: 0 })}`;
}
