/** Renderings of a result document: pure. */
import type { FleetDocument } from '../fleet.ts';
import type { ResultDocument } from './result-document.ts';

export { renderBadge } from './badge.ts';
export { bodyChangeInWords, bodyComparison, changesInWords, visibleBytes } from './body-changes.ts';
export { type Cause, causesOf, decisiveProbe, groupBy, withDiagnosisOf, withFindings } from './causes.ts';
export { changedBytes } from './changed-bytes.ts';
export { type EventStream, openEventStream } from './event-stream.ts';
export { defuse, inActions } from './github.ts';
export { renderHuman } from './human.ts';
export { renderEvent, renderJson, renderNdjson, visibleJson } from './json.ts';
export { renderJunit } from './junit.ts';
export {
  counted,
  createLayout,
  displayWidth,
  formatDuration,
  type Layout,
  type TerminalOptions,
  truncate,
} from './layout.ts';
export { createProgress, type ProgressOptions } from './progress.ts';
export { type Plan, planOf, redactDocument, redactError, redactEvent, redactValue } from './redaction.ts';
export { createRedactor, type NamedSecret, type Redactor } from './redactor.ts';
export type { Reporter } from './reporters.ts';
export { eventSchema, resultSchema } from './result-document.ts';
export { renderRound } from './round.ts';
export { describeBytes } from './visible.ts';
export { caveats, closeness, headline, judgedLine, numbers } from './wording.ts';
export { checkReportPlaces, type WrittenReport, withinFolder, writeReports } from './write-reports.ts';

// What a run on a terminal does not need is loaded when it is asked for.

/** The HTML report. */
export async function renderHtml(document: ResultDocument): Promise<string> {
  return (await import('./html/report-page.ts')).renderHtml(document);
}

/** The HTML page about many partners. */
export async function renderFleetHtml(document: FleetDocument): Promise<string> {
  return (await import('./html/fleet-page.ts')).renderFleetPage(document);
}

/** The partners as CSV. */
export async function renderFleetCsv(document: FleetDocument): Promise<string> {
  return (await import('./fleet-csv.ts')).renderFleetCsv(document);
}
