/** The reporters by name. Which of them write, and where, is the configuration's business. */
import type { ResultDocument } from '../result/result-document.ts';
import type { RunEvent } from '../result/run-event.ts';
import { renderHuman } from './human.ts';
import { renderEvent, renderJson, renderNdjson } from './json.ts';
import { renderJunit } from './junit.ts';
import type { TerminalOptions } from './layout.ts';

/** A reporter and where it writes: a file, or null for standard output. */
export interface Reporter {
  readonly name: 'human' | 'json' | 'junit' | 'ndjson';
  readonly file: string | null;
}

/** What there is to render. The events of the run, when they were kept, give ndjson the notices, which no document holds. */
export interface Report {
  readonly document: ResultDocument;
  readonly events?: readonly RunEvent[] | undefined;
}

/** The report as text in the reporter's format. Only `human` looks at the terminal. */
export function render(name: Reporter['name'], { document, events }: Report, terminal: TerminalOptions): string {
  switch (name) {
    case 'human':
      return renderHuman(document, terminal);
    case 'json':
      return renderJson(document);
    case 'junit':
      return renderJunit(document);
    case 'ndjson':
      return events === undefined ? renderNdjson(document) : events.map(renderEvent).join('');
  }
}
