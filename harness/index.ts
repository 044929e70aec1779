/**
 * The harness as a library. Package export `hookproof`: run the suites against an endpoint and render the result
 * document.
 */
export { HookproofError, type Stack } from '../contract/index.ts';
export type { SuiteName } from '../scenarios/index.ts';
export { CURRENT_REVISION, loadRevision, type Revision } from './certify/revision.ts';
export { readBaseline } from './config/read-baseline.ts';
export type { SourceOptions } from './effects/index.ts';
export type { Baseline, BaselineEntry } from './judge/index.ts';
export { type App, type AppOptions, run, type SelectionOptions, type UrlOptions as RunOptions } from './library.ts';
export type { Partner } from './partner.ts';
export type { ClientFixtures } from './probe/index.ts';
export {
  createRedactor,
  type NamedSecret,
  type Redactor,
  redactDocument,
  redactEvent,
  renderBadge,
  renderHtml,
  renderHuman,
  renderJson,
  renderJunit,
  renderNdjson,
  type TerminalOptions,
} from './report/index.ts';
export type {
  Diagnosis,
  Exchange,
  ResultDocument,
  RunEvent,
  RunListener,
  RunVerdict,
  ScenarioResult,
  Verdict,
} from './report/result-document.ts';
export { exitCodeOf } from './report/verdict.ts';
export type { RunLimits, ScoringRevision } from './run/index.ts';
export type { AddressPolicy, Resolve } from './transport/index.ts';
export { version } from './version.ts';
