/** Conducts a run on the command line: progress, signals, reports, exit code. */
import { relative } from 'node:path';
import type { Revision } from '../certify/revision.ts';
import type { ResolvedConfig } from '../config/index.ts';
import { readBaseline } from '../config/read-baseline.ts';
import type { SourceOptions } from '../effects/index.ts';
import {
  checkReportPlaces,
  createProgress,
  createRedactor,
  defuse,
  type EventStream,
  inActions,
  type NamedSecret,
  openEventStream,
  type Redactor,
  type Reporter,
  redactDocument,
  redactEvent,
  type WrittenReport,
  writeReports,
} from '../report/index.ts';
import type { ResultDocument } from '../report/result-document.ts';
import { exitCodeOf } from '../report/verdict.ts';
import { type RunOptions, run } from '../run/index.ts';
import { keepComparedRun, keptReportPath, readComparedRun, readLastRun, rememberRun } from './last-run.ts';
import { interruptible } from './stop-signals.ts';
import { displayOf, isCi, isOnTerminal, lineOnTerminal, shownPath } from './terminal.ts';

/**
 * Runs what the configuration says, writes the reports, and returns the exit code. With `remembers`, the run is
 * remembered, a partial run shows the last full one, and a run that did not pass leaves an HTML report for reading. The
 * commands of the reports repeat `flags`.
 */
export async function conduct(
  config: ResolvedConfig,
  { remembers = false, verbose = false, flags = '' } = {},
): Promise<number> {
  const interruption = interruptible();
  try {
    const { options, ...outputs } = await prepareRun(config, interruption.signal);
    const evidenceSources = askingOnTerminal(options.evidenceSources);
    const judged = await run({ ...options, flags, evidenceSources });
    const { code } = config.run;
    // In a report, a path has slashes on every platform.
    const document = code === null ? judged : { ...judged, code: relative(process.cwd(), code).replaceAll('\\', '/') };
    const performed = { ...outputs, document };
    const remembered = remembers ? await remember(config, performed) : performed;
    const { partner, reporters } = config;
    const kept = remembers && !document.partial ? keptReport(remembered.document, partner.url, reporters) : [];
    await report({ reporters: [...reporters, ...kept] }, { ...performed, ...remembered }, verbose);
    return interruption.exitCode() ?? exitCodeOf(remembered.document);
  } finally {
    interruption.dispose();
  }
}

/** A person at the terminal switches the secrets of the receiver, where no command does. */
export function askingOnTerminal(sources: SourceOptions = {}): SourceOptions {
  if (sources.rotation === undefined || !isOnTerminal()) return sources;
  // On a separate line, the request stays on the screen when a note of the progress overwrites the prompt.
  const ask = async (request: string, signal: AbortSignal) =>
    (await lineOnTerminal(`${request}:\n> `, signal)) !== null;
  return { ...sources, rotation: { ...sources.rotation, ask } };
}

/**
 * Remembers the run, and returns its document (that of a partial run with the last full one) and the full run that it
 * is compared with.
 */
export async function remember(
  { partner: { url } }: ResolvedConfig,
  { document: given, redactor }: Pick<Performed, 'document' | 'redactor'>,
): Promise<Pick<Performed, 'document' | 'earlier'>> {
  // In CI the memory of a machine is that of other jobs.
  const isKnown = !isCi();
  const full = isKnown && given.partial ? (await readLastRun(url))?.full : null;
  const earlier = isKnown ? await readComparedRun(url) : null;
  const document = full == null ? given : { ...given, lastFullRun: full };
  await rememberRun(document, url);
  await keepComparedRun(document, url, redactor);
  return { document, earlier };
}

/** Runs what the configuration says, writes no report, and returns the redacted document. */
export async function runAlone(config: ResolvedConfig): Promise<ResultDocument> {
  const interruption = interruptible();
  try {
    const { document, redactor } = await perform({ ...config, reporters: [] }, interruption.signal);
    return redactDocument(document, redactor);
  } finally {
    interruption.dispose();
  }
}

interface Performed {
  readonly document: ResultDocument;
  readonly redactor: Redactor;
  readonly events: EventStream | null;
  /** The full run before it, redacted; absent or null where none is remembered. */
  readonly earlier?: ResultDocument | null;
}

/** A run with its progress on standard error, or at `progressTo`. The document is not redacted yet. */
export async function perform(
  config: ResolvedConfig,
  signal: AbortSignal,
  progressTo = progressStream(),
): Promise<Performed> {
  const { options, ...outputs } = await prepareRun(config, signal, progressTo);
  return { ...outputs, document: await run(options) };
}

/**
 * The options of a run whose progress goes to standard error, or to `progressTo`, and what its reports need: the
 * redactor, which learns the signatures of the run, and the reports that are written during the run.
 */
