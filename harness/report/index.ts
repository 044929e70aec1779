import type { FleetDocument } from '../fleet/index.ts';
import type { ResultDocument } from '../result/result-document.ts';

// Renderings of a result document: pure, and free of zod at run time.

export { renderBadge } from './badge.ts';
// The published schemas.
export { eventSchema } from './event-schema.ts';
// While a run goes on: the ndjson reporter, and its published schema.
export { type EventStream, openEventStream } from './event-stream.ts';
export { defuse, inActions } from './github/defuse.ts';
export { renderHuman } from './human.ts';
export { renderEvent, renderJson, renderNdjson, visibleJson } from './json.ts';
export { renderJunit } from './junit.ts';
export { counted, createLayout, formatDuration, type Layout, type TerminalOptions } from './layout.ts';
// While a run goes on.
export { createProgress, type ProgressOptions } from './progress.ts';
// The output boundary: everything that is written goes through a redactor once.
export { redactDocument, redactEvent } from './redact-document.ts';
export { redactError } from './redact-error.ts';
export { createRedactor, type NamedSecret, type Redactor } from './redactor.ts';
export type { Reporter } from './reporters.ts';
export { resultSchema } from './result-schema.ts';
// Hostile text made safe to look at.
export { describeBytes, visible } from './visible.ts';
// Text in columns of a terminal.
export { displayWidth, truncate } from './wrap.ts';
export { type WriteOptions, type WrittenReport, writeReports } from './write-reports.ts';

/** The HTML report. It is loaded when it is asked for: a run on a terminal never needs it. */
export async function renderHtml(document: ResultDocument): Promise<string> {
  const { renderHtml: render } = await import('./html/render-html.ts');
  return render(document);
}

/** The page about many partners. Loaded when it is asked for. */
export async function renderFleetHtml(document: FleetDocument): Promise<string> {
  return (await import('./html/fleet-page.ts')).renderFleetPage(document);
}

/** The partners as CSV. Loaded when it is asked for. */
export async function renderFleetCsv(document: FleetDocument): Promise<string> {
  return (await import('./fleet-csv.ts')).renderFleetCsv(document);
}
