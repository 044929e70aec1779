/** Renders a Markdown table. Numbers get a thousands separator, and `|` is escaped. */
export function markdownTable(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const text = (cell: string | number) =>
    typeof cell === 'number' ? cell.toLocaleString('en-GB') : cell.replaceAll('|', '\\|');
  const line = (cells: readonly (string | number)[]) => `| ${cells.map(text).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
