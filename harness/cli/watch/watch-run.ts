/**
 * `hookproof run --watch`: after a run, the failed checks are repeated when a file changes and the endpoint runs the
 * new code. Results about code that was replaced later are discarded and repeated.
 */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { durationOfFlag, type ResolvedConfig } from '../../config/index.ts';
import { PREFLIGHT_SCENARIO } from '../../judge/index.ts';
import {
  counted,
  createLayout,
  redactDocument,
  renderHuman,
  renderRound,
  withDiagnosisOf,
} from '../../report/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { exitCodeOf } from '../../report/verdict.ts';
import { perform, remember, report } from '../conduct.ts';
import { narrowedTo, stillFailing } from '../last-run.ts';
import { displayOf, shownPath } from '../terminal.ts';
import { type EndpointWatch, watchEndpoint } from './endpoint-watch.ts';
import { createChanges, watchFiles } from './file-watch.ts';
import { readKeys } from './keys.ts';
import { createSettling } from './settling.ts';

interface WatchOptions {
  readonly paths: readonly string[];
  /** How long to wait for a restart after a change; null: as long as suits the endpoint. */
  readonly settleMs: number | null;
  /** The checks to begin with; empty for a whole run. */
  readonly failed: readonly string[];
}

const SETTLE_BOUNDS = [0, 60_000] as const;

/**
 * The URL, the paths and the time to settle. A URL after `--watch` is the endpoint.
 *
 * @throws HookproofError for what does not go together
 */
