/** Renders, redacts and writes result documents, and compares them. */
import type { Standing } from '../register/standing.ts';
import type { Comparison } from './comparison-document.ts';
import type { ComparedFile } from './html/comparison-page.ts';
import type { FleetView } from './html/fleet-page.ts';
import type { ResultDocument } from './result-document.ts';

export { renderBadge } from './badge.ts';
export { bodyChangeInWords, bodyComparison, changesInWords, visibleBytes } from './body-changes.ts';
export { type Cause, causesOf, decisiveProbe, groupBy, titleOf, withDiagnosisOf } from './causes.ts';
export { changedBytes } from './changed-bytes.ts';
export { compareRuns } from './compare.ts';
export { comparisonSchema } from './comparison-document.ts';
export { type EventStream, openEventStream } from './event-stream.ts';
export { defuse, inActions } from './github.ts';
export type { ComparedFile } from './html/comparison-page.ts';
export { renderHuman } from './human.ts';
export { renderComparison } from './human-comparison.ts';
export { renderEvent, renderJson, renderNdjson, visibleJson } from './json.ts';
export { renderJunit } from './junit.ts';
export {
  counted,
  createLayout,
  displayWidth,
  formatDuration,
  type Layout,
  type ReportOptions,
  type TerminalOptions,
  truncate,
} from './layout.ts';
export { createProgress, type ProgressOptions } from './progress.ts';
export { type Plan, planOf, redactDocument, redactError, redactEvent, redactValue } from './redaction.ts';
export { createRedactor, type NamedSecret, type Redactor } from './redactor.ts';
export type { Reporter } from './reporters.ts';
export { eventSchema, resultSchema } from './result-document.ts';
export { renderRound } from './round.ts';
export { causesIn, gotOf } from './shown-causes.ts';
export {
  certificateInWords,
  countsInWords,
  EVENT_SIGNS,
  STATE_SIGNS,
  trafficInWords,
} from './standing-wording.ts';
export { describeBytes } from './visible.ts';
export { caveats, closeness, headline, judgedLine, numbers } from './wording.ts';
export {
  checkReportPlaces,
  replaceFile,
  type WrittenReport,
  withinFolder,
  writeReports,
  writeTexts,
} from './write-reports.ts';

// These modules are loaded on demand, because a run on a terminal does not need them.

export async function renderHtml(document: ResultDocument): Promise<string> {
  return (await import('./html/report-page.ts')).renderHtml(document);
}

export async function renderComparisonPage(
  comparison: Comparison,
  files: readonly [before: ComparedFile, now: ComparedFile],
): Promise<string> {
  return (await import('./html/comparison-page.ts')).renderComparisonPage(comparison, files);
}

export async function renderFleetHtml(view: FleetView): Promise<string> {
  return (await import('./html/fleet-page.ts')).renderFleetPage(view);
}

export async function renderFleetCsv(standings: readonly Standing[]): Promise<string> {
  return (await import('./fleet-csv.ts')).renderFleetCsv(standings);
}
