// Renderings of a result document: pure, and free of zod at run time.
export { renderHuman } from './human.ts';
export { renderEvent, renderJson, renderNdjson, stringifySafely } from './json.ts';
export { renderJunit } from './junit.ts';
export { counted, createLayout, formatDuration, type Layout, type TerminalOptions } from './layout.ts';
// While a run goes on.
export { createProgress, type ProgressOptions } from './progress.ts';
// The output boundary: everything that is written goes through a redactor once.
export { redactDocument, redactEvent } from './redact-document.ts';
export { redactError } from './redact-error.ts';
export { createRedactor, type NamedSecret, type Redactor } from './redactor.ts';
export type { Reporter } from './reporters.ts';
// The published schema.
export { resultSchema } from './result-schema.ts';
// Hostile text made safe to look at.
export { describeBytes, visible } from './visible.ts';
export { type WriteOptions, type WrittenReport, writeReports } from './write-reports.ts';
