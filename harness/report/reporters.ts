/** The reporters by name, each loaded when it is asked for. Which of them write, and where, is the configuration's business. */
import type { ResultDocument } from '../result/result-document.ts';
import type { RunEvent } from '../result/run-event.ts';
import type { TerminalOptions } from './layout.ts';

/** A reporter and where it writes: a file, or null for standard output. */
export interface Reporter {
  readonly name: 'human' | 'json' | 'junit' | 'ndjson' | 'html' | 'badge';
  readonly file: string | null;
}

/** What there is to render. The events of the run, when they were kept, give ndjson the notices, which no document holds. */
export interface Report {
  readonly document: ResultDocument;
  readonly events?: readonly RunEvent[] | undefined;
}

/** The report as text in the reporter's format. Only `human` looks at the terminal. */
export async function render(
  name: Reporter['name'],
  { document, events }: Report,
  terminal: TerminalOptions,
): Promise<string> {
  switch (name) {
    case 'human':
      return (await import('./human.ts')).renderHuman(document, terminal);
    case 'json':
      return (await import('./json.ts')).renderJson(document);
    case 'junit':
      return (await import('./junit.ts')).renderJunit(document);
    case 'ndjson': {
      const { renderEvent, renderNdjson } = await import('./json.ts');
      return events === undefined ? renderNdjson(document) : events.map(renderEvent).join('');
    }
    case 'html':
      return (await import('./html/render-html.ts')).renderHtml(document);
    case 'badge':
      return (await import('./badge.ts')).renderBadge(document);
  }
}
