/**
 * The state machine of watch mode. Keys, file changes and the endpoint wake it, and it chooses the next round of
 * checks.
 */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import { PREFLIGHT_SCENARIO } from '../../judge/index.ts';
import { counted, redactDocument } from '../../report/index.ts';
import { exitCodeOf } from '../../report/verdict.ts';
import { perform, remember, report } from '../conduct.ts';
import { narrowedTo, stillFailing } from '../last-run.ts';
import { shownPath } from '../terminal.ts';
import { EndpointWatch } from './endpoint-watch.ts';
import { Changes, watchFiles } from './file-watch.ts';
import { Keys } from './keys.ts';
import { Settling } from './settling.ts';
import { WatchScreen } from './watch-screen.ts';

export interface WatchOptions {
  readonly paths: readonly string[];
  /** How long to wait for a restart after a change, in milliseconds; null for the default. */
  readonly settleMs: number | null;
  /** The checks to begin with; empty for a whole run. */
  readonly failed: readonly string[];
}

type Scope = 'whole' | 'failed';

/** One round of checks. `isReported`: all reporters get the results, as without `--watch`. */
interface Round {
  readonly scope: Scope;
  readonly isReported: boolean;
}

/** The current phase of the session. It is `idle` only between two other phases, and while the user types a filter. */
type Phase =
  | { readonly name: 'idle' }
  /** Waits for a key, a file change, an endpoint event, or the end of a pause. */
  | { readonly name: 'waiting'; readonly wake: () => void }
  | { readonly name: 'judging'; readonly aborting: AbortController }
  | { readonly name: 'stopped'; readonly exitCode: number };

/** The latest round, and the data that determine whether its results still count. */
interface LatestRound {
  readonly scope: Scope;
  readonly failedBefore: readonly string[];
  /** The number of endpoint events when the round began, or when its results were accepted. */
  endpointEvents: number;
  /** When the round ended, by `performance.now()`; 0 until then. */
  endMs: number;
  /** False while the round is running, and if its results were discarded. */
  isShown: boolean;
}

/** The meaning of a key: the scope of the next round, a new filter, or the latest scope again. */
type KeyRequest = Scope | 'filter' | 'again';
const REQUESTS: Record<string, KeyRequest> = { a: 'whole', f: 'failed', p: 'filter', '\r': 'again', '\n': 'again' };

const IDLE: Phase = { name: 'idle' };
/** Maximum number of times that a round is repeated because the endpoint went down: the checks may be the cause. */
const MAX_REPEATS = 2;
/** If the endpoint goes down later than this after a round, the checks did not cause it. */
const CRASH_MS = 10_000;
const SILENT = { write: () => true };

export class WatchSession {
  readonly #config: ResolvedConfig;
  readonly #paths: readonly string[];
  readonly #screen = new WatchScreen();
  readonly #changes = new Changes();
  readonly #endpoint: EndpointWatch;
  readonly #settling: Settling;
  readonly #keys = new Keys((key) => this.#handleKey(key));

  #phase: Phase = IDLE;
  /** The user's request. It ends the current round and takes precedence over everything else. */
  #request: KeyRequest | null = null;
  /** A text that replaces those of `--grep`; null if the user has set no filter. */
  #filter: string | null = null;
  #failed: readonly string[];
  #latest: LatestRound;
  /** How many times a round was repeated since the last change or request because the endpoint went down. */
  #repeats = 0;
  /** The exit code of the last accepted results; 3 (no verdict) before the first. */
  #exitCode = 3;

  constructor(config: ResolvedConfig, { paths, settleMs, failed }: WatchOptions) {
    const { partner, run } = config;
    this.#config = config;
    this.#paths = paths;
    this.#failed = narrowedTo(failed, run.scenarios);
    this.#latest = { scope: 'whole', failedBefore: this.#failed, endpointEvents: 0, endMs: 0, isShown: false };
    this.#endpoint = new EndpointWatch(partner.url, () => this.#noticeEndpoint());
    const { recoveryMs } = run;
    this.#settling = new Settling({ changes: this.#changes, endpoint: this.#endpoint, settleMs, recoveryMs });
  }

