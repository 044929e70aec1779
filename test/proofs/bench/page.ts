/** docs/performance.md: each part of the benchmark replaces its section between two comments. */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { markdownTable } from '../../setup/markdown-table.ts';
import { PINNED } from './processes.ts';

const PAGE = 'docs/performance.md';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes?: readonly string[];
}

/** A row of the table of targets. */
export interface Target {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly met: boolean;
}

export function targetTable(targets: readonly Target[]): Table {
  return {
    title: 'Targets',
    columns: ['what', 'target', 'measured', ''],
    rows: targets.map(({ what, target, measured, met }) => [what, target, measured, met ? 'met' : '**missed**']),
  };
}

/** Prints the tables of a section, and writes them to the page. */
export function report(section: string, libraries: readonly string[], tables: readonly Table[]): void {
  for (const table of tables) process.stdout.write(`${asText(table)}\n`);
  const pinned = PINNED ? 'each process on its own core' : 'processes not pinned to cores';
  const part = [`Measured on ${today()}: ${conditions(libraries)}, ${pinned}.`, ...tables.map(asMarkdown)];
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(PAGE, withPart(page, section, 'npm run bench', part.join('\n\n')));
}

/** Returns the date in UTC: `2026-01-31`. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** Describes what the figures depend on: the versions and the machine. */
export function conditions(libraries: readonly string[]): string {
  return [`Node ${process.version}`, ...libraries.map(versionOf), machine()].join(', ');
}

function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${availableParallelism()} cores of ${model}, ${process.platform}`;
}

function versionOf(library: string): string {
  const { version } = JSON.parse(readFileSync(`node_modules/${library}/package.json`, 'utf8')) as { version: string };
  return `${library} ${version}`;
}

export function asText({ title, columns, rows, notes = [] }: Table): string {
  const lines = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll('**', '')));
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const aligned = lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [`\n${title}`, ...aligned, ...notes].join('\n');
}

export function asMarkdown({ title, columns, rows, notes = [] }: Table): string {
  return [`### ${title}`, markdownTable(columns, rows), ...notes].join('\n\n');
}

/**
 * Returns the page with a section replaced, which is the text between its two comments. Throws if there is no such
 * section.
 */
export function withPart(page: string, section: string, command: string, part: string): string {
  const [begin, end] = [`<!-- ${section}: written by ${command} -->`, `<!-- end of ${section} -->`];
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the page has no part ${section}`);
  return `${page.slice(0, from + begin.length)}\n\n${part}\n\n${page.slice(to)}`;
}
