/**
 * The reporters: each is one row in this table and one module, loaded on demand. Names in help, schema and messages
 * come from this table.
 */

import type { ReportOptions } from './layout.ts';
import type { ResultDocument } from './result-document.ts';

/** Renders the report in the reporter's format. Only `human` and `github` use the terminal options. */
type Render = (document: ResultDocument, options: ReportOptions) => Promise<string>;

const REPORTERS = {
  human: async (document, terminal) => (await import('./human.ts')).renderHuman(document, terminal),
  html: async (document, { comparison }) => (await import('./html/report-page.ts')).renderHtml(document, comparison),
  json: async (document) => (await import('./json.ts')).renderJson(document),
  junit: async (document) => (await import('./junit.ts')).renderJunit(document),
  ctrf: async (document) => (await import('./ctrf.ts')).renderCtrf(document),
  sarif: async (document) => (await import('./sarif.ts')).renderSarif(document),
  github: async (document, terminal) => (await import('./github.ts')).renderGithub(document, terminal),
  ndjson: async (document) => (await import('./json.ts')).renderNdjson(document),
  badge: async (document) => (await import('./badge.ts')).renderBadge(document),
} as const satisfies Record<string, Render>;

export type ReporterName = keyof typeof REPORTERS;
export const REPORTER_NAMES = Object.keys(REPORTERS) as readonly ReporterName[];

/** A reporter and where it writes: an absolute path, or null for standard output. */
export interface Reporter {
  readonly name: ReporterName;
  readonly file: string | null;
  /** The folder that no symbolic link may lead out of, if it is not the current one: that of the configuration file. */
  readonly base?: string;
  /** Whether the run continues normally if the report cannot be written. */
  readonly isOptional?: boolean;
}

export function render(name: ReporterName, document: ResultDocument, terminal: ReportOptions): Promise<string> {
  return (REPORTERS[name] as Render)(document, terminal);
}