  /** Watches until the user or a signal ends the session, and returns the exit code. Must be called only once. */
  async watchUntilStopped(): Promise<number> {
    const written = this.#config.reporters.flatMap(({ file }) => file ?? []);
    const files = await watchFiles(this.#paths, written, (path) => this.#noticeFile(path));
    await this.#endpoint.open();
    this.#keys.open();
    const onInterrupt = () => this.#stop(130);
    const onTerminate = () => this.#stop(143);
    process.on('SIGINT', onInterrupt).on('SIGTERM', onTerminate);
    try {
      await this.#judgeRound({ scope: this.#failed.length > 0 ? 'failed' : 'whole', isReported: true }, true);
      for (;;) {
        if (this.#phase.name === 'stopped') return this.#phase.exitCode;
        await this.#takeStep();
      }
    } finally {
      this.#keys.close();
      this.#endpoint.close();
      process.off('SIGINT', onInterrupt).off('SIGTERM', onTerminate);
      await files.close();
    }
  }

  async #takeStep(): Promise<void> {
    const round = await this.#chooseRound();
    if (round === null) return this.#waitForEvent();
    const sawNewCode = await this.#waitUntilSettled();
    if (sawNewCode !== null) await this.#judgeRound(round, sawNewCode);
  }

  #handleKey(key: string): void {
    const request = REQUESTS[key];
    if (key === '\x03') this.#stop(130);
    else if (key === 'q') this.#stop(this.#exitCode);
    else if (key === 'h') this.#screen.printKeysHelp();
    else if (key === 'v') this.#screen.toggleVerbose();
    else if (request !== undefined) {
      this.#request = request;
      this.#abortRound();
      this.#wake();
    }
  }

  #noticeFile(path: string): void {
    if (!this.#changes.add(path, this.#phase.name === 'judging')) return;
    this.#endpoint.expectRestart();
    this.#wake();
  }

  #noticeEndpoint(): void {
    if (this.#mayHaveJudgedOldCode) this.#abortRound();
    this.#wake();
  }

  /** Stops the session. If it is already stopping, ends the process at once. */
  #stop(exitCode: number): void {
    if (this.#phase.name === 'stopped') process.exit(exitCode);
    this.#abortRound();
    this.#wake();
    this.#phase = { name: 'stopped', exitCode };
  }

  #abortRound(): void {
    if (this.#phase.name === 'judging') this.#phase.aborting.abort();
  }

  #wake(): void {
    if (this.#phase.name === 'waiting') this.#phase.wake();
  }

  /** Ends the current phase, unless the session is stopped. */
  #enterIdle(): void {
    if (this.#phase.name !== 'stopped') this.#phase = IDLE;
  }

