/** What `hookproof certify` says after the report. */
import { relative } from 'node:path';
import type { Refusal } from '../certify/index.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { createLayout } from '../report/index.ts';
import { reasonLines } from './certificate-words.ts';
import { displayOf } from './terminal.ts';

type Layout = ReturnType<typeof createLayout>;

/** After the report where a person reads it, and else where it is in nobody's way. */
export function say({ reporters }: ResolvedConfig, lines: (layout: Layout) => readonly string[]): void {
  const forPeople = reporters.some(({ name, file }) => (name === 'human' || name === 'github') && file === null);
  const stream = forPeople ? process.stdout : process.stderr;
  stream.write(`\n${lines(createLayout(displayOf(stream))).join('\n')}\n`);
}

export function notCertified(refusals: readonly Refusal[]): (layout: Layout) => readonly string[] {
  return (layout) => [
    `${layout.sign('fail')} ${layout.paint('NOT CERTIFIED', 'bold', 'red')}`,
    ...reasonLines(refusals, 'fail', layout),
  ];
}

/** As the user would name it from here. */
export function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}
