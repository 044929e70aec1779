/** The progress display of a run, for standard error. */

import { counted, createLayout, displayWidth, formatDuration, type Layout, truncate } from './layout.ts';
import type { RunEvent, RunListener, ScenarioResult } from './result-document.ts';
import { headline } from './wording.ts';

export interface ProgressOptions {
  readonly stream: { write(text: string): unknown };
  readonly isTTY: boolean;
  /** Columns of the terminal; 80 when absent. */
  readonly columns?: number | undefined;
  readonly color: boolean;
  /** Whether the terminal shows Unicode; true when absent. */
  readonly unicode?: boolean;
  /** Milliseconds since any moment; replaced in tests. */
  readonly now?: () => number;
}

const ERASE_LINE = '\r\x1b[K';

/** How many lines a run without a terminal gets for its progress alone. */
const MILESTONES = 4;

/** How many findings and how many notes are printed during the run; the report contains all findings. */
const MAX_SHOWN = 3;

interface State {
  url: string;
  planned: number;
  finished: number;
  suite: string;
  failures: number;
  warnings: number;
  /** Reasons of inconclusive checks that were printed: a receiver that is down gives each check the same reason. */
  readonly reasons: Set<string>;
  /** Findings so far. */
  shown: number;
  /** Notes so far: a receiver that restarts gives dozens. */
  notes: number;
  startedAtMs: number;
}

/** The remaining time is shown in runs that take at least this long. */
const MIN_ELAPSED_MS = 5000;

/** The remaining time, from the checks so far; empty while it is unknown. */
function remaining({ finished, planned, startedAtMs }: State, nowMs: number): string {
  const elapsed = nowMs - startedAtMs;
  if (elapsed < MIN_ELAPSED_MS || finished === 0 || finished >= planned) return '';
  const leftMs = (elapsed / finished) * (planned - finished);
  return `about ${leftMs < 60_000 ? `${Math.ceil(leftMs / 1000)} s` : formatDuration(leftMs)} left`;
}

/** The lines for a finished check: failures, warnings, harness errors, and each reason for no verdict once. */
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
 * A listener that shows a run's progress.
 *
 * On a terminal one line is rewritten in place (finished of planned, suite, failures so far) and gone at the end;
 * elsewhere there are a few plain lines. Either way failures, warnings and notices are printed as they come, and the
 * first output is there as soon as the run starts. Give it redacted events.
 */
export function createProgress(options: ProgressOptions): RunListener {
  const columns = options.columns ?? 80;
  const layout = createLayout({ columns, color: options.color, unicode: options.unicode ?? true });
  const state: State = {
    url: '',
    planned: 0,
    finished: 0,
    suite: '',
    failures: 0,
    warnings: 0,
    reasons: new Set(),
    shown: 0,
    notes: 0,
    startedAtMs: 0,
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
  const milestone = (finished: number): boolean =>
    finished < state.planned &&
    Math.floor((finished * MILESTONES) / state.planned) > Math.floor(((finished - 1) * MILESTONES) / state.planned);

  return (event: RunEvent): void => {
    switch (event.type) {
      case 'run-started':
        Object.assign(state, { url: event.url, planned: event.planned, startedAtMs: now() });
        print(layout.paragraph('', `${counted(event.planned, 'check')} against ${event.url}, seed ${event.seed}`));
        redraw();
        return;
      case 'scenario-finished': {
        const { result } = event;
        Object.assign(state, { finished: event.finished, planned: event.planned, suite: result.suite });
        if (result.verdict === 'fail' && result.known === null) state.failures += 1;
        if (result.verdict === 'warn' && result.known === null) state.warnings += 1;
        const lines = linesFor(result, state.reasons, layout);
        if (lines.length > 0) state.shown += 1;
        if (state.shown <= MAX_SHOWN) print(lines);
        else if (lines.length > 0 && state.shown === MAX_SHOWN + 1) print(['further findings are in the report']);
        if (!options.isTTY && milestone(event.finished)) {
          const left = remaining(state, now());
          const failures = counted(state.failures, 'failure');
          const done = `${event.finished} of ${event.planned} checks done, ${failures} so far`;
          print([left === '' ? done : `${done}, ${left}`]);
        }
        redraw();
        return;
      }
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
        if (left > 0) print([`and ${counted(left, 'more note')} about interruptions`]);
        if (!options.isTTY) print([`Finished in ${formatDuration(document.durationMs)}: ${headline(document)}`]);
        return;
      }
    }
  };
}