export async function prepareRun(config: ResolvedConfig, signal: AbortSignal, progressTo = progressStream()) {
  const { baseline: file, bail } = config.run;
  // Read before the first request, so that an invalid baseline costs no run.
  const baseline = file === null ? null : await readBaseline(file, shownPath(file));
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const progress = createProgress({ stream: progressTo, ...displayOf(process.stderr) });
  checkReportPlaces(config.reporters, process.cwd());
  const events = await openEventStream(config.reporters, { stdout: process.stdout, cwd: process.cwd() });
  const options: RunOptions = {
    ...runOptions(config),
    revision: await revisionFor(config.run),
    bail,
    baseline,
    signal,
    onSignature: (signature) => redactor.addSignature(signature),
    listener: (event) => {
      // Progress shows only numbers of these: nothing in them needs redaction.
      const onlyNumbers =
        event.type === 'run-finished' ||
        (event.type === 'scenario-finished' && ['pass', 'not-applicable'].includes(event.result.verdict));
      const clean = onlyNumbers && events === null ? event : redactEvent(event, redactor);
      progress(clean);
      events?.write(clean);
    },
  };
  return { options, redactor, events };
}

/** Writes the reports that the configuration asks for, and prints their paths. */
export async function report(
  { reporters }: Pick<ResolvedConfig, 'reporters'>,
  { document, earlier, redactor, events }: Performed,
  verbose = false,
): Promise<void> {
  const written = await writeReports(document, reporters, {
    ...reportOutputs(verbose),
    redactor,
    earlier: earlier ?? null,
    streamed: events?.reporters ?? [],
  });
  // Reports an event that could not be written during the run, after everything else is written.
  events?.close();
  printPaths(written, reporters);
}

/** Whether a reporter writes the terminal report to standard output. */
export const isTerminalReport = ({ name, file }: Reporter): boolean =>
  (name === 'human' || name === 'github') && file === null;

/** The paths of the reports, on standard error: the terminal report contains them. */
export function printPaths(written: readonly WrittenReport[], reporters: readonly Reporter[]): void {
  if (reporters.some(isTerminalReport)) return;
  for (const { name, path } of written) process.stderr.write(`${name} report: ${path}\n`);
}

/** The HTML report that is kept of a run that did not pass, for its details: only where a person reads the terminal. */
function keptReport(document: ResultDocument, url: string, reporters: readonly Reporter[]): Reporter[] {
  const isRead = reporters.some(isTerminalReport);
  const passed = document.counts.pass + document.counts.notApplicable === document.results.length;
  if (!isRead || passed || process.stdout.isTTY !== true || reporters.some(({ name }) => name === 'html')) return [];
  return [{ name: 'html', file: keptReportPath(url), isOptional: true }];
}

/** Where reports go: standard output, and the job summary in GitHub Actions. */
export function reportOutputs(verbose = false) {
  const { GITHUB_STEP_SUMMARY: summary = '' } = process.env;
  return {
    stdout: process.stdout,
    cwd: process.cwd(),
    terminal: { ...displayOf(process.stdout), verbose },
    summaryFile: summary === '' ? undefined : summary,
    notice: (message: string): void => void process.stderr.write(`${message}\n`),
    actions: inActions(process.env),
  };
}

/** What every kind of run takes from the configuration: endpoint, selection, limits, and how the run is judged. */
export function runOptions({ run, partner, clientFixtures, advice, evidenceSources }: ResolvedConfig): RunOptions {
  return {
    partner,
    clientFixtures,
    selection: run,
    limits: run,
    profile: run.profile,
    seed: run.seed,
    strict: run.strict,
    stack: run.stack,
    evidence: run.evidence,
    evidenceSources,
    advice,
  };
}

/** Fragments of shorter values are ordinary words. */
const MIN_LENGTH_TO_CUT = 8;
const MIN_LENGTH_TO_HALVE = 16;

/**
 * The values that redaction searches for: the secrets of a configuration, and the fragments of them that probes send.
 */
export function namedSecrets(values: readonly string[]): NamedSecret[] {
  return values.flatMap((value) => [value, ...fragmentsOf(value)].map((part) => ({ name: 'secret', value: part })));
}

/** The value without its first or last character, and its halves: an endpoint may echo these. */
function fragmentsOf(value: string): string[] {
  if (value.length < MIN_LENGTH_TO_CUT) return [];
  const middle = Math.floor(value.length / 2);
  const halves = value.length < MIN_LENGTH_TO_HALVE ? [] : [value.slice(0, middle), value.slice(middle + 1)];
  return [value.slice(0, -1), value.slice(1), ...halves];
}

interface ProgressStream {
  write(text: string): unknown;
}

/** Standard error. In GitHub Actions, lines that would be workflow commands are escaped. */
function progressStream(): ProgressStream {
  if (!inActions(process.env)) return process.stderr;
  return { write: (text) => process.stderr.write(defuse(text)) };
}

/** The revision of the catalogue that scores a profile; without a profile, every check counts. */
async function revisionFor({ profile, revision }: ResolvedConfig['run']): Promise<Revision | null> {
  if (profile === null) return null;
  const { CURRENT_REVISION, loadRevision } = await import('../certify/revision.ts');
  return loadRevision(revision ?? CURRENT_REVISION);
}
