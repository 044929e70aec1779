/** The reporters by name, each loaded when it is asked for. Which of them write, and where, is the configuration's business. */
import type { ResultDocument } from '../result/result-document.ts';
import type { TerminalOptions } from './layout.ts';

/** A reporter and where it writes: a file, or null for standard output. */
export interface Reporter {
  readonly name: 'human' | 'json' | 'junit' | 'ndjson' | 'html' | 'badge' | 'ctrf' | 'github';
  readonly file: string | null;
}

/** The report as text in the reporter's format. Only `human` looks at the terminal. */
export async function render(
  name: Reporter['name'],
  document: ResultDocument,
  terminal: TerminalOptions,
): Promise<string> {
  switch (name) {
    case 'human':
      return (await import('./human.ts')).renderHuman(document, terminal);
    case 'json':
      return (await import('./json.ts')).renderJson(document);
    case 'junit':
      return (await import('./junit.ts')).renderJunit(document);
    case 'ndjson':
      return (await import('./json.ts')).renderNdjson(document);
    case 'html':
      return (await import('./html/render-html.ts')).renderHtml(document);
    case 'ctrf':
      return (await import('./ctrf.ts')).renderCtrf(document);
    case 'github':
      return (await import('./github/render-github.ts')).renderGithub(document, terminal);
    case 'badge':
      return (await import('./badge.ts')).renderBadge(document);
  }
}
