/** The progress display of a run, for standard error. */

import { counted, createLayout, displayWidth, formatDuration, type Layout, truncate } from './layout.ts';
import type { RunEvent, RunListener, ScenarioResult } from './result-document.ts';
import { headline, wasNotPlayed } from './wording.ts';

export interface ProgressOptions {
  readonly stream: { write(text: string): unknown };
  readonly isTTY: boolean;
  /** Columns of the terminal. Default: 80. */
  readonly columns?: number | undefined;
  readonly color: boolean;
  /** Whether the terminal shows Unicode. Default: true. */
  readonly unicode?: boolean;
  /** Returns the milliseconds since an arbitrary moment; replaced in tests. */
  readonly now?: () => number;
}

const ERASE_LINE = '\r\x1b[K';

/** Number of progress lines in a run without a terminal. */
const MILESTONES = 4;

/** Maximum number of findings and of notes printed during the run; the report contains all findings. */
const MAX_SHOWN = 3;

interface State {
  url: string;
  /** The number of planned checks that apply, as far as is known, and how many of them have run. */
  planned: number;
  finished: number;
  notApplicable: number;
  notPlayed: number;
  suite: string;
  failures: number;
  warnings: number;
  /** Reasons of inconclusive checks that were printed. If the receiver is down, all checks have the same reason. */
  readonly reasons: Set<string>;
  /** The number of findings so far. */
  shown: number;
  /** The number of notes so far. A receiver that restarts causes dozens. */
  notes: number;
  /** The last reported remaining time, and when it was reported. */
  left: { readonly ms: number; readonly atMs: number } | null;
  /** When the last progress line was printed, by `now`. */
  printedAtMs: number;
}

/** Maximum time between two progress lines without a terminal. */
const MAX_QUIET_MS = 25_000;

/** Returns the remaining time in words; empty while it is unknown. */
function remaining({ finished, planned, left }: State, nowMs: number): string {
  if (left === null || finished >= planned) return '';
  const leftMs = Math.max(1000, left.ms - (nowMs - left.atMs));
  return `about ${leftMs < 60_000 ? `${Math.ceil(leftMs / 1000)} s` : formatDuration(leftMs)} left`;
}

/** Returns the lines for a finished check: failures, warnings, harness errors, and each reason for no verdict once. */
function linesFor(result: ScenarioResult, reasons: Set<string>, layout: Layout): string[] {
  const { verdict } = result;
  if (verdict === 'pass' || verdict === 'not-applicable' || result.known !== null) return [];
  const reason = result.reason || result.observed;
  if (verdict === 'inconclusive') {
    if (reasons.has(reason)) return [];
    reasons.add(reason);
  }
  const lead = `${layout.sign(verdict)} ${layout.paint(verdict, layout.style(verdict))}  `;
  const text =
    verdict === 'inconclusive'
      ? `${reason} (first seen in ${result.id})`
      : `${result.id}: ${result.defect ?? result.title}`;
  return layout.paragraph(lead, text);
}

function liveLine(state: State, layout: Layout, columns: number, nowMs: number): string {
  const parts = [`${state.finished}/${state.planned}`, state.suite];
  if (state.failures > 0) parts.push(counted(state.failures, 'failure'));
  if (state.warnings > 0) parts.push(counted(state.warnings, 'warning'));
  parts.push(remaining(state, nowMs));
  const text = layout.safe(parts.filter((part) => part !== '').join('  '));
  // Some terminals wrap a full line, so one column stays free.
  const shown = truncate(text, Math.max(8, columns - 1), layout.safe('…'));
  return displayWidth(shown) === 0 ? '' : layout.paint(shown, state.failures > 0 ? 'red' : 'dim');
}

/**
 * Creates a listener that shows a run's progress.
 *
 * On a terminal, one line is rewritten in place (finished of planned, suite, failures so far) and removed at the end;
 * elsewhere there are a few plain lines. Failures, warnings and notices are printed when they occur, and the first
 * output appears as soon as the run starts. The events must be redacted.
 */