export function readWatchFlags(
  url: string | undefined,
  { watch, settle, dry }: { watch: true | readonly string[]; settle: string | undefined; dry: boolean },
): { url: string | undefined; paths: readonly string[]; settleMs: number | null } {
  if (dry) {
    const hint = 'Remove one of the two.';
    throw new HookproofError('RUN_WATCH', '`--watch` and `--dry-run` exclude each other', { hint });
  }
  const given = watch === true ? [] : watch;
  const after = url === undefined ? given.find((path) => /^https?:\/\//i.test(path)) : undefined;
  const paths = given.filter((path) => path !== after);
  return {
    url: url ?? after,
    paths: paths.length === 0 ? ['.'] : paths,
    settleMs: settle === undefined ? null : durationOfFlag('--settle', settle, SETTLE_BOUNDS),
  };
}

type Scope = 'whole' | 'failed';

const HELP = `a all  f failed  Enter again  p filter  v verbose  q quit`;
/** Repetitions without a change, when the endpoint goes down again: the checks themselves may end it. */
const MAX_REPEATS = 2;
/** An endpoint that goes down later than this after the checks was restarted by somebody. */
const CRASH_MS = 10_000;
const SILENT = { write: () => true };

/**
 * Watches until the user quits, and returns the exit code of the last run; 130 or 143 after a signal.
 *
 * @throws HookproofError for a configuration that cannot be watched, or a path that does not exist
 */
export async function watchRun(
  config: ResolvedConfig,
  { paths, settleMs, failed: first }: WatchOptions,
): Promise<number> {
  requireWatchable(config);
  const layout = createLayout(displayOf(process.stdout));
  const watched = paths.map((path) => (path === '.' ? 'the current folder' : layout.safe(path))).join(', ');
  let code = 3;
  let stop: number | null = null;
  let asked: Scope | 'filter' | 'again' | null = null;
  let filter: string | null = null;
  let isVerbose = false;
  let shown: ResultDocument | null = null;
  let full: ResultDocument | null = null;
  let running: AbortController | null = null;
  let judgedEvents = 0;
  let judgedAtMs = 0;
  let lastScope: Scope = 'whole';
  let isShown = false;
  let sawRestart = true;
  let repeats = 0;
  let failed = narrowedTo(first, config.run.scenarios);
  let failedBefore = failed;
  let wake = () => {};

  const say = (lines: readonly string[]) => void process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  const tell = (text: string) => {
    const clock = new Date().toTimeString().slice(0, 8);
    say(layout.paragraph(`${layout.paint(clock, 'dim')} `, text));
  };
  const quit = (given: number) => {
    if (stop !== null) process.exit(given);
    stop = given;
    running?.abort();
    wake();
  };
  const ask = (what: typeof asked) => {
    asked = what;
    running?.abort();
    wake();
  };
  const onKey = (key: string) => {
    if (key === '\x03') quit(130);
    else if (key === 'q') quit(code);
    else if (key === 'a') ask('whole');
    else if (key === 'f') ask('failed');
    else if (key === 'p') ask('filter');
    else if (key === '\r' || key === '\n') ask('again');
    else if (key === 'h') say([HELP]);
    else if (key === 'v') {
      isVerbose = !isVerbose;
      tell(isVerbose ? 'verbose: every repetition prints the whole report' : 'verbose is off');
      if (isVerbose && shown !== null)
        process.stdout.write(renderHuman(shown, { ...displayOf(process.stdout), verbose: true }));
    }
  };

  let endpoint: EndpointWatch | null = null;
  const eventsSoFar = () => endpoint?.events ?? 0;
  const isReplaced = () => eventsSoFar() > judgedEvents;
  const changes = createChanges();
  const files = await watchFiles(
    paths,
    config.reporters.flatMap(({ file }) => file ?? []),
    (path) => {
      if (!changes.add(path, running !== null)) return;
      endpoint?.expectRestart();
      wake();
    },
  );
  endpoint = await watchEndpoint(config.partner.url, () => {
    // The code is not known to be old or new when the process goes shortly after a change.
    if (isReplaced() && changes.areRecent() && repeats < MAX_REPEATS) running?.abort();
    wake();
  });
  const settling = createSettling({ changes, endpoint, settleMs, recoveryMs: config.run.recoveryMs });
  const keys = readKeys(onKey);
  const onInterrupt = () => quit(130);
  const onTerminate = () => quit(143);
  process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate);

  const woken = (timeoutMs?: number) =>
    new Promise<void>((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(() => wake(), timeoutMs);
      wake = () => {
        clearTimeout(timer);
        wake = () => {};
        resolve();
      };
    });

  /** The configuration of a run: within the selection that was given, and the filter. */
  const configOf = (scope: Scope): ResolvedConfig => {
    const { run } = config;
    const greps = filter === null ? run.greps : [filter];
    const scenarios = scope === 'failed' ? failed : run.scenarios;
    const reporters = scope === 'failed' ? [] : config.reporters;
    return { ...config, reporters, run: { ...run, greps: scope === 'failed' ? [] : greps, scenarios } };
  };

  const judge = async (scope: Scope, isReported: boolean): Promise<void> => {
    const given = configOf(scope);
    changes.begin();
    judgedEvents = eventsSoFar();
    lastScope = scope;
    failedBefore = failed;
    isShown = false;
    running = new AbortController();
    const { signal } = running;
    const performed = await perform(given, { signal }, undefined, isReported ? undefined : SILENT)
      .catch((error: unknown) => {
        if (!(error instanceof HookproofError) || error.kind !== 'usage') throw error;
        tell(`${error.message}. ${error.hint}`);
        return null;
      })
      .finally(() => {
        running = null;
        judgedAtMs = performance.now();
      });
    for (const path of changes.end())
      tell(`${shownPath(path)} changes while the checks run: it is not watched any more`);
    if (performed === null || stop !== null || asked !== null) return;
    if (changes.names().length > 0) return tell('files changed during the checks: the results are discarded');
    if (isReplaced()) {
      if (changes.areRecent() && repeats < MAX_REPEATS) return;
      judgedEvents = eventsSoFar();
    }
    const document = await remember(config, performed.document);
    failed = stillFailing(failedBefore, document);
    // Nothing else was sent while the first delivery was rejected.
    const isContinued =
      scope === 'failed' &&
      failedBefore.includes(PREFLIGHT_SCENARIO) &&
      document.results.some(({ id, verdict }) => id === PREFLIGHT_SCENARIO && verdict === 'pass');
    code = exitCodeOf(document);
    isShown = true;
    const redacted = redactDocument(document, performed.redactor);
    if (scope === 'whole' && filter === null) full = redacted;
    // A run whose first delivery is not accepted has its own finding.
    const isOwn = full === null || full === redacted || document.preflightFinding !== undefined;
    shown = isOwn ? redacted : withDiagnosisOf(full ?? redacted, redacted);
    if (isReported) await report(given, { ...performed, document });
    else {
      const reporters = given.reporters.filter(({ file }) => file !== null);
      await report({ ...given, reporters }, { ...performed, document });
      if (isVerbose) process.stdout.write(renderHuman(shown, { ...displayOf(process.stdout), verbose: true }));
      else say(renderRound(shown, { failedBefore, left: failed.length, isContinued }, layout));
    }
    const isSame = scope === 'failed' && failed.length > 0 && failed.length === failedBefore.length;
    if (isSame && !sawRestart) tell('the same checks still fail: fix the code, or restart your server');
    sawRestart = true;
    if (!isContinued) return;
    const open = full?.counts.inconclusive ?? 0;
    const rest = open === 0 ? '' : `; ${counted(open, 'check')} ${open === 1 ? 'has' : 'have'} no result yet`;
    tell(`the first delivery is accepted now${rest}: the full run starts`);
    asked = 'whole';
  };

  /** Waits until the endpoint runs the code on disk. False when something else is to be done first. */
  const settled = async (): Promise<boolean> => {
    for (;;) {
      if (stop !== null || asked !== null) return false;
      const state = settling.look(isReplaced());
      if (state.notice !== null) tell(state.notice);
      if (state.isSettled) {
        sawRestart = isReplaced() || state.notice === null;
        return true;
      }
      await woken(state.waitMs);
    }
  };

  /** What to do next; null while there is nothing to do. */
  const next = async (): Promise<Scope | null> => {
    if (asked === 'filter') {
      asked = null;
      const text = await keys.ask('Filter (text in the id or title of checks; empty for none): ');
      if (text === null) return null;
      filter = text.trim() === '' ? null : text.trim();
      failed = [];
      repeats = 0;
      return 'whole';
    }
    if (asked !== null) {
      const scope = asked === 'again' ? lastScope : asked;
      repeats = 0;
      if (asked === 'whole') filter = null;
      asked = null;
      if (scope === 'failed' && failed.length === 0) {
        tell('no check is known to fail; press a for all');
        return null;
      }
      return scope;
    }
    if (changes.names().length > 0) {
      repeats = 0;
      tell(`${changes.names().map(shownPath).slice(0, 3).join(', ')} changed`);
      return failed.length > 0 ? 'failed' : 'whole';
    }
    if (!isReplaced()) return null;
    if (performance.now() - judgedAtMs > CRASH_MS) repeats = 0;
    if (repeats >= MAX_REPEATS) {
      judgedEvents = eventsSoFar();
      tell('the endpoint went down again without a change: the checks may end it. Press Enter to repeat them');
      return null;
    }
    repeats++;
    failed = failedBefore;
    tell(
      isShown
        ? 'the endpoint restarted after the checks: the results above no longer count, and the checks are repeated'
        : 'the endpoint restarted during the checks: they are repeated',
    );
    return lastScope;
  };

  try {
    let scope: Scope | null = failed.length > 0 ? 'failed' : 'whole';
    let isReported = true;
    let isFirst = true;
    while (stop === null) {
      if (scope === null) await woken();
      else if (isFirst || (await settled())) {
        isFirst = false;
        await judge(scope, isReported);
        if (isReported && stop === null) say(['', `Watching ${watched}`, ...(keys.areThere ? [HELP] : [])]);
      }
      if (stop !== null) break;
      const isAll = asked === 'whole';
      scope = await next();
      isReported = isAll && scope === 'whole';
    }
    return stop ?? code;
  } finally {
    keys.close();
    endpoint.close();
    process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate);
    await files.close();
  }
}

function requireWatchable({ reporters, run }: ResolvedConfig): void {
  const stream = reporters.find(({ file, name }) => file === null && name !== 'human' && name !== 'github');
  const refuse = (what: string, hint: string) => new HookproofError('RUN_WATCH', what, { hint });
  if (run.shard !== null) throw refuse('`--watch` and `--shard` exclude each other', 'Remove one of the two.');
  if (stream === undefined) return;
  const { name } = stream;
  throw refuse(`with \`--watch\`, \`--reporter ${name}\` needs a file`, `Write --reporter ${name}=FILE.`);
}
