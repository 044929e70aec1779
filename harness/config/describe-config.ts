/** The text of `hookproof config show`. */
import type { ResolvedConfig } from './config.ts';
import { printable } from './printable.ts';

/** One line a setting: its key, its value with secrets redacted, and where the value came from. Ends with a newline. */
export function describeConfig(config: ResolvedConfig): string {
  const rows = config.settings.map(({ path, value, source }) => [path, printable(value), source] as const);
  const width = (column: 0 | 1, most: number) => Math.min(most, Math.max(...rows.map((row) => row[column].length)));
  const [first, second] = [width(0, 24), width(1, 48)];
  return rows
    .map(([path, value, source]) => `${path.padEnd(first)}  ${value.padEnd(second)}  ${printable(source)}\n`)
    .join('');
}