export function createProgress(options: ProgressOptions): RunListener {
  const columns = options.columns ?? 80;
  const layout = createLayout({ columns, color: options.color, unicode: options.unicode ?? true });
  const state: State = {
    url: '',
    planned: 0,
    finished: 0,
    notApplicable: 0,
    notPlayed: 0,
    suite: '',
    failures: 0,
    warnings: 0,
    reasons: new Set(),
    shown: 0,
    notes: 0,
    left: null,
    printedAtMs: 0,
  };
  const { now = () => performance.now() } = options;
  let live = '';

  const erase = (): string => (live === '' ? '' : ERASE_LINE);
  const print = (lines: readonly string[]): void => {
    if (lines.length > 0) options.stream.write(`${erase()}${lines.map((line) => `${line}\n`).join('')}${live}`);
  };
  const redraw = (): void => {
    if (!options.isTTY) return;
    const before = erase();
    live = liveLine(state, layout, columns, now());
    options.stream.write(before + live);
  };
  const printProgress = (): void => {
    state.printedAtMs = now();
    const left = remaining(state, state.printedAtMs);
    const done = `${state.finished} of ${state.planned} checks done, ${counted(state.failures, 'failure')} so far`;
    print([left === '' ? done : `${done}, ${left}`]);
  };
  const count = ({ finished, planned }: { readonly finished: number; readonly planned: number }): void => {
    const { notApplicable, notPlayed } = state;
    Object.assign(state, { finished: finished - notApplicable - notPlayed, planned: planned - notApplicable });
  };
  const milestone = (finished: number): boolean =>
    finished < state.planned &&
    Math.floor((finished * MILESTONES) / state.planned) > Math.floor(((finished - 1) * MILESTONES) / state.planned);

  return (event: RunEvent): void => {
    switch (event.type) {
      case 'run-started':
        Object.assign(state, { url: event.url, planned: event.planned, printedAtMs: now() });
        print(layout.paragraph('', `${counted(event.planned, 'check')} against ${event.url}, seed ${event.seed}`));
        redraw();
        return;
      case 'scenario-finished': {
        const { result } = event;
        const before = state.finished;
        if (result.verdict === 'not-applicable') state.notApplicable += 1;
        if (wasNotPlayed(result)) state.notPlayed += 1;
        count(event);
        state.suite = result.suite;
        if (result.verdict === 'fail' && result.known === null) state.failures += 1;
        if (result.verdict === 'warn' && result.known === null) state.warnings += 1;
        const lines = linesFor(result, state.reasons, layout);
        if (lines.length > 0) state.shown += 1;
        if (state.shown <= MAX_SHOWN) print(lines);
        else if (lines.length > 0 && state.shown === MAX_SHOWN + 1) print(['further findings are in the report']);
        if (!options.isTTY && state.finished > before && milestone(state.finished)) printProgress();
        redraw();
        return;
      }
      case 'progress':
        count(event);
        state.left = event.leftMs === null ? null : { ms: event.leftMs, atMs: now() };
        if (!options.isTTY && now() - state.printedAtMs >= MAX_QUIET_MS) printProgress();
        redraw();
        return;
      case 'notice':
        state.notes += 1;
        if (state.notes <= MAX_SHOWN) print(layout.paragraph(`${layout.paint('note', 'cyan')}  `, event.message));
        return;
      case 'run-finished': {
        const end = erase();
        live = '';
        if (end !== '') options.stream.write(end);
        const { document } = event;
        const left = state.notes - MAX_SHOWN;
        if (left > 0) print([`and ${counted(left, 'more note')}`]);
        if (!options.isTTY) print([`Finished in ${formatDuration(document.durationMs)}: ${headline(document)}`]);
        return;
      }
    }
  };
}
