/**
 * The reporters: each is one row here and one module, loaded when it is used. Names in help, schema and messages come
 * from this table.
 */

import type { ReportOptions } from './layout.ts';
import type { ResultDocument } from './result-document.ts';

/** The report as text in the reporter's format. Only `human` and `github` look at the terminal. */
type Render = (document: ResultDocument, terminal: ReportOptions) => Promise<string>;

const REPORTERS = {
  human: async (document, terminal) => (await import('./human.ts')).renderHuman(document, terminal),
  html: async (document) => (await import('./html/report-page.ts')).renderHtml(document),
  json: async (document) => (await import('./json.ts')).renderJson(document),
  junit: async (document) => (await import('./junit.ts')).renderJunit(document),
  ctrf: async (document) => (await import('./ctrf.ts')).renderCtrf(document),
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
  /** The folder out of which no link may lead, where it is not the current one: that of the configuration file. */
  readonly base?: string;
  /** Whether the run goes on as if nothing had happened when it cannot be written. */
  readonly isOptional?: boolean;
}

export function render(name: ReporterName, document: ResultDocument, terminal: ReportOptions): Promise<string> {
  return (REPORTERS[name] as Render)(document, terminal);
}