  get #isInterrupted(): boolean {
    return this.#phase.name === 'stopped' || this.#request !== null;
  }

  /** Whether the endpoint went down or came back since the latest round began. */
  get #isReplaced(): boolean {
    return this.#endpoint.events > this.#latest.endpointEvents;
  }

  /** Whether old code may have answered, because the process was replaced shortly after a change. */
  get #mayHaveJudgedOldCode(): boolean {
    return this.#isReplaced && this.#changes.areRecent() && this.#repeats < MAX_REPEATS;
  }

  /** Waits for an event, at most `timeoutMs` milliseconds. */
  async #waitForEvent(timeoutMs?: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = timeoutMs === undefined ? undefined : setTimeout(resolve, timeoutMs);
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#phase = { name: 'waiting', wake };
    });
    this.#enterIdle();
  }

  /**
   * Waits until the endpoint runs the code on disk. Returns true if that is known, false if it is assumed, and null if
   * the user requests something else first.
   */
  async #waitUntilSettled(): Promise<boolean | null> {
    while (!this.#isInterrupted) {
      const { isSettled, notice, waitMs } = this.#settling.look(this.#isReplaced);
      if (notice !== null) this.#screen.printEvent(notice);
      if (isSettled) return this.#isReplaced || notice === null;
      await this.#waitForEvent(waitMs);
    }
    return null;
  }

  /** Runs a round. Keeps and prints its results, unless they may be about code that was replaced. */
  async #judgeRound(round: Round, sawNewCode: boolean): Promise<void> {
    const performed = await this.#sendChecks(round);
    for (const path of this.#changes.end()) {
      this.#screen.printEvent(`${shownPath(path)} changes while the checks run, so it is no longer watched`);
    }
    if (performed !== null && this.#acceptResults()) await this.#showResults(round, performed, sawNewCode);
    if (!round.isReported || this.#phase.name === 'stopped') return;
    this.#screen.printWatched(this.#paths, this.#keys.areThere);
  }

  /** Runs the checks of a round. If the selection is invalid, prints why and returns null. */
  async #sendChecks({ scope, isReported }: Round) {
    const config = this.#narrowConfig(scope);
    this.#changes.begin();
    const endpointEvents = this.#endpoint.events;
    this.#latest = { scope, failedBefore: this.#failed, endpointEvents, endMs: 0, isShown: false };
    const aborting = new AbortController();
    this.#phase = { name: 'judging', aborting };
    try {
      return await perform(config, aborting.signal, isReported ? undefined : SILENT);
    } catch (error) {
      if (!(error instanceof HookproofError) || error.kind !== 'usage') throw error;
      this.#screen.printEvent(`${error.message}. ${error.hint}`);
      return null;
    } finally {
      this.#enterIdle();
      this.#latest.endMs = performance.now();
    }
  }

  /**
   * Returns the configuration of a round: the user's selection, narrowed to the failed checks, or with the filter
   * instead of `--grep`.
   */
  #narrowConfig(scope: Scope): ResolvedConfig {
    const { run } = this.#config;
    if (scope === 'failed') {
      return { ...this.#config, reporters: [], run: { ...run, greps: [], scenarios: this.#failed } };
    }
    const greps = this.#filter === null ? run.greps : [this.#filter];
    return { ...this.#config, run: { ...run, greps } };
  }

  /**
   * Decides whether the results of the latest round count. They do not if files changed or the process was replaced.
   */
  #acceptResults(): boolean {
    if (this.#isInterrupted) return false;
    if (this.#changes.names().length > 0) {
      this.#screen.printEvent('files changed during the checks: the results are discarded');
      return false;
    }
    if (this.#mayHaveJudgedOldCode) return false;
    this.#latest.endpointEvents = this.#endpoint.events;
    return true;
  }

  async #showResults(
    { scope, isReported }: Round,
    performed: Awaited<ReturnType<typeof perform>>,
    sawNewCode: boolean,
  ): Promise<void> {
    const { failedBefore } = this.#latest;
    const remembered = await remember(this.#config, performed);
    const { document } = remembered;
    this.#failed = stillFailing(failedBefore, document);
    this.#exitCode = exitCodeOf(document);
    this.#latest.isShown = true;
    const isFull = scope === 'whole' && this.#filter === null;
    this.#screen.keepResults(redactDocument(document, performed.redactor), { isFull });
    const given = scope === 'failed' ? [] : this.#config.reporters;
    const reporters = isReported ? given : given.filter(({ file }) => file !== null);
    await report({ reporters }, { ...performed, ...remembered, isStored: true });
    // While the preflight was rejected, no other check was sent.
    const isContinued =
      scope === 'failed' &&
      failedBefore.includes(PREFLIGHT_SCENARIO) &&
      document.results.some(({ id, verdict }) => id === PREFLIGHT_SCENARIO && verdict === 'pass');
    const left = this.#failed.length;
    if (!isReported) this.#screen.printRound({ failedBefore, left, isContinued });
    if (scope === 'failed' && left > 0 && left === failedBefore.length && !sawNewCode) {
      this.#screen.printEvent('the same checks still fail: fix the code, or restart your server');
    }
    if (isContinued) this.#requestFullRun();
  }

  #requestFullRun(): void {
    const open = this.#screen.inconclusiveInFull;
    const rest = open === 0 ? '' : `; ${counted(open, 'check')} ${open === 1 ? 'has' : 'have'} no result yet`;
    this.#screen.printEvent(`the first delivery is accepted now${rest}: the full run starts`);
    this.#request = 'whole';
  }

  /** Chooses the next round; null if there is nothing to do. */
  async #chooseRound(): Promise<Round | null> {
    const request = this.#request;
    this.#request = null;
    if (request === 'filter') return this.#askForFilter();
    if (request !== null) return this.#followRequest(request);
    const changed = this.#changes.names();
    if (changed.length === 0) return this.#isReplaced ? this.#repeatRound() : null;
    this.#repeats = 0;
    this.#screen.printEvent(`${changed.map(shownPath).slice(0, 3).join(', ')} changed`);
    return { scope: this.#failed.length > 0 ? 'failed' : 'whole', isReported: false };
  }

  async #askForFilter(): Promise<Round | null> {
    const text = await this.#keys.ask('Filter (text in the id or title of checks; empty for none): ');
    if (text === null) return null;
    this.#filter = text.trim() === '' ? null : text.trim();
    this.#failed = [];
    this.#repeats = 0;
    return { scope: 'whole', isReported: false };
  }

  #followRequest(request: Scope | 'again'): Round | null {
    const scope = request === 'again' ? this.#latest.scope : request;
    this.#repeats = 0;
    if (request === 'whole') this.#filter = null;
    if (scope === 'whole' || this.#failed.length > 0) return { scope, isReported: request === 'whole' };
    this.#screen.printEvent('no check is known to fail; press "a" to run all');
    return null;
  }

  /**
   * Repeats the latest round because the endpoint went down. Gives up if the endpoint goes down after each repetition.
   */
  #repeatRound(): Round | null {
    if (performance.now() - this.#latest.endMs > CRASH_MS) this.#repeats = 0;
    if (this.#repeats >= MAX_REPEATS) {
      this.#latest.endpointEvents = this.#endpoint.events;
      this.#screen.printEvent(
        'the endpoint went down again without a change: the checks may be the cause. Press Enter to repeat them',
      );
      return null;
    }
    this.#repeats++;
    this.#failed = this.#latest.failedBefore;
    this.#screen.printEvent(
      this.#latest.isShown
        ? 'the endpoint restarted after the checks: the results above no longer count, and the checks are repeated'
        : 'the endpoint restarted during the checks: they are repeated',
    );
    return { scope: this.#latest.scope, isReported: false };
  }
}
