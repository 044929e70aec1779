/** Prints the events and results of watch mode on standard output. */
import { createLayout, renderHuman, renderRound, withDiagnosisOf } from '../../report/index.ts';
import type { ResultDocument } from '../../report/result-document.ts';
import { displayOf } from '../terminal.ts';

const KEYS_HELP = `a all  f failed  Enter again  p filter  v verbose  q quit`;

/** Prints events and rounds. All documents are redacted. */
export class WatchScreen {
  readonly #layout = createLayout(displayOf(process.stdout));
  #isVerbose = false;
  /**
   * The last results; if they have no diagnosis of their own, with that of the last full run. Null before the first
   * results.
   */
  #shown: ResultDocument | null = null;
  #full: ResultDocument | null = null;

  /** The number of inconclusive checks in the last full run. */
  get inconclusiveInFull(): number {
    return this.#full?.counts.inconclusive ?? 0;
  }

  printEvent(text: string): void {
    const clock = new Date().toTimeString().slice(0, 8);
    this.#printLines(this.#layout.paragraph(`${this.#layout.paint(clock, 'dim')} `, text));
  }

  printWatched(paths: readonly string[], hasKeys: boolean): void {
    const watched = paths.map((path) => (path === '.' ? 'the current folder' : this.#layout.safe(path))).join(', ');
    this.#printLines(['', `Watching ${watched}`, ...(hasKeys ? [KEYS_HELP] : [])]);
  }

  printKeysHelp(): void {
    this.#printLines([KEYS_HELP]);
  }

  toggleVerbose(): void {
    this.#isVerbose = !this.#isVerbose;
    this.printEvent(this.#isVerbose ? 'verbose: every repetition prints the whole report' : 'verbose is off');
    if (this.#isVerbose && this.#shown !== null) this.#printReport(this.#shown);
  }

  /** Keeps the results of a round for {@link toggleVerbose} and {@link printRound}. */
  keepResults(document: ResultDocument, { isFull }: { readonly isFull: boolean }): void {
    if (isFull) this.#full = document;
    // A run in which the preflight is not accepted has its own finding.
    const hasOwnDiagnosis = isFull || this.#full === null || document.preflightFinding !== undefined;
    this.#shown = hasOwnDiagnosis ? document : withDiagnosisOf(this.#full ?? document, document);
  }

  printRound(round: Parameters<typeof renderRound>[1]): void {
    if (this.#shown === null) return;
    if (this.#isVerbose) this.#printReport(this.#shown);
    else this.#printLines(renderRound(this.#shown, round, this.#layout));
  }

  #printReport(document: ResultDocument): void {
    process.stdout.write(renderHuman(document, { ...displayOf(process.stdout), verbose: true }));
  }

  #printLines(lines: readonly string[]): void {
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
  }
}
