/** The log of a step in GitHub Actions: the report for people, in which nothing is a command, and then the annotations. */
import type { ResultDocument } from '../../result/result-document.ts';
import { renderHuman } from '../human.ts';
import type { TerminalOptions } from '../layout.ts';
import { renderAnnotations } from './annotations.ts';
import { defuse } from './defuse.ts';

export function renderGithub(document: ResultDocument, terminal: TerminalOptions): string {
  return `${defuse(renderHuman(document, terminal))}\n${renderAnnotations(document)}`;
}
